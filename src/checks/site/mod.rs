//! The expectations of a site for its machines: `[expect]` of `ascend-doctor.toml`.
//!
//! Expectations are data: each names a fact and a condition. One function looks up the fact, and
//! another compares it. An unknown fact never counts as expected.

mod expectation;
mod judge;
mod observe;
mod range;
mod read;
mod written;

use base::report::{Evidence, Finding, Report};
use base::text::Text;
use data::findings::{
    site_env, site_file, site_hardware, site_limit, site_mount, site_network, site_package,
    site_version,
};
use data::{Catalog, Outcome, RawFinding, Reason};
use facts::Facts;

use super::check::Area;
use super::{Check, Context, Family, Profile};
pub use expectation::{Entry, Expectations, GROUPS};
use expectation::{Expectation, Subject};
pub use written::write;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Site, site_hardware::ID, hardware),
    Check::new(Family::Site, site_version::ID, version).concludes_from(&[Area::AnyCann]),
    Check::new(Family::Site, site_package::ID, package).concludes_from(&[Area::Packages]),
    Check::new(Family::Site, site_env::ID, env),
    Check::new(Family::Site, site_file::ID, file),
    Check::new(Family::Site, site_mount::ID, mount),
    Check::new(Family::Site, site_limit::ID, limit),
    Check::new(Family::Site, site_network::ID, network),
];

/// The link of the goals to which these checks belong.
pub(super) const LINK: &str = "site";

/// A part of the expectations with a separate check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Hardware,
    Version,
    Package,
    Env,
    File,
    Mount,
    Limit,
    Network,
}

impl Subject {
    const fn group(&self) -> Group {
        match self {
            Self::Npus | Self::Dies | Self::Chip => Group::Hardware,
            Self::Driver | Self::Firmware | Self::Cann | Self::Kernel | Self::Os => Group::Version,
            Self::Package(_) => Group::Package,
            Self::Env(_) => Group::Env,
            Self::File(_) => Group::File,
            Self::Mount(_) => Group::Mount,
            Self::Limit(_)
            | Self::Hugepages
            | Self::TransparentHugepages
            | Self::CpuGovernor
            | Self::Shm => Group::Limit,
            Self::Interface(_) | Self::DefaultRoute | Self::Nameserver(_) | Self::Host(_) => {
                Group::Network
            }
        }
    }
}

/// The texts of a deviation.
struct Words<'a> {
    what: Text,
    seen: Text,
    wanted: Text,
    place: &'a str,
    /// The message of the site.
    said: Option<&'a Text>,
}

/// Defines the check of a group: its messages have the same form.
macro_rules! check {
    ($name:ident, $group:expr, $module:ident) => {
        fn $name(ctx: &Context<'_>) -> Outcome {
            judge_group(ctx, $group, |words| {
                let Words { what, seen, wanted, place, said } = words;
                match said {
                    None => $module::Differs { place, seen, wanted, what }.error(),
                    Some(said) => {
                        $module::Said { place, said: said.clone(), seen, wanted, what }.error()
                    }
                }
            })
        }
    };
}

check!(hardware, Group::Hardware, site_hardware);
check!(version, Group::Version, site_version);
check!(package, Group::Package, site_package);
check!(env, Group::Env, site_env);
check!(file, Group::File, site_file);
check!(mount, Group::Mount, site_mount);
check!(limit, Group::Limit, site_limit);
check!(network, Group::Network, site_network);

fn judge_group(
    ctx: &Context<'_>,
    group: Group,
    finding: impl Fn(Words<'_>) -> RawFinding,
) -> Outcome {
    let Some(site) = ctx.site else { return Outcome::NotApplicable(Reason::SiteNothing) };
    let own = || site.entries.iter().filter(|entry| entry.subject.group() == group);
    if own().next().is_none() {
        return Outcome::NotApplicable(Reason::SiteNothing);
    }
    let found: Vec<RawFinding> =
        own().filter_map(|entry| deviation(ctx.facts, site, entry, &finding)).collect();
    if !found.is_empty() {
        return Outcome::Found(found);
    }
    match own().find_map(|entry| unknown(ctx.facts, entry)) {
        Some(reason) => Outcome::NotChecked(reason),
        None => Outcome::Passed,
    }
}

fn deviation(
    facts: &Facts,
    site: &Expectations,
    entry: &Expectation,
    finding: &impl Fn(Words<'_>) -> RawFinding,
) -> Option<RawFinding> {
    let observation = observe::observe(facts, &entry.subject);
    if judge::holds(&entry.subject, &entry.condition, &observation.seen) != Some(false) {
        return None;
    }
    let place = format!("{}:{}", site.file, entry.line);
    let words = Words {
        what: observe::name(&entry.subject),
        seen: judge::seen(&entry.subject, &entry.condition, &observation.seen),
        wanted: judge::wanted(&entry.subject, &entry.condition),
        place: &place,
        said: entry.message.as_ref(),
    };
    let mut found = finding(words);
    found.severity = entry.severity;
    let found = observation.evidence.into_iter().fold(found, RawFinding::evidence);
    Some(found.evidence(Evidence::option(&place)))
}

/// The reason why an expectation cannot be evaluated.
fn unknown(facts: &Facts, entry: &Expectation) -> Option<Reason> {
    let observation = observe::observe(facts, &entry.subject);
    let known = judge::holds(&entry.subject, &entry.condition, &observation.seen);
    known.is_none().then(|| Reason::SiteUnknown { what: entry.key.clone() })
}

/// The reason for the first expectation that cannot be evaluated, even if its group has findings
/// that hide it. Expectations below the severity error count as well, because an unknown result is
/// not a proof.
pub(super) fn not_examined(ctx: &Context<'_>) -> Option<Reason> {
    ctx.site?.entries.iter().find_map(|entry| unknown(ctx.facts, entry))
}

/// The deviations of a machine from the expectations, and the reason why some cannot be evaluated.
pub fn judge_facts(facts: &Facts, site: &Expectations) -> (Vec<Finding>, Option<Text>) {
    let ctx = Context { site: Some(site), ..Context::of(facts, Profile::General) };
    let mut report = Report::new("check", "");
    for check in CHECKS {
        Catalog::builtin().record(check.id, (check.run)(&ctx), &mut report);
    }
    let unknown = not_examined(&ctx).map(|reason| Catalog::builtin().reason(&reason));
    (report.findings, unknown)
}
