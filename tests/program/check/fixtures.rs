//! The recipes of `tests/fixtures/hosts/`.

use super::contract::run;
use crate::support::recipe::{self, Recipe};
use crate::support::scan::{Bench, Scan};

/// The differences between a report and the expectation.
fn complaints(recipe: &Recipe, scan: &Scan) -> Vec<String> {
    let mut wrong = Vec::new();
    let expect = &recipe.expect;
    let all = scan.all();
    for (severity, wanted) in [("error", &expect.errors), ("warning", &expect.warnings)] {
        let mut wanted = wanted.clone();
        wanted.sort();
        let got = scan.ids(severity);
        if got != wanted {
            wrong.push(format!("{severity}s at the top: wanted {wanted:?}, got {got:?}"));
        }
    }
    for id in &expect.infos {
        if !all.iter().any(|seen| seen.id == *id && seen.severity == "info") {
            wrong.push(format!("no info {id}"));
        }
    }
    let top = scan.findings();
    for id in &expect.folded {
        let below = all.iter().filter(|seen| seen.id == *id).count();
        let above = top.iter().filter(|seen| seen.id == *id).count();
        if below <= above {
            wrong.push(format!("{id} is not folded under another finding"));
        }
    }
    for id in &expect.must_not {
        if all.iter().any(|seen| seen.id == *id) {
            wrong.push(format!("{id} may not occur"));
        }
    }
    for text in &expect.says {
        if !scan.text.contains(text.as_str()) {
            wrong.push(format!("nowhere does it say `{text}`"));
        }
    }
    if scan.code != expect.code {
        wrong.push(format!("exit code: wanted {}, got {}", expect.code, scan.code));
    }
    wrong
}

#[test]
fn every_machine_gets_its_findings() {
    let mut failed = Vec::new();
    let wanted = std::env::var("FIXTURE").ok();
    let recipes = recipe::all();
    assert!(recipes.len() >= 40, "{} recipes only", recipes.len());
    // Similar machines follow each other.
    let mut order: Vec<_> = recipes.iter().collect();
    order.sort_by_key(|(_, recipe)| {
        let spec = &recipe.machine;
        (&spec.arch, &spec.env, &spec.python, &spec.os, &spec.cann, &spec.torch_npu)
    });
    let mut bench = Bench::new();
    for (name, recipe) in order {
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let args: Vec<&str> = recipe.expect.args.iter().map(String::as_str).collect();
        let scan = bench.scan(recipe.build(), &args);
        let wrong = complaints(recipe, &scan);
        if !wrong.is_empty() {
            failed.push(format!("{name}:\n- {}\n{}", wrong.join("\n- "), scan.lines()));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n\n{}", failed.len(), recipes.len(), failed.join("\n"));
}

/// The report as text, in both languages.
#[test]
fn reports_read_well() {
    let mut recipes = recipe::all();
    for name in [
        "ok-host-910b",
        "ok-no-npu",
        "f02-env-not-sourced",
        "f05-driver-not-mounted",
        "f06-nnal-too-old",
        "f39-truncated-library",
    ] {
        let dir = tempfile::tempdir().unwrap();
        recipes.remove(name).unwrap().build().write(dir.path());
        let root = dir.path().to_str().unwrap();
        for lang in ["en", "zh"] {
            let (_, text, _) = run(&["--lang", lang, "check", "--sysroot", root]);
            // A new check must not change the snapshots of other checks: on these machines, it
            // passes or does not apply.
            let filters = [
                (
                    r"\d+ checks? passed, (\d+) not checked, \d+\s+not\s+applicable",
                    "[N] checks passed, $1 not checked, [N] not applicable",
                ),
                (
                    r"\d+ 项检查通过，(\d+) 项未检查，\d+ 项不适用",
                    "[N] 项检查通过，$1 项未检查，[N] 项不适用",
                ),
            ];
            insta::with_settings!({
                snapshot_path => "../snapshots",
                prepend_module_to_snapshot => false,
                filters => filters,
            }, {
                insta::assert_snapshot!(format!("report-{name}-{lang}"), text.replace(root, "ROOT"));
            });
        }
    }
}

/// The 40 failures in the issue; each has a recipe, or a reason why a static scan cannot detect it.
#[test]
fn every_failure_has_a_recipe() {
    let recipes = recipe::all();
    let missing: Vec<String> = (1..=40)
        .map(|number| format!("F{number:02}"))
        .filter(|id| !recipes.values().any(|recipe| recipe.failure.as_ref() == Some(id)))
        .collect();
    assert!(missing.is_empty(), "no recipe for {missing:?}");
}
