//! Values of the core as ints, words and small tuples.

use std::io;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use safepoint_core::{Error, Finding, Line, Object, Place};

/// (offset, length, terminated)
pub(crate) type PyLine = (u64, u64, bool);
/// (offset, length)
pub(crate) type PySpan = (u64, u64);
/// (seq, offset, length)
pub(crate) type PyPlace = (u64, u64, u64);
/// (kind, offset, length, seq, missing_start, missing_stop)
pub(crate) type PyFinding = (&'static str, u64, u64, i64, i64, i64);

/// A number that is -1 where there is none. Seqs and watermarks have at most 18 digits.
pub(crate) fn or_minus_one(number: Option<u64>) -> i64 {
    number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1)
}

/// What Python raises for an error of the core.
pub(crate) fn error(error: Error) -> PyErr {
    match error {
        Error::Io(error) => os_error(&error),
        Error::Argument(text) => PyValueError::new_err(text),
        Error::Stopped => PyValueError::new_err("the scan was stopped"),
    }
}

/// An `OSError` with the number that the system gave, by which Python chooses its class.
fn os_error(error: &io::Error) -> PyErr {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            let words = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, words))
        }
        None => PyOSError::new_err(text),
    }
}

pub(crate) fn line(line: Line) -> PyLine {
    (line.offset, line.length, line.terminated)
}

pub(crate) fn span(object: Object) -> PySpan {
    (object.offset, object.length)
}

pub(crate) fn place(place: Place) -> PyPlace {
    (place.seq, place.offset, place.length)
}

pub(crate) fn finding(finding: Finding) -> PyFinding {
    let Finding { kind, offset, length, seq, missing } = finding;
    let start = or_minus_one(missing.map(|range| range.0));
    let stop = or_minus_one(missing.map(|range| range.1));
    (kind.as_str(), offset, length, or_minus_one(seq), start, stop)
}

/// Wraps each item of a list.
pub(crate) fn each<A, B>(items: Vec<A>, wrap: impl Fn(A) -> B) -> Vec<B> {
    items.into_iter().map(wrap).collect()
}
