//! What a line of a foreign log is: findings and complete objects, in file order.

use std::io;
use std::ops::Range;

use crate::finding::{Finding, Kind};
use crate::json::{Watch, is_space};
use crate::lines::{LINE_BYTES_MAX, Line};
use crate::pieces::each_piece;
use crate::quick::Quick;
use crate::text::{Slice, Text, leading_nuls, position, trailing_nuls};
use crate::verdict::{Verdict, judge_range};
use crate::watch::Top;

/// Something that a line holds, in absolute offsets.
pub(crate) enum Event<'e, W> {
    /// A finding.
    Finding(Finding),
    /// A complete object.
    Object(Object, &'e W),
}

/// A complete object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes; a whole line's newline counts.
    pub length: u64,
    /// Its top-level `seq`, if that is a plain integer.
    pub seq: Option<u64>,
}

impl Object {
    /// The offset behind it.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// A line whose NUL runs are split off.
pub(crate) struct Parts {
    /// Where the line is.
    line: Line,
    /// NULs before the rest; all of a line that holds nothing else.
    nuls_before: u64,
    /// NULs behind the rest.
    nuls_behind: u64,
    /// The rest, relative to the line.
    pub(crate) rest: Range<u64>,
    /// Whether the rest is white space, or nothing.
    pub(crate) is_blank: bool,
}

impl Parts {
    /// Splits the body of `line`.
    pub(crate) fn split<T: Text>(text: &mut T, line: Line) -> io::Result<Self> {
        let nuls_before = leading_nuls(text)?;
        let all = nuls_before == text.len();
        let nuls_behind = if all { 0 } else { trailing_nuls(text)? };
        let rest = nuls_before..text.len() - nuls_behind;
        let is_blank = position(text, rest.clone(), |byte| !is_space(byte))?.is_none();
        Ok(Parts { line, nuls_before, nuls_behind, rest, is_blank })
    }

    /// The line's first byte and its bytes, for a blank line without NULs.
    pub(crate) fn blank(&self) -> Option<Finding> {
        let Line { offset, length, .. } = self.line;
        let is_blank = self.is_blank && !self.has_nuls() && length > 0;
        is_blank.then(|| Finding::new(Kind::Blank, offset, length))
    }

    /// The NUL run before the rest.
    pub(crate) fn before(&self) -> Option<Finding> {
        let finding = Finding::new(Kind::Nul, self.line.offset, self.nuls_before);
        (self.nuls_before > 0).then_some(finding)
    }

    /// The NUL run behind the rest.
    pub(crate) fn behind(&self) -> Option<Finding> {
        let finding = Finding::new(Kind::Nul, self.line.offset + self.rest.end, self.nuls_behind);
        (self.nuls_behind > 0).then_some(finding)
    }

    /// Whether there are NULs to split off.
    pub(crate) fn has_nuls(&self) -> bool {
        self.nuls_before + self.nuls_behind > 0
    }

    /// Whether something stands behind the rest that ends it.
    pub(crate) fn is_ended(&self) -> bool {
        self.line.terminated || self.nuls_behind > 0
    }

    /// Whether the rest is too long to be parsed.
    pub(crate) fn is_too_long(&self) -> bool {
        self.rest.end - self.rest.start > LINE_BYTES_MAX
    }

    /// Offset and length that a finding over the rest names: a newline right behind it counts.
    pub(crate) fn span(&self) -> (u64, u64) {
        let newline = u64::from(self.line.terminated && self.nuls_behind == 0);
        (self.line.offset + self.rest.start, self.rest.end - self.rest.start + newline)
    }

    /// A finding over the rest.
    pub(crate) fn finding(&self, kind: Kind) -> Finding {
        let (offset, length) = self.span();
        Finding::new(kind, offset, length)
    }

