//! Compares observations with conditions, and formats both as texts.

use std::str::FromStr as _;

use base::chip::ChipFamily;
use base::text::Text;
use data::ui;
use facts::{FileKind, SiteFile};
use pep440_rs::Version;

use super::expectation::{Condition, FileCondition, MountCondition, Subject, UNLIMITED};
use super::observe::Seen;

/// Returns whether the condition holds; `None` if that is unknown.
pub(super) fn holds(subject: &Subject, condition: &Condition, seen: &Seen) -> Option<bool> {
    match (condition, seen) {
        (_, Seen::Unknown) => None,
        (Condition::Absent, seen) => Some(*seen == Seen::Absent),
        (_, Seen::Absent) => Some(false),
        // The value of an existing interface that is not up is its state.
        (Condition::Present, Seen::Value(_)) if matches!(subject, Subject::Interface(_)) => {
            Some(false)
        }
        (Condition::Present, Seen::File(file)) => file.kind.map(|_| true),
        (Condition::Present, _) => Some(true),
        (Condition::Amount(min, max), Seen::Amount(amount)) => Some((min..=max).contains(&amount)),
        // The value of a variable.
        (Condition::Amount(min, max), Seen::Value(value)) => {
            Some(value.trim().parse::<u64>().is_ok_and(|value| (min..=max).contains(&&value)))
        }
        (Condition::Contains(part), Seen::Value(value)) => Some(contains(value, part)),
        (Condition::OneOf(wanted), Seen::Value(value)) => Some(wanted.contains(value)),
        (Condition::OneOf(wanted), Seen::Names(names)) => Some(
            names.iter().any(|name| wanted.iter().any(|wanted| starts_with_words(name, wanted))),
        ),
        (Condition::OneOf(wanted), Seen::Each(all)) if *subject == Subject::Chip => {
            let each: Option<Vec<bool>> = all.iter().map(|name| is_chip(name, wanted)).collect();
            // One wrong chip is enough, regardless of the others.
            match each {
                Some(each) => Some(each.into_iter().all(|is| is)),
                None if all.iter().any(|name| is_chip(name, wanted) == Some(false)) => Some(false),
                None => None,
            }
        }
        (Condition::OneOf(wanted), Seen::Each(all)) => {
            Some(all.iter().all(|value| wanted.contains(value)))
        }
        (Condition::Range(range, _), Seen::Version(version)) => range.contains(version),
        (Condition::Specifiers(specifiers), Seen::Version(version)) => {
            let version = Version::from_str(version).ok()?;
            Some(specifiers.contains(&version))
        }
        (Condition::File(wanted), Seen::File(file)) => is_file(wanted, file),
        (Condition::Mount(wanted), Seen::Mount(mount)) => {
            let has = |option: &String| mount.options.split(',').any(|own| own == option);
            let is_type = wanted.fstype.as_ref().is_none_or(|fstype| *fstype == mount.fstype);
            Some(is_type && wanted.options.iter().all(has))
        }
        _ => None,
    }
}

/// Returns whether a list separated by colons or commas has an entry, or another value a part.
fn contains(value: &str, part: &str) -> bool {
    let entries = |separator| value.split(separator).any(|entry: &str| entry == part);
    entries(':') || entries(',') || (!value.contains(':') && value.contains(part))
}

