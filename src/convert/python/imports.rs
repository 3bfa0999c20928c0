//! Import statements: what becomes of each, and where `import torch_npu` goes.

use foldhash::{HashMap, HashSet};
use std::ops::Range;

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{Alias, Stmt, StmtImport, StmtImportFrom};
use ruff_text_size::{Ranged as _, TextRange};

use super::Context;
use super::api::{Target, target};
use super::engine::Engine;
use super::literal::span;
use crate::rules::{Action, Match, Place};
use crate::site::Certainty;
use pysyntax::scope::Scopes;

/// Other frameworks whose arrays have a method `cuda` too.
const OTHER_FRAMEWORKS: &[&str] = &["paddle", "mxnet", "jittor", "oneflow", "tvm", "mindspore"];

/// What the import statements of a file say.
#[derive(Debug, Default)]
pub(super) struct Imports<'a> {
    /// Local names that change with their import, by the alias that binds them.
    renames: HashMap<TextRange, String>,
    /// The first parts of all that is imported.
    roots: HashSet<&'a str>,
    /// Whether something of the tree itself is imported.
    relative: bool,
    /// Import statements of torch: range, and whether they stand at module level.
    torch: Vec<(TextRange, bool)>,
    /// Import statements of torch_npu, likewise.
    torch_npu: Vec<(TextRange, bool)>,
    /// Where edits name torch.npu or torch_npu.
    needs: Vec<usize>,
    /// Import statements that need torch_npu to be imported before them.
    before: Vec<TextRange>,
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
            // For type checkers only: nothing is imported when the program runs.
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
    pub(super) fn of(body: &'a [Stmt], scopes: &Scopes<'a>, context: &Context<'_>) -> Self {
        let mut imports = Self::default();
        Finder { imports: &mut imports, functions: 0 }.visit_body(body);
        let mut renames = Renames { scopes, context, found: HashMap::default() };
        renames.visit_body(body);
        imports.renames = renames.found;
        imports
    }

    /// The new local name of what the alias at `at` binds.
    pub(super) fn renamed(&self, at: TextRange) -> Option<&str> {
        self.renames.get(&at).map(String::as_str)
    }

    /// An edit at `offset` names torch.npu.
    pub(super) fn needs_torch_npu(&mut self, offset: usize) {
        self.needs.push(offset);
    }

    /// Whether tensors of this file are torch's, as far as imports tell.
    pub(super) fn tensors_are_torch(&self) -> bool {
        self.roots.contains("torch")
            || self.relative
            || !OTHER_FRAMEWORKS.iter().any(|name| self.roots.contains(name))
    }

    /// Whether torch is imported at all.
    pub(super) fn has_torch(&self) -> bool {
        !self.torch.is_empty()
    }

    /// Whether an edit names torch.npu.
    pub(super) fn needed(&self) -> bool {
        !self.needs.is_empty()
    }

    /// Where `import torch_npu` has to go: after these statements, or before (`true`).
    pub(super) fn places(&self, everywhere: bool) -> Vec<(TextRange, bool)> {
        let covered_at_top = self.torch_npu.iter().any(|(_, top)| *top);
        if covered_at_top {
            return Vec::new();
        }
        if let Some((first, _)) = self.torch.iter().find(|(_, top)| *top) {
            return vec![(*first, self.before.contains(first))];
        }
        if everywhere {
            return Vec::new();
        }
        // Torch is imported in functions alone: there, once in each.
        self.torch
            .iter()
            .filter(|(range, _)| {
                !self.torch_npu.iter().any(|(other, _)| {
                    range.end() <= other.start()
                        && other.start().to_usize() < range.end().to_usize() + 200
                })
            })
            .map(|(range, _)| (*range, self.before.contains(range)))
            .collect()
    }
}

/// Finds the local names that change with their import.
struct Renames<'a, 'c> {
    scopes: &'c Scopes<'a>,
    context: &'c Context<'c>,
    found: HashMap<TextRange, String>,
}

impl<'a> StatementVisitor<'a> for Renames<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::ImportFrom(import) = stmt
            && import.level == 0
            && let Some(module) = &import.module
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

/// The dotted name under which what is imported as `path` is imported on an NPU host; `None` if
/// it stays.
pub(super) fn moved(path: &str, context: &Context<'_>) -> Option<String> {
    match target(path, context) {
        Target::Rewrite { parts, to, .. } => {
            let rest: Vec<&str> = path.split('.').skip(parts).collect();
            let whole = if rest.is_empty() { to } else { format!("{to}.{}", rest.join(".")) };
            Some(match whole.strip_prefix("torch.npu") {
                // `from torch.npu.amp import …` would load the module a second time.
                Some(rest) => format!("torch_npu.npu{rest}"),
                None => whole,
            })
        }
        _ => None,
    }
}

