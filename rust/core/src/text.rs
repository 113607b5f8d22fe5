//! Random access to the bytes of one line, wherever they are.
//!
//! Damaged lines are looked at more than once, in both directions. [`Slice`] does that in memory,
//! [`Span`] with a window over a file, so a damaged line of any length costs one window.

use std::io;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::source::{Scan, Source};

/// The bytes of one line, without its newline.
pub trait Text {
    /// Number of bytes.
    fn len(&self) -> u64;

    /// The bytes from `at` on: at least `min` of them, or all up to the end.
    fn ahead(&mut self, at: u64, min: usize) -> io::Result<&[u8]>;

    /// The bytes up to `at`: at least one of them unless `at` is 0.
    fn behind(&mut self, at: u64) -> io::Result<&[u8]>;
}

/// A line in memory.
pub struct Slice<'a>(pub &'a [u8]);

impl Text for Slice<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn ahead(&mut self, at: u64, _min: usize) -> io::Result<&[u8]> {
        Ok(&self.0[index(at)..])
    }

    fn behind(&mut self, at: u64) -> io::Result<&[u8]> {
        Ok(&self.0[..index(at)])
    }
}

/// A line in a file, seen through a window.
pub struct Span<'s, S: Source + ?Sized> {
    /// The line's range and the size of the window.
    scan: Scan<'s, S>,
    /// Where the window begins, relative to the line.
    base: u64,
    /// The window; empty at first.
    window: Vec<u8>,
}

impl<'s, S: Source + ?Sized> Span<'s, S> {
    /// The range of `scan` is the line.
    pub fn new(scan: Scan<'s, S>) -> Self {
        Span { scan, base: 0, window: Vec::new() }
    }

    /// Moves the window. Bytes that a writer took away meanwhile read as NULs.
    fn load(&mut self, at: u64, count: u64) -> io::Result<()> {
        self.base = at;
        self.window.clear();
        self.window.resize(index(count), 0);
        self.scan.source.read_full(&mut self.window, self.scan.start + at)?;
        Ok(())
    }

    /// The end of the window, relative to the line.
    fn end(&self) -> u64 {
        self.base + self.window.len() as u64
    }
}

impl<S: Source + ?Sized> Text for Span<'_, S> {
    fn len(&self) -> u64 {
        self.scan.stop - self.scan.start
    }

    fn ahead(&mut self, at: u64, min: usize) -> io::Result<&[u8]> {
        let left = self.len() - at;
        let wanted = (min.max(1) as u64).min(left);
        if at < self.base || at + wanted > self.end() {
            self.load(at, (min.max(self.scan.chunk_bytes) as u64).min(left))?;
        }
        Ok(&self.window[index(at - self.base)..])
    }

    fn behind(&mut self, at: u64) -> io::Result<&[u8]> {
        if at <= self.base || at > self.end() {
            let count = at.min(self.scan.chunk_bytes as u64);
            self.load(at - count, count)?;
        }
        Ok(&self.window[..index(at - self.base)])
    }
}

/// A position inside a buffer; buffers fit in memory.
fn index(at: u64) -> usize {
    usize::try_from(at).expect("a position inside a buffer")
}

/// `bytes`, which begin at `at`, up to `stop`.
fn clip(bytes: &[u8], at: u64, stop: u64) -> &[u8] {
    let left = usize::try_from(stop - at).unwrap_or(usize::MAX);
    &bytes[..bytes.len().min(left)]
}

/// Hands the bytes of a range to `each`, in order, until it says `false`.
pub fn for_each<T: Text>(
    text: &mut T,
    range: Range<u64>,
    mut each: impl FnMut(u64, &[u8]) -> bool,
) -> io::Result<()> {
    let mut at = range.start;
    while at < range.end {
        let part = clip(text.ahead(at, 1)?, at, range.end);
        if !each(at, part) {
            break;
        }
        at += part.len() as u64;
    }
    Ok(())
}

/// The first position in a range whose byte meets `test`.
pub fn position<T: Text>(
    text: &mut T,
    range: Range<u64>,
    test: impl Fn(u8) -> bool,
) -> io::Result<Option<u64>> {
    let mut found = None;
    for_each(text, range, |at, part| {
        found = part.iter().position(|&byte| test(byte)).map(|i| at + i as u64);
        found.is_none()
    })?;
    Ok(found)
}

/// The first `byte` in a range.
pub fn find_byte<T: Text>(text: &mut T, range: Range<u64>, byte: u8) -> io::Result<Option<u64>> {
    let mut found = None;
    for_each(text, range, |at, part| {
        found = memchr(byte, part).map(|i| at + i as u64);
        found.is_none()
    })?;
    Ok(found)
}

/// The last `byte` in a range.
pub fn rfind_byte<T: Text>(text: &mut T, range: Range<u64>, byte: u8) -> io::Result<Option<u64>> {
    let mut at = range.end;
    while at > range.start {
        let part = text.behind(at)?;
        let base = at - part.len() as u64;
        if let Some(i) = memrchr(byte, part) {
            let found = base + i as u64;
            return Ok((found >= range.start).then_some(found));
        }
        at = base;
    }
    Ok(None)
}

/// The first occurrence of `word` that lies in a range.
pub fn find_word<T: Text>(
    text: &mut T,
    range: Range<u64>,
    word: &memmem::Finder<'_>,
) -> io::Result<Option<u64>> {
    let length = word.needle().len();
    let mut at = range.start;
    while at + length as u64 <= range.end {
        let part = clip(text.ahead(at, length)?, at, range.end);
        if let Some(i) = word.find(part) {
            return Ok(Some(at + i as u64));
        }
        // The word may begin in this part's last bytes.
        at += (part.len() - (length - 1)) as u64;
    }
    Ok(None)
}

/// How many NULs the text begins with.
pub fn leading_nuls<T: Text>(text: &mut T) -> io::Result<u64> {
    let length = text.len();
    Ok(position(text, 0..length, |byte| byte != 0)?.unwrap_or(length))
}

/// How many NULs the text ends with.
pub fn trailing_nuls<T: Text>(text: &mut T) -> io::Result<u64> {
    let mut at = text.len();
    while at > 0 {
        let part = text.behind(at)?;
        let base = at - part.len() as u64;
        if let Some(i) = part.iter().rposition(|&byte| byte != 0) {
            return Ok(text.len() - (base + i as u64 + 1));
        }
        at = base;
    }
    Ok(text.len())
}
