//! Where the strings of a text are, and what stands between them, without a branch.
//!
//! A quote that no backslash escapes begins or ends a string, so a byte is inside one if the number
//! of quotes up to it is odd. The idea and the arithmetic of escapes are those of simdjson
//! (Langdale and Lemire, 2019).

use crate::masks::{BLOCK_BYTES, Vector, WINDOW_BYTES, Work, run};

/// What a block holds that somebody must look at; bit `i` of a word is byte `i`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Where a string begins, a number or word begins, or an operator stands.
    pub(crate) tokens: u64,
    /// The `u` of each `\u`.
    pub(crate) unicode: u64,
}

/// What is known between two blocks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Strings {
    /// 1 if the next block's first byte is escaped.
    escaped: u64,
    /// All ones if the next block begins inside a string.
    inside: u64,
    /// 1 if the byte before the next block belongs to a number or word.
    in_word: u64,
    /// Not 0 once something was met that no JSON text holds: broken UTF-8, a wrong escape or a
    /// control byte in a string, a backslash outside.
    wrong: u64,
}

impl Strings {
    /// Looks at the next blocks, and puts what each holds into the front of `found`. `text` is
    /// `BEFORE_BYTES` that were looked at, or white space, and then the blocks. `None` where no
    /// JSON text can go on.
    pub(crate) fn blocks(&mut self, text: &[u8], found: &mut [Found]) -> Option<()> {
        run(Blocks { strings: self, text, found });
        (self.wrong == 0).then_some(())
    }

    /// Whether the text ends outside of strings.
    pub(crate) fn is_outside(&self) -> bool {
        self.inside == 0
    }

    /// Looks at one block.
    #[inline(always)]
    fn block<V: Vector>(&mut self, window: &[u8; WINDOW_BYTES], vector: V) -> Found {
        let masks = vector.masks(window);
        let escaped = self.escapes(masks.backslash);
        let quote = masks.quote & !escaped;
        let inside = vector.parity(quote) ^ self.inside;
        self.inside = 0_u64.wrapping_sub(inside >> 63);
        self.wrong |= masks.broken;
        self.wrong |= escaped & !masks.escapable;
        self.wrong |= masks.control & inside;
        self.wrong |= masks.backslash & !inside;
        let word = !(inside | quote | masks.space | masks.operator);
        let word_start = word & !(word << 1 | self.in_word);
        self.in_word = word >> 63;
        Found {
            tokens: masks.operator & !inside | quote & inside | word_start,
            unicode: escaped & masks.u,
        }
    }

    /// The bytes behind a backslash that is not escaped itself.
    #[inline(always)]
    fn escapes(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let first = backslash & !self.escaped;
        let behind = (first << 1 | ODD).wrapping_sub(first) ^ ODD;
        let escaped = behind ^ (backslash | self.escaped);
        self.escaped = (behind & backslash) >> 63;
        escaped
    }
}

/// The work on some blocks.
struct Blocks<'a> {
    strings: &'a mut Strings,
    text: &'a [u8],
    found: &'a mut [Found],
}

impl Work for Blocks<'_> {
    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let mut strings = *self.strings;
        let windows = self.text.windows(WINDOW_BYTES).step_by(BLOCK_BYTES);
        for (window, found) in windows.zip(self.found) {
            *found = strings.block(window.try_into().expect("a window"), vector);
        }
        *self.strings = strings;
    }
}
