//! The table itself, its texts, and all its examples.

use treeedit::kind::FileKind;

use crate::encoding::apply;
use crate::options::Options;
use crate::rules::{Action, Rules};
use crate::site::{Decision, FilePlan, Planner};
use crate::{config, container, native, notebook, python, requirements, rust, shell};

/// What becomes of a file; `None` for a kind that no planner reads.
fn planned(file: Option<&str>, text: &str) -> Option<FilePlan> {
    let name = file.unwrap_or("train.py").rsplit('/').next()?;
    let options = Options::default();
    let tree = python::Project::default();
    let mut planner = Planner::new(text);
    match FileKind::of_name(name)? {
        FileKind::Python => Some(
            python::plan(
                text,
                &python::Context { project: Some(&tree), ..python::Context::alone(&options) },
            )
            .unwrap_or_else(|error| panic!("{error:?}\n{text}")),
        ),
        FileKind::Shell => {
            shell::plan(&mut planner).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            Some(planner.finish())
        }
        FileKind::Requirements => {
            requirements::plan(&mut planner, name);
            Some(planner.finish())
        }
        FileKind::Config => {
            config::plan(&mut planner, name).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            Some(planner.finish())
        }
        FileKind::Container => {
            container::plan(&mut planner, name).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            Some(planner.finish())
        }
        FileKind::Native => {
            native::plan(&mut planner, name);
            Some(planner.finish())
        }
        FileKind::Text => Some(planner.finish()),
        FileKind::Rust => {
            rust::plan(&mut planner, name).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            Some(planner.finish())
        }
        FileKind::Notebook => {
            let context = python::Context { cell: true, ..python::Context::alone(&options) };
            let cells = |text: &str| python::plan(text, &context).ok();
            notebook::plan(&mut planner, &cells)
                .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            Some(planner.finish())
        }
    }
}

const PRELUDE: &str = "import torch\nimport torch_npu\nimport torch.nn as nn\n\
                       import torch.nn.functional as F\nimport torch.distributed as dist\nimport os\n";

#[test]
fn every_rule_has_an_example_and_does_what_it_shows() {
    let mut wrong = Vec::new();
    for rule in &Rules::builtin().rules {
        let Some(example) = &rule.text().example else {
            wrong.push(format!("{}: no example", rule.id));
            continue;
        };
        let head = if example.prelude && example.file.is_none() { PRELUDE } else { "" };
        let before = format!("{head}{}", example.before);
        let after = format!("{head}{}", example.after.as_ref().unwrap_or(&example.before));
        let file = example.file;
        let Some(plan) = planned(file, &before) else { continue };
        let out = apply(&before, &plan.edits);
        if out != after {
            wrong.push(format!(
                "{} {}:\n{}\nwanted\n{}",
                rule.id,
                rule.name,
                &out[..],
                &after[head.len().min(after.len())..]
            ));
            continue;
        }
        if planned(file, &out).is_some_and(|again| !again.edits.is_empty()) {
            wrong.push(format!("{} {}: a second run changes it", rule.id, rule.name));
        }
        let reported = rule.reported_as.as_ref().unwrap_or(&rule.id);
        let decision = match rule.action {
            Action::Flag => Decision::Flagged,
            Action::Note => Decision::Noted,
            Action::Rewrite | Action::Insert | Action::Remove => Decision::Changed,
            Action::Keep => continue,
        };
        let told =
            plan.sites.iter().any(|site| site.rule.id == *reported && site.decision == decision);
        if !told && rule.name != "message-words" {
            let sites: Vec<_> =
                plan.sites.iter().map(|site| (&site.rule.id, site.decision)).collect();
            wrong.push(format!("{} {}: not reported as {reported}: {sites:?}", rule.id, rule.name));
        }
    }
    assert!(wrong.is_empty(), "{} of the examples:\n{}", wrong.len(), wrong.join("\n"));
}
