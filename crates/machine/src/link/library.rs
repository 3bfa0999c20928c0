//! An opened shared object, and the store that keeps each of them once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::elf::{Error, Object, Undefined};
use crate::sysroot::{ReadError, SysFile, Sysroot};
use facts::ElfDefect;

/// A file that a linker would map.
#[derive(Debug)]
pub struct Library {
    /// Path without links.
    pub real: String,
    /// Its contents, or the defect that prevents its use.
    pub object: Result<Object, ElfDefect>,
    file: Option<SysFile>,
}

impl Library {
    /// Returns whether its symbols can be looked up.
    pub fn has_symbols(&self) -> bool {
        self.object.as_ref().is_ok_and(Object::has_symbols)
    }

    /// Returns whether it defines the symbol; `None` if that is unknown.
    pub fn defines(&self, name: &str) -> Option<bool> {
        let (object, file) = (self.object.as_ref().ok()?, self.file.as_ref()?);
        object.defines(file, name).ok().flatten()
    }

    /// The symbols that it needs from other objects.
    pub fn undefined(&self) -> Result<Vec<Undefined>, ElfDefect> {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        object.undefined(file).map_err(Error::into_defect)
    }

    /// `DT_NEEDED`; empty for a file that cannot be used.
    pub fn needed(&self) -> &[String] {
        self.object.as_ref().map(|object| object.dynamic.needed.as_slice()).unwrap_or_default()
    }
}

type Slot = Arc<OnceLock<Result<Arc<Library>, ReadError>>>;

/// Opens every file once, for all callers and threads.
#[derive(Debug)]
pub(super) struct Store<'a> {
    pub(super) sysroot: &'a Sysroot,
    known: Mutex<HashMap<String, Slot>>,
    /// Number of opened files, which limits those that stay open.
    open: AtomicUsize,
}

impl<'a> Store<'a> {
    pub(super) fn new(sysroot: &'a Sysroot) -> Self {
        Self { sysroot, known: Mutex::default(), open: AtomicUsize::new(0) }
    }

    /// Opens the file at `path`. `Err` if it is not a readable regular file.
    pub(super) fn open(&self, path: &str) -> Result<Arc<Library>, ReadError> {
        let real = self.sysroot.real(path)?;
        let slot = {
            let Ok(mut known) = self.known.lock() else {
                return Err(ReadError::Io(data::faults::ThreadFailed.value()));
            };
            Arc::clone(known.entry(real.clone()).or_default())
        };
        slot.get_or_init(|| self.load(real)).clone()
    }

    fn load(&self, real: String) -> Result<Arc<Library>, ReadError> {
        let mut file = self.sysroot.open(&real)?;
        let object = Object::read(&file).map_err(Error::into_defect);
        // Only objects whose symbols can be looked up later are kept, and only a limited number of
        // them stays open.
        if object.is_err()
            || self.open.fetch_add(1, Ordering::Relaxed) >= self.sysroot.max_open_files()
        {
            file.close();
        }
        let file = object.is_ok().then_some(file);
        Ok(Arc::new(Library { real, object, file }))
    }
}
