//! Tests in front of code that only CUDA can run: a kernel or an extension of the project, or facts
//! of a CUDA device.
//!
//! `if x.is_cuda: return _bias_act_cuda(x)` must stay, so that the reference path runs on an NPU. A
//! branch that does anything else with a device is an ordinary branch for CUDA.

use foldhash::HashSet;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Decorator, Expr, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use super::cuda_questions::{Questions, SameQuestions};
use super::literal;
use super::source::Source;

/// Maximum number of statements in a branch that calls a kernel.
const MAX_STATEMENTS: usize = 3;

/// Text in the body of a function that calls an extension or a kernel.
const EVIDENCE: &[&str] = &["plugin", "_ext.", "_C.", "torch.ops.", "_cuda.", "autograd.Function"];

/// Names of the compiled module of a package.
const COMPILED: &[&str] = &["_C", "_ext", "_cuda", "_kernels"];

/// Prefixes of the names of functions that test for CUDA or select it.
const ORDINARY: &[&str] = &[
    "to",
    "is",
    "has",
    "use",
    "set",
    "init",
    "check",
    "move",
    "get",
    "setup",
    "enable",
    "configure",
    "prepare",
    "seed",
    "load",
    "with",
    "test",
    "train",
    "run",
    "main",
    "eval",
    "infer",
    "bench",
    "benchmark",
];

/// The part of a test that tests for CUDA, and the CUDA-only code that it guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guard {
    pub test: TextRange,
    pub branch: TextRange,
}

/// Finds the tests in front of CUDA-only code, in the order of the text.
pub(super) fn find_guards(source: &Source<'_>, body: &[Stmt]) -> Vec<Guard> {
    let text = source.text;
    if !text.contains("cuda") {
        return Vec::new();
    }
    let mut kernels = Kernels { source, names: HashSet::default() };
    kernels.visit_body(body);
    let mut finder = Finder {
        source,
        kernels: kernels.names,
        made_by_kernels: HashSet::default(),
        found: Vec::new(),
    };
    let mut made = Made { finder: &finder, names: HashSet::default() };
    made.visit_body(body);
    finder.made_by_kernels = made.names;
    finder.visit_body(body);
    finder.same_questions(body);
    finder.found.sort_by_key(|guard| (guard.test.start(), guard.test.end()));
    finder.found.dedup();
    finder.found
}

/// Collects the functions of the file that launch kernels or call extensions.
struct Kernels<'s, 'a> {
    source: &'s Source<'a>,
    names: HashSet<String>,
}

impl<'b> Visitor<'b> for Kernels<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        if let Stmt::FunctionDef(def) = stmt
            && self.is_kernel(def)
        {
            self.names.insert(def.name.to_string());
        }
        walk_stmt(self, stmt);
    }
}

impl Kernels<'_, '_> {
    fn is_kernel(&self, def: &StmtFunctionDef) -> bool {
        let text = &self.source.text[def.range()];
        let launches = text.contains("[grid") || text.contains("[(") && text.contains("triton.");
        let jit = def.decorator_list.iter().any(|one| {
            let path = self.source.scopes.path(&one.expression, 0);
            path.as_deref() == Some("triton.jit")
        });
        let named = is_named_after_cuda(def.name.as_str());
        // A function that moves tensors is more than a kernel.
        let moves = text.contains(".cuda(") || text.contains(".to(");
        jit || launches || named && !moves && EVIDENCE.iter().any(|word| text.contains(word))
    }
}

/// Whether the name of a function marks the CUDA implementation of something: `bias_act_cuda`.
fn is_named_after_cuda(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some(stem) = lower.strip_suffix("_cuda").or_else(|| lower.strip_suffix("cuda")) else {
        return false;
    };
    let words = stem.split('_').filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    !words.is_empty() && !words.iter().any(|word| ORDINARY.contains(word))
}

/// Collects the variables that hold results of extensions.
struct Made<'f, 's, 'a> {
    finder: &'f Finder<'s, 'a>,
    names: HashSet<String>,
}

