//! `check --plan`: the plan as a script.

use base::report::Report;
use base::text::{Lang, Text};
use checks::plan::{PlanStep, RepairPlan};
use data::{Phase, Requirement, goals, ui};
use render::{Script, ScriptStep};

/// Returns a plan as a script. `inside` is true if the machine is a container, whose shell cannot
/// run steps for the host. `again` is the command for the final check.
pub(super) fn script(
    plan: &RepairPlan,
    report: &Report,
    inside: bool,
    again: String,
    lang: Lang,
) -> Script {
    let mut steps: Vec<ScriptStep> =
        plan.steps.iter().map(|step| script_step(step, inside, lang)).collect();
    if !steps.is_empty() {
        steps.push(ScriptStep {
            title: ui::PLAN_CHECK_AGAIN.get(lang),
            details: Vec::new(),
            run: Some(again),
            runs_here: true,
        });
    }
    Script { head: head(plan, report, lang), steps }
}

fn head(plan: &RepairPlan, report: &Report, lang: Lang) -> Vec<String> {
    let mut head = vec![
        ui::PlanTitle { goal: &plan.goal, subject: &report.subject }.text().get(lang).to_owned(),
    ];
    head.extend(goals::headline(report).map(|text| text.get(lang).to_owned()));
    if plan.steps.is_empty() {
        head.push(ui::PLAN_EMPTY.get(lang));
    } else {
        head.push(ui::PLAN_WARNING.get(lang));
    }
    if !plan.versions.is_empty() {
        let versions = plan.versions.iter().map(|(part, version)| format!("{part} {version}"));
        let versions = versions.collect::<Vec<_>>().join(", ");
        head.push(ui::PlanVersions { versions }.text().get(lang).to_owned());
        let checks = plan.tested.join(", ");
        head.push(if plan.remaining.is_empty() {
            ui::PlanTested { checks }.text().get(lang).to_owned()
        } else {
            ui::PlanContradicted { checks }.text().get(lang).to_owned()
        });
    }
    let remaining = plan.remaining.iter();
    head.extend(remaining.map(|found| format!("  [{}] {}", found.id, found.title.get(lang))));
    if !plan.untested.is_empty() {
        head.push(ui::PLAN_UNTESTED.get(lang));
        let untested = plan.untested.iter();
        head.extend(untested.map(|check| format!("  [{}] {}", check.id, check.reason.get(lang))));
    }
    if !plan.open.is_empty() {
        head.push(ui::PLAN_OPEN.get(lang));
        head.extend(plan.open.iter().map(|text| format!("  {}", text.get(lang))));
    }
    if plan.left_out > 0 {
        head.push(ui::PlanLeftOut { n: plan.left_out }.text().get(lang).to_owned());
    }
    head
}

fn script_step(step: &PlanStep, inside: bool, lang: Lang) -> ScriptStep {
    let title = step.text.get(lang);
    let findings = step.findings.join(", ");
    let title = match lang {
        Lang::En => format!("{title} ({findings})"),
        Lang::Zh => format!("{title}（{findings}）"),
    };
    let mut details = Vec::new();
    if step.phase.is_none() {
        details.push(ui::PLAN_LOOK.get(lang));
    }
    if !step.needs.is_empty() {
        let needs: Vec<String> =
            step.needs.iter().map(|need| requirement(*need).get(lang).to_owned()).collect();
        let needs = needs.join(if lang == Lang::Zh { "、" } else { ", " });
        details.push(ui::PlanNeeds { needs }.text().get(lang).to_owned());
    }
    let elsewhere = inside && step.needs.contains(&Requirement::Host);
    let restarts = step.phase == Some(Phase::Container);
    ScriptStep {
        title,
        details,
        runs_here: step.phase.is_some()
            && !elsewhere
            && !restarts
            && step.run.as_deref().is_some_and(is_complete),
        run: step.run.clone(),
    }
}

/// Whether a command has no placeholder to fill in manually (`…`, `<chip>`).
fn is_complete(run: &str) -> bool {
    let has_gap = run.split_whitespace().any(|word| {
        let gap = word.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        gap.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(char::is_alphanumeric))
    });
    !has_gap && !run.contains('…')
}

fn requirement(need: Requirement) -> Text {
    match need {
        Requirement::Root => ui::NEEDS_ROOT.text(),
        Requirement::Host => ui::NEEDS_HOST.text(),
        Requirement::Restart => ui::NEEDS_RESTART.text(),
        Requirement::Reboot => ui::NEEDS_REBOOT.text(),
        Requirement::Login => ui::NEEDS_LOGIN.text(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn gaps_are_seen() {
        assert!(is_complete("pip install 'numpy<2'"));
        assert!(is_complete("pip install 'numpy>=1,<2'"));
        assert!(!is_complete("docker run -v /a:/b …"));
        assert!(!is_complete("bash Ascend-cann-kernels-<chip>_8.1.RC1_linux-<arch>.run --install"));
    }
}
