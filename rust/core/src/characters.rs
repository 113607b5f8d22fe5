//! Whether a text is UTF-8, from the blocks that hold bytes above 0x7F.
//!
//! Where they are few, each character is looked at by itself; where they are many, as in Chinese
//! or Russian text, the whole stretch is handed to vector code.

use simdutf8::basic::from_utf8;

use crate::masks::BLOCK_BYTES;

/// More bytes than this of a block above 0x7F are many: 12, where looking at each character begins
/// to cost more than looking at all bytes of the block.
const FEW: u32 = 12;

/// What is known between two blocks.
#[derive(Default)]
pub(crate) struct Characters {
    /// Bytes at the front of the next block that belong to a character before it.
    carried: usize,
    /// Where a stretch with many bytes above 0x7F began, at a character.
    stretch: Option<usize>,
}

impl Characters {
    /// Looks at the block of `text` at `at`; bit `i` of `high` is set where byte `i` is above 0x7F.
    #[inline]
    pub(crate) fn block(&mut self, text: &[u8], at: usize, high: u64) -> Option<()> {
        match (self.stretch, high) {
            (None, 0) => Some(()),
            (Some(start), 0) => {
                self.stretch = None;
                from_utf8(&text[start..at]).ok().map(drop)
            }
            (Some(_), _) => Some(()),
            (None, _) => self.begin(text, at, high),
        }
    }

    /// Looks at each character, or begins a stretch.
    fn begin(&mut self, text: &[u8], at: usize, high: u64) -> Option<()> {
        let mut next = std::mem::take(&mut self.carried);
        if high.count_ones() > FEW {
            self.stretch = Some(at + next);
            return Some(());
        }
        let mut left = high >> next;
        while left != 0 {
            next += left.trailing_zeros() as usize;
            next += length(&text[at + next..])?;
            left = if next < BLOCK_BYTES { high >> next } else { 0 };
        }
        self.carried = next.saturating_sub(BLOCK_BYTES);
        Some(())
    }

    /// Whether the text may end here.
    pub(crate) fn end(&self, text: &[u8]) -> Option<()> {
        self.stretch.map_or(Some(()), |start| from_utf8(&text[start..]).ok().map(drop))
    }
}

/// The bytes of the character at the front of `text`, which is above 0x7F (Unicode, table 3-7).
fn length(text: &[u8]) -> Option<usize> {
    let (&first, rest) = text.split_first()?;
    let (second, length) = match first {
        0xC2..=0xDF => (0x80..=0xBF, 2),
        0xE0 => (0xA0..=0xBF, 3),
        0xED => (0x80..=0x9F, 3),
        0xE1..=0xEF => (0x80..=0xBF, 3),
        0xF0 => (0x90..=0xBF, 4),
        0xF1..=0xF3 => (0x80..=0xBF, 4),
        0xF4 => (0x80..=0x8F, 4),
        _ => return None,
    };
    let (rest, more) = rest.get(..length - 1)?.split_first()?;
    let is_next = |&byte: &u8| matches!(byte, 0x80..=0xBF);
    (second.contains(rest) && more.iter().all(is_next)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the text is UTF-8, by blocks.
    fn is_utf8(text: &[u8]) -> bool {
        let mut characters = Characters::default();
        let mut places = (0..text.len()).step_by(BLOCK_BYTES);
        let good = places.all(|at| {
            let block = &text[at..text.len().min(at + BLOCK_BYTES)];
            let bit = |(i, &byte): (usize, &u8)| u64::from(byte > 0x7F) << i;
            let high = block.iter().enumerate().map(bit).fold(0, |high, bit| high | bit);
            characters.block(text, at, high).is_some()
        });
        good && characters.end(text).is_some()
    }

    /// Every character length and every way to break one, at every place of a block, few and many.
    #[test]
    fn texts_are_judged_as_the_standard_library_judges_them() {
        let samples: [&[u8]; 16] = [
            b"\xc3\xa9",
            b"\xe2\x82\xac",
            b"\xf0\x9f\x98\x80",
            b"\xed\x9f\xbf",
            b"\xed\xa0\x80",
            b"\xe0\x9f\xbf",
            b"\xe0\xa0\x80",
            b"\xf0\x8f\xbf\xbf",
            b"\xf4\x8f\xbf\xbf",
            b"\xf4\x90\x80\x80",
            b"\xc0\x80",
            b"\xc1\xbf",
            b"\xf5\x80\x80\x80",
            b"\x80",
            b"\xe2\x82",
            b"\xc3\xa9\xa9",
        ];
        for sample in samples {
            for before in 0..BLOCK_BYTES + 2 {
                for (times, behind) in [(1, 0), (1, 70), (8, 0), (8, 70), (30, 1)] {
                    for filler in ["a".repeat(before), "é".repeat(before / 2), "東a".repeat(before)]
                    {
                        let text = [filler.as_bytes(), &sample.repeat(times), &b"z".repeat(behind)]
                            .concat();
                        assert_eq!(is_utf8(&text), std::str::from_utf8(&text).is_ok(), "{text:?}");
                    }
                }
            }
        }
    }
}
