//! The import statements of a file, as read.

use foldhash::{HashMap, HashSet};
use ruff_python_ast::Stmt;
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_text_size::{Ranged as _, TextRange};

use super::Context;
use super::name_targets::moved;
use crate::rules::{Place, Rules};
use pysyntax::scope::Scopes;

/// Other frameworks whose arrays have a method `cuda` too.
const OTHER_FRAMEWORKS: &[&str] = &["paddle", "mxnet", "jittor", "oneflow", "tvm", "mindspore"];

/// Modules that neither have tensors nor pass devices on. In a file without other imports, weak
/// evidence does not make `'cuda'` a device of torch.
const WITHOUT_TENSORS: &[&str] = &[
    "__future__",
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "atexit",
    "base64",
    "bisect",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "distutils",
    "enum",
    "errno",
    "fnmatch",
    "functools",
    "gc",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "html",
    "http",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pkg_resources",
    "pkgutil",
    "platform",
    "pprint",
    "queue",
    "random",
    "re",
    "selectors",
    "shlex",
    "shutil",
    "signal",
    "site",
    "socket",
    "sqlite3",
    "ssl",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "sysconfig",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "typing_extensions",
    "unittest",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "xml",
    "zipfile",
    // Packages from PyPI.
    "attr",
    "attrs",
    "bs4",
    "click",
    "colorama",
    "cv2",
    "django",
    "docker",
    "fastapi",
    "flask",
    "fire",
    "httpx",
    "jinja2",
    "jsonschema",
    "markdown",
    "matplotlib",
    "networkx",
    "numpy",
    "packaging",
    "pandas",
    "PIL",
    "plotly",
    "psutil",
    "pydantic",
    "pytest",
    "requests",
    "rich",
    "ruamel",
    "scipy",
    "seaborn",
    "setuptools",
    "skimage",
    "sklearn",
    "starlette",
    "tabulate",
    "toml",
    "tqdm",
    "typer",
    "wandb",
    "werkzeug",
    "yaml",
];

/// The rules that change the names which an import binds.
const IMPORTS: [Place; 4] = [
    Place::FromTorchImportCuda,
    Place::FromTorchCudaImport,
    Place::FromTorchCudaAmpImport,
    Place::FromTorchCudaImportModule,
];

/// The import statements of a file.
#[derive(Debug, Default)]
pub(super) struct Imports<'a> {
    /// Local names that change with their import, by the alias that binds them.
    renames: HashMap<TextRange, String>,
    /// First parts of all imported names.
    roots: HashSet<&'a str>,
    /// Whether the file imports from its own tree.
    relative: bool,
    /// Import statements of torch: range, and whether they are at module level.
    torch: Vec<(TextRange, bool)>,
    /// Import statements of torch_npu, in the same form.
    torch_npu: Vec<(TextRange, bool)>,
}

/// Imports of torch_npu that edits need.
#[derive(Debug, Default)]
pub(super) struct ImportNeeds {
    /// An edit names torch.npu or torch_npu.
    pub torch_npu: bool,
    /// Import statements that need torch_npu to be imported before them.
    pub before: Vec<TextRange>,
}

struct Finder<'a, 'i> {
    imports: &'i mut Imports<'a>,
    functions: usize,
}

