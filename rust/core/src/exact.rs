//! Which texts a fast decoder of JSON gives exactly as they were written.

use memchr::memchr_iter;

/// Digits in a row from which on a number may lie outside 64 bits.
const LONG_DIGITS: usize = 19;
/// Bytes that are looked at together, and how far apart: any row of 19 holds one such word.
const WORD: usize = 8;
const STRIDE: usize = LONG_DIGITS - WORD + 1;
/// How a name that the writer escaped ends, its quote included.
const BLOB_NAME_ENDS: &[u8] = b"$blob\"";

/// Whether neither 19 digits in a row nor `$blob"` stand in `text`.
pub fn is_plain_text(text: &[u8]) -> bool {
    !has_long_digits(text) && !has_blob_name(text)
}

/// Whether a name that the writer escaped may stand in the text.
fn has_blob_name(text: &[u8]) -> bool {
    memchr_iter(b'$', text).any(|at| text[at..].starts_with(BLOB_NAME_ENDS))
}

/// Whether 19 digits stand in a row.
fn has_long_digits(text: &[u8]) -> bool {
    let mut words = text.windows(WORD).step_by(STRIDE);
    let may_be_long = |word: &[u8]| {
        // The digits are 0x30 to 0x39.
        let word = u64::from_le_bytes(word.try_into().expect("a word"));
        word & 0xF0F0_F0F0_F0F0_F0F0 == 0x3030_3030_3030_3030
    };
    words.any(may_be_long) && has_long_row(text)
}

/// Whether 19 digits stand in a row, looked for digit by digit.
fn has_long_row(text: &[u8]) -> bool {
    let mut length = 0;
    text.iter().any(|byte| {
        length = if byte.is_ascii_digit() { length + 1 } else { 0 };
        length == LONG_DIGITS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of 19 digits is found wherever it stands among its worst neighbours, one of 18
    /// nowhere.
    #[test]
    fn long_digits_are_those_that_a_window_of_19_shows() {
        for length in [18, 19, 20] {
            for before in 0..40 {
                for behind in [0, 1, 7, 18, 19, 37] {
                    let text = [&b"1a8:".repeat(10)[..before], b"x", &b"7".repeat(length)].concat();
                    let text = [&text[..], &b"-12".repeat(13)[..behind]].concat();
                    let naive = text.windows(19).any(|w| w.iter().all(u8::is_ascii_digit));
                    assert_eq!(has_long_digits(&text), naive);
                    assert_eq!(naive, length >= 19);
                }
            }
        }
    }
}
