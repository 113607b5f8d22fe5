//! Records of ours: sealing and parsing, bytes to bytes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use safepoint_core::{Members, Record, Sealed, Unsealed, member};

use crate::convert::or_minus_one;

/// Data of this length or more is sealed without the GIL; to give that up costs more than sealing
/// less.
const DETACHED_BYTES_MIN: usize = 64 << 10;

/// A JSON object without its closing brace as a line with CRC and newline.
#[pyfunction]
pub(crate) fn seal<'py>(py: Python<'py>, body: &[u8], seed: u32) -> Bound<'py, PyBytes> {
    let line = py.detach(|| safepoint_core::seal(body, seed));
    PyBytes::new(py, &line)
}

/// One record as a line. `key` and `data` are encoded JSON; `more` is -1 outside a batch.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the members of a record")]
pub(crate) fn seal_record<'py>(
    py: Python<'py>,
    seq: i64,
    ts: &str,
    r#type: &str,
    key: Option<&[u8]>,
    data: &[u8],
    more: i64,
    d: i64,
    seed: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    line(py, &Members { seq, ts: ts.as_bytes(), kind: r#type, key, data, more, d }, seed)
}

/// One record without key and outside a batch, written `time_ns` nanoseconds after 1970 began.
#[pyfunction]
pub(crate) fn seal_event<'py>(
    py: Python<'py>,
    seq: i64,
    time_ns: i64,
    r#type: &str,
    data: &[u8],
    d: i64,
    seed: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let ts = &timestamp(time_ns.div_euclid(1000))?;
    line(py, &Members { seq, ts, kind: r#type, key: None, data, more: -1, d }, seed)
}

fn line<'py>(py: Python<'py>, members: &Members<'_>, seed: u32) -> PyResult<Bound<'py, PyBytes>> {
    let record = Unsealed::new(members);
    PyBytes::new_with(py, record.line_bytes(), |line| {
        if members.data.len() < DETACHED_BYTES_MIN {
            record.seal_into(line, seed);
        } else {
            py.detach(|| record.seal_into(line, seed));
        }
        Ok(())
    })
}

/// A moment as a record's `ts`.
#[pyfunction]
pub(crate) fn format_timestamp(py: Python<'_>, micros: i64) -> PyResult<Bound<'_, PyString>> {
    PyString::from_bytes(py, &timestamp(micros)?)
}

fn timestamp(micros: i64) -> PyResult<[u8; 27]> {
    u64::try_from(micros)
        .ok()
        .and_then(safepoint_core::timestamp)
        .ok_or_else(|| PyValueError::new_err("a timestamp has a year of four digits"))
}

/// Whether the line ends in the literal suffix and its CRC holds.
#[pyfunction]
pub(crate) fn check_seal(py: Python<'_>, line: &[u8], seed: u32) -> bool {
    py.detach(|| safepoint_core::check_seal(line, seed))
}

/// The same line with the CRC of another seed.
#[pyfunction]
pub(crate) fn reseal<'py>(
    py: Python<'py>,
    line: &[u8],
    seed: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let sealed = py.detach(|| safepoint_core::reseal(line, seed));
    let sealed = sealed.ok_or_else(|| PyValueError::new_err("the line has no crc member"))?;
    Ok(PyBytes::new(py, &sealed))
}

/// (seq, ts, type, key, data_start, data_stop, more, d)
type PyRecord<'py> = (i64, String, String, Option<Bound<'py, PyBytes>>, i64, i64, i64, i64);

/// The members of an exact record; None where the CRC does not hold.
#[pyfunction]
pub(crate) fn parse_record<'py>(
    py: Python<'py>,
    line: &[u8],
    seed: u32,
) -> PyResult<Option<PyRecord<'py>>> {
    let sealed = py.detach(|| safepoint_core::parse_record(line, seed));
    Ok(match sealed {
        None => None,
        Some(Sealed::Undecodable) => Some((-1, String::new(), String::new(), None, -1, -1, -1, 0)),
        Some(Sealed::Record(record)) => Some(members(py, line, &record)),
    })
}

fn members<'py>(py: Python<'py>, line: &[u8], record: &Record) -> PyRecord<'py> {
    let text = |range| String::from_utf8_lossy(member(line, range)).into_owned();
    let number = |number| or_minus_one(Some(number));
    (
        number(record.seq),
        text(&record.ts),
        text(&record.kind),
        record.key.as_ref().map(|key| PyBytes::new(py, member(line, key))),
        number(record.data.start),
        number(record.data.end),
        or_minus_one(record.more),
        number(record.d),
    )
}
