//! Inserts many small mistakes into Rust sources at once, each behind a switch.
//!
//! `ascend-doctor-mutants TREE FILE...` rewrites the files below TREE and prints a line for each
//! mistake: number, file, line, function, change; separated by tabs. The program calls
//! `crate::mutant(NUMBER)`, which is true for one number at a time. So everything is compiled once,
//! while other tools compile once for each mistake. scripts/mutants.py runs it.
//!
//! The changes: functions return a value of their type immediately; comparisons are inverted, or
//! shifted by one; one side of `&&` and `||` is omitted; a `!` is dropped; `+` and `-` are swapped;
//! arms of `match` with a guard are never taken.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ReturnType, Signature, Type, UnOp};

/// Text that is inserted before a byte of a source.
struct Edit {
    at: usize,
    /// The order of several edits at one position: ends, from the inside out, then starts.
    order: (bool, i64, i64),
    text: String,
}

struct Mutator<'a> {
    text: &'a str,
    file: &'a str,
    function: Vec<String>,
    /// The next number; numbers continue over all files.
    next: &'a mut u32,
    /// Numbers to skip, because their mutants do not compile.
    skipped: &'a BTreeSet<u32>,
    edits: Vec<Edit>,
    list: &'a mut String,
}

impl Mutator<'_> {
    /// The next number, whose line is recorded; `None` if it is skipped.
    fn number(&mut self, at: Span, what: &str) -> Option<u32> {
        let number = *self.next;
        *self.next += 1;
        if self.skipped.contains(&number) {
            return None;
        }
        let (line, function) = (at.start().line, self.function.join("::"));
        let file = self.file;
        writeln!(self.list, "{number}\t{file}\t{line}\t{function}\t{what}").ok()?;
        Some(number)
    }

    fn wrap(&mut self, range: Range<usize>, before: String, after: &str) {
        let length = i64::try_from(range.len()).unwrap_or(i64::MAX);
        let count = i64::try_from(self.edits.len()).unwrap_or(i64::MAX);
        self.edits.push(Edit { at: range.start, order: (true, -length, count), text: before });
        let order = (false, length, -count);
        self.edits.push(Edit { at: range.end, order, text: after.to_owned() });
    }

    fn body(&mut self, signature: &Signature, block: &Block) {
        if signature.constness.is_some() || signature.asyncness.is_some() {
            return;
        }
        let values = match &signature.output {
            ReturnType::Default => vec!["()".to_owned()],
            ReturnType::Type(_, of) => values(of),
        };
        let at = block.brace_token.span.open().byte_range().end;
        for value in values {
            if block.stmts.is_empty() {
                continue;
            }
            let what = format!("returns {value} at once");
            if let Some(number) = self.number(signature.ident.span(), &what) {
                let text = format!("if crate::mutant({number}) {{ return {value}; }} ");
                self.edits.push(Edit { at, order: (false, i64::MAX, 0), text });
            }
        }
    }

    fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.function.push(name);
        visit(self);
        self.function.pop();
    }

    /// `(expression) != switch`, which inverts the expression.
    fn turned(&mut self, expr: &Expr, what: &str) {
        if let Some(number) = self.number(expr.span(), what) {
            let range = expr.span().byte_range();
            self.wrap(range, "((".to_owned(), &format!(") != crate::mutant({number}))"));
        }
    }
}

/// Values that a function of a type can return without doing anything.
fn values(of: &Type) -> Vec<String> {
    let text = of.to_token_stream().to_string();
    let head = text.split([' ', '<']).next().unwrap_or_default();
    let values: &[&str] = match head {
        "bool" => &["true", "false"],
        "Option" => &["None"],
        "Vec" | "BTreeMap" | "BTreeSet" | "String" | "HashMap" | "HashSet" => {
            &["Default::default()"]
        }
        "usize" | "u8" | "u16" | "u32" | "u64" | "i32" | "i64" => &["0", "1"],
        _ => &[],
    };
    values.iter().map(|&value| value.to_owned()).collect()
}

/// Whether it contains a `let`, or ends in one: such a chain is only valid in a condition.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        text.contains("cfg (test)") || text.contains("# [test]")
    })
}

