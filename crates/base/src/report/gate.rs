//! The gate: derives the exit status from verdict and findings. It never changes the verdict.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Coverage, Finding, Link, Severity, Verdict};

/// Minimum severity at which a finding makes the exit status 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// Errors only; for operators, those that raise an error.
    #[default]
    #[value(alias = "unsupported")]
    Error,
    /// Errors and warnings; for operators, also those that fall back to the CPU.
    #[value(alias = "fallback")]
    Warning,
    /// Findings and failed verdicts do not set exit status 1.
    Never,
}

impl FailOn {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Never => "never",
        }
    }
}

/// Exit status of an inconclusive verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnInconclusive {
    /// Status 3.
    #[default]
    Report,
    /// Status 1, as on failure.
    Fail,
    /// Status 0, as on success.
    Allow,
}

impl OnInconclusive {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Fail => "fail",
            Self::Allow => "allow",
        }
    }
}

/// The exit status of a run: one meaning in every subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: nothing at or above the fail level.
    Clean,
    /// 1: a failed verdict, or a finding at or above the fail level.
    Findings,
    /// 2: wrong usage, or the tool itself could not work.
    Failure,
    /// 3: inconclusive, because time, permission or evidence was missing.
    Inconclusive,
}

impl ExitStatus {
    /// The exit status for the operating system.
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Failure => 2,
            Self::Inconclusive => 3,
        }
    }
}

/// An option or a setting that changed the gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateSetting {
    /// Its name: `--fail-on` of the command line, `fail-on` of a file.
    pub name: String,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The file that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl GateSetting {
    /// An option of the command line.
    pub fn option(name: &str, value: Option<String>) -> Self {
        Self { name: name.to_owned(), value, ..Self::default() }
    }

    /// A setting of a file.
    pub fn setting(name: &str, value: String, file: &str, line: Option<usize>) -> Self {
        Self { name: name.to_owned(), value: Some(value), file: Some(file.to_owned()), line }
    }
}

impl fmt::Display for GateSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(value) = &self.value {
            write!(f, " {value}")?;
        }
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " ({file}:{line})"),
            (Some(file), None) => write!(f, " ({file})"),
            (None, _) => Ok(()),
        }
    }
}

/// The policy of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    /// The fail level.
    pub fail_on: FailOn,
    /// Policy for an inconclusive verdict.
    pub on_inconclusive: OnInconclusive,
    /// Fail levels of families of findings, by the start of their IDs. They replace `fail_on`.
    pub families: BTreeMap<String, FailOn>,
    /// Options and settings that changed the gate.
    pub settings: Vec<GateSetting>,
}

impl Gate {
    /// Returns whether the exit status follows from verdict and findings as it does without any
    /// setting.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether this finding makes the exit status 1.
    pub fn fails(&self, finding: &Finding) -> bool {
        match self.own_level(&finding.id).unwrap_or(self.fail_on) {
            FailOn::Error => finding.severity >= Severity::Error,
            FailOn::Warning => finding.severity >= Severity::Warning,
            FailOn::Never => false,
        }
    }

    /// The fail level of the family of a finding, if it has its own.
    fn own_level(&self, id: &str) -> Option<FailOn> {
        self.families.get(id.split('-').next()?).copied()
    }

    /// Returns whether the gate is open for a contradicted link: only findings contradict it, and
    /// all of them belong to families that never fail the run.
    pub fn excuses(&self, link: &Link) -> bool {
        let never = |id: &String| self.own_level(id) == Some(FailOn::Never);
        match &link.coverage {
            Coverage::Contradicted { findings, .. } => {
                !findings.is_empty() && findings.iter().all(never)
            }
            _ => false,
        }
    }

    /// The exit status. `verdict` is `None` for reports that only show something.
    pub fn exit_status(&self, verdict: Option<Verdict>, findings: &[Finding]) -> ExitStatus {
        let failed = verdict == Some(Verdict::Fail) && self.fail_on != FailOn::Never;
        if failed || findings.iter().any(|finding| self.fails(finding)) {
            return ExitStatus::Findings;
        }
        match (verdict, self.on_inconclusive) {
            (Some(Verdict::Inconclusive), OnInconclusive::Report) => ExitStatus::Inconclusive,
            (Some(Verdict::Inconclusive), OnInconclusive::Fail) => ExitStatus::Findings,
            _ => ExitStatus::Clean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use {FailOn as F, OnInconclusive as I, Verdict as V};

    #[test]
    fn exit_status_follows_verdict_level_and_policy() {
        let warning = [Finding { severity: Severity::Warning, ..Finding::remark("A") }];
        let status = |verdict, fail_on, on_inconclusive, findings: &[Finding]| {
            let gate = Gate { fail_on, on_inconclusive, ..Gate::default() };
            gate.exit_status(verdict, findings).code()
        };
        assert_eq!(status(Some(V::Pass), F::Error, I::Report, &warning), 0);
        assert_eq!(status(Some(V::Pass), F::Warning, I::Report, &warning), 1);
        assert_eq!(status(Some(V::Fail), F::Error, I::Report, &warning), 1);
        assert_eq!(status(Some(V::Fail), F::Never, I::Report, &warning), 0);
        assert_eq!(status(Some(V::Inconclusive), F::Error, I::Report, &[]), 3);
        assert_eq!(status(Some(V::Inconclusive), F::Never, I::Report, &[]), 3);
        assert_eq!(status(Some(V::Inconclusive), F::Error, I::Allow, &[]), 0);
        assert_eq!(status(Some(V::Inconclusive), F::Warning, I::Allow, &warning), 1);
        assert_eq!(status(Some(V::Inconclusive), F::Error, I::Fail, &[]), 1);
        assert_eq!(status(None, F::Error, I::Report, &[]), 0);
    }

    #[test]
    fn families_have_their_own_level() {
        let families = [("NET", F::Never), ("ENV", F::Warning)];
        let families = families.map(|(family, level)| (family.to_owned(), level)).into();
        let gate = Gate { families, ..Gate::default() };
        let finding = |id: &str, severity| Finding { severity, ..Finding::remark(id) };
        assert!(!gate.fails(&finding("NET-HCCN", Severity::Error)));
        assert!(gate.fails(&finding("ENV-PATH", Severity::Warning)));
        assert!(!gate.fails(&finding("DEV-NODES", Severity::Warning)));
        assert!(gate.fails(&finding("DEV-NODES", Severity::Error)));
        assert!(gate.fails(&finding("NETWORK-X", Severity::Error)), "another family");
    }
}
