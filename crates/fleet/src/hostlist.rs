//! Lists of hosts in the notation of clusters: `node[001-063,070]`.

use base::text::Text;
use data::faults;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of hosts in a list.
const MAX_HOSTS: usize = 200_000;
/// Maximum length of a host name in bytes (RFC 1035).
pub(super) const MAX_NAME: usize = 253;

/// Expands a list to its hosts, in the order of the list. Brackets contain numbers and ranges, also
/// in the notation of Ansible (`[001:063]`). A name may have several brackets, and commas separate
/// names.
pub fn expand(list: &str) -> Result<Vec<String>, Text> {
    let mut hosts = Vec::new();
    for part in split_outside(list) {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        let mut names = vec![String::new()];
        let mut rest = part;
        while let Some(open) = rest.find('[') {
            let inner = &rest[open + 1..];
            let close = inner.find(']').ok_or_else(|| faults::BracketOpen { part }.value())?;
            let numbers = expand_numbers(&inner[..close])
                .map_err(|why| faults::PathBecause { path: part, why }.value())?;
            if names.len().saturating_mul(numbers.len()) > MAX_HOSTS {
                return Err(too_many_error());
            }
            let head = &rest[..open];
            names = names
                .iter()
                .flat_map(|name| numbers.iter().map(move |number| format!("{name}{head}{number}")))
                .collect();
            rest = &inner[close + 1..];
        }
        if rest.contains(']') {
            return Err(faults::BracketExtra { part }.value());
        }
        for name in names {
            let name = name + rest;
            if name.len() > MAX_NAME {
                return Err(faults::HostNameLong { n: MAX_NAME }.value());
            }
            hosts.push(name);
        }
        if hosts.len() > MAX_HOSTS {
            return Err(too_many_error());
        }
    }
    Ok(hosts)
}

fn too_many_error() -> Text {
    faults::TooManyHosts { n: MAX_HOSTS }.value()
}

/// The parts between commas outside of brackets.
fn split_outside(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in list.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Expands `001-003,007` to numbers of the written width.
fn expand_numbers(inner: &str) -> Result<Vec<String>, Text> {
    let mut out = Vec::new();
    for part in inner.split(',') {
        let part = part.trim();
        let (from, to) = part.split_once(['-', ':']).unwrap_or((part, part));
        let number = |text: &str| {
            let digits =
                !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
            let number = digits.then(|| text.parse::<usize>().ok()).flatten();
            number.ok_or_else(|| faults::NotANumberRange { part }.value())
        };
        let (first, last) = (number(from)?, number(to)?);
        if first > last || last - first >= MAX_HOSTS {
            return Err(faults::NotARange { part }.value());
        }
        let width = from.len();
        out.extend((first..=last).map(|number| format!("{number:0width$}")));
        if out.len() > MAX_HOSTS {
            return Err(too_many_error());
        }
    }
    Ok(out)
}

/// Splits a name around its number: the texts before and after it, and the number as written.
fn split_number(name: &str) -> Option<(&str, &str, &str)> {
    // In a qualified name, the number of the host counts, not that of a domain. Addresses are
    // numbered by their last part.
    let address = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let label = if address { name.len() } else { name.find('.').unwrap_or(name.len()) };
    let end = name[..label].rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = name[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    (end - start <= 9).then(|| (&name[..start], &name[start..end], &name[end..]))
}

/// The ranges of a list of hosts, in order: `node[001-063,070]`, `login`.
pub fn format_ranges<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let hosts: BTreeSet<&str> = hosts.into_iter().collect();
    let mut plain = Vec::new();
    let mut families: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for host in hosts {
        match split_number(host) {
            Some((prefix, number, suffix)) => {
                families.entry((prefix, suffix)).or_default().push(number);
            }
            None => plain.push(host.to_owned()),
        }
    }
    let mut out = Vec::new();
    for ((prefix, suffix), numbers) in families {
        // Numbers with leading zeros define the width of all numbers of the same length.
        let padded: BTreeSet<usize> = numbers
            .iter()
            .filter(|number| number.len() > 1 && number.starts_with('0'))
            .map(|number| number.len())
            .collect();
        let mut widths: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for number in numbers {
            let width = if padded.contains(&number.len()) { number.len() } else { 0 };
            widths.entry(width).or_default().extend(number.parse::<u32>().ok());
        }
        for (width, numbers) in widths {
            out.push(format!("{prefix}{}{suffix}", format_bracket(&numbers, width)));
        }
    }
    out.extend(plain);
    out.sort();
    out
}

/// `[001-063,070]`, or a single number without brackets.
fn format_bracket(numbers: &BTreeSet<u32>, width: usize) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |number: u32| format!("{number:0width$}");
    let shown: Vec<String> = runs
        .iter()
        .map(|&(first, last)| match last - first {
            0 => text(first),
            _ => format!("{}-{}", text(first), text(last)),
        })
        .collect();
    match runs.as_slice() {
        [(first, last)] if first == last => shown.concat(),
        _ => format!("[{}]", shown.join(",")),
    }
}

