//! Code that already handles NPUs: there the CUDA branch is one of several, and stays.
//!
//! `elif device == "cuda": … elif device == "npu": …` must not become two branches for NPUs.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Pattern, Stmt, StmtIf};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::names::{contains_ignoring_case, mentions_npu};

/// Number of bytes of a branch to search for NPUs if its test does not mention them.
const SHORT_BRANCH: usize = 300;

/// The ranges of `body` that stay unchanged because NPUs are handled next to them.
pub(super) fn find_kept_ranges(body: &[Stmt], text: &str) -> Vec<TextRange> {
    let builds = text.contains("CUDAExtension");
    if !builds && !mentions_npu(text) {
        return Vec::new();
    }
    let mut finder = Finder { text, kept: Vec::new() };
    finder.visit_body(body);
    finder.kept
}

struct Finder<'t> {
    text: &'t str,
    kept: Vec<TextRange>,
}

impl Finder<'_> {
    fn npu(&self, node: &impl Ranged) -> bool {
        let text = &self.text[node.range()];
        mentions_npu(text) && !is_of_habana(text)
    }

    fn cuda(&self, node: &impl Ranged) -> bool {
        let text = &self.text[node.range()];
        contains_ignoring_case(text, "cuda") || contains_ignoring_case(text, "nccl")
    }

    fn keep(&mut self, range: TextRange) {
        self.kept.push(range);
    }

    fn keep_body(&mut self, body: &[Stmt]) {
        if let (Some(first), Some(last)) = (body.first(), body.last()) {
            self.keep(TextRange::new(first.start(), last.end()));
        }
    }

    /// The branches of one `if`: tests (none for `else`) and bodies.
    fn branches(stmt: &StmtIf) -> Vec<(Option<&Expr>, &[Stmt])> {
        let mut all = vec![(Some(&*stmt.test), &*stmt.body)];
        all.extend(
            stmt.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &*clause.body)),
        );
        all
    }

    fn chain(&mut self, stmt: &StmtIf) {
        let branches = Self::branches(stmt);
        let body_says = |body: &[Stmt]| {
            let (Some(first), Some(last)) = (body.first(), body.last()) else { return false };
            let text = &self.text[TextRange::new(first.start(), last.end())];
            text.len() <= SHORT_BRANCH && mentions_npu(text) && !text.contains("cuda")
        };
        let by_test = branches.iter().any(|(test, _)| test.is_some_and(|test| self.npu(test)));
        let by_body = branches.len() > 1 && branches.iter().any(|(_, body)| body_says(body));
        if !by_test && !by_body {
            return;
        }
        for (test, body) in branches {
            let handles = test.is_some_and(|test| self.npu(test)) || (!by_test && body_says(body));
            match test {
                Some(test) if handles && self.cuda(test) => self.keep(test.range()),
                _ if handles => {}
                Some(test) => {
                    self.keep(test.range());
                    self.keep_body(body);
                }
                None => self.keep_body(body),
            }
        }
    }

    /// `if torch.cuda.is_available(): … CUDAExtension(…)`: tests for the CUDA compiler.
    fn build(&mut self, stmt: &StmtIf) {
        let says =
            |body: &[Stmt]| body.iter().any(|one| self.text[one.range()].contains("CUDAExtension"));
        if says(&stmt.body) {
            let mut asks = Asks { found: Vec::new(), text: self.text };
            asks.visit_expr(&stmt.test);
            asks.found.into_iter().for_each(|range| self.keep(range));
        }
    }

    /// `is_cuda = …` next to `is_npu = …`: the first is only for CUDA.
    fn siblings(&mut self, body: &[Stmt]) {
        for (at, stmt) in body.iter().enumerate() {
            let near = &body[at.saturating_sub(2)..body.len().min(at + 3)];
            if target(stmt).is_some_and(|one| self.cuda(one) && !self.npu(one))
                && near.iter().filter_map(target).any(|one| self.npu(one) && !self.cuda(one))
            {
                self.keep(stmt.range());
            }
        }
    }

    /// `CUDA = "cuda"` and `NPU = "npu"` in one class: each value has a member.
    fn members(&mut self, body: &[Stmt]) {
        if body.iter().filter_map(assigned).any(npu_literal) {
            for stmt in body {
                if assigned(stmt).is_some_and(|value| self.cuda(value)) {
                    self.keep(stmt.range());
                }
            }
        }
    }

    /// `class CudaPlatform` next to `class NpuPlatform`, `def init_cuda` next to `def init_npu`.
    fn twins(&mut self, body: &[Stmt]) {
        let names = || body.iter().filter_map(|stmt| Some((stmt, definition(stmt)?)));
        let npu: Vec<String> = names()
            .filter(|(_, name)| mentions_npu(name))
            .map(|(_, name)| without(name, &["npu", "ascend"]))
            .collect();
        if npu.is_empty() {
            return;
        }
        for (stmt, name) in names() {
            if contains_ignoring_case(name, "cuda") && npu.contains(&without(name, &["cuda"])) {
                self.keep(stmt.range());
            }
        }
    }

    /// `if npu: return …` makes the following statements the branch without NPUs. If one of several
    /// neighboring `if`s tests for NPUs, the others are branches of the same decision.
    fn neighbors(&mut self, body: &[Stmt]) {
        for (at, stmt) in body.iter().enumerate() {
            let Stmt::If(one) = stmt else { continue };
            if !one.elif_else_clauses.is_empty() || !self.npu(&*one.test) || self.cuda(&*one.test) {
                continue;
            }
            if leaves(&one.body)
                && let (Some(next), Some(last)) = (body.get(at + 1), body.last())
            {
                self.keep(TextRange::new(next.start(), last.end()));
            }
            for near in body[..at].iter().rev().map_while(Stmt::as_if_stmt) {
                if !self.cuda(&*near.test) {
                    break;
                }
                self.keep(near.test.range());
                self.keep_body(&near.body);
            }
        }
    }
}

