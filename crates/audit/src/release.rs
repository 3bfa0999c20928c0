//! The torch_npu that operators are classified for, and the reason for the selection.

use data::{Fault, faults, ui};

use base::text::Text;
use machine::collect::find_installed;
use machine::sysroot::Sysroot;

use crate::ops::installed::{FoundInstallation, KernelSource, read_site};
use crate::ops::tables::Column;
use crate::ops::{Match, Tables, Target};
use crate::report::members::{InstalledMember, TableMatch, TableMember, TargetMember};

/// The selected torch_npu.
pub struct SelectedRelease {
    /// Its version in findings.
    pub version: String,
    /// Its column in the tables; for an installation, the source of facts that are not in its
    /// files.
    pub target: Target,
    /// The description in the overview of a report.
    pub description: Text,
    /// The registrations of an installation.
    pub installation: Option<FoundInstallation<'static>>,
    /// The path of the installation.
    pub path: String,
    from: &'static str,
}

impl SelectedRelease {
    /// Selects the release that the user names.
    ///
    /// # Errors
    ///
    /// Returns a fault that lists the known releases if no table fits.
    pub fn named(version: &str, tables: &'static Tables) -> Result<Self, Fault> {
        let target = Target::asked(tables, version)?;
        let description = ui::OpsTargetAsked { version }.text();
        let (version, path) = (version.to_owned(), String::new());
        Ok(Self { version, target, description, installation: None, path, from: "--torch-npu" })
    }

    /// Selects the installation that the Python of a machine imports.
    ///
    /// # Errors
    ///
    /// Returns a fault with the reason if the installation is missing or unreadable.
    pub fn installed(machine: &Sysroot, tables: &'static Tables) -> Result<Self, Fault> {
        let there = find_installed(machine, "torch-npu");
        let (version, dir) = there.ok_or_else(|| faults::NoInstallation.fault())?;
        let found = read_site(machine, &dir, true, tables)?;
        Ok(Self::installation(found, Some(version), dir))
    }

    /// Selects the installation that the Python of a machine imports, or else the newest release
    /// with wheels.
    ///
    /// # Errors
    ///
    /// Returns a fault with the reason if the tables contain no such release.
    pub fn detect(machine: &Sysroot, tables: &'static Tables) -> Result<Self, Fault> {
        if let Some((version, dir)) = find_installed(machine, "torch-npu") {
            // The tables replace unreadable files.
            if let Ok(found) = read_site(machine, &dir, false, tables) {
                return Ok(Self::installation(found, Some(version), dir));
            }
            if let Some(target) = Target::find(tables, &version) {
                let description = ui::OpsTargetFound { dir: &dir, version: &version }.text();
                let from = "installed";
                return Ok(Self {
                    version,
                    target,
                    description,
                    installation: None,
                    path: dir,
                    from,
                });
            }
        }
        let target = Target::newest(tables).ok_or_else(|| faults::NoWheelInTables.fault())?;
        let column = &tables.columns[target.column];
        let version = format!("{}-{}", column.torch, column.release);
        let target =
            Target::find(tables, &version).ok_or_else(|| faults::NoTableForNewest.fault())?;
        let description = ui::OpsTargetNewest { version: &version }.text();
        Ok(Self {
            version,
            target,
            description,
            installation: None,
            path: String::new(),
            from: "newest",
        })
    }

    /// Selects an installation that was read. Without `version`, uses the version in its metadata.
    pub fn installation(
        found: FoundInstallation<'static>,
        version: Option<String>,
        path: String,
    ) -> Self {
        let installed = &found.installed;
        let version = version.or_else(|| installed.version.clone());
        let version = version.unwrap_or_else(|| "?".to_owned());
        let (dir, kernels) = (&path, installed.kernels.aten.len());
        let description = match installed.evidence {
            KernelSource::Files => {
                let custom = installed.kernels.custom.len();
                ui::OpsTargetFiles { custom, dir, kernels, version: &version }.text()
            }
            KernelSource::Library => {
                ui::OpsTargetLibrary { dir, kernels, version: &version }.text()
            }
        };
        let target = installed.target.clone();
        Self { version, target, description, installation: Some(found), path, from: "installed" }
    }

    /// Returns the sources of the classification, in one line.
    pub fn provenance(&self, column: &Column) -> Text {
        let table = format!("torch {}, torch_npu {}", column.torch, column.release);
        let Some(installed) = self.installation.as_ref().map(|found| &found.installed) else {
            return Text::same(table);
        };
        let version = &self.version;
        match (installed.evidence, installed.generic.is_some()) {
            (KernelSource::Files, false) => ui::ProvenanceFiles { table, version }.text(),
            (KernelSource::Files, true) => ui::ProvenanceFilesAndTorch { table, version }.text(),
            (KernelSource::Library, false) => ui::ProvenanceLibrary { table, version }.text(),
            (KernelSource::Library, true) => {
                ui::ProvenanceLibraryAndTorch { table, version }.text()
            }
        }
    }

    /// Returns the member of the JSON report, without chip and CANN.
    pub(crate) fn member<'a>(&'a self, column: &'a Column) -> TargetMember<'a> {
        TargetMember {
            torch_npu: &self.version,
            from: self.from,
            table: TableMember {
                torch: column.torch,
                release: column.release,
                how: match self.target.how {
                    Match::Wheel => TableMatch::Wheel,
                    Match::Release => TableMatch::Release,
                    Match::Nearest => TableMatch::Nearest,
                },
            },
            installed: self.installation.as_ref().map(|found| InstalledMember {
                path: &self.path,
                torch: found.installed.torch.as_deref(),
                evidence: found.installed.evidence,
                kernels: found.installed.kernels.aten.len(),
                custom: found.installed.kernels.custom.len(),
                native_functions: found.installed.generic.is_some(),
                missing_in_library: found.missing.as_deref(),
            }),
            soc: None,
            cann: None,
            documents: None,
        }
    }
}
