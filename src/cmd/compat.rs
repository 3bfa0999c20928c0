//! `compat`: prints the compatibility matrix and says what to install on this machine.

use anyhow::Context as _;
use pep440_rs::Version;
use serde_json::json;

use super::finish;
use super::machine::{open_machine, read_facts};
use super::matrix::load_matrix;
use super::output::Output;
use crate::cli::CompatArgs;
use base::report::{ExitStatus, Finding, FixStep, Report};
use base::text::Text;
use checks::chip::chip;
use data::Matrix;
use data::matrix::{Advice, Machine, NoAdvice, Parsed, RequestedVersions, base};
use data::{sentence, words};
use facts::Facts;
use machine::collect::{self, Options};
use render::{CompatPage, Format, render_compat};

pub(super) fn run(args: &CompatArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let matrix = load_matrix(args.matrix.as_deref())?;
    let facts = if let Some(path) = &args.facts {
        read_facts(path)?
    } else {
        let sysroot = open_machine(&args.machine)?;
        let interpreter = args.interpreter.clone();
        let options =
            Options { hash: false, npu_smi: false, python: interpreter, ..Options::default() };
        collect::collect(&sysroot, &options)
    };
    let machine = machine(&facts, args);
    let wish = RequestedVersions {
        torch: args.torch.clone().map(Parsed),
        torch_npu: args.torch_npu.clone().map(Parsed),
        cann: args.cann.map(Parsed),
        vllm_ascend: args.vllm_ascend.clone().map(Parsed),
    };
    let mut advice = matrix.advise(&wish, &machine);
    let mut rows = filtered(&matrix, args);
    if let (Some(filters), Ok(given)) = (contradiction(&rows, args), &advice) {
        // Of what contradicts itself one part alone would have been answered.
        let known = matrix.torch_npu.iter().find(|row| row.version.to_string() == given.torch_npu);
        let known = known.map(|row| format!("torch_npu {} (torch {})", row.version, row.torch));
        let reason = sentence("compat_contradiction", &[("filters", filters)]);
        advice = Err(NoAdvice { reason, nearest: known.into_iter().collect() });
        rows.torch_npu.clear();
        rows.vllm_ascend.clear();
        rows.cann.clear();
        rows.pairs.clear();
        rows.mindspore.clear();
    }

    let subject = facts.host.name.clone().unwrap_or_else(|| facts.source.clone());
    let mut report = Report::new("compat", subject);
    report.provenance.push(("matrix".to_owned(), matrix.describe()));
    report.overview = overview(&machine);
    report.extra.insert("machine".to_owned(), json!(machine));
    report.extra.insert("wish".to_owned(), json!(wish));
    match &advice {
        Ok(advice) => {
            report.extra.insert("advice".to_owned(), json!(advice));
            report.notes.extend(advice.reasons.iter().cloned());
            report.notes.extend(advice.commands.iter().map(Text::same));
        }
        Err(none) => {
            let names = none.nearest.join(", ");
            let known = sentence("compat_nearest", &[("names", names)]);
            let mut reason = none.reason.clone();
            if !none.nearest.is_empty() {
                reason.en = format!("{}. {}", reason.en, known.en);
                reason.zh = format!("{}。{}", reason.zh, known.zh);
            }
            report.no_verdict.push(reason);
        }
    }
    if !matches!(output.format(), Format::Text | Format::Json) {
        report.notes.clear();
        report.findings.extend(advice.as_ref().ok().map(remark));
    }
    if output.format() != Format::Text {
        report.extra.insert("matrix".to_owned(), json!(rows));
        return finish(report, output);
    }
    let page = CompatPage { report: &report, matrix: &rows, advice: advice.as_ref().ok() };
    output
        .write(|out, style| render_compat(&page, style, out))
        .context("failed to write the matrix")?;
    Ok(report.exit_status())
}

/// The advice as a remark, so that its commands are commands in every format.
fn remark(advice: &Advice) -> Finding {
    let versions =
        format!("torch {}, torch_npu {}, CANN {}", advice.torch, advice.torch_npu, advice.cann);
    let install = words("compat_install");
    let reasons =
        |pick: fn(&Text) -> &str| advice.reasons.iter().map(pick).collect::<Vec<_>>().join("; ");
    Finding {
        title: Text::new(
            format!("{}: {versions}", install.en),
            format!("{}：{versions}", install.zh),
        ),
        cause: Text::new(reasons(|text| &text.en), reasons(|text| &text.zh)),
        fix: advice
            .commands
            .iter()
            .map(|command| FixStep { text: words("compat_run"), run: Some(command.clone()) })
            .collect(),
        refs: advice.sources.clone(),
        ..Finding::remark("compat/advice")
    }
}

