//! The goal of a run, and the evidence for each of its links in the facts.
//!
//! A profile names the goal. Without one, the installed software suggests it. A machine without NPU
//! and driver has no goal that needs devices, unless the user requests one.

use std::collections::BTreeMap;

use base::report::{CheckState, Coverage, Finding, Link, Need, Proof, RuleResult};
use base::text::Text;
use data::{
    Catalog, Reason,
    goals::{self, LinkDefinition},
    ui,
};
use facts::Facts;

use super::check::Context;
use super::profile::Profile;
use super::{Check, npu, overview, scan, site};

/// Returns the ID of the goal in `data/goals.toml`.
pub(super) fn select(ctx: &Context<'_>) -> &'static str {
    match ctx.profile {
        Profile::MultiNode => "multi-node",
        Profile::Container => "container",
        Profile::Build => "build",
        Profile::Node => "node",
        Profile::Import => "import",
        Profile::Torch => "torch",
        Profile::Vllm => "vllm",
        Profile::Sglang => "sglang",
        Profile::Mindspore => "mindspore",
        Profile::Inference => framework_goal(ctx.facts).unwrap_or("torch"),
        Profile::Train if framework_goal(ctx.facts) == Some("mindspore") => "mindspore",
        Profile::Train => "train",
        Profile::General => suggested(ctx),
    }
}

/// Returns the goal that the installed software suggests.
fn suggested(ctx: &Context<'_>) -> &'static str {
    let facts = ctx.facts;
    let has_npu = npu::visible(facts) || npu::has_driver(facts) || ctx.require_npu;
    if !has_npu {
        return if npu::has_stack(facts) { "image" } else { "inventory" };
    }
    match framework_goal(facts) {
        Some(goal) => goal,
        None if !facts.cann.installs.is_empty() => "cann",
        None => "node",
    }
}

/// Returns the goal of the installed framework.
fn framework_goal(facts: &Facts) -> Option<&'static str> {
    let has = |name: &str| facts.python.dist(name).is_some();
    // sglang uses parts of vllm, so vllm without its plug-in is not the server there.
    if has("vllm-ascend") || has("vllm") && !has("sglang") {
        Some("vllm")
    } else if has("sglang") {
        Some("sglang")
    } else if has("torch-npu") {
        Some("torch")
    } else if has("mindspore") {
        Some("mindspore")
    } else {
        // A named interpreter that does not exist was named for a framework.
        let python = &facts.python;
        let named = python.missing_interpreter.is_some() || python.not_python.is_some();
        // The same holds if other interpreters have a torch_npu.
        let beside = !python.others.is_empty();
        (named || beside || has("torch")).then_some("torch")
    }
}

/// Returns whether the program of the goal is or imports this package (normalized name).
pub(super) fn starts(ctx: &Context<'_>, package: &str) -> bool {
    let goal = match select(ctx) {
        // The software of an image without devices is started on another machine.
        "image" | "inventory" => framework_goal(ctx.facts).unwrap_or("torch"),
        goal => goal,
    };
    match package {
        "vllm" | "vllm-ascend" => goal == "vllm",
        "sglang" => goal == "sglang",
        "mindspore" => goal == "mindspore",
        _ => goal != "mindspore" && matches!(package, "torch" | "torch-npu" | "triton-ascend"),
    }
}

/// Returns whether the goal needs usable devices.
pub(super) fn needs_devices(ctx: &Context<'_>) -> bool {
    let id = select(ctx);
    let goal = goals::goals("check").find(|goal| goal.id == id);
    goal.is_some_and(|goal| goal.required.iter().any(|link| link == "devices"))
}

/// Returns whether the goal needs a Python framework.
pub(super) fn needs_framework(ctx: &Context<'_>) -> bool {
    ctx.profile.needs_framework()
        || matches!(select(ctx), "torch" | "vllm" | "sglang" | "mindspore")
}

/// Finds a place without read permission, among those of the checks that a predicate accepts.
type FindUnreadable<'a> = dyn Fn(&dyn Fn(&Check) -> bool) -> Option<String> + 'a;

/// Outcome of the selected checks.
pub(super) struct Results<'a> {
    /// All results.
    pub(super) checks: &'a [RuleResult],
    /// All findings, folded.
    pub(super) findings: &'a [Finding],
    /// The selected checks.
    pub(super) selected: &'a [&'static Check],
    /// Finds a place without read permission.
    pub(super) unreadable: &'a FindUnreadable<'a>,
}

/// Proves the goal of the machine.
pub(super) fn prove(ctx: &Context<'_>, found: &Results<'_>) -> Proof {
    let id = select(ctx);
    let required = |check: &Check| {
        let goal = goals::goals("check").find(|goal| goal.id == id);
        let links = goal.map(|goal| goal.required.as_slice()).unwrap_or_default();
        let mut of_goal = goals::links("check").filter(|link| links.contains(&link.id));
        of_goal.any(|link| link.key.iter().chain(&link.checks).any(|own| *own == check.id))
    };
    let mut proof = goals::prove("check", id, values(ctx.facts), |link| {
        let mut coverage = goals::judge_checks(link, found.checks, found.findings);
        let left_out = |id: &String| !found.selected.iter().any(|check| *id == check.id);
        if !matches!(coverage, Coverage::Contradicted { .. }) && link.key.iter().any(left_out) {
            coverage = Coverage::Waived { reason: ui::SKIPPED_BY_OPTION.text() };
        }
        if link.id == "scan"
            && coverage == Coverage::Shown
            && let Some(place) = (found.unreadable)(&required)
        {
            coverage = unreadable(&place, link);
        }
        (coverage, note(ctx.facts, &link.id))
    });
    proof.links.extend(site_link(ctx, found));
    proof
}

