//! Finds versions that fit a request and a machine.
//!
//! Input: facts, the compatibility matrix, requested versions. Output: the report of `compat`, the
//! rows of the matrix that match, and the versions to install.

use pep440_rs::Version;

use base::chip::ChipFamily;
use base::report::{Finding, FixStep, Report};
use base::text::Text;
use base::version::{CannVersion, DottedVersion};
use data::{
    Matrix,
    matrix::{Machine, NoAdvice, Parsed, Plan, RequestedVersions, base},
    ui,
};
use facts::Facts;

use super::chip::chip;
use super::members::CompatMembers;

/// The requested versions and kind of machine.
#[derive(Debug, Clone, Default)]
pub struct CompatRequest {
    /// The versions to install.
    pub versions: RequestedVersions,
    /// The minor version of Python, such as `3.11`.
    pub python: Option<String>,
    /// The architecture, as `uname -m` prints it.
    pub arch: Option<String>,
    /// The driver.
    pub driver: Option<DottedVersion>,
    /// The chip.
    pub chip: Option<ChipFamily>,
}

/// The answer to a request.
#[derive(Debug)]
pub struct CompatAnswer {
    /// The report, without the rows.
    pub report: Report,
    /// The rows of the matrix that match the request.
    pub rows: Matrix,
    /// The versions to install, if there are any.
    pub advice: Option<Plan>,
}

/// Finds the versions that are compatible with a request and the machine.
pub fn find_compatible(facts: &Facts, matrix: &Matrix, request: &CompatRequest) -> CompatAnswer {
    let machine = describe_machine(facts, request);
    let mindspore = wanted_mindspore(facts, &request.versions);
    let mut advice = match &mindspore {
        Some(version) => {
            matrix.advise_mindspore(version, &request.versions, &machine).map(Plan::MindSpore)
        }
        None => matrix.advise(&request.versions, &machine).map(Plan::Torch),
    };
    let mut rows = filter_rows(matrix, request, mindspore.as_ref());
    if let (Some(filters), Ok(Plan::Torch(given))) = (find_contradiction(&rows, request), &advice) {
        // The advice would answer only one of the contradicting filters.
        let known = matrix.torch_npu.iter().find(|row| row.version.to_string() == given.torch_npu);
        let known = known.map(|row| format!("torch_npu {} (torch {})", row.version, row.torch));
        let reason = ui::CompatContradiction { filters }.text();
        advice = Err(NoAdvice { reason, nearest: known.into_iter().collect() });
        rows.torch_npu.clear();
        rows.vllm_ascend.clear();
        rows.cann.clear();
        rows.pairs.clear();
        rows.mindspore.clear();
    }

    let subject = facts.host.name.clone().unwrap_or_else(|| facts.source.clone());
    let mut report = Report::new("compat", subject);
    report.provenance.push(("matrix", matrix.describe()));
    report.overview = list_versions(&machine);
    report.add_members(&CompatMembers {
        machine: &machine,
        wish: &request.versions,
        advice: match &advice {
            Ok(Plan::Torch(advice)) => Some(advice),
            _ => None,
        },
        mindspore_advice: match &advice {
            Ok(Plan::MindSpore(advice)) => Some(advice),
            _ => None,
        },
    });
    match &advice {
        Ok(plan) => {
            report.notes.extend(plan.reasons().iter().cloned());
            report.notes.extend(plan.commands().iter().map(Text::same));
            // A stack that the driver may not support does not answer the question.
            let cann = plan.cann().parse().ok();
            report.unanswered.extend(cann.and_then(|cann| matrix.driver_gap(&machine, &cann)));
        }
        Err(none) => {
            let names = none.nearest.join(", ");
            let known = ui::CompatNearest { names }.text();
            let mut reason = none.reason.clone();
            if !none.nearest.is_empty() {
                reason.en = format!("{}. {}", reason.en, known.en);
                reason.zh = format!("{}。{}", reason.zh, known.zh);
            }
            report.unanswered.push(reason);
        }
    }
    let advice = advice.ok();
    CompatAnswer { report, rows, advice }
}