/// What the advice rests on; options go before what was read.
fn machine(facts: &Facts, args: &CompatArgs) -> Machine {
    let interpreter = facts.python.interpreter.as_ref();
    let minor = |version: &str| {
        let mut parts = version.split('.');
        Some(format!("{}.{}", parts.next()?, parts.next()?))
    };
    let info = facts.driver.version.as_ref();
    let install = facts.cann.active();
    Machine {
        arch: args.arch.clone().or_else(|| facts.host.arch.clone()),
        python: args.python.clone().or_else(|| minor(interpreter?.version.as_deref()?)),
        interpreter: match &args.python {
            Some(version) => format!("python{version}"),
            None => facts.python.command().to_owned(),
        },
        driver: info
            .and_then(|info| info.get("Version").or_else(|| info.get("package_version")))
            .and_then(|text| text.parse().ok())
            .map(Parsed),
        driver_inner: info.and_then(|info| info.get("Innerversion")?.parse().ok()).map(Parsed),
        driver_accepts: info
            .and_then(|info| info.get("compatible_version"))
            .filter(|list| !list.is_empty())
            .map(str::to_owned),
        cann: install.and_then(facts::CannInstall::parsed_version).map(Parsed),
        set_env: install.and_then(|install| install.set_env.clone()),
        nnal_set_env: facts.cann.nnal.iter().find_map(|nnal| nnal.set_env.clone()),
        chip: chip(facts).map(|chip| chip.family.to_string()),
    }
}

fn overview(machine: &Machine) -> Vec<(Text, Text)> {
    let row = |label: Text, value: Option<String>| {
        (label, value.map_or_else(|| words("unknown_value"), Text::same))
    };
    vec![
        row(words("compat_arch"), machine.arch.clone()),
        row(Text::same("Python"), machine.python.clone()),
        row(words("compat_chip"), machine.chip.clone()),
        row(words("compat_driver"), machine.driver.as_ref().map(ToString::to_string)),
        row(Text::same("CANN"), machine.cann.as_ref().map(ToString::to_string)),
    ]
}

/// The filters, if there are several and no torch_npu is left by all of them.
fn contradiction(rows: &Matrix, args: &CompatArgs) -> Option<String> {
    let shown = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
    let filters: Vec<String> = [
        shown("torch", args.torch.as_ref().map(ToString::to_string)),
        shown("torch_npu", args.torch_npu.as_ref().map(ToString::to_string)),
        shown("CANN", args.cann.as_ref().map(ToString::to_string)),
        shown("vllm-ascend", args.vllm_ascend.as_ref().map(ToString::to_string)),
        shown("Python", args.python.clone()),
        args.arch.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let plugin = args.vllm_ascend.is_some() && rows.vllm_ascend.is_empty();
    (filters.len() > 1 && (rows.torch_npu.is_empty() || plugin)).then(|| filters.join(", "))
}

/// The rows that the filters leave.
fn filtered(matrix: &Matrix, args: &CompatArgs) -> Matrix {
    let mut rows = matrix.clone();
    let plugin = args.vllm_ascend.as_ref();
    if let Some(version) = plugin {
        let wanted = base(version);
        rows.vllm_ascend.retain(|row| row.version.0 == wanted);
    }
    let torch = args.torch.as_ref().map(Version::only_release);
    let pinned: Option<Vec<Version>> = plugin.map(|_| {
        let pins = rows.vllm_ascend.iter().flat_map(|row| &row.torch_npu);
        pins.map(|pin| base(pin)).collect()
    });
    rows.torch_npu.retain(|row| {
        torch.as_ref().is_none_or(|torch| row.torch.0 == *torch)
            && args.torch_npu.as_ref().is_none_or(|wanted| row.version.0 == base(wanted))
            && pinned.as_ref().is_none_or(|pins| pins.contains(&row.version.0))
            && args.python.as_ref().is_none_or(|python| row.pythons().contains(&python.as_str()))
            && args.arch.as_ref().is_none_or(|arch| row.wheels.contains_key(arch))
            && args.cann.is_none_or(|cann| matrix.accepts(&row.version, &cann))
    });
    rows.vllm_ascend.retain(|row| {
        torch.as_ref().is_none_or(|torch| row.torch.as_ref().is_none_or(|t| t.0 == *torch))
            && args
                .torch_npu
                .as_ref()
                .is_none_or(|npu| row.torch_npu.iter().any(|pin| base(pin) == base(npu)))
            && args.cann.is_none_or(|cann| row.cann.line() == cann.line())
    });
    if let Some(cann) = args.cann {
        rows.cann.retain(|row| row.version.line() == cann.line());
        rows.pairs.retain(|row| row.cann.line() == cann.line());
        rows.mindspore
            .retain(|row| row.cann.as_ref().is_some_and(|listed| listed.line() == cann.line()));
    } else if torch.is_some() || args.torch_npu.is_some() || plugin.is_some() {
        rows.mindspore.clear();
        rows.pairs.clear();
    }
    rows
}
