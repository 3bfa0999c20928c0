//! Walks expressions: infers their values and records their operators.

use ruff_python_ast::{
    CmpOp, Comprehension, Expr, ExprSubscript, Operator, StmtAugAssign, UnaryOp,
};
use ruff_text_size::{Ranged as _, TextSize};

use pysyntax::dotted;

use super::api;
use super::classes;
use super::kinds::{self, Kind};
use super::name_hints;
use super::walk::Walker;

impl<'a> Walker<'a, '_> {
    /// Evaluates a condition. A tensor condition makes the host read the value.
    pub(super) fn tested(&mut self, test: &'a Expr) {
        match test {
            Expr::BoolOp(both) => both.values.iter().for_each(|value| self.tested(value)),
            Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => self.tested(&unary.operand),
            _ => {
                if self.expr(test) == Kind::Tensor {
                    self.recorder.operator("bool", test.start(), !test.is_call_expr());
                }
            }
        }
    }

    /// Returns the kind of value of an expression, and records its operators.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Kind {
        match expr {
            // Most names are local, and their only fact is the value that they hold.
            Expr::Name(name) if let Some(kind) = self.names.local(name.id.as_str()) => kind,
            Expr::Name(_) | Expr::Attribute(_) => match self.names.path(expr) {
                Some(path) => self.named(&path, expr.start()),
                None => self.unnamed(expr),
            },
            Expr::Call(call) => self.call(expr, call),
            Expr::BinOp(both) => {
                self.suggestions.binary(&self.names, &mut self.recorder, expr, both);
                let left = self.expr(&both.left);
                let right = self.expr(&both.right);
                let known = left.is_tensor() || right.is_tensor();
                let operands =
                    (self.names.operand(&both.left, left), self.names.operand(&both.right, right));
                let kind = self.binary(both.op, operands.0, operands.1, &both.left, expr.start());
                // Other types overload these operators, too, so the operator counts, but the result
                // is not known to be a tensor.
                if known || !kind.is_tensor() { kind } else { Kind::Maybe }
            }
            Expr::UnaryOp(unary) => {
                let kind = self.expr(&unary.operand);
                let name = match unary.op {
                    UnaryOp::Invert => "invert",
                    UnaryOp::USub => "neg",
                    UnaryOp::UAdd => return kind,
                    UnaryOp::Not => return Kind::Not,
                };
                if self.names.operand(&unary.operand, kind).is_tensor() {
                    self.recorder.operator(name, expr.start(), false);
                }
                kind
            }
            Expr::Compare(compare) => {
                let left = self.expr(&compare.left);
                let mut known = left.is_tensor();
                let left = self.names.operand(&compare.left, left);
                let mut rights = Vec::with_capacity(compare.comparators.len());
                for right in &compare.comparators {
                    let kind = self.expr(right);
                    known |= kind.is_tensor();
                    rights.push(self.names.operand(right, kind));
                }
                let at = expr.start();
                let kind = self.compare(left, &rights, &compare.ops, &compare.comparators, at);
                if known || !kind.is_tensor() { kind } else { Kind::Maybe }
            }
            Expr::BoolOp(both) => {
                both.values.iter().fold(Kind::Not, |kind, value| kind.join(self.expr(value)))
            }
            Expr::If(both) => {
                let truth = self.names.truth(&both.test);
                if truth.is_none() {
                    self.tested(&both.test);
                }
                match truth {
                    Some(true) => self.expr(&both.body),
                    Some(false) => self.expr(&both.orelse),
                    None => self.expr(&both.body).join(self.expr(&both.orelse)),
                }
            }
            Expr::Named(named) => {
                let kind = self.expr(&named.value);
                self.bind(&named.target, kind);
                kind
            }
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Starred(starred) => self.expr(&starred.value),
            Expr::Await(one) => self.expr(&one.value),
            Expr::Yield(one) => {
                if let Some(value) = &one.value {
                    self.expr(value);
                }
                Kind::Maybe
            }
            Expr::YieldFrom(one) => self.expr(&one.value),
            Expr::Tuple(tuple) => self.several(&tuple.elts),
            Expr::List(list) => self.several(&list.elts),
            Expr::Set(set) => self.several(&set.elts),
            Expr::Dict(dict) => {
                let mut kind = Kind::Not;
                for item in &dict.items {
                    if let Some(key) = &item.key {
                        self.expr(key);
                    }
                    kind = kind.join(self.expr(&item.value));
                }
                if kind.holds() { Kind::Seq } else { Kind::Maybe }
            }
            Expr::Lambda(lambda) => {
                let names = lambda.parameters.iter().flat_map(|parameters| parameters.iter());
                self.in_scope(expr, |me| {
                    me.names.locals.enter();
                    names.for_each(|name| me.names.locals.give(name.name().as_str(), Kind::Likely));
                    me.expr(&lambda.body);
                    me.names.locals.leave();
                });
                Kind::Maybe
            }
            Expr::ListComp(comp) => self.comprehension(expr, &comp.generators, &[&*comp.elt]),
            Expr::SetComp(comp) => self.comprehension(expr, &comp.generators, &[&*comp.elt]),
            Expr::Generator(comp) => self.comprehension(expr, &comp.generators, &[&*comp.elt]),
            Expr::DictComp(comp) => match &comp.key {
                Some(key) => self.comprehension(expr, &comp.generators, &[&**key, &*comp.value]),
                None => self.comprehension(expr, &comp.generators, &[&*comp.value]),
            },
            Expr::Slice(slice) => {
                for part in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                    self.expr(part);
                }
                Kind::Not
            }
            _ => Kind::Not,
        }
    }

    fn several(&mut self, elements: &'a [Expr]) -> Kind {
        let mut holds = false;
        let mut most = Kind::Not;
        for element in elements {
            let kind = self.expr(element);
            holds |= kind.holds();
            most = most.join(kind);
        }
        match most {
            _ if holds => Kind::Seq,
            Kind::Host | Kind::Module => most,
            _ => Kind::Not,
        }
    }

    /// Walks an expression that opens a scope.
    fn in_scope(&mut self, expr: &Expr, walk: impl FnOnce(&mut Self)) {
        let outer = self.names.scope;
        self.names.scope = self.names.scopes.opened_by(expr.range()).unwrap_or(outer);
        walk(self);
        self.names.scope = outer;
    }

    fn comprehension(
        &mut self,
        expr: &Expr,
        generators: &'a [Comprehension],
        elements: &[&'a Expr],
    ) -> Kind {
        let mut held = Kind::Not;
        self.in_scope(expr, |me| {
            me.names.locals.enter();
            for generator in generators {
                let kind = me.expr(&generator.iter);
                if kind == Kind::Tensor {
                    me.recorder.operator("iter", generator.iter.start(), false);
                }
                me.bind(&generator.target, kind.element());
                generator.ifs.iter().for_each(|test| {
                    me.expr(test);
                });
            }
            for element in elements {
                held = held.join(me.expr(element));
            }
            me.names.locals.leave();
        });
        match held {
            kind if kind.holds() => Kind::Seq,
            Kind::Module => Kind::Module,
            _ => Kind::Maybe,
        }
    }

    /// Returns the kind of an expression without a dotted name. Its leading parts have none either.
    pub(super) fn unnamed(&mut self, expr: &'a Expr) -> Kind {
        match expr {
            Expr::Name(name) => {
                let name = name.id.as_str();
                if let Some(kind) = self.names.local(name) {
                    return kind;
                }
                if self.names.scopes.home(name, self.names.scope) == Some(0) {
                    self.recorder.mentions_own(name);
                }
                Kind::Maybe
            }
            Expr::Attribute(attribute) => {
                if let Some(name) = classes::self_attribute(expr) {
                    let known = self.names.attribute(name);
                    return known.unwrap_or(Kind::Maybe);
                }
                let kind = self.unnamed(&attribute.value);
                self.attribute(kind, attribute.attr.as_str(), expr.start())
            }
            _ => self.expr(expr),
        }
    }

    /// Records a mention of a dotted name that is not called here.
    fn named(&mut self, path: &str, at: TextSize) -> Kind {
        name_hints::record_mention(&mut self.recorder, path, at, false);
        let public = api::public(path);
        let name = dotted::last(&public);
        if let Some(reach) = api::api(&public) {
            // A name that is not called here may be called elsewhere.
            self.recorder.uses(reach, at, true);
            // The caller may request the in-place variant.
            if classes::is_class_name(name) {
                self.recorder.may_use_in_place(reach, at);
            }
        }
        if !public.starts_with("torch.") {
            self.recorder.mentions(path);
        }
        // `torch.float32`, `torch.nn`. A class that is passed on is called elsewhere.
        if classes::is_class_name(name) { Kind::Module } else { Kind::Maybe }
    }

    /// Returns the kind of an attribute of a value.
    fn attribute(&mut self, kind: Kind, name: &str, at: TextSize) -> Kind {
        match kind {
            Kind::Tensor | Kind::Likely => {
                if kinds::plain_attribute(name) {
                    return Kind::Not;
                }
                if matches!(name, "T" | "mT" | "H" | "mH" | "real" | "imag")
                    && let Some(reach) = api::method(name)
                {
                    self.recorder.uses(reach, at, kind == Kind::Likely);
                    return Kind::Tensor;
                }
                if matches!(name, "data" | "grad") { kind } else { Kind::Maybe }
            }
            Kind::Host if kinds::plain_attribute(name) => Kind::Not,
            Kind::Host if matches!(name, "data" | "grad" | "T") => Kind::Host,
            Kind::Module if matches!(name, "weight" | "bias") => Kind::Tensor,
            Kind::Maybe if matches!(name, "shape" | "dtype" | "ndim") => Kind::Not,
            _ => Kind::Maybe,
        }
    }

    pub(super) fn binary(
        &mut self,
        op: Operator,
        left: Kind,
        right: Kind,
        first: &'a Expr,
        at: TextSize,
    ) -> Kind {
        if !left.is_tensor() && !right.is_tensor() {
            return match (left, right) {
                (Kind::Host, _) | (_, Kind::Host) => Kind::Host,
                (Kind::Seq, _) | (_, Kind::Seq) => Kind::Seq,
                (Kind::Not, Kind::Not) => Kind::Not,
                _ => Kind::Maybe,
            };
        }
        let name = name_of(op);
        // `2 - x` calls a different operator.
        let reversed = left == Kind::Not
            && (first.is_number_literal_expr() || !matches!(first, Expr::Name(_)));
        let reverse = if reversed { api::operator(&format!("r{name}")) } else { None };
        match reverse {
            Some(reach) => self.recorder.uses(reach, at, false),
            None => self.recorder.operator(name, at, false),
        }
        if left == Kind::Tensor || right == Kind::Tensor { Kind::Tensor } else { Kind::Likely }
    }

    fn compare(
        &mut self,
        left: Kind,
        rights: &[Kind],
        ops: &[CmpOp],
        comparators: &'a [Expr],
        at: TextSize,
    ) -> Kind {
        let mut held = Kind::Not;
        for ((op, right), expr) in ops.iter().zip(rights).zip(comparators) {
            let name = match op {
                CmpOp::Eq => "eq",
                CmpOp::NotEq => "ne",
                CmpOp::Lt => "lt",
                CmpOp::LtE => "le",
                CmpOp::Gt => "gt",
                CmpOp::GtE => "ge",
                CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn => continue,
            };
            if (left.is_tensor() || right.is_tensor())
                && !matches!(expr, Expr::StringLiteral(_) | Expr::NoneLiteral(_) | Expr::Tuple(_))
            {
                self.recorder.operator(name, at, false);
                held = Kind::Tensor;
            }
        }
        held
    }

    pub(super) fn augmented(&mut self, assign: &'a StmtAugAssign) {
        let value = self.expr(&assign.value);
        let kind = self.expr(&assign.target);
        let kind = self.names.operand(&assign.target, kind);
        if kind.is_tensor() {
            let name = format!("i{}", name_of(assign.op).trim_end_matches('_'));
            // `x @= y` has no in-place operator, so it computes `x = x @ y`.
            let name = if assign.op == Operator::MatMult { "matmul".to_owned() } else { name };
            self.recorder.operator(&name, assign.range.start(), kind == Kind::Likely);
            if kind == Kind::Likely {
                self.recorder.operator(name_of(assign.op), assign.range.start(), true);
            }
        } else if value.is_tensor() && kind != Kind::Seq {
            self.recorder.operator(name_of(assign.op), assign.range.start(), false);
            self.bind(&assign.target, value);
        }
    }

    /// Walks `x[…]`.
    fn subscript(&mut self, subscript: &'a ExprSubscript) -> Kind {
        let at = subscript.range.start();
        if let Some(path) = self.names.path(&subscript.value)
            && let Some(registry) = api::registry(&path)
            && let Some(every) = api::registered(registry, "")
        {
            let key = subscript.slice.as_string_literal_expr().map(|key| key.value.to_str());
            let one = key.and_then(|key| api::registered(registry, key));
            self.recorder.uses(one.unwrap_or(every), at, one.is_none());
            self.recorder.mentions(&path);
            self.expr(&subscript.slice);
            return Kind::Module;
        }
        let kind = self.expr(&subscript.value);
        let indices = self.indices(&subscript.slice);
        match kind {
            Kind::Tensor | Kind::Likely => {
                if subscript.slice.is_string_literal_expr() {
                    return Kind::Maybe;
                }
                for index in indices {
                    let name = match index.0 {
                        "slice" => "getitem slice",
                        "none" => "getitem none",
                        "tensor" => "getitem tensor",
                        _ => "getitem int",
                    };
                    self.recorder.operator(name, at, index.1);
                }
                kind
            }
            // An element of `self.layers`, of a list of tensors, of an option.
            other => other.element(),
        }
    }

    /// Returns the kinds of the indices, and whether each is a guess.
    fn indices(&mut self, slice: &'a Expr) -> Vec<(&'static str, bool)> {
        let parts: &[Expr] = match slice {
            Expr::Tuple(tuple) => &tuple.elts,
            one => std::slice::from_ref(one),
        };
        let mut found = Vec::new();
        for part in parts {
            let kind = self.expr(part);
            let index = match part {
                Expr::Slice(_) => ("slice", false),
                Expr::NoneLiteral(_) => ("none", false),
                Expr::EllipsisLiteral(_) => continue,
                Expr::List(_) | Expr::Compare(_) if kind != Kind::Not || part.is_list_expr() => {
                    ("tensor", false)
                }
                Expr::UnaryOp(unary) if unary.op == UnaryOp::Invert => ("tensor", false),
                _ if kind.is_tensor() => ("tensor", kind == Kind::Likely),
                Expr::NumberLiteral(_) | Expr::UnaryOp(_) => ("int", false),
                _ if kind == Kind::Not => ("int", false),
                _ => {
                    found.push(("tensor", true));
                    ("int", true)
                }
            };
            if !found.contains(&index) {
                found.push(index);
            }
        }
        found
    }

    /// Walks `x[…] = value`.
    pub(super) fn store(&mut self, subscript: &'a ExprSubscript, value: Kind) {
        let kind = self.expr(&subscript.value);
        let indices = self.indices(&subscript.slice);
        if !kind.is_tensor() || subscript.slice.is_string_literal_expr() {
            return;
        }
        let at = subscript.range.start();
        let by_tensor = indices.iter().any(|(name, _)| *name == "tensor");
        let guess = !indices.contains(&("tensor", false));
        if by_tensor {
            self.recorder.operator("setitem tensor", at, guess);
        }
        if !by_tensor || guess {
            let name = if value == Kind::Not { "setitem value" } else { "setitem slice" };
            self.recorder.operator(name, at, by_tensor);
        }
    }
}

/// Returns the name of an operator in Python's module `operator`.
fn name_of(op: Operator) -> &'static str {
    match op {
        Operator::Add => "add",
        Operator::Sub => "sub",
        Operator::Mult => "mul",
        Operator::MatMult => "matmul",
        Operator::Div => "truediv",
        Operator::Mod => "mod",
        Operator::Pow => "pow",
        Operator::LShift => "lshift",
        Operator::RShift => "rshift",
        Operator::BitOr => "or_",
        Operator::BitXor => "xor",
        Operator::BitAnd => "and_",
        Operator::FloorDiv => "floordiv",
    }
}
