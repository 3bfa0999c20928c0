//! The compatibility matrix: compatible versions of the Ascend stack.
//!
//! `data/compat_matrix.toml` is built into the program; `--matrix FILE` overlays a newer one, row
//! by row. Reading checks that versions can be parsed, keys are unique and references exist, so
//! that the queries ([`Matrix::torch_npu_with_cann`], [`Matrix::driver_with_cann`], …) are pure and
//! cannot fail. Versions outside of the table are [`Support::Unlisted`] or
//! [`Support::NewerThanTable`], never "unsupported".

mod advice;
mod driver;
mod install;
mod mindspore_advice;
mod parsed;
mod plan;
mod request;
mod resolve;
mod rows;
mod stack;
mod torch_npu;

pub use advice::{Advice, NoAdvice};
pub use driver::{CannSide, DriverSide, DriverSupport};
pub use mindspore_advice::MindSporeAdvice;
pub use parsed::{Parsed, Pattern, Release, ReleaseLine};
pub use plan::Plan;
pub use request::{Machine, RequestedVersions};
pub use resolve::{Resolved, resolve_cann, resolve_version};
pub use rows::*;
pub use stack::MindSporeSupport;
pub use torch_npu::{Basis, Side, Support, base};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{FileError, UserFile, user_file};
use crate::data_pack::{Pack, PackError, invalid};
use crate::fault::quote;
use crate::ui;
use crate::{Fault, faults};
use base::text::Text;
use base::version::{CannVersion, RangeList};

/// The format of matrix files that this version reads.
pub const MATRIX_SCHEMA: &str = "ascend-doctor/matrix/1";

static MATRIX: LazyLock<Matrix> = LazyLock::new(Matrix::unpack);

/// A source of the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Name of the source.
    pub name: String,
    /// The commit, or another identifier of the state.
    pub revision: String,
    /// Date of that state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A file that overlays the built-in matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overlay {
    /// The file.
    pub file: String,
    /// Its date.
    pub as_of: String,
    /// The number of replaced rows.
    pub replaced: usize,
    /// The number of added rows.
    pub added: usize,
}

/// Decodes the table of a pack, with the checks of a user's file.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    const NAME: &str = "compat_matrix";
    let matrix = Matrix::from_built_in(pack.table(NAME)?);
    if matrix.schema != MATRIX_SCHEMA {
        return Err(invalid(NAME, format!("its schema is `{}`", matrix.schema)));
    }
    let lines = Lines::new();
    let references = matrix.check_lists(&lines).and_then(|()| matrix.check_references(&lines));
    references.map_err(|error| PackError::Invalid(NAME.to_owned(), error.what))
}

