//! Releases of torch_npu: which tags and branches have a table, and their order.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use crate::context::Context;
use crate::repository::Tree;

/// ID of the repository in `data/sources.toml`.
pub(super) const SOURCE: &str = "ascend-pytorch";

/// One table: a release for one version of PyTorch.
#[derive(Debug)]
pub(super) struct Release<'c> {
    /// Version of PyTorch.
    pub(super) torch: String,
    /// `7.3.0`, `branch:26.1.0`, `26.2.0-beta.1`, `master`.
    pub(super) name: String,
    pub(super) tree: Tree<'c>,
}

/// The version of PyTorch with the longest support: the main line is read for it too, besides the
/// versions from the newest release branch on.
const LONG_SUPPORT: &str = "2.7.1";
/// The first release with op-plugin as a submodule.
const FIRST: &str = "5.0.rc3";
/// The oldest version of PyTorch whose release branches are read.
const OLDEST_BRANCH: &str = "2.1.0";

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[vV]([0-9][0-9A-Za-z.\-]*)-pytorch(\d+\.\d+\.\d+)$").expect("a tag pattern")
});
static BRANCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^v(\d+\.\d+\.\d+)-(\d+\.\d+\.[0-9a-z]+)$").expect("a branch pattern")
});

/// The numbers in a version.
pub(super) fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

/// Sorts candidates before the release, its branch after it, and the main line last.
pub(super) fn order(release: &str) -> (Vec<u32>, u8, Vec<u32>) {
    if release == "master" {
        return (vec![u32::MAX], 9, Vec::new());
    }
    let (branch, text) = match release.strip_prefix("branch:") {
        Some(text) => (true, text),
        None => (false, release),
    };
    if let Some((main, beta)) = text.split_once("-beta") {
        return (numbers(main), 0, numbers(beta));
    }
    if let Some((main, candidate)) = text.split_once(".rc") {
        let mut rest = numbers(candidate);
        if branch || rest.len() == 1 {
            rest.push(if branch { 9 } else { 0 });
        }
        return (numbers(main), 1, rest);
    }
    let mut main = numbers(text);
    main.resize(main.len().max(4), 0);
    (main, 2, if branch { vec![9] } else { Vec::new() })
}

/// What a tag stands for: release and version of PyTorch. Nothing for tags of trial builds.
fn tag(name: &str) -> Option<(String, String)> {
    let found = TAG.captures(name)?;
    let (release, torch) = (&found[1], &found[2]);
    let trial = ["alpha", "0day", "RC"].iter().any(|word| release.contains(word));
    (!trial && order(release) >= order(FIRST)).then(|| (release.to_owned(), torch.to_owned()))
}

/// Names of `tags` and `branches` that have a table: (name of the ref, release, version of PyTorch).
///
/// All releases; the newest beta of a version of PyTorch that has no release yet; the newest release
/// branch of each version of PyTorch.
fn chosen(tags: &[String], branches: &[String]) -> Vec<(String, String, String)> {
    let known: Vec<(&String, String, String)> = tags
        .iter()
        .filter_map(|name| tag(name).map(|(release, torch)| (name, release, torch)))
        .collect();
    let is_beta = |release: &str| release.contains("-beta");
    let mut found = Vec::new();
    for (name, release, torch) in &known {
        let mut same = known.iter().filter(|(_, _, other)| other == torch);
        let newest = !is_beta(release)
            || same.all(|(_, other, _)| is_beta(other) && order(other) <= order(release));
        if newest {
            found.push(((*name).clone(), release.clone(), torch.clone()));
        }
    }
    let branches: Vec<(&String, String, String)> = branches
        .iter()
        .filter_map(|name| {
            let found = BRANCH.captures(name)?;
            Some((name, found[2].to_owned(), found[1].to_owned()))
        })
        .filter(|(_, _, torch)| numbers(torch) >= numbers(OLDEST_BRANCH))
        .collect();
    for (name, release, torch) in &branches {
        let mut same = branches.iter().filter(|(_, _, other)| other == torch);
        if same.all(|(_, other, _)| order(other) <= order(release)) {
            found.push(((*name).clone(), format!("branch:{release}"), torch.clone()));
        }
    }
    found
}

