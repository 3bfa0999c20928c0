//! Edits of import statements.

use ruff_python_ast::{Alias, StmtImport, StmtImportFrom};
use ruff_text_size::{Ranged as _, TextRange};

use super::edits::Edits;
use super::lines::{line_start, newline};
use super::literal::span;
use super::name_targets::{Target, is_foreign, moved, target};
use super::source::Source;
use crate::rules::{Action, Match, Place, Rules};
use crate::site::{Certainty, KeptBecause};

/// Plans the edits of import statements.
pub(super) struct ImportEdits<'e, 'a> {
    pub source: &'e Source<'a>,
    pub edits: &'e mut Edits<'a>,
}

impl ImportEdits<'_, '_> {
    pub(super) fn plan_import(&mut self, import: &StmtImport) {
        for alias in &import.names {
            let path = alias.name.as_str();
            self.report_library(path, alias.range());
            if !path.starts_with("torch.") {
                continue;
            }
            let range = span(alias.name.range());
            match target(path, self.source.context) {
                Target::Rewrite { .. } if alias.asname.is_none() => {
                    if path.starts_with("torch.cuda") {
                        let new = path.replacen("torch.cuda", "torch.npu", 1);
                        let rule = Rules::builtin().site(Place::ImportTorchCuda);
                        if self.edits.change(rule, range, new, Certainty::Exact) {
                            self.edits.needs.torch_npu = true;
                            self.edits.needs.before.push(import.range());
                        }
                    }
                }
                Target::Rewrite { .. } => {
                    if let Some(new) = moved(path, self.source.context) {
                        let rule = Rules::builtin().site(Place::ImportTorchCudaAs);
                        self.edits.needs.torch_npu |=
                            self.edits.change(rule, range, new, Certainty::Exact);
                    }
                }
                Target::Flag { rule, .. } => self.edits.flag(rule, range, Some(path.to_owned())),
                Target::Note { rule, .. } => self.edits.note(rule, range, None),
                Target::Keep => {}
            }
        }
    }

