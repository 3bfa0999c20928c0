//! The CANN that operators are classified for, and its aclnn functions.

use base::text::Text;
use base::version::CannVersion;
use data::ui;
use machine::collect;
use machine::elf::Object;
use machine::sysroot::{SysFile, Sysroot};

use crate::environment::CannFunctions;
use crate::ops::aclnn;
use crate::report::members::CannMember;

/// The newest release with a complete list of functions.
const KNOWN: &str = "8.1.RC1";

/// The aclnn functions of a CANN.
pub enum Cann {
    /// Its libraries.
    Libraries {
        /// Their directory.
        path: String,
        /// The libraries.
        objects: Vec<(SysFile, Object)>,
    },
    /// A version. The complete function list is known for only one release.
    Version {
        /// The version.
        version: String,
        /// The version is not newer than that release, so functions outside its list are missing.
        lacks: bool,
    },
}

impl CannFunctions for Cann {
    fn has(&self, function: &str) -> Option<bool> {
        match self {
            Self::Libraries { objects, .. } => {
                // Every function has a companion that returns the size of its workspace.
                let symbol = format!("{function}GetWorkspaceSize");
                let mut sure = true;
                for (file, object) in objects {
                    match object.defines(file, &symbol) {
                        Ok(Some(true)) => return Some(true),
                        Ok(Some(false)) => {}
                        Ok(None) | Err(_) => sure = false,
                    }
                }
                sure.then_some(false)
            }
            Self::Version { lacks, .. } => {
                if aclnn::in_8_1_rc1(function) {
                    None
                } else {
                    lacks.then_some(false)
                }
            }
        }
    }
}

impl Cann {
    /// Returns the CANN that the environment of a machine selects.
    pub fn detect(machine: &Sysroot) -> Option<Self> {
        let facts = collect::collect_cann(machine);
        let home = facts.cann.installs.iter().find(|install| {
            facts
                .env
                .vars
                .get("ASCEND_HOME_PATH")
                .is_some_and(|home| machine.real(home).is_ok_and(|real| real == install.path))
        });
        let path = home.map(|install| install.path.clone());
        path.and_then(|path| Self::libraries(machine, &path))
    }

    /// Returns the functions of a version; `None` if the text is not a version.
    pub fn of_version(text: &str) -> Option<Self> {
        let version: CannVersion = text.parse().ok()?;
        let lacks = KNOWN.parse().is_ok_and(|known: CannVersion| version <= known);
        Some(Self::Version { version: text.to_owned(), lacks })
    }

    /// Opens the operator libraries below a directory. CANN has several since 8.5.
    pub fn libraries(machine: &Sysroot, home: &str) -> Option<Self> {
        let home = home.trim_end_matches('/');
        for dir in [format!("{home}/lib64"), home.to_owned()] {
            let mut objects = Vec::new();
            for name in machine.list(&dir).unwrap_or_default() {
                if name.starts_with("libopapi")
                    && name.ends_with(".so")
                    && let Ok(file) = machine.open(&format!("{dir}/{name}"))
                    && let Ok(object) = Object::read(&file)
                {
                    objects.push((file, object));
                }
            }
            if !objects.is_empty() {
                return Some(Self::Libraries { path: dir, objects });
            }
        }
        None
    }

    /// Returns the description in the overview of a report.
    pub fn description(&self) -> Text {
        match self {
            Self::Libraries { path, objects } => {
                let count = objects.len();
                ui::OpsCannLibraries { count, path: &path }.text()
            }
            Self::Version { version, lacks: true } => {
                ui::OpsCannVersion { version: &version }.text()
            }
            Self::Version { version, lacks: false } => {
                ui::OpsCannUnknown { version: &version }.text()
            }
        }
    }

    /// Returns the member of the JSON report.
    pub(crate) fn member(&self) -> CannMember<'_> {
        match self {
            Self::Libraries { path, objects } => {
                CannMember::Installation { path, libraries: objects.len() }
            }
            Self::Version { version, .. } => CannMember::Version { version },
        }
    }

    /// Returns the name in findings.
    pub fn name(&self) -> &str {
        match self {
            Self::Libraries { path, .. } => path,
            Self::Version { version, .. } => version,
        }
    }
}
