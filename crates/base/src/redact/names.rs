//! The names of a machine and of its users, from its files.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use super::domain;

/// Maximum number of names.
const MOST: usize = 5_000;
/// Accounts that many machines have. They stay, because the account of a process is evidence.
const SYSTEM: [&str; 9] = [
    "root",
    "localhost",
    "nobody",
    "nfsnobody",
    "daemon",
    "HwHiAiUser",
    "HwDmUser",
    "HwBaseUser",
    "HwSysUser",
];
/// Names of accounts and hosts that are words: removed only where the text marks them as names.
const WORDS: &str = " \
    admin ai anaconda app ascend benchmark bin build cann centos cluster code conda container cuda \
    data debian debug default deploy dev develop developer device docker driver error etc euler \
    firmware git gpu guest hccl home host huawei infer inference info jenkins job jobs kylin lib \
    linux local log logs main master mindspore miniconda mnt model models node npu openeuler ops opt \
    project projects public python python3 pytorch run runner server service share shared slave \
    storage system team temp test tester tmp tools torch train training ubuntu user users usr var \
    vllm warning web work worker workspace ";
/// User IDs of people.
const PEOPLE: std::ops::RangeInclusive<u32> = 1_000..=4_000_000_000;
const NOBODY: [u32; 2] = [65_534, 65_535];

/// The names to redact.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names that are not words: removed at every occurrence that is not part of a longer name.
    anywhere: Option<AhoCorasick>,
    /// The other names: removed only where the text marks them as names.
    marked: Option<Marked>,
}

#[derive(Debug)]
struct Marked {
    names: Vec<String>,
    places: Vec<Regex>,
    /// Matches in tables of accounts only.
    members: Regex,
}

/// A line of a table of accounts.
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m-u)^[\w.-]+:[x*!]?:\d+:").expect("the expression is proved by a test")
});

impl Names {
    pub(super) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<String> = names
            .into_iter()
            .filter(|name| !name.is_empty() && !SYSTEM.contains(&name.as_str()))
            .take(MOST)
            .collect();
        names.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
        names.dedup();
        // In the directories that contain homes, the last part of a path is always a name.
        let (homes, names): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| name.starts_with('/'));
        let (words, names): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|n| is_word(n));
        let anywhere = (!names.is_empty()).then(|| {
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&names).ok()
        });
        let marked = (!words.is_empty()).then(|| Marked::new(words, &homes)).flatten();
        Self { anywhere: anywhere.flatten(), marked }
    }

    /// Returns the byte ranges of the names.
    pub(super) fn find(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let part = |at: Option<usize>| {
            let byte = at.and_then(|at| text.get(at));
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for found in self.anywhere.iter().flat_map(|all| all.find_iter(text)) {
            if !part(found.start().checked_sub(1)) && !part(Some(found.end())) {
                spans.push((found.start(), found.end()));
            }
        }
        let Some(marked) = &self.marked else { return spans };
        let members = ACCOUNT.is_match(text).then_some(&marked.members);
        for place in marked.places.iter().chain(members) {
            let mut at = 0;
            while at <= text.len()
                && let Some(found) = place.captures_at(text, at)
                && let Some(name) = found.iter().skip(1).flatten().next()
            {
                spans.push((name.start(), name.end()));
                // The end of one match may be the start of the next.
                at = name.end();
            }
        }
        spans
    }

    /// Returns whether a value that the context marks as a name is one of the names.
    pub(super) fn is_marked(&self, value: &str) -> bool {
        self.marked.as_ref().is_some_and(|marked| marked.names.iter().any(|name| name == value))
    }
}

impl Marked {
    fn new(names: Vec<String>, homes: &[String]) -> Option<Self> {
        let all = names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
        let place = |form: &str| Regex::new(&form.replace("NAME", &format!("({all})"))).ok();
        let places = [
            // The whole content of a file: /etc/hostname.
            r"(?-u)\ANAME\r?\n\z",
            // /etc/passwd and /etc/group, /etc/hosts.
            r"(?m-u)^NAME:[^:\n]*:\d+:",
            r"(?m-u)^[ \t]*[0-9a-fA-F.:]{3,45}[ \t]+(?:\S+[ \t]+)*?NAME(?:[ \t\r]|$)",
            r#"(?i-u)\b(?:user(?:name)?|login|logname|owner|account|host(?:_?name)?|node(?:_?name)?)["']?\s{0,8}[:=]\s{0,4}["']?NAME(?:[^\w.-]|\z)"#,
            r"(?-u)(?:^|[^\w.-])NAME@",
            r"(?-u)@NAME(?:[^\w.-]|\z)",
            r"(?-u)\bLinux NAME \d",
        ];
        let mut places: Vec<Regex> = places.iter().filter_map(|form| place(form)).collect();
        let homes = homes.iter().filter_map(|home| {
            let (above, last) = home.trim_end_matches('/').rsplit_once('/')?;
            let is_one = !above.is_empty() && names.iter().any(|name| name == last);
            is_one.then(|| format!("{}/({})", regex::escape(above), regex::escape(last)))
        });
        let homes: Vec<String> = homes.collect();
        if !homes.is_empty() {
            places
                .extend(Regex::new(&format!("(?-u)(?:{})(?:[^\\w.-]|\\z)", homes.join("|"))).ok());
        }
        Some(Self { members: place(r"(?m-u)[:,]NAME(?:,|\r?$)")?, places, names })
    }
}

/// Returns whether a name is a word that harmless texts contain, too.
fn is_word(name: &str) -> bool {
    name.len() < 3
        || name.bytes().all(|byte| byte.is_ascii_digit())
        || WORDS.contains(&format!(" {} ", name.to_ascii_lowercase()))
}

/// Returns the names of people in `/etc/passwd` and `/etc/group`: their logins, full names, the
/// paths of their homes and the last part of each path.
pub fn people(passwd: &str, group: &str) -> Vec<String> {
    let id = |field: &str| field.parse().ok().filter(|id| !NOBODY.contains(id));
    let mut names = Vec::new();
    let mut services = Vec::new();
    for line in passwd.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, uid, _, called, home, ..] = fields[..] else { continue };
        if !id(uid).is_some_and(|uid| PEOPLE.contains(&uid)) || SYSTEM.contains(&name) {
            services.push(name);
            continue;
        }
        let called = called.split(',').next().unwrap_or_default().trim();
        names.extend([name, called, last(home), home]);
    }
    for line in group.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, _, members, ..] = fields[..] else { continue };
        // Members from a directory service are missing in the local tables.
        names.extend(members.split(',').map(str::trim).filter(|name| !services.contains(name)));
    }
    names.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The last part of the path of a home.
pub fn last(home: &str) -> &str {
    home.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The names in `/etc/hosts`, each also without its domain.
pub fn hosts(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        for name in line.split_whitespace().skip(1) {
            let known = name.starts_with("localhost")
                || name.starts_with("ip6-")
                || name == "broadcasthost"
                || domain::is_public(name);
            if !known {
                names.push(name.to_owned());
                names.extend(short(name).map(str::to_owned));
            }
        }
    }
    names
}

/// A host name without its domain, unless the result is a word.
pub fn short(host: &str) -> Option<&str> {
    let (first, _) = host.split_once('.')?;
    first.contains(|c: char| c.is_ascii_digit() || c == '-').then_some(first)
}
