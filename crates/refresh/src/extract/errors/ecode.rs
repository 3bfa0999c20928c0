//! `ecode.tsv`: the messages of the CANN error manager, over all registries and releases.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::ecode_messages::{self, NEWEST, Version, newest, seen};
use super::ecode_registry::{Message, is_code};
use super::raise_sites;
use super::releases::{TOOLKIT, span};
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows, Table};

/// The manually recorded registry of HCCL, whose repository has no public copy.
const HCOMM: &str = "errors/ecode_hcomm.tsv";

/// Document pages: source and pattern of the path. The file name is `CODE-TITLE.md`.
const PAGES: [(&str, &str); 2] = [
    ("hicann-runtime", r"^docs/en/error_code_ref/(?:.*/)?([EW][0-9A-Z][0-9A-F]{4})-([^/]*)\.md$"),
    ("hicann-ge", r"^docs/en/user_guides/error_codes/([EW][0-9A-Z][0-9A-F]{4})-([^/]*)\.md$"),
];

/// A document page about a message.
struct Page {
    /// `OWNER/NAME:PATH`.
    link: String,
    place: String,
    title: String,
    text: String,
}

/// Extracts `ecode.tsv`: the newest wording of each message, the releases that have it, and
/// constants in the sources that no registry has.
pub(super) fn table(context: &Context) -> Result<Content> {
    let mut all = ecode_messages::read(context)?;
    let registered = all.clone();
    for version in hcomm(context)? {
        all.codes.entry(version.message.code.clone()).or_default().push(version);
    }
    let mut pages = pages(context)?;
    let mut rows: BTreeMap<String, Vec<(Vec<String>, Place)>> = BTreeMap::new();
    for (code, versions) in &all.codes {
        let Some(current) = versions.last() else { continue };
        let title = newest(versions, |message| &message.title);
        let page = pages.remove(code);
        let (since, until) = match registered.codes.get(code) {
            // A code only of HCCL: no release except the oldest is known not to have it.
            None => (format!("> {TOOLKIT}"), String::new()),
            Some(_) => span(&seen(versions), &all.labels),
        };
        let cells = [
            code.as_str(),
            title,
            &current.message.text,
            newest(versions, |message| &message.component),
            &current.message.arguments,
            &since,
            &until,
            page.as_ref().map_or("", |page| page.link.as_str()),
            &former_titles(title, versions),
        ];
        let cells = cells.map(str::to_owned).to_vec();
        rows.entry(code.clone()).or_default().push((cells, Place::file(&current.place)));
    }
    for (code, page) in pages {
        let cells = [&code, &page.title, &page.text, "", "", "", "", page.link.as_str(), ""];
        let cells = cells.map(str::to_owned).to_vec();
        rows.entry(code).or_default().push((cells, Place::file(page.place)));
    }
    for constant in raise_sites::unregistered(context, &registered)? {
        let (since, until) = span(&constant.seen, &constant.labels);
        let code = constant.code;
        let component = component_of(&code, &registered.codes);
        let cells =
            [&code, &constant.symbol, "", &component, &constant.arguments, &since, &until, "", ""];
        let cells = cells.map(str::to_owned).to_vec();
        rows.entry(code).or_default().push((cells, constant.place));
    }
    let columns = [
        "code",
        "symbol",
        "message",
        "component",
        "arguments",
        "since",
        "until",
        "doc",
        "formerly",
    ];
    let mut table = SourcedRows::new(&columns);
    rows.into_values().flatten().for_each(|(cells, place)| table.push_row(cells, place));
    Ok(table.into_table().into())
}

/// Returns the module whose messages most often begin with the same two characters.
fn component_of(code: &str, codes: &BTreeMap<String, Vec<Version>>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, versions) in
        codes.range(code[..2].to_owned()..).take_while(|(c, _)| c[..2] == code[..2])
    {
        *counts.entry(newest(versions, |message| &message.component)).or_default() += 1;
    }
    let most = counts.into_iter().filter(|(name, _)| !name.is_empty()).max_by_key(|(_, n)| *n);
    most.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// Returns titles of other releases that differ in more than case and underscores.
fn former_titles(title: &str, versions: &[Version]) -> String {
    let plain = |title: &str| title.replace('_', " ").to_lowercase();
    let mut former: Vec<&str> = Vec::new();
    for version in versions {
        let other = version.message.title.as_str();
        let known = former.iter().any(|known| plain(known) == plain(other));
        if !other.is_empty() && plain(other) != plain(title) && !known {
            former.push(other);
        }
    }
    former.join("; ")
}

