//! A pushdown automaton for JSON as the standard library's decoder takes it.
//!
//! It runs over parts of a text, remembers one bit a level, and stops at the very byte that no
//! well-formed text could have there; the piece rule rests on that byte. It checks strings for
//! strict UTF-8, and tells a [`Watch`] what it passes.

use crate::plain::skip_plain;
use crate::utf8::Utf8;

/// Deepest nesting of a well-formed line, the outermost container counted: 200 levels, which any
/// decoder's stack holds.
pub const DEPTH_MAX: usize = 200;

/// Digits of the longest integer that the standard library decodes by default: 4,300.
pub const INT_DIGITS_MAX: usize = 4_300;

/// Words that hold one bit for each level.
const STACK_WORDS: usize = DEPTH_MAX.div_ceil(64);

/// Hears what the automaton passes. Depth 1 is inside the outermost container.
pub trait Watch {
    /// Whether anybody listens to the text of strings and numbers.
    const LISTENS: bool = true;
    /// A key of the object at `depth` begins.
    fn key(&mut self, _depth: usize) {}
    /// A value inside the container at `depth` begins; 0 is the outermost value.
    fn value(&mut self, _depth: usize, _kind: Kind) {}
    /// Decoded UTF-8 of the current key or string, in parts.
    fn text(&mut self, _part: &[u8]) {}
    /// A UTF-16 unit that the current key or string escapes.
    fn unit(&mut self, _unit: u16) {}
    /// The current key or string is at its end.
    fn text_end(&mut self) {}
    /// A part of the current number.
    fn number(&mut self, _part: &[u8]) {}
    /// The container at `depth` is closed.
    fn close(&mut self, _depth: usize) {}
}

impl Watch for () {
    const LISTENS: bool = false;
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    Text,
    /// A number, NaN and the infinities aside.
    Number,
    /// `true`, `false`, `null`, `NaN` or an infinity.
    Word,
}

/// How far a part brought the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The part is used up.
    All,
    /// The outermost container was closed; the position is behind its bracket.
    Closed(usize),
    /// No well-formed text has the byte at this position.
    Stopped(usize),
}

/// Why one byte ends the work on a part.
enum Halt {
    /// The byte is impossible and was not taken.
    Stop,
    /// The byte closed the outermost container and was taken.
    Close,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value.
    Value,
    /// A value or `]`.
    FirstItem,
    /// A key or `}`.
    FirstKey,
    /// A key.
    Key,
    /// `:`
    Colon,
    /// `,` or the container's closing bracket.
    Next,
    /// White space behind the outermost value.
    After,
    /// More of a string.
    Text,
    /// The character behind a `\`.
    Escape,
    /// A digit of `\uXXXX`.
    Hex,
    /// More of the word in `Automaton::word`.
    Word,
    /// A number's first byte.
    Number,
    /// A digit or `Infinity`, behind `-`.
    Minus,
    /// What may follow a first `0`.
    Zero,
    /// What may follow digits.
    Int,
    /// A digit, behind `.`.
    Point,
    /// What may follow digits behind `.`.
    Fraction,
    /// A sign or digit, behind `e`.
    Exp,
    /// A digit, behind the exponent's sign.
    ExpSign,
    /// What may follow digits of an exponent.
    ExpDigits,
}

/// The automaton: a few words of memory, whatever the text.
pub struct Automaton {
    /// What may come next.
    state: State,
    /// Containers that are open.
    depth: usize,
    /// Bit `i` tells whether the container at depth `i + 1` is an object.
    objects: [u64; STACK_WORDS],
    /// Whether the current string is a key.
    in_key: bool,
    /// Where the current string stands inside a character.
    utf8: Utf8,
    /// Digits of the current `\uXXXX` so far.
    hex_digits: u8,
    /// Their value.
    unit: u16,
    /// What is left of the current word.
    word: &'static [u8],
    /// Digits of the current integer so far.
    digits: usize,
    /// Whether the outermost value is an object.
    object: bool,
    /// Whether it was the depth that stopped it.
    too_deep: bool,
}

impl Default for Automaton {
    fn default() -> Self {
        Automaton {
            state: State::Value,
            depth: 0,
            objects: [0; STACK_WORDS],
            in_key: false,
            utf8: Utf8::default(),
            hex_digits: 0,
            unit: 0,
            word: b"",
            digits: 0,
            object: false,
            too_deep: false,
        }
    }
}

