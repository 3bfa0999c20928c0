//! TorchScript: the code that `torch.jit.save` writes is Python's grammar with static types.
//!
//! The archive has one file per module of code below `code/`. What runs is what `forward` of the
//! model's class reaches; which class that is, the first name in `data.pkl` says, which is read
//! as bytes. The code names operators without overloads (`torch.add`), and uses the same names for
//! tensors and for numbers, so that types are followed as far as that needs
//! (torch/csrc/jit/serialization/python_print.cpp).

mod body;
mod hosts;
mod values;

use std::collections::BTreeMap;

use foldhash::HashMap;
use ruff_python_ast::{Expr, Mod, ModModule, Stmt, StmtFunctionDef};

use super::archive::Archive;
use super::{Format, Model, Note, Op, Unreadable, damaged};
use pysyntax::{SyntaxError, on_enough_stack, parse_module};

/// The most code that is read, in bytes. A model of a thousand layers has about one megabyte.
const CODE_LIMIT: usize = 64 << 20;
/// Bytes at the begin of `data.pkl` in which the class of the model stands.
const HEAD: u64 = 4096;

/// What an expression is, as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    /// A tensor, or a list or tuple with one.
    Tensor,
    /// A number, a string, a list of them.
    Host,
    /// An object of the class of this dotted name.
    Object(String),
    /// A function of this dotted name.
    Function(String),
}

/// The code of an archive.
#[derive(Debug, Default)]
struct Library<'a> {
    classes: BTreeMap<String, Class<'a>>,
    functions: BTreeMap<String, &'a StmtFunctionDef>,
}

#[derive(Debug, Default)]
struct Class<'a> {
    attributes: HashMap<&'a str, Type>,
    /// The values of attributes that the model cannot change.
    constants: HashMap<&'a str, &'a Expr>,
    methods: BTreeMap<&'a str, &'a StmtFunctionDef>,
}

pub(super) fn read(archive: &mut Archive<'_>, code: &[String]) -> Result<Model, Unreadable> {
    let mut files = Vec::new();
    let mut total = 0;
    for name in code {
        let bytes = archive.entry(name)?;
        total += bytes.len();
        if total > CODE_LIMIT {
            let what = "the code of the archive".to_owned();
            return Err(Unreadable::TooLarge { what, limit: CODE_LIMIT as u64 });
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| damaged(format!("entry `{name}` is not UTF-8")))?;
        files.push((module_name(name), name.clone(), text));
    }
    let root = root(archive);
    // Deep code is read on a stack that carries it, so that the deepest file decides.
    let deepest = files.iter().map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    on_enough_stack(&deepest, || Ok(walk(&files, root.as_deref())))
        .map_err(|error| syntax("code", &error))?
}

fn syntax(name: &str, error: &SyntaxError) -> Unreadable {
    damaged(format!("`{name}`, line {}: {}", error.line, error.message))
}

fn walk(files: &[(String, String, String)], root: Option<&str>) -> Result<Model, Unreadable> {
    let mut modules = Vec::with_capacity(files.len());
    for (module, name, text) in files {
        modules.push((module, parse_module(text, false).map_err(|error| syntax(name, &error))?));
    }
    let mut library = Library::default();
    for (module, tree) in &modules {
        if let Mod::Module(tree) = tree {
            library.add(module, tree);
        }
    }
    let mut model = Model::new(Format::Torchscript);
    model.note(Note::NoOverloads);
    let mut walker = body::Walker::new(&library);
    if let Some((root, class)) = root.and_then(|root| library.classes.get_key_value(root)) {
        let start: Vec<&str> = match class.methods.get_key_value("forward") {
            Some((name, _)) => vec![name],
            None => class.methods.keys().copied().collect(),
        };
        for method in start {
            walker.method(root, method);
        }
    } else {
        model.note(Note::NotFollowed);
        walker.everything();
    }
    let (counts, followed) = walker.finish();
    if !followed {
        model.note(Note::NotFollowed);
    }
    for ((name, place), count) in counts {
        if let Some(op) = Op::parse(&name, false) {
            model.uses(op, count, Some(&place));
        }
    }
    Ok(model)
}

/// `net/code/__torch__/torch/nn/modules/linear.py` is `__torch__.torch.nn.modules.linear`.
fn module_name(entry: &str) -> String {
    let path = entry.split_once("code/").map_or(entry, |(_, path)| path);
    path.strip_suffix(".py").unwrap_or(path).replace('/', ".")
}

/// The class of the model: the first global name in `data.pkl` (opcode `c`, two lines).
fn root(archive: &mut Archive<'_>) -> Option<String> {
    let name = archive.names().find(|name| {
        name.ends_with("/data.pkl") && name.matches('/').count() == 1 || *name == "data.pkl"
    })?;
    let name = name.into_owned();
    let head = archive.head(&name, HEAD).ok()?;
    let rest = head.strip_prefix(b"\x80\x02c")?;
    let mut lines = rest.split(|byte| *byte == b'\n');
    let module = std::str::from_utf8(lines.next()?).ok()?;
    let class = std::str::from_utf8(lines.next()?).ok()?;
    Some(format!("{module}.{class}"))
}

impl<'a> Library<'a> {
    fn add(&mut self, module: &str, tree: &'a ModModule) {
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
                                    // `__annotations__["0"] = …` of names that are numbers.
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

/// `a.b.c` of an expression that is names and dots alone.
fn dotted(expression: &Expr) -> Option<String> {
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

/// The type that an annotation names.
fn annotated(annotation: &Expr) -> Type {
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

#[cfg(test)]
mod tests;
