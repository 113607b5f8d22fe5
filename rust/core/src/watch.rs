//! What is looked for in an object while it is checked: `seq`, `type`, and the string at a path.
//!
//! Keys are compared as decoded, and of duplicate keys the last one decides, at every level.

use crate::json::{Kind, Watch};

/// The longest key of [`Top`].
const TOP_KEY_BYTES: usize = 4;

/// Digits of the longest integer that counts as a `seq`: 18, so that it fits into 64 bits.
const SEQ_DIGITS_MAX: usize = 18;

/// Which member of the outermost object is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    /// One that nobody asked for, or none.
    Other,
    /// A key.
    Key,
    /// The value of `seq`.
    Seq,
    /// The value of `type`.
    Type,
}

/// The outermost object's `seq` and `type`.
pub struct Top {
    /// What is being read.
    member: Member,
    /// The first bytes of the current key, decoded.
    key: [u8; TOP_KEY_BYTES],
    /// Bytes of the current key, a longer one counted as one byte more than fits.
    key_bytes: usize,
    /// Digits of the last `seq`; `None` if it is no plain integer.
    digits: Option<usize>,
    /// The value of those digits, meaningless when there are too many.
    seq: u64,
    /// Whether the last `type` is a string.
    typed: bool,
}

impl Default for Top {
    fn default() -> Self {
        let key = [0; TOP_KEY_BYTES];
        Top { member: Member::Other, key, key_bytes: 0, digits: None, seq: 0, typed: false }
    }
}

impl Top {
    /// The object's `seq`, if that is an integer of 1 to 18 digits without a sign.
    pub fn seq(&self) -> Option<u64> {
        self.digits.filter(|count| (1..=SEQ_DIGITS_MAX).contains(count)).map(|_| self.seq)
    }

    /// Whether the object's `type` is a string.
    pub fn is_typed(&self) -> bool {
        self.typed
    }

    /// Which member the key that was just read names.
    fn named(&self) -> Member {
        match &self.key[..self.key_bytes.min(TOP_KEY_BYTES)] {
            _ if self.key_bytes > TOP_KEY_BYTES => Member::Other,
            b"seq" => Member::Seq,
            b"type" => Member::Type,
            _ => Member::Other,
        }
    }
}

impl Watch for Top {
    fn key(&mut self, depth: usize) {
        self.member = if depth == 1 { Member::Key } else { Member::Other };
        self.key_bytes = 0;
    }

    fn value(&mut self, depth: usize, kind: Kind) {
        match self.member {
            Member::Seq if depth == 1 => {
                self.seq = 0;
                self.digits = (kind == Kind::Number).then_some(0);
            }
            Member::Type if depth == 1 => {
                self.typed = kind == Kind::Text;
                self.member = Member::Other;
            }
            _ => self.member = Member::Other,
        }
        if kind != Kind::Number {
            self.member = Member::Other;
        }
    }

    fn text(&mut self, part: &[u8]) {
        if self.member != Member::Key {
            return;
        }
        let from = self.key_bytes.min(TOP_KEY_BYTES);
        let count = part.len().min(TOP_KEY_BYTES - from);
        self.key[from..from + count].copy_from_slice(&part[..count]);
        self.key_bytes = (self.key_bytes + part.len()).min(TOP_KEY_BYTES + 1);
    }

    fn unit(&mut self, unit: u16) {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => self.text(&[byte]),
            _ => self.text(&[0xFF; TOP_KEY_BYTES + 1]),
        }
    }

    fn text_end(&mut self) {
        if self.member == Member::Key {
            self.member = self.named();
        }
    }

    fn number(&mut self, part: &[u8]) {
        if self.member != Member::Seq {
            return;
        }
        for &byte in part {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
            self.digits = self.digits.filter(|_| digit.is_some()).map(|count| count + 1);
            self.seq = self.seq.wrapping_mul(10).wrapping_add(digit.unwrap_or(0));
        }
    }
}

/// Compares a decoded string, part by part, with one that is known.
#[derive(Default)]
struct Compare {
    /// Bytes that were equal.
    equal: usize,
    /// Whether some byte was not.
    differs: bool,
    /// The first half of a surrogate pair whose second half must come next.
    high: Option<u16>,
}

impl Compare {
    /// Takes decoded bytes.
    fn text(&mut self, part: &[u8], wanted: &[u8]) {
        if part.is_empty() {
            return;
        }
        let left = &wanted[self.equal.min(wanted.len())..];
        if self.high.is_some() || !left.starts_with(part) {
            self.differs = true;
        } else {
            self.equal += part.len();
        }
    }

