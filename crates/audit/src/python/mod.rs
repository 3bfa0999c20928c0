//! Operators that Python sources use, found without running them.
//!
//! ```text
//! text -> tree (ruff) -> scopes -> walk -> facts of each file -> reach -> operators with places
//! ```
//!
//! - [`walk`], [`expr`] and [`call`] visit a file once. [`names`] resolves names through imports
//!   and aliases, [`recorder`] records operators and references, and tensors are inferred from
//!   their use ([`kinds`], [`classes`], [`tensor_names`]). [`constant_conditions`] evaluates
//!   conditions that never hold on an NPU.
//! - [`documented_calls`] and [`name_hints`] record limited APIs and hints. [`suggest`] compares
//!   the visited nodes with patterns of fused operators.
//! - [`api`] lists the operators that an API, a method or a module calls.
//! - [`facts_builder`] collects the [`mod@facts`] of a file, [`packed`]. [`reachability`] follows
//!   them through the tree ([`name_resolution`], [`references`]) and, on request, through imports
//!   ([`files`]). [`aggregate`] adds up the reached pieces.
//!
//! A method counts only on values that are probably tensors: `sort` of a list and `split` of a text
//! are not operators. Operators that only some arguments reach, and those that run while a model is
//! built or data is prepared, are marked as such.

mod aggregate;
mod api;
mod call;
mod classes;
mod constant_conditions;
mod documented_calls;
mod expr;
mod facts;
mod facts_builder;
mod files;
pub mod hint_tables;
mod kinds;
mod line_index;
mod linked_file;
mod locals;
mod name_hints;
mod name_resolution;
mod names;
mod packed;
mod reachability;
mod recorder;
mod references;
mod source_facts;
mod suggest;
mod tensor_names;
#[cfg(test)]
mod tests;
mod walk;

pub use files::{Options, Tree, Unread, of_source, read, tree};
pub use files::{is_source, text_of};

use crate::ops::documents as limits;

/// Returns the operators that every call of an API reaches; for aten without `aten::`.
pub(crate) fn operators_of(path: &str) -> Vec<&'static str> {
    let reach = api::api(&api::public(path));
    let called = reach.into_iter().flat_map(api::OperatorSet::operators);
    called.filter(|one| !one.maybe && !one.backward).map(api::ApiOperator::name).collect()
}

/// Unpacks the tables that sources are compared with.
pub fn prepare() {
    let (_, _) = (api::shared(""), hint_tables::method(""));
    let (_, _) = (limits::api(""), limits::limits_argument(""));
}

/// Returns the operators of one source text, without a file.
#[cfg(test)]
fn of_text(text: &str) -> crate::model::Model {
    let wanted = walk::Wanted { suggestions: true, calls: false };
    let source = source_facts::Source {
        text,
        path: "model.py",
        module: "model",
        wanted,
        ..source_facts::Source::default()
    };
    let facts = source_facts::facts(source).expect("the source of a test parses");
    reachability::model(vec![facts.into()], None, false)
}