/// The link of the expectations of a site. It is required for every goal, because a site with
/// expectations requests it.
fn site_link(ctx: &Context<'_>, found: &Results<'_>) -> Option<Link> {
    ctx.site?;
    let link = goals::links("check").find(|link| link.id == site::LINK)?;
    let mut coverage = goals::judge_checks(link, found.checks, found.findings);
    let left_out = |id: &String| !found.selected.iter().any(|check| *id == check.id);
    if !matches!(coverage, Coverage::Contradicted { .. }) && link.key.iter().any(left_out) {
        coverage = Coverage::Waived { reason: ui::SKIPPED_BY_OPTION.text() };
    }
    if !matches!(coverage, Coverage::Contradicted { .. } | Coverage::Waived { .. })
        && let Some(reason) = site::not_examined(ctx)
    {
        let reason = Catalog::builtin().reason(&reason);
        coverage = Coverage::NotExamined { reason, settle: link.settle.clone() };
    }
    Some(Link {
        id: link.id.clone(),
        name: link.name.clone(),
        need: Need::Required,
        coverage,
        note: None,
        warnings: Vec::new(),
    })
}

/// Proves that the checks named by `--only` pass. A check needs its own result. A family needs a
/// result of any of its checks, because some can rarely run.
pub(super) fn prove_selection(ctx: &Context<'_>, only: &[String], found: &Results<'_>) -> Proof {
    let links = only.iter().map(|name| {
        let is_named =
            |id: &str| super::all().any(|check| check.id.as_str() == id && check.is_named(name));
        let coverage = cover_name(&is_named, found);
        Link {
            id: name.trim().to_ascii_uppercase(),
            name: Text::same(name.trim().to_ascii_uppercase()),
            need: Need::Required,
            coverage,
            note: None,
            warnings: Vec::new(),
        }
    });
    let mut links: Vec<Link> = links.collect();
    // SCAN-READ concerns the files of every check.
    let asked =
        |check: &Check| only.iter().any(|name| check.is_named(name) || scan::READ.is_named(name));
    if let Some(place) = (found.unreadable)(&asked)
        && let Some(scan) = goals::links("check").find(|link| link.id == "scan")
    {
        links.push(Link {
            id: scan.id.clone(),
            name: scan.name.clone(),
            need: Need::Required,
            coverage: unreadable(&place, scan),
            note: None,
            warnings: Vec::new(),
        });
    }
    let names = only.iter().map(|name| name.trim().to_ascii_uppercase()).collect::<Vec<_>>();
    let mut values = values(ctx.facts);
    values.insert("names", Text::new(names.join(", "), names.join("、")));
    goals::prove_links("check", "selection", values, links)
}

fn cover_name(is_named: &dyn Fn(&str) -> bool, found: &Results<'_>) -> Coverage {
    let errors = goals::contradictions(found.findings, is_named);
    if !errors.is_empty() {
        return Coverage::Contradicted { findings: errors, reason: None };
    }
    let own = || found.checks.iter().filter(|result| is_named(result.id));
    let answered = |result: &RuleResult| {
        matches!(result.state, CheckState::Passed | CheckState::Found | CheckState::Folded)
    };
    if own().any(answered) && !own().any(|result| result.blocked) {
        return Coverage::Shown;
    }
    // No check of the family has an answer: each must have run then, or not apply.
    let link = goals::links("check").find(|link| {
        own().any(|result| link.key.iter().chain(&link.checks).any(|id| id == result.id))
    });
    let settle = link.map(|link| link.settle.clone()).unwrap_or_default();
    goals::judge(is_named, is_named, found.checks, found.findings, &settle)
}

fn unreadable(place: &str, link: &LinkDefinition) -> Coverage {
    let reason = Reason::Unreadable { what: place.to_owned() };
    Coverage::NotExamined {
        reason: Catalog::builtin().reason(&reason),
        settle: link.settle.clone(),
    }
}

/// Values for the sentences of the goals.
fn values(facts: &Facts) -> BTreeMap<&'static str, Text> {
    let npus = overview::npus(facts).map_or_else(|| ui::GOAL_NPUS.text(), Text::same);
    let cann = stated_cann(facts);
    let framework =
        overview::frameworks(facts).map_or_else(|| ui::GOAL_FRAMEWORK.text(), Text::same);
    BTreeMap::from([
        ("npus", npus),
        ("cann", cann.map_or_else(|| ui::UNKNOWN_VERSION.text(), Text::same)),
        ("framework", framework),
    ])
}

/// The version in the files of the CANN in use.
fn stated_cann(facts: &Facts) -> Option<String> {
    facts.cann.active()?.stated_version().map(str::to_owned)
}

/// The observed facts about a link.
fn note(facts: &Facts, link: &str) -> Option<Text> {
    let text = match link {
        "devices" => overview::npus(facts),
        "driver" => overview::version(facts.driver.version.as_ref()).map(str::to_owned),
        "cann" => stated_cann(facts),
        "python" => facts.python.interpreter.as_ref().and_then(|python| python.version.clone()),
        "framework" => overview::frameworks(facts),
        _ => None,
    };
    text.map(Text::same)
}
