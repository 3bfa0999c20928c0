//! What published wheels register by their own files, and what by their library alone, against the
//! dispatcher into which that library had registered itself.
//!
//! `scripts/fetch_wheels.py DIR` fetches wheels; the variable ASCEND_DOCTOR_WHEELS names that
//! directory. Without it, or without the facts beside the project, the test says that it did not run.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its own variables and trees, and shows what it measured"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use audit::ops::Tables;
use audit::ops::dispatch::Registrations as _;
use audit::ops::installed::{Kernels, kernels_of_library, read_site, read_wheel};
use machine::elf;
use machine::sysroot::Sysroot;
use serde_json::Value;

fn truth() -> Option<Value> {
    let home = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let places = ["../shared/facts", "../../shared/facts"];
    let file = places.iter().map(|place| home.join(place).join("ops_truth_wheels.json"));
    let file = file.into_iter().find(|file| file.is_file())?;
    Some(serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
}

/// Precision and recall of `found` among the overloads that the dispatcher has.
fn score(found: &Kernels, classes: &serde_json::Map<String, Value>) -> (f64, f64, usize) {
    let kernels: BTreeSet<&str> =
        classes.iter().filter(|(_, class)| *class == "K").map(|(name, _)| name.as_str()).collect();
    let found: BTreeSet<&str> =
        found.aten.keys().map(String::as_str).filter(|name| classes.contains_key(*name)).collect();
    let both = found.intersection(&kernels).count();
    let share =
        |of: usize| f64::from(u32::try_from(both).unwrap()) / f64::from(u32::try_from(of).unwrap());
    (share(found.len()), share(kernels.len()), kernels.len())
}

#[test]
fn registrations_of_wheels_are_those_of_the_dispatcher() {
    let (Some(dir), Some(truth)) = (std::env::var_os("ASCEND_DOCTOR_WHEELS"), truth()) else {
        println!("skipped: no wheels, or no facts beside the project");
        return;
    };
    let tables = Tables::get();
    let dir = PathBuf::from(dir).join("wheels");
    let mut wheels: Vec<PathBuf> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    wheels.sort();
    let mut compared = 0;
    for wheel in wheels {
        let name = wheel.file_name().unwrap().to_str().unwrap().to_owned();
        let version = name.split('-').nth(1).unwrap_or_default();
        let Some(classes) = truth["wheels"][version]["classes"].as_object() else { continue };
        let found = read_wheel(std::fs::File::open(&wheel).unwrap(), true, tables).unwrap();
        let (precision, recall, kernels) = score(&found.installed.kernels, classes);
        assert_eq!(found.installed.version.as_deref(), Some(version));
        assert_eq!(found.missing, Some(Vec::new()), "{name}: files and library differ");

        let mut zip = zip::ZipArchive::new(std::fs::File::open(&wheel).unwrap()).unwrap();
        let mut library = Vec::new();
        let mut entry = zip.by_name("torch_npu/lib/libtorch_npu.so").unwrap();
        std::io::copy(&mut entry, &mut library).unwrap();
        let started = std::time::Instant::now();
        let names =
            elf::find_plt_strings(&library.as_slice(), "_ZNR5torch7Library5_implE").unwrap();
        let took = started.elapsed();
        let (elf_precision, elf_recall, _) = score(&kernels_of_library(&names, tables), classes);
        println!(
            "{name}: {kernels} kernels; files precision {precision:.4} recall {recall:.4}; library \
             alone {elf_precision:.4} {elf_recall:.4} ({} names, {} ms)",
            names.len(),
            took.as_millis()
        );
        // Four foreach operators of 2.1.0 are registered by hand.
        let least = if version.starts_with("2.1.0") { 0.996 } else { 1.0 };
        assert!(precision >= 1.0 && recall >= least, "{name}");
        assert!(elf_recall >= 0.999 && elf_precision >= 0.91, "{name}");
        compared += 1;
    }
    assert!(compared > 0, "no wheel in {} is one whose dispatcher was read", dir.display());
}

/// With PyTorch's own file beside it, every overload is classed as the dispatcher classes it. The
/// variable ASCEND_DOCTOR_SITE names a directory of packages with torch and torch_npu.
#[test]
fn an_environment_is_judged_by_its_own_files_alone() {
    let (Some(site), Some(truth)) = (std::env::var_os("ASCEND_DOCTOR_SITE"), truth()) else {
        println!("skipped: no environment, or no facts beside the project");
        return;
    };
    let site = site.to_str().unwrap();
    let found = read_site(&Sysroot::live(), site, false, Tables::get()).unwrap().installed;
    assert!(found.generic.is_some(), "no native_functions.yaml of torchgen in {site}");
    let version = found.version.clone().unwrap();
    let classes = truth["wheels"][&version]["classes"].as_object().unwrap();
    let wrong: Vec<_> = classes
        .iter()
        .map(|(name, class)| {
            (name, found.class(name).map(|class| class.letter().to_string()), class)
        })
        .filter(|(_, found, class)| found.as_deref() != class.as_str())
        .collect();
    println!("torch_npu {version}: {} overloads, {} wrong", classes.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
}
