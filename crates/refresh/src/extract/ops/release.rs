//! Releases of torch_npu: the tags and branches with a table, and their order.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use crate::context::Context;
use crate::repository::Tree;

/// ID of the repository in `data/sources.toml`.
pub(super) const SOURCE: &str = "ascend-pytorch";

/// One table: a release for one PyTorch version.
#[derive(Debug)]
pub(super) struct Release<'c> {
    /// PyTorch version.
    pub(super) torch: String,
    /// `7.3.0`, `branch:26.1.0`, `26.2.0-beta.1`, `master`.
    pub(super) name: String,
    pub(super) tree: Tree<'c>,
}

/// The PyTorch version with the longest support. The main line is read for it, in addition to the
/// versions since the newest release branch.
const LONG_SUPPORT: &str = "2.7.1";
/// The first release with op-plugin as a submodule.
const FIRST: &str = "5.0.rc3";
/// The oldest PyTorch version whose release branches are read.
const OLDEST_BRANCH: &str = "2.1.0";

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[vV]([0-9][0-9A-Za-z.\-]*)-pytorch(\d+\.\d+\.\d+)$").expect("a tag pattern")
});
static BRANCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^v(\d+\.\d+\.\d+)-(\d+\.\d+\.[0-9a-z]+)$").expect("a branch pattern")
});

/// Returns the numbers in a version.
pub(super) fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

/// Returns a sort key: candidates before the release, its branch after it, and the main line last.
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

/// Returns the release and PyTorch version of a tag; `None` for tags of trial builds.
fn tag(name: &str) -> Option<(String, String)> {
    let found = TAG.captures(name)?;
    let (release, torch) = (&found[1], &found[2]);
    let trial = ["alpha", "0day", "RC"].iter().any(|word| release.contains(word));
    (!trial && order(release) >= order(FIRST)).then(|| (release.to_owned(), torch.to_owned()))
}

/// Returns the `tags` and `branches` with a table: (name of the ref, release, PyTorch version).
///
/// These are all releases, the newest beta of a PyTorch version without release, and the newest
/// release branch of each PyTorch version.
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

/// Returns all releases with a table, ordered by PyTorch version and then by release. `main_line`
/// contains the PyTorch versions that the main line registers kernels for.
pub(super) fn all(
    context: &Context,
    main_line: impl FnOnce(&Tree<'_>) -> Result<Vec<String>>,
) -> Result<Vec<Release<'_>>> {
    let repository = context.repository(SOURCE)?;
    let tags = repository.refs(&TAG)?;
    let branches = context.branches(SOURCE, BRANCH.as_str())?;
    let names = |refs: &[(String, String)]| refs.iter().map(|(name, _)| name.clone()).collect();
    let (tag_names, branch_names): (Vec<String>, Vec<String>) = (names(&tags), names(&branches));
    let before = if context.pinned() { context.own("ops/tables.tsv")? } else { None };
    let mut found = Vec::new();
    for (name, release, torch) in chosen(&tag_names, &branch_names) {
        // Tags do not move. The old table lists the tags that existed when it was made.
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