    /// `torn` for a line without an end, else `kind`.
    pub(crate) fn or_torn(&self, kind: Kind) -> Finding {
        self.finding(if self.line.terminated { kind } else { Kind::Torn })
    }
}

/// The kind of a finding about a rest that is no object.
pub(crate) fn kind_of(verdict: Verdict) -> Option<Kind> {
    match verdict {
        Verdict::Ok => None,
        Verdict::NotUtf8 => Some(Kind::NotUtf8),
        Verdict::TooDeep => Some(Kind::TooDeep),
        Verdict::NotJson => Some(Kind::NotJson),
        Verdict::NotObject => Some(Kind::NotObject),
    }
}

/// As [`classify`] for a line in memory. Where nobody listens, most lines need a quick look only.
pub(crate) fn classify_body<W: Watch>(
    quick: &mut Quick,
    body: &[u8],
    line: Line,
    watch: &impl Fn() -> W,
    give: &mut impl FnMut(Event<'_, W>),
) {
    if !W::LISTENS
        && body.len() as u64 <= LINE_BYTES_MAX
        && let Some(seq) = quick.object(body)
    {
        return give_line(line, seq, &watch(), give);
    }
    classify(&mut Slice(body), line, watch, give).expect("memory is readable");
}

/// Gives the findings and objects of the line whose body is `text`; `watch` makes what looks at
/// each object while it is parsed.
pub(crate) fn classify<T: Text, W: Watch>(
    text: &mut T,
    line: Line,
    watch: &impl Fn() -> W,
    give: &mut impl FnMut(Event<'_, W>),
) -> io::Result<()> {
    let parts = Parts::split(text, line)?;
    if let Some(blank) = parts.blank() {
        give(Event::Finding(blank));
    }
    if let Some(nuls) = parts.before() {
        give(Event::Finding(nuls));
    }
    if !parts.is_blank {
        classify_rest(text, &parts, watch, give)?;
    }
    if let Some(nuls) = parts.behind() {
        give(Event::Finding(nuls));
    }
    Ok(())
}

/// Gives the finding over a rest that is not blank, then its objects.
fn classify_rest<T: Text, W: Watch>(
    text: &mut T,
    parts: &Parts,
    watch: &impl Fn() -> W,
    give: &mut impl FnMut(Event<'_, W>),
) -> io::Result<()> {
    if parts.is_too_long() {
        give(Event::Finding(parts.or_torn(Kind::TooLong)));
        return Ok(());
    }
    let mut seen = (Top::default(), watch());
    let verdict = judge_range(text, parts.rest.clone(), &mut seen)?;
    let Some(kind) = kind_of(verdict) else {
        give_whole(parts, seen.0.seq(), &seen.1, give);
        return Ok(());
    };
    let mut glued = false;
    each_piece(text, parts.rest.clone(), watch, |piece, top, seen| {
        if !glued {
            give(Event::Finding(parts.finding(Kind::Glued)));
            glued = true;
        }
        let (offset, length) = (parts.line.offset + piece.start, piece.end - piece.start);
        give(Event::Object(Object { offset, length, seq: top.seq() }, seen));
    })?;
    if !glued {
        give(Event::Finding(parts.or_torn(kind)));
    }
    Ok(())
}

/// Gives a rest that is one object.
fn give_whole<W>(parts: &Parts, seq: Option<u64>, seen: &W, give: &mut impl FnMut(Event<'_, W>)) {
    if !parts.is_ended() {
        give(Event::Finding(parts.finding(Kind::Unterminated)));
    }
    let (offset, length) = parts.span();
    give(Event::Object(Object { offset, length, seq }, seen));
}

/// Gives a line that is one object from end to end, and has that `seq`.
pub(crate) fn give_line<W>(
    line: Line,
    seq: Option<u64>,
    seen: &W,
    give: &mut impl FnMut(Event<'_, W>),
) {
    let rest = 0..line.body_end() - line.offset;
    let parts = Parts { line, nuls_before: 0, nuls_behind: 0, rest, is_blank: false };
    give_whole(&parts, seq, seen, give);
}

/// Findings and complete objects of one line, its newline included, relative to the line.
pub fn classify_line(line: &[u8]) -> (Vec<Finding>, Vec<Object>) {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let terminated = body.len() < line.len();
    let place = Line { offset: 0, length: line.len() as u64, terminated };
    let (mut findings, mut objects) = (Vec::new(), Vec::new());
    classify_body(&mut Quick::default(), body, place, &|| (), &mut |event| match event {
        Event::Finding(finding) => findings.push(finding),
        Event::Object(object, ()) => objects.push(object),
    });
    (findings, objects)
}
