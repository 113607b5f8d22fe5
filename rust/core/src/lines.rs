//! Framing, on byte 0x0A alone, in both directions.
//!
//! Both readers hold one chunk, which a search backward makes larger once. A line that fits into
//! it is given as a slice; a longer one is given by its place ([`Backward`]) or part by part
//! ([`Forward`]), so no line costs more memory than the chunk. A byte is moved inside the chunk at
//! most once, so both are linear whatever the chunk and the line.

use memchr::{memchr, memrchr};

use crate::error::{Error, Result};
use crate::source::{CHUNK_BYTES, Pace, Scan, Source, Tick};

/// A longer line is `too_long` and never parsed: 128 MiB, twice the largest batch.
pub const LINE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes, the newline counted.
    pub length: u64,
    /// Whether it ends in a newline.
    pub terminated: bool,
}

impl Line {
    /// The offset behind the line.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }

    /// The offset behind the line's body, which is the line without its newline.
    pub fn body_end(&self) -> u64 {
        self.end() - u64::from(self.terminated)
    }
}

/// A line as a forward reader meets it.
pub(crate) enum Framed<'a> {
    /// The line and its body.
    Whole(Line, &'a [u8]),
    /// A line that is longer than the chunk; its parts are next.
    Long,
}

/// A line as a backward reader meets it, and its body if that fits into the chunk.
pub(crate) type Met<'a> = (Line, Option<&'a [u8]>);

/// Reads lines in order.
pub(crate) struct Forward<'s, 't, S: Source + ?Sized> {
    /// What is read; its `stop` falls if the source ends earlier.
    scan: Scan<'s, S>,
    /// The chunk.
    buf: Vec<u8>,
    /// The offset of `buf[0]`.
    base: u64,
    /// Bytes of `buf` that were read.
    filled: usize,
    /// Where in `buf` the next line (or the next part of a long one) begins.
    at: usize,
    /// How the long line ended, as far as known.
    ended: Option<Line>,
    /// The first byte of the long line.
    long: u64,
    /// Tells the caller about progress.
    pace: Pace<'t>,
}

impl<'s, 't, S: Source + ?Sized> Forward<'s, 't, S> {
    /// `scan.start` is the first byte of a line.
    pub(crate) fn new(scan: Scan<'s, S>, tick: Option<Tick<'t>>) -> Self {
        Forward::reusing(Vec::new(), scan, tick)
    }

    /// The same with a buffer of an earlier scan.
    pub(crate) fn reusing(mut buf: Vec<u8>, scan: Scan<'s, S>, tick: Option<Tick<'t>>) -> Self {
        scan.size(&mut buf);
        let (base, pace) = (scan.start, Pace::new(tick));
        Forward { scan, buf, base, filled: 0, at: 0, ended: None, long: 0, pace }
    }

    /// The buffer, for another scan.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buf
    }

    /// The next line; `None` at the end of the range.
    pub(crate) fn next(&mut self) -> Result<Option<Framed<'_>>> {
        let mut searched = self.at;
        loop {
            if let Some(i) = memchr(b'\n', &self.buf[searched..self.filled]) {
                return Ok(Some(self.take(searched + i, true)));
            }
            if self.at_stop() {
                let end = self.filled;
                return Ok((self.at < end).then(|| self.take(end, false)));
            }
            if self.at == 0 && self.filled == self.buf.len() {
                (self.long, self.ended) = (self.base, None);
                return Ok(Some(Framed::Long));
            }
            searched = self.filled - self.at;
            self.fill()?;
        }
    }

    /// The next part of the long line's body; `None` at its end.
    pub(crate) fn part(&mut self) -> Result<Option<&[u8]>> {
        if self.ended.is_some() {
            return Ok(None);
        }
        if self.at == self.filled && !self.at_stop() {
            self.fill()?;
        }
        let from = self.at;
        let newline = memchr(b'\n', &self.buf[from..self.filled]);
        let end = newline.map_or(self.filled, |i| from + i);
        self.at = end + usize::from(newline.is_some());
        if newline.is_some() || self.at_stop() {
            let length = self.base + self.at as u64 - self.long;
            self.ended = Some(Line { offset: self.long, length, terminated: newline.is_some() });
        }
        Ok(Some(&self.buf[from..end]))
    }

    /// The long line, after its last part.
    pub(crate) fn long_line(&self) -> Line {
        self.ended.expect("the last part was taken")
    }

    /// Takes the line whose body ends at `end` of the chunk.
    fn take(&mut self, end: usize, terminated: bool) -> Framed<'_> {
        let from = self.at;
        self.at = end + usize::from(terminated);
        let offset = self.base + from as u64;
        let line = Line { offset, length: (self.at - from) as u64, terminated };
        Framed::Whole(line, &self.buf[from..end])
    }

    /// Whether everything was read.
    fn at_stop(&self) -> bool {
        self.base + self.filled as u64 >= self.scan.stop
    }

    /// Moves what is left to the front and reads behind it.
    fn fill(&mut self) -> Result<()> {
        self.buf.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        let offset = self.base + self.filled as u64;
        let room = (self.buf.len() - self.filled) as u64;
        let want = usize::try_from(room.min(self.scan.stop - offset)).expect("inside the chunk");
        let target = &mut self.buf[self.filled..self.filled + want];
        let count = self.scan.source.read_full(target, offset)?;
        self.filled += count;
        if count < want {
            self.scan.stop = offset + count as u64;
        }
        self.pace.read(count as u64)
    }

    /// Tells the caller that the range is done.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let done = self.base + self.filled as u64 - self.scan.start;
        self.pace.tell(done)
    }
}