    pub(super) fn plan_import_from(&mut self, import: &StmtImportFrom) {
        let Some(module) = import.module.as_ref().filter(|_| import.level == 0) else {
            for alias in &import.names {
                self.report_extension(&format!(".{}", alias.name.as_str()), import.range());
            }
            return;
        };
        let base = module.as_str();
        for alias in &import.names {
            self.report_library(&format!("{base}.{}", alias.name.as_str()), import.range());
        }
        if !base.starts_with("torch") || self.edits.is_kept(&span(import.range())) {
            return;
        }
        // The new module and name of each imported name.
        let mut moves: Vec<(&Alias, Option<(String, String)>)> = Vec::new();
        for alias in &import.names {
            let name = alias.name.as_str();
            if name == "*" {
                let new =
                    moved(base, self.source.context).filter(|_| base.starts_with("torch.cuda"));
                moves.push((alias, new.map(|module| (module, "*".to_owned()))));
                continue;
            }
            let path = format!("{base}.{name}");
            match target(&path, self.source.context) {
                Target::Flag { rule, .. } => {
                    self.edits.flag(rule, span(alias.range()), Some(path));
                    moves.push((alias, None));
                }
                Target::Note { rule, .. } => {
                    self.edits.note(rule, span(alias.range()), None);
                    moves.push((alias, None));
                }
                _ => {
                    let new = moved(&path, self.source.context).map(|new| {
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
        // The parts of a statement change together.
        if self.edits.planner.keeps_part_of(&span(import.range())) {
            let rule = Rules::builtin().site(Place::FromTorchCudaImport);
            self.edits.planner.keep(rule, span(import.range()), KeptBecause::Comment);
            return;
        }
        let one_module = moves.iter().all(|(_, new)| {
            new.as_ref().map(|(module, _)| module) == moves[0].1.as_ref().map(|(module, _)| module)
        });
        if one_module && let Some((new_module, _)) = &moves[0].1 {
            self.change_within_module(import, base, new_module, &moves);
        } else {
            self.split_by_module(import, base, &moves);
        }
    }

    /// Edits a statement whose names all move to one module.
    fn change_within_module(
        &mut self,
        import: &StmtImportFrom,
        base: &str,
        new_module: &str,
        moves: &[(&Alias, Option<(String, String)>)],
    ) {
        let site = match (base, new_module) {
            ("torch", "torch") => Place::FromTorchImportCuda,
            ("torch.cuda.amp", _) => Place::FromTorchCudaAmpImport,
            ("torch.cuda", _) if moves.iter().any(|(alias, _)| alias.name.as_str() == "amp") => {
                Place::FromTorchCudaImportModule
            }
            _ => Place::FromTorchCudaImport,
        };
        let rule = Rules::builtin().site(site);
        let mut changed = false;
        if let Some(module) = &import.module
            && base != new_module
        {
            changed = self.edits.change(rule, span(module.range()), new_module, Certainty::Exact);
        }
        // Attributes that torch_npu adds to torch exist only after its import.
        let added = |new: &Option<(String, String)>, old: &str| {
            new.as_ref().is_some_and(|(module, name)| {
                !module.starts_with("torch_npu") && name.as_str() != old
            })
        };
        for (alias, new) in moves {
            let Some((_, name)) = new else { continue };
            if name == alias.name.as_str() {
                continue;
            }
            let text = self.alias_text(alias, name);
            changed |= self.edits.change(rule, span(alias.range()), text, Certainty::Exact);
        }
        self.edits.needs.torch_npu |= changed;
        if changed && moves.iter().any(|(alias, new)| added(new, alias.name.as_str())) {
            self.edits.needs.before.push(import.range());
        }
    }

    /// Returns `new`, or `new as old` if the uses keep the old name.
    fn alias_text(&self, alias: &Alias, new: &str) -> String {
        match &alias.asname {
            Some(asname) => format!("{new} as {}", asname.as_str()),
            None if new == alias.name.as_str()
                || self.source.imports.renamed(alias.range()).is_some() =>
            {
                new.to_owned()
            }
            None => format!("{new} as {}", alias.name.as_str()),
        }
    }

    /// Writes one statement for each module, since some names move and others stay.
    fn split_by_module(
        &mut self,
        import: &StmtImportFrom,
        base: &str,
        moves: &[(&Alias, Option<(String, String)>)],
    ) {
        let range = span(import.range());
        if self.source.text[range.clone()].contains('#') {
            let rule = Rules::builtin().site(Place::FromTorchCudaImport);
            self.edits.flag(rule, range, Some("comments inside the import".to_owned()));
            return;
        }
        let mut modules: Vec<(String, Vec<String>)> = Vec::new();
        for (alias, new) in moves {
            let (module, text) = match new {
                Some((module, name)) => (module.clone(), self.alias_text(alias, name)),
                None => (base.to_owned(), self.source.text[span(alias.range())].to_owned()),
            };
            match modules.iter_mut().find(|(other, _)| *other == module) {
                Some((_, names)) => names.push(text),
                None => modules.push((module, vec![text])),
            }
        }
        // The unchanged part keeps its place, new statements follow.
        modules.sort_by_key(|(module, _)| module != base);
        let line = line_start(self.source.text, range.start);
        let indent = &self.source.text[line..range.start];
        let separator = if indent.trim().is_empty() {
            format!("{}{indent}", newline(self.source.text))
        } else {
            "; ".to_owned()
        };
        let text = modules
            .iter()
            .map(|(module, names)| format!("from {module} import {}", names.join(", ")))
            .collect::<Vec<_>>()
            .join(&separator);
        let rule = Rules::builtin().site(Place::FromTorchCudaImport);
        self.edits.needs.torch_npu |= self.edits.change(rule, range, text, Certainty::Exact);
    }

    /// Reports an imported package that does not run on NPUs unchanged.
    fn report_library(&mut self, path: &str, at: TextRange) {
        let root = path.split('.').next().unwrap_or(path);
        if self.source.context.is_own_package(root) {
            // A source directory may have the same name as the module that is built from it.
            if path.contains('.')
                || self.source.context.project.is_some_and(|all| all.is_extension(root))
            {
                self.report_extension(path, at);
            }
            return;
        }
        let mut end = path.len();
        loop {
            if let Some(rule) = Rules::builtin().find(Match::Library, &path[..end]) {
                match rule.action {
                    // One statement is one place, regardless of the number of names.
                    Action::Flag => self.edits.flag(rule, span(at), Some(path.to_owned())),
                    Action::Note => self.edits.note(rule, span(at), Some(path.to_owned())),
                    _ => {}
                }
                return;
            }
            match path[..end].rfind('.') {
                Some(dot) => end = dot,
                None => break,
            }
        }
        if is_foreign(path, self.source.context) {
            self.edits.flag_site(Place::ForeignCudaName, at);
        } else if !root.starts_with("torch") {
            self.report_extension(path, at);
        }
    }

    /// Reports a module that is built from CUDA sources, by `setup.py` or by its name.
    pub(super) fn report_extension(&mut self, path: &str, at: TextRange) {
        let built = |name: &str| {
            ["_cuda", "_cuda_ext", "_cuda_kernel", "_cuda_kernels"]
                .iter()
                .any(|end| name.len() > end.len() && name.ends_with(end))
        };
        let known = self
            .source
            .context
            .project
            .is_some_and(|project| path.split('.').any(|part| project.is_extension(part)));
        if known || !path.contains('.') && built(path) {
            let rule = Rules::builtin().site(Place::CustomCudaOps);
            self.edits.flag(rule, span(at), Some(path.to_owned()));
        }
    }
}
