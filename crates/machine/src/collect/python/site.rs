//! `sys.path`: the directories that contain packages, in the search order of `import`.

use crate::sysroot::{ReadError, Sysroot};
use data::faults;
use facts::{Interpreter, ProblemKind, PthCode, Python};

/// Maximum number of kept directories, because `.pth` files may list any number.
const MAX_DIRS: usize = 500;
/// Maximum number of kept lines with code in all `.pth` files.
const MAX_IMPORTS: usize = 500;

/// Fills `site_dirs`, `pth_imports` and `editable_packages`.
pub(super) fn read(sysroot: &Sysroot, python: &mut Python) {
    let mut path = SysPath { sysroot, real: Vec::new(), python };
    for dir in python_path(sysroot) {
        path.add(&dir);
    }
    let Some(interpreter) = path.python.interpreter.clone() else { return };
    for dir in site_dirs(sysroot, &interpreter) {
        path.add_with_pth(&dir);
    }
}

/// The entries of `PYTHONPATH` as directories; an empty one is the working directory.
pub(super) fn python_path(sysroot: &Sysroot) -> Vec<String> {
    let cwd = sysroot.process().cwd.clone();
    sysroot
        .env()
        .list("PYTHONPATH")
        .into_iter()
        .filter_map(|entry| {
            if entry.starts_with('/') {
                return Some(entry.to_owned());
            }
            let cwd = cwd.as_deref()?.trim_end_matches('/');
            Some(if entry.is_empty() { cwd.to_owned() } else { format!("{cwd}/{entry}") })
        })
        .collect()
}

/// The directories that the module `site` adds, in its order.
fn site_dirs(sysroot: &Sysroot, interpreter: &Interpreter) -> Vec<String> {
    let mut dirs = own_dirs(sysroot, interpreter);
    let is_venv = interpreter.kind == "venv";
    let shared = !is_venv || interpreter.system_site;
    let user = user_site(sysroot, interpreter).filter(|_| shared);
    if is_venv {
        dirs.extend(user);
        if let Some(base) = interpreter.base_prefix.as_deref().filter(|_| shared) {
            dirs.extend(prefix_dirs(sysroot, base, minor(interpreter).as_deref()));
        }
    } else {
        dirs.splice(0..0, user);
    }
    dirs
}

/// The package directories of the interpreter's own prefix.
pub(super) fn own_dirs(sysroot: &Sysroot, interpreter: &Interpreter) -> Vec<String> {
    if interpreter.kind == "venv" {
        let Some(minor) = minor(interpreter) else { return Vec::new() };
        return ["lib", "lib64"]
            .map(|lib| format!("{}/{lib}/python{minor}/site-packages", interpreter.prefix))
            .into();
    }
    prefix_dirs(sysroot, &interpreter.prefix, minor(interpreter).as_deref())
}

fn prefix_dirs(sysroot: &Sysroot, prefix: &str, minor: Option<&str>) -> Vec<String> {
    let Some(minor) = minor else { return Vec::new() };
    let prefix = prefix.trim_end_matches('/');
    // Debian's Python has no `site-packages`, and searches /usr/local as well.
    let local = format!("/usr/local/lib/python{minor}/dist-packages");
    let debian = || sysroot.is_dir("/usr/lib/python3/dist-packages") || sysroot.is_dir(&local);
    if prefix == "/usr" && debian() {
        return vec![
            local,
            "/usr/lib/python3/dist-packages".to_owned(),
            format!("/usr/lib/python{minor}/dist-packages"),
        ];
    }
    let mut dirs = Vec::new();
    // On the Fedora family (openEuler, EulerOS), pip installs into /usr/local.
    let prefixes: &[&str] = if prefix == "/usr" { &["/usr/local", "/usr"] } else { &[prefix] };
    for prefix in prefixes {
        for lib in ["lib64", "lib"] {
            dirs.push(format!("{prefix}/{lib}/python{minor}/site-packages"));
        }
    }
    dirs
}

/// `site.USER_SITE`, unless it is disabled.
fn user_site(sysroot: &Sysroot, interpreter: &Interpreter) -> Option<String> {
    let env = sysroot.env();
    if env.non_empty("PYTHONNOUSERSITE").is_some() {
        return None;
    }
    let minor = minor(interpreter)?;
    let base = match env.non_empty("PYTHONUSERBASE") {
        Some(base) => base.to_owned(),
        None => format!("{}/.local", sysroot.home()?.trim_end_matches('/')),
    };
    Some(format!("{base}/lib/python{minor}/site-packages"))
}

/// `X.Y` of the interpreter's version.
fn minor(interpreter: &Interpreter) -> Option<String> {
    let mut parts = interpreter.version.as_deref()?.splitn(3, '.');
    Some(format!("{}.{}", parts.next()?, parts.next()?))
}

struct SysPath<'a> {
    sysroot: &'a Sysroot,
    /// Directories without links, so that `lib64 -> lib` does not count twice.
    real: Vec<String>,
    python: &'a mut Python,
}

