//! Compares versions with the compatibility matrix.
//!
//! No check in this module gives an error for a version that is missing in the matrix. A
//! development build is compared as the version it belongs to and gives at most an info; a
//! pre-release of CANN gives at most a warning.

mod driver;
mod mindspore;
mod numpy;
mod torch_npu;
mod vllm;

pub(super) use vllm::lacks_triton;

use data::{
    Outcome, Reason,
    findings::{drv_cann, drv_features, ms_cann, py_numpy, tnpu_matrix, vllm_pair, vllm_stack},
};
use pep440_rs::Version;

use super::{Check, Context, Family};
use base::report::{Evidence, Severity};
use base::version::{CannVersion, Stage};
use facts::{CannInstall, Dist, Facts};

/// The checks that use the matrix, of several families.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Driver, drv_cann::ID, driver::with_cann),
    Check::new(Family::Driver, drv_features::ID, driver::features),
    Check::new(Family::Python, py_numpy::ID, numpy::numpy),
    Check::new(Family::TorchNpu, tnpu_matrix::ID, torch_npu::with_cann),
    Check::new(Family::Vllm, vllm_pair::ID, vllm::pair),
    Check::new(Family::Vllm, vllm_stack::ID, vllm::stack),
    Check::new(Family::MindSpore, ms_cann::ID, mindspore::with_cann),
];

/// The CANN that a workload would use.
struct InUse<'a> {
    install: &'a CannInstall,
    version: CannVersion,
}

impl<'a> InUse<'a> {
    /// The CANN in use, or the outcome that states why there is none.
    fn of(facts: &'a Facts) -> Result<Self, Outcome> {
        let install = facts.cann.active().ok_or(Outcome::NotApplicable(Reason::NoCann))?;
        let version = install.stated_version().and_then(|version| version.parse().ok());
        let version = version.ok_or_else(|| Outcome::NotChecked(no_version_of(install)))?;
        Ok(Self { install, version })
    }

    /// The place of its version.
    fn evidence(&self) -> Evidence {
        self.install.version_place().value(self.version.to_string())
    }

    /// Returns whether it is an alpha or beta.
    fn is_prerelease(&self) -> bool {
        self.version.stage != Stage::Release
    }
}

/// The reason why the version of this CANN cannot be compared.
pub(super) fn no_version_of(install: &CannInstall) -> Reason {
    match install.version {
        Some(_) if install.stated_version().is_none() => {
            Reason::VersionByName { what: install.path.clone() }
        }
        _ => Reason::VersionUnknown { what: "CANN".to_owned() },
    }
}

/// The distribution with this normalized name and its version.
fn dist<'a>(facts: &'a Facts, name: &str) -> Option<(&'a Dist, Option<Version>)> {
    let dist = facts.python.dist(name)?;
    Some((dist, dist.version.parse().ok()))
}

/// The place of the version of a distribution.
fn dist_evidence(dist: &Dist) -> Evidence {
    dist.version_place()
}

/// Returns whether a version is a local build or a nightly.
fn is_development(version: &Version) -> bool {
    version.is_dev() || version.is_local()
}

/// The lower of the two.
fn at_most(severity: Severity, limit: Severity) -> Severity {
    severity.min(limit)
}

/// The interpreter to name in commands.
fn python(facts: &Facts) -> String {
    facts.python.command().to_owned()
}

/// `3.11` of the interpreter.
fn python_minor(facts: &Facts) -> Option<String> {
    let version = facts.python.interpreter.as_ref()?.version.as_deref()?;
    let mut parts = version.split('.');
    Some(format!("{}.{}", parts.next()?, parts.next()?))
}

/// The matrix, its date and the row.
fn matrix_evidence(ctx: &Context<'_>, source: &str) -> Evidence {
    Evidence::data(format!("compatibility matrix ({})", ctx.matrix.describe().en)).value(source)
}

#[cfg(test)]
mod tests;