impl<'b> Visitor<'b> for Made<'_, '_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        if let Stmt::Assign(one) = stmt
            && let [Expr::Name(name)] = &*one.targets
            && let Expr::Call(call) = &*one.value
            && self.finder.is_kernel(&call.func)
        {
            self.names.insert(name.id.to_string());
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _: &'b Expr) {}
}

struct Finder<'s, 'a> {
    source: &'s Source<'a>,
    kernels: HashSet<String>,
    /// Variables that hold results of extensions.
    made_by_kernels: HashSet<String>,
    found: Vec<Guard>,
}

impl<'b> Finder<'_, '_> {
    /// Whether a branch only runs CUDA-only code.
    fn is_cuda_only(&self, body: &'b [Stmt]) -> bool {
        let mut calls = Calls { finder: self, kernel: false, extension: false, device: false };
        calls.visit_body(body);
        // Compiled code always runs on CUDA, regardless of other statements; for a function only
        // its name is evidence.
        let is_short = body.len() <= MAX_STATEMENTS;
        (calls.extension || calls.kernel && is_short) && !calls.device
    }

    /// Whether a function is part of a compiled module.
    fn is_compiled(&self, func: &Expr) -> bool {
        let of_object = func.as_attribute_expr().is_some_and(|one| self.is_of_kernel(&one.value));
        of_object || self.source.scopes.path(func, 0).is_some() && self.is_kernel(func)
    }

    /// Whether only CUDA can run a function or module.
    fn is_kernel(&self, func: &Expr) -> bool {
        if let Expr::Subscript(launch) = func {
            // `kernel[grid](…)`
            return match &*launch.value {
                Expr::Name(name) => self.kernels.contains(name.id.as_str()),
                _ => false,
            };
        }
        let path = self.source.scopes.path(func, 0);
        if let Some(path) = path {
            let project = self.source.context.project;
            let built = |part: &str| {
                part.ends_with("_cuda")
                    || part.starts_with("triton_")
                    || part.ends_with("_triton")
                    || COMPILED.contains(&part)
                    || project.is_some_and(|project| project.is_extension(part))
            };
            let mut parts = path.split('.').peekable();
            if matches!(parts.peek(), Some(&"torch")) {
                return false;
            }
            let last = path.rsplit('.').next().unwrap_or(&path);
            return parts.any(|part| built(part) && (part != last || is_named_after_cuda(part)));
        }
        let name = match func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return false,
        };
        self.kernels.contains(name)
            || func.as_attribute_expr().is_some_and(|method| self.is_of_kernel(&method.value))
    }

    /// Adds the equivalent tests in the functions of the guards found so far:
    /// `if x.device.type != "cuda"` before `if x.device.type == "cuda"`.
    fn same_questions(&mut self, body: &'b [Stmt]) {
        let compared = |guard: &Guard| {
            let text = &self.source.text[guard.test];
            let (subject, _) = text.split_once(" == ").or_else(|| text.split_once(" != "))?;
            Some((subject.to_owned(), *guard))
        };
        let asked: Vec<(String, Guard)> = self.found.iter().filter_map(compared).collect();
        if asked.is_empty() {
            return;
        }
        let mut same =
            SameQuestions { source: self.source, asked: &asked, around: None, found: Vec::new() };
        same.visit_body(body);
        self.found.extend(same.found);
    }

    /// Whether an extension creates an object: `table = backend.GPUHashTable(…)`.
    fn is_of_kernel(&self, object: &Expr) -> bool {
        let Expr::Name(name) = object else { return false };
        self.made_by_kernels.contains(name.id.as_str())
    }

    fn keep_questions(&mut self, test: &'b Expr, branch: TextRange) {
        let mut questions = Questions { source: self.source, found: Vec::new() };
        questions.visit_expr(test);
        self.found.extend(questions.found.into_iter().map(|test| Guard { test, branch }));
    }

    /// `if not x.is_cuda: return reference(x)`, followed by CUDA-only code.
    fn early_exits(&mut self, body: &'b [Stmt]) {
        for (at, stmt) in body.iter().enumerate() {
            let rest = &body[at + 1..];
            // `assert x.is_cuda`
            if let Stmt::Assert(one) = stmt
                && !is_negated(&one.test)
                && self.is_cuda_only(rest)
            {
                self.keep_questions(&one.test, around(rest));
            }
            let Stmt::If(one) = stmt else { continue };
            let leaves = matches!(one.body.last(), Some(Stmt::Return(_) | Stmt::Raise(_)));
            if !leaves || !one.elif_else_clauses.is_empty() || !is_negated(&one.test) {
                continue;
            }
            let facts = rest.len() > 1 && self.needs_facts(rest) || self.asks_cudnn(body);
            if self.is_cuda_only(rest) || facts {
                self.keep_questions(&one.test, around(rest));
            }
        }
    }

    /// `@torch.library.custom_op("a::b", device_types="cuda")` in front of CUDA-only code.
    fn registrations(&mut self, def: &'b StmtFunctionDef) {
        let registers = |decorator: &&'b Decorator| {
            let call = decorator.expression.as_call_expr();
            let path = call.and_then(|call| self.source.scopes.path(&call.func, 0));
            path.is_some_and(|path| path.starts_with("torch.library."))
        };
        let Some(decorator) = def.decorator_list.iter().find(registers) else { return };
        if !self.is_cuda_only(&def.body) {
            return;
        }
        let Some(call) = decorator.expression.as_call_expr() else { return };
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        for device in call.arguments.args.iter().chain(keywords) {
            if literal::plain(device).is_some_and(super::names::cuda_device) {
                let branch = around(&def.body);
                self.found.push(Guard { test: device.range(), branch });
            }
        }
    }

    /// Whether statements also test for cuDNN: `if not torch.backends.cudnn.enabled: return False`.
    fn asks_cudnn(&self, body: &'b [Stmt]) -> bool {
        let tests = body.iter().filter_map(Stmt::as_if_stmt).map(|one| &one.test);
        tests.into_iter().any(|test| self.source.text[test.range()].contains("backends.cudnn."))
    }

    /// Whether a test compares the compute capability of a CUDA device.
    fn asks_capability(&self, test: &Expr) -> bool {
        let text = &self.source.text[test.range()];
        test.is_compare_expr()
            && (text.contains("get_device_capability")
                || text.contains("get_device_properties")
                    && (text.contains(".major") || text.contains(".minor")))
    }

    /// Whether a branch reads facts of the installed CUDA: `torch.version.cuda`.
    fn reads_version(&self, body: &'b [Stmt]) -> bool {
        let mut calls = Calls { finder: self, kernel: false, extension: false, device: false };
        calls.visit_body(body);
        self.source.text[around(body)].contains("torch.version.cuda") && !calls.device
    }

    /// Whether statements compute with device facts that an NPU does not have, and select no
    /// device.
    fn needs_facts(&self, body: &'b [Stmt]) -> bool {
        let text = &self.source.text[around(body)];
        let mut calls = Calls { finder: self, kernel: false, extension: false, device: false };
        calls.visit_body(body);
        let facts = text.contains("get_device_properties")
            && (text.contains(".major") || text.contains(".minor"));
        facts && !calls.device
    }
}

