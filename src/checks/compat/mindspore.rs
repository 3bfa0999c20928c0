//! Compatibility of MindSpore with CANN.

use super::{Context, InUse, dist, dist_evidence, matrix_evidence};
use data::{
    Outcome, Reason,
    findings::{cann_mixed, ms_cann},
    matrix::MindSporeSupport,
};

pub(super) fn with_cann(ctx: &Context<'_>) -> Outcome {
    let Some((package, _)) = dist(ctx.facts, "mindspore") else {
        return Outcome::NotApplicable(Reason::NoPackage { what: "MindSpore".to_owned() });
    };
    let cann = match InUse::of(ctx.facts) {
        Ok(cann) => cann,
        Err(outcome) => return outcome,
    };
    let Some(row) = ctx.matrix.mindspore(&package.version) else {
        return Outcome::NotChecked(Reason::NotInMatrix {
            what: format!("MindSpore {}", package.version),
        });
    };
    // MindSpore reads the version of the compiler component. Since 8.5 that version begins with the
    // numbers of the package; before, it was numbered independently (7.7 in CANN 8.1.RC1).
    let component = cann.install.components.get("compiler");
    let internal = component.and_then(|info| info.get("Version")).map(str::to_owned);
    let internal = internal.or_else(|| {
        let (major, minor) = cann.version.line();
        ((major, minor) >= (8, 5)).then(|| format!("{major}.{minor}"))
    });
    let evidence = || match (component, &internal) {
        (Some(info), Some(version)) => info.place("Version").value(version),
        _ => cann.evidence(),
    };
    let unlisted = || Reason::NotInMatrix {
        what: format!("MindSpore {} with CANN {}", package.version, cann.version),
    };
    match ctx.matrix.mindspore_with_cann(row, internal.as_deref(), Some(&cann.version)) {
        MindSporeSupport::Listed | MindSporeSupport::Documented => Outcome::Passed,
        MindSporeSupport::Unknown => Outcome::NotChecked(Reason::VersionUnknown {
            what: format!("the compiler of CANN {}", cann.version),
        }),
        MindSporeSupport::NotListed { accepted, older } => {
            let found = ms_cann::NotListed {
                accepted: accepted.join(", "),
                cann: cann.version.to_string(),
                compiler: internal.clone().unwrap_or_default(),
                mindspore: &package.version,
            };
            // CANN runs packages built for an older version. An older CANN does not have all
            // functions that MindSpore needs.
            let found = if older { found.error() } else { found.warning() };
            let found = found
                .evidence(dist_evidence(package))
                .evidence(evidence())
                .evidence(matrix_evidence(ctx, &row.source))
                .because(&[cann_mixed::ID]);
            Outcome::from_partial(vec![found], (!older).then(unlisted))
        }
        MindSporeSupport::OtherDocumented { cann: documented } => {
            let found = ms_cann::Other {
                cann: cann.version.to_string(),
                documented,
                mindspore: &package.version,
            }
            .info()
            .evidence(dist_evidence(package))
            .evidence(cann.evidence())
            .evidence(matrix_evidence(ctx, &row.source));
            Outcome::from_partial(vec![found], Some(unlisted()))
        }
    }
}
