//! The folders below which files may be read, as Python hands them on.

use super::os_error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use reach::{Folders, Refusal};
use std::io::Read;
use std::path::{Path, PathBuf};

pyo3::create_exception!(
    rexmit._core,
    OutsideError,
    PyValueError,
    "A file or folder that is outside the folders that may be read. Whether it exists is not told."
);

/// Folders below which files may be read.
#[pyclass(frozen, name = "Reach", module = "rexmit._core")]
pub struct PyReach(Folders);

impl PyReach {
    /// What the crates take; without folders any file may be read.
    pub fn of(within: Option<&Py<PyReach>>) -> reach::Reach {
        within.map_or(reach::Reach::Anywhere, |within| reach::Reach::Below(within.get().0.clone()))
    }
}

#[pymethods]
impl PyReach {
    #[new]
    fn new(folders: Vec<PathBuf>) -> PyResult<PyReach> {
        Folders::new(folders).map(PyReach).map_err(|e| os_error(&e, None))
    }

    fn place(&self, path: PathBuf) -> PyResult<PathBuf> {
        self.0.place(&path).map_err(|refusal| refused(refusal, &path))
    }

    fn read(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<u8>> {
        py.detach(|| {
            let mut bytes = Vec::new();
            let mut file = self.0.open(&path).map_err(|refusal| refused(refusal, &path))?;
            file.read_to_end(&mut bytes).map_err(|e| os_error(&e, Some(path)))?;
            Ok(bytes)
        })
    }
}

fn refused(refusal: Refusal, path: &Path) -> PyErr {
    match refusal {
        Refusal::Io(error) => os_error(&error, Some(path.to_owned())),
        Refusal::Outside(_) => OutsideError::new_err(format!("{}: is {refusal}", capture::shown(path))),
        refusal => PyValueError::new_err(format!("{}: is {refusal}", capture::shown(path))),
    }
}
