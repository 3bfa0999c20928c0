//! The walk through expressions: the places of strings, and the roles that follow from them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use ruff_python_ast::{
    CmpOp, Comprehension, Expr, ExprCompare, ExprDict, ExprSubscript, FStringPart,
    InterpolatedStringElement, InterpolatedStringElements,
};
use ruff_text_size::Ranged as _;

use super::literal::{self, span};
use super::name_edits::DottedName;
use super::name_targets::is_foreign;
use super::names::{cuda_device, nccl_backend, other_backend, other_device};
use super::provider_options;
use super::roles::{Role, by_name};
use super::source::is_of_imported_object;
use super::string_candidate::{Candidate, Hint};
use super::value_flow::Slot;
use super::walker::Walker;
use crate::rules::{Match, Place, Rules};
use crate::site::Certainty;

/// Only strings that contain one of these words are examined further.
static NEEDLES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = [
        "cuda",
        "CUDA",
        "nccl",
        "NCCL",
        "nvidia",
        "nvcc",
        "onnxruntime-gpu",
        "Tensorrt",
        "TensorRTRTX",
        "flash-attn",
        "flash_attn",
        "cudnn",
        "/whl/cu",
        "cublas",
        "nvrtc",
        "__global__",
    ];
    let mut builder = AhoCorasick::builder();
    // Most strings are too short for the vectorized search.
    builder.kind(Some(AhoCorasickKind::DFA)).prefilter(false);
    builder.build(words).expect("a few words make a small automaton")
});