/// Returns whether a name begins with these words: `Ubuntu 22.04` matches `Ubuntu 22.04.5 LTS`, but
/// `Ubuntu 22.0` does not.
fn starts_with_words(name: &str, wanted: &str) -> bool {
    let (name, wanted) = (name.to_lowercase(), wanted.trim().to_lowercase());
    let rest = name.strip_prefix(&wanted);
    !wanted.is_empty()
        && rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// The generation with one of these names: `910b`, `A2`, `310P`.
pub(super) fn family(name: &str) -> Option<ChipFamily> {
    let series = format!("(Atlas {})", name.trim().to_uppercase());
    let by_series = || ChipFamily::ALL.into_iter().find(|family| family.label().ends_with(&series));
    ChipFamily::from_short(name.trim()).or_else(by_series)
}

/// Returns whether a chip is one of those named by chip or by generation; `None` if only its
/// generation is known and a specific chip is required.
fn is_chip(seen: &str, wanted: &[String]) -> Option<bool> {
    let plain = |name: &str| name.trim().to_lowercase().trim_start_matches("ascend").to_owned();
    let by_family = family(seen);
    let mut unknown = false;
    for wanted in wanted {
        if plain(seen) == plain(wanted) {
            return Some(true);
        }
        let (own, other) = (by_family.or_else(|| ChipFamily::from_soc(seen)), family(wanted));
        if other.is_some() && own == other {
            return Some(true);
        }
        unknown |=
            by_family.is_some() && other.is_none() && ChipFamily::from_soc(wanted) == by_family;
    }
    (!unknown).then_some(false)
}

fn is_file(wanted: &FileCondition, file: &SiteFile) -> Option<bool> {
    let mut known = true;
    let mut check = |wrong: Option<bool>| {
        known &= wrong.is_some();
        wrong == Some(true)
    };
    let owner = file.owner;
    let wrong = [
        wanted.directory.is_some_and(|directory| {
            check(file.kind.map(|kind| (kind == FileKind::Directory) != directory))
        }),
        wanted.mode.is_some_and(|mode| check(owner.map(|owner| owner.mode & 0o7777 != mode))),
        wanted.uid.is_some_and(|uid| check(owner.map(|owner| owner.uid != uid))),
        wanted.gid.is_some_and(|gid| check(owner.map(|owner| owner.gid != gid))),
        wanted
            .sha256
            .as_ref()
            .is_some_and(|hash| check(file.sha256.as_ref().map(|own| own != hash))),
    ];
    if wrong.contains(&true) {
        return Some(false);
    }
    (known && file.kind.is_some()).then_some(true)
}

/// The condition as text.
pub(super) fn wanted(subject: &Subject, condition: &Condition) -> Text {
    match condition {
        Condition::Absent => ui::SITE_ABSENT.text(),
        Condition::Present if matches!(subject, Subject::Interface(_)) => Text::same("up"),
        Condition::Present => ui::SITE_PRESENT.text(),
        Condition::OneOf(values) => {
            let quoted: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            Text::new(quoted.join(" / "), quoted.join(" / "))
        }
        Condition::Contains(part) => ui::SiteContains { part }.text(),
        Condition::Amount(min, max) if min == max => Text::same(amount(subject, *min)),
        Condition::Amount(min, UNLIMITED) => {
            ui::SiteAtLeast { value: amount(subject, *min) }.text()
        }
        Condition::Amount(0, max) => ui::SiteAtMost { value: amount(subject, *max) }.text(),
        Condition::Amount(min, max) => {
            Text::same(format!("{}–{}", amount(subject, *min), amount(subject, *max)))
        }
        Condition::Range(_, text) => Text::same(format!("`{text}`")),
        Condition::Specifiers(specifiers) => Text::same(format!("`{specifiers}`")),
        Condition::File(file) => Text::same(file_words(
            file.directory.map(|directory| if directory { "directory" } else { "file" }),
            file.mode,
            file.uid,
            file.gid,
            file.sha256.as_deref(),
        )),
        Condition::Mount(MountCondition { fstype, options }) => {
            let parts: Vec<&str> = fstype.iter().chain(options).map(String::as_str).collect();
            Text::same(parts.join(", "))
        }
    }
}

/// The observation as text.
pub(super) fn seen(subject: &Subject, condition: &Condition, seen: &Seen) -> Text {
    match seen {
        Seen::Unknown => Text::default(),
        Seen::Absent => match subject {
            Subject::Env(_) => ui::SITE_NOT_SET.text(),
            _ => ui::SITE_ABSENT.text(),
        },
        Seen::Present => ui::SITE_PRESENT.text(),
        Seen::Version(text) | Seen::Value(text) => Text::same(format!("`{text}`")),
        Seen::Each(all) if *subject == Subject::Chip => {
            let label = |name: &String| {
                family(name).map_or_else(|| name.clone(), |family| family.label().to_owned())
            };
            Text::same(all.iter().map(label).collect::<Vec<_>>().join(", "))
        }
        Seen::Each(all) => Text::same(all.join(", ")),
        Seen::Names(names) => Text::same(names.first().cloned().unwrap_or_default()),
        Seen::Amount(value) => Text::same(amount(subject, *value)),
        Seen::File(file) => {
            let Condition::File(wanted) = condition else { return ui::SITE_PRESENT.text() };
            Text::same(file_words(
                wanted.directory.and(file.kind).map(FileKind::describe),
                wanted.mode.and(file.owner).map(|owner| owner.mode & 0o7777),
                wanted.uid.and(file.owner).map(|owner| owner.uid),
                wanted.gid.and(file.owner).map(|owner| owner.gid),
                wanted.sha256.as_ref().and(file.sha256.as_deref()),
            ))
        }
        Seen::Mount(mount) => Text::same(format!("{} ({})", mount.fstype, mount.options)),
    }
}

fn file_words(
    kind: Option<&str>,
    mode: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    sha256: Option<&str>,
) -> String {
    let parts = [
        kind.map(str::to_owned),
        mode.map(|mode| format!("mode {mode:04o}")),
        uid.map(|uid| format!("uid {uid}")),
        gid.map(|gid| format!("gid {gid}")),
        sha256.map(|hash| format!("SHA-256 {}…", hash.get(..12).unwrap_or(hash))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A count, or a size in the largest unit that divides it.
fn amount(subject: &Subject, value: u64) -> String {
    if value == UNLIMITED {
        return "unlimited".to_owned();
    }
    let is_size = match subject {
        Subject::Shm => true,
        Subject::Limit(name) => {
            matches!(name.as_str(), "memlock" | "stack" | "core" | "as" | "fsize" | "data")
        }
        _ => false,
    };
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit =
        units.iter().find(|(shift, _)| value >= 1 << shift && value.is_multiple_of(1 << shift));
    match unit {
        Some((shift, unit)) if is_size => format!("{} {unit}", value >> shift),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_named_by_chip_or_generation() {
        let wanted = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        for (seen, names, expected) in [
            ("910B3", &["910B3"][..], Some(true)),
            ("910B3", &["Ascend910B3"], Some(true)),
            ("910B3", &["910B4"], Some(false)),
            ("910B3", &["910B4", "910b"], Some(true)),
            ("910b", &["910B3"], None),
            ("910b", &["310P3"], Some(false)),
            ("910b", &["910b"], Some(true)),
            ("910b", &["A2"], Some(true)),
            ("910B3", &["A3"], Some(false)),
            ("310P3", &["910B3"], Some(false)),
        ] {
            assert_eq!(is_chip(seen, &wanted(names)), expected, "{seen} {names:?}");
        }
    }

    #[test]
    fn systems_are_named_by_whole_words() {
        assert!(starts_with_words("Ubuntu 22.04.5 LTS", "ubuntu 22.04"));
        assert!(starts_with_words("openEuler 24.03 (LTS-SP1)", "openEuler"));
        assert!(!starts_with_words("Ubuntu 22.04.5 LTS", "Ubuntu 22.0"));
        assert!(!starts_with_words("Ubuntu 22.04.5 LTS", ""));
    }

    #[test]
    fn parts_of_lists_are_whole_entries() {
        assert!(contains("/a:/b/lib:/c", "/b/lib"));
        assert!(!contains("/a:/b/lib64:/c", "/b/lib"));
        assert!(contains("expandable_segments:True", "expandable_segments:True"));
        assert!(contains(
            "max_split_size_mb:128,expandable_segments:True",
            "expandable_segments:True"
        ));
    }
}
