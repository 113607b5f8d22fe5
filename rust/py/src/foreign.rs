//! Logs that others wrote.

use pyo3::prelude::*;

use crate::convert::{PyFinding, PySpan, each, finding, or_minus_one, span};
use crate::file::{Range, positive, scan, scan_ticking, unsigned};

/// `ok` for one well-formed JSON object, else the reason.
#[pyfunction]
pub(crate) fn check_json(py: Python<'_>, text: &[u8]) -> &'static str {
    py.detach(|| safepoint_core::check_json(text)).as_str()
}

/// Findings and complete objects of one line of a foreign log, offsets relative to the line.
///
/// A line without a newline is the last one, so `last` decides nothing.
#[pyfunction]
pub(crate) fn classify_line(
    py: Python<'_>,
    line: &[u8],
    last: bool,
) -> (Vec<PyFinding>, Vec<PySpan>) {
    let _ = last;
    let (findings, objects) = py.detach(|| safepoint_core::classify_line(line));
    (each(findings, finding), each(objects, span))
}

/// Complete objects of a foreign log, in order, and the line start at which to go on.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, objects_max=4096, chunk_bytes=262144))]
pub(crate) fn objects_forward(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    objects_max: i64,
    chunk_bytes: i64,
) -> PyResult<(Vec<PySpan>, i64)> {
    let range = Range { fd, start, stop, chunk_bytes };
    let (objects, next) = scan(py, &range, |scan| {
        let objects_max = unsigned(objects_max, "objects_max must be at least 1")?;
        safepoint_core::objects_forward(scan, objects_max)
    })?;
    Ok((each(objects, span), next.map_or(stop, |next| or_minus_one(Some(next)))))
}

/// The same objects, newest first, and the `stop` with which to go on.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, objects_max=4096, chunk_bytes=262144))]
pub(crate) fn objects_backward(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    objects_max: i64,
    chunk_bytes: i64,
) -> PyResult<(Vec<PySpan>, i64)> {
    let range = Range { fd, start, stop, chunk_bytes };
    let (objects, next) = scan(py, &range, |scan| {
        let objects_max = unsigned(objects_max, "objects_max must be at least 1")?;
        safepoint_core::objects_backward(scan, objects_max)
    })?;
    Ok((each(objects, span), next.map_or(start, |next| or_minus_one(Some(next)))))
}

/// The newest object in which the string at `path` is `word`.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, path, word, chunk_bytes=262144))]
pub(crate) fn find_object(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    path: Vec<String>,
    word: &str,
    chunk_bytes: i64,
) -> PyResult<Option<PySpan>> {
    let range = Range { fd, start, stop, chunk_bytes };
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let found = scan_ticking(py, &range, None, |scan, tick| {
        safepoint_core::find_object(scan, &path, word, Some(tick))
    })?;
    Ok(found.map(span))
}

/// (records, tail, last_seq, findings, findings_omitted)
type PyInspection = (u64, u64, i64, Vec<PyFinding>, u64);

/// Walks a foreign log from offset 0.
#[pyfunction]
#[pyo3(signature = (fd, stop, chunk_bytes=262144, tick=None, threads=1))]
pub(crate) fn inspect_jsonl(
    py: Python<'_>,
    fd: i32,
    stop: i64,
    chunk_bytes: i64,
    tick: Option<&Bound<'_, PyAny>>,
    threads: i64,
) -> PyResult<PyInspection> {
    let range = Range { fd, start: 0, stop, chunk_bytes };
    let seen = scan_ticking(py, &range, tick, |scan, tick| {
        safepoint_core::inspect_jsonl(scan, positive(threads)?, Some(tick))
    })?;
    let last_seq = or_minus_one(seen.last_seq);
    let findings = each(seen.findings, finding);
    Ok((seen.records, seen.tail, last_seq, findings, seen.findings_omitted))
}
