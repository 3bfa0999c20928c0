//! Compatibility of the driver with CANN, and features that need a newer driver.

use super::{Context, InUse, at_most, matrix_evidence};
use crate::chip::chip;
use crate::npu;
use base::report::{Evidence, Severity};
use base::version::{DottedVersion, InnerVersion};
use data::{
    Outcome, RawFinding, Reason,
    findings::{drv_cann, drv_features},
    matrix::{CannSide, DriverSide, DriverSupport},
};
use facts::Facts;

/// The known facts about the driver.
struct Driver<'a> {
    version: Option<DottedVersion>,
    inner: Option<InnerVersion>,
    accepts: Option<&'a str>,
    evidence: Evidence,
}

impl<'a> Driver<'a> {
    /// From `version.info`, or from the header of npu-smi in a container without that file.
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
        // Its libraries or devices exist, so the driver is installed with an unknown version.
        return if npu::has_driver(ctx.facts) {
            Outcome::NotChecked(Reason::VersionUnknown { what: "driver".to_owned() })
        } else {
            Outcome::NotApplicable(Reason::NoDriver)
        };
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
    let with_evidence = |found: RawFinding| {
        let mut cann_evidence = cann.evidence();
        if let Some(info) = info
            && let Some(list) = info.get("compatible_version")
        {
            cann_evidence = info
                .place("compatible_version")
                .value(format!("{}, compatible_version={list}", cann.version));
        }
        found.evidence(driver.evidence.clone()).evidence(cann_evidence)
    };
    let driver = &shown;
    let chip = chip(ctx.facts).map_or("<chip>".to_owned(), |chip| chip.family.to_string());
    let arch = ctx.facts.host.arch.as_deref().unwrap_or("<arch>");
    let installed = &cann.version;
    let limit = if cann.is_prerelease() { Severity::Warning } else { Severity::Error };
    match support {
        DriverSupport::Paired { .. } | DriverSupport::Listed { .. } | DriverSupport::Within => {
            Outcome::Passed
        }
        DriverSupport::NewerDriver { newest } => {
            vec![with_evidence(drv_cann::NewerDriver { driver, cann: installed, newest }.info())]
                .into()
        }
        DriverSupport::NewerCann => {
            Outcome::NotChecked(Reason::NewerThanMatrix { what: format!("CANN {}", cann.version) })
        }
        DriverSupport::Unknown => Outcome::NotChecked(Reason::NotInMatrix {
            what: if shown.is_empty() {
                format!("a driver without version with CANN {}", cann.version)
            } else {
                format!("driver {shown} with CANN {}", cann.version)
            },
        }),
        DriverSupport::Unverified { expected } if expected.is_empty() => {
            vec![with_evidence(drv_cann::Unlisted { driver, cann: installed }.warning())].into()
        }
        DriverSupport::Unverified { expected } => {
            let newest = expected.last().cloned().unwrap_or_default();
            let (cann, expected) = (installed, &expected.join(", "));
            let found = drv_cann::Unverified { arch, cann, chip, driver, expected, newest };
            let evidence = matrix_evidence(ctx, expected);
            vec![with_evidence(found.warning()).evidence(evidence)].into()
        }
        DriverSupport::TooOld { oldest, expected } => {
            let newest = expected.last().unwrap_or(&oldest);
            let (cann, expected) = (installed, &expected.join(", "));
            let oldest = &oldest;
            let found = drv_cann::TooOld { arch, cann, chip, driver, expected, newest, oldest };
            let severity = at_most(Severity::Error, limit);
            vec![with_evidence(found.at(severity)).evidence(matrix_evidence(ctx, expected))].into()
        }
    }
}

/// Finds features that the environment enables and that the driver or CANN is too old for.
pub(super) fn features(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::NotChecked(Reason::EnvUnknown);
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
        let (variable, setting) = (name, part);
        let with_evidence = |found: RawFinding| {
            found
                .evidence(Evidence::env(name).value(value))
                .evidence(matrix_evidence(ctx, &gate.source))
        };
        if let (Some(driver), Some(needed)) = (&driver, &gate.min_driver)
            && let Some(version) = &driver.version
            && *version < needed.0
        {
            all.push(
                with_evidence(
                    drv_features::Driver { variable, setting, needed, found: version }.info(),
                )
                .evidence(driver.evidence.clone()),
            );
        } else if let (Some(cann), Some(needed)) = (&cann, &gate.min_cann)
            && cann.version.base() < needed.0
        {
            all.push(
                with_evidence(
                    drv_features::Cann { variable, setting, needed, found: &cann.version }.info(),
                )
                .evidence(cann.evidence()),
            );
        }
    }
    if used { all.into() } else { Outcome::NotApplicable(Reason::NoGatedFeature) }
}
