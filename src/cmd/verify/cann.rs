//! Finds CANN outside the search path of the dynamic linker, as `check` does.

use machine::collect;
use machine::sysroot::Sysroot;
use verify::libraries::Installation;

/// Returns the installation in one of the usual places.
pub(super) fn find() -> Option<Installation> {
    let machine = Sysroot::live();
    let facts = collect::collect_cann(&machine);
    let install = facts.cann.active()?;
    let search_path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let driver = facts.driver.dir.as_deref();
    Some(Installation::new(&install.path, driver, &search_path, &|dir| machine.is_dir(dir)))
}
