//! The parts of tests that test for CUDA.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged as _, TextRange};

use super::cuda_only::Guard;
use super::literal;
use super::source::Source;

/// Finds tests that are equivalent to a guard of the same function.
pub(super) struct SameQuestions<'s, 'a> {
    pub(super) source: &'s Source<'a>,
    pub(super) asked: &'s [(String, Guard)],
    /// The enclosing function.
    pub(super) around: Option<TextRange>,
    pub(super) found: Vec<Guard>,
}

impl<'b> Visitor<'b> for SameQuestions<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        let outer = self.around;
        if stmt.is_function_def_stmt() {
            self.around = Some(stmt.range());
        }
        walk_stmt(self, stmt);
        self.around = outer;
    }

    fn visit_expr(&mut self, expr: &'b Expr) {
        if let (Expr::Compare(one), Some(around)) = (expr, self.around) {
            let subject = &self.source.text[one.left.range()];
            let device = one.comparators.iter().filter_map(literal::plain);
            let device = device.into_iter().any(super::names::cuda_device);
            let guard = self.asked.iter().find(|(asked, guard)| {
                device && asked == subject && around.contains_range(guard.test)
            });
            self.found.extend(guard.map(|(_, guard)| Guard { test: expr.range(), ..*guard }));
        }
        walk_expr(self, expr);
    }
}

/// Finds the parts of a test that test for CUDA.
pub(super) struct Questions<'s, 'a> {
    pub(super) source: &'s Source<'a>,
    pub(super) found: Vec<TextRange>,
}

impl<'b> Visitor<'b> for Questions<'_, '_> {
    fn visit_expr(&mut self, expr: &'b Expr) {
        let asks = match expr {
            Expr::Attribute(attribute) => attribute.attr.as_str() == "is_cuda",
            Expr::Call(call) => {
                let text = &self.source.text[call.func.range()];
                text.ends_with("cuda.is_available")
            }
            Expr::Compare(compare) => {
                let sides = || std::iter::once(&*compare.left).chain(&compare.comparators);
                sides().any(|side| literal::plain(side).is_some_and(super::names::cuda_device))
            }
            _ => false,
        };
        if asks {
            self.found.push(expr.range());
        } else {
            walk_expr(self, expr);
        }
    }
}
