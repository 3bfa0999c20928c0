//! Dotted names: `torch.nn.functional.relu`. They are short and taken apart at every use of a name,
//! where the searchers of the library take longer to set up than to search.

/// What stands before the first dot.
pub fn first(path: &str) -> &str {
    path.bytes().position(|byte| byte == b'.').map_or(path, |dot| &path[..dot])
}

/// What stands behind the last dot.
pub fn last(path: &str) -> &str {
    split_last(path).map_or(path, |(_, last)| last)
}

/// What stands before and behind the last dot; nothing where there is none.
pub fn split_last(path: &str) -> Option<(&str, &str)> {
    let dot = path.bytes().rposition(|byte| byte == b'.')?;
    Some((&path[..dot], &path[dot + 1..]))
}

/// A name in what has another one.
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