/// Ranges on one line of at most about `limit` bytes. Omitted hosts are only counted.
pub fn format_shortened<'a>(hosts: impl IntoIterator<Item = &'a str>, limit: usize) -> String {
    let ranges = format_ranges(hosts);
    let mut text = String::new();
    for (number, range) in ranges.iter().enumerate() {
        let more = text.len() + range.len() > limit;
        if more && number > 0 {
            text.push_str(&format!(" … (+{})", ranges.len() - number));
            break;
        }
        if number > 0 {
            text.push(',');
        }
        if more {
            // Numbers without a pattern: the list is cut between two numbers.
            let cut = range[..range.floor_char_boundary(limit)].rfind(',').unwrap_or(0);
            let cut = if cut == 0 { range.floor_char_boundary(limit) } else { cut };
            text.push_str(&range[..cut]);
            text.push_str(if range[..cut].contains('[') { ",…]" } else { "…" });
        } else {
            text.push_str(range);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(hosts: &[&str]) -> String {
        format_ranges(hosts.iter().copied()).join(",")
    }

    #[test]
    fn ranges_keep_the_width() {
        assert_eq!(of(&["node003", "node001", "node002", "node070"]), "node[001-003,070]");
        assert_eq!(of(&["n9", "n10", "n11"]), "n[9-11]");
        assert_eq!(of(&["node099", "node100"]), "node[099-100]");
        assert_eq!(of(&["n01", "n1"]), "n1,n01".split(',').rev().collect::<Vec<_>>().join(","));
        assert_eq!(of(&["login", "node7"]), "login,node7");
    }

    #[test]
    fn domains_and_addresses() {
        assert_eq!(of(&["n1.dc2.site", "n2.dc2.site"]), "n[1-2].dc2.site");
        assert_eq!(of(&["10.0.0.1", "10.0.0.2", "10.0.0.9"]), "10.0.0.[1-2,9]");
        assert_eq!(of(&["rack1-n07", "rack1-n08", "rack2-n07"]), "rack1-n[07-08],rack2-n07");
    }

    #[test]
    fn lists_are_expanded() {
        assert_eq!(expand("a[1-2]b[01,07],c").unwrap(), ["a1b01", "a1b07", "a2b01", "a2b07", "c"]);
        assert_eq!(expand("node[001:003]").unwrap(), ["node001", "node002", "node003"]);
        for bad in ["a[1-", "a[x]", "a[3-1]", "a]", "a[1-999999999]", "a[1-999][1-999]"] {
            assert!(expand(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let hosts: Vec<String> = (0..5000).map(|n| format!("node{:05}", n * 2)).collect();
        let text = format_shortened(hosts.iter().map(String::as_str), 60);
        assert!(text.len() < 80 && text.ends_with(",…]"), "{text}");
        let names: Vec<String> = (0..50).map(|n| format!("{}-x", "ab".repeat(n + 1))).collect();
        let text = format_shortened(names.iter().map(String::as_str), 60);
        assert!(text.contains("… (+4"), "{text}");
    }

    proptest! {
        #[test]
        fn what_is_folded_unfolds(numbers in prop::collection::btree_set(0_u32..3000, 1..60), width in 0_usize..5) {
            let hosts: BTreeSet<String> = numbers.iter().map(|n| format!("n{n:0width$}.site")).collect();
            let folded = format_ranges(hosts.iter().map(String::as_str)).join(",");
            let unfolded: BTreeSet<String> = expand(&folded).unwrap().into_iter().collect();
            prop_assert_eq!(unfolded, hosts);
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,40}") {
            let _ = expand(&text);
            let _ = format_shortened([text.as_str(), "节点7", "7"], 5);
        }
    }
}
