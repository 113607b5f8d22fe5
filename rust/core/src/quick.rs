//! A quick yes: most lines of a log are well-formed objects, and this sees it from their masks.
//!
//! It takes a part of what [`judge`](crate::verdict::judge) takes and nothing else: what it does
//! not take, words such as `NaN`, deep nesting and whatever is damaged, is left to the automaton,
//! which says why. The idea is that of simdjson (Langdale and Lemire, 2019): find strings by the
//! parity of quotes, then look at the bytes between them alone.

use crate::json::INT_DIGITS_MAX;
use crate::masks::{BEFORE_BYTES, BLOCK_BYTES, WINDOW_BYTES};
use crate::steps::{Act, STEPS, State, TOKEN_OF};
use crate::strings::{Found, Strings};

/// Blocks looked at by one call: 64, 4 KiB of text, whose tokens fit into the first cache.
const BLOCKS: usize = 64;

/// Places that are written at once.
const AT_ONCE: usize = 2;

/// Places of tokens that a call may find, and room for those that are written too many.
const PLACES: usize = BLOCKS * BLOCK_BYTES + AT_ONCE;

/// Levels that the quick look follows: one bit each.
const DEPTH_MAX: u32 = 64;

/// Digits of the longest integer that counts as a `seq`.
const SEQ_DIGITS_MAX: usize = 18;

/// Looks at texts, one after the other, in the same buffers.
pub(crate) struct Quick {
    /// What the blocks of a call hold.
    found: Box<[Found; BLOCKS]>,
    /// Where their tokens are, relative to the first block.
    tokens: Box<[u32; PLACES]>,
}

impl Default for Quick {
    fn default() -> Self {
        Quick { found: Box::new([Found::default(); BLOCKS]), tokens: Box::new([0; PLACES]) }
    }
}

impl Quick {
    /// Whether `text` is one well-formed JSON object for certain, and then its top-level `seq`, if
    /// that is a plain integer.
    pub(crate) fn object(&mut self, text: &[u8]) -> Option<Option<u64>> {
        let mut strings = Strings::default();
        let mut grammar = Grammar::new(text);
        let (first, rest) = text.split_at(text.len().min(BLOCK_BYTES));
        self.edge(&[b' '; BEFORE_BYTES], first, 0, &mut strings, &mut grammar)?;
        let mut at = BLOCK_BYTES;
        for blocks in rest.as_chunks::<BLOCK_BYTES>().0.chunks(BLOCKS) {
            let stop = at + blocks.len() * BLOCK_BYTES;
            self.blocks(&text[at - BEFORE_BYTES..stop], at, &mut strings, &mut grammar)?;
            at = stop;
        }
        if let Some(last @ [_, ..]) = text.get(at..) {
            self.edge(&text[at - BEFORE_BYTES..at], last, at, &mut strings, &mut grammar)?;
        }
        grammar.end().filter(|_| strings.is_outside())
    }

    /// Looks at a block at `at` that is shorter than others, or has nothing before it.
    fn edge(
        &mut self,
        before: &[u8],
        block: &[u8],
        at: usize,
        strings: &mut Strings,
        grammar: &mut Grammar<'_>,
    ) -> Option<()> {
        let mut window = [b' '; WINDOW_BYTES];
        window[..BEFORE_BYTES].copy_from_slice(before);
        window[BEFORE_BYTES..][..block.len()].copy_from_slice(block);
        self.blocks(&window, at, strings, grammar)
    }

    /// Looks at the blocks from `at` on: `text` without its first bytes, which come before them.
    fn blocks(
        &mut self,
        text: &[u8],
        at: usize,
        strings: &mut Strings,
        grammar: &mut Grammar<'_>,
    ) -> Option<()> {
        strings.blocks(text, &mut *self.found)?;
        let found = &self.found[..text.len() / BLOCK_BYTES];
        let (mut unicode, mut count) = (0, 0);
        for (i, found) in (0_u32..).zip(found) {
            unicode |= found.unicode;
            count = places(found.tokens, 64 * i, &mut self.tokens, count);
        }
        for &token in &self.tokens[..count] {
            grammar.token(at + token as usize)?;
        }
        if unicode == 0 { Some(()) } else { grammar.unicode(at, found) }
    }
}

/// Puts the place of every bit that is set, `base` added, behind the first `count` places, and
/// gives their number. Two are written at once, so that the processor has less to guess.
#[inline]
fn places(mut bits: u64, base: u32, places: &mut [u32; PLACES], mut count: usize) -> usize {
    let stop = count + bits.count_ones() as usize;
    while count < stop {
        for place in &mut places[count..count + AT_ONCE] {
            // The lowest of 64 bits; 64, which is left out again, where there is none.
            *place = base.wrapping_add(bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
        }
        count += AT_ONCE;
    }
    stop
}

/// The state between two blocks.
struct Grammar<'t> {
    /// The text.
    text: &'t [u8],
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

impl<'t> Grammar<'t> {
    /// Nothing is read yet.
    fn new(text: &'t [u8]) -> Self {
        Grammar {
            text,
            state: State::Start,
            depth: 0,
            objects: 0,
            key: 0,
            is_seq: false,
            seq: None,
        }
    }

    /// Whether four digits follow the `u` of each `\u`.
    fn unicode(&self, at: usize, found: &[Found]) -> Option<()> {
        for (i, found) in found.iter().enumerate() {
            let mut bits = found.unicode;
            while bits != 0 {
                let u = at + i * BLOCK_BYTES + bits.trailing_zeros() as usize;
                let digits = self.text.get(u + 1..u + 5)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                bits &= bits - 1;
            }
        }
        Some(())
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
        (self.state == State::End).then_some(self.seq)
    }
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
            assert_eq!(Quick::default().object(line.as_bytes()), Some(Some(12)));
            assert_eq!(Quick::default().object(&line.as_bytes()[..line.len() - 1]), None);
        }
    }

    /// Where it cannot be sure it says nothing, although the line is an object.
    #[test]
    fn rare_lines_are_left_to_the_automaton() {
        let deep = ["{\"a\":", &"[".repeat(64), &"]".repeat(64), "}"].concat();
        for line in ["{\"a\":NaN}", "{\"\\u0073eq\":1}", &deep] {
            assert_eq!(Quick::default().object(line.as_bytes()), None);
            assert_eq!(crate::check_json(line.as_bytes()), crate::Verdict::Ok);
        }
    }
}
