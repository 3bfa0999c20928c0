//! Tracks the known values of a function while its body is walked.

use foldhash::{HashMap, HashSet};
use ruff_python_ast::Expr;

use super::library::Type;

/// A value that is known before the model runs, in enough detail to find branches that never run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Known {
    None,
    Something,
    True,
    False,
}

impl Known {
    pub(super) fn of(truth: bool) -> Self {
        if truth { Self::True } else { Self::False }
    }

    /// Returns the known value of a literal.
    pub(super) fn literal(expression: &Expr) -> Option<Self> {
        match expression {
            Expr::NoneLiteral(_) => Some(Self::None),
            Expr::BooleanLiteral(literal) => Some(Self::of(literal.value)),
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => Some(Self::Something),
            _ => None,
        }
    }
}

/// The type of an expression, and its value if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: Type,
    pub(super) known: Option<Known>,
}

impl Value {
    pub(super) fn new(kind: Type) -> Self {
        Self { kind, known: None }
    }

    pub(super) fn host(known: Option<Known>) -> Self {
        Self { kind: Type::Host, known }
    }

    /// Returns the value that may be either of two.
    pub(super) fn or(self, other: Self) -> Self {
        let known = self.known.filter(|known| Some(*known) == other.known);
        Self { kind: if self.kind == Type::Host { other.kind } else { self.kind }, known }
    }
}

/// The values of a body by name. A branch stores only the values that it replaces, because a
/// malicious body may have as many branches as values.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    now: HashMap<&'a str, Value>,
    /// The values replaced since the outermost open branch began, the latest last.
    replaced: Vec<(&'a str, Option<Value>)>,
    /// The number of open branches.
    open: usize,
}

/// An open branch: the start of its first alternative, and the values that this alternative left.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    start: usize,
    first: Vec<(&'a str, Value)>,
}

impl<'a> Values<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.now.get(name)
    }

    pub(super) fn set(&mut self, name: &'a str, value: Value) {
        let before = self.now.insert(name, value);
        if self.open > 0 {
            self.replaced.push((name, before));
        }
    }

    /// Begins the first alternative.
    pub(super) fn first_way(&mut self) -> Branch<'a> {
        self.open += 1;
        Branch { start: self.replaced.len(), first: Vec::new() }
    }

    /// Begins the second alternative, with the values from before the first.
    pub(super) fn second_way(&mut self, branch: &mut Branch<'a>) {
        let mut seen = HashSet::default();
        for (name, before) in self.replaced.drain(branch.start..).rev() {
            let after = match before {
                Some(before) => self.now.insert(name, before),
                None => self.now.remove(name),
            };
            // The latest replacement comes first, so it holds the final value of the first
            // alternative.
            if let Some(after) = after.filter(|_| seen.insert(name)) {
                branch.first.push((name, after));
            }
        }
    }

    /// Ends both alternatives: a value may be from either.
    pub(super) fn joined(&mut self, branch: Branch<'a>) {
        let Branch { start, first } = branch;
        let in_first: HashSet<&str> = first.iter().map(|(name, _)| *name).collect();
        // A value that only the second alternative replaced may also be unchanged.
        let mut seen = HashSet::default();
        let second: Vec<(&'a str, Value)> = self.replaced[start..]
            .iter()
            .filter(|(name, _)| !in_first.contains(name) && seen.insert(*name))
            .filter_map(|(name, before)| Some((*name, before.clone()?)))
            .collect();
        for (name, value) in first.into_iter().chain(second) {
            let either = match self.now.get(name) {
                Some(existing) => value.or(existing.clone()),
                None => value,
            };
            self.set(name, either);
        }
        self.open -= 1;
        if self.open == 0 {
            self.replaced.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Set(&'static str, Value),
        Branch(Vec<Step>, Vec<Step>),
    }

    fn value() -> impl Strategy<Value = Value> {
        let kind = prop_oneof![Just(Type::Host), Just(Type::Tensor)];
        let known = prop_oneof![Just(None), Just(Some(Known::True)), Just(Some(Known::False))];
        (kind, known).prop_map(|(kind, known)| Value { kind, known })
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let set = (prop_oneof![Just("a"), Just("b"), Just("c")], value())
            .prop_map(|(name, value)| Step::Set(name, value));
        let step = set.prop_recursive(4, 48, 4, |step| {
            let way = || prop::collection::vec(step.clone(), 0..4);
            (way(), way()).prop_map(|(first, second)| Step::Branch(first, second))
        });
        prop::collection::vec(step, 0..8)
    }

    fn with_trail(values: &mut Values<'static>, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Set(name, value) => values.set(name, value.clone()),
                Step::Branch(first, second) => {
                    let mut branch = values.first_way();
                    with_trail(values, first);
                    values.second_way(&mut branch);
                    with_trail(values, second);
                    values.joined(branch);
                }
            }
        }
    }

    /// The reference implementation, which copies all values for each branch.
    fn with_copies(values: &mut BTreeMap<&'static str, Value>, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Set(name, value) => drop(values.insert(name, value.clone())),
                Step::Branch(first, second) => {
                    let before = values.clone();
                    with_copies(values, first);
                    let after = std::mem::replace(values, before);
                    with_copies(values, second);
                    for (name, value) in after {
                        let either = match values.remove(name) {
                            Some(existing) => value.or(existing),
                            None => value,
                        };
                        values.insert(name, either);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_branch_leaves_what_a_copy_would(steps in steps()) {
            let (mut values, mut copies) = (Values::default(), BTreeMap::new());
            with_trail(&mut values, &steps);
            with_copies(&mut copies, &steps);
            let now: BTreeMap<&str, Value> = values.now.into_iter().collect();
            prop_assert_eq!(now, copies);
            prop_assert!(values.replaced.is_empty());
        }
    }
}