/// The range of statements that follow each other.
fn around(body: &[Stmt]) -> TextRange {
    let ends = body.first().zip(body.last());
    ends.map_or_else(TextRange::default, |(first, last)| TextRange::new(first.start(), last.end()))
}

/// Whether a test is true without CUDA: `not x.is_cuda`, `not torch.cuda.is_available() or y`.
fn is_negated(test: &Expr) -> bool {
    match test {
        Expr::UnaryOp(op) => op.op.is_not(),
        Expr::BoolOp(op) => op.op.is_or() && op.values.iter().any(is_negated),
        Expr::Compare(compare) => matches!(&*compare.ops, [CmpOp::NotEq]),
        _ => false,
    }
}

impl<'b> Visitor<'b> for Finder<'_, '_> {
    fn visit_body(&mut self, body: &'b [Stmt]) {
        self.early_exits(body);
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }

    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        if let Stmt::FunctionDef(def) = stmt {
            self.registrations(def);
        }
        if let Stmt::If(one) = stmt {
            let clauses = one.elif_else_clauses.iter();
            let clauses = clauses.filter_map(|clause| Some((clause.test.as_ref()?, &*clause.body)));
            for (test, body) in std::iter::once((&*one.test, &*one.body)).chain(clauses) {
                if !is_negated(test) && (self.is_cuda_only(body) || self.reads_version(body)) {
                    self.keep_questions(test, around(body));
                }
            }
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'b Expr) {
        // `torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8`: false on an
        // NPU as a whole.
        if let Expr::BoolOp(op) = expr
            && op.op.is_and()
            && op.values.iter().any(|value| self.asks_capability(value))
        {
            for value in &op.values {
                if self.asks_capability(value) {
                    self.found.push(Guard { test: value.range(), branch: expr.range() });
                } else {
                    self.keep_questions(value, expr.range());
                }
            }
            return;
        }
        // `kernel(x) if x.is_cuda else reference(x)`
        if let Expr::If(one) = expr
            && let Expr::Call(call) = &*one.body
            && self.is_kernel(&call.func)
        {
            self.keep_questions(&one.test, one.body.range());
        }
        walk_expr(self, expr);
    }
}

