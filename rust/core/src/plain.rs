//! The fast path through strings: most bytes of a log are plain ASCII between two quotes.

use crate::masks::{BLOCK_BYTES, Vector, Work, is_special, run};

/// How many bytes at the front of `part` are plain, whole blocks alone.
struct PlainBlocks<'a> {
    part: &'a [u8],
    count: &'a mut usize,
}

impl Work for PlainBlocks<'_> {
    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let (blocks, _) = self.part.as_chunks::<BLOCK_BYTES>();
        let plain = blocks.iter().take_while(|block| vector.is_plain(block)).count();
        *self.count = plain * BLOCK_BYTES;
    }
}

/// The position, from `at` on, of the first byte that is not plain ASCII of a string: a quote, a
/// backslash, a control byte or a byte above 0x7F. A block at a time, then eight bytes.
pub(crate) fn skip_plain(part: &[u8], mut at: usize) -> usize {
    let mut count = 0;
    if part.len() - at >= BLOCK_BYTES {
        run(PlainBlocks { part: &part[at..], count: &mut count });
    }
    at += count;
    while let Some(word) = part.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()) {
        let special = special_bytes(u64::from_le_bytes(word));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let tail = &part[at..];
    at + tail.iter().position(|&byte| is_special(byte)).unwrap_or(tail.len())
}

/// `byte` in each byte of a word.
const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The top bit of each byte that `is_special`. A borrow can set bits only above a byte that is, so
/// the lowest bit is always right.
fn special_bytes(word: u64) -> u64 {
    let quote = word ^ spread(b'"');
    let backslash = word ^ spread(b'\\');
    let below = word.wrapping_sub(spread(0x20)) & !word;
    let quotes = quote.wrapping_sub(spread(1)) & !quote;
    let backslashes = backslash.wrapping_sub(spread(1)) & !backslash;
    (below | quotes | backslashes | word) & spread(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte value at every place of a word, alone and behind its worst neighbours, is found
    /// where looking at one byte after the other finds it.
    #[test]
    fn words_are_searched_as_bytes_are() {
        for byte in 0..=u8::MAX {
            for at in 0..90 {
                for before in [b'a', b' ', b'!', b'#', b'[', b']', 0x7F] {
                    let mut text = [before; 90];
                    text[at] = byte;
                    let expected = text.iter().position(|&b| is_special(b)).unwrap_or(text.len());
                    assert_eq!(skip_plain(&text, 0), expected, "{byte:#x} at {at}");
                }
            }
        }
    }
}
