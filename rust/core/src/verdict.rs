//! The verdict on a whole text: is it one well-formed JSON object, and if not, why not.

use std::io;
use std::ops::Range;

use crate::json::{Automaton, Fed, Watch};
use crate::quick::Quick;
use crate::text::{Text, for_each};
use crate::utf8::Utf8;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One well-formed JSON object.
    Ok,
    /// Not valid UTF-8, wherever else it is wrong.
    NotUtf8,
    /// Nested more than [`DEPTH_MAX`](crate::DEPTH_MAX) deep.
    TooDeep,
    /// Not well-formed.
    NotJson,
    /// Well-formed, but no object.
    NotObject,
}

impl Verdict {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::NotUtf8 => "not_utf8",
            Verdict::TooDeep => "too_deep",
            Verdict::NotJson => "not_json",
            Verdict::NotObject => "not_object",
        }
    }
}

/// Reaches a verdict over the parts of a text.
#[derive(Default)]
pub struct Judge {
    /// Reads the text up to the byte that stops it.
    json: Automaton,
    /// Whether it was stopped.
    stopped: bool,
    /// Checks what stands behind that byte.
    utf8: Utf8,
    /// Whether some byte was not valid UTF-8.
    not_utf8: bool,
}

impl Judge {
    /// Takes the next part.
    pub fn push<W: Watch>(&mut self, part: &[u8], watch: &mut W) {
        let mut rest = part;
        while !self.stopped && !rest.is_empty() {
            match self.json.feed(rest, watch) {
                Fed::All => return,
                Fed::Closed(at) => rest = &rest[at..],
                Fed::Stopped(at) => {
                    self.stopped = true;
                    rest = &rest[at..];
                }
            }
        }
        self.not_utf8 = self.not_utf8 || !self.utf8.feed(rest);
    }

    /// The verdict on what was taken.
    pub fn verdict(&self) -> Verdict {
        // A character that a stop has cut stays so: the text is not valid.
        let between = self.json.between_characters() && self.utf8.whole();
        if self.not_utf8 || !between {
            Verdict::NotUtf8
        } else if self.stopped && self.json.is_too_deep() {
            Verdict::TooDeep
        } else if self.stopped || !self.json.is_whole() {
            Verdict::NotJson
        } else if !self.json.is_object() {
            Verdict::NotObject
        } else {
            Verdict::Ok
        }
    }
}

/// The verdict on a text in memory; `watch` hears what it holds.
pub fn judge<W: Watch>(text: &[u8], watch: &mut W) -> Verdict {
    let mut judge = Judge::default();
    judge.push(text, watch);
    judge.verdict()
}

/// The verdict on a text in memory.
pub fn check_json(text: &[u8]) -> Verdict {
    check_quickly(&mut Quick::default(), text)
}

/// The same with a quick look that is used again.
pub(crate) fn check_quickly(quick: &mut Quick, text: &[u8]) -> Verdict {
    if quick.object(text).is_some() { Verdict::Ok } else { judge(text, &mut ()) }
}

/// The verdict on a range of a line.
pub(crate) fn judge_range<T: Text, W: Watch>(
    text: &mut T,
    range: Range<u64>,
    watch: &mut W,
) -> io::Result<Verdict> {
    let mut judge = Judge::default();
    for_each(text, range, |_, part| {
        judge.push(part, watch);
        true
    })?;
    Ok(judge.verdict())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each verdict has a shortest text; they pin the order in which reasons are given.
    #[test]
    fn every_verdict_is_reached() {
        for (text, expected) in [
            (&b"{}"[..], Verdict::Ok),
            (b" {\"a\":[1,-0.5e+3,NaN,-Infinity,true]}\r", Verdict::Ok),
            (b"", Verdict::NotJson),
            (b"{", Verdict::NotJson),
            (b"{} {", Verdict::NotJson),
            (b"[]", Verdict::NotObject),
            (b"12", Verdict::NotObject),
            (b"{x\xff", Verdict::NotUtf8),
            (b"{\"\xc3", Verdict::NotUtf8),
            (b"\xef\xbb\xbf{}", Verdict::NotJson),
        ] {
            assert_eq!(check_json(text), expected, "{text:?}");
        }
    }

    /// The depth and the digits of an integer are limited exactly where the limits say.
    #[test]
    fn limits_are_exact() {
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert_eq!(check_json(&nested(200)), Verdict::NotObject);
        assert_eq!(check_json(&nested(201)), Verdict::TooDeep);
        let number = |digits: usize, end: &str| "7".repeat(digits) + end;
        assert_eq!(check_json(number(4_300, "").as_bytes()), Verdict::NotObject);
        assert_eq!(check_json(number(4_301, "").as_bytes()), Verdict::NotJson);
        assert_eq!(check_json(number(4_301, " ").as_bytes()), Verdict::NotJson);
        assert_eq!(check_json(number(4_301, ".5").as_bytes()), Verdict::NotObject);
        assert_eq!(check_json(number(4_301, "e1").as_bytes()), Verdict::NotObject);
    }
}
