//! Machines with compatible versions: they must have no finding.

use crate::support::machine::Spec;
use crate::support::scan::Bench;
use crate::support::versions::{CANN_DRIVERS, TORCH_NPU, numbers};

/// Combinations of `torch_npu`, CANN, driver, Python, architecture, layout and kind of machine, all
/// of them documented as compatible.
fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    for row in TORCH_NPU {
        for cann in row.cann {
            let Some((_, drivers)) = CANN_DRIVERS.iter().find(|(version, _)| version == cann)
            else {
                continue;
            };
            for arch in ["aarch64", "x86_64"] {
                // Counters of different periods, so that all values of a dimension are combined.
                let n = specs.len();
                let python = row.python[n % row.python.len()];
                let container = n % 3 == 0;
                let chips: &[&str] = if numbers(cann) >= numbers("8.1") {
                    &["910b", "a3", "310p", "910b"]
                } else {
                    &["910b", "310p", "910b"]
                };
                let old_glibc = numbers(row.torch)[..2] < [2, 6][..];
                let systems: &[&str] = if old_glibc {
                    &["ubuntu22.04", "openeuler22.03", "ubuntu18.04"]
                } else {
                    &["ubuntu22.04", "openeuler24.03", "openeuler22.03", "ubuntu20.04"]
                };
                let kinds: &[&str] = if container {
                    &["image", "conda", "venv"]
                } else {
                    &["venv", "system", "conda"]
                };
                let env = kinds[n / 3 % kinds.len()];
                specs.push(Spec {
                    arch: arch.to_owned(),
                    os: systems[n % systems.len()].to_owned(),
                    chip: chips[n % chips.len()].to_owned(),
                    npus: [8, 16, 2, 1][n % 4],
                    cann: (*cann).to_owned(),
                    driver: drivers[n / 2 % drivers.len()].to_owned(),
                    torch_npu: row.version.to_owned(),
                    python: python.to_owned(),
                    env: env.to_owned(),
                    container,
                    sourced: if env == "image" { "image" } else { "set_env" }.to_owned(),
                    user: if n % 5 == 0 { "ma" } else { "root" }.to_owned(),
                    hccn: n % 2 == 0,
                    ..Spec::default()
                });
            }
        }
    }
    specs
}

#[test]
fn nothing_is_wrong_with_them() {
    let mut specs = specs();
    // Similar machines follow each other, so that fewer files are written.
    specs.sort_by_key(|spec| {
        (
            spec.arch.clone(),
            spec.env.clone(),
            spec.python.clone(),
            spec.os.clone(),
            spec.cann.clone(),
        )
    });
    let mut bench = Bench::new();
    assert!(specs.len() >= 200, "{} only", specs.len());
    let mut wrong = Vec::new();
    let (mut errors, mut warned) = (0, 0);
    for spec in &specs {
        let scan = bench.scan(spec.build(), &[]);
        // A machine without any detected part proves nothing.
        let passed = |id: &str| {
            let results = scan.report["checks"].as_array().unwrap();
            results.iter().any(|result| result["id"] == id && result["state"] == "passed")
        };
        for id in ["TNPU-LINK", "TORCH-VERSION", "CANN-HOME", "DRV-CANN", "NNAL-PRESENT"] {
            let old = numbers(&spec.torch_npu)[..2] < [2, 5][..];
            assert!(
                passed(id) || (id == "NNAL-PRESENT" && old),
                "{id} has not passed: {}\n{}",
                spec.describe(),
                scan.text
            );
        }
        let (bad, odd) = (scan.ids("error").len(), scan.ids("warning").len());
        errors += usize::from(bad > 0);
        warned += usize::from(odd > 0);
        if bad + odd > 0 {
            wrong.push(format!("{}\n{}", spec.describe(), scan.lines()));
        }
    }
    println!("{} healthy machines: {errors} with errors, {warned} with warnings", specs.len());
    wrong.truncate(12);
    assert!(
        errors == 0 && warned * 100 < specs.len(),
        "{errors} errors, {warned} warnings\n{}",
        wrong.join("\n")
    );
}