macro_rules! matrix {
    ($($(#[$doc:meta])* $field:ident: $row:ident = $name:literal,)*) => {
        /// The complete matrix. Rows are in the order of the file: newest first.
        #[derive(Debug, Clone, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Matrix {
            /// Always [`MATRIX_SCHEMA`].
            pub schema: String,
            /// The day up to which documents were read (`2026-08-22`).
            pub as_of: String,
            /// The overlay of the built-in matrix.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub overlay: Option<Overlay>,
            /// The sources of the rows.
            pub generated_from: Vec<Origin>,
            $($(#[$doc])* #[serde(rename = $name)] pub $field: Vec<$row>,)*
        }

        /// The built-in file. A test runs the checks of other files on it.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct BuiltIn {
            schema: String,
            as_of: String,
            #[serde(default)]
            generated_from: Vec<Origin>,
            $(#[serde(default, rename = $name)] $field: Vec<$row>,)*
        }

        /// The line of each row in the file, by table and key.
        type Lines = BTreeMap<(&'static str, String), usize>;

        impl Matrix {
            fn unpack() -> Self {
                Self::from_built_in(crate::table("compat_matrix"))
            }

            fn from_built_in(file: BuiltIn) -> Self {
                Self {
                    schema: file.schema,
                    as_of: file.as_of,
                    overlay: None,
                    generated_from: file.generated_from,
                    $($field: file.$field,)*
                }
            }

            /// Reads a file and runs the checks that need no other file.
            fn read(text: &str) -> Result<(Self, Lines), FileError> {
                const KEYS: &[&str] = &["schema", "as_of", "generated_from", $($name),*];
                let mut file = UserFile::parse(text, KEYS)?;
                let user_file::WithLine { line, value: schema } = file.take_required::<String>("schema")?;
                if schema != MATRIX_SCHEMA {
                    let what = faults::SchemaExpected { schema: MATRIX_SCHEMA };
                    return Err(FileError::new(line, what));
                }
                let origins = file.take_value("generated_from")?;
                let mut lines = Lines::new();
                let matrix = Self {
                    schema,
                    as_of: file.take_required("as_of")?.value,
                    overlay: None,
                    generated_from: origins.map_or_else(Vec::new, |origins| origins.value),
                    $($field: check_unique(file.take_rows($name)?, &mut lines)?,)*
                };
                matrix.check_lists(&lines)?;
                Ok((matrix, lines))
            }

            /// Merges rows of `newer`: they replace rows with the same key, and others come first.
            fn merge(&mut self, newer: Self, file: &str) {
                let mut count = Overlay {
                    file: file.to_owned(),
                    as_of: newer.as_of.clone(),
                    replaced: 0,
                    added: 0,
                };
                $(replace(&mut self.$field, newer.$field, &mut count);)*
                self.overlay = Some(count);
            }
        }
    };
}

matrix! {
    /// torch_npu.
    torch_npu: TorchNpu = "torch_npu",
    /// torch_npu releases and the CANN versions that they accept.
    windows: Window = "window",
    /// CANN.
    cann: Cann = "cann",
    /// CANN and driver.
    pairs: Pair = "pair",
    /// CANN and the drivers that it accepts.
    hdk_windows: HdkWindow = "hdk_window",
    /// CANN and driver lines.
    mindcluster: MindCluster = "mindcluster",
    /// Drivers.
    drivers: DriverRow = "driver",
    /// Firmware.
    firmware: FirmwareRow = "firmware",
    /// vllm-ascend.
    vllm_ascend: VllmAscend = "vllm_ascend",
    /// MindSpore.
    mindspore: MindSpore = "mindspore",
    /// Features.
    gates: Gate = "gate",
    /// Chips.
    socs: Soc = "soc",
    /// PCI ids.
    pci: Pci = "pci",
    /// Operating systems.
    os: Os = "os",
    /// Packages.
    constraints: Constraint = "constraint",
    /// Imports. The table was added after the first release of the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    imports: Import = "import",
}

impl Matrix {
    /// Returns the built-in matrix.
    pub fn builtin() -> &'static Self {
        &MATRIX
    }

    /// Reads a complete matrix file.
    #[cfg(test)]
    fn parse(text: &str) -> Result<(Self, Lines), FileError> {
        let (matrix, lines) = Self::read(text)?;
        matrix.check_references(&lines)?;
        Ok((matrix, lines))
    }

    /// Returns the built-in matrix overlaid with `text` (read from `file`).
    pub fn apply_overlay(text: &str, file: &str) -> Result<Self, FileError> {
        let (newer, lines) = Self::read(text)?;
        let mut matrix = Self::builtin().clone();
        matrix.merge(newer, file);
        matrix.check_references(&lines)?;
        Ok(matrix)
    }

    /// Describes the matrix briefly, for the provenance of a report.
    pub fn describe(&self) -> Text {
        let date = &self.as_of;
        match &self.overlay {
            None => ui::MatrixBuiltin { date }.text(),
            Some(over) => ui::MatrixWithOverlay {
                added: over.added.to_string(),
                date,
                file: &over.file,
                own: &over.as_of,
                replaced: over.replaced.to_string(),
            }
            .text(),
        }
    }

    /// Returns the newest CANN that was released when the table was made.
    pub(crate) fn newest_cann(&self) -> Option<&CannVersion> {
        let released = self.cann.iter().filter(|row| row.level != Level::Prerelease);
        released.map(|row| &row.version.0).max()
    }

    /// Checks that lists in the notation of version files can be parsed.
    fn check_lists(&self, lines: &Lines) -> Result<(), FileError> {
        let lists = self
            .cann
            .iter()
            .map(|row| ("cann", row.key(), &row.compatible))
            .chain(self.drivers.iter().map(|row| ("driver", row.key(), &row.compatible)))
            .chain(self.drivers.iter().map(|row| ("driver", row.key(), &row.compatible_fw)))
            .chain(self.firmware.iter().map(|row| ("firmware", row.key(), &row.compatible_drv)));
        for (table, key, list) in lists {
            if let Some(text) = list
                && let Err(error) = text.parse::<RangeList>()
            {
                let why = faults::Plain { why: quote(&error.to_string()) };
                return Err(error_on_line(lines, table, key, why));
            }
        }
        Ok(())
    }

    /// Checks that each referenced CANN has a row, and that windows are about existing releases.
    fn check_references(&self, lines: &Lines) -> Result<(), FileError> {
        let known: BTreeSet<&CannVersion> = self.cann.iter().map(|row| &row.version.0).collect();
        let named = self
            .torch_npu
            .iter()
            .filter_map(|row| Some(("torch_npu", row.key(), &row.cann.as_ref()?.0)))
            .chain(self.vllm_ascend.iter().map(|row| ("vllm_ascend", row.key(), &row.cann.0)));
        for (table, key, version) in named {
            if !known.contains(version) {
                let version = version.to_string();
                let reason = faults::MatrixNoCann { key: &key, table, version }.fault();
                return Err(error_on_line(lines, table, key, reason));
            }
        }
        for window in &self.windows {
            let exists = self.torch_npu.iter().any(|row| {
                row.release.as_ref().is_some_and(|release| window.release.covers(release))
            });
            if !exists {
                let version = window.release.to_string();
                let reason = faults::MatrixNoRelease { version };
                return Err(error_on_line(lines, "window", window.key(), reason));
            }
        }
        Ok(())
    }
}

fn error_on_line(
    lines: &Lines,
    table: &'static str,
    key: String,
    what: impl Into<Fault>,
) -> FileError {
    FileError::new(lines.get(&(table, key)).copied().unwrap_or(1), what)
}

/// Separates rows from their lines. Checks that keys are unique and each row has a source.
fn check_unique<R: Row>(
    rows: Vec<user_file::WithLine<R>>,
    lines: &mut Lines,
) -> Result<Vec<R>, FileError> {
    rows.into_iter()
        .map(|user_file::WithLine { line, value: row }| {
            let (table, key) = (R::TABLE, row.key());
            let what = if row.source().trim().is_empty() {
                faults::MatrixNoSource { key, table }.fault()
            } else if let Some(line) = lines.insert((table, key.clone()), line) {
                faults::MatrixTwice { key, line, table }.fault()
            } else {
                return Ok(row);
            };
            Err(FileError::new(line, what))
        })
        .collect()
}

fn replace<R: Row>(rows: &mut Vec<R>, newer: Vec<R>, count: &mut Overlay) {
    let mut added = Vec::new();
    for row in newer {
        let key = row.key();
        if let Some(old) = rows.iter_mut().find(|old| old.key() == key) {
            *old = row;
            count.replaced += 1;
        } else {
            added.push(row);
            count.added += 1;
        }
    }
    added.append(rows);
    *rows = added;
}

#[cfg(test)]
mod tests;
