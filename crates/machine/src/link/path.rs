//! Search paths: their syntax, and the values of their tokens.

use std::collections::HashSet;

/// The values of the tokens in a search path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    /// `$ORIGIN`, if there is one.
    pub(super) origin: Option<&'a str>,
    /// `$LIB`: several if the layout of the distribution is unknown.
    pub(super) lib: &'a [String],
    /// `$PLATFORM`.
    pub(super) platform: &'a str,
    /// The working directory, if known.
    pub(super) cwd: Option<&'a str>,
}

/// Splits a search path into directories, with `$ORIGIN`, `$LIB` and `$PLATFORM` replaced. Empty
/// entries mean the working directory, and are omitted if it is unknown. A completely empty path
/// has no directories.
pub(super) fn directories(path: &str, separators: &[char], words: Words<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if path.is_empty() {
        return out;
    }
    let (mut entries, mut known) = (HashSet::new(), HashSet::new());
    for entry in path.split(separators).filter(|entry| entries.insert(*entry)) {
        let entry = entry.trim_end_matches(|c| c == '/' && entry.len() > 1);
        let expanded: Vec<String> = if entry.contains('$') {
            let libs =
                if mentions(entry, "LIB") { words.lib } else { words.lib.get(..1).unwrap_or(&[]) };
            libs.iter().filter_map(|lib| expand(entry, words, lib)).collect()
        } else {
            vec![entry.to_owned()]
        };
        for dir in expanded {
            let dir = match (dir.starts_with('/'), words.cwd) {
                (true, _) => dir,
                (false, Some(cwd)) if dir.is_empty() => cwd.to_owned(),
                (false, Some(cwd)) => format!("{}/{dir}", cwd.trim_end_matches('/')),
                (false, None) => continue,
            };
            if known.insert(dir.clone()) {
                out.push(dir);
            }
        }
    }
    out
}

fn mentions(entry: &str, token: &str) -> bool {
    entry.contains(&format!("${token}")) || entry.contains(&format!("${{{token}}}"))
}

/// Returns `None` if a token has no value here: the linker then drops the entry.
fn expand(entry: &str, words: Words<'_>, lib: &str) -> Option<String> {
    let mut out = entry.to_owned();
    let values = [("ORIGIN", words.origin), ("LIB", Some(lib)), ("PLATFORM", Some(words.platform))];
    for (token, value) in values {
        if mentions(&out, token) {
            let value = value?;
            out = out.replace(&format!("${{{token}}}"), value).replace(&format!("${token}"), value);
        }
    }
    Some(out)
}

/// The directory part of a path, as used for `$ORIGIN`.
pub(super) fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'a>(lib: &'a [String], origin: Option<&'a str>, cwd: Option<&'a str>) -> Words<'a> {
        Words { origin, lib, platform: "aarch64", cwd }
    }

    #[test]
    fn tokens_are_replaced() {
        let lib = ["lib/aarch64-linux-gnu", "lib64"].map(str::to_owned);
        let dirs = |path, origin| directories(path, &[':', ';'], words(&lib, origin, None));
        assert_eq!(
            dirs("$ORIGIN/lib/:${ORIGIN}/../x:/a//", Some("/o")),
            ["/o/lib", "/o/../x", "/a"]
        );
        assert_eq!(dirs("/usr/$LIB", None), ["/usr/lib/aarch64-linux-gnu", "/usr/lib64"]);
        assert_eq!(dirs("/p/$PLATFORM", None), ["/p/aarch64"]);
        assert!(dirs("$ORIGIN/lib", None).is_empty());
    }

    #[test]
    fn empty_entries_are_the_working_directory() {
        let lib = ["lib64".to_owned()];
        let dirs = |path, cwd| directories(path, &[':'], words(&lib, None, cwd));
        assert_eq!(dirs("/a::rel", Some("/w")), ["/a", "/w", "/w/rel"]);
        assert_eq!(dirs("/a::rel", None), ["/a"]);
        assert!(dirs("", Some("/w")).is_empty());
    }
}
