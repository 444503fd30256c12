//! What a hook returned or set, read; or the sentence about what it is instead.

use pyo3::PyClass;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use std::ops::RangeInclusive;

/// How a returned value is named in a sentence.
pub const RETURNED: &str = "what it returns";

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string())
}

/// A `TypeError`: `what` is no `wanted`.
fn is_no(value: &Bound<'_, PyAny>, what: &str, wanted: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} = {}: {wanted}", shown(value)))
}

/// What a hook returned, taken as what it is to be; `wanted` says that.
pub fn returned<T>(value: &Bound<'_, PyAny>, wanted: &str) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py>,
{
    value.extract::<T>().map_err(|_| is_no(value, RETURNED, wanted))
}

/// Of a hook that only looks or sets: what it returns would be lost.
pub fn nothing(value: &Bound<'_, PyAny>) -> PyResult<()> {
    if value.is_none() { Ok(()) } else { Err(is_no(value, RETURNED, "this hook returns nothing")) }
}

/// An object of the class `T` that a hook returned.
pub fn made<'a, 'py, T: PyClass>(value: &'a Bound<'py, PyAny>, wanted: &str) -> PyResult<&'a Bound<'py, T>> {
    value.cast::<T>().map_err(|_| is_no(value, RETURNED, wanted))
}

/// True or False, numpy's too; nothing else passes for it.
pub fn truth(value: &Bound<'_, PyAny>, what: &str) -> PyResult<bool> {
    value.extract::<bool>().map_err(|_| is_no(value, what, "True or False"))
}

/// A whole number within `range`; `unit` says of what.
pub fn whole(value: &Bound<'_, PyAny>, what: &str, unit: &str, range: RangeInclusive<u64>) -> PyResult<u64> {
    if let Some(number) = value.extract::<u64>().ok().filter(|n| range.contains(n)) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    let near = value.extract::<f64>().is_ok_and(|x| (least as f64..=most as f64).contains(&x));
    let fix = if near { ": int(…) makes it one" } else { "" };
    let wanted = format!("{unit}, from {least} to {most}{fix}");
    if value.is_instance_of::<PyFloat>() || value.extract::<i128>().is_ok() {
        Err(PyValueError::new_err(format!("{what} = {}: {wanted}", shown(value))))
    } else {
        Err(is_no(value, what, &wanted))
    }
}

/// Bytes of a window.
pub fn bytes(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    let found = whole(value, what, "a whole number of bytes", 0..=u32::MAX.into())?;
    Ok(u32::try_from(found).unwrap_or(u32::MAX))
}
