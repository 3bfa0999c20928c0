//! Expressions that one operator of `torch_npu` can compute.
//!
//! A pattern matches only if the names and the assignments before it are unambiguous. The
//! replacement is written out only if it gives the same result for every value.
//! `data/ops/fusions.tsv` has a row for each pattern.
//!
//! - [`gates`]: products and sums within one expression;
//! - [`flows`]: patterns across assignments, such as attention, masked softmax, expert routing;
//! - [`calls`]: functions and classes by name;
//! - [`blocks`]: loops and complete methods.

mod blocks;
mod calls;
mod finder;
mod flows;
mod gates;
#[cfg(test)]
mod tests;

use ruff_python_ast::{Expr, ExprBinOp, ExprCall, Stmt, StmtFor, StmtFunctionDef};

use self::finder::{Assigned, Finder};
use super::names::Names;
use super::recorder::Recorder;

/// Compares the visited nodes of a source with patterns of fused operators.
pub(super) struct Suggestions<'a> {
    wanted: bool,
    /// Values of the local names of the enclosing function.
    assigned: Assigned<'a>,
}

impl<'a> Suggestions<'a> {
    /// Returns a search that finds nothing unless suggestions are wanted.
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, assigned: Assigned::default() }
    }

    /// Enters a function or class and returns the values outside of it.
    pub(super) fn enter(&mut self) -> Assigned<'a> {
        std::mem::take(&mut self.assigned)
    }

    /// Leaves a function or class.
    pub(super) fn leave(&mut self, outer: Assigned<'a>) {
        self.assigned = outer;
    }

    /// Stores a value that is assigned to a name.
    pub(super) fn assign(&mut self, name: &'a str, value: &'a Expr) {
        if self.wanted {
            self.assigned.entry(name).or_default().push(value);
        }
    }

    /// Compares an operation with two operands.
    pub(super) fn binary<'s>(
        &self,
        names: &Names<'a, 's>,
        recorder: &mut Recorder<'a, 's>,
        expr: &'a Expr,
        both: &'a ExprBinOp,
    ) {
        if self.wanted {
            gates::suggest_binary(&mut self.finder(names, recorder), expr, both);
        }
    }

    /// Compares a call.
    pub(super) fn call<'s>(
        &self,
        names: &Names<'a, 's>,
        recorder: &mut Recorder<'a, 's>,
        expr: &'a Expr,
        call: &'a ExprCall,
    ) {
        if self.wanted {
            calls::suggest_call(&mut self.finder(names, recorder), expr, call);
        }
    }

    /// Compares a function after its body was walked.
    pub(super) fn method<'s>(
        &self,
        names: &Names<'a, 's>,
        recorder: &mut Recorder<'a, 's>,
        def: &'a StmtFunctionDef,
    ) {
        if self.wanted {
            blocks::suggest_method(&mut self.finder(names, recorder), def);
        }
    }

    /// Compares pairs of adjacent statements.
    pub(super) fn body<'s>(
        &self,
        names: &Names<'a, 's>,
        recorder: &mut Recorder<'a, 's>,
        body: &'a [Stmt],
    ) {
        if self.wanted {
            blocks::suggest_body(&mut self.finder(names, recorder), body);
        }
    }

    /// Compares a loop.
    pub(super) fn for_loop<'s>(
        &self,
        names: &Names<'a, 's>,
        recorder: &mut Recorder<'a, 's>,
        each: &'a StmtFor,
    ) {
        if self.wanted {
            blocks::suggest_loop(&mut self.finder(names, recorder), each);
        }
    }

    fn finder<'f, 's>(
        &'f self,
        names: &'f Names<'a, 's>,
        recorder: &'f mut Recorder<'a, 's>,
    ) -> Finder<'f, 'a, 's> {
        Finder { names, recorder, assigned: &self.assigned }
    }
}
