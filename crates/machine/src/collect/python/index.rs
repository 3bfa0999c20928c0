//! The package indexes that pip would use.

use crate::sysroot::{Sysroot, environ};
use facts::{Interpreter, PipIndex};

/// Maximum number of kept indexes.
const MAX_INDEXES: usize = 50;

/// Indexes of the environment and of pip's configuration files: the source of each, and its address
/// without user names and passwords.
pub(super) fn read(sysroot: &Sysroot, interpreter: Option<&Interpreter>) -> Vec<PipIndex> {
    let env = sysroot.env();
    let mut out = Vec::new();
    for name in ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"] {
        for url in env.get(name).unwrap_or_default().split_whitespace() {
            out.push(index(name, None, url));
        }
    }
    let home = env.non_empty("HOME");
    let config = env.non_empty("XDG_CONFIG_HOME").map(str::to_owned);
    let config = config.or_else(|| home.map(|home| format!("{home}/.config")));
    let files = [
        env.non_empty("PIP_CONFIG_FILE").map(str::to_owned),
        Some("/etc/pip.conf".to_owned()),
        Some("/etc/xdg/pip/pip.conf".to_owned()),
        home.map(|home| format!("{home}/.pip/pip.conf")),
        config.map(|config| format!("{config}/pip/pip.conf")),
        interpreter.map(|interpreter| format!("{}/pip.conf", interpreter.prefix)),
    ];
    for path in files.into_iter().flatten().filter(|path| path.starts_with('/')) {
        if let Some(text) = sysroot.read_text_if_exists(&path) {
            out.extend(parse(&path, &text));
        }
    }
    out.truncate(MAX_INDEXES);
    out
}

fn index(source: &str, line: Option<u32>, url: &str) -> PipIndex {
    PipIndex { source: source.to_owned(), url: environ::redact_urls(url), line }
}

/// Parses `index-url` and `extra-index-url` of a `pip.conf`; the latter may continue in indented
/// lines.
fn parse(path: &str, text: &str) -> Vec<PipIndex> {
    let mut out = Vec::new();
    let mut key = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let value = if line.starts_with([' ', '\t']) {
            trimmed
        } else if trimmed.starts_with('[') {
            key.clear();
            continue;
        } else if let Some((name, value)) = trimmed.split_once(['=', ':']) {
            key = name.trim().replace('_', "-").to_ascii_lowercase();
            value
        } else {
            continue;
        };
        if matches!(key.as_str(), "index-url" | "extra-index-url") {
            out.extend(value.split_whitespace().map(|url| index(path, Some(number), url)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continued_lines_are_joined_and_secrets_removed() {
        let text = "[global]\nindex-url = https://u:p@host/simple\n\
                    extra_index_url =\n    https://a/simple\n    https://b/simple\n\
                    timeout = 3\n";
        let found = parse("/etc/pip.conf", text);
        let urls: Vec<&str> = found.iter().map(|index| index.url.as_str()).collect();
        assert_eq!(urls, ["https://***@host/simple", "https://a/simple", "https://b/simple"]);
        let lines: Vec<Option<u32>> = found.iter().map(|index| index.line).collect();
        assert_eq!(lines, [Some(2), Some(4), Some(5)]);
    }
}
