//! What a file defines itself, which is known before anything is decided: methods, and attributes
//! that are not torch's.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFunctionDef};

use super::engine::Engine;

impl<'a> Engine<'a> {
    /// What the file defines itself, before anything is decided.
    pub(super) fn survey(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::ClassDef(class) => {
                    for inner in &class.body {
                        match inner {
                            Stmt::FunctionDef(def) => {
                                self.methods.entry(def.name.as_str()).or_default().push(def);
                                let own = self.own_attributes.entry(def.name.as_str());
                                own.or_default().property |= is_property(def);
                            }
                            Stmt::AnnAssign(assign) => self.own_target(&assign.target),
                            Stmt::Assign(assign) => {
                                assign.targets.iter().for_each(|target| self.own_target(target));
                            }
                            _ => {}
                        }
                    }
                    self.survey(&class.body);
                }
                Stmt::Assign(assign) => {
                    assign.targets.iter().for_each(|target| self.own_target(target));
                }
                Stmt::AnnAssign(assign) => self.own_target(&assign.target),
                _ => bodies(stmt).into_iter().for_each(|body| self.survey(body)),
            }
        }
    }

    fn own_target(&mut self, target: &'a Expr) {
        match target {
            Expr::Attribute(attribute) => {
                self.own_attributes.entry(attribute.attr.as_str()).or_default().assigned = true;
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.own_target(target)),
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

/// The bodies that a compound statement holds, but for those of functions' scopes.
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