impl Automaton {
    /// Takes the next part of the text. After `Closed` the rest of the part is to be fed again.
    pub fn feed<W: Watch>(&mut self, part: &[u8], watch: &mut W) -> Fed {
        let mut at = 0;
        while at < part.len() {
            let step = match self.state {
                State::Text => self.text(part, &mut at, watch),
                State::Escape => self.escape(part, &mut at, watch),
                State::Hex => self.hex(part, &mut at, watch),
                State::Word => self.word(part, &mut at),
                State::Value
                | State::FirstItem
                | State::FirstKey
                | State::Key
                | State::Colon
                | State::Next
                | State::After => self.structure(part, &mut at, watch),
                _ => self.number(part, &mut at, watch),
            };
            match step {
                Ok(()) => {}
                Err(Halt::Stop) => return Fed::Stopped(at),
                Err(Halt::Close) => return Fed::Closed(at),
            }
        }
        Fed::All
    }

    /// Whether what was taken so far is one whole value.
    pub fn is_whole(&self) -> bool {
        let number = match self.state {
            State::Int => self.digits <= INT_DIGITS_MAX,
            State::Zero | State::Fraction | State::ExpDigits => true,
            _ => false,
        };
        self.state == State::After || (number && self.depth == 0)
    }

    /// Whether the outermost value is an object.
    pub fn is_object(&self) -> bool {
        self.object
    }

    /// Whether it was a bracket too many that stopped the automaton.
    pub fn is_too_deep(&self) -> bool {
        self.too_deep
    }

    /// Whether the text so far ends between two characters.
    pub(crate) fn between_characters(&self) -> bool {
        self.utf8.whole()
    }

    /// Takes white space and one byte between strings, numbers and words.
    fn structure<W: Watch>(
        &mut self,
        part: &[u8],
        at: &mut usize,
        watch: &mut W,
    ) -> Result<(), Halt> {
        let Some(skip) = part[*at..].iter().position(|&byte| !is_space(byte)) else {
            *at = part.len();
            return Ok(());
        };
        *at += skip;
        match (self.state, part[*at]) {
            (State::FirstItem, b']') | (State::FirstKey, b'}') => return self.close(at, watch),
            (State::Next, b'}') if self.in_object() => return self.close(at, watch),
            (State::Next, b']') if !self.in_object() => return self.close(at, watch),
            (State::Next, b',') if self.in_object() => self.state = State::Key,
            (State::Next, b',') => self.state = State::Value,
            (State::Colon, b':') => self.state = State::Value,
            (State::Key | State::FirstKey, b'"') => {
                watch.key(self.depth);
                (self.state, self.in_key) = (State::Text, true);
            }
            (State::Value | State::FirstItem, first) => return self.value(first, at, watch),
            _ => return Err(Halt::Stop),
        }
        *at += 1;
        Ok(())
    }

    /// Takes a value's first byte, a number's aside.
    fn value<W: Watch>(&mut self, first: u8, at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        let (kind, state, word): (Kind, State, &'static [u8]) = match first {
            b'{' => return self.open(Kind::Object, at, watch),
            b'[' => return self.open(Kind::Array, at, watch),
            b'"' => (Kind::Text, State::Text, b""),
            b't' => (Kind::Word, State::Word, b"rue"),
            b'f' => (Kind::Word, State::Word, b"alse"),
            b'n' => (Kind::Word, State::Word, b"ull"),
            b'N' => (Kind::Word, State::Word, b"aN"),
            b'I' => (Kind::Word, State::Word, b"nfinity"),
            b'-' | b'0'..=b'9' => (Kind::Number, State::Number, b""),
            _ => return Err(Halt::Stop),
        };
        watch.value(self.depth, kind);
        (self.state, self.word, self.in_key) = (state, word, false);
        *at += usize::from(kind != Kind::Number);
        Ok(())
    }

    /// Takes an opening bracket.
    fn open<W: Watch>(&mut self, kind: Kind, at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        if self.depth == DEPTH_MAX {
            self.too_deep = true;
            return Err(Halt::Stop);
        }
        watch.value(self.depth, kind);
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if kind == Kind::Object {
            self.objects[word] |= bit;
            self.state = State::FirstKey;
        } else {
            self.objects[word] &= !bit;
            self.state = State::FirstItem;
        }
        self.object = if self.depth == 0 { kind == Kind::Object } else { self.object };
        self.depth += 1;
        *at += 1;
        Ok(())
    }

    /// Takes a closing bracket.
    fn close<W: Watch>(&mut self, at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        watch.close(self.depth);
        self.depth -= 1;
        *at += 1;
        self.value_end();
        if self.depth == 0 { Err(Halt::Close) } else { Ok(()) }
    }

    /// A value is complete.
    fn value_end(&mut self) {
        self.state = if self.depth == 0 { State::After } else { State::Next };
    }

    /// Whether the innermost open container is an object.
    fn in_object(&self) -> bool {
        let level = self.depth - 1;
        self.objects[level / 64] >> (level % 64) & 1 == 1
    }