/// Returns the advice as a finding, so that every format shows its commands.
pub fn advice_as_finding(plan: &Plan) -> Finding {
    let versions = plan.versions();
    let install = ui::COMPAT_INSTALL.text();
    let reasons =
        |pick: fn(&Text) -> &str| plan.reasons().iter().map(pick).collect::<Vec<_>>().join("; ");
    let run =
        |command: &String| FixStep { text: ui::COMPAT_RUN.text(), run: Some(command.clone()) };
    Finding {
        title: Text::new(
            format!("{}: {}", install.en, versions.join(", ")),
            format!("{}：{}", install.zh, versions.join(", ")),
        ),
        cause: Text::new(reasons(|text| &text.en), reasons(|text| &text.zh)),
        fix: plan.commands().iter().map(run).collect(),
        refs: plan.sources().to_vec(),
        ..Finding::remark("compat/advice")
    }
}

/// The MindSpore version to plan for: the requested one, or the installed one of a machine without
/// another framework.
fn wanted_mindspore(facts: &Facts, wish: &RequestedVersions) -> Option<Version> {
    if let Some(version) = &wish.mindspore {
        return Some(version.0.clone());
    }
    let other = wish.torch.is_some() || wish.torch_npu.is_some() || wish.vllm_ascend.is_some();
    let python = &facts.python;
    let beside = ["torch", "torch-npu", "vllm", "vllm-ascend"];
    if other || beside.iter().any(|name| python.dist(name).is_some()) {
        return None;
    }
    python.dist("mindspore")?.version.parse().ok()
}

/// Returns the machine for which versions are chosen. The request overrides facts.
pub(super) fn describe_machine(facts: &Facts, request: &CompatRequest) -> Machine {
    let interpreter = facts.python.interpreter.as_ref();
    let minor = |version: &str| {
        let mut parts = version.split('.');
        Some(format!("{}.{}", parts.next()?, parts.next()?))
    };
    let info = facts.driver.version.as_ref();
    let own = info.filter(|_| request.driver.is_none());
    let install = facts.cann.active();
    Machine {
        arch: request.arch.clone().or_else(|| facts.host.arch.clone()),
        python: request.python.clone().or_else(|| minor(interpreter?.version.as_deref()?)),
        interpreter: match &request.python {
            Some(version) => format!("python{version}"),
            None => facts.python.command().to_owned(),
        },
        driver: request.driver.clone().map(Parsed).or_else(|| {
            info.and_then(|info| info.get("Version").or_else(|| info.get("package_version")))
                .and_then(|text| text.parse().ok())
                .map(Parsed)
        }),
        // The inner version and the accepted versions of the machine's driver do not apply to a
        // requested one.
        driver_inner: own.and_then(|info| info.get("Innerversion")?.parse().ok()).map(Parsed),
        driver_accepts: own
            .and_then(|info| info.get("compatible_version"))
            .filter(|list| !list.is_empty())
            .map(str::to_owned),
        cann: install.and_then(facts::CannInstall::parsed_version).map(Parsed),
        set_env: install.and_then(|install| install.set_env.clone()),
        nnal_set_env: facts.cann.nnal.iter().find_map(|nnal| nnal.set_env.clone()),
        chip: request.chip.or_else(|| Some(chip(facts)?.family)).map(|family| family.to_string()),
    }
}

/// Returns the overview of the report.
fn list_versions(machine: &Machine) -> Vec<(Text, Text)> {
    let row = |label: Text, value: Option<String>| {
        (label, value.map_or_else(|| ui::UNKNOWN_VALUE.text(), Text::same))
    };
    vec![
        row(ui::COMPAT_ARCH.text(), machine.arch.clone()),
        row(Text::same("Python"), machine.python.clone()),
        row(ui::COMPAT_CHIP.text(), machine.chip.clone()),
        row(ui::COMPAT_DRIVER.text(), machine.driver.as_ref().map(ToString::to_string)),
        row(Text::same("CANN"), machine.cann.as_ref().map(ToString::to_string)),
    ]
}

