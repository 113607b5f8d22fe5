//! What each byte of a text is, 64 bytes at a time: the one place with vector instructions.
//!
//! A block of 64 bytes becomes eight words with a bit a byte. Every processor gives the same words:
//! x86-64 looks at 64 bytes at once with AVX-512BW and at 32 with AVX2, everything else looks each
//! byte up in a table.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod clmul;
#[cfg(target_arch = "x86_64")]
mod shuffles;
mod table;
mod utf8;

/// Bytes of a block: one for each bit of a word.
pub(crate) const BLOCK_BYTES: usize = 64;

/// Bytes before a block by which its first character is judged: a character has at most four.
pub(crate) const BEFORE_BYTES: usize = 3;

/// Bytes of a block and those before it.
pub(crate) const WINDOW_BYTES: usize = BEFORE_BYTES + BLOCK_BYTES;

/// The bytes of one block by what they are; bit `i` of a word is byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `"`
    pub(crate) quote: u64,
    /// `\`
    pub(crate) backslash: u64,
    /// Below 0x20: not allowed in a string.
    pub(crate) control: u64,
    /// Where the block, with the bytes before it, is no UTF-8. A character that the block's end
    /// cuts is broken in the next one, if it is.
    pub(crate) broken: u64,
    /// `{ } [ ] : ,`, and some control bytes that look alike: whoever takes one looks at the byte.
    pub(crate) operator: u64,
    /// Space, tab, line feed, carriage return.
    pub(crate) space: u64,
    /// What may follow a `\`: `" \ / b f n r t u`.
    pub(crate) escapable: u64,
    /// `u`
    pub(crate) u: u64,
}

/// Whether a byte of a string needs a closer look.
pub(crate) fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | !(0x20..=0x7F).contains(&byte)
}

/// Work that looks at blocks, compiled once for each kind of processor.
pub(crate) trait Work {
    /// Does it. Only what is inlined into it is compiled for the processor of `vector`.
    fn run<V: Vector>(self, vector: V);
}

/// How one kind of processor looks at a block.
pub(crate) trait Vector: Copy {
    /// The masks of the block in a window. Bytes above 0x7F are nothing but, perhaps, broken.
    fn masks(self, window: &[u8; WINDOW_BYTES]) -> Masks;

    /// Whether a block is plain: printable ASCII without quotes and backslashes.
    fn is_plain(self, block: &[u8; BLOCK_BYTES]) -> bool;

    /// Whether each bit is the parity of the bits up to it, itself included.
    fn parity(self, bits: u64) -> u64;
}

