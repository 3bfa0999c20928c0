//! Python and other scripts embedded in a shell script.

use std::ops::Range;

use super::lexer::{HereDoc, Script};
use super::plan_part;
use super::programs::{base_name, name_at, program};
use super::reader::Reader;
use super::word::Word;
use crate::python;
use crate::rules::{Place, Rules};
use crate::site::FilePlan;
use crate::value;
use treeedit::kind::FileKind;

/// Commands that run a shell on their input.
const SHELLS: &[&str] =
    &["bash", "sh", "zsh", "ksh", "dash", "ssh", "sbatch", "qsub", "bsub", "srun", "su", "sudo"];

impl Reader<'_, '_, '_> {
    /// `python -c '…'`; the words begin with the program.
    pub(super) fn inline(&mut self, words: &[Word]) {
        if !base_name(&words[0].text).starts_with("python") {
            return;
        }
        let Some([_, code]) = words.windows(2).find(|pair| pair[0].text == "-c") else { return };
        if !value::mentions_cuda(&code.text) {
            return;
        }
        let body = code.plain().and_then(|text| code.source(&(0..text.len())));
        let written = body.is_some_and(|body| {
            // The new text must not end the quotes or be expanded.
            let quote = self.text[..body.start].chars().next_back();
            self.python(&body, |new| {
                !new.contains(['$', '`', '\\']) && !quote.is_some_and(|quote| new.contains(quote))
            })
        });
        if !written {
            let rule = Rules::builtin().site(Place::ShellInlinePython);
            let place = self.at(&code.range);
            self.planner.flag(rule, place, None);
        }
    }

    /// Here documents: plans scripts in them by their language.
    pub(super) fn documents(&mut self, script: &Script) {
        for document in &script.documents {
            let Some(command) = script.commands.get(document.command) else { continue };
            let words = &command.words;
            let name = name_at(command).map(|at| base_name(&words[at].text));
            let python = program(command, self.planner.project)
                .is_some_and(|at| base_name(&words[at].text).starts_with("python"));
            let target = self.written_to(words);
            let target = target.and_then(|path| FileKind::of_name(base_name(path)));
            let kind = if python {
                Some(FileKind::Python)
            } else if target.is_none() && name.is_none_or(|name| SHELLS.contains(&name)) {
                Some(FileKind::Shell)
            } else {
                target
            };
            let planned = match kind {
                Some(FileKind::Python) => self.python_document(document),
                Some(FileKind::Shell) => self.shell_document(document),
                _ => false,
            };
            if !planned && !document.literal {
                self.document(&document.body);
            }
        }
    }

    /// The file that `cat > file` and `tee file` write.
    fn written_to<'w>(&self, words: &'w [Word]) -> Option<&'w str> {
        let tee = words.iter().position(|word| base_name(&word.text) == "tee");
        let target = words.iter().enumerate().find(|(at, word)| {
            let before = self.text[..word.range.start].trim_end_matches([' ', '\t']);
            before.ends_with('>') || tee.is_some_and(|tee| *at > tee) && !word.text.starts_with('-')
        });
        target.and_then(|(_, word)| word.plain())
    }

    /// Whether the shell passes the text on unchanged.
    fn is_verbatim(&self, document: &HereDoc) -> bool {
        document.literal || !self.text[document.body.clone()].contains(['$', '`', '\\'])
    }

    fn python_document(&mut self, document: &HereDoc) -> bool {
        if !value::mentions_cuda(&self.text[document.body.clone()]) {
            return false;
        }
        let safe = |new: &str| document.literal || !new.contains(['$', '`', '\\']);
        if !self.is_verbatim(document) || !self.python(&document.body, safe) {
            let rule = Rules::builtin().site(Place::ShellInlinePython);
            let place = self.at(&document.body);
            self.planner.flag(rule, place, None);
        }
        true
    }

    fn shell_document(&mut self, document: &HereDoc) -> bool {
        // Escaped text has another meaning after expansion.
        if !document.literal && self.text[document.body.clone()].contains('\\') {
            return false;
        }
        let body = document.body.clone();
        let offset = self.offset + body.start;
        plan_part(self.planner, &self.text[body], offset).is_ok()
    }

    /// Plans the Python text at `body`; returns whether it could be planned and `may` accepts the
    /// text of all its edits.
    fn python(&mut self, body: &Range<usize>, may: impl Fn(&str) -> bool) -> bool {
        let context = python::Context {
            project: self.planner.project,
            ..python::Context::alone(self.planner.options)
        };
        let Ok(plan) = python::plan(&self.text[body.clone()], &context) else { return false };
        let FilePlan { edits, .. } = &plan;
        if !edits.iter().all(|edit| may(&edit.text)) {
            return false;
        }
        self.planner.enter(plan, body.start + self.offset);
        true
    }

    /// An expanded here document: a variable in it may have been renamed.
    fn document(&mut self, body: &Range<usize>) {
        let text = &self.text[body.clone()];
        let mut from = 0;
        while let Some(dollar) = text[from..].find('$').map(|at| from + at) {
            let start = dollar + 1 + usize::from(text[dollar + 1..].starts_with('{'));
            let len = text[start..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(text.len() - start);
            let name = &text[start..start + len];
            if self.names.assigned.contains_key(name)
                && self.renamed(name).is_some_and(|decision| decision.new_name.is_some())
            {
                let place = self.at(&(body.start + start..body.start + start + len));
                let rule = Rules::builtin().site(Place::ShellDocument);
                self.planner.flag(rule, place, Some(name.to_owned()));
            }
            from = start.max(dollar + 1);
        }
    }
}
