//! Patterns for case names: a glob if it has `*` or `?`, otherwise a substring.

use regex::Regex;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: String,
    glob: Option<Regex>,
}

impl Pattern {
    /// Compiles a pattern; `*` matches any text, including slashes.
    pub(crate) fn new(source: &str) -> Result<Self, regex::Error> {
        let glob = source.contains(['*', '?']).then(|| {
            let escaped = regex::escape(source).replace(r"\*", ".*").replace(r"\?", ".");
            Regex::new(&format!("^(?:{escaped})$"))
        });
        Ok(Self { source: source.to_owned(), glob: glob.transpose()? })
    }

    /// Returns whether a name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match &self.glob {
            Some(glob) => glob.is_match(name),
            None => name.contains(&self.source),
        }
    }

    /// Returns the pattern as written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names_and_others_parts() {
        let matches = |pattern, name| Pattern::new(pattern).unwrap().matches(name);
        assert!(matches("check/", "check/f01/text-en"));
        assert!(matches("check/*/json-??", "check/f01/json-en"));
        assert!(!matches("check/*/json", "check/f01/json-en"));
        assert!(!matches("*.json", "xjson"), "a dot is a dot");
    }
}
