//! The fast path through strings: most bytes of a log are plain ASCII between two quotes.

/// Bytes of a block.
const BLOCK_BYTES: usize = 64;

/// The position, from `at` on, of the first byte that is not plain ASCII of a string: a quote, a
/// backslash, a control byte or a byte above 0x7F. A block at a time, then eight bytes.
pub(crate) fn skip_plain(part: &[u8], mut at: usize) -> usize {
    while let Some(block) = part[at..].first_chunk::<BLOCK_BYTES>() {
        // No early end, so that the compiler looks at many bytes at once.
        if block.iter().fold(false, |special, &byte| special | is_special(byte)) {
            break;
        }
        at += BLOCK_BYTES;
    }
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

/// Whether a byte of a string needs a closer look.
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | !(0x20..=0x7F).contains(&byte)
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