/// Finds the calls that test for CUDA.
struct Asks<'t> {
    found: Vec<TextRange>,
    text: &'t str,
}

impl<'a> Visitor<'a> for Asks<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && self.text[call.func.range()].contains("cuda")
        {
            self.found.push(expr.range());
        }
        walk_expr(self, expr);
    }
}

/// Whether the only NPU in a text is Habana's HPU, whose backend is also called `hccl`.
fn is_of_habana(text: &str) -> bool {
    let habana = contains_ignoring_case(text, "hpu") || contains_ignoring_case(text, "habana");
    habana && !mentions_npu(&text.replace("hccl", ""))
}

/// The name of a class or function.
fn definition(stmt: &Stmt) -> Option<&str> {
    match stmt {
        Stmt::ClassDef(one) => Some(one.name.as_str()),
        Stmt::FunctionDef(one) => Some(one.name.as_str()),
        _ => None,
    }
}

/// A name in lowercase without the first of some words.
fn without(name: &str, words: &[&str]) -> String {
    let lower = name.to_ascii_lowercase();
    let word = words.iter().find(|word| lower.contains(**word));
    word.map_or_else(|| lower.clone(), |word| lower.replacen(word, "", 1))
}

/// The target of an assignment.
fn target(stmt: &Stmt) -> Option<&Expr> {
    match stmt {
        Stmt::Assign(assign) => assign.targets.first(),
        Stmt::AnnAssign(assign) => Some(&assign.target),
        _ => None,
    }
}

/// The value of an assignment.
fn assigned(stmt: &Stmt) -> Option<&Expr> {
    match stmt {
        Stmt::Assign(assign) => Some(&assign.value),
        Stmt::AnnAssign(assign) => assign.value.as_deref(),
        _ => None,
    }
}

/// Whether a body leaves its enclosing block.
fn leaves(body: &[Stmt]) -> bool {
    matches!(
        body.last(),
        Some(Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_))
    )
}

