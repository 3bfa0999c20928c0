//! Finds the names that Python modules define, from their text. No code is executed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// Modules by their path: `torch_npu/npu/__init__.py`.
pub(super) type Modules = BTreeMap<String, String>;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this program")
}

/// Matches functions, classes and assignments at module level.
static DEFINED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^(?:(?:def|class) (\w+)|(\w+)[ \t]*(?::[^=\n]+)?=[^=])"));
static IMPORTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^(?:from [\w.]+ )?import (\([^)]*\)|[^\n(\\]*(?:\\\n[^\n\\]*)*)")
});
static EXPORTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?ms)^__all__\s*\+?=\s*[\[(](.*?)[\])]"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"["'](\w+)["']"#));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"#[^\n]*"));

/// Returns the names of a module. `__all__` contains names that a library binds.
fn names(text: &str) -> BTreeSet<String> {
    let text = COMMENT.replace_all(text, "");
    let mut found = BTreeSet::new();
    for one in DEFINED.captures_iter(&text) {
        let name = one.get(1).or_else(|| one.get(2));
        found.extend(name.map(|name| name.as_str().to_owned()));
    }
    for one in IMPORTED.captures_iter(&text) {
        let list = one[1].replace("\\\n", " ");
        for part in list.trim_matches(['(', ')']).split(',') {
            // `import a.b` binds `a`; `import a as b` binds `b`.
            let name = part.rsplit(" as ").next().unwrap_or(part).trim();
            let name = name.split('.').next().unwrap_or(name);
            if !name.is_empty() {
                found.insert(name.to_owned());
            }
        }
    }
    for list in EXPORTED.captures_iter(&text) {
        found.extend(QUOTED.captures_iter(&list[1]).map(|name| name[1].to_owned()));
    }
    found
}

/// Returns whether a dotted name exists: `amp.GradScaler` below `torch_npu/npu`.
pub(super) fn has(modules: &Modules, home: &str, name: &str) -> bool {
    let file = |dir: &str| {
        let package = modules.get(&format!("{dir}/__init__.py"));
        package.or_else(|| modules.get(&format!("{dir}.py")))
    };
    let mut dir = home.to_owned();
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        let Some(text) = file(&dir) else { return false };
        let below = format!("{dir}/{part}");
        if file(&below).is_some() {
            dir = below;
            continue;
        }
        // Members of a class are not checked.
        return parts.peek().is_none() && names(text).contains(part);
    }
    file(&dir).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn names_are_defined_in_five_ways() {
        let text = "import torch\nimport a.b\nimport c as d, e\nfrom .x import (\n    f,  # g\n    h as i,\n)\n\
                    from .y import j, \\\n    k\n__all__ = [\n    'l',\n    \"m\", # 'n'\n]\n__all__ += ['o']\n\
                    p: int = 1\nq = 2\nif q == 3:\n    r = 1\ndef s():\n    t = 1\nclass U(V):\n    pass\nw == 1\n";
        let found: Vec<String> = names(text).into_iter().collect();
        let expected = [
            "U", "__all__", "a", "d", "e", "f", "i", "j", "k", "l", "m", "o", "p", "q", "s",
            "torch",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn dotted_names_are_looked_up_in_their_module() {
        let modules = modules(&[
            ("t/npu/__init__.py", "from . import amp\nclass Stream:\n    def wait(self): ...\n"),
            ("t/npu/amp/__init__.py", "from .g import Scaler\n"),
            ("t/npu/memory.py", "def free(): ...\n"),
        ]);
        let has = |name| has(&modules, "t/npu", name);
        assert!(has("amp") && has("amp.Scaler") && has("memory") && has("memory.free"));
        assert!(has("Stream") && !has("Stream.wait") && !has("stream"));
        assert!(!has("amp.Other") && !has("none.Scaler") && !has("memory.free.more"));
    }
}
