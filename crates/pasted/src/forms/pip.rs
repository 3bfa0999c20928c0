//! Messages of `pip install`, and commands that install or check out a version.
//!
//! pip prints many versions that are not installed. Only `Successfully installed`, `already
//! satisfied` and `you have X Y` are about the machine.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::{is_version, regex, version_at};

static HAVE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\bbut you have ([A-Za-z][\w.-]*) (\d[\w.+-]*) which is incompatible"));
static SATISFIED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^Requirement already satisfied: ([A-Za-z][\w.-]*)\S* .*\((\d[\w.+-]*)\)\s*$")
});
/// Messages of pip about versions that are not installed.
static CHATTER: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"^(?:Collecting|Downloading|Using cached|Looking in|Found existing|Uninstalling|Attempting uninstall|Requirement already|Building wheel|Created wheel|Stored in|Obtaining|Preparing|Processing|Installing collected|Would install|Successfully uninstalled|INFO: pip|Defaulting)\b",
        r"|Could not find a version|No matching distribution|\(from versions?:|\bdepends on\b|\bpulls? in\b|\brequires? [A-Za-z][\w.-]*\s*[=<>!~(]|Cannot install|conflicting dependencies|The user requested|ERROR: pip's|you have .* which is incompatible|Because .* depends|ResolutionImpossible",
    ))
});
static REQUESTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^The user requested ([A-Za-z][\w.-]*)==(\d[\w.+-]*)\s*$"));
static PIN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?\s?==\s?(v?\d[\w.+-]*)"));
static INSTALL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:pip3?(?:\.\d+)?|uv pip|python3?(?:\.\d+)? -m pip|uv) (?:install|add)\b(.*)$")
});
static CLONE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\bgit clone\b.*?(?:--branch|-b)[ =]+v?(\d\S*)"));
static REPOSITORY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:https?://|git@|ssh://)?[\w.-]+[/:][\w.-]+/([\w.-]+?)(?:\.git)?(?:\s|$)")
});
static CHANGE_DIR: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\bcd (?:\S*/)?([\w.-]+)/?\s*(?:$|&&|;)"));
static CHECKOUT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\bgit (?:checkout|switch) (?:-b \S+ )?(?:tags/)?v?(\d+\.\d\S*)"));
/// Words that mark a command as an example of another author.
static ADVICE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:should|please|try|you (?:can|could|may|need)|recommend|suggest|instead|fix)|建议|请|尝试|试试|可以|需要",
    )
});

/// pip found no such version, so the command that requested it installed nothing.
static MISSING: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:No matching distribution found for|satisfies the requirement) ([A-Za-z][\w.-]*)==(\d[\w.+-]*)",
    )
});

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let first = found.candidates.len();
    messages(lines, found);
    let missing: HashSet<(String, String)> = lines
        .iter()
        .filter_map(|line| MISSING.captures(&line.text))
        .map(|missing| (names::of_package(&missing[1]), trim(&missing[2]).to_owned()))
        .collect();
    for candidate in found.candidates.iter_mut().skip(first) {
        if candidate.rank == Rank::Intended
            && missing.contains(&(candidate.name.clone(), candidate.value.clone()))
        {
            candidate.doubt = Some(Reason::Requirement);
        }
    }
}

fn messages(lines: &[Line], found: &mut Found) {
    let mut directory = String::new();
    for (index, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Quotation | Kind::Comment) {
            continue;
        }
        let text = line.text.as_str();
        if let Some((_, list)) = text.split_once("Successfully installed ") {
            found.take(index);
            for item in list.split_whitespace() {
                if let Some((package, version)) = split_installed(item) {
                    let name = names::of_package(package);
                    found.add_version(&name, version, line, Form::PipLog, Rank::Installed);
                }
            }
            continue;
        }
        if let Some(have) = HAVE.captures(text) {
            let name = names::of_package(&have[1]);
            found.add_version(&name, trim(&have[2]), line, Form::PipLog, Rank::Measured);
        }
        if let Some(have) = SATISFIED.captures(text) {
            let name = names::of_package(&have[1]);
            found.add_version(&name, trim(&have[2]), line, Form::PipLog, Rank::Measured);
        }
        if let Some(requested) = REQUESTED.captures(text) {
            let name = names::of_package(&requested[1]);
            found.add_version(&name, trim(&requested[2]), line, Form::PipLog, Rank::Intended);
        }
        if CHATTER.is_match(text) {
            found.take(index);
            for pin in PIN.captures_iter(text) {
                let name = names::of_package(&pin[1]);
                found.reject(&name, trim(&pin[2]), line, Form::PipLog, Reason::Requirement);
            }
            continue;
        }
        commands(line, index, &mut directory, found);
    }
}

/// `torch-npu-2.6.0.dev20250101`: the name ends before the first part that is a version.
fn split_installed(item: &str) -> Option<(&str, &str)> {
    item.match_indices('-').find_map(|(at, _)| {
        let (package, version) = (item.get(..at)?, item.get(at + 1..)?);
        (version.starts_with(|c: char| c.is_ascii_digit()) && is_version(version))
            .then_some((package, version))
    })
}

fn trim(version: &str) -> &str {
    version.trim_end_matches(['.', ',', '-'])
}

fn commands(line: &Line, index: usize, directory: &mut String, found: &mut Found) {
    let text = line.text.as_str();
    // A command inside a sentence is advice or a plan.
    let command = line.kind == Kind::Command || line.bullet && text.starts_with("pip");
    if let Some(install) = INSTALL.captures(text) {
        found.take(index);
        let advice = !command && ADVICE.is_match(text);
        for pin in PIN.captures_iter(&install[1]) {
            let name = names::of_package(&pin[1]);
            let value = trim(&pin[2]);
            if version_at(&pin[2]).is_none() {
                continue;
            }
            if advice || !command {
                found.reject(&name, value, line, Form::InstallCommand, Reason::Hypothetical);
            } else {
                found.add_version(&name, value, line, Form::InstallCommand, Rank::Intended);
            }
        }
    }
    if line.kind != Kind::Command {
        return;
    }
    if text.contains("git clone")
        && let Some(repository) = REPOSITORY.captures(text)
    {
        *directory = repository[1].to_owned();
        if let Some(clone) = CLONE.captures(text) {
            checkout(directory, &clone[1], line, found);
        }
    }
    if let Some(change) = CHANGE_DIR.captures(text) {
        *directory = change[1].to_owned();
    }
    if let Some(tag) = CHECKOUT.captures(text) {
        checkout(directory, &tag[1], line, found);
    }
}

/// A tag of a repository that is a package of the stack.
fn checkout(repository: &str, tag: &str, line: &Line, found: &mut Found) {
    if names::is_known_package(repository) {
        let name = names::of_package(repository);
        let tag = tag.trim_end_matches(['"', '\'']);
        found.add_version(&name, tag, line, Form::InstallCommand, Rank::Intended);
    }
}
