//! The order in which a dynamic linker looks for a name.

/// Splits a search path into directories, with `$ORIGIN`, `$LIB` and `$PLATFORM` replaced.
/// Empty entries mean the working directory, and are left out if that is not known.
pub(super) fn directories(
    path: &str,
    separators: &[char],
    origin: Option<&str>,
    arch: &str,
    cwd: Option<&str>,
) -> Vec<String> {
    let mut out = Vec::new();
    for entry in path.split(separators) {
        let entry = entry.trim_end_matches(|c| c == '/' && entry.len() > 1);
        let expanded: Vec<String> = if entry.contains('$') {
            // `$LIB` depends on how the distribution built its linker.
            let libs = [format!("lib/{arch}-linux-gnu"), "lib64".to_owned()];
            let libs: &[String] = if mentions(entry, "LIB") { &libs } else { &libs[..1] };
            libs.iter().filter_map(|lib| expand(entry, origin, lib, arch)).collect()
        } else {
            vec![entry.to_owned()]
        };
        for dir in expanded {
            let dir = match (dir.starts_with('/'), cwd) {
                (true, _) => dir,
                (false, Some(cwd)) if dir.is_empty() => cwd.to_owned(),
                (false, Some(cwd)) => format!("{}/{dir}", cwd.trim_end_matches('/')),
                (false, None) => continue,
            };
            if !out.contains(&dir) {
                out.push(dir);
            }
        }
    }
    out
}

fn mentions(entry: &str, token: &str) -> bool {
    entry.contains(&format!("${token}")) || entry.contains(&format!("${{{token}}}"))
}

/// `None` if a token has no value here: the linker then drops the entry.
pub(super) fn expand(entry: &str, origin: Option<&str>, lib: &str, arch: &str) -> Option<String> {
    let mut out = entry.to_owned();
    for (token, value) in [("ORIGIN", origin), ("LIB", Some(lib)), ("PLATFORM", Some(arch))] {
        if mentions(&out, token) {
            let value = value?;
            out = out.replace(&format!("${{{token}}}"), value).replace(&format!("${token}"), value);
        }
    }
    Some(out)
}

/// The directory part of a path, as `$ORIGIN` takes it.
pub(super) fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_replaced() {
        let dirs = |path, origin, cwd| directories(path, &[':', ';'], origin, "aarch64", cwd);
        assert_eq!(
            dirs("$ORIGIN/lib/:${ORIGIN}/../x:/a//", Some("/o"), None),
            ["/o/lib", "/o/../x", "/a"]
        );
        assert_eq!(dirs("/usr/$LIB", None, None), ["/usr/lib/aarch64-linux-gnu", "/usr/lib64"]);
        assert_eq!(dirs("/p/$PLATFORM", None, None), ["/p/aarch64"]);
        assert!(dirs("$ORIGIN/lib", None, None).is_empty());
    }

    #[test]
    fn empty_entries_are_the_working_directory() {
        let dirs = |path, cwd| directories(path, &[':'], None, "x86_64", cwd);
        assert_eq!(dirs("/a::rel", Some("/w")), ["/a", "/w", "/w/rel"]);
        assert_eq!(dirs("/a::rel", None), ["/a"]);
    }
}
