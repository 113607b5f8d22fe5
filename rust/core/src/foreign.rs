//! Logs that others wrote: their objects in both directions, and the newest that holds a word.

use std::mem::take;

use memchr::memmem;

use crate::classify::{Event, Object, classify, classify_body, give_line};
use crate::error::Result;
use crate::json::{Watch, is_space};
use crate::lines::{Backward, Forward, Framed, LINE_BYTES_MAX, Met, check_max};
use crate::quick::Quick;
use crate::source::{Scan, Source, Tick};
use crate::text::{Span, position, rfind_byte};
use crate::verdict::{Judge, Verdict};
use crate::watch::{PathWord, Top};

/// The byte order mark in UTF-8.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How a file begins.
pub(crate) struct Head {
    /// Where its first line starts: behind a byte order mark.
    pub(crate) first: u64,
    /// The line with which one JSON document over many lines begins, if it is that.
    pub(crate) document: Option<u64>,
}

/// Where the first line of a range starts: behind a byte order mark at offset 0.
fn skip_bom<S: Source + ?Sized>(scan: &Scan<'_, S>) -> Result<u64> {
    let mut head = [0; BOM.len()];
    if scan.start > 0 || scan.stop < BOM.len() as u64 {
        return Ok(scan.start);
    }
    let read = scan.source.read_full(&mut head, 0)?;
    Ok(if head[..read] == *BOM { BOM.len() as u64 } else { 0 })
}

/// Looks at the beginning of a file, which is where the range starts.
pub(crate) fn head<S: Source + ?Sized>(scan: &Scan<'_, S>) -> Result<Head> {
    let first = skip_bom(scan)?;
    let lines = scan.range(first, scan.stop);
    let (text, length) = (&mut Span::new(lines), lines.stop - first);
    let mut document = None;
    let bracket = |byte| byte == b'{' || byte == b'[';
    if let Some(at) = position(text, 0..length, |byte| !is_space(byte))? {
        let alone = |byte| byte == b'\n' || !is_space(byte);
        let opens = position(text, at..at + 1, bracket)?.is_some();
        let behind = if opens { position(text, at + 1..length, alone)? } else { Some(at) };
        let ends = match behind {
            Some(behind) => position(text, behind..behind + 1, |byte| byte == b'\n')?.is_some(),
            None => true,
        };
        if ends {
            let newline = rfind_byte(text, 0..at, b'\n')?;
            document = Some(first + newline.map_or(0, |newline| newline + 1));
        }
    }
    Ok(Head { first, document })
}

/// Gives what each line holds, in order from `scan.start`, a line start, and then the line's end;
/// an answer of `false` to that ends the scan. `buf` is left for another scan.
pub(crate) fn each_line<S: Source + ?Sized, W: Watch>(
    buf: &mut Vec<u8>,
    scan: Scan<'_, S>,
    tick: Option<Tick<'_>>,
    watch: &impl Fn() -> W,
    mut give: impl FnMut(Step<'_, W>) -> bool,
) -> Result<()> {
    let mut reader = Forward::reusing(take(buf), scan, tick);
    let mut quick = Quick::default();
    loop {
        let mut events = |event: Event<'_, W>| {
            give(Step::Event(event));
        };
        let end = match reader.next()? {
            None => break,
            Some(Framed::Whole(line, body)) => {
                classify_body(&mut quick, body, line, watch, &mut events);
                line.end()
            }
            Some(Framed::Long) => long_line(&mut reader, scan, watch, &mut events)?,
        };
        if !give(Step::LineEnd(end)) {
            return Ok(());
        }
    }
    reader.finish()?;
    *buf = reader.into_buffer();
    Ok(())
}

/// What [`each_line`] gives.
pub(crate) enum Step<'e, W> {
    /// Something that the line holds.
    Event(Event<'e, W>),
    /// The end of the line.
    LineEnd(u64),
}

