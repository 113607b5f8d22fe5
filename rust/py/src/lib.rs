//! `safepoint._native`: each function converts its arguments, releases the GIL where there is much
//! to do, calls the core and wraps the result in ints, words, bytes and small tuples. The stub
//! beside the package is the contract; nothing is decided here, but for `value`, which looks at a
//! value of Python and has no core below it.

mod convert;
mod file;
mod foreign;
mod lines;
mod record;
mod records;
mod value;
mod walk;

use pyo3::prelude::*;

/// The engine in Rust. It reads and never writes.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::foreign::{
        check_json, classify_line, find_object, inspect_jsonl, objects_backward, objects_forward,
    };
    #[pymodule_export]
    use super::lines::{lines_backward, lines_forward};
    #[pymodule_export]
    use super::record::{
        check_seal, format_timestamp, parse_record, reseal, seal, seal_event, seal_record,
    };
    #[pymodule_export]
    use super::records::{is_plain_text, parse_records, record_at};
    #[pymodule_export]
    use super::value::is_plain_value;
    #[pymodule_export]
    use super::walk::{find_record, find_watermark, walk};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::add_constants(module)
    }
}

/// The limits that both engines share.
fn add_constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LINE_BYTES_MAX", safepoint_core::LINE_BYTES_MAX)?;
    module.add("DEPTH_MAX", safepoint_core::DEPTH_MAX)?;
    module.add("INT_DIGITS_MAX", safepoint_core::INT_DIGITS_MAX)?;
    module.add("FINDINGS_MAX", safepoint_core::FINDINGS_MAX)?;
    module.add("PIECE_STARTS_MAX", safepoint_core::PIECE_STARTS_MAX)?;
    module.add("CHUNK_BYTES", safepoint_core::CHUNK_BYTES)
}