impl<'a> Engine<'a> {
    pub(super) fn import(&mut self, import: &'a StmtImport) {
        for alias in &import.names {
            let path = alias.name.as_str();
            self.library(path, alias.range());
            if !path.starts_with("torch.") {
                continue;
            }
            let range = span(alias.name.range());
            match target(path, self.context) {
                Target::Rewrite { .. } if alias.asname.is_none() => {
                    if path.starts_with("torch.cuda") {
                        let new = path.replacen("torch.cuda", "torch.npu", 1);
                        self.change(
                            self.rules.site(Place::ImportTorchCuda),
                            range,
                            new,
                            Certainty::Exact,
                        );
                        self.imports.needs_torch_npu(import.start().to_usize());
                        self.imports.before.push(import.range());
                    }
                }
                Target::Rewrite { .. } => {
                    if let Some(new) = moved(path, self.context) {
                        let rule = self.rules.site(Place::ImportTorchCudaAs);
                        self.change(rule, range, new, Certainty::Exact);
                        self.imports.needs_torch_npu(import.start().to_usize());
                    }
                }
                Target::Flag { rule, .. } => self.flag(rule, range, Some(path.to_owned())),
                Target::Note { rule, .. } => self.note(rule, range, None),
                Target::Keep => {}
            }
        }
    }

    pub(super) fn import_from(&mut self, import: &'a StmtImportFrom) {
        let Some(module) = import.module.as_ref().filter(|_| import.level == 0) else {
            for alias in &import.names {
                self.extension(&format!(".{}", alias.name.as_str()), import.range());
            }
            return;
        };
        let base = module.as_str();
        for alias in &import.names {
            self.library(&format!("{base}.{}", alias.name.as_str()), import.range());
        }
        if !base.starts_with("torch") || self.is_kept(&span(import.range())) {
            return;
        }
        // What becomes of each name: the module and name under which it is found.
        let mut moves: Vec<(&Alias, Option<(String, String)>)> = Vec::new();
        for alias in &import.names {
            let name = alias.name.as_str();
            if name == "*" {
                let new = moved(base, self.context).filter(|_| base.starts_with("torch.cuda"));
                moves.push((alias, new.map(|module| (module, "*".to_owned()))));
                continue;
            }
            let path = format!("{base}.{name}");
            match target(&path, self.context) {
                Target::Flag { rule, .. } => {
                    self.flag(rule, span(alias.range()), Some(path));
                    moves.push((alias, None));
                }
                Target::Note { rule, .. } => {
                    self.note(rule, span(alias.range()), None);
                    moves.push((alias, None));
                }
                _ => {
                    let new = moved(&path, self.context).map(|new| {
                        let (module, name) = new.rsplit_once('.').unwrap_or(("", &new));
                        // torch.npu is an attribute of torch, not a module to import from.
                        if base == "torch" && new == "torch_npu.npu" {
                            ("torch".to_owned(), "npu".to_owned())
                        } else {
                            (module.to_owned(), name.to_owned())
                        }
                    });
                    moves.push((alias, new));
                }
            }
        }
        if moves.iter().all(|(_, new)| new.is_none()) {
            return;
        }
        self.imports.needs_torch_npu(import.start().to_usize());
        let one_module = moves.iter().all(|(_, new)| {
            new.as_ref().map(|(module, _)| module) == moves[0].1.as_ref().map(|(module, _)| module)
        });
        if one_module && let Some((new_module, _)) = &moves[0].1 {
            self.import_within(import, base, new_module, &moves);
        } else {
            self.import_split(import, base, &moves);
        }
    }

