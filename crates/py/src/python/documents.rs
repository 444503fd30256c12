//! The reference documents, which travel in the extension: an installed package has no folder `docs`.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

const DOCUMENTS: [(&str, &str); 3] = [
    ("definitions", include_str!("../../../../docs/definitions.md")),
    ("json", include_str!("../../../../docs/json.md")),
    ("scenario-keys", include_str!("../../../../docs/scenario.md")),
];

/// A document of docs/ by its name; Markdown.
#[pyfunction]
pub fn document(name: &str) -> PyResult<&'static str> {
    let found = DOCUMENTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}
