//! Compares the registrations of published wheels with the operator tables, which were read from
//! the PyTorch dispatcher after the library of the wheel registered its operators.
//!
//! `scripts/fetch_wheels.py DIR` fetches the wheels, and the variable `ASCEND_DOCTOR_WHEELS` names
//! DIR. A plain `cargo test` does not run this program.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its own variables and trees, and shows what it measured"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use audit::ops::dispatch::{Registrations as _, Shipped};
use audit::ops::installed::{Kernels, kernels_of_library, read_wheel};
use audit::ops::{Match, Tables, Target};
use machine::elf;

/// The overloads of PyTorch with a kernel, and those without.
struct Overloads {
    kernels: BTreeSet<&'static str>,
    all: BTreeSet<&'static str>,
}

impl Overloads {
    /// Reads the tables for a wheel.
    fn of(tables: &'static Tables, target: &Target) -> Self {
        let shipped = Shipped { tables, target };
        let bases: BTreeSet<&str> = tables.base_names().collect();
        let names = bases.into_iter().flat_map(|base| tables.overloads(base));
        let letters = names.filter_map(|name| Some((name, shipped.class(name)?.letter())));
        let letters: Vec<(&str, char)> = letters.collect();
        Self {
            kernels: letters.iter().filter(|row| row.1 == 'K').map(|row| row.0).collect(),
            all: letters.into_iter().map(|row| row.0).collect(),
        }
    }

    /// Returns the precision and recall of `found`.
    fn score(&self, found: &Kernels) -> (f64, f64) {
        let names = found.aten.keys().map(String::as_str);
        let found: BTreeSet<&str> = names.filter(|name| self.all.contains(name)).collect();
        let both = found.intersection(&self.kernels).count();
        let share = |of: usize| {
            f64::from(u32::try_from(both).unwrap()) / f64::from(u32::try_from(of).unwrap())
        };
        (share(found.len()), share(self.kernels.len()))
    }
}

#[test]
fn registrations_of_wheels_are_those_of_the_tables() {
    let dir = std::env::var_os("ASCEND_DOCTOR_WHEELS");
    let dir = dir.expect("ASCEND_DOCTOR_WHEELS does not name the directory of fetch_wheels.py");
    let dir = PathBuf::from(dir).join("wheels");
    let tables = Tables::get();
    let mut wheels: Vec<PathBuf> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    wheels.sort();
    let mut compared = 0;
    for wheel in wheels {
        let name = wheel.file_name().unwrap().to_str().unwrap().to_owned();
        let version = name.split('-').nth(1).unwrap_or_default();
        let target = Target::find(tables, version).unwrap();
        if target.how != Match::Wheel {
            continue;
        }
        let overloads = Overloads::of(tables, &target);
        let found = read_wheel(std::fs::File::open(&wheel).unwrap(), true, tables).unwrap();
        let (precision, recall) = overloads.score(&found.installed.kernels);
        assert_eq!(found.installed.version.as_deref(), Some(version));
        assert_eq!(found.missing, Some(Vec::new()), "{name}: files and library differ");

        let mut zip = zip::ZipArchive::new(std::fs::File::open(&wheel).unwrap()).unwrap();
        let mut library = Vec::new();
        let mut entry = zip.by_name("torch_npu/lib/libtorch_npu.so").unwrap();
        std::io::copy(&mut entry, &mut library).unwrap();
        let names =
            elf::find_plt_strings(&library.as_slice(), "_ZNR5torch7Library5_implE").unwrap();
        let (elf_precision, elf_recall) = overloads.score(&kernels_of_library(&names, tables));
        println!(
            "{name}: {} kernels; files precision {precision:.4} recall {recall:.4}; library alone \
             {elf_precision:.4} {elf_recall:.4}",
            overloads.kernels.len()
        );
        // Four foreach operators of 2.1.0 are registered manually.
        let least = if version.starts_with("2.1.0") { 0.996 } else { 1.0 };
        assert!(precision >= 1.0 && recall >= least, "{name}");
        assert!(elf_recall >= 0.999 && elf_precision >= 0.91, "{name}");
        compared += 1;
    }
    assert!(compared > 0, "no wheel in {} has a column in the tables", dir.display());
}
