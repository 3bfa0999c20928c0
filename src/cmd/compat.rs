//! `compat`: prints the compatibility matrix and the versions to install on this machine.

use data::{OrFault as _, faults};
use serde::Serialize;

use base::report::ExitStatus;
use base::text::nearest;
use checks::compat_advice::{CompatAnswer, CompatRequest, advice_as_finding, find_compatible};
use data::Matrix;
use data::matrix::{Parsed, resolve_version};
use machine::collect::{self, Options};
use render::{CompatPage, Format, render_compat};

use super::finish;
use super::machine::{open_machine, read_facts};
use super::matrix::load_matrix;
use super::output::Output;
use super::requested::{resolve_versions, unknown};
use crate::cli::CompatArgs;

/// The rows of the matrix that match the request.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct MatrixMember<'a> {
    /// The rows.
    matrix: &'a Matrix,
}

pub(super) fn run(args: &CompatArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let matrix = load_matrix(args.matrix.as_deref())?;
    // A version is used directly; an interpreter has to be examined.
    let (python, interpreter) = match args.python.as_deref() {
        Some(python) => match collect::python::python_version(python) {
            Some(version) => (Some(version), None),
            None => (None, Some(python.to_owned())),
        },
        None => (None, None),
    };
    let (mut versions, mut shortened) = resolve_versions(&args.versions, &matrix)?;
    if let Some(asked) = &args.mindspore {
        let known = matrix.mindspore_versions();
        let resolved =
            resolve_version(asked, known).map_err(|near| unknown("--mindspore", asked, &near))?;
        shortened.note("--mindspore", &resolved);
        versions.mindspore = Some(Parsed(resolved.version));
    }
    let driver = args.driver.as_deref().map(|asked| {
        asked.trim().parse().map_err(|_| {
            let known: Vec<_> = matrix.pairs.iter().map(|pair| pair.hdk.to_string()).collect();
            let mut near = nearest(asked.trim(), known.clone(), 4);
            if near.is_empty() {
                near = known.into_iter().take(3).collect();
            }
            unknown("--driver", asked, &near)
        })
    });
    let driver = driver.transpose()?;
    let chip = match &args.soc {
        Some(name) => {
            let family =
                base::chip_name::family(name).map_err(|near| unknown("--soc", name, &near))?;
            shortened.add("--soc", name, family.label());
            Some(family)
        }
        None => None,
    };
    let facts = if let Some(path) = &args.facts {
        read_facts(path)?
    } else {
        let sysroot = open_machine(&args.machine)?;
        let options =
            Options { hash: false, npu_smi: false, python: interpreter, ..Options::default() };
        collect::collect(&sysroot, &options)
    };
    let request = CompatRequest { versions, python, arch: args.arch.clone(), driver, chip };
    let CompatAnswer { mut report, rows, advice } = find_compatible(&facts, &matrix, &request);
    shortened.add_to(&mut report);
    if output.format() != Format::Text && !output.format().is_json() {
        report.notes.clear();
        report.findings.extend(advice.as_ref().map(advice_as_finding));
    }
    if output.format() != Format::Text {
        report.add_members(&MatrixMember { matrix: &rows });
        return finish(report, output);
    }
    let page = CompatPage { report: &report, matrix: &rows, advice: advice.as_ref() };
    output
        .write(|out, style| render_compat(&page, style, out))
        .or_fault(|| faults::FailedToWriteMatrix.fault())?;
    Ok(report.exit_status())
}
