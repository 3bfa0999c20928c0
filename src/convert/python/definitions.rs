//! Methods and attributes that a file defines: all their uses in the file belong to it, not to
//! torch.

use foldhash::HashMap;
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFunctionDef};

/// Methods and attributes that a file defines.
#[derive(Debug, Default)]
pub(super) struct Definitions<'a> {
    /// Methods by name.
    methods: HashMap<&'a str, Vec<&'a StmtFunctionDef>>,
    /// Attributes by name (`self.cuda = …`, `def cuda`).
    attributes: HashMap<&'a str, AttributeDefinition>,
}

/// How a file defines an attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AttributeDefinition {
    /// `self.x = …`
    pub assigned: bool,
    /// `@property def x(self)`
    pub property: bool,
}

impl<'a> Definitions<'a> {
    /// Collects the definitions of a module.
    pub(super) fn of(body: &'a [Stmt]) -> Self {
        let mut definitions = Self::default();
        definitions.collect(body);
        definitions
    }

    /// Returns the method of this name, if exactly one class defines it.
    pub(super) fn only_method(&self, name: &str) -> Option<&'a StmtFunctionDef> {
        match self.methods.get(name).map(Vec::as_slice) {
            Some([def]) => Some(def),
            _ => None,
        }
    }

    /// Whether a class of the file moves its objects with its own methods that support CUDA but no
    /// NPU: `cuda()` and `to()`, without `npu()`.
    pub(super) fn moves_objects(&self) -> bool {
        let has = |name: &str| self.methods.contains_key(name);
        has("cuda") && has("to") && !has("npu")
    }

    /// Returns how the file defines an attribute; both fields are false if it does not.
    pub(super) fn attribute(&self, name: &str) -> AttributeDefinition {
        self.attributes.get(name).copied().unwrap_or_default()
    }

    fn collect(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::ClassDef(class) => {
                    for inner in &class.body {
                        match inner {
                            Stmt::FunctionDef(def) => {
                                self.methods.entry(def.name.as_str()).or_default().push(def);
                                let own = self.attributes.entry(def.name.as_str());
                                own.or_default().property |= is_property(def);
                            }
                            Stmt::AnnAssign(assign) => self.collect_target(&assign.target),
                            Stmt::Assign(assign) => {
                                assign
                                    .targets
                                    .iter()
                                    .for_each(|target| self.collect_target(target));
                            }
                            _ => {}
                        }
                    }
                    self.collect(&class.body);
                }
                Stmt::Assign(assign) => {
                    assign.targets.iter().for_each(|target| self.collect_target(target));
                }
                Stmt::AnnAssign(assign) => self.collect_target(&assign.target),
                _ => bodies(stmt).into_iter().for_each(|body| self.collect(body)),
            }
        }
    }

    fn collect_target(&mut self, target: &'a Expr) {
        match target {
            Expr::Attribute(attribute) => {
                self.attributes.entry(attribute.attr.as_str()).or_default().assigned = true;
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.collect_target(target)),
            _ => {}
        }
    }
}

fn is_property(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| {
        let name = match &decorator.expression {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        name.contains("property")
    })
}

/// The bodies of a compound statement, except function bodies, which are separate scopes.
fn bodies(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::FunctionDef(one) => vec![&one.body],
        Stmt::If(one) => {
            let mut all: Vec<&[Stmt]> = vec![&one.body];
            all.extend(one.elif_else_clauses.iter().map(|clause| &*clause.body));
            all
        }
        Stmt::For(one) => vec![&one.body, &one.orelse],
        Stmt::While(one) => vec![&one.body, &one.orelse],
        Stmt::With(one) => vec![&one.body],
        Stmt::Try(one) => {
            let mut all: Vec<&[Stmt]> = vec![&one.body, &one.orelse, &one.finalbody];
            all.extend(one.handlers.iter().map(|ExceptHandler::ExceptHandler(one)| &*one.body));
            all
        }
        _ => Vec::new(),
    }
}
