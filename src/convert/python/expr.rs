//! Expressions: where strings stand, and what that says of them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use ruff_python_ast::{
    CmpOp, Comprehension, Expr, ExprCompare, ExprDict, FStringPart, InterpolatedStringElement,
    InterpolatedStringElements,
};
use ruff_text_size::Ranged as _;

use super::engine::{Candidate, Engine, Hint, by_name};
use super::flow::Slot;
use super::literal::{self, span};
use super::names::{cuda_device, device_like, nccl_backend, other_backend, other_device};
use super::roles::{Role, Want};
use crate::rules::{Match, Place};
use crate::site::Certainty;

/// What a string must hold to be looked at again.
static NEEDLES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words =
        ["cuda", "CUDA", "nccl", "NCCL", "nvidia-smi", "nvcc", "onnxruntime-gpu", "Tensorrt"];
    let mut builder = AhoCorasick::builder();
    // Most strings are short: what searches many bytes at a time would not begin.
    builder.kind(Some(AhoCorasickKind::DFA)).prefilter(false);
    builder.build(words).expect("a few words make a small automaton")
});

impl<'a> Engine<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr, hint: Hint) {
        match expr {
            Expr::StringLiteral(_) => self.candidate(expr, hint),
            Expr::FString(fstring) => {
                self.candidate(expr, hint);
                for part in fstring.value.as_slice() {
                    if let FStringPart::FString(part) = part {
                        self.interpolations(&part.elements);
                    }
                }
            }
            Expr::TString(tstring) => {
                for part in tstring.value.as_slice() {
                    self.interpolations(&part.elements);
                }
            }
            Expr::Name(_) | Expr::Attribute(_) => self.name_or_attribute(expr),
            Expr::Call(call) => self.call(expr, call, hint),
            Expr::Compare(compare) => self.compare(compare, hint),
            Expr::BoolOp(op) => op.values.iter().for_each(|value| self.expr(value, hint)),
            Expr::Named(named) => {
                self.assign(&named.target, &named.value);
                self.expr(&named.value, hint);
            }
            Expr::BinOp(op) => {
                if literal::leading(expr).is_some() {
                    self.candidate(expr, hint);
                    if !literal::is_text(&op.left) {
                        self.expr(&op.left, hint);
                    } else if let Expr::FString(_) = &*op.left {
                        self.expr(&op.left, Hint::Words);
                    }
                } else {
                    self.expr(&op.left, hint);
                }
                let right = if hint == Hint::Words { Hint::Words } else { Hint::Quiet };
                self.expr(&op.right, right);
            }
            Expr::UnaryOp(op) => self.expr(&op.operand, hint),
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    let opened = self.scopes.opened_by(expr.range()).unwrap_or(self.scope);
                    self.parameters(parameters, opened);
                }
                self.inside(expr.range(), |me| me.expr(&lambda.body, Hint::Quiet));
            }
            Expr::If(one) => {
                if self.lists_devices(expr) && hint != Hint::Words {
                    self.spread(expr, Role::device(Place::DeviceString));
                }
                self.expr(&one.test, Hint::Quiet);
                self.expr(&one.body, hint);
                self.expr(&one.orelse, hint);
            }
            Expr::Dict(dict) => self.dict(dict),
            Expr::List(list) => self.elements(expr, &list.elts, hint),
            Expr::Tuple(tuple) => self.elements(expr, &tuple.elts, hint),
            Expr::Set(set) => self.elements(expr, &set.elts, hint),
            Expr::ListComp(one) => {
                self.comprehension(expr, &one.generators, &[(&one.elt, Hint::Quiet)]);
            }
            Expr::SetComp(one) => {
                self.comprehension(expr, &one.generators, &[(&one.elt, Hint::Quiet)]);
            }
            Expr::Generator(one) => {
                self.comprehension(expr, &one.generators, &[(&one.elt, Hint::Quiet)]);
            }
            Expr::DictComp(one) => {
                let key = one.key.as_deref().map(|key| (key, Hint::Key));
                let parts: Vec<_> = key.into_iter().chain([(&*one.value, Hint::Quiet)]).collect();
                self.comprehension(expr, &one.generators, &parts);
            }
            Expr::Await(one) => self.expr(&one.value, hint),
            Expr::Yield(one) => one.value.iter().for_each(|value| self.expr(value, Hint::Quiet)),
            Expr::YieldFrom(one) => self.expr(&one.value, Hint::Quiet),
            Expr::Starred(one) => self.expr(&one.value, hint),
            Expr::Subscript(one) => {
                self.expr(&one.value, Hint::Quiet);
                self.subscript_key(one);
                if literal::leading(&one.slice).is_some() {
                    self.key(&one.slice, None);
                } else {
                    self.environment_key(one);
                    self.expr(&one.slice, Hint::Quiet);
                }
            }
            Expr::Slice(one) => {
                for part in [&one.lower, &one.upper, &one.step].into_iter().flatten() {
                    self.expr(part, Hint::Quiet);
                }
            }
            Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::IpyEscapeCommand(_) => {}
        }
    }

    fn interpolations(&mut self, elements: &'a InterpolatedStringElements) {
        for element in elements {
            if let InterpolatedStringElement::Interpolation(one) = element {
                self.expr(&one.expression, Hint::Quiet);
                if let Some(spec) = &one.format_spec {
                    self.interpolations(&spec.elements);
                }
            }
        }
    }

    fn candidate(&mut self, expr: &'a Expr, hint: Hint) {
        if literal::leading(expr)
            .is_some_and(|text| literal::holds(text, |text| NEEDLES.is_match(text)))
        {
            self.candidates.push(Candidate { expr, hint });
        }
    }

    fn comprehension(
        &mut self,
        whole: &'a Expr,
        generators: &'a [Comprehension],
        parts: &[(&'a Expr, Hint)],
    ) {
        self.inside(whole.range(), |me| {
            for generator in generators {
                me.looped(&generator.target, &generator.iter);
                me.expr(&generator.iter, Hint::Quiet);
                generator.ifs.iter().for_each(|test| me.expr(test, Hint::Quiet));
            }
            for &(part, hint) in parts {
                me.expr(part, hint);
            }
        });
    }

    /// The elements of a list, tuple or set: devices beside other devices, the value after an
    /// option of a command line.
    fn elements(&mut self, whole: &'a Expr, elements: &'a [Expr], hint: Hint) {
        let mut alone = if hint == Hint::Words { hint } else { Hint::Quiet };
        if hint != Hint::Words {
            if self.lists_devices(whole) {
                self.spread(whole, Role::device(Place::DeviceTypeMembership));
            } else if self.lists_backends(whole) {
                self.spread(whole, Role::backend(Place::BackendString));
            } else if let Expr::Tuple(_) = whole
                && let [device, backend] = elements
                && literal::plain(device).is_some_and(cuda_device)
                && literal::plain(backend).is_some_and(nccl_backend)
            {
                self.rewrite_text(device, Role::device(Place::DeviceString), Certainty::Likely);
                self.rewrite_text(backend, Role::backend(Place::BackendString), Certainty::Likely);
            } else if elements.iter().filter_map(literal::plain).nth(1).is_some() {
                // Words of one list are of one kind: which one, only its use tells.
                alone = Hint::Among;
            }
        }
        for (at, element) in elements.iter().enumerate() {
            let option = at.checked_sub(1).and_then(|before| literal::plain(&elements[before]));
            if let Some(role) = option
                .and_then(|option| option.strip_prefix("--"))
                .filter(|name| !name.contains(['=', ' ']))
                .and_then(by_name)
            {
                self.spread(element, role);
            }
            self.expr(element, alone);
        }
    }

    fn dict(&mut self, dict: &'a ExprDict) {
        let keys = || dict.items.iter().filter_map(|item| item.key.as_ref());
        let texts = || keys().filter_map(literal::plain);
        let devices = texts().any(other_device) && texts().any(cuda_device);
        let backends = texts().any(other_backend) && texts().any(nccl_backend);
        // `{'gpu': 'cuda', 'cpu': 'cpu'}`: devices by names of the file's own.
        let values = || dict.items.iter().map(|item| literal::plain(&item.value));
        let is_device = |text: &str| cuda_device(text) || other_device(text);
        if values().all(|text| text.is_some_and(is_device)) && values().flatten().any(other_device)
        {
            let role = Role::device(Place::DeviceTypeMembership);
            dict.items.iter().for_each(|item| self.spread(&item.value, role));
        }
        for item in &dict.items {
            if let Some(key) = &item.key {
                if literal::leading(key).is_some() {
                    self.key(key, Some(&item.value));
                    if devices {
                        self.table_key(key, Role::device(Place::DeviceTypeMembership));
                    } else if backends {
                        self.table_key(key, Role::backend(Place::BackendComparison));
                    }
                } else {
                    self.expr(key, Hint::Quiet);
                }
                if let Some(name) = literal::plain(key) {
                    let slot = Slot::Key(name);
                    self.mark_by_name(&slot, name);
                    self.flow.give(slot, self.scope, &item.value);
                }
            }
            self.expr(&item.value, Hint::Quiet);
        }
    }

    /// A string that is a key: the name of an environment variable, or left alone.
    pub(super) fn key(&mut self, key: &'a Expr, value: Option<&'a Expr>) {
        if literal::plain(key).is_some_and(|name| self.rule(Match::Env, name).is_some()) {
            self.environment_name(key, value);
        } else if !self.provider_option(key) {
            self.expr(key, Hint::Key);
        }
    }

    fn compare(&mut self, compare: &'a ExprCompare, hint: Hint) {
        let mut left: &'a Expr = &compare.left;
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            let (other, text) = match op {
                // `'cuda' in name`, `'cuda' == name`
                _ if literal::leading(left).is_some() => (right, left),
                _ => (left, right),
            };
            if matches!(op, CmpOp::In | CmpOp::NotIn)
                && literal::plain(left).is_some_and(|name| self.rule(Match::Env, name).is_some())
            {
                self.environment_name(left, None);
            } else {
                self.compared_pair(other, text);
            }
            left = right;
        }
        let hint = if hint == Hint::Words { Hint::Words } else { Hint::Quiet };
        self.expr(&compare.left, hint);
        compare.comparators.iter().for_each(|one| self.expr(one, hint));
    }

    /// `other == text`, `text in other`, `other in (text, …)`.
    pub(super) fn compared_pair(&mut self, other: &'a Expr, text: &'a Expr) {
        self.error_text(text);
        let role = Role::device(Place::DeviceTypeComparison);
        let parts: &[Expr] = match text {
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::List(list) => &list.elts,
            Expr::Set(set) => &set.elts,
            _ => std::slice::from_ref(text),
        };
        let words = || parts.iter().filter_map(literal::plain);
        if words().any(nccl_backend) || words().any(other_backend) {
            self.spread(text, Role::backend(Place::BackendComparison));
            if let Some(slot) = self.root(other) {
                self.flow.mark(&slot, Role::backend(Place::BackendComparison));
            }
        }
        if asks_device_name(other) && words().any(cuda_device) {
            // Another library says what runs here: which branch is meant for NPUs is open.
            self.flag_site(Place::DeviceTypeComparison, text.range());
            return;
        }
        if self.is_device(other) {
            self.spread(text, role);
            return;
        }
        let another = words().any(other_device);
        if let Some(slot) = self.root(other) {
            if another {
                self.flow.mark(&slot, role);
            }
            for part in parts {
                self.flow.compare(slot.clone(), self.scope, part);
            }
        }
    }

    /// Whether an expression is a device, or the text of one, by its form or name.
    pub(super) fn is_device(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => device_like(name.id.as_str()),
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                name == "type"
                    && !matches!(&*attribute.value, Expr::Name(name) if !device_like(name.id.as_str()) && name.id.as_str().contains("layer"))
                    || device_like(name) && name != "device_count"
            }
            Expr::Subscript(subscript) => match literal::plain(&subscript.slice) {
                Some(key) => device_like(key),
                None => self.is_device(&subscript.value),
            },
            Expr::Call(call) => {
                if self.scopes.path(&call.func, self.scope).as_deref() == Some("torch.device") {
                    return true;
                }
                match &*call.func {
                    Expr::Attribute(method) => {
                        let name = method.attr.as_str();
                        // `x.type()` is `'torch.npu.FloatTensor'`.
                        name == "type" && call.arguments.is_empty()
                            || device_like(name)
                                && !name.contains("count")
                                && !name.contains("name")
                            || self.is_device(&method.value)
                    }
                    Expr::Name(name) if matches!(name.id.as_str(), "str" | "repr") => {
                        call.arguments.args.first().is_some_and(|arg| self.is_device(arg))
                    }
                    Expr::Name(name) => device_like(name.id.as_str()) && !name.id.contains("count"),
                    _ => false,
                }
            }
            // `'cuda' in [d.type for d in devices]`
            Expr::ListComp(one) => self.is_device(&one.elt),
            Expr::SetComp(one) => self.is_device(&one.elt),
            Expr::Generator(one) => self.is_device(&one.elt),
            _ => false,
        }
    }

    /// The slot that an expression takes its value from, through `str()` and methods of
    /// strings.
    pub(super) fn root(&self, expr: &'a Expr) -> Option<Slot<'a>> {
        match expr {
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method)
                    if self.scopes.resolve(&call.func, self.scope).is_none() =>
                {
                    self.root(&method.value)
                }
                Expr::Name(name) if name.id.as_str() == "str" => {
                    call.arguments.args.first().and_then(|arg| self.root(arg))
                }
                _ => None,
            },
            _ => self.slot(expr),
        }
    }

    /// Whether the values that `expr` may have are devices: `'cuda' if x else 'cpu'`,
    /// `'cuda' if torch.cuda.is_available() else None`, `['cpu', 'cuda']`.
    pub(super) fn lists_devices(&self, expr: &Expr) -> bool {
        if !has_leaves(expr) {
            return false;
        }
        let mut leaves = Vec::new();
        let mut asks = false;
        self.leaves(expr, &mut leaves, &mut asks);
        let other = leaves.iter().filter_map(|leaf| literal::plain(leaf)).any(other_device);
        (other || asks) && leaves.iter().any(|leaf| !literal::device(self.text, leaf).is_empty())
    }

    /// Whether the values that `expr` may have are backends of torch.distributed.
    pub(super) fn lists_backends(&self, expr: &Expr) -> bool {
        if !has_leaves(expr) {
            return false;
        }
        let mut leaves = Vec::new();
        let mut asks = false;
        self.leaves(expr, &mut leaves, &mut asks);
        let texts = || leaves.iter().filter_map(|leaf| literal::plain(leaf));
        texts().any(other_backend) && texts().any(nccl_backend)
    }

    fn leaves<'e>(&self, expr: &'e Expr, out: &mut Vec<&'e Expr>, asks: &mut bool) {
        match expr {
            Expr::If(one) => {
                let test = &self.text[one.test.range()];
                *asks |= test.contains("cuda") && test.contains("available");
                self.leaves(&one.body, out, asks);
                self.leaves(&one.orelse, out, asks);
            }
            Expr::BoolOp(op) => op.values.iter().for_each(|one| self.leaves(one, out, asks)),
            Expr::List(list) => list.elts.iter().for_each(|one| self.leaves(one, out, asks)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.leaves(one, out, asks)),
            Expr::Set(set) => set.elts.iter().for_each(|one| self.leaves(one, out, asks)),
            _ => out.push(expr),
        }
    }

    pub(super) fn spread_in(&mut self, scope: usize, expr: &'a Expr, role: Role) {
        let outer = std::mem::replace(&mut self.scope, scope);
        self.spread(expr, role);
        self.scope = outer;
    }

    /// `expr` stands where `role` is wanted: rewrites its strings, and follows its names.
    pub(super) fn spread(&mut self, expr: &'a Expr, role: Role) {
        if !self.flow.first_time(expr, role.want) {
            return;
        }
        if role.want == Want::Location && self.location(expr) {
            return;
        }
        if role.want == Want::Variable && literal::plain(expr).is_some() {
            self.environment_name(expr, None);
            return;
        }
        if literal::leading(expr).is_some() {
            self.rewrite_text(expr, role, Certainty::Exact);
            if let Some(first) = literal::first_interpolation(expr) {
                self.spread(first, role);
            }
            return;
        }
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => {
                if let Some(slot) = self.slot(expr) {
                    self.flow.mark(&slot, role);
                }
            }
            Expr::If(one) => {
                self.spread(&one.body, role);
                self.spread(&one.orelse, role);
            }
            Expr::BoolOp(op) => op.values.iter().for_each(|value| self.spread(value, role)),
            Expr::BinOp(op) => self.spread(&op.left, role),
            Expr::Named(named) => self.spread(&named.value, role),
            Expr::List(list) => list.elts.iter().for_each(|one| self.spread(one, role)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.spread(one, role)),
            Expr::Set(set) => set.elts.iter().for_each(|one| self.spread(one, role)),
            Expr::Starred(one) => self.spread(&one.value, role),
            Expr::Await(one) => self.spread(&one.value, role),
            Expr::ListComp(one) => {
                self.inside(expr.range(), |me| me.spread(&one.elt, role));
            }
            Expr::Generator(one) => {
                self.inside(expr.range(), |me| me.spread(&one.elt, role));
            }
            Expr::DictComp(one) => self.inside(expr.range(), |me| me.spread(&one.value, role)),
            Expr::Lambda(one) if role.want != Want::Location => {
                self.inside(expr.range(), |me| me.spread(&one.body, role));
            }
            // Whoever goes through a dictionary of variables meets its keys.
            Expr::Dict(dict) if role.want == Want::Variable => {
                dict.items.iter().filter_map(|item| item.key.as_ref()).for_each(|key| {
                    self.spread(key, role);
                });
            }
            Expr::Dict(dict) => dict.items.iter().for_each(|item| self.spread(&item.value, role)),
            Expr::Call(call) => self.spread_call(call, role),
            _ => {}
        }
    }

    /// Rewrites a string that is a device or backend.
    pub(super) fn rewrite_text(&mut self, expr: &'a Expr, role: Role, certainty: Certainty) {
        let parts = match role.want {
            Want::Device => literal::device(self.text, expr),
            Want::Backend => literal::backend(self.text, expr),
            Want::Location | Want::Variable => Vec::new(),
        };
        let site = match (role.want, literal::leading(expr)) {
            (Want::Device, Some(Expr::FString(_))) => Place::DeviceFstring,
            (Want::Device, Some(_)) if !expr.is_string_literal_expr() => Place::DeviceConcatenation,
            (Want::Backend, _) if parts.len() > 1 => Place::BackendPerDevice,
            _ => role.site,
        };
        let rule = self.rules.site(site);
        for (range, text) in parts {
            self.change(rule, range, text, certainty);
        }
    }

    /// `"CUDA out of memory" in str(error)`: torch_npu says NPU there. Other texts of CUDA's
    /// errors have no counterpart.
    pub(super) fn error_text(&mut self, expr: &'a Expr) {
        for range in literal::texts(expr) {
            let text = &self.text[range.clone()];
            if text.to_ascii_lowercase().contains("cuda out of memory") {
                let rule = self.rules.site(Place::OutOfMemoryText);
                let both = [("CUDA", "NPU"), ("cuda", "npu")];
                for (from, to) in both {
                    for (part, to) in literal::words(self.text, range.clone(), from, to) {
                        self.change(rule, part, to, Certainty::Exact);
                    }
                }
            } else if ["CUDA error", "CUBLAS", "cuDNN error", "CUDNN_"]
                .iter()
                .any(|one| text.contains(one))
            {
                self.flag(self.rules.site(Place::CudaErrorText), span(expr.range()), None);
            }
        }
    }
}

/// Whether an expression has one of several values: a value alone is no list of devices.
fn has_leaves(expr: &Expr) -> bool {
    matches!(expr, Expr::If(_) | Expr::BoolOp(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Set(_))
}

/// `get_accelerator().device_name()`: DeepSpeed's own answer for each kind of device.
fn asks_device_name(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    call.func.as_attribute_expr().is_some_and(|method| {
        method.attr.as_str() == "device_name"
            && method.value.as_call_expr().is_some_and(|of| match &*of.func {
                Expr::Name(name) => name.id.as_str() == "get_accelerator",
                Expr::Attribute(name) => name.attr.as_str() == "get_accelerator",
                _ => false,
            })
    })
}
