//! Strict UTF-8 across parts: no overlong forms, no surrogates, nothing above U+10FFFF.

/// Where a check stands inside a character.
#[derive(Clone, Copy, Default)]
pub(crate) struct Utf8 {
    /// Continuation bytes still to come; 0 between characters.
    missing: u8,
    /// The least value of the next continuation byte.
    least: u8,
    /// The greatest value of the next continuation byte.
    most: u8,
}

impl Utf8 {
    /// Whether the check stands between characters.
    pub(crate) fn whole(self) -> bool {
        self.missing == 0
    }

    /// Takes one byte; `false` where no valid text has it, and then nothing changes.
    pub(crate) fn step(&mut self, byte: u8) -> bool {
        if self.missing > 0 {
            let fits = self.least <= byte && byte <= self.most;
            if fits {
                *self = Utf8 { missing: self.missing - 1, least: 0x80, most: 0xBF };
            }
            return fits;
        }
        let (missing, least, most) = match byte {
            0x00..=0x7F => (0, 0, 0),
            0xC2..=0xDF => (1, 0x80, 0xBF),
            0xE0 => (2, 0xA0, 0xBF),
            0xE1..=0xEC | 0xEE..=0xEF => (2, 0x80, 0xBF),
            0xED => (2, 0x80, 0x9F),
            0xF0 => (3, 0x90, 0xBF),
            0xF1..=0xF3 => (3, 0x80, 0xBF),
            0xF4 => (3, 0x80, 0x8F),
            _ => return false,
        };
        *self = Utf8 { missing, least, most };
        true
    }

    /// Takes a part of a text; `false` if the text is not valid.
    pub(crate) fn feed(&mut self, part: &[u8]) -> bool {
        let mut rest = part;
        while let (false, Some((&byte, after))) = (self.whole(), rest.split_first()) {
            if !self.step(byte) {
                return false;
            }
            rest = after;
        }
        match std::str::from_utf8(rest) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => rest[error.valid_up_to()..].iter().all(|&byte| self.step(byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every two-byte split of every hard character agrees with the standard library's check.
    #[test]
    fn splits_do_not_change_the_verdict() {
        let samples: [&[u8]; 9] = [
            b"a\xc3\xa9z",
            b"\xe2\x82\xac",
            b"\xf0\x9f\x98\x80",
            b"\xed\xa0\x80",
            b"\xc0\x80",
            b"\xf4\x90\x80\x80",
            b"\xe0\x9f\xbf",
            b"\x80",
            b"\xe2\x82",
        ];
        for sample in samples {
            let expected = std::str::from_utf8(sample).is_ok();
            for cut in 0..=sample.len() {
                let mut utf8 = Utf8::default();
                let valid = utf8.feed(&sample[..cut]) && utf8.feed(&sample[cut..]);
                assert_eq!(valid && utf8.whole(), expected, "{sample:?} cut at {cut}");
            }
        }
    }
}
