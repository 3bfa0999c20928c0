//! A shared object that was opened, and the store that keeps each of them once.

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
    /// What it says, or why it cannot be used.
    pub object: Result<Object, ElfDefect>,
    file: Option<SysFile>,
}

impl Library {
    /// Whether it can be asked for symbols at all.
    pub fn has_symbols(&self) -> bool {
        self.object.as_ref().is_ok_and(Object::has_symbols)
    }

    /// Whether it defines the symbol; `None` if that cannot be said.
    pub fn defines(&self, name: &str) -> Option<bool> {
        let (object, file) = (self.object.as_ref().ok()?, self.file.as_ref()?);
        object.defines(file, name).ok().flatten()
    }

    /// The symbols that it needs from others.
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

/// Opens every file once, whoever asks for it, from several threads.
#[derive(Debug)]
pub(super) struct Store<'a> {
    pub(super) sysroot: &'a Sysroot,
    known: Mutex<HashMap<String, Slot>>,
    /// How many of them stay open.
    open: AtomicUsize,
}

impl<'a> Store<'a> {
    pub(super) fn new(sysroot: &'a Sysroot) -> Self {
        Self { sysroot, known: Mutex::default(), open: AtomicUsize::new(0) }
    }

    /// Opens the file at `path`. `Err` if there is no regular file that may be read.
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
        // Only what can be asked later is kept, and of that only so much stays open.
        if object.is_err()
            || self.open.fetch_add(1, Ordering::Relaxed) >= self.sysroot.max_open_files()
        {
            file.close();
        }
        let file = object.is_ok().then_some(file);
        Ok(Arc::new(Library { real, object, file }))
    }
}