impl<'a> StatementVisitor<'a> for Finder<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let top = self.functions == 0;
        let mut root = |name: &'a str, range: TextRange| {
            let root = name.split('.').next().unwrap_or(name);
            self.imports.roots.insert(root);
            match root {
                "torch" => self.imports.torch.push((range, top)),
                "torch_npu" => self.imports.torch_npu.push((range, top)),
                _ => {}
            }
        };
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    root(alias.name.as_str(), import.range());
                }
            }
            Stmt::ImportFrom(import) => match &import.module {
                Some(module) if import.level == 0 => root(module.as_str(), import.range()),
                _ => self.imports.relative = true,
            },
            // Only for type checkers: nothing is imported when the program runs.
            Stmt::If(one) if is_type_checking(&one.test) => {}
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {
                self.functions += 1;
                walk_stmt(self, stmt);
                self.functions -= 1;
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

impl<'a> Imports<'a> {
    /// Collects the imports of a module; names in the ranges `kept` by comments are not renamed.
    pub(super) fn of(
        body: &'a [Stmt],
        scopes: &Scopes<'a>,
        context: &Context<'_>,
        kept: &[TextRange],
    ) -> Self {
        let mut imports = Self::default();
        Finder { imports: &mut imports, functions: 0 }.visit_body(body);
        let mut renames = Renames { scopes, context, kept, found: HashMap::default() };
        // A name and its import change together; otherwise the import binds the new name as the old
        // one.
        let rules = IMPORTS.iter().map(|place| Rules::builtin().site(*place));
        if rules.into_iter().all(|rule| context.options.selection.selects(rule)) {
            renames.visit_body(body);
        }
        imports.renames = renames.found;
        imports
    }

    /// Returns the new local name for the alias at `at`.
    pub(super) fn renamed(&self, at: TextRange) -> Option<&str> {
        self.renames.get(&at).map(String::as_str)
    }

    /// Whether tensors of this file belong to torch, according to its imports.
    pub(super) fn tensors_are_torch(&self) -> bool {
        self.roots.contains("torch")
            || self.relative
            || !OTHER_FRAMEWORKS.iter().any(|name| self.roots.contains(name))
    }

    /// Whether the file may hold devices of torch, according to its imports.
    pub(super) fn may_hold_devices(&self) -> bool {
        // A conversion adds `import torch_npu`, so this import does not count.
        let counts = |root: &&str| !WITHOUT_TENSORS.contains(root) && *root != "torch_npu";
        self.relative || self.roots.iter().any(counts)
    }

    /// Whether the file imports a tool that builds packages.
    pub(super) fn builds(&self) -> bool {
        ["setuptools", "distutils", "skbuild"].iter().any(|root| self.roots.contains(root))
    }

    /// Whether torch is imported at all.
    pub(super) fn has_torch(&self) -> bool {
        !self.torch.is_empty()
    }

    /// The places for `import torch_npu`: after these statements, or before (`true`).
    pub(super) fn places(&self, needs: &ImportNeeds, everywhere: bool) -> Vec<(TextRange, bool)> {
        let covered_at_top = self.torch_npu.iter().any(|(_, top)| *top);
        if covered_at_top {
            return Vec::new();
        }
        if let Some((first, _)) = self.torch.iter().find(|(_, top)| *top) {
            return vec![(*first, needs.before.contains(first))];
        }
        if everywhere {
            return Vec::new();
        }
        // Torch is imported only in functions: insert once in each of them.
        self.torch
            .iter()
            .filter(|(range, _)| {
                !self.torch_npu.iter().any(|(other, _)| {
                    range.end() <= other.start()
                        && other.start().to_usize() < range.end().to_usize() + 200
                })
            })
            .map(|(range, _)| (*range, needs.before.contains(range)))
            .collect()
    }
}

/// Finds the local names that change with their import.
struct Renames<'a, 'c> {
    scopes: &'c Scopes<'a>,
    context: &'c Context<'c>,
    kept: &'c [TextRange],
    found: HashMap<TextRange, String>,
}

impl<'a> StatementVisitor<'a> for Renames<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::ImportFrom(import) = stmt
            && import.level == 0
            && let Some(module) = &import.module
            && !self.kept.iter().any(|line| line.intersect(import.range()).is_some())
        {
            for alias in import.names.iter().filter(|alias| alias.asname.is_none()) {
                let path = format!("{}.{}", module.as_str(), alias.name.as_str());
                if let Some(new) = moved(&path, self.context)
                    && let Some(last) = new.rsplit('.').next()
                    && last != alias.name.as_str()
                    && !self.scopes.binds_anywhere(last)
                    && !self.context.is_exported(alias.name.as_str())
                {
                    self.found.insert(alias.range(), last.to_owned());
                }
            }
        }
        walk_stmt(self, stmt);
    }
}

fn is_type_checking(test: &ruff_python_ast::Expr) -> bool {
    match test {
        ruff_python_ast::Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        ruff_python_ast::Expr::Attribute(one) => one.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}
