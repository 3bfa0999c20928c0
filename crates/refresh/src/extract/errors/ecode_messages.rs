//! The E-codes of all registries over all releases.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};

use super::ecode_registry::{Message, messages};
use super::releases::TOOLKIT;
use crate::context::{Context, release_version};
use crate::repository::Tree;

/// The label of default branches.
pub(super) const NEWEST: &str = "master";

/// A registry: source, path, and the minimum number of messages on the default branch. Of two
/// registries of one release, the later one in the list has the current wording.
struct Registry(&'static str, &'static str, usize);

const REGISTRIES: [Registry; 7] = [
    Registry(
        "cann-8.1.RC1",
        "Ascend/ascend-toolkit/8.1.RC1/tools/aoe/conf/error_manager/error_code.json",
        12,
    ),
    Registry(
        "cann-8.1.RC1",
        "Ascend/ascend-toolkit/8.1.RC1/aarch64-linux/conf/error_manager/error_code.json",
        518,
    ),
    Registry("hicann-runtime", "src/dfx/error_manager/error_code.json", 400),
    Registry("hicann-ge", "base/common/error_registry/error_registry.cc", 120),
    Registry("hicann-driver", "pkg_inc/hal_error_code/drv_error_code.h", 7),
    Registry("hicann-opbase", "src/op_common/log/log.cpp", 60),
    Registry("hicann-opbase", "src/nnopbase/composite_op/log/op_error_manager.cpp", 16),
];

/// A message in one registry of one release.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) label: String,
    /// `OWNER/NAME@COMMIT:PATH`.
    pub(super) place: String,
    pub(super) message: Message,
}

/// All messages by code.
#[derive(Debug, Clone)]
pub(super) struct Messages {
    /// All releases that were read, oldest first.
    pub(super) labels: Vec<String>,
    /// Versions of each code, oldest first; the last one is current.
    pub(super) codes: BTreeMap<String, Vec<Version>>,
}

/// Reads all registries.
pub(super) fn read(context: &Context) -> Result<Messages> {
    let mut labels = BTreeSet::new();
    let mut found: Vec<(usize, Version)> = Vec::new();
    for (priority, &Registry(source, path, least)) in REGISTRIES.iter().enumerate() {
        let trees = trees(context, source)?;
        for tree in &trees {
            labels.insert(tree.label.clone());
            let newest = tree.label == NEWEST || tree.label == TOOLKIT;
            // Registries moved between repositories, so older releases have fewer registries.
            if !newest && !tree.has(path)? {
                continue;
            }
            let place = tree.place(path);
            let read = messages(path, &tree.text(path)?).with_context(|| place.clone())?;
            let (count, least) = (read.len(), if newest { least } else { 1 });
            ensure!(count >= least, "{place} has {count} messages, expected at least {least}");
            found.extend(read.into_iter().map(|message| {
                (priority, Version { label: tree.label.clone(), place: place.clone(), message })
            }));
        }
    }
    let mut labels: Vec<String> = labels.into_iter().collect();
    labels.sort_by_key(|label| order(label));
    found.sort_by_key(|(priority, version)| (order(&version.label), *priority));
    let mut codes: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for (_, version) in found {
        codes.entry(version.message.code.clone()).or_default().push(version);
    }
    Ok(Messages { labels, codes })
}

fn trees<'c>(context: &'c Context, source: &str) -> Result<Vec<Tree<'c>>> {
    if source != "cann-8.1.RC1" {
        return context.releases(source);
    }
    let mut tree = context.tree(source)?;
    tree.label = TOOLKIT.to_owned();
    Ok(vec![tree])
}

/// Sorts 8.1.RC1 first, then releases by version, then default branches.
fn order(label: &str) -> (u8, Option<pep440_rs::Version>) {
    match label {
        TOOLKIT => (0, None),
        NEWEST => (2, None),
        release => (1, release_version(release)),
    }
}

/// Returns the newest title or component that is not empty.
pub(super) fn newest(versions: &[Version], part: fn(&Message) -> &str) -> &str {
    let mut parts = versions.iter().rev().map(|version| part(&version.message));
    parts.find(|part| !part.is_empty()).unwrap_or_default()
}

/// Returns the releases of versions, oldest first, each once.
pub(super) fn seen(versions: &[Version]) -> Vec<String> {
    let mut seen: Vec<String> = versions.iter().map(|version| version.label.clone()).collect();
    seen.dedup();
    seen
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a message in a release.
    pub(in super::super) fn version(label: &str, title: &str, text: &str) -> Version {
        Version {
            label: label.to_owned(),
            place: format!("o/a@{label}:x"),
            message: Message {
                code: "E10001".to_owned(),
                title: title.to_owned(),
                component: String::new(),
                text: text.to_owned(),
                arguments: String::new(),
            },
        }
    }

    #[test]
    fn releases_are_between_the_oldest_and_the_newest() {
        let mut labels = ["master", "9.1.0", "9.1.0-beta.3", "8.1.RC1", "8.5.0"];
        labels.sort_by_key(|label| order(label));
        assert_eq!(labels, ["8.1.RC1", "8.5.0", "9.1.0-beta.3", "9.1.0", "master"]);
    }

    #[test]
    fn empty_titles_do_not_replace_older_ones() {
        let versions = [version("8.1.RC1", "Old", "a"), version("9.0.0", "", "b")];
        assert_eq!(newest(&versions, |message| &message.title), "Old");
        assert_eq!(newest(&versions, |message| &message.text), "b");
        assert_eq!(seen(&versions), ["8.1.RC1", "9.0.0"]);
    }
}
