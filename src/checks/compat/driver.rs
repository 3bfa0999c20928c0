//! The driver with CANN, and features that need a newer one.

use super::{Context, InUse, at_most, matrix_evidence};
use crate::chip::chip;
use base::report::{Evidence, Outcome, RawFinding, Severity};
use base::version::{DottedVersion, InnerVersion};
use data::matrix::{CannSide, DriverSide, DriverSupport};
use facts::Facts;

/// What is known of the driver.
struct Driver<'a> {
    version: Option<DottedVersion>,
    inner: Option<InnerVersion>,
    accepts: Option<&'a str>,
    evidence: Evidence,
}

impl<'a> Driver<'a> {
    /// From `version.info`; in a container that does not show it, from the head of npu-smi.
    fn of(facts: &'a Facts) -> Option<Self> {
        if let Some(info) = &facts.driver.version {
            let text = info.get("Version").or_else(|| info.get("package_version"));
            let inner = info.get("Innerversion");
            let shown = [text, inner].into_iter().flatten().collect::<Vec<_>>().join(", ");
            return Some(Self {
                version: text.and_then(|text| text.parse().ok()),
                inner: inner.and_then(|inner| inner.parse().ok()),
                accepts: info.get("compatible_version").filter(|list| !list.is_empty()),
                evidence: info.place("Version").value(shown),
            });
        }
        let smi = facts.driver.npu_smi.as_ref()?;
        let text = smi.version.as_deref()?;
        Some(Self {
            version: text.parse().ok(),
            inner: None,
            accepts: None,
            evidence: Evidence::command(&smi.source).value(text),
        })
    }
}

pub(super) fn with_cann(ctx: &Context<'_>) -> Outcome {
    let Some(driver) = Driver::of(ctx.facts) else {
        return Outcome::not_applicable("no_driver");
    };
    let cann = match InUse::of(ctx.facts) {
        Ok(cann) => cann,
        Err(outcome) => return outcome,
    };
    let info = cann.install.info.as_ref();
    let inner: Option<InnerVersion> = info.and_then(|info| info.get("innerversion")?.parse().ok());
    let support = ctx.matrix.driver_with_cann(
        DriverSide {
            version: driver.version.as_ref(),
            inner: driver.inner.as_ref(),
            accepts: driver.accepts,
        },
        CannSide {
            version: Some(&cann.version),
            inner: inner.as_ref(),
            accepts: info
                .and_then(|info| info.get("compatible_version"))
                .filter(|list| !list.is_empty()),
        },
    );
    let shown = driver.version.as_ref().map(ToString::to_string);
    let shown = shown.or(driver.inner.as_ref().map(ToString::to_string)).unwrap_or_default();
    let found = |severity, message| {
        let mut cann_evidence = cann.evidence();
        if let Some(info) = info
            && let Some(list) = info.get("compatible_version")
        {
            cann_evidence = info
                .place("compatible_version")
                .value(format!("{}, compatible_version={list}", cann.version));
        }
        RawFinding::new("DRV-CANN", message, severity)
            .arg("driver", &shown)
            .arg("cann", cann.version.to_string())
            .arg("chip", chip(ctx.facts).map_or("<chip>".to_owned(), |c| c.family.to_string()))
            .arg("arch", ctx.facts.host.arch.clone().unwrap_or_else(|| "<arch>".to_owned()))
            .evidence(driver.evidence.clone())
            .evidence(cann_evidence)
    };
    let limit = if cann.is_prerelease() { Severity::Warning } else { Severity::Error };
    match support {
        DriverSupport::Paired { .. } | DriverSupport::Listed { .. } | DriverSupport::Within => {
            Outcome::Passed
        }
        DriverSupport::NewerDriver { newest } => {
            vec![found(Severity::Info, "newer_driver").arg("newest", newest)].into()
        }
        DriverSupport::NewerCann => {
            Outcome::not_checked("newer_than_matrix", format!("CANN {}", cann.version))
        }
        DriverSupport::Unknown => Outcome::not_checked(
            "not_in_matrix",
            format!("driver {shown} with CANN {}", cann.version),
        ),
        DriverSupport::Unverified { expected } if expected.is_empty() => {
            vec![found(Severity::Warning, "unlisted")].into()
        }
        DriverSupport::Unverified { expected } => vec![
            found(Severity::Warning, "unverified")
                .arg("newest", expected.last().cloned().unwrap_or_default())
                .arg("expected", expected.join(", "))
                .evidence(matrix_evidence(ctx, &expected.join(", "))),
        ]
        .into(),
        DriverSupport::TooOld { oldest, expected } => vec![
            found(at_most(Severity::Error, limit), "too_old")
                .arg("oldest", &oldest)
                .arg("newest", expected.last().cloned().unwrap_or(oldest))
                .arg("expected", expected.join(", "))
                .evidence(matrix_evidence(ctx, &expected.join(", "))),
        ]
        .into(),
    }
}

/// Features that the environment switches on, and that the driver or CANN is too old for.
pub(super) fn features(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::not_checked("env_unknown", "");
    }
    let chip = chip(ctx.facts);
    let driver = Driver::of(ctx.facts);
    let cann = InUse::of(ctx.facts).ok();
    let mut used = false;
    let mut all = Vec::new();
    for gate in &ctx.matrix.gates {
        let (Some(name), Some(part)) = (&gate.env, &gate.env_contains) else { continue };
        let Some(value) = env.non_empty(name) else { continue };
        let plain: String = value.chars().filter(|c| !c.is_whitespace()).collect();
        if !plain.split([',', ';']).any(|entry| entry.eq_ignore_ascii_case(part)) {
            continue;
        }
        let excepted =
            chip.as_ref().map(|chip| chip.family.as_str()) == gate.except_chip.as_deref();
        if excepted && gate.except_chip.is_some() {
            continue;
        }
        used = true;
        let found = |message| {
            RawFinding::info("DRV-FEATURES", message)
                .arg("variable", name)
                .arg("setting", part)
                .evidence(Evidence::env(name).value(value))
                .evidence(matrix_evidence(ctx, &gate.source))
        };
        if let (Some(driver), Some(needed)) = (&driver, &gate.min_driver)
            && let Some(version) = &driver.version
            && *version < needed.0
        {
            all.push(
                found("driver")
                    .arg("needed", needed.to_string())
                    .arg("found", version.to_string())
                    .evidence(driver.evidence.clone()),
            );
        } else if let (Some(cann), Some(needed)) = (&cann, &gate.min_cann)
            && cann.version.base() < needed.0
        {
            all.push(
                found("cann")
                    .arg("needed", needed.to_string())
                    .arg("found", cann.version.to_string())
                    .evidence(cann.evidence()),
            );
        }
    }
    if used { all.into() } else { Outcome::not_applicable("no_gated_feature") }
}