    /// Takes a UTF-16 unit. Known strings hold no lone surrogate, so one always differs.
    fn unit(&mut self, unit: u16, wanted: &[u8]) {
        let high = self.high.take();
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let units = high.into_iter().chain([unit]);
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(character) => {
                    self.text(character.encode_utf8(&mut [0; 4]).as_bytes(), wanted);
                }
                Err(_) => self.differs = true,
            }
        }
    }

    /// Whether the string, now at its end, is the known one.
    fn is_equal(&self, wanted: &[u8]) -> bool {
        !self.differs && self.high.is_none() && self.equal == wanted.len()
    }
}

/// Which string [`PathWord`] reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// None that matters.
    Other,
    /// A key of the deepest object on the path.
    Key,
    /// None: the key just read is the path's next name, its value comes next.
    Named,
    /// The string at the end of the path.
    Word,
}

/// Whether the string at a path of names is a word.
pub struct PathWord<'p> {
    /// Names of nested objects, the outermost first.
    path: &'p [&'p str],
    /// The word that is looked for.
    word: &'p str,
    /// Objects that are open on the path; the outermost counts.
    level: usize,
    /// What is being read.
    part: Part,
    /// How that compares.
    compare: Compare,
    /// Whether the path, as far as it was read, ends in the word.
    found: bool,
}

impl<'p> PathWord<'p> {
    /// Nothing is read yet.
    pub fn new(path: &'p [&'p str], word: &'p str) -> Self {
        let compare = Compare::default();
        PathWord { path, word, level: 1, part: Part::Other, compare, found: false }
    }

    /// Whether the string at the path is the word.
    pub fn is_found(&self) -> bool {
        self.found
    }

    /// What the current string is compared with.
    fn wanted(&self) -> Option<&'p [u8]> {
        match self.part {
            Part::Key => Some(self.path[self.level - 1].as_bytes()),
            Part::Word => Some(self.word.as_bytes()),
            Part::Other | Part::Named => None,
        }
    }
}

impl Watch for PathWord<'_> {
    fn key(&mut self, depth: usize) {
        let on_path = depth == self.level && self.level <= self.path.len();
        self.part = if on_path { Part::Key } else { Part::Other };
        self.compare = Compare::default();
    }

    fn value(&mut self, _depth: usize, kind: Kind) {
        let named = self.part == Part::Named;
        self.part = Part::Other;
        if named && self.level == self.path.len() && kind == Kind::Text {
            self.part = Part::Word;
            self.compare = Compare::default();
        } else if named && self.level < self.path.len() && kind == Kind::Object {
            self.level += 1;
        }
    }

    fn text(&mut self, part: &[u8]) {
        if let Some(wanted) = self.wanted() {
            self.compare.text(part, wanted);
        }
    }

    fn unit(&mut self, unit: u16) {
        if let Some(wanted) = self.wanted() {
            self.compare.unit(unit, wanted);
        }
    }

    fn text_end(&mut self) {
        let equal = self.wanted().is_some_and(|wanted| self.compare.is_equal(wanted));
        match self.part {
            Part::Key if equal => {
                // The last occurrence decides, so what an earlier one held is void.
                self.found = false;
                self.part = Part::Named;
            }
            Part::Word => {
                self.found = equal;
                self.part = Part::Other;
            }
            _ => self.part = Part::Other,
        }
    }

    fn close(&mut self, depth: usize) {
        if depth == self.level && depth > 1 {
            self.level -= 1;
        }
    }
}

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn key(&mut self, depth: usize) {
        self.0.key(depth);
        self.1.key(depth);
    }

    fn value(&mut self, depth: usize, kind: Kind) {
        self.0.value(depth, kind);
        self.1.value(depth, kind);
    }

    fn text(&mut self, part: &[u8]) {
        self.0.text(part);
        self.1.text(part);
    }

    fn unit(&mut self, unit: u16) {
        self.0.unit(unit);
        self.1.unit(unit);
    }

    fn text_end(&mut self) {
        self.0.text_end();
        self.1.text_end();
    }

    fn number(&mut self, part: &[u8]) {
        self.0.number(part);
        self.1.number(part);
    }

    fn close(&mut self, depth: usize) {
        self.0.close(depth);
        self.1.close(depth);
    }
}
