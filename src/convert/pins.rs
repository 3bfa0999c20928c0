//! Versions of packages that a tree pins: `transformers==4.50.3`.

use pep440_rs::Version;

/// Returns the versions to which a file of requirements pins a package.
pub(super) fn pinned(text: &str, package: &str) -> Vec<Version> {
    let folded = text.to_ascii_lowercase().replace('_', "-");
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let places = folded.match_indices(package).filter(|(at, _)| {
        let line = folded[..*at].rsplit('\n').next().unwrap_or_default();
        !line.ends_with(is_name) && !line.contains('#')
    });
    let versions = places.filter_map(|(at, _)| {
        let rest = folded[at + package.len()..].trim_start_matches([' ', '\t']);
        let rest = match rest.strip_prefix('[') {
            Some(extras) => extras.split_once(']')?.1.trim_start_matches([' ', '\t']),
            None => rest,
        };
        let version = rest.strip_prefix("==")?.trim_start_matches(['=', ' ', '\t']);
        let is_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '!');
        let end = version.find(|c| !is_version(c)).unwrap_or(version.len());
        // `==4.50.*` is not a single version.
        version[..end].parse().ok()
    });
    versions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_found_in_every_form() {
        for text in [
            "transformers==4.50.3\n",
            "numpy\nTransformers == 4.50.3 ; python_version > '3.8'\n",
            "dependencies = [\"transformers[torch]==4.50.3\"]",
            "  - transformers===4.50.3",
        ] {
            assert_eq!(pinned(text, "transformers"), ["4.50.3".parse().unwrap()], "{text}");
        }
        for text in [
            "transformers>=4.50.3",
            "# transformers==4.50.3",
            "my-transformers==4.50.3",
            "transformers-x==1",
            "transformers==4.*",
            "transformers",
        ] {
            assert!(pinned(text, "transformers").is_empty(), "{text}");
        }
    }
}