/// Judges a long line while it streams by; looks at it again only if it is damaged.
fn long_line<S: Source + ?Sized, W: Watch>(
    reader: &mut Forward<'_, '_, S>,
    scan: Scan<'_, S>,
    watch: &impl Fn() -> W,
    events: &mut impl FnMut(Event<'_, W>),
) -> Result<u64> {
    let mut judge = Judge::default();
    let mut seen = (Top::default(), watch());
    let mut length = 0;
    while let Some(part) = reader.part()? {
        length += part.len() as u64;
        if length <= LINE_BYTES_MAX {
            judge.push(part, &mut seen);
        }
    }
    let line = reader.long_line();
    if length <= LINE_BYTES_MAX && judge.verdict() == Verdict::Ok {
        give_line(line, seen.0.seq(), &seen.1, events);
    } else {
        let body = scan.range(line.offset, line.body_end());
        classify(&mut Span::new(body), line, watch, events)?;
    }
    Ok(line.end())
}

/// Complete objects in order, and the line start at which to go on; `None` at the end.
pub fn objects_forward<S: Source + ?Sized>(
    scan: Scan<'_, S>,
    objects_max: usize,
) -> Result<(Vec<Object>, Option<u64>)> {
    check_max(objects_max)?;
    let mut first = scan.start;
    if scan.start == 0 {
        let head = head(&scan)?;
        if head.document.is_some() {
            return Ok((Vec::new(), None));
        }
        first = head.first;
    }
    let mut objects = Vec::new();
    let mut next = None;
    each_line(&mut Vec::new(), scan.range(first, scan.stop), None, &|| (), |step| {
        match step {
            Step::Event(Event::Object(object, ())) => objects.push(object),
            Step::LineEnd(end) if objects.len() >= objects_max => next = Some(end),
            _ => {}
        }
        next.is_none()
    })?;
    Ok((objects, next))
}

/// Gives the findings and objects of a line met backward.
fn line_backward<S: Source + ?Sized, W: Watch>(
    quick: &mut Quick,
    scan: Scan<'_, S>,
    (line, body): Met<'_>,
    watch: &impl Fn() -> W,
    events: &mut impl FnMut(Event<'_, W>),
) -> Result<()> {
    match body {
        Some(body) => classify_body(quick, body, line, watch, events),
        None => {
            let body = scan.range(line.offset, line.body_end());
            classify(&mut Span::new(body), line, watch, events)?;
        }
    }
    Ok(())
}

/// The same objects newest first, and the `stop` with which to go on; `None` at the start.
pub fn objects_backward<S: Source + ?Sized>(
    scan: Scan<'_, S>,
    objects_max: usize,
) -> Result<(Vec<Object>, Option<u64>)> {
    check_max(objects_max)?;
    let lines = scan.range(skip_bom(&scan)?, scan.stop);
    let mut reader = Backward::new(lines, None);
    let (mut objects, mut quick) = (Vec::new(), Quick::default());
    while let Some(found) = reader.next()? {
        let offset = found.0.offset;
        let known = objects.len();
        line_backward(&mut quick, lines, found, &|| (), &mut |event| {
            if let Event::Object(object, ()) = event {
                objects.push(object);
            }
        })?;
        objects[known..].reverse();
        if objects.len() >= objects_max {
            return Ok((objects, Some(offset)));
        }
    }
    Ok((objects, None))
}

/// Whether a word can be spelt in JSON in no other way than plainly or with `\u`.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The newest object in which the string at `path` is `word`.
pub fn find_object<S: Source + ?Sized>(
    scan: Scan<'_, S>,
    path: &[&str],
    word: &str,
    tick: Option<Tick<'_>>,
) -> Result<Option<Object>> {
    let lines = scan.range(skip_bom(&scan)?, scan.stop);
    let watch = || PathWord::new(path, word);
    let (plain, escape) = (memmem::Finder::new(word), memmem::Finder::new("\\u"));
    let filters = is_plain(word);
    let can_hold = |body: &[u8]| plain.find(body).is_some() || escape.find(body).is_some();
    let mut reader = Backward::new(lines, tick);
    let (mut newest, mut quick) = (None, Quick::default());
    while let (None, Some(found)) = (newest, reader.next()?) {
        if filters && found.1.is_some_and(|body| !can_hold(body)) {
            continue;
        }
        line_backward(&mut quick, lines, found, &watch, &mut |event| match event {
            Event::Object(object, seen) if seen.is_found() => newest = Some(object),
            _ => {}
        })?;
    }
    Ok(newest)
}
