//! Reads the files of a tree, and the files that they import.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the sources that the user named, and what they import"
)]

use std::cell::RefCell;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use foldhash::{HashMap, HashSet};
use memchr::memmem;

use pysyntax::SyntaxError;
use pysyntax::dotted;
use pysyntax::notebook;
use pysyntax::{on_enough_stack, parse_module};
use treeedit::kind::FileKind;
use treeedit::walk;
use treeedit::walk::{SkipReason, WalkError};

use super::facts::Facts;
use super::reachability;
use super::source_facts::{self, Source};
use super::walk::Wanted;
use crate::model::{Model, Note};
use crate::unreadable::Unreadable;

/// The maximum size of a source, in bytes.
const LARGEST: u64 = 16 << 20;

/// The number of source bytes that one thread reads at a time: small, so that all threads finish
/// together.
const AT_A_TIME: u64 = 32 << 10;

/// Options for following imports and counting operators.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Follow imports out of the given paths: into packages next to them, and into those of `site`.
    pub follow: bool,
    /// Directories of installed packages.
    pub site: Vec<PathBuf>,
    /// Also count the operators of the backward pass.
    pub backward: bool,
    /// Search for code that a fused operator could replace.
    pub suggest: bool,
}

impl Options {
    fn wanted(&self) -> Wanted {
        Wanted { suggestions: self.suggest, calls: self.follow }
    }
}

/// Packages whose imports are not followed: their operators are in the tables, or they have none.
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

/// Reads the operators of a Python file or of a directory of sources.
///
/// # Errors
///
/// Returns an error if no source can be read, or if a file named by the user cannot be parsed.
pub fn read(path: &Path, options: &Options) -> Result<Model, Unreadable> {
    if path.is_dir() { tree(path, options).model } else { single(path, options) }
}

/// The result of reading a directory.
#[derive(Debug)]
pub struct Tree {
    /// The operators of its sources, or the reason why there are none.
    pub model: Result<Model, Unreadable>,
    /// Sources that could not be read, with the reasons. Their operators are not in the model.
    pub unread: Vec<Unread>,
}

/// An unreadable path and the reason.
pub type Unread = (PathBuf, Unreadable);

/// Returns whether a file is read as a source, by its name.
pub fn is_source(path: &Path) -> bool {
    let kind = path.file_name().and_then(|name| FileKind::of_name(name.to_str()?));
    matches!(kind, Some(FileKind::Python | FileKind::Notebook))
}

/// Reads the operators of one text: Python source or, with `notebook`, the JSON of a notebook.
///
/// # Errors
///
/// Returns an error if the text cannot be parsed.
pub fn of_source(text: &str, notebook: bool, backward: bool) -> Result<Model, Unreadable> {
    let path = Path::new(if notebook { "source.ipynb" } else { "source.py" });
    let packages = Packages::default();
    let wanted = Wanted { suggestions: true, calls: false };
    let facts = facts_of(path, text, &Reading { packages: &packages, wanted })?;
    Ok(reachability::model(vec![facts], None, backward))
}

fn single(path: &Path, options: &Options) -> Result<Model, Unreadable> {
    let text = text_of(path)?;
    let packages = Packages::default();
    let reading = Reading { packages: &packages, wanted: options.wanted() };
    let facts = facts_of(path, &text, &reading)?;
    Ok(follow(vec![facts], &[path.to_owned()], options))
}

/// Returns the walk over the sources below a directory.
fn scope_of(root: &Path) -> walk::Scope {
    walk::Scope {
        roots: vec![root.to_owned()],
        launch: Vec::new(),
        exclude: Vec::new(),
        kinds: vec![FileKind::Python, FileKind::Notebook],
        ignore_files: true,
        max_size: LARGEST,
        linked_files: true,
    }
}

/// Reads the operators of the Python sources in a directory, and lists unreadable sources.
pub fn tree(root: &Path, options: &Options) -> Tree {
    let packages = Packages::default();
    let reading = Reading { packages: &packages, wanted: options.wanted() };
    let (all, mut unread) = match found_and_read(&scope_of(root), &reading) {
        Ok(found) => found,
        Err(WalkError::Unreadable(_, error)) => {
            return Tree { model: Err(Unreadable::Io(error)), unread: Vec::new() };
        }
        Err(error) => {
            let model = Err(Unreadable::Damaged { what: error.fault().text() });
            return Tree { model, unread: Vec::new() };
        }
    };
    let (mut paths, mut facts, mut parsed) = (Vec::new(), Vec::new(), true);
    for (path, said) in all {
        match said {
            Ok(Some(said)) => {
                paths.push(path);
                facts.push(said);
            }
            Ok(None) => parsed = false,
            Err(error) => unread.push((path, error)),
        }
    }
    if facts.is_empty() {
        return Tree { model: Err(Unreadable::NoSources), unread };
    }
    let mut model = follow(facts, &paths, options);
    if !parsed {
        model.note(Note::NotParsed);
    }
    Tree { model: Ok(model), unread }
}

