//! The programs that a tree installs: `console_scripts` of its packages.

use toml::Value;

/// Whether a file of this name can declare programs.
pub fn may_name(name: &str) -> bool {
    matches!(name, "pyproject.toml" | "setup.cfg" | "setup.py")
}

/// The programs that the text of such a file declares.
pub fn named(file: &str, text: &str) -> Vec<String> {
    if file == "pyproject.toml" {
        return of_pyproject(text);
    }
    // `console_scripts = name = module:function`, one or more, in Python or in INI.
    let Some(from) = text.find("console_scripts") else { return Vec::new() };
    let text = &text[from..];
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut found = Vec::new();
    for (at, _) in text.match_indices('=') {
        let before = text[..at].trim_end_matches([' ', '\t']);
        let start = before.rfind(|c: char| !word(c)).map_or(0, |at| at + 1);
        let behind = text[at + 1..].trim_start_matches([' ', '\t']);
        let end = behind.find(|c: char| !word(c)).unwrap_or(behind.len());
        let function = behind[end..].strip_prefix(':').is_some_and(|rest| rest.starts_with(word));
        if end > 0 && function && start < before.len() {
            found.push(before[start..].to_owned());
        }
    }
    found
}

/// The modules that a setup.py builds from CUDA sources: `CUDAExtension('name', …)`, and
/// `CppExtension('name', ['kernel.cu'])`.
pub fn extensions(text: &str) -> Vec<String> {
    const CALL: &str = "Extension(";
    let starts: Vec<usize> = text.match_indices(CALL).map(|(at, _)| at).collect();
    let mut found = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        let arguments = &text[start + CALL.len()..end];
        let of_cuda = text[..start].ends_with("CUDA")
            || [".cu'", ".cu\""].iter().any(|ending| arguments.contains(ending));
        if of_cuda && let Some(name) = first_name(arguments) {
            found.push(name);
        }
    }
    // The class is chosen at run time: `extension_type("a.backend", …)`.
    if text.contains("CUDAExtension") && !text.contains("CUDAExtension(") {
        let choices = text.match_indices("ext_modules").map(|(at, _)| &text[at..]);
        let first = |list: &str| first_name(&list[list.find('(')? + 1..]);
        found.extend(choices.filter_map(first));
    }
    found
}

/// The last part of the name that the arguments of an extension begin with.
fn first_name(arguments: &str) -> Option<String> {
    let rest = arguments.trim_start();
    let rest = rest.strip_prefix("name").map_or(rest, str::trim_start);
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let name = rest[1..].split(quote).next()?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let last = name.rsplit('.').next().unwrap_or(name);
    (name.chars().all(word) && !last.is_empty()).then(|| last.to_owned())
}

fn of_pyproject(text: &str) -> Vec<String> {
    let Ok(document) = text.parse::<toml::Table>() else { return Vec::new() };
    let tables: [&[&str]; 3] =
        [&["project", "scripts"], &["project", "gui-scripts"], &["tool", "poetry", "scripts"]];
    let mut found = Vec::new();
    for path in tables {
        let mut at = Some(&document);
        for part in path {
            at = at.and_then(|table| table.get(*part)).and_then(Value::as_table);
        }
        found.extend(at.into_iter().flat_map(toml::Table::keys).cloned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_by_their_last_name() {
        let text = "CUDAExtension('a_cuda', [\n'x.cu'])\nCUDAExtension(\n name=\"p.q._C\", sources=s)\n\
                    CUDAExtension(name, s)\nCppExtension('c', ['x.cpp'])\nCppExtension('d', ['x.cu'])";
        assert_eq!(extensions(text), ["a_cuda", "_C", "d"]);
    }

    #[test]
    fn programs_of_all_three_files() {
        let toml = "[project.scripts]\nyolo = 'a.b:main'\n[tool.poetry.scripts]\nx = 'y:z'\n";
        assert_eq!(named("pyproject.toml", toml), ["yolo", "x"]);
        let python = "setup(entry_points={'console_scripts': ['onmt_train=onmt.bin.train:main', \
                      \"b-c = d:e\"]}, version='1')";
        assert_eq!(named("setup.py", python), ["onmt_train", "b-c"]);
        let ini = "[options.entry_points]\nconsole_scripts =\n    f = g.h:i\n    j=k:l\n";
        assert_eq!(named("setup.cfg", ini), ["f", "j"]);
        assert!(
            named("setup.py", "x = 'a:b'").is_empty() && named("pyproject.toml", "[").is_empty()
        );
    }
}
