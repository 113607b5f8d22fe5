//! A quick yes: most lines of a log are well-formed objects, and this sees it from their masks.
//!
//! It takes a part of what [`judge`](crate::verdict::judge) takes and nothing else: what it does
//! not take, words such as `NaN`, deep nesting and whatever is damaged, is left to the automaton,
//! which says why. The idea is that of simdjson (Langdale and Lemire, 2019): find strings by the
//! parity of quotes, then look at the bytes between them alone.

use crate::characters::Characters;
use crate::json::INT_DIGITS_MAX;
use crate::masks::{BLOCK_BYTES, Masks, classify};
use crate::steps::{Act, STEPS, State, TOKEN_OF};

/// Blocks classified by one call: few, since a typical line has few.
const BLOCKS: usize = 8;

/// Levels that the quick look follows: one bit each.
const DEPTH_MAX: u32 = 64;

/// Digits of the longest integer that counts as a `seq`.
const SEQ_DIGITS_MAX: usize = 18;

/// Whether `text` is one well-formed JSON object for certain, and then its top-level `seq`, if that
/// is a plain integer.
pub(crate) fn quick_object(text: &[u8]) -> Option<Option<u64>> {
    let mut look = Look::new(text);
    let (whole, rest) = text.as_chunks::<BLOCK_BYTES>();
    let mut masks = [Masks::default(); BLOCKS];
    let mut at = 0;
    for blocks in whole.chunks(BLOCKS) {
        classify(blocks, &mut masks);
        for masks in &masks[..blocks.len()] {
            look.block(at, masks)?;
            at += BLOCK_BYTES;
        }
    }
    if !rest.is_empty() {
        let mut last = [[b' '; BLOCK_BYTES]];
        last[0][..rest.len()].copy_from_slice(rest);
        classify(&last, &mut masks);
        look.block(at, &masks[0])?;
    }
    look.end()
}

/// The state between two blocks.
struct Look<'t> {
    /// The text.
    text: &'t [u8],
    /// 1 if the next block's first byte is escaped.
    escaped: u64,
    /// All ones if the next block begins inside a string.
    in_string: u64,
    /// 1 if the byte before the next block belongs to a number or word.
    in_word: u64,
    /// What is known of the characters above 0x7F.
    characters: Characters,
    /// What may come next.
    state: State,
    /// Containers that are open.
    depth: u32,
    /// A bit for each of them, the innermost lowest: whether it is an object.
    objects: u64,
    /// Where the newest key of the outermost object begins.
    key: usize,
    /// Whether the next value is that of `seq`.
    is_seq: bool,
    /// The last `seq`.
    seq: Option<u64>,
}

impl<'t> Look<'t> {
    /// Nothing is read yet.
    fn new(text: &'t [u8]) -> Self {
        Look {
            text,
            escaped: 0,
            in_string: 0,
            in_word: 0,
            characters: Characters::default(),
            state: State::Start,
            depth: 0,
            objects: 0,
            key: 0,
            is_seq: false,
            seq: None,
        }
    }

    /// Takes the block that begins at `at`.
    #[inline]
    fn block(&mut self, at: usize, masks: &Masks) -> Option<()> {
        self.characters.block(self.text, at, masks.high)?;
        let escaped = self.escapes(masks.backslash);
        let quote = masks.quote & !escaped;
        let inside = parity(quote) ^ self.in_string;
        self.in_string = 0_u64.wrapping_sub(inside >> 63);
        let wrong = escaped & !masks.escapable | masks.control & inside | masks.backslash & !inside;
        if wrong != 0 {
            return None;
        }
        each_bit(escaped & masks.u, |i| is_hex(self.text.get(at + i + 1..at + i + 5)?))?;
        let word = !(inside | quote | masks.space | masks.operator);
        let word_start = word & !(word << 1 | self.in_word);
        self.in_word = word >> 63;
        let tokens = masks.operator & !inside | quote & inside | word_start;
        each_bit(tokens, |i| self.token(at + i))
    }

    /// The bytes behind a backslash that is not escaped itself.
    #[inline]
    fn escapes(&mut self, backslash: u64) -> u64 {
        if backslash == 0 {
            return std::mem::take(&mut self.escaped);
        }
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let first = backslash & !self.escaped;
        let behind = (first << 1 | ODD).wrapping_sub(first) ^ ODD;
        let escaped = behind ^ (backslash | self.escaped);
        self.escaped = (behind & backslash) >> 63;
        escaped
    }

    /// Takes the token that begins at `at`.
    #[inline]
    fn token(&mut self, at: usize) -> Option<()> {
        let token = TOKEN_OF[usize::from(self.text[at])];
        let (state, act) = STEPS[self.state as usize][token as usize];
        self.state = state;
        match act {
            Act::Go => {}
            Act::OpenObject => return self.open(1),
            Act::OpenArray => return self.open(0),
            Act::Close => self.close(),
            Act::Word => return self.word(at),
            Act::TopKey => self.key = at,
            Act::TopColon => self.is_seq = is_seq(&self.text[self.key..at])?,
            Act::TopText => self.seq_is(None),
            Act::Stop => return None,
        }
        Some(())
    }