/// Returns the filters if there are several and no torch_npu matches all of them.
fn find_contradiction(rows: &Matrix, request: &CompatRequest) -> Option<String> {
    let shown = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
    let filters: Vec<String> = [
        shown("torch", request.versions.torch.as_ref().map(ToString::to_string)),
        shown("torch_npu", request.versions.torch_npu.as_ref().map(ToString::to_string)),
        shown("CANN", request.versions.cann.as_ref().map(ToString::to_string)),
        shown("vllm-ascend", request.versions.vllm_ascend.as_ref().map(ToString::to_string)),
        shown("Python", request.python.clone()),
        request.arch.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let plugin = request.versions.vllm_ascend.is_some() && rows.vllm_ascend.is_empty();
    (filters.len() > 1 && (rows.torch_npu.is_empty() || plugin)).then(|| filters.join(", "))
}

/// Returns the rows that match the request.
fn filter_rows(matrix: &Matrix, request: &CompatRequest, mindspore: Option<&Version>) -> Matrix {
    let wanted = &request.versions;
    let cann = wanted.cann.as_deref().copied();
    let mut rows = matrix.clone();
    if let Some(version) = mindspore {
        let listed = matrix.mindspore(&version.to_string()).map(|row| row.version.clone());
        rows.mindspore.retain(|row| Some(&row.version) == listed.as_ref());
        rows.torch_npu.clear();
        rows.vllm_ascend.clear();
        let lines: Vec<_> = cann
            .or_else(|| Some(rows.mindspore.first()?.cann.as_ref()?.0))
            .iter()
            .map(CannVersion::line)
            .collect();
        rows.cann.retain(|row| lines.contains(&row.version.line()));
        rows.pairs.retain(|row| lines.contains(&row.cann.line()));
        return rows;
    }
    let plugin = wanted.vllm_ascend.as_deref();
    if let Some(version) = plugin {
        let plugin_base = base(version);
        rows.vllm_ascend.retain(|row| row.version.0 == plugin_base);
    }
    let torch = wanted.torch.as_deref().map(Version::only_release);
    let pinned: Option<Vec<Version>> = plugin.map(|_| {
        let pins = rows.vllm_ascend.iter().flat_map(|row| &row.torch_npu);
        pins.map(|pin| base(pin)).collect()
    });
    rows.torch_npu.retain(|row| {
        torch.as_ref().is_none_or(|torch| row.torch.0 == *torch)
            && wanted.torch_npu.as_ref().is_none_or(|npu| row.version.0 == base(npu))
            && pinned.as_ref().is_none_or(|pins| pins.contains(&row.version.0))
            && row.runs_on(request.arch.as_deref(), request.python.as_deref())
            && cann.is_none_or(|cann| matrix.accepts(&row.version, &cann))
    });
    rows.vllm_ascend.retain(|row| {
        torch.as_ref().is_none_or(|torch| row.torch.as_ref().is_none_or(|t| t.0 == *torch))
            && wanted
                .torch_npu
                .as_ref()
                .is_none_or(|npu| row.torch_npu.iter().any(|pin| base(pin) == base(npu)))
            && cann.is_none_or(|cann| row.cann.line() == cann.line())
    });
    if let Some(cann) = cann {
        rows.cann.retain(|row| row.version.line() == cann.line());
        rows.pairs.retain(|row| row.cann.line() == cann.line());
        rows.mindspore
            .retain(|row| row.cann.as_ref().is_some_and(|listed| listed.line() == cann.line()));
    } else if torch.is_some() || wanted.torch_npu.is_some() || plugin.is_some() {
        rows.mindspore.clear();
        rows.pairs.clear();
    }
    rows
}
