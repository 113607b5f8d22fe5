//! Framing.

use pyo3::prelude::*;

use crate::convert::{PyLine, each, line};
use crate::file::{Range, scan, unsigned};

/// Lines of [start, stop) from `start`, a line start: (offset, length, terminated).
#[pyfunction]
#[pyo3(signature = (fd, start, stop, lines_max=4096, chunk_bytes=262144))]
pub(crate) fn lines_forward(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    lines_max: i64,
    chunk_bytes: i64,
) -> PyResult<Vec<PyLine>> {
    let range = Range { fd, start, stop, chunk_bytes };
    let lines = scan(py, &range, |scan| {
        let lines_max = unsigned(lines_max, "lines_max must be at least 1")?;
        safepoint_core::lines_forward(scan, lines_max)
    })?;
    Ok(each(lines, line))
}

/// The same lines, newest first.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, lines_max=4096, chunk_bytes=262144))]
pub(crate) fn lines_backward(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    lines_max: i64,
    chunk_bytes: i64,
) -> PyResult<Vec<PyLine>> {
    let range = Range { fd, start, stop, chunk_bytes };
    let lines = scan(py, &range, |scan| {
        let lines_max = unsigned(lines_max, "lines_max must be at least 1")?;
        safepoint_core::lines_backward(scan, lines_max)
    })?;
    Ok(each(lines, line))
}