    /// Takes as much of a string as the part holds.
    fn text<W: Watch>(&mut self, part: &[u8], at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        let from = *at;
        loop {
            if self.utf8.whole() {
                *at = skip_plain(part, *at);
            }
            let Some(&byte) = part.get(*at) else { break };
            let special = self.utf8.whole() && matches!(byte, b'"' | b'\\' | 0..=0x1F);
            if special || !self.utf8.step(byte) {
                break;
            }
            *at += 1;
        }
        if W::LISTENS {
            watch.text(&part[from..*at]);
        }
        match part.get(*at) {
            None => return Ok(()),
            Some(b'\\') if self.utf8.whole() => self.state = State::Escape,
            Some(b'"') if self.utf8.whole() => self.text_end(watch),
            Some(_) => return Err(Halt::Stop),
        }
        *at += 1;
        Ok(())
    }

    /// A key or string is complete.
    fn text_end<W: Watch>(&mut self, watch: &mut W) {
        watch.text_end();
        if self.in_key {
            self.state = State::Colon;
        } else {
            self.value_end();
        }
    }

    /// Takes the character behind a `\`.
    fn escape<W: Watch>(&mut self, part: &[u8], at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        let decoded = match part[*at] {
            b'u' => {
                (self.state, self.hex_digits, self.unit) = (State::Hex, 0, 0);
                *at += 1;
                return Ok(());
            }
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return Err(Halt::Stop),
        };
        watch.text(&[decoded]);
        self.state = State::Text;
        *at += 1;
        Ok(())
    }

    /// Takes one digit of `\uXXXX`.
    fn hex<W: Watch>(&mut self, part: &[u8], at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        let digit = match part[*at] {
            byte @ b'0'..=b'9' => byte - b'0',
            byte @ b'a'..=b'f' => byte - b'a' + 10,
            byte @ b'A'..=b'F' => byte - b'A' + 10,
            _ => return Err(Halt::Stop),
        };
        self.unit = self.unit << 4 | u16::from(digit);
        self.hex_digits += 1;
        if self.hex_digits == 4 {
            watch.unit(self.unit);
            self.state = State::Text;
        }
        *at += 1;
        Ok(())
    }

    /// Takes one byte of a word.
    fn word(&mut self, part: &[u8], at: &mut usize) -> Result<(), Halt> {
        let Some((&next, rest)) = self.word.split_first() else { return Err(Halt::Stop) };
        if part[*at] != next {
            return Err(Halt::Stop);
        }
        self.word = rest;
        *at += 1;
        if rest.is_empty() {
            self.value_end();
        }
        Ok(())
    }

    /// Takes as much of a number as the part holds.
    fn number<W: Watch>(&mut self, part: &[u8], at: &mut usize, watch: &mut W) -> Result<(), Halt> {
        let from = *at;
        let mut ended = false;
        while let (false, Some(&byte)) = (ended, part.get(*at)) {
            match self.number_step(byte) {
                Some(state) => {
                    self.state = state;
                    *at += 1;
                    ended = state == State::Word;
                }
                None => {
                    self.number_end()?;
                    ended = true;
                }
            }
        }
        if W::LISTENS {
            watch.number(&part[from..*at]);
        }
        Ok(())
    }

    /// The state behind one more byte of a number; `None` if the byte belongs to no number.
    fn number_step(&mut self, byte: u8) -> Option<State> {
        Some(match (self.state, byte) {
            (State::Int, b'0'..=b'9') => {
                self.digits += 1;
                State::Int
            }
            (State::Fraction | State::Point, b'0'..=b'9') => State::Fraction,
            (State::Number, b'-') => State::Minus,
            (State::Number | State::Minus, b'0') => State::Zero,
            (State::Number | State::Minus, b'1'..=b'9') => {
                self.digits = 1;
                State::Int
            }
            (State::Minus, b'I') => {
                self.word = b"nfinity";
                State::Word
            }
            (State::Zero | State::Int, b'.') => State::Point,
            (State::Zero | State::Int | State::Fraction, b'e' | b'E') => State::Exp,
            (State::Exp, b'+' | b'-') => State::ExpSign,
            (State::Exp | State::ExpSign | State::ExpDigits, b'0'..=b'9') => State::ExpDigits,
            _ => return None,
        })
    }

    /// A byte stands behind the number that does not belong to it.
    fn number_end(&mut self) -> Result<(), Halt> {
        match self.state {
            State::Int if self.digits > INT_DIGITS_MAX => return Err(Halt::Stop),
            State::Zero | State::Int | State::Fraction | State::ExpDigits => self.value_end(),
            _ => return Err(Halt::Stop),
        }
        Ok(())
    }
}

/// White space between tokens.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
