//! A look at a value of Python before it is encoded: the one place where a value crosses the
//! boundary. It compares types and never runs code of the value.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Whether the value has exact types only, needs no escapes, and nests at most `depth_max` deep.
#[pyfunction]
pub(crate) fn is_plain_value(value: &Bound<'_, PyAny>, depth_max: i64) -> bool {
    is_plain_scalar(value) || is_plain_container(value, depth_max)
}

fn is_plain_scalar(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_none()
        || value.is_exact_instance_of::<PyBool>()
        || value.cast_exact::<PyFloat>().is_ok_and(|float| float.value().is_finite())
}

fn is_plain_container(value: &Bound<'_, PyAny>, depth_max: i64) -> bool {
    if depth_max <= 0 {
        return false;
    }
    let depth = depth_max - 1;
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        dict.iter().all(|(name, item)| is_plain_name(&name) && is_plain_value(&item, depth))
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        list.iter().all(|item| is_plain_value(&item, depth))
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        tuple.iter().all(|item| is_plain_value(&item, depth))
    } else {
        false
    }
}

/// Whether it is a string that UTF-8 can spell, and no `$blob` and no escape of one, as far as its
/// first byte tells.
fn is_plain_name(name: &Bound<'_, PyAny>) -> bool {
    let Ok(name) = name.cast_exact::<PyString>() else { return false };
    name.to_str().is_ok_and(|name| !name.starts_with('$'))
}