    /// A container begins: an object if `object` is 1.
    #[inline]
    fn open(&mut self, object: u64) -> Option<()> {
        self.seq_is(None);
        self.depth += 1;
        self.objects = self.objects << 1 | object;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    /// The innermost container ends.
    #[inline]
    fn close(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
        self.state = match (self.depth, self.objects & 1) {
            (0, _) => State::End,
            (1, _) => State::TopNext,
            (_, 0) => State::NextItem,
            (_, _) => State::NextMember,
        };
    }

    /// A value begins; if it is that of `seq`, it is this.
    #[inline]
    fn seq_is(&mut self, seq: Option<u64>) {
        if self.is_seq {
            (self.seq, self.is_seq) = (seq, false);
        }
    }

    /// Takes a number or word.
    fn word(&mut self, at: usize) -> Option<()> {
        let rest = &self.text[at..];
        let length = match rest[0] {
            b't' if rest.starts_with(b"true") => 4,
            b'f' if rest.starts_with(b"false") => 5,
            b'n' if rest.starts_with(b"null") => 4,
            b'-' | b'0'..=b'9' => number(rest)?,
            _ => return None,
        };
        let ended = matches!(rest.get(length)?, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        if self.is_seq {
            self.seq_is(seq(&rest[..length]));
        }
        ended.then_some(())
    }

    /// What was found, if the text ends here.
    fn end(self) -> Option<Option<u64>> {
        self.characters.end(self.text)?;
        (self.state == State::End && self.in_string == 0).then_some(self.seq)
    }
}

/// Whether each bit is the parity of the bits up to it, itself included.
#[inline]
fn parity(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, shift| bits ^ bits << shift)
}

/// Calls `each` with the place of every bit that is set, until it says `None`.
#[inline]
fn each_bit(mut bits: u64, mut each: impl FnMut(usize) -> Option<()>) -> Option<()> {
    while bits != 0 {
        each(bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
    }
    Some(())
}

/// Whether all bytes are hexadecimal digits.
fn is_hex(digits: &[u8]) -> Option<()> {
    digits.iter().all(u8::is_ascii_hexdigit).then_some(())
}

/// Whether a key of the outermost object is `seq`; unsure where it is escaped.
fn is_seq(key: &[u8]) -> Option<bool> {
    (!key.contains(&b'\\')).then(|| key.starts_with(b"\"seq\""))
}

/// The length of the number at the front of `text`.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(text[0] == b'-');
    let whole = digits(at);
    if whole == 0 || whole > INT_DIGITS_MAX || (text[at] == b'0' && whole > 1) {
        return None;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        at += 1 + fraction;
        if fraction == 0 {
            return None;
        }
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = if at <= text.len() { digits(at) } else { 0 };
        at += exponent;
        if exponent == 0 {
            return None;
        }
    }
    Some(at)
}

/// The value of a number that may be a `seq`: 1 to 18 digits and nothing else.
fn seq(number: &[u8]) -> Option<u64> {
    let is_seq = number.len() <= SEQ_DIGITS_MAX && number.iter().all(u8::is_ascii_digit);
    let value = |value, &digit: &u8| value * 10 + u64::from(digit - b'0');
    is_seq.then(|| number.iter().fold(0, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What agents write must be taken, at every length, or the quick look is for nothing.
    #[test]
    fn usual_lines_are_taken() {
        for pad in (0..200).map(|count| "x".repeat(count)) {
            let text = "naïve \\n \\u001b[0m \\\"quoted\\\" C:\\\\temp ✓ ".repeat(3);
            let line = format!(
                "{{\"seq\":12,\"type\":\"note\", \"data\":\
                 {{\"t\":\"{pad}{text}\",\"n\":[1,-2.5e+3,true,null,{{}},[]]}}}}"
            );
            assert_eq!(quick_object(line.as_bytes()), Some(Some(12)));
            assert_eq!(quick_object(&line.as_bytes()[..line.len() - 1]), None);
        }
    }

    /// Where it cannot be sure it says nothing, although the line is an object.
    #[test]
    fn rare_lines_are_left_to_the_automaton() {
        let deep = ["{\"a\":", &"[".repeat(64), &"]".repeat(64), "}"].concat();
        for line in ["{\"a\":NaN}", "{\"\\u0073eq\":1}", &deep] {
            assert_eq!(quick_object(line.as_bytes()), None);
            assert_eq!(crate::check_json(line.as_bytes()), crate::Verdict::Ok);
        }
    }
}