/// Whether an expression is a string that names an NPU.
fn npu_literal(expr: &Expr) -> bool {
    expr.as_string_literal_expr().is_some_and(|text| mentions_npu(text.value.to_str()))
}

/// Whether an element is an NPU: `"npu"`, `pytest.param("npu", marks=…)`.
fn npu_element(expr: &Expr) -> bool {
    let wrapped = expr.as_call_expr().and_then(|call| call.arguments.args.first());
    npu_literal(expr) || wrapped.is_some_and(npu_literal)
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.neighbors(body);
        self.siblings(body);
        self.twins(body);
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(one) => {
                self.chain(one);
                self.build(one);
            }
            Stmt::ClassDef(class) => self.members(&class.body),
            Stmt::Match(one) => {
                let npu = |case: &ruff_python_ast::MatchCase| match &case.pattern {
                    Pattern::MatchValue(value) => npu_literal(&value.value),
                    _ => false,
                };
                if one.cases.iter().any(npu) {
                    for case in one.cases.iter().filter(|case| !npu(case)) {
                        self.keep(case.range());
                    }
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let keep = match expr {
            Expr::If(_) | Expr::BoolOp(_) | Expr::Compare(_) => self.npu(expr) && self.cuda(expr),
            Expr::List(list) => list.elts.iter().any(npu_element),
            Expr::Tuple(tuple) => tuple.elts.iter().any(npu_element),
            Expr::Set(set) => set.elts.iter().any(npu_element),
            Expr::Call(call) => {
                call.arguments.args.iter().any(npu_literal) && call.arguments.args.len() > 1
            }
            _ => false,
        };
        if keep {
            self.keep(expr.range());
            return;
        }
        if let Expr::Dict(dict) = expr
            && dict.items.iter().any(|item| item.key.as_ref().is_some_and(npu_literal))
        {
            for item in &dict.items {
                if let Some(key) = item.key.as_ref().filter(|key| self.cuda(*key)) {
                    self.keep(TextRange::new(key.start(), item.value.end()));
                }
            }
        }
        walk_expr(self, expr);
    }
}

/// The given ranges in order, without overlap.
pub(super) fn merge_ranges(mut ranges: Vec<TextRange>) -> Vec<TextRange> {
    ranges.sort_by_key(|range| (range.start(), range.end()));
    let mut out: Vec<TextRange> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start() < last.end() => {
                *last = TextRange::new(last.start(), last.end().max(range.end()));
            }
            _ => out.push(range),
        }
    }
    out
}

