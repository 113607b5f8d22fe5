//! A buffer of lines as the records in it.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use safepoint_core::{Parsed, Sealed, member};

use crate::convert::or_minus_one;
use crate::file::{Range as FileRange, scan};

/// (seq, ts, type, key, data, more, stop)
type PyParsed<'py> = (
    i64,
    Bound<'py, PyString>,
    Bound<'py, PyString>,
    Option<Bound<'py, PyBytes>>,
    Bound<'py, PyBytes>,
    i64,
    usize,
);

/// The records of whole lines from the begin of `lines` on, up to the first line that is none.
#[pyfunction]
pub(crate) fn parse_records<'py>(py: Python<'py>, lines: &[u8], seed: u32) -> Vec<PyParsed<'py>> {
    let records = py.detach(|| safepoint_core::parse_records(lines, seed));
    let mut words = Words { py, known: Vec::new() };
    records.into_iter().map(|record| parsed(py, lines, &record, &mut words)).collect()
}

/// (seq, more) of the record that the line [start, stop) exactly is; None where it is none.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, seed, chunk_bytes=262144))]
pub(crate) fn record_at(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    seed: u32,
    chunk_bytes: i64,
) -> PyResult<Option<(i64, i64)>> {
    let range = FileRange { fd, start, stop, chunk_bytes };
    let sealed = scan(py, &range, |scan| safepoint_core::record_at(scan, seed))?;
    Ok(sealed.map(|sealed| match sealed {
        Sealed::Undecodable => (-1, -1),
        Sealed::Record(record) => (or_minus_one(Some(record.seq)), or_minus_one(record.more)),
    }))
}

/// Whether neither 19 digits in a row nor `$blob"` stand in `text`.
#[pyfunction]
pub(crate) fn is_plain_text(text: &[u8]) -> bool {
    safepoint_core::is_plain_text(text)
}

fn parsed<'py>(
    py: Python<'py>,
    lines: &[u8],
    parsed: &Parsed,
    words: &mut Words<'py>,
) -> PyParsed<'py> {
    let stop = parsed.stop;
    let Sealed::Record(record) = &parsed.sealed else {
        let empty = PyString::new(py, "");
        return (-1, empty.clone(), empty, None, PyBytes::new(py, b""), -1, stop);
    };
    let line = &lines[parsed.start..stop];
    (
        or_minus_one(Some(record.seq)),
        PyString::new(py, text(line, &record.ts)),
        words.of(text(line, &record.kind)),
        record.key.as_ref().map(|key| PyBytes::new(py, member(line, key))),
        PyBytes::new(py, member(line, &record.data)),
        or_minus_one(record.more),
        stop,
    )
}

/// A timestamp or a type: a record holds none that is not printable ASCII.
fn text<'a>(line: &'a [u8], range: &Range<u64>) -> &'a str {
    std::str::from_utf8(member(line, range)).expect("printable ASCII")
}

/// Words that many records share: each is made once a call.
struct Words<'py> {
    py: Python<'py>,
    known: Vec<(String, Bound<'py, PyString>)>,
}

impl<'py> Words<'py> {
    /// So many are looked for one after the other.
    const MAX: usize = 16;

    /// The word as a string of Python's.
    fn of(&mut self, word: &str) -> Bound<'py, PyString> {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| known == word) {
            return known.clone();
        }
        let made = PyString::new(self.py, word);
        if self.known.len() < Self::MAX {
            self.known.push((word.to_owned(), made.clone()));
        }
        made
    }
}