/// Does the work in the best way that this processor has.
pub(crate) fn run<W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    if let Some(vector) = avx512::Avx512::detect() {
        return vector.run(work);
    } else if let Some(vector) = avx2::Avx2::detect() {
        return vector.run(work);
    }
    work.run(table::Table);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masks of a block by their definitions, but for UTF-8.
    fn naive(block: &[u8]) -> Masks {
        let mask = |is: fn(u8) -> bool| {
            let bit = |(i, &byte): (usize, &u8)| u64::from(is(byte)) << i;
            block.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
        };
        Masks {
            quote: mask(|byte| byte == b'"'),
            backslash: mask(|byte| byte == b'\\'),
            control: mask(|byte| byte < 0x20),
            broken: 0,
            operator: mask(|byte| b"{}[]:,\x0C\x1A".contains(&byte)),
            space: mask(|byte| b" \t\n\r".contains(&byte)),
            escapable: mask(|byte| b"\"\\/bfnrtu".contains(&byte)),
            u: mask(|byte| byte == b'u'),
        }
    }

    /// Whether blocks are plain.
    struct Plain<'a>(&'a [u8; BLOCK_BYTES], &'a mut bool);

    impl Work for Plain<'_> {
        fn run<V: Vector>(self, vector: V) {
            *self.1 = vector.is_plain(self.0);
        }
    }

    /// A block is plain if each of its bytes is, whatever the processor.
    #[test]
    fn plain_blocks_have_plain_bytes_only() {
        for byte in 0..=u8::MAX {
            for at in [0, 1, 31, 32, 63] {
                let mut block = [b'~'; BLOCK_BYTES];
                block[at] = byte;
                let expected = matches!(byte, 0x20..=0x7F) && byte != b'"' && byte != b'\\';
                let mut seen = [false; 3];
                run(Plain(&block, &mut seen[0]));
                Plain(&block, &mut seen[1]).run(table::Table);
                seen[2] = seen[1];
                #[cfg(target_arch = "x86_64")]
                if let Some(vector) = avx2::Avx2::detect() {
                    vector.run(Plain(&block, &mut seen[2]));
                }
                assert_eq!(seen, [expected; 3], "{byte:#x} at {at}");
            }
        }
    }

    /// Finds the masks of a window, and a parity.
    struct One<'a> {
        window: [u8; WINDOW_BYTES],
        seen: &'a mut (Masks, u64),
    }

    impl Work for One<'_> {
        fn run<V: Vector>(self, vector: V) {
            let masks = vector.masks(&self.window);
            *self.seen = (masks, vector.parity(masks.control ^ masks.quote));
        }
    }

    /// What each kind of processor that there is here says.
    fn each_kind(window: [u8; WINDOW_BYTES]) -> Vec<(Masks, u64)> {
        let mut seen = [(Masks::default(), 0); 3];
        let [best, table, other] = &mut seen;
        run(One { window, seen: best });
        One { window, seen: table }.run(table::Table);
        *other = *table;
        #[cfg(target_arch = "x86_64")]
        if let Some(vector) = avx2::Avx2::detect() {
            vector.run(One { window, seen: other });
        }
        seen.to_vec()
    }

    /// Every byte at every place of a block is what its definition says, whatever the processor.
    #[test]
    fn blocks_are_classified_as_bytes_are() {
        for first in 0..=u8::MAX {
            for step in [1, 77] {
                let byte = |i: usize| u8::try_from(i * step % 256).expect("a byte");
                let window = std::array::from_fn(|i| first.wrapping_add(byte(i)));
                let expected = naive(&window[BEFORE_BYTES..]);
                let bits = expected.control ^ expected.quote;
                let odd = |i: u32| u64::from((bits << (63 - i)).count_ones() & 1);
                let parity: u64 = (0..64).map(|i| odd(i) << i).sum();
                for (masks, seen) in each_kind(window) {
                    assert_eq!((Masks { broken: 0, ..masks }, seen), (expected, parity));
                }
            }
        }
    }

    /// Every text of four bytes that can matter, at the places where a block begins and ends, is
    /// UTF-8 where the standard library says so.
    #[test]
    fn characters_are_judged_as_the_standard_library_judges_them() {
        let edges = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
            0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ];
        let count = edges.len();
        for n in 0..count.pow(4) {
            let text = [n, n / count, n / count.pow(2), n / count.pow(3)].map(|n| edges[n % count]);
            let expected = std::str::from_utf8(&text).is_ok();
            let place = BEFORE_BYTES + [0, 1, 30, 31, 32, 40, 60, 61, 62, 63, 64][n % 11];
            let mut blocks = [b'a'; BEFORE_BYTES + 2 * BLOCK_BYTES];
            blocks[place..place + 4].copy_from_slice(&text);
            let windows = blocks.windows(WINDOW_BYTES).step_by(BLOCK_BYTES);
            let seen = windows.map(|window| each_kind(window.try_into().expect("a window")));
            let broken = seen.fold([0; 3], |broken, seen| {
                std::array::from_fn(|kind| broken[kind] | seen[kind].0.broken)
            });
            assert_eq!(broken.map(|broken| broken == 0), [expected; 3], "{text:x?} at {place}");
        }
    }
}
