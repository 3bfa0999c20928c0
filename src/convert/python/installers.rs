//! Packages that a program installs itself, or requires.

use ruff_python_ast::{Arguments, Expr};
use ruff_text_size::Ranged as _;

use super::literal::{self, span};
use super::names::contains_ignoring_case;
use super::walker::Walker;
use crate::rules::{Action, Match, Place, Rules};

impl Walker<'_> {
    /// Packages that a program installs itself: `check_requirements('onnxruntime-gpu')`.
    pub(super) fn report_packages(&mut self, arguments: &Arguments) {
        let mut all = Vec::new();
        for arg in &arguments.args {
            collect_texts(arg, &mut all);
        }
        for text in all {
            if let Some(whole) = literal::plain(text) {
                let name = whole.split(['=', '<', '>', '[', ' ', '!', '~']).next().unwrap_or(whole);
                let rule = Rules::builtin().find(Match::Package, name).or_else(|| {
                    let module = name.replace('-', "_").to_ascii_lowercase();
                    let module = module.strip_prefix("nvidia_").unwrap_or(&module);
                    Rules::builtin().find(Match::Library, module)
                });
                if let Some(rule) = rule.filter(|rule| rule.action == Action::Flag) {
                    self.flow.edits.flag(rule, span(text.range()), Some(whole.to_owned()));
                }
            } else if self.source.text[text.range()].contains("torch.cuda.is_available") {
                self.flow.edits.flag_site(Place::RequirementsCudaPackage, text.range());
            }
        }
    }
}

/// Whether a function of this name installs packages, or checks that they are installed.
pub(super) fn is_installer(name: &str) -> bool {
    contains_ignoring_case(name, "requirement")
        || contains_ignoring_case(name, "pip") && !contains_ignoring_case(name, "pipe")
        || name.eq_ignore_ascii_case("install")
}

fn collect_texts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match expr {
        Expr::StringLiteral(_) | Expr::FString(_) => out.push(expr),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| collect_texts(one, out)),
        Expr::List(list) => list.elts.iter().for_each(|one| collect_texts(one, out)),
        Expr::If(one) => {
            collect_texts(&one.body, out);
            collect_texts(&one.orelse, out);
        }
        _ => {}
    }
}