impl SysPath<'_> {
    /// Adds an existing directory that was not added before; returns whether it was added.
    fn add(&mut self, dir: &str) -> bool {
        let dir = if dir.len() > 1 { dir.trim_end_matches('/') } else { dir };
        let real = match self.sysroot.real(dir) {
            Ok(real) => real,
            Err(error) => {
                // Packages may be behind a loop; a missing directory has none.
                if error == ReadError::Loop {
                    self.sysroot.read_problem(dir, &error);
                }
                return false;
            }
        };
        if self.real.len() >= MAX_DIRS || self.real.contains(&real) || !self.sysroot.is_dir(dir) {
            return false;
        }
        self.real.push(real);
        self.python.site_dirs.push(dir.to_owned());
        true
    }

    /// Adds a directory and the directories in its `.pth` files, as `site.addsitedir` does.
    fn add_with_pth(&mut self, dir: &str) {
        if !self.add(dir) {
            return;
        }
        let names = match self.sysroot.list(dir) {
            Ok(names) => names,
            Err(error) => return self.sysroot.read_problem(dir, &error),
        };
        for name in &names {
            let path = format!("{dir}/{name}");
            if has_extension(name, "pth") {
                if let Some(text) = self.sysroot.read_text_if_exists(&path) {
                    self.pth(dir, &path, &text);
                }
            } else if name.starts_with("__editable__")
                && has_extension(name, "py")
                && let Some(text) = self.sysroot.read_text_if_exists(&path)
            {
                self.python.editable_packages.extend(finder_mapping(&text));
            }
        }
    }

    fn pth(&mut self, dir: &str, path: &str, text: &str) {
        for (number, line) in pth_lines(text) {
            match line {
                PthLine::Code(code) => {
                    if self.python.pth_imports.len() < MAX_IMPORTS {
                        let (path, line) = (path.to_owned(), Some(number));
                        self.python.pth_imports.push(PthCode { path, code, line });
                    }
                }
                PthLine::Dir(entry) if entry.starts_with('/') => {
                    self.add(entry);
                }
                PthLine::Dir(entry) => {
                    self.add(&format!("{dir}/{entry}"));
                }
                PthLine::Bad => {
                    let detail = &faults::NulInLine.value();
                    self.sysroot.problem_at(path, Some(number), ProblemKind::Malformed, detail);
                    return;
                }
            }
        }
    }
}

/// A line of a `.pth` file.
#[derive(Debug, PartialEq, Eq)]
enum PthLine<'a> {
    /// Code that Python runs at startup; truncated to the limit of a report.
    Code(String),
    /// A directory for `sys.path`.
    Dir(&'a str),
    /// A line that Python cannot use.
    Bad,
}

/// The relevant lines, with their numbers.
fn pth_lines(text: &str) -> impl Iterator<Item = (u32, PthLine<'_>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|(number, line)| {
        let what = if line.starts_with("import ") || line.starts_with("import\t") {
            PthLine::Code(line.trim().chars().take(300).collect())
        } else if line.contains('\0') {
            PthLine::Bad
        } else {
            PthLine::Dir(line.trim_end())
        };
        (number, what)
    })
}

/// The `MAPPING` of a finder that setuptools writes for editable installs: package and directory.
/// The file is a Python program, of which only this literal is read.
fn finder_mapping(text: &str) -> Vec<(String, String)> {
    let Some(literal) = text.lines().find_map(|line| {
        let rest = line.strip_prefix("MAPPING")?;
        rest.get(rest.find('{')?..=rest.rfind('}')?)
    }) else {
        return Vec::new();
    };
    let strings = quoted_strings(literal);
    strings
        .chunks_exact(2)
        .filter(|pair| pair[1].starts_with('/'))
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect()
}

/// The contents of the string literals in a line of Python, without escapes.
fn quoted_strings(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['\'', '"']) {
        let quote = &rest[open..=open];
        let Some(len) = rest[open + 1..].find(quote) else { break };
        out.push(rest[open + 1..open + 1 + len].to_owned());
        rest = &rest[open + len + 2..];
    }
    out
}

/// Returns whether a file name has this extension (in lower case, as in Python).
pub(super) fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pth_lines_are_classified() {
        let text = "# c\nimport os; os.x()\n\n../other\n/abs/dir  \nimporter\n";
        let lines: Vec<PthLine<'_>> = pth_lines(text).map(|(_, line)| line).collect();
        assert_eq!(
            lines,
            [
                PthLine::Code("import os; os.x()".to_owned()),
                PthLine::Dir("../other"),
                PthLine::Dir("/abs/dir"),
                PthLine::Dir("importer"),
            ]
        );
    }

    #[test]
    fn finder_mapping_is_read() {
        let text = "import sys\nMAPPING: dict[str, str] = {'vllm_ascend': '/w/vllm_ascend', \
                    'a': 'rel'}\nNAMESPACES: dict[str, list[str]] = {}\n";
        let want = ("vllm_ascend".to_owned(), "/w/vllm_ascend".to_owned());
        assert_eq!(finder_mapping(text), [want]);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "\\PC{0,300}", tail in "[{}'\",:/a-z]{0,40}") {
            pth_lines(&text).count();
            finder_mapping(&text);
            finder_mapping(&format!("MAPPING = {tail}"));
        }
    }
}