/// The calls of a branch.
struct Calls<'f, 's, 'a> {
    finder: &'f Finder<'s, 'a>,
    kernel: bool,
    /// Whether it calls a compiled module.
    extension: bool,
    /// Whether it moves something to a device, or names one as a value.
    device: bool,
}

impl<'b> Visitor<'b> for Calls<'_, '_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        match stmt {
            Stmt::Assign(one) => self.device |= is_device(&one.value),
            Stmt::Import(one) => {
                self.extension |=
                    one.names.iter().any(|alias| self.is_extension(alias.name.as_str()));
            }
            Stmt::ImportFrom(one) => {
                let module = one.module.as_ref().map_or("", |module| module.as_str());
                self.extension |= self.is_extension(module)
                    || one.names.iter().any(|alias| self.is_extension(alias.name.as_str()));
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'b Expr) {
        if let Expr::Call(call) = expr {
            self.kernel |= self.finder.is_kernel(&call.func);
            self.extension |= self.finder.is_compiled(&call.func);
            let to_dtype = || {
                let first = call.arguments.args.first();
                let path = first.and_then(|first| self.finder.source.scopes.path(first, 0));
                path.is_some_and(|path| path.starts_with("torch."))
            };
            let moves =
                call.func.as_attribute_expr().is_some_and(|method| match method.attr.as_str() {
                    "to" => !to_dtype(),
                    name => matches!(name, "cuda" | "to_empty" | "set_device"),
                });
            self.device |= moves;
        }
        walk_expr(self, expr);
    }
}

impl Calls<'_, '_, '_> {
    fn is_extension(&self, module: &str) -> bool {
        let project = self.finder.source.context.project;
        module.split('.').any(|part| {
            part.len() > "_cuda".len() && part.ends_with("_cuda")
                || project.is_some_and(|project| project.is_extension(part))
        })
    }
}

/// Whether a value is a device: `'cuda'`, `torch.device('cuda')`.
fn is_device(value: &Expr) -> bool {
    match value {
        Expr::Call(call) => {
            call.arguments.args.iter().any(|arg| literal::plain(arg).is_some())
                && call.func.as_attribute_expr().is_some_and(|name| name.attr.as_str() == "device")
        }
        _ => literal::plain(value).is_some_and(super::names::cuda_device),
    }
}
