//! The classes and functions of an archive, with the types that annotations declare.

use std::collections::BTreeMap;

use foldhash::HashMap;
use ruff_python_ast::{Expr, ModModule, Stmt, StmtFunctionDef};

/// The type of an expression, as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// A tensor, or a list or tuple with one.
    Tensor,
    /// A number, a string, a list of them.
    Host,
    /// An object of the class with this dotted name.
    Object(String),
    /// A function with this dotted name.
    Function(String),
}

/// The code of an archive.
#[derive(Debug, Default)]
pub(super) struct Library<'a> {
    pub(super) classes: BTreeMap<String, Class<'a>>,
    pub(super) functions: BTreeMap<String, &'a StmtFunctionDef>,
}

#[derive(Debug, Default)]
pub(super) struct Class<'a> {
    pub(super) attributes: HashMap<&'a str, Type>,
    /// Attributes that the model cannot change, with their values.
    pub(super) constants: HashMap<&'a str, &'a Expr>,
    pub(super) methods: BTreeMap<&'a str, &'a StmtFunctionDef>,
}

impl<'a> Library<'a> {
    pub(super) fn add(&mut self, module: &str, tree: &'a ModModule) {
        for statement in &tree.body {
            match statement {
                Stmt::FunctionDef(function) => {
                    self.functions.insert(format!("{module}.{}", function.name), function);
                }
                Stmt::ClassDef(class) => {
                    let mut known = Class::default();
                    for member in &class.body {
                        match member {
                            Stmt::FunctionDef(method) => {
                                known.methods.insert(method.name.as_str(), method);
                            }
                            Stmt::AnnAssign(assign) => {
                                let annotation = annotated(&assign.annotation);
                                match &*assign.target {
                                    Expr::Name(name) => {
                                        known.attributes.insert(name.id.as_str(), annotation);
                                        if let Some(value) = &assign.value {
                                            known.constants.insert(name.id.as_str(), value);
                                        }
                                    }
                                    // `__annotations__["0"] = …` annotates names that are numbers.
                                    Expr::Subscript(subscript) => {
                                        if let Expr::StringLiteral(name) = &*subscript.slice {
                                            let name = name.as_single_part_string();
                                            if let Some(name) = name {
                                                known.attributes.insert(name.as_str(), annotation);
                                            }
                                        }
                                    }
                                    _ => {}
                                }
                            }
                            Stmt::Assign(assign) => {
                                if let [Expr::Subscript(subscript)] = assign.targets.as_slice()
                                    && let Expr::StringLiteral(name) = &*subscript.slice
                                    && let Some(name) = name.as_single_part_string()
                                {
                                    let annotation = annotated(&assign.value);
                                    known.attributes.insert(name.as_str(), annotation);
                                }
                            }
                            _ => {}
                        }
                    }
                    self.classes.insert(format!("{module}.{}", class.name), known);
                }
                _ => {}
            }
        }
    }
}

/// Returns the dotted name of an expression that consists only of names and dots.
pub(super) fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => {
            let mut path = dotted(&attribute.value)?;
            path.push('.');
            path.push_str(&attribute.attr);
            Some(path)
        }
        _ => None,
    }
}

/// Returns the type that an annotation declares.
pub(super) fn annotated(annotation: &Expr) -> Type {
    match annotation {
        Expr::Name(name) if name.id == "Tensor" => Type::Tensor,
        Expr::Attribute(_) => match dotted(annotation) {
            Some(path) if path.starts_with("__torch__.") => Type::Object(path),
            _ => Type::Host,
        },
        // Optional[T], List[T], Tuple[T, U], Dict[K, V]
        Expr::Subscript(subscript) => annotated(&subscript.slice),
        Expr::Tuple(tuple) => {
            let types: Vec<Type> = tuple.elts.iter().map(annotated).collect();
            let tensor = types.contains(&Type::Tensor);
            if tensor { Type::Tensor } else { types.into_iter().next().unwrap_or(Type::Host) }
        }
        _ => Type::Host,
    }
}
