//! The caller's file descriptor, and scans of it with the GIL released.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use pyo3::prelude::*;
use safepoint_core::source::Tick;
use safepoint_core::{CHUNK_BYTES, Error, Result, SEARCH_BYTES, Scan};

use crate::convert::error;

// The signatures spell these numbers out, so that Python can show them.
const _: () = assert!(CHUNK_BYTES == 262_144 && SEARCH_BYTES == 65_536);

/// The system's number for a bad descriptor, the same on Linux, macOS and the BSDs.
const EBADF: i32 = 9;

/// Which part of which file to scan, as the caller gave it.
pub(crate) struct Range {
    /// A descriptor that the caller keeps open.
    pub fd: i32,
    /// The first byte.
    pub start: i64,
    /// The end.
    pub stop: i64,
    /// Bytes of one read.
    pub chunk_bytes: i64,
}

/// A number that must not be negative.
pub(crate) fn unsigned<N: TryFrom<i64>>(value: i64, what: &'static str) -> Result<N> {
    N::try_from(value).map_err(|_| Error::Argument(what))
}

/// A number of threads.
pub(crate) fn positive(threads: i64) -> Result<usize> {
    const WHAT: &str = "threads must be at least 1";
    unsigned(threads, WHAT).and_then(|threads| match threads {
        0 => Err(Error::Argument(WHAT)),
        threads => Ok(threads),
    })
}

/// Runs `work` on the file without the GIL.
fn run<T: Send>(
    py: Python<'_>,
    range: &Range,
    work: impl Send + FnOnce(Scan<'_, File>) -> Result<T>,
) -> Result<T> {
    let start = unsigned(range.start, "start must not be negative")?;
    let stop = unsigned(range.stop, "stop must not be negative")?;
    let chunk_bytes = unsigned(range.chunk_bytes, "chunk_bytes must be at least 1")?;
    if range.fd < 0 {
        return Err(Error::Io(io::Error::from_raw_os_error(EBADF)));
    }
    // SAFETY: the descriptor is only borrowed. The file is never dropped, so it is never closed
    // here; reads by position change nothing that its owner sees. If the owner closes it during
    // the call, reads fail with an error or meet another file of this process, as they would from
    // `os.pread`, and no memory depends on it.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(range.fd) });
    py.detach(|| work(Scan::new(&*file, start, stop, chunk_bytes)?))
}

/// Scans the file without the GIL.
pub(crate) fn scan<T: Send>(
    py: Python<'_>,
    range: &Range,
    work: impl Send + FnOnce(Scan<'_, File>) -> Result<T>,
) -> PyResult<T> {
    run(py, range, work).map_err(error)
}

/// Scans the file without the GIL but for its ticks, at which signals are heard too. What `tick`
/// raises ends the scan and is raised here.
pub(crate) fn scan_ticking<T: Send>(
    py: Python<'_>,
    range: &Range,
    tick: Option<&Bound<'_, PyAny>>,
    work: impl Send + FnOnce(Scan<'_, File>, Tick<'_>) -> Result<T>,
) -> PyResult<T> {
    let tick = tick.map(|tick| tick.clone().unbind());
    let mut raised = None;
    let mut hear = |done: u64| {
        // What was raised once stays: a scan by several threads may ask again before it ends.
        if raised.is_some() {
            return false;
        }
        let heard = Python::attach(|py| {
            py.check_signals()?;
            tick.as_ref().map_or(Ok(()), |tick| tick.call1(py, (done,)).map(drop))
        });
        raised = heard.err();
        raised.is_none()
    };
    let result = run(py, range, |scan| work(scan, &mut hear));
    raised.map_or_else(|| result.map_err(error), Err)
}