/// Whether a range is inside one of `kept`, which are in order and do not overlap.
pub(super) fn covers(kept: &[TextRange], start: TextSize, end: TextSize) -> bool {
    let after = kept.partition_point(|range| range.start() <= start);
    after.checked_sub(1).is_some_and(|at| end <= kept[at].end())
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_module;

    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        let parsed = parse_module(source).unwrap();
        find_kept_ranges(&parsed.syntax().body, source)
            .into_iter()
            .map(|range| &source[range])
            .collect()
    }

    #[test]
    fn branches_beside_an_npu_branch_stay() {
        let source = "if d == 'cuda':\n  a()\nelif d == 'npu':\n  b()\nelse:\n  c()\n";
        assert_eq!(texts(source), ["d == 'cuda'", "a()", "c()"]);
        assert!(texts("if d == 'cuda':\n  a()\nelse:\n  inputs()\n").is_empty());
    }

    #[test]
    fn compiler_checks_stay() {
        let source = "if torch.cuda.is_available() or F == '1':\n  e = CUDAExtension\n";
        assert_eq!(texts(source), ["torch.cuda.is_available()"]);
    }

    #[test]
    fn code_after_an_early_npu_return_stays() {
        let source = "def f():\n  if is_npu():\n    return 1\n  torch.cuda.x()\n";
        assert_eq!(texts(source), ["torch.cuda.x()"]);
        let source = "if cuda():\n  a()\nif npu():\n  b()\n";
        assert_eq!(texts(source), ["cuda()", "a()"]);
    }

    #[test]
    fn variables_of_both_kinds_stay() {
        let source = "is_cuda = d.type == 'cuda'\nis_npu = d.type == 'npu'\nx = 'cuda'\n";
        assert_eq!(texts(source), ["is_cuda = d.type == 'cuda'"]);
    }

    #[test]
    fn a_branch_says_that_it_is_for_npus_by_its_test_or_by_a_short_body() {
        let with = |body: &str| format!("if fast:\n  {body}\nelse:\n  torch.cuda.x()\n");
        assert_eq!(texts(&with("npu()")), ["torch.cuda.x()"]);
        assert!(texts(&with("npu(cuda)")).is_empty(), "a body that says both");
        let call = |len: usize| format!("npu({})", "a".repeat(len - "npu()".len()));
        assert_eq!(texts(&with(&call(SHORT_BRANCH))), ["torch.cuda.x()"]);
        assert!(texts(&with(&call(SHORT_BRANCH + 1))).is_empty(), "too long to tell");
        // A single `if` is not one of several branches.
        assert!(texts("if d == 'cuda':\n  npu()\n").is_empty());
        assert_eq!(texts("if d in (cuda, npu):\n  a()\n"), ["d in (cuda, npu)"; 2]);
    }

    #[test]
    fn a_case_beside_one_for_npus_stays() {
        let source = "match d:\n  case 'npu':\n    a()\n  case 'cuda':\n    b()\n";
        assert_eq!(texts(source), ["case 'cuda':\n    b()"]);
        assert!(texts("npu = 1\nmatch d:\n  case 'cuda':\n    b()\n").is_empty());
    }

    #[test]
    fn only_an_if_for_npus_alone_decides_what_follows() {
        for source in [
            "if npu():\n  a()\ntorch.cuda.x()\n",
            "def f():\n  if npu():\n    return 1\n  else:\n    a()\n  torch.cuda.x()\n",
            "def f():\n  if fast():\n    return npu\n  torch.cuda.x()\n",
        ] {
            let kept = texts(source);
            assert!(!kept.iter().any(|kept| kept.contains("x()")), "{kept:?}\n{source}");
        }
        // A test for both is kept itself, and does not affect other statements.
        let source = "def f():\n  if npu() or cuda():\n    return 1\n  torch.cuda.x()\n";
        assert!(!texts(source).contains(&"torch.cuda.x()"));
        for end in ["raise e", "continue", "break"] {
            let source = format!("for a in b:\n  if npu():\n    {end}\n  torch.cuda.x()\n");
            assert_eq!(texts(&source), ["torch.cuda.x()"]);
        }
    }

    #[test]
    fn a_variable_of_both_is_no_sibling() {
        assert!(texts("is_cuda = f(a)\nis_cuda_or_npu = f(b)\n").is_empty());
        assert!(texts("is_cuda = 1\nx = 1\ny = 2\nis_npu = 2\n").is_empty(), "too far");
    }

    #[test]
    fn ranges_are_put_together_where_they_overlap() {
        let range = |start: u32, end: u32| TextRange::new(start.into(), end.into());
        let kept =
            merge_ranges(vec![range(4, 6), range(0, 3), range(2, 4), range(9, 10), range(4, 5)]);
        assert_eq!(kept, [range(0, 4), range(4, 6), range(9, 10)]);
        let covers = |start: u32, end: u32| covers(&kept, start.into(), end.into());
        assert!(covers(0, 4) && covers(1, 2) && covers(4, 6) && covers(9, 10));
        assert!(!covers(3, 5) && !covers(6, 7) && !covers(8, 10) && !covers(9, 11));
    }

    #[test]
    fn expressions_that_name_both_stay() {
        assert_eq!(texts("x = d in ('cuda', 'npu')\n"), ["d in ('cuda', 'npu')"]);
        assert_eq!(texts("x = {'cuda': 1, 'npu': 2, 'b': 3}\n"), ["'cuda': 1"]);
        assert_eq!(texts("s.replace('cuda', 'npu')\n"), ["s.replace('cuda', 'npu')"]);
    }
}