/// A source with its facts; `None` if it cannot be parsed, and an error if it cannot be read.
type ReadSource = (PathBuf, Result<Option<Arc<Facts>>, Unreadable>);

/// Returns the sources of a tree that mention torch, in walk order, and the paths that could not be
/// read. Reading starts while the walk is still running.
fn found_and_read(
    scope: &walk::Scope,
    reading: &Reading<'_>,
) -> Result<(Vec<ReadSource>, Vec<Unread>), WalkError> {
    let (send, parts) = mpsc::channel();
    let found = rayon::in_place_scope(|threads| {
        let read = |number: usize, files: Vec<PathBuf>| {
            let send = send.clone();
            threads.spawn(move |_| {
                let said =
                    files.into_iter().filter_map(|path| read_source(path, reading)).collect();
                // The receiver exists until everything is sent.
                let _ = send.send((number, said));
            });
        };
        let (mut number, mut size) = (0, 0);
        let mut files = Vec::new();
        let found = walk::walk_and(scope, &mut |file| {
            if is_test(&file.relative) {
                return;
            }
            files.push(file.path.clone());
            size += file.size;
            if size >= AT_A_TIME {
                read(number, std::mem::take(&mut files));
                (number, size) = (number + 1, 0);
            }
        })?;
        read(number, files);
        Ok(found)
    })?;
    drop(send);
    let mut parts: Vec<(usize, Vec<ReadSource>)> = parts.into_iter().collect();
    parts.sort_unstable_by_key(|(number, _)| *number);
    let unread = found.skipped.into_iter().filter_map(unread).collect();
    Ok((parts.into_iter().flat_map(|(_, said)| said).collect(), unread))
}

/// Returns a path that the walk could not read. Links to directories, and pipes, are left out, as
/// for other files.
fn unread(skipped: walk::SkippedFile) -> Option<Unread> {
    let why = match skipped.why {
        SkipReason::Unreadable(kind, words) => {
            Unreadable::Io(std::io::Error::new(kind, data::faults::Plain { why: words }.fault()))
        }
        SkipReason::TooLarge(_) => too_large(),
        SkipReason::LinkDangles if !is_test(&skipped.path) => {
            Unreadable::Io(std::io::ErrorKind::NotFound.into())
        }
        SkipReason::LinkLeaves(_) | SkipReason::LinkDangles | SkipReason::NotRegular => {
            return None;
        }
    };
    Some((skipped.path, why))
}

fn too_large() -> Unreadable {
    Unreadable::TooLarge { what: data::faults::PartSource.value(), limit: LARGEST }
}

/// Reads a file of a tree; `None` if it does not mention torch.
fn read_source(path: PathBuf, reading: &Reading<'_>) -> Option<ReadSource> {
    let text = match text_of(&path) {
        Ok(text) => text,
        Err(error) => return Some((path, Err(error))),
    };
    // A file that never mentions torch has no relevant facts.
    memmem::find(text.as_bytes(), b"torch")?;
    let facts = facts_of(&path, &text, reading).ok();
    Some((path, Ok(facts)))
}

/// Returns whether a file contains tests, by its name or that of its directory.
fn is_test(relative: &Path) -> bool {
    let name = relative.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let in_tests = relative.parent().is_some_and(|parent| {
        parent.iter().any(|part| matches!(part.to_str(), Some("tests" | "test" | "testing")))
    });
    in_tests || name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py"
}

/// Reads the text of a source.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or is too large.
pub fn text_of(path: &Path) -> Result<String, Unreadable> {
    let file = guard::file::open_regular(path)?;
    let size = file.metadata().map_or(0, |about| about.len()).min(LARGEST);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn facts_of(path: &Path, text: &str, reading: &Reading<'_>) -> Result<Arc<Facts>, Unreadable> {
    let refused =
        |error: SyntaxError| Unreadable::Python { line: error.line, message: error.message };
    let (module, package) = module_of(path, reading.packages);
    let shown = path.display().to_string();
    let source = Source {
        text,
        path: &shown,
        module: &module,
        package: &package,
        cells: false,
        wanted: reading.wanted,
    };
    if path.extension().is_none_or(|extension| extension != "ipynb") {
        return source_facts::facts(source).map(Arc::new).map_err(refused);
    }
    let parses = |text: &str| on_enough_stack(text, || parse_module(text, true).map(drop)).is_ok();
    let code = notebook::code(text, &parses).map_err(|error| {
        crate::unreadable::damaged(data::faults::NoJsonAt { offset: error.at }.value())
    })?;
    let Some(code) = code else { return Ok(Arc::default()) };
    let mut facts =
        source_facts::facts(Source { text: &code.text, cells: true, ..source }).map_err(refused)?;
    facts.in_lines(&code.lines);
    facts.partly = code.left_out > 0;
    Ok(Arc::new(facts))
}

/// The settings for reading files.
struct Reading<'p> {
    packages: &'p Packages,
    wanted: Wanted,
}

/// The import root of each known directory.
#[derive(Debug, Default)]
struct Packages(Mutex<HashMap<PathBuf, PathBuf>>);