impl<'a> Walker<'a> {
    pub(super) fn visit_expr(&mut self, expr: &'a Expr, hint: Hint) {
        match expr {
            Expr::StringLiteral(_) => self.add_candidate(expr, hint),
            Expr::FString(fstring) => {
                self.add_candidate(expr, hint);
                for part in fstring.value.as_slice() {
                    if let FStringPart::FString(part) = part {
                        self.visit_interpolations(&part.elements);
                    }
                }
            }
            Expr::TString(tstring) => {
                for part in tstring.value.as_slice() {
                    self.visit_interpolations(&part.elements);
                }
            }
            Expr::Name(_) | Expr::Attribute(_) => self.visit_name(expr),
            Expr::Call(call) => self.visit_call(expr, call, hint),
            Expr::Compare(compare) => self.visit_compare(compare, hint),
            Expr::BoolOp(op) => op.values.iter().for_each(|value| self.visit_expr(value, hint)),
            Expr::Named(named) => {
                self.record_assignment(&named.target, &named.value);
                self.visit_expr(&named.value, hint);
            }
            Expr::BinOp(op) => {
                // `site_packages / "nvidia" / "cudnn"`
                if op.op.is_div() && literal::plain(&op.right).is_some_and(is_directory_of_cuda) {
                    self.flow.edits.flag_site(Place::CudaLibraryFile, op.right.range());
                }
                if literal::leading(expr).is_some() {
                    self.add_candidate(expr, hint);
                    if !literal::is_text(&op.left) {
                        self.visit_expr(&op.left, hint);
                    } else if let Expr::FString(_) = &*op.left {
                        self.visit_expr(&op.left, Hint::Words);
                    }
                } else {
                    self.visit_expr(&op.left, hint);
                }
                let right = if hint == Hint::Words { Hint::Words } else { Hint::Quiet };
                self.visit_expr(&op.right, right);
            }
            Expr::UnaryOp(op) => self.visit_expr(&op.operand, hint),
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    let opened = self.source.scopes.opened_by(expr.range()).unwrap_or(self.scope);
                    self.visit_parameters(parameters, opened);
                }
                self.visit_inside(expr.range(), |me| me.visit_expr(&lambda.body, Hint::Quiet));
            }
            Expr::If(one) => {
                if self.source.lists_devices(expr) && hint != Hint::Words {
                    // A library parameter decides before the choice itself does.
                    let role = Role::device(Place::DeviceString);
                    self.flow.values.use_later(role, self.scope, expr);
                }
                self.visit_expr(&one.test, Hint::Quiet);
                self.visit_expr(&one.body, hint);
                self.visit_expr(&one.orelse, hint);
            }
            Expr::Dict(dict) => self.visit_dict(dict),
            Expr::List(list) => self.visit_elements(expr, &list.elts, hint),
            Expr::Tuple(tuple) => self.visit_elements(expr, &tuple.elts, hint),
            Expr::Set(set) => self.visit_elements(expr, &set.elts, hint),
            Expr::ListComp(one) => {
                self.visit_comprehension(expr, &one.generators, &[(&one.elt, Hint::Quiet)]);
            }
            Expr::SetComp(one) => {
                self.visit_comprehension(expr, &one.generators, &[(&one.elt, Hint::Quiet)]);
            }
            Expr::Generator(one) => {
                self.visit_comprehension(expr, &one.generators, &[(&one.elt, Hint::Quiet)]);
            }
            Expr::DictComp(one) => {
                let key = one.key.as_deref().map(|key| (key, Hint::Key));
                let parts: Vec<_> = key.into_iter().chain([(&*one.value, Hint::Quiet)]).collect();
                self.visit_comprehension(expr, &one.generators, &parts);
            }
            Expr::Await(one) => self.visit_expr(&one.value, hint),
            Expr::Yield(one) => {
                one.value.iter().for_each(|value| self.visit_expr(value, Hint::Quiet));
            }
            Expr::YieldFrom(one) => self.visit_expr(&one.value, Hint::Quiet),
            Expr::Starred(one) => self.visit_expr(&one.value, hint),
            Expr::Subscript(one) => {
                self.visit_expr(&one.value, Hint::Quiet);
                self.flow.keys.add_subscript(self.source, one, self.scope);
                if literal::leading(&one.slice).is_some() {
                    self.visit_key(&one.slice, None);
                } else {
                    self.spread_environment_key(one);
                    self.visit_expr(&one.slice, Hint::Quiet);
                }
            }
            Expr::Slice(one) => {
                for part in [&one.lower, &one.upper, &one.step].into_iter().flatten() {
                    self.visit_expr(part, Hint::Quiet);
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

    /// A name, or a chain of attributes: one of torch, or an attribute of some object.
    pub(super) fn visit_name(&mut self, expr: &'a Expr) {
        if let Some(resolved) = self.resolve(expr) {
            if is_of_imported_object(&resolved) {
                self.plan_object_attribute(expr);
            }
            let reported = resolved.import.is_some() && resolved.member && expr.is_name_expr();
            if !reported && is_foreign(&resolved.path, self.source.context) {
                self.flow.edits.flag_site(Place::ForeignCudaName, expr.range());
            }
            if let Some(name) = DottedName::of(expr, &resolved) {
                name.plan(self.source, &mut self.flow.edits);
            }
            return;
        }
        if let Expr::Attribute(attribute) = expr {
            self.plan_object_attribute(expr);
            self.visit_expr(&attribute.value, Hint::Quiet);
        }
    }

    /// `tensor.is_cuda`, `stream.cuda_stream`, `properties.major`.
    fn plan_object_attribute(&mut self, expr: &'a Expr) {
        let Some(attribute) = expr.as_attribute_expr() else { return };
        let name = attribute.attr.as_str();
        if let Some(rule) = Rules::builtin().find(Match::Attribute, name) {
            let mut own = self.source.definitions.attribute(name);
            // The property itself reads its parts, which are tensors and modules.
            let inside = self.functions.last().is_some_and(|(_, function)| *function == name);
            own.property &= !(inside && attribute.value.is_attribute_expr());
            if attribute.ctx.is_load()
                && !own.assigned
                && !own.property
                && let Some(to) = rule.to
            {
                let new = to.rsplit('.').next().unwrap_or(to);
                self.flow.edits.change(rule, span(attribute.attr.range()), new, Certainty::Likely);
            }
            return;
        }
        if matches!(name, "major" | "minor" | "multi_processor_count" | "warp_size")
            && self.source.is_device_properties(&attribute.value, self.scope)
        {
            self.flow.edits.flag_site(Place::DevicePropertiesField, attribute.attr.range());
        }
    }

    /// `os.environ[key]`: the values of `key` name variables.
    fn spread_environment_key(&mut self, subscript: &'a ExprSubscript) {
        let is_environment = self
            .source
            .scopes
            .path(&subscript.value, self.scope)
            .is_some_and(|path| path == "os.environ");
        if is_environment {
            self.flow.spread(&subscript.slice, Role::VARIABLE, self.scope);
        }
    }

    fn visit_interpolations(&mut self, elements: &'a InterpolatedStringElements) {
        for element in elements {
            if let InterpolatedStringElement::Interpolation(one) = element {
                self.visit_expr(&one.expression, Hint::Quiet);
                if let Some(spec) = &one.format_spec {
                    self.visit_interpolations(&spec.elements);
                }
            }
        }
    }

    fn add_candidate(&mut self, expr: &'a Expr, hint: Hint) {
        if literal::leading(expr)
            .is_some_and(|text| literal::holds(text, |text| NEEDLES.is_match(text)))
        {
            self.candidates.push(Candidate { expr, hint });
        }
    }

    fn visit_comprehension(
        &mut self,
        whole: &'a Expr,
        generators: &'a [Comprehension],
        parts: &[(&'a Expr, Hint)],
    ) {
        self.visit_inside(whole.range(), |me| {
            for generator in generators {
                me.record_loop(&generator.target, &generator.iter);
                me.visit_expr(&generator.iter, Hint::Quiet);
                generator.ifs.iter().for_each(|test| me.visit_expr(test, Hint::Quiet));
            }
            for &(part, hint) in parts {
                me.visit_expr(part, hint);
            }
        });
    }

    /// The elements of a list, tuple or set: devices next to other devices, values after a
    /// command-line option.
    fn visit_elements(&mut self, whole: &'a Expr, elements: &'a [Expr], hint: Hint) {
        let mut alone = if hint == Hint::Words { hint } else { Hint::Quiet };
        if hint != Hint::Words {
            if self.source.lists_devices(whole) {
                let role = Role::device(Place::DeviceTypeMembership);
                self.flow.values.use_later(role, self.scope, whole);
            } else if self.source.lists_backends(whole) {
                let role = Role::backend(Place::BackendString);
                self.flow.values.use_later(role, self.scope, whole);
            } else if let Expr::Tuple(_) = whole
                && let [device, backend] = elements
                && literal::plain(device).is_some_and(cuda_device)
                && literal::plain(backend).is_some_and(nccl_backend)
            {
                self.flow.edits.rewrite_text(
                    device,
                    Role::device(Place::DeviceString),
                    Certainty::Likely,
                );
                self.flow.edits.rewrite_text(
                    backend,
                    Role::backend(Place::BackendString),
                    Certainty::Likely,
                );
            } else if elements.iter().filter_map(literal::plain).nth(1).is_some() {
                // Words of one list are of the same kind, which only their use can show.
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
                self.flow.spread(element, role, self.scope);
            }
            self.visit_expr(element, alone);
        }
    }

    fn visit_dict(&mut self, dict: &'a ExprDict) {
        let keys = || dict.items.iter().filter_map(|item| item.key.as_ref());
        let texts = || keys().filter_map(literal::plain);
        if texts().any(|key| key.eq_ignore_ascii_case("nvidia")) && texts().any(is_other_vendor) {
            // The row of one vendor is correct; the row of another is missing.
            self.flow.edits.flag_site(Place::VendorTable, dict.range());
            self.flow.edits.keep(dict.range());
        }
        let devices = texts().any(other_device) && texts().any(cuda_device);
        let backends = texts().any(other_backend) && texts().any(nccl_backend);
        // `{'gpu': 'cuda', 'cpu': 'cpu'}`: devices by project-specific names.
        let values = || dict.items.iter().map(|item| literal::plain(&item.value));
        let is_device = |text: &str| cuda_device(text) || other_device(text);
        if values().all(|text| text.is_some_and(is_device)) && values().flatten().any(other_device)
        {
            let role = Role::device(Place::DeviceTypeMembership);
            dict.items.iter().for_each(|item| self.flow.spread(&item.value, role, self.scope));
        }
        for item in &dict.items {
            if let Some(key) = &item.key {
                if literal::leading(key).is_some() {
                    self.visit_key(key, Some(&item.value));
                    if devices {
                        self.flow.keys.add_key(
                            key,
                            Role::device(Place::DeviceTypeMembership),
                            self.scope,
                        );
                    } else if backends {
                        self.flow.keys.add_key(
                            key,
                            Role::backend(Place::BackendComparison),
                            self.scope,
                        );
                    }
                } else {
                    self.visit_expr(key, Hint::Quiet);
                }
                if let Some(name) = literal::plain(key) {
                    let slot = Slot::Key(name);
                    self.flow.values.mark_by_name(&slot, name);
                    self.flow.give(slot, &item.value, self.scope);
                }
            }
            self.visit_expr(&item.value, Hint::Quiet);
        }
    }

    /// A string that is a key: plans the name of an environment variable, leaves other keys
    /// unchanged.
    pub(super) fn visit_key(&mut self, key: &'a Expr, value: Option<&'a Expr>) {
        if literal::plain(key).is_some_and(|name| Rules::builtin().find(Match::Env, name).is_some())
        {
            self.flow.environment.plan_name(&mut self.flow.edits, key, value);
        } else if !provider_options::plan_provider_option(&mut self.flow.edits, key) {
            self.visit_expr(key, Hint::Key);
        }
    }

    fn visit_compare(&mut self, compare: &'a ExprCompare, hint: Hint) {
        let mut left: &'a Expr = &compare.left;
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            let (other, text) = match op {
                // `'cuda' in name`, `'cuda' == name`
                _ if literal::leading(left).is_some() => (right, left),
                _ => (left, right),
            };
            if matches!(op, CmpOp::In | CmpOp::NotIn)
                && literal::plain(left)
                    .is_some_and(|name| Rules::builtin().find(Match::Env, name).is_some())
            {
                self.flow.environment.plan_name(&mut self.flow.edits, left, None);
            } else {
                self.compare_pair(other, text);
            }
            left = right;
        }
        let hint = if hint == Hint::Words { Hint::Words } else { Hint::Quiet };
        self.visit_expr(&compare.left, hint);
        compare.comparators.iter().for_each(|one| self.visit_expr(one, hint));
    }

    /// `other == text`, `text in other`, `other in (text, …)`.
    pub(super) fn compare_pair(&mut self, other: &'a Expr, text: &'a Expr) {
        self.flow.edits.error_text(text);
        let role = Role::device(Place::DeviceTypeComparison);
        let parts: &[Expr] = match text {
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::List(list) => &list.elts,
            Expr::Set(set) => &set.elts,
            _ => std::slice::from_ref(text),
        };
        let words = || parts.iter().filter_map(literal::plain);
        if words().any(nccl_backend) || words().any(other_backend) {
            let role = Role::backend(Place::BackendComparison);
            let slot = self.source.root(other, self.scope);
            let likely = self.source.imports.may_hold_devices() || words().any(other_backend);
            if likely {
                self.flow.spread(text, role, self.scope);
                if let Some(slot) = &slot {
                    self.flow.values.mark(slot, role);
                }
            } else if let Some(slot) = slot {
                self.flow.values.compare(slot, self.scope, text);
            }
        }
        if asks_device_name(other) && words().any(cuda_device) {
            // Another library returns the device type: which branch NPUs take is unknown.
            self.flow.edits.flag_site(Place::DeviceTypeComparison, text.range());
            return;
        }
        if self.source.is_device(other, self.scope) {
            self.flow.spread(text, role, self.scope);
            return;
        }
        // `kind in ("cpu", "cuda")`; a single `kind == "cpu"` may be the program's own choice.
        let another = words().any(other_device) && words().any(cuda_device);
        if let Some(slot) = self.source.root(other, self.scope) {
            if another {
                self.flow.values.mark(&slot, role);
            }
            for part in parts {
                self.flow.values.compare(slot.clone(), self.scope, part);
            }
        }
    }
}

/// Whether a directory contains CUDA libraries.
fn is_directory_of_cuda(name: &str) -> bool {
    matches!(name, "nvidia" | "cudnn" | "cublas") || name.starts_with("cuda_")
}

/// Whether a key names a vendor of accelerators other than NVIDIA and Huawei.
fn is_other_vendor(key: &str) -> bool {
    const VENDORS: &[&str] = &[
        "amd",
        "intel",
        "apple",
        "google",
        "habana",
        "cambricon",
        "mthreads",
        "moore_threads",
        "hygon",
        "iluvatar",
        "metax",
        "kunlunxin",
        "enflame",
        "biren",
        "rocm",
    ];
    VENDORS.iter().any(|vendor| key.eq_ignore_ascii_case(vendor))
}

/// `get_accelerator().device_name()`: DeepSpeed's name for each kind of device.
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
