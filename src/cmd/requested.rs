//! Abbreviated versions and chips: their meaning, and the error for unknown ones.

use std::collections::BTreeMap;
use std::fmt::Display;

use pep440_rs::Version;
use serde::Serialize;

use crate::cli::VersionArgs;
use base::report::Report;
use base::text::{Text, escape_line};
use data::{
    faults,
    matrix::{Matrix, Parsed, RequestedVersions, Resolved, resolve_cann, resolve_version},
    ui,
};

/// The options with abbreviated values.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ResolvedMember<'a> {
    /// The values by option: `torch_npu` for `--torch-npu`.
    resolved: BTreeMap<String, Resolution<'a>>,
}

/// A value of an option and its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Resolution<'a> {
    /// The value as written by the user.
    asked: &'a str,
    /// The full value.
    resolved: &'a str,
}

/// Values of options that are a prefix of their meaning.
#[derive(Debug, Default)]
pub(super) struct Shortened(Vec<(&'static str, String, String)>);

impl Shortened {
    /// Records an option with the text of the user and its meaning.
    pub(super) fn note<V: Display>(&mut self, option: &'static str, resolved: &Resolved<V>) {
        if resolved.is_shortened() {
            self.add(option, &resolved.asked, &resolved.version.to_string());
        }
    }

    /// Like [`Self::note`], for values that are not versions.
    pub(super) fn add(&mut self, option: &'static str, asked: &str, meaning: &str) {
        self.0.push((option, escape_line(asked).into_owned(), meaning.to_owned()));
    }

    /// Adds the values to the text and the data of a report.
    pub(super) fn add_to(&self, report: &mut Report) {
        if self.0.is_empty() {
            return;
        }
        for (option, asked, meaning) in &self.0 {
            let said = ui::ResolvedValue { asked, meaning }.text();
            let label = ui::RESOLVED_LABEL.text();
            let said =
                Text::new(format!("{option}: {}", said.en), format!("{option}：{}", said.zh));
            report.overview.push((label, said));
        }
        let values = self.0.iter().map(|(option, asked, resolved)| {
            let key = option.trim_start_matches('-').replace('-', "_");
            (key, Resolution { asked, resolved })
        });
        report.add_members(&ResolvedMember { resolved: values.collect() });
    }
}

/// Resolves the versions of `compat`.
///
/// # Errors
///
/// For an unknown version, with the nearest ones.
pub(super) fn resolve_versions(
    args: &VersionArgs,
    matrix: &Matrix,
) -> anyhow::Result<(RequestedVersions, Shortened)> {
    let mut shortened = Shortened::default();
    let mut version = |option: &'static str, asked: &Option<String>, known: Vec<Version>| {
        let Some(asked) = asked else { return Ok(None) };
        let resolved =
            resolve_version(asked, known).map_err(|near| unknown(option, asked, &near))?;
        shortened.note(option, &resolved);
        anyhow::Ok(Some(Parsed(resolved.version)))
    };
    let torch = version("--torch", &args.torch, matrix.torch_versions().collect())?;
    let torch_npu = version("--torch-npu", &args.torch_npu, matrix.torch_npu_versions().collect())?;
    let plugin = matrix.vllm_ascend_versions().collect();
    let vllm_ascend = version("--vllm-ascend", &args.vllm_ascend, plugin)?;
    let cann = args.cann.as_deref().map(|asked| resolve_known_cann(asked, matrix)).transpose()?;
    if let Some(cann) = &cann {
        shortened.note("--cann", cann);
    }
    let cann = cann.map(|cann| Parsed(cann.version));
    Ok((RequestedVersions { torch, torch_npu, cann, vllm_ascend, mindspore: None }, shortened))
}

/// Resolves the version of `--cann`.
///
/// # Errors
///
/// For an unknown version, with the nearest ones.
pub(super) fn resolve_known_cann(
    asked: &str,
    matrix: &Matrix,
) -> anyhow::Result<Resolved<base::version::CannVersion>> {
    resolve_cann(asked, matrix.cann_versions()).map_err(|near| unknown("--cann", asked, &near))
}

/// The error for an unknown value of an option.
pub(super) fn unknown(option: &str, asked: &str, near: &[String]) -> anyhow::Error {
    let near: Vec<String> = near.iter().map(|near| format!("`{near}`")).collect();
    let (asked, near) = (escape_line(asked), Text::new(near.join(", "), near.join("、")));
    faults::UnknownValue { asked: asked.as_ref(), option, near }.fault().into()
}
