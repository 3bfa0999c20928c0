//! The files of a tree, and those that they import.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the sources that the user named, and what they import"
)]

use std::cell::RefCell;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use memchr::memmem;
use rayon::prelude::*;

use super::facts::Facts;
use super::reach;
use crate::audit::{Model, Note, Unreadable};
use crate::convert::kind::FileKind;
use crate::convert::walk;

/// The largest source that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// What of the imports is followed, and what counts.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Follow imports out of what is named: into the packages beside it, and those of `site`.
    pub follow: bool,
    /// Directories of installed packages.
    pub site: Vec<PathBuf>,
    /// Count the operators of the backward pass too.
    pub backward: bool,
}

/// Packages that are not followed: their operators are in the tables, or they have none.
const CLOSED: &[&str] = &[
    "torch",
    "torch_npu",
    "torchgen",
    "functorch",
    "triton",
    "numpy",
    "scipy",
    "pandas",
    "PIL",
    "cv2",
    "sympy",
    "matplotlib",
    "tensorflow",
    "jax",
    "flax",
    "keras",
    "sklearn",
    "skimage",
    "pydantic",
    "tqdm",
    "yaml",
    "requests",
    "huggingface_hub",
    "tokenizers",
    "safetensors",
    "setuptools",
    "pytest",
    "networkx",
    "onnx",
    "onnxruntime",
];

/// What the Python sources of a file or directory use.
///
/// # Errors
///
/// Where nothing can be read, or a file that is named does not parse.
pub fn read(path: &Path, options: &Options) -> Result<Model, Unreadable> {
    if path.is_dir() { tree(path, options) } else { single(path, options) }
}

fn single(path: &Path, options: &Options) -> Result<Model, Unreadable> {
    let text = text_of(path)?;
    let facts = facts_of(path, &text)
        .map_err(|error| Unreadable::Python { line: error.line, message: error.message })?;
    Ok(follow(vec![facts], &[path.to_owned()], options))
}

fn tree(root: &Path, options: &Options) -> Result<Model, Unreadable> {
    let scope = walk::Scope {
        roots: vec![root.to_owned()],
        launch: Vec::new(),
        exclude: Vec::new(),
        kinds: vec![FileKind::Python],
        ignore_files: true,
        max_size: LARGEST,
    };
    let found =
        walk::walk(&scope).map_err(|error| Unreadable::Damaged { what: error.to_string() })?;
    let all: Vec<(PathBuf, Option<Facts>)> = found
        .files
        .par_iter()
        .filter(|file| !is_test(&file.relative))
        .filter_map(|file| {
            let text = text_of(&file.path).ok()?;
            // What never names torch has nothing to say of it.
            memmem::find(text.as_bytes(), b"torch")?;
            Some((file.path.clone(), facts_of(&file.path, &text).ok()))
        })
        .collect();
    let unread = all.iter().filter(|(_, facts)| facts.is_none()).count();
    let (paths, facts): (Vec<PathBuf>, Vec<Facts>) =
        all.into_iter().filter_map(|(path, facts)| Some((path, facts?))).unzip();
    if facts.is_empty() {
        return Err(Unreadable::NoSources);
    }
    let mut model = follow(facts, &paths, options);
    if unread > 0 {
        model.note(Note::NotParsed);
    }
    Ok(model)
}

/// Whether a file holds tests, by its name or that of its directory.
fn is_test(relative: &Path) -> bool {
    let name = relative.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let in_tests = relative.parent().is_some_and(|parent| {
        parent.iter().any(|part| matches!(part.to_str(), Some("tests" | "test" | "testing")))
    });
    in_tests || name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py"
}

fn text_of(path: &Path) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Unreadable::TooLarge { what: "the source".to_owned(), limit: LARGEST });
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn facts_of(path: &Path, text: &str) -> Result<Facts, crate::convert::python::SyntaxError> {
    let (module, package) = module_of(path);
    super::facts(text, &path.display().to_string(), &module, &package)
}

/// Where imports of a file begin: above the packages that it stands in.
fn import_root(path: &Path) -> PathBuf {
    let mut dir = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    while dir.join("__init__.py").is_file() {
        let Some(parent) = dir.parent() else { break };
        dir = parent.to_owned();
    }
    dir
}

/// The dotted names of the module that a file is, and of its package.
fn module_of(path: &Path) -> (String, String) {
    let root = import_root(path);
    let relative = path.strip_prefix(&root).unwrap_or(path);
    let mut parts: Vec<&str> = relative.iter().filter_map(|part| part.to_str()).collect();
    let stem = parts.pop().map_or("", |name| name.strip_suffix(".py").unwrap_or(name));
    let package = parts.join(".");
    if stem == "__init__" {
        (package.clone(), package)
    } else if package.is_empty() {
        (stem.to_owned(), package)
    } else {
        (format!("{package}.{stem}"), package)
    }
}

/// The operators of some files, and of what they import, where that is asked for.
fn follow(facts: Vec<Facts>, paths: &[PathBuf], options: &Options) -> Model {
    let known: HashSet<PathBuf> =
        paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut roots: Vec<PathBuf> = Vec::new();
    for path in paths {
        let root = import_root(path);
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots.extend(options.site.iter().cloned());
    let cache: RefCell<HashMap<PathBuf, Option<Arc<Facts>>>> = RefCell::default();
    let load = |module: &str| -> Option<Arc<Facts>> {
        if !options.follow || CLOSED.contains(&module.split('.').next().unwrap_or(module)) {
            return None;
        }
        let relative = module.replace('.', "/");
        let candidates = roots.iter().flat_map(|root| {
            [root.join(format!("{relative}.py")), root.join(&relative).join("__init__.py")]
        });
        let path = candidates.into_iter().find(|path| path.is_file())?;
        let real = path.canonicalize().ok()?;
        if known.contains(&real) {
            return None;
        }
        let mut cache = cache.borrow_mut();
        cache
            .entry(real)
            .or_insert_with(|| {
                let text = text_of(&path).ok()?;
                facts_of(&path, &text).ok().map(Arc::new)
            })
            .clone()
    };
    reach::model(facts, &load, options.backward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_names() {
        for yes in ["tests/a.py", "a/test/b.py", "test_x.py", "a/x_test.py"] {
            assert!(is_test(Path::new(yes)), "{yes}");
        }
        for no in ["latest/a.py", "testimony.py", "a.py"] {
            assert!(!is_test(Path::new(no)), "{no}");
        }
    }
}
