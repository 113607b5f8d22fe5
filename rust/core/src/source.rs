//! Positioned reads: the only way in which the core meets a file.
//!
//! A [`Source`] is read by offset and never mapped, because a live log changes under a map. A
//! [`Scan`] says which bytes of it to look at, in what steps, and whom to tell about progress.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::error::{Error, Result};

/// Bytes of one read, by default: 256 KiB, where a page cache read costs more than its system call.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Bytes between two ticks: 32 MiB, a few dozen ticks a second at the speed of a walk.
pub const TICK_BYTES: u64 = 32 * 1024 * 1024;

/// Bytes that can be read by offset.
pub trait Source {
    /// Bytes from 0 to the end, now.
    fn size(&self) -> io::Result<u64>;

    /// Reads into `buf` from `offset`; fewer bytes than asked for are no error, 0 is the end.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Reads until `buf` is full or the source ends; gives the bytes read.
    fn read_full(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            match self.read_at(&mut buf[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

impl Source for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buf, offset)
    }
}

impl Source for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let from = usize::try_from(offset).map_or(self.len(), |at| at.min(self.len()));
        let count = buf.len().min(self.len() - from);
        buf[..count].copy_from_slice(&self[from..from + count]);
        Ok(count)
    }
}

/// Hears how many bytes are done, about every [`TICK_BYTES`]; `false` ends the scan. Several
/// threads may make it hear the same number again.
pub type Tick<'t> = &'t mut dyn FnMut(u64) -> bool;

/// Which bytes of a source to look at, and how.
pub struct Scan<'s, S: Source + ?Sized> {
    /// Where the bytes are.
    pub source: &'s S,
    /// The first byte of the range.
    pub start: u64,
    /// The end of the range, never behind the end that the source had when the scan began.
    pub stop: u64,
    /// Bytes of one read, at least 1.
    pub chunk_bytes: usize,
}

impl<S: Source + ?Sized> Clone for Scan<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Source + ?Sized> Copy for Scan<'_, S> {}

impl<'s, S: Source + ?Sized> Scan<'s, S> {
    /// Checks the arguments and ends the range where the source ends.
    pub fn new(source: &'s S, start: u64, stop: u64, chunk_bytes: usize) -> Result<Self> {
        if chunk_bytes < 1 {
            return Err(Error::Argument("chunk_bytes must be at least 1"));
        }
        if start > stop {
            return Err(Error::Argument("start must not be behind stop"));
        }
        let stop = stop.min(source.size()?).max(start);
        Ok(Scan { source, start, stop, chunk_bytes })
    }

    /// The same scan of another range inside this one.
    pub(crate) fn range(&self, start: u64, stop: u64) -> Self {
        Scan { start, stop, ..*self }
    }

    /// A buffer for one read, no larger than the range.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let mut buf = Vec::new();
        self.size(&mut buf);
        buf
    }

    /// Makes `buf` such a buffer; what it holds is kept as it is, so that it costs nothing again.
    pub(crate) fn size(&self, buf: &mut Vec<u8>) {
        let range = usize::try_from(self.stop - self.start).unwrap_or(usize::MAX);
        buf.resize(self.chunk_bytes.min(range).max(1), 0);
    }
}

/// Tells the caller about progress at a steady rate of bytes.
pub(crate) struct Pace<'t> {
    /// Whom to tell, if anybody.
    tick: Option<Tick<'t>>,
    /// Bytes read so far.
    done: u64,
    /// The number of bytes at which the next tick is due.
    due: u64,
}

impl<'t> Pace<'t> {
    /// Nothing is read yet.
    pub(crate) fn new(tick: Option<Tick<'t>>) -> Self {
        Pace { tick, done: 0, due: TICK_BYTES }
    }

    /// Counts bytes read, and ticks when it is time.
    pub(crate) fn read(&mut self, count: u64) -> Result<()> {
        self.done += count;
        if self.done < self.due {
            return Ok(());
        }
        self.due = self.done + TICK_BYTES;
        self.tell(self.done)
    }

    /// Whether the scan goes on, while nothing new is done.
    pub(crate) fn hear(&mut self) -> bool {
        self.tell(self.done).is_ok()
    }

    /// Ticks with all bytes: the scan is done.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.tell(self.done)
    }

    /// Ticks with `done` bytes.
    pub(crate) fn tell(&mut self, done: u64) -> Result<()> {
        let goes_on = self.tick.as_mut().is_none_or(|tick| tick(done));
        if goes_on { Ok(()) } else { Err(Error::Stopped) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Gives one byte a read, after an interruption, and fails behind its end if it is told to.
    struct Restless {
        bytes: &'static [u8],
        fails: bool,
        interrupted: Cell<bool>,
    }

    impl Source for Restless {
        fn size(&self) -> io::Result<u64> {
            Ok(9)
        }

        fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
            if !self.interrupted.replace(!self.interrupted.get()) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.bytes.read_at(&mut buf[..1], offset)?;
            if count == 0 && self.fails { Err(io::ErrorKind::Other.into()) } else { Ok(count) }
        }
    }

    /// Signals and short reads must not end a scan; a read that fails must.
    #[test]
    fn reads_go_on_until_they_fail() {
        let mut source = Restless { bytes: b"abc", fails: false, interrupted: Cell::new(false) };
        let mut buf = [0; 9];
        assert_eq!(source.read_full(&mut buf, 1).unwrap(), 2);
        assert_eq!(&buf[..2], b"bc");
        source.fails = true;
        assert!(source.read_full(&mut buf, 1).is_err());
        let scan = Scan::new(&source, 0, 9, 4).unwrap();
        assert!(matches!(crate::lines_forward(scan, 9), Err(Error::Io(_))));
        assert!(matches!(crate::lines_backward(scan, 9), Err(Error::Io(_))));
    }
}
