//! Logs of ours.

use pyo3::prelude::*;
use safepoint_core::{Rules, Wanted};

use crate::convert::{PyFinding, PyPlace, each, error, finding, or_minus_one, place};
use crate::file::{Range, positive, scan_ticking, unsigned};

/// (seq, offset, length) of the newest record of `type` ("" for any) with seq <= seq_max.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, seed, r#type, seq_max, chunk_bytes=65536))]
#[expect(clippy::too_many_arguments, reason = "the contract's arguments")]
pub(crate) fn find_record(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    seed: u32,
    r#type: &str,
    seq_max: i64,
    chunk_bytes: i64,
) -> PyResult<Option<PyPlace>> {
    let range = Range { fd, start, stop, chunk_bytes };
    let seq_max = u64::try_from(seq_max).ok();
    let found = scan_ticking(py, &range, None, |scan, tick| match seq_max {
        None => Ok(None),
        Some(seq_max) => {
            let wanted = Wanted { seed, kind: r#type, seq_max };
            safepoint_core::find_record(scan, &wanted, Some(tick))
        }
    })?;
    Ok(found.map(place))
}

/// The highest `d` in the last line that holds a proven record or piece; -1 if no line does.
#[pyfunction]
#[pyo3(signature = (fd, start, stop, seed, chunk_bytes=65536))]
pub(crate) fn find_watermark(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    seed: u32,
    chunk_bytes: i64,
) -> PyResult<i64> {
    let range = Range { fd, start, stop, chunk_bytes };
    let found = scan_ticking(py, &range, None, |scan, tick| {
        safepoint_core::find_watermark(scan, seed, Some(tick))
    })?;
    Ok(or_minus_one(found))
}

/// (next_seq, end, watermark, checkpoint, last, records_behind, findings, findings_omitted)
type PyWalked = (u64, u64, u64, Option<PyPlace>, Option<PyPlace>, u64, Vec<PyFinding>, u64);

/// Validates the records of one segment from (start, seq): a line start and the seq expected there.
#[pyfunction]
#[pyo3(
    signature = (
        fd, start, stop, seed, seq, r#final, check_data=false, other_seeds=vec![],
        chunk_bytes=262144, tick=None, threads=1
    ),
    text_signature = "(fd, start, stop, seed, seq, final, check_data=False, other_seeds=(), \
                      chunk_bytes=262144, tick=None, threads=1)"
)]
#[expect(clippy::too_many_arguments, reason = "the contract's arguments")]
pub(crate) fn walk(
    py: Python<'_>,
    fd: i32,
    start: i64,
    stop: i64,
    seed: u32,
    seq: i64,
    r#final: bool,
    check_data: bool,
    other_seeds: Vec<u32>,
    chunk_bytes: i64,
    tick: Option<&Bound<'_, PyAny>>,
    threads: i64,
) -> PyResult<PyWalked> {
    let range = Range { fd, start, stop, chunk_bytes };
    let seq = unsigned(seq, "seq must not be negative").map_err(error)?;
    let (is_final, other_seeds) = (r#final, &other_seeds[..]);
    let rules = Rules { seed, seq, is_final, check_data, other_seeds };
    let walked = scan_ticking(py, &range, tick, |scan, tick| {
        safepoint_core::walk(scan, &rules, positive(threads)?, Some(tick))
    })?;
    let (checkpoint, last) = (walked.checkpoint.map(place), walked.last.map(place));
    let findings = each(walked.findings, finding);
    let (run, behind) = ((walked.next_seq, walked.end), walked.records_behind);
    let omitted = walked.findings_omitted;
    Ok((run.0, run.1, walked.watermark, checkpoint, last, behind, findings, omitted))
}