    /// All names move to one module: only what differs is edited.
    fn import_within(
        &mut self,
        import: &'a StmtImportFrom,
        base: &str,
        new_module: &str,
        moves: &[(&'a Alias, Option<(String, String)>)],
    ) {
        let site = match (base, new_module) {
            ("torch", "torch") => Place::FromTorchImportCuda,
            ("torch.cuda.amp", _) => Place::FromTorchCudaAmpImport,
            ("torch.cuda", _) if moves.iter().any(|(alias, _)| alias.name.as_str() == "amp") => {
                Place::FromTorchCudaImportModule
            }
            _ => Place::FromTorchCudaImport,
        };
        let rule = self.rules.site(site);
        if let Some(module) = &import.module
            && base != new_module
        {
            self.change(rule, span(module.range()), new_module, Certainty::Exact);
        }
        // What torch_npu adds to torch is there only after its import.
        let added = |new: &Option<(String, String)>, old: &str| {
            new.as_ref().is_some_and(|(module, name)| {
                !module.starts_with("torch_npu") && name.as_str() != old
            })
        };
        if moves.iter().any(|(alias, new)| added(new, alias.name.as_str())) {
            self.imports.before.push(import.range());
        }
        for (alias, new) in moves {
            let Some((_, name)) = new else { continue };
            if name == alias.name.as_str() {
                continue;
            }
            let text = self.alias_text(alias, name);
            self.change(rule, span(alias.range()), text, Certainty::Exact);
        }
    }

    /// `new`, or `new as old` where the uses keep the old name.
    fn alias_text(&self, alias: &Alias, new: &str) -> String {
        match &alias.asname {
            Some(asname) => format!("{new} as {}", asname.as_str()),
            None if new == alias.name.as_str() || self.imports.renamed(alias.range()).is_some() => {
                new.to_owned()
            }
            None => format!("{new} as {}", alias.name.as_str()),
        }
    }

    /// Some names move and others stay: one statement for each module.
    fn import_split(
        &mut self,
        import: &'a StmtImportFrom,
        base: &str,
        moves: &[(&'a Alias, Option<(String, String)>)],
    ) {
        let range = span(import.range());
        if self.text[range.clone()].contains('#') {
            let rule = self.rules.site(Place::FromTorchCudaImport);
            self.flag(rule, range, Some("comments inside the import".to_owned()));
            return;
        }
        let mut modules: Vec<(String, Vec<String>)> = Vec::new();
        for (alias, new) in moves {
            let (module, text) = match new {
                Some((module, name)) => (module.clone(), self.alias_text(alias, name)),
                None => (base.to_owned(), self.text[span(alias.range())].to_owned()),
            };
            match modules.iter_mut().find(|(other, _)| *other == module) {
                Some((_, names)) => names.push(text),
                None => modules.push((module, vec![text])),
            }
        }
        // What stays keeps its place; what is new follows.
        modules.sort_by_key(|(module, _)| module != base);
        let line = self.line_start(range.start);
        let indent = &self.text[line..range.start];
        let separator = if indent.trim().is_empty() {
            format!("{}{indent}", self.newline())
        } else {
            "; ".to_owned()
        };
        let text = modules
            .iter()
            .map(|(module, names)| format!("from {module} import {}", names.join(", ")))
            .collect::<Vec<_>>()
            .join(&separator);
        let rule = self.rules.site(Place::FromTorchCudaImport);
        self.change(rule, range, text, Certainty::Exact);
    }

    /// A package that is imported: reported if it does not run on NPUs as it is.
    fn library(&mut self, path: &str, at: TextRange) {
        let root = path.split('.').next().unwrap_or(path);
        if self.context.is_own_package(root) {
            // A directory of sources may be called as the module that is built of them.
            if path.contains('.') || self.context.project.is_some_and(|all| all.is_extension(root))
            {
                self.extension(path, at);
            }
            return;
        }
        let mut end = path.len();
        loop {
            if let Some(rule) = self.rule(Match::Library, &path[..end]) {
                match rule.action {
                    // One statement is one place, however many names it takes.
                    Action::Flag => self.flag(rule, span(at), Some(path.to_owned())),
                    Action::Note => self.note(rule, span(at), Some(path.to_owned())),
                    _ => {}
                }
                return;
            }
            match path[..end].rfind('.') {
                Some(dot) => end = dot,
                None => break,
            }
        }
        if !root.starts_with("torch") {
            self.extension(path, at);
        }
    }

    /// A module that is built from CUDA sources: setup.py says so, or its name.
    pub(super) fn extension(&mut self, path: &str, at: TextRange) {
        let built = |name: &str| {
            ["_cuda", "_cuda_ext", "_cuda_kernel", "_cuda_kernels"]
                .iter()
                .any(|end| name.len() > end.len() && name.ends_with(end))
        };
        let known = self
            .context
            .project
            .is_some_and(|project| path.split('.').any(|part| project.is_extension(part)));
        if known || !path.contains('.') && built(path) {
            let rule = self.rules.site(Place::CustomCudaOps);
            self.flag(rule, span(at), Some(path.to_owned()));
        }
    }

    pub(super) fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1)
    }

    /// The line end that the file uses.
    pub(super) fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            None if self.text.contains('\r') => "\r",
            _ => "\n",
        }
    }
}

/// Where a statement ends together with its line, and whether the line goes on with another
/// statement.
pub(super) fn end_of_line(text: &str, statement: &Range<usize>) -> (usize, bool) {
    let rest = &text[statement.end..];
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    let after = rest[..line].trim_start();
    let goes_on = !(after.is_empty() || after.starts_with('#'));
    let mut end = statement.end + line;
    if text[end..].starts_with("\r\n") {
        end += 2;
    } else if end < text.len() {
        end += 1;
    }
    (end, goes_on)
}

fn is_type_checking(test: &ruff_python_ast::Expr) -> bool {
    match test {
        ruff_python_ast::Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        ruff_python_ast::Expr::Attribute(one) => one.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}
