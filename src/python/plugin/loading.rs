//! Loaded plugins.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::plugin::abi::{CLAIM_RESIDUAL, PluginResult};
use crate::plugin::{AllowList, Examined, Plugin, Rejected, pass};
use crate::python::arguments::{self, unpicklable, whole};
use crate::python::errors::OrRaise;
use crate::python::worker::{self, PyRan};
use crate::python::{arrays, errors};

/// A plugin in this process, until it is unloaded.
#[pyclass(name = "Plugin", module = "nanokata.plugin", frozen)]
pub struct PyPlugin {
    path: PathBuf,
    plugin: Mutex<Option<Arc<Plugin>>>,
}

/// Values, claims, statuses, one a packet; and where it ran.
type Processed<'py> =
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u16>>, Bound<'py, PyArray1<i32>>, PyRan);

impl PyPlugin {
    /// The one in an argument: itself, or what the package's own face holds.
    ///
    /// # Errors
    /// `WrongType` for anything else.
    pub fn within<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyPlugin>> {
        let inner = given.getattr_opt("_core").ok().flatten().unwrap_or_else(|| given.clone());
        let wanted = "wanted what nanokata.plugin.load returns";
        inner.cast_into::<PyPlugin>().map_err(|_| errors::wrong_type(given.py(), "plugin", given, wanted))
    }

    /// The plugin.
    ///
    /// # Errors
    /// `PluginRejected` once it was unloaded.
    pub fn loaded(&self, py: Python<'_>) -> PyResult<Arc<Plugin>> {
        let held = self.plugin.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(Arc::clone).ok_or_else(|| {
            let rejected = Rejected::new(&self.path, "plugin", "unloaded", "load it again before using it");
            errors::raise(py, rejected.into())
        })
    }
}

#[pymethods]
impl PyPlugin {
    /// Its file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The SHA-256 of the bytes that were loaded, in hexadecimal.
    #[getter]
    fn sha256(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.loaded(py)?.sha256().to_string())
    }

    /// Bytes of its struct of functions, as it says.
    #[getter]
    fn struct_size(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.loaded(py)?.functions().struct_size)
    }

    /// What it says that its functions mean.
    #[getter]
    fn abi_version(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.loaded(py)?.functions().abi_version)
    }

    /// Whether it has `process_batch`.
    #[getter]
    fn has_batch(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.loaded(py)?.functions().process_batch.is_some())
    }

    /// What it claims: key, and whether only some of that key's packets are its own.
    #[getter]
    fn claims(&self, py: Python<'_>) -> PyResult<Vec<(u16, bool)>> {
        let plugin = self.loaded(py)?;
        Ok(plugin.claims().iter().map(|claim| (claim.key, claim.flags & CLAIM_RESIDUAL != 0)).collect())
    }

    /// Whether the library stays in the process until that ends, because it has thread-locals.
    #[getter]
    fn stays(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.loaded(py)?.library().stays())
    }

    /// Whether it was unloaded.
    #[getter]
    fn unloaded(&self) -> bool {
        self.plugin.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Lets go of it. Whether the library is closed now: it isn't as long as handlers of it are alive, or if it stays.
    fn unload(&self, py: Python<'_>) -> bool {
        let taken = self.plugin.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(plugin) = taken else { return false };
        if plugin.library().stays() {
            return false;
        }
        let library = Arc::downgrade(plugin.library());
        // Its destructors run now.
        py.detach(|| drop(plugin));
        library.upgrade().is_none()
    }

    /// One pass over all packets of a fresh instance, on a thread of its own.
    #[pyo3(signature = (packets, *, batch, cpu))]
    fn process<'py>(
        &self,
        py: Python<'py>,
        packets: &Bound<'py, PyAny>,
        batch: Option<&Bound<'py, PyAny>>,
        cpu: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Processed<'py>> {
        let (plugin, cpu) = (self.loaded(py)?, arguments::cpu(cpu)?);
        let batch = batch.map(|batch| whole::<usize>("batch", batch)).transpose()?;
        let packets = arrays::packets(py, "packets", packets)?;
        let (results, ran) = worker::run(py, cpu, None, |watch| pass(&plugin, &packets, batch, watch))?;
        let values: Vec<u64> = results.iter().map(|result| result.value).collect();
        let claims: Vec<u16> = results.iter().map(|result| result.claim).collect();
        let statuses: Vec<i32> = results.iter().map(|PluginResult { status, .. }| *status).collect();
        Ok((values.into_pyarray(py), claims.into_pyarray(py), statuses.into_pyarray(py), ran))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.unload(py);
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(unpicklable("a loaded plugin"))
    }

    fn __repr__(&self) -> String {
        let held = self.plugin.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match held.as_ref() {
            Some(plugin) => format!("{} claims", plugin.claims().len()),
            None => "unloaded".into(),
        };
        format!("<Plugin {}: {state}>", self.path.display())
    }
}

/// Loads a plugin into this process, if it is on the list where there is one.
#[pyfunction]
#[pyo3(signature = (path, *, allow))]
pub fn load_plugin(py: Python<'_>, path: PathBuf, allow: Option<PathBuf>) -> PyResult<PyPlugin> {
    let plugin = worker::run_unpinned(py, None, |_| {
        let allowed = allow.as_deref().map(AllowList::read).transpose()?;
        let examined = Examined::read(&path)?;
        if let Some(allowed) = allowed {
            allowed.require(&examined)?;
        }
        // SAFETY: whoever asks for a library to be loaded vouches for it; `check` is there for those who can't.
        Ok(unsafe { Plugin::open(&examined) }?)
    })?;
    Ok(PyPlugin { path: plugin.path().to_path_buf(), plugin: Mutex::new(Some(plugin)) })
}

/// The SHA-256 of a library's bytes, of which nothing runs.
#[pyfunction]
pub fn sha256(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| Examined::read(&path).map(|examined| examined.sha256()).map_err(crate::Error::from))
        .or_raise(py)
}
