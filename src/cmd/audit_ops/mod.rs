//! `audit-ops`: which operators of a model have a kernel, before it runs.
#![expect(clippy::disallowed_methods, reason = "looks at directories that the user named")]

mod inputs;
mod links;
pub(super) mod target;

use data::{OrFault as _, faults};
use std::path::Path;

use anyhow::ensure;

use audit::cann::Cann;
use audit::dtype::dtype;
use audit::ops::Tables;
use audit::python;
use audit::release::SelectedRelease;
use audit::report::{ChangedSource, PatchMembers, Request, build};
use base::chip::ChipFamily;
use base::report::{ExitStatus, Report};
use convert::diff;

use super::finish;
use super::machine::this_machine;
use super::output::Output;
use super::requested::Shortened;
use crate::cli::AuditOpsArgs;

/// The target of the audit, from the command line and the machine.
struct About {
    chip: Option<ChipFamily>,
    cann: Option<Cann>,
    release: SelectedRelease,
    shortened: Shortened,
}

impl About {
    fn find(args: &AuditOpsArgs, tables: &'static Tables) -> anyhow::Result<Self> {
        let this = this_machine();
        let mut shortened = Shortened::default();
        Ok(Self {
            chip: target::chip(args, &this, &mut shortened)?,
            cann: target::cann(args, &this, &mut shortened)?,
            release: target::release(args, &this, tables, &mut shortened)?,
            shortened,
        })
    }
}

pub(super) fn run(args: &AuditOpsArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let (mut report, changed) = report_of(args, output.format().is_json())?;
    if args.suggest {
        report.patches.extend(changed.iter().filter_map(patch));
        let patches = report.patches.clone();
        report.add_members(&PatchMembers { patches: &patches });
    }
    finish(report, output)
}

/// The report on the inputs, and the changes that it suggests. With `data`, the report has the JSON
/// members.
pub(super) fn report_of(
    args: &AuditOpsArgs,
    data: bool,
) -> anyhow::Result<(Report, Vec<ChangedSource>)> {
    for site in &args.site {
        // A missing directory would otherwise silently disable the search.
        let shown = site.display();
        let meta =
            std::fs::metadata(site).or_fault(|| faults::CannotReadSite { path: &shown }.fault())?;
        ensure!(meta.is_dir(), faults::SiteNotDirectory { path: &shown }.fault());
    }
    let dtype = args.assume_dtype.as_deref().map(dtype).transpose()?;
    let tables = Tables::get;
    let options = python::Options {
        follow: args.follow_imports,
        site: args.site.clone(),
        backward: args.backward,
        suggest: args.suggest,
    };
    let open = || inputs::open(&args.inputs, &options);
    // A single model is read before other threads start. The files of a directory are read and
    // parsed while other threads unpack the tables and examine the machine.
    let (about, inputs) = if args.inputs.iter().any(|path| path.is_dir()) {
        inputs::prepare();
        let (about, inputs) = rayon::join(|| About::find(args, tables()), open);
        (about?, inputs)
    } else {
        (About::find(args, tables())?, open())
    };
    let About { chip, cann, release, shortened } = about;
    let subject = args.inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let request = Request {
        subject: subject.join(" "),
        release: &release,
        chip,
        cann: cann.as_ref(),
        dtype,
        all: args.all,
        all_versions: args.all_versions,
        suggest: args.suggest,
        data,
    };
    let built = build(&request, inputs, tables());
    let (mut report, changed) = built?;
    shortened.add_to(&mut report);
    Ok((report, changed))
}

/// Returns the changes of one source in the form of `convert`.
fn patch(changed: &ChangedSource) -> Option<String> {
    let ChangedSource { name, before, after } = changed;
    let mut out = Vec::new();
    diff::unified(Path::new(name), before.as_bytes(), after.as_bytes(), false, &mut out).ok()?;
    String::from_utf8(out).ok()
}
