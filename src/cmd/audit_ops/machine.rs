//! The chip and the CANN that operators are judged for.
#![expect(clippy::disallowed_methods, reason = "makes the path that the user named absolute")]

use std::path::Path;

use anyhow::Context as _;

use crate::cli::AuditOpsArgs;
use audit::environment::CannFunctions;
use audit::ops::aclnn;
use base::chip::ChipFamily;
use base::text::Text;
use base::version::CannVersion;
use checks::chip;
use data::sentence;
use machine::collect;
use machine::elf::Object;
use machine::sysroot::{SysFile, Sysroot};

/// The last release whose functions are known to be all there are.
const KNOWN: &str = "8.1.RC1";

/// The chip: what `--soc` names, else that of this machine.
pub(super) fn chip(args: &AuditOpsArgs, machine: &Sysroot) -> anyhow::Result<Option<ChipFamily>> {
    if let Some(name) = &args.soc {
        // Who types only this means the family of Atlas A2, as its packages of operators are called;
        // the chip of the first generation has `Ascend` in its name.
        if name.trim().eq_ignore_ascii_case("910b") {
            return Ok(Some(ChipFamily::A910B));
        }
        let family = ChipFamily::from_soc(name).with_context(|| {
            format!(
                "`{name}` is no chip that is known: expected a name as `npu-smi info` and ATC use \
                 it, such as Ascend910B3, Ascend310P3, Ascend910_9391 or Ascend950PR_9579"
            )
        })?;
        return Ok(Some(family));
    }
    let facts = collect::devices(machine);
    Ok(chip::chip(&facts).map(|chip| chip.family))
}

/// The functions of aclnn that a CANN has.
pub(super) enum Cann {
    /// Its libraries.
    Libraries { path: String, objects: Vec<(SysFile, Object)> },
    /// A version, of which only the functions of one release are known.
    Version { version: String, lacks: bool },
}

impl CannFunctions for Cann {
    fn has(&self, function: &str) -> Option<bool> {
        match self {
            Self::Libraries { objects, .. } => {
                // Every function comes with one that asks for the size of its workspace.
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
    /// What `--cann` names, a directory or a version; else the CANN that this machine selects.
    pub(super) fn find(asked: Option<&str>, machine: &Sysroot) -> anyhow::Result<Option<Self>> {
        let Some(asked) = asked else {
            let facts = collect::cann(machine);
            let home =
                facts.cann.installs.iter().find(|install| {
                    facts.env.vars.get("ASCEND_HOME_PATH").is_some_and(|home| {
                        machine.real(home).is_ok_and(|real| real == install.path)
                    })
                });
            let path = home.map(|install| install.path.clone());
            return Ok(path.and_then(|path| Self::libraries(machine, &path)));
        };
        if let Ok(version) = asked.parse::<CannVersion>() {
            let known: CannVersion =
                KNOWN.parse().ok().context("the known release is a version")?;
            return Ok(Some(Self::Version { version: asked.to_owned(), lacks: version <= known }));
        }
        let dir = std::path::absolute(Path::new(asked)).ok();
        let dir = dir.as_deref().and_then(Path::to_str).filter(|dir| machine.is_dir(dir));
        let dir = dir.with_context(|| {
            format!(
                "`{asked}` is neither a version of CANN, such as 8.1.RC1, nor the directory of one"
            )
        })?;
        let found = Self::libraries(machine, dir).with_context(|| {
            format!("there is no libopapi*.so in `{asked}/lib64`, nor in `{asked}`")
        })?;
        Ok(Some(found))
    }

    /// The libraries with operators, of which there are several since CANN 8.5.
    fn libraries(machine: &Sysroot, home: &str) -> Option<Self> {
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

    /// What is judged by, in words.
    pub(super) fn said(&self) -> Text {
        match self {
            Self::Libraries { path, objects } => {
                let count = objects.len().to_string();
                sentence("ops_cann_libraries", &[("path", path.clone()), ("count", count)])
            }
            Self::Version { version, lacks: true } => {
                sentence("ops_cann_version", &[("version", version.clone())])
            }
            Self::Version { version, lacks: false } => {
                sentence("ops_cann_unknown", &[("version", version.clone())])
            }
        }
    }

    /// As part of the report.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Libraries { path, objects } => {
                serde_json::json!({ "path": path, "libraries": objects.len() })
            }
            Self::Version { version, .. } => serde_json::json!({ "version": version }),
        }
    }

    /// How a finding calls it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Libraries { path, .. } => path,
            Self::Version { version, .. } => version,
        }
    }
}