impl<'ast> Visit<'ast> for Mutator<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) && item.sig.constness.is_none() {
            self.within(item.sig.ident.to_string(), |this| {
                this.body(&item.sig, &item.block);
                visit::visit_block(this, &item.block);
            });
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = item.trait_.as_ref().and_then(|(_, of, _)| of.segments.last());
        // Debug output is not tested.
        if of.is_some_and(|of| of.ident == "Debug") {
            return;
        }
        let name = item.self_ty.to_token_stream().to_string();
        let name = name.split([' ', '<']).next().unwrap_or_default().to_owned();
        self.within(name, |this| visit::visit_item_impl(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            self.within(item.sig.ident.to_string(), |this| {
                this.body(&item.sig, &item.block);
                visit::visit_block(this, &item.block);
            });
        }
    }

    // Constant values have no switches.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard
            && !binds(guard)
            && let Some(number) = self.number(guard.span(), "never takes this arm")
        {
            let range = guard.span().byte_range();
            self.wrap(range, "((".to_owned(), &format!(") && !crate::mutant({number}))"));
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        // `!` of a number is another operation: the compiler rejects the mutant, and it is skipped.
        if matches!(unary.op, UnOp::Not(_)) {
            self.turned(&Expr::Unary(unary.clone()), "drops `!`");
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let whole = Expr::Binary(binary.clone());
        let (left, right) = (&*binary.left, &*binary.right);
        let source = |expr: &Expr| self.text[expr.span().byte_range()].to_owned();
        let sides = (source(left), source(right));
        let op = &self.text[binary.op.span().byte_range()];
        match binary.op {
            BinOp::Eq(_) | BinOp::Ne(_) => self.turned(&whole, &format!("turns `{op}`")),
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let moved = match op {
                    "<" => "<=",
                    "<=" => "<",
                    ">" => ">=",
                    _ => ">",
                };
                self.turned(&whole, &format!("turns `{op}`"));
                self.replaced(binary, moved, &sides);
            }
            BinOp::Add(_) => self.replaced(binary, "-", &sides),
            BinOp::Sub(_) => self.replaced(binary, "+", &sides),
            BinOp::And(_) | BinOp::Or(_) => {
                let (sign, not) = if op == "&&" { ("||", "") } else { ("&&", "!") };
                for (side, name) in [(left, "left"), (right, "right")] {
                    if binds(side) {
                        continue;
                    }
                    let what = format!("leaves out the {name} side of `{op}`");
                    if let Some(number) = self.number(side.span(), &what) {
                        let before = format!("({not}crate::mutant({number}) {sign} (");
                        self.wrap(side.span().byte_range(), before, "))");
                    }
                }
            }
            _ => {}
        }
        visit::visit_expr_binary(self, binary);
    }
}

impl Mutator<'_> {
    fn replaced(&mut self, binary: &syn::ExprBinary, by: &str, (left, right): &(String, String)) {
        let op = &self.text[binary.op.span().byte_range()];
        let what = format!("`{by}` for `{op}`");
        if let Some(number) = self.number(binary.op.span(), &what) {
            let before = format!("(if crate::mutant({number}) {{ {left} {by} {right} }} else {{ ");
            self.wrap(binary.span().byte_range(), before, " })");
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let tree = arguments.next().ok_or("TREE [--skip N,N...] FILE...")?;
    let mut skipped = BTreeSet::new();
    let mut files = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == "--skip" {
            let numbers = arguments.next().unwrap_or_default();
            skipped.extend(numbers.split(',').filter_map(|number| number.parse::<u32>().ok()));
        } else {
            files.push(argument);
        }
    }
    let mut next = 1;
    let mut list = String::new();
    for file in &files {
        let path = Path::new(&tree).join(file);
        let text = std::fs::read_to_string(&path)?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{file}: {error}"))?;
        let mut mutator = Mutator {
            text: &text,
            file,
            function: Vec::new(),
            next: &mut next,
            skipped: &skipped,
            edits: Vec::new(),
            list: &mut list,
        };
        mutator.visit_file(&parsed);
        let mut edits = mutator.edits;
        // If one ends and another begins, the end goes first.
        edits.sort_by_key(|edit| (edit.at, edit.order));
        let (mut out, mut done) = (String::with_capacity(text.len() * 2), 0);
        for edit in edits {
            out.push_str(&text[done..edit.at]);
            out.push_str(&edit.text);
            done = edit.at;
        }
        out.push_str(&text[done..]);
        std::fs::write(path, out)?;
    }
    print!("{list}");
    Ok(())
}