/// All releases that have a table, ordered by version of PyTorch and then by release.
/// `main_line` are the versions of PyTorch that the main line registers kernels for.
pub(super) fn all<'c>(
    context: &'c Context,
    main_line: impl FnOnce(&Tree<'_>) -> Result<Vec<String>>,
) -> Result<Vec<Release<'c>>> {
    let repository = context.repository(SOURCE)?;
    let tags = repository.refs(&TAG)?;
    let branches = context.branches(SOURCE, BRANCH.as_str())?;
    let names = |refs: &[(String, String)]| refs.iter().map(|(name, _)| name.clone()).collect();
    let (tag_names, branch_names): (Vec<String>, Vec<String>) = (names(&tags), names(&branches));
    let before = if context.pinned() { context.own("ops/tables.tsv")? } else { None };
    let mut found = Vec::new();
    for (name, release, torch) in chosen(&tag_names, &branch_names) {
        // Tags do not move; which of them existed, the table of that day states.
        let recorded = format!("\trelease\t{torch}\t{release}\t");
        if before.as_ref().is_some_and(|table| !table.contains(&recorded)) {
            continue;
        }
        let is_branch = release.starts_with("branch:");
        let (_, commit) = tags
            .iter()
            .filter(|_| !is_branch)
            .chain(&branches)
            .find(|(known, _)| *known == name)
            .with_context(|| format!("{name} has no commit"))?;
        let tree = if is_branch {
            context.branch(SOURCE, &name, commit)?
        } else {
            repository.tree(&name, commit)?
        };
        found.push(Release { torch, name: release, tree });
    }
    ensure!(found.len() >= 90, "{} has {} releases, expected 90", SOURCE, found.len());
    let newest_branch = found.iter().filter(|release| release.name.starts_with("branch:"));
    let newest_branch = newest_branch.map(|release| numbers(&release.torch)).max();
    let newest_branch = newest_branch.unwrap_or_default();
    let master = context.tree(SOURCE)?;
    let versions = main_line(&master)?;
    let later = versions.into_iter().map(|version| format!("{version}.0"));
    let later = later.filter(|version| numbers(version) >= newest_branch);
    for torch in std::iter::once(LONG_SUPPORT.to_owned()).chain(later) {
        found.push(Release { torch, name: "master".to_owned(), tree: context.tree(SOURCE)? });
    }
    found.sort_by_cached_key(|release| (numbers(&release.torch), order(&release.name)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered() {
        let mut names = [
            "master",
            "branch:6.0.rc2",
            "6.0.0",
            "26.2.0-beta.1",
            "6.0.rc2.1",
            "6.0.rc2",
            "branch:26.1.0",
            "26.1.0",
            "6.0.0.1",
            "5.0.1.2",
            "6.0.rc10",
        ];
        names.sort_by_cached_key(|name| order(name));
        assert_eq!(
            names,
            [
                "5.0.1.2",
                "6.0.rc2",
                "6.0.rc2.1",
                "branch:6.0.rc2",
                "6.0.rc10",
                "6.0.0",
                "6.0.0.1",
                "26.1.0",
                "branch:26.1.0",
                "26.2.0-beta.1",
                "master"
            ]
        );
    }

    #[test]
    fn trial_builds_and_superseded_betas_have_no_table() {
        let tags = [
            "V7.2.0.1-pytorch2.1.0",
            "v3.0.0-pytorch1.11.0",
            "v6.0.RC1.alpha001-pytorch2.1.0",
            "v26.2.0-0day-pytorch2.13.0",
            "v26.2.0-beta.1-pytorch2.13.0",
            "v26.2.0-beta.2-pytorch2.13.0",
            "v26.2.0-beta.1-pytorch2.12.0",
            "v26.1.0-pytorch2.12.0",
            "v2.0.3",
        ];
        let branches = ["v2.12.0-26.0.0", "v2.12.0-26.1.0", "v2.0.1-5.0.0", "v2.12.0"];
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let found = chosen(&owned(&tags), &owned(&branches));
        let found: Vec<&str> = found.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(
            found,
            [
                "V7.2.0.1-pytorch2.1.0",
                "v26.2.0-beta.2-pytorch2.13.0",
                "v26.1.0-pytorch2.12.0",
                "v2.12.0-26.1.0"
            ]
        );
    }
}
