//! Files that replace functions of torch.cuda by those of another vendor:
//! `torch.cuda.synchronize = torch.xpu.synchronize`. They stay, because they are not needed on an
//! NPU.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged as _, TextRange};

use super::literal;
use super::names::other_device;
use super::source::Source;

/// The first statement that replaces a function of torch.cuda by one of another vendor.
pub(super) fn find_shim(source: &Source<'_>, body: &[Stmt]) -> Option<TextRange> {
    if !source.text.contains("torch.cuda") {
        return None;
    }
    let mut finder = Finder { source, found: None };
    finder.visit_body(body);
    finder.found
}

struct Finder<'s, 'a> {
    source: &'s Source<'a>,
    found: Option<TextRange>,
}

impl Finder<'_, '_> {
    fn is_of_cuda(&self, expr: &Expr) -> bool {
        let path = self.source.scopes.path(expr, 0);
        path.is_some_and(|path| path == "torch.cuda" || path.starts_with("torch.cuda."))
    }

    /// Whether a value belongs to another vendor: `torch.xpu.synchronize`, `ipex.xpu.empty_cache`.
    fn is_of_vendor(&self, expr: &Expr) -> bool {
        let path = self.source.scopes.path(expr, 0);
        path.is_some_and(|path| path.split('.').skip(1).any(is_vendor))
    }

    /// `setattr(torch.cuda, "synchronize", torch.xpu.synchronize)`
    fn sets(&self, call: &ExprCall) -> bool {
        let named = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "setattr");
        let [target, name, value] = &*call.arguments.args else { return false };
        named
            && literal::plain(name).is_some()
            && self.is_of_cuda(target)
            && self.is_of_vendor(value)
    }
}

/// Whether a part of a dotted name is the module of another kind of accelerator.
fn is_vendor(part: &str) -> bool {
    other_device(part) && !matches!(part, "cpu" | "meta")
}

impl<'b> Visitor<'b> for Finder<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        if self.found.is_some() {
            return;
        }
        let replaces = match stmt {
            Stmt::Assign(one) => {
                one.targets.iter().any(|target| self.is_of_cuda(target))
                    && self.is_of_vendor(&one.value)
            }
            Stmt::Expr(one) => one.value.as_call_expr().is_some_and(|call| self.sets(call)),
            _ => false,
        };
        if replaces {
            self.found = Some(stmt.range());
            return;
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _: &'b Expr) {}
}
