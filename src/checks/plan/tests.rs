use super::*;
use crate::testing::{dist, facts_with, python};
use crate::{Profile, verdict};
use data::{Catalog, Matrix};
use facts::Facts;

fn planned(facts: &Facts, profile: Profile) -> RepairPlan {
    let selected: Vec<&crate::Check> = crate::all().collect();
    let request = verdict::CheckRequest {
        matrix: Matrix::builtin(),
        profile,
        require_npu: false,
        data_age: None,
        selected: &selected,
        only: &[],
        site: None,
        skip_reason: &|_| None,
    };
    let report = verdict::run_checks(facts, &request);
    plan(&request.context(facts), &report)
}

fn commands(plan: &RepairPlan) -> Vec<&str> {
    plan.steps.iter().filter_map(|step| step.run.as_deref()).collect()
}

#[test]
fn every_step_says_when_and_where() {
    for entry in Catalog::builtin().entries() {
        for (key, message) in &entry.message {
            for (at, step) in message.fix.iter().enumerate() {
                let what = format!("{}.{key} step {at}", entry.id);
                let has = |need| step.needs.contains(&need);
                let Some(phase) = step.phase else {
                    assert!(step.needs.is_empty() && step.installs.is_empty(), "{what}");
                    continue;
                };
                assert_eq!(phase == Phase::Container, has(Requirement::Restart), "{what}");
                assert!(phase != Phase::Host || has(Requirement::Host), "{what}");
                assert!(!has(Requirement::Reboot) || phase == Phase::Host, "{what}");
                let run = step.run.as_deref().unwrap_or_default();
                assert!(!run.contains("sudo ") || has(Requirement::Root), "{what}");
                for part in &step.installs {
                    let is_package = part.distribution().is_some();
                    let places: &[Phase] = match part {
                        _ if is_package => &[Phase::Packages, Phase::Python],
                        Component::Python => &[Phase::Python],
                        Component::Driver => &[Phase::Host],
                        _ => &[Phase::Cann],
                    };
                    assert!(places.contains(&phase), "{what} installs {part}");
                }
            }
        }
    }
}

#[test]
fn one_error_more_never_repeats_a_step() {
    // torch of another release without a torch_npu for this Python, and an empty machine.
    let mut facts = facts_with(
        python("3.11"),
        vec![dist("torch", "2.9.0"), dist("torch-npu", "2.7.1"), dist("vllm-ascend", "0.11.0")],
    );
    facts.host.arch = Some("aarch64".to_owned());
    let plan = planned(&facts, Profile::Vllm);
    let runs = commands(&plan);
    let unique: BTreeSet<&&str> = runs.iter().collect();
    assert_eq!(unique.len(), runs.len(), "{runs:?}");
    assert_eq!(plan.versions.get(&Component::VllmAscend).map(String::as_str), Some("0.11.0"));
    assert!(runs.iter().any(|run| run.ends_with(" torch==2.7.1")), "{runs:?}");
    assert!(runs.iter().any(|run| run.contains("Ascend-cann-toolkit_8.3.RC2")), "{runs:?}");
}

#[test]
fn nothing_wrong_needs_no_step() {
    let plan = planned(&Facts::default(), Profile::General);
    assert_eq!(plan.steps, []);
    assert!(plan.versions.is_empty());
}

#[test]
fn versions_that_no_table_knows_keep_the_words_of_the_findings() {
    let facts =
        facts_with(python("3.11"), vec![dist("torch", "99.1.0"), dist("torch-npu", "98.0.0")]);
    let plan = planned(&facts, Profile::Import);
    // The chosen versions are compatible, or the plan lists no tested checks.
    assert_eq!(plan.versions.is_empty(), plan.tested.is_empty());
    assert!(!plan.steps.is_empty());
}

#[test]
fn equal_steps_become_one_with_all_reasons() {
    let step = |id: &str, phase| PlanStep {
        phase,
        needs: Vec::new(),
        text: Text::new(id, id),
        run: Some("x".to_owned()),
        findings: vec![id.to_owned()],
    };
    let merged = order::put_in_order(vec![
        step("A", Some(Phase::Packages)),
        step("B", Some(Phase::Cann)),
        step("C", None),
    ]);
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].findings, ["A", "B", "C"]);
    assert_eq!(merged[0].phase, Some(Phase::Cann));
}

#[test]
fn names_of_packages_are_read_as_pip_reads_them() {
    for (run, name, is_named) in [
        ("python3 -m pip install torch_npu==2.7.1", "torch-npu", true),
        ("python3 -m pip install torch_npu==2.7.1", "torch", false),
        ("python3 -m pip install 'numpy<2'", "numpy", true),
        ("python3 -m pip uninstall -y Triton.Ascend", "triton-ascend", true),
        ("source /torch/set_env.sh", "torch", false),
    ] {
        assert_eq!(gather::names(run, name), is_named, "{run} {name}");
    }
}