impl Packages {
    /// Returns the import root for the files of a directory: the nearest directory at or above it
    /// that is not a package. Each directory is checked once, or twice if two threads need it at
    /// the same time.
    fn root_of(&self, dir: &Path) -> PathBuf {
        let known = |dir: &Path| {
            let roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            roots.get(dir).cloned()
        };
        let mut passed = Vec::new();
        let mut at = dir;
        let root = loop {
            if let Some(root) = known(at) {
                break root;
            }
            passed.push(at.to_owned());
            if !at.join("__init__.py").is_file() {
                break at.to_owned();
            }
            let Some(parent) = at.parent() else { break at.to_owned() };
            at = parent;
        };
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        roots.extend(passed.into_iter().map(|dir| (dir, root.clone())));
        root
    }
}

/// Returns the import root of a file.
fn import_root(path: &Path, packages: &Packages) -> PathBuf {
    packages.root_of(path.parent().unwrap_or(Path::new("")))
}

/// Returns the dotted names of the module of a file, and of its package.
fn module_of(path: &Path, packages: &Packages) -> (String, String) {
    let root = import_root(path, packages);
    let relative = path.strip_prefix(&root).unwrap_or(path);
    let mut parts: Vec<&str> = relative.iter().filter_map(|part| part.to_str()).collect();
    let stem = parts.pop().map_or("", |name| name.strip_suffix(".py").unwrap_or(name));
    let package = parts.join(".");
    if stem == "__init__" {
        (package.clone(), package)
    } else if package.is_empty() {
        (stem.to_owned(), package)
    } else {
        (dotted::join(&package, stem), package)
    }
}

/// Returns the operators of some files and, on request, of their imports.
fn follow(facts: Vec<Arc<Facts>>, paths: &[PathBuf], options: &Options) -> Model {
    if !options.follow {
        return reachability::model(facts, None, options.backward);
    }
    let known: HashSet<PathBuf> =
        paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let packages = Packages::default();
    let mut roots: Vec<PathBuf> = Vec::new();
    for path in paths {
        let root = import_root(path, &packages);
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots.extend(options.site.iter().cloned());
    let cache: RefCell<HashMap<PathBuf, Option<Arc<Facts>>>> = RefCell::default();
    let load = |module: &str| -> Option<Arc<Facts>> {
        if CLOSED.contains(&dotted::first(module)) {
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
                let wanted = Wanted { suggestions: false, calls: true };
                let reading = Reading { packages: &packages, wanted };
                facts_of(&path, &text, &reading).ok()
            })
            .clone()
    };
    reachability::model(facts, Some(&load), options.backward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_root_is_above_packages() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(inner.join("loose")).unwrap();
        std::fs::write(dir.path().join("a/__init__.py"), "").unwrap();
        std::fs::write(inner.join("__init__.py"), "").unwrap();
        let packages = Packages::default();
        let of = |path: &str| module_of(&dir.path().join(path), &packages);
        let named = |module: &str, package: &str| (module.to_owned(), package.to_owned());
        // The second round uses the cached roots.
        for _ in 0..2 {
            assert_eq!(of("a/b/c.py"), named("a.b.c", "a.b"));
            assert_eq!(of("a/b/__init__.py"), named("a.b", "a.b"));
            assert_eq!(of("a/d.py"), named("a.d", "a"));
            assert_eq!(of("a/b/loose/e.py"), named("e", ""));
            assert_eq!(of("f.py"), named("f", ""));
        }
    }

    /// The order does not depend on the number of threads or on which one finishes first.
    #[test]
    fn reads_files_in_tree_order() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..200 {
            let text = format!("import torch\n{}", "torch.abs(x)\n".repeat(number % 7 * 300));
            std::fs::write(dir.path().join(format!("m{number:03}.py")), text).unwrap();
        }
        std::fs::write(dir.path().join("test_m.py"), "import torch\n").unwrap();
        std::fs::write(dir.path().join("without.py"), "import math\n").unwrap();
        std::fs::write(dir.path().join("m200.py"), "import torch\n(\n").unwrap();
        let packages = Packages::default();
        let reading = Reading { packages: &packages, wanted: Wanted::default() };
        let (said, _) = found_and_read(&scope_of(dir.path()), &reading).unwrap();
        let names: Vec<String> =
            said.iter().map(|(path, _)| path.file_stem().unwrap().display().to_string()).collect();
        let expected: Vec<String> = (0..=200).map(|number| format!("m{number:03}")).collect();
        assert_eq!(names, expected);
        assert!(
            said[..200].iter().all(|(_, facts)| matches!(facts, Ok(Some(_))))
                && matches!(said[200].1, Ok(None))
        );
    }

    #[test]
    fn detects_test_files_by_name() {
        for yes in ["tests/a.py", "a/test/b.py", "test_x.py", "a/x_test.py"] {
            assert!(is_test(Path::new(yes)), "{yes}");
        }
        for no in ["latest/a.py", "testimony.py", "a.py"] {
            assert!(!is_test(Path::new(no)), "{no}");
        }
    }
}