/// A backward reader's read for which it makes a chunk smaller than [`CHUNK_BYTES`] larger: the
/// 15th, behind about a megabyte of a search.
const READS_TO_GROWTH: usize = 16;

/// How many times larger it becomes.
const GROWTH: usize = 4;

/// Reads lines newest first.
pub(crate) struct Backward<'s, 't, S: Source + ?Sized> {
    /// What is read.
    scan: Scan<'s, S>,
    /// The chunk; what was read and not given yet is `buf[from..to]`.
    buf: Vec<u8>,
    /// Start of the bytes that were read.
    from: usize,
    /// End of the next line.
    to: usize,
    /// The offset of `buf[from]`.
    base: u64,
    /// Reads until the chunk grows, once.
    reads_to_growth: usize,
    /// Tells the caller about progress.
    pace: Pace<'t>,
}

impl<'s, 't, S: Source + ?Sized> Backward<'s, 't, S> {
    /// `scan.start` is the first byte of a line.
    pub(crate) fn new(scan: Scan<'s, S>, tick: Option<Tick<'t>>) -> Self {
        let buf = scan.buffer();
        let end = buf.len();
        let (base, pace, reads_to_growth) = (scan.stop, Pace::new(tick), READS_TO_GROWTH);
        Backward { scan, buf, from: end, to: end, base, reads_to_growth, pace }
    }

    /// The line before the last one given, with its body if that fits into the chunk.
    pub(crate) fn next(&mut self) -> Result<Option<Met<'_>>> {
        let end = self.base + (self.to - self.from) as u64;
        if end <= self.scan.start {
            return Ok(None);
        }
        if self.to == self.from {
            self.fill()?;
        }
        let terminated = self.buf[self.to - 1] == b'\n';
        let mut searched = self.to - usize::from(terminated);
        let mut whole = true;
        let first = loop {
            if let Some(i) = memrchr(b'\n', &self.buf[self.from..searched]) {
                break self.from + i + 1;
            }
            if self.base <= self.scan.start {
                break self.from;
            }
            let kept = self.to - self.from;
            if kept == self.buf.len() {
                whole = false;
                self.to = self.from;
            }
            self.fill()?;
            searched = if whole { self.buf.len() - kept } else { self.to };
        };
        let offset = self.base + (first - self.from) as u64;
        let line = Line { offset, length: end - offset, terminated };
        let body = first..self.to - usize::from(terminated && whole);
        self.to = first;
        Ok(Some((line, whole.then(|| &self.buf[body]))))
    }

    /// Makes the chunk larger: what is near is found soonest in a small one, all of a log in a
    /// large.
    fn grow(&mut self) {
        let kept = self.from..self.to;
        let scan = Scan { chunk_bytes: GROWTH * self.buf.len(), ..self.scan };
        let mut buf = scan.buffer();
        self.to = buf.len();
        self.from = self.to - kept.len();
        buf[self.from..].copy_from_slice(&self.buf[kept]);
        self.buf = buf;
    }

    /// Moves what is left to the end and reads before it.
    fn fill(&mut self) -> Result<()> {
        self.reads_to_growth = self.reads_to_growth.saturating_sub(1);
        if self.reads_to_growth == 1 && self.buf.len() < CHUNK_BYTES {
            self.grow();
        }
        let (kept, end) = (self.to - self.from, self.buf.len());
        self.buf.copy_within(self.from..self.to, end - kept);
        let room = (end - kept) as u64;
        let count = usize::try_from(room.min(self.base - self.scan.start)).expect("in the chunk");
        self.from = end - kept - count;
        self.to = end;
        self.base -= count as u64;
        let target = &mut self.buf[self.from..self.from + count];
        let read = self.scan.source.read_full(target, self.base)?;
        // Bytes that a writer took away meanwhile read as NULs.
        target[read..].fill(0);
        self.pace.read(count as u64)
    }
}

/// Checks that a caller asks for at least one thing.
pub(crate) fn check_max(max: usize) -> Result<()> {
    if max < 1 {
        return Err(Error::Argument("a maximum must be at least 1"));
    }
    Ok(())
}

/// Lines of the range in order, at most `lines_max`.
pub fn lines_forward<S: Source + ?Sized>(scan: Scan<'_, S>, lines_max: usize) -> Result<Vec<Line>> {
    check_max(lines_max)?;
    let mut reader = Forward::new(scan, None);
    let mut lines = Vec::new();
    while lines.len() < lines_max {
        match reader.next()? {
            None => break,
            Some(Framed::Whole(line, _)) => lines.push(line),
            Some(Framed::Long) => {
                while reader.part()?.is_some() {}
                lines.push(reader.long_line());
            }
        }
    }
    Ok(lines)
}

/// The same lines newest first, at most `lines_max`.
pub fn lines_backward<S: Source + ?Sized>(
    scan: Scan<'_, S>,
    lines_max: usize,
) -> Result<Vec<Line>> {
    check_max(lines_max)?;
    let mut reader = Backward::new(scan, None);
    let mut lines = Vec::new();
    while lines.len() < lines_max {
        match reader.next()? {
            None => break,
            Some((line, _)) => lines.push(line),
        }
    }
    Ok(lines)
}
