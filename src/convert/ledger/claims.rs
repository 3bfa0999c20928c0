//! Tokens that the plan of a file accounts for: edits change them, reported sites leave them to
//! manual work.

use crate::rules::Rule;
use crate::site::{Decision, FilePlan, KeptBecause, KeptSite, Site};

use super::blocker::Blocker;
use super::entry::{Class, Reason, Witness};
use super::tokens::Token;

/// The statement of the plan about one token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Planned {
    /// An edit replaces it.
    Changed(&'static str),
    /// A reported site contains it.
    Manual(&'static Rule),
    /// A site that is only noted contains it.
    Noted(&'static Rule),
    /// It stays although the rule applies, on the given line.
    Kept(&'static Rule, KeptBecause, u32),
    /// The plan has no statement about it.
    Nothing,
}

impl Planned {
    /// The class that results.
    pub(crate) fn class(self) -> Option<Class> {
        match self {
            Self::Changed(rule) => Some(Class::Changed { rule }),
            Self::Manual(rule) => Some(manual(rule)),
            Self::Noted(rule) => Some(by_rule(rule)),
            Self::Kept(_, KeptBecause::Comment, line) => {
                Some(Class::kept(Reason::SwitchedOff, line))
            }
            Self::Kept(rule, KeptBecause::Selection | KeptBecause::Declined, _) => {
                Some(Class::Kept { reason: Reason::LeftOut, witness: Witness::Rule(rule.id) })
            }
            Self::Nothing => None,
        }
    }
}

/// Manual work that a rule reports.
pub(crate) fn manual(rule: &'static Rule) -> Class {
    Class::Manual { rule: rule.id, blocker: Blocker::of(rule) }
}

/// Kept by a rule of the table.
pub(crate) const fn by_rule(rule: &'static Rule) -> Class {
    Class::Kept { reason: Reason::Rule, witness: Witness::Rule(rule.id) }
}

/// The statements of the plan about each token; `written` selects whether its edits take effect.
pub(crate) fn planned(tokens: &[Token], plan: &FilePlan, written: bool) -> Vec<Planned> {
    let mut edits = plan.edits.iter().filter(|_| written).peekable();
    let mut sites = plan.sites.iter().peekable();
    let mut kept = plan.kept.iter().peekable();
    let mut active: Vec<&Site> = Vec::new();
    let mut active_kept: Vec<&KeptSite> = Vec::new();
    let mut last_change: Option<&Site> = None;
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        let range = token.range();
        while let Some(site) = sites.next_if(|site| site.range.start < range.end) {
            if site.decision == Decision::Changed {
                last_change = Some(site);
            }
            active.push(site);
        }
        active.retain(|site| site.range.end > range.start);
        active_kept.extend(std::iter::from_fn(|| kept.next_if(|one| one.range.start < range.end)));
        active_kept.retain(|one| one.range.end > range.start);
        while edits.next_if(|edit| edit.range.end <= range.start).is_some() {}
        let edited = edits.peek().is_some_and(|edit| edit.range.start < range.end);
        let with = |decision| active.iter().rev().find(move |site| site.decision == decision);
        out.push(if edited {
            // Parts of a change follow its site.
            let site = with(Decision::Changed).copied().or(last_change);
            Planned::Changed(site.map_or("", |site| site.rule.id))
        } else if let Some(site) = with(Decision::Flagged) {
            Planned::Manual(site.rule)
        } else if let Some(site) = with(Decision::Noted) {
            Planned::Noted(site.rule)
        } else if let Some(one) = active_kept.last() {
            Planned::Kept(one.rule, one.why, one.line)
        } else {
            Planned::Nothing
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tokens;
    use crate::rules::{Place, Rules};
    use crate::site::{Certainty, Planner};

    #[test]
    fn edits_come_before_reports_and_need_to_be_written() {
        let text = "cuda(gpu) nccl gpu";
        let mut planner = Planner::new(text);
        let rules = Rules::builtin();
        let (device, load) = (rules.site(Place::DeviceString), rules.site(Place::LoadDefault));
        planner.change(device, 0..4, "npu", Certainty::Exact);
        planner.flag(load, 0..9, None);
        planner.note(device, 10..14, None);
        let plan = planner.finish();
        let (found, _) = tokens::find(text, 9);
        let of = |written| planned(&found, &plan, written);
        let all = [
            Planned::Changed(device.id),
            Planned::Manual(load),
            Planned::Noted(device),
            Planned::Nothing,
        ];
        let classes = |all: &[Planned]| all.iter().map(|one| one.class()).collect::<Vec<_>>();
        assert_eq!(classes(&of(true)), classes(&all));
        // Edits that are not written change nothing.
        assert_eq!(of(false)[0].class(), Planned::Manual(load).class());
    }
}