/// Returns the messages of the HCCL registry.
fn hcomm(context: &Context) -> Result<Vec<Version>> {
    let text = context.own(HCOMM)?.with_context(|| format!("{HCOMM} is missing"))?;
    let table = Table::parse(&text, None).context(HCOMM)?;
    let source = table.remarks.iter().find_map(|remark| remark.strip_prefix("source 0: "));
    let place = source.with_context(|| format!("{HCOMM} names no source"))?;
    let columns = ["code", "symbol", "component", "message", "arguments"];
    let at: Vec<usize> = columns.iter().map(|name| table.column(name)).collect::<Result<_>>()?;
    let version = |row: &Vec<String>| {
        let cell = |index: usize| row[at[index]].clone();
        let (code, title, component) = (cell(0), cell(1), cell(2));
        ensure!(is_code(&code), "{HCOMM}: `{code}` is not an E-code");
        let message = Message { code, title, component, text: cell(3), arguments: cell(4) };
        Ok(Version { label: NEWEST.to_owned(), place: place.to_owned(), message })
    };
    table.rows.iter().map(version).collect()
}

/// Returns the document pages by code.
fn pages(context: &Context) -> Result<BTreeMap<String, Page>> {
    let mut pages = BTreeMap::new();
    for (source, pattern) in PAGES {
        let tree = context.tree(source)?;
        let name = context.repository(source)?.name();
        let wanted = Regex::new(pattern)?;
        for path in tree.find(pattern)? {
            let Some(captures) = wanted.captures(path) else { continue };
            let page = Page {
                link: format!("{name}:{path}"),
                place: tree.place(path),
                title: captures[2].to_owned(),
                text: first_block(&tree.text(path)?),
            };
            pages.insert(captures[1].to_owned(), page);
        }
    }
    Ok(pages)
}

/// Returns the first code block of a page on one line: the text of the message.
fn first_block(page: &str) -> String {
    let block = page.lines().skip_while(|line| !line.trim_start().starts_with("```")).skip(1);
    let block = block.take_while(|line| !line.trim_start().starts_with("```"));
    block.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Extracts `ecode_changes.tsv`: the oldest and the newest wording of messages whose wording
/// changed.
pub(super) fn changes(context: &Context) -> Result<Content> {
    let all = ecode_messages::read(context)?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "formerly"]);
    for (code, versions) in &all.codes {
        if let Some((old, new)) = changed(versions) {
            rows.push([code, "", new, old], Place::file("the registries of errors/ecode.tsv"));
        }
    }
    Ok(rows.into_table().into())
}

/// Returns the oldest and the newest wording if they differ in more than brackets, periods and
/// blanks.
fn changed(versions: &[Version]) -> Option<(&str, &str)> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '[' | ']' | '.') && !c.is_whitespace()).collect()
    };
    let (first, last) = (&versions.first()?.message.text, &versions.last()?.message.text);
    (plain(first) != plain(last)).then_some((first, last))
}

/// Extracts `module_prefix.tsv`: the modules by the first two characters of their messages, with
/// the number of messages.
pub(super) fn prefixes(context: &Context) -> Result<Content> {
    let all = ecode_messages::read(context)?;
    let mut modules: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (code, versions) in &all.codes {
        let component = newest(versions, |message| &message.component);
        let name = if component.is_empty() { "?" } else { component };
        let counts = modules.entry(&code[..2]).or_default();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    for (prefix, mut counts) in modules {
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let shown: Vec<String> =
            counts.iter().take(4).map(|(name, count)| format!("{name} ({count})")).collect();
        let place = Place::file("the registries of errors/ecode.tsv");
        rows.push([prefix, "", &shown.join(", ")], place);
    }
    Ok(rows.into_table().into())
}

#[cfg(test)]
mod tests {
    use super::super::ecode_messages::tests::version;
    use super::*;

    #[test]
    fn former_titles_differ_in_more_than_case() {
        let versions = [
            version("8.1.RC1", "Invalid Argument", "a"),
            version("8.5.0", "Invalid Path", "a"),
            version("9.0.0", "Invalid_path", "a"),
            version("9.1.0", "Invalid_Argument", "a"),
        ];
        assert_eq!(former_titles("Invalid_Argument", &versions), "Invalid Path");
    }

    #[test]
    fn changes_of_brackets_and_periods_do_not_count() {
        let of = |old: &str, new: &str| {
            let versions = [version("8.1.RC1", "", old), version("master", "", new)];
            changed(&versions).is_some()
        };
        assert!(!of("Value [%s] is wrong.", "Value %s is wrong"));
        assert!(of("Value %s is wrong", "Value %s is invalid"));
        assert!(changed(&[]).is_none());
    }

    #[test]
    fn unregistered_codes_get_the_module_of_their_neighbors() {
        let mut with = version("master", "", "");
        with.message.component = "FE Errors".to_owned();
        let codes = BTreeMap::from([
            ("E10001".to_owned(), vec![version("master", "", "")]),
            ("E20001".to_owned(), vec![with]),
        ]);
        assert_eq!(component_of("E2100C", &codes), "FE Errors");
        assert_eq!(component_of("E11010", &codes), "");
    }

    #[test]
    fn messages_of_pages_are_their_first_block() {
        let page = "# E1\n\n```text\nValue %s\n  is invalid.\n```\n\n```text\nexample\n```\n";
        assert_eq!(first_block(page), "Value %s is invalid.");
        assert_eq!(first_block("# E1\n"), "");
    }
}
