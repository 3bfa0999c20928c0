//! CANN that is installed where nobody told the dynamic linker: found as `check` finds it, and
//! set for the children alone.

use machine::collect;
use machine::sysroot::Sysroot;

/// An installation that was found, and what children need to use it.
pub(super) struct Installed {
    /// Its root.
    pub(super) path: String,
    /// Variables for the children.
    pub(super) env: Vec<(String, String)>,
}

/// Looks for CANN in the usual places.
pub(super) fn find() -> Option<Installed> {
    let machine = Sysroot::live();
    let facts = collect::collect_cann(&machine);
    let install = facts.cann.active()?;
    let path = install.path.clone();
    let arch = std::env::consts::ARCH;
    let mut dirs = vec![format!("{path}/lib64"), format!("{path}/{arch}-linux/lib64")];
    // The libraries of operators and of the compiler load these in turn.
    dirs.push(format!("{path}/lib64/plugin/opskernel"));
    dirs.push(format!("{path}/lib64/plugin/nnengine"));
    if let Some(driver) = &facts.driver.dir {
        dirs.extend([format!("{driver}/lib64/common"), format!("{driver}/lib64/driver")]);
        dirs.push(format!("{driver}/lib64"));
    }
    dirs.retain(|dir| machine.is_dir(dir));
    let own = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    dirs.extend(Some(own).filter(|own| !own.is_empty()));
    let env = [
        ("LD_LIBRARY_PATH", dirs.join(":")),
        ("ASCEND_HOME_PATH", path.clone()),
        ("ASCEND_TOOLKIT_HOME", path.clone()),
        ("ASCEND_AICPU_PATH", path.clone()),
        ("ASCEND_OPP_PATH", format!("{path}/opp")),
    ];
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Some(Installed { path, env })
}
