//! Dotted names: `torch.nn.functional.relu`. They are short and split at every use of a name, and
//! the searchers of the library take longer to set up than to search.

/// The part before the first dot.
pub fn first(path: &str) -> &str {
    path.bytes().position(|byte| byte == b'.').map_or(path, |dot| &path[..dot])
}

/// The part behind the last dot.
pub fn last(path: &str) -> &str {
    split_last(path).map_or(path, |(_, last)| last)
}

/// The parts before and behind the last dot; `None` without a dot.
pub fn split_last(path: &str) -> Option<(&str, &str)> {
    let dot = path.bytes().rposition(|byte| byte == b'.')?;
    Some((&path[..dot], &path[dot + 1..]))
}

/// Appends a name to the path that contains it.
pub fn join(base: &str, name: &str) -> String {
    let mut path = String::with_capacity(base.len() + 1 + name.len());
    path.push_str(base);
    path.push('.');
    path.push_str(name);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_as_by_the_library() {
        for path in ["", ".", "torch", "torch.nn", ".a.b", "a.", "é.ü.ß"] {
            assert_eq!(Some(first(path)), path.split('.').next());
            assert_eq!(Some(last(path)), path.rsplit('.').next());
            assert_eq!(split_last(path), path.rsplit_once('.'));
        }
        assert_eq!(join("torch.nn", "relu"), "torch.nn.relu");
    }
}
