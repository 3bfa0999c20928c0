//! Shared objects as a dynamic linker reads them: by program headers and the dynamic section.
//!
//! Section headers are not needed (they may be stripped), and files are never loaded completely:
//! `libtorch_cpu.so` has more than 400 MB and 10^5 symbols. The small tables of each object are
//! read, and definitions are looked up in its hash table with positioned reads.
//!
//! All input is hostile: every offset is checked, every count is bounded, no chain is followed in
//! circles. Violations are an [`ElfDefect`].

mod dynamic;
mod error;
mod header;
mod plt_strings;
mod source;
mod symbols;
#[cfg(test)]
mod tests;

use object::elf::{ET_DYN, ET_EXEC};

use facts::ElfDefect;

use error::malformed;
use symbols::Symbols;

pub use dynamic::Dynamic;
pub use error::Error;
pub use header::{machine_code, machine_name};
pub use plt_strings::find_plt_strings;
pub use source::Source;
pub use symbols::Undefined;

/// The contents of the headers and of the dynamic section of an object.
#[derive(Debug)]
pub struct Object {
    /// Machine code, see [`machine_name`].
    pub machine: u16,
    /// The dynamic section.
    pub dynamic: Dynamic,
    symbols: Option<Symbols>,
    version_symbols: Option<u64>,
    version_library: Vec<(u16, usize)>,
}

impl Object {
    /// Reads an object, and checks that it is complete.
    pub fn read(source: &dyn Source) -> Result<Self, Error> {
        let header = header::Header::read(source)?;
        if header.kind != ET_DYN && header.kind != ET_EXEC {
            return Err(malformed("neither a shared object nor an executable"));
        }
        let (dynamic, tables) = dynamic::read(source, &header)?;
        let symbols = Symbols::read(source, &header, &tables)?;
        let version_symbols =
            tables.version_symbols.and_then(|address| header.offset_of(address)).map(|(at, _)| at);
        Ok(Self {
            machine: header.machine,
            dynamic,
            symbols,
            version_symbols,
            version_library: tables.version_library,
        })
    }

    /// Architecture, for example `aarch64`.
    pub fn arch(&self) -> String {
        machine_name(self.machine)
    }

    /// Returns whether there is a hash table, so that definitions can be looked up.
    pub fn has_symbols(&self) -> bool {
        self.symbols.is_some()
    }

    /// Returns whether the object defines a symbol of this name. `source` is the source that it was
    /// read from. `None` if it has no hash table, so that its definitions are unknown.
    pub fn defines(&self, source: &dyn Source, name: &str) -> Result<Option<bool>, Error> {
        self.symbols.as_ref().map(|symbols| symbols.defines(source, name)).transpose()
    }

    /// The symbols that other objects must define, sorted, without weak ones.
    pub fn undefined(&self, source: &dyn Source) -> Result<Vec<Undefined>, Error> {
        let library = |index: u16| {
            let (_, at) = self.version_library.iter().find(|(known, _)| *known == index)?;
            self.dynamic.version_needs.get(*at).map(|(library, _)| library.clone())
        };
        self.symbols.as_ref().map_or(Ok(Vec::new()), |symbols| {
            symbols.undefined(source, self.version_symbols, library)
        })
    }
}

/// The machine code in the header of a file, without reading the rest of it; `Ok(None)` for a file
/// of another class or byte order. A dynamic linker uses the same fields to decide whether to
/// continue the search.
pub fn machine_of(source: &dyn Source) -> Result<Option<u16>, Error> {
    match header::Header::read(source) {
        Ok(header) => Ok(Some(header.machine)),
        Err(Error::Defect(ElfDefect::Class)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the architecture of a file that the dynamic linker of this program skips because it is
/// for another one; `None` for all other files.
pub fn foreign_architecture(source: &dyn Source) -> Option<String> {
    let code = machine_of(source).ok()??;
    let own = machine_code(std::env::consts::ARCH);
    (Some(code) != own).then(|| machine_name(code))
}

/// Reads all parts of an object in memory: the entry point of the fuzz target.
pub fn inspect_bytes(bytes: &[u8]) -> Result<(Object, Vec<Undefined>), Error> {
    let object = Object::read(&bytes)?;
    let undefined = object.undefined(&bytes)?;
    for symbol in undefined.iter().take(64) {
        object.defines(&bytes, &symbol.name)?;
    }
    Ok((object, undefined))
}
