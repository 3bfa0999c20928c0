//! Counts the operators of a TorchScript method or function, including those of its callees.

use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};

use super::hosts;
use super::library::{Library, Type, annotated, dotted};
use super::values::{Known, Value, Values};

/// The number of uses by operator and place.
type Counts = BTreeMap<(String, String), u64>;

/// The maximum number of walks. A function is walked once for each set of known arguments.
const MOST_LOOKS: usize = 100_000;
/// The maximum depth of nested calls that are followed. Models nest a few dozen modules. A
/// malicious archive can chain any number of functions, and each call uses stack.
const DEEPEST: usize = 100;

/// A function with the known values of its arguments.
type Look = (*const StmtFunctionDef, Vec<Option<Known>>);

/// Follows calls from the entry point of a model.
pub(super) struct Walker<'l, 'a> {
    library: &'l Library<'a>,
    /// The operators of each walk; `None` during the walk, which ends recursion.
    looked: HashMap<Look, Option<Rc<Counts>>>,
    total: Counts,
    /// Whether calls are followed.
    follows: bool,
    /// The current nesting depth of followed calls.
    depth: usize,
    /// Whether every call so far could be followed.
    followed: bool,
    /// The method of the model itself. PyTorch's `inlined_graph` folds constants in its callees but
    /// not in the method, and the counts must match that graph.
    root: Option<*const StmtFunctionDef>,
}

impl<'l, 'a> Walker<'l, 'a> {
    pub(super) fn new(library: &'l Library<'a>) -> Self {
        Self {
            library,
            looked: HashMap::new(),
            total: Counts::new(),
            follows: true,
            depth: 0,
            followed: true,
            root: None,
        }
    }

    /// Counts the operators of a method.
    pub(super) fn method(&mut self, class: &str, method: &str) {
        if let Some(counts) = self.of_method(class, method) {
            add(&mut self.total, &counts);
        }
    }

    /// Counts the operators of each function and method separately, if the entry point is unknown.
    pub(super) fn everything(&mut self) {
        let library = self.library;
        let methods = library.classes.iter().flat_map(|(name, class)| {
            class
                .methods
                .iter()
                .map(move |(method, function)| (format!("{name}.{method}"), *function))
        });
        let functions = library.functions.iter().map(|(name, function)| (name.clone(), *function));
        for (name, function) in methods.chain(functions) {
            // Callees are counted on their own.
            self.follows = false;
            let counts = self.look(&name, function, &[]);
            add(&mut self.total, &counts);
        }
    }

    /// Returns the counts, and whether every call was followed.
    pub(super) fn finish(self) -> (Counts, bool) {
        (self.total, self.followed)
    }

    fn of_method(&mut self, class: &str, method: &str) -> Option<Rc<Counts>> {
        let function = *self.library.classes.get(class)?.methods.get(method)?;
        self.root = Some(std::ptr::from_ref(function));
        Some(self.of(&format!("{class}.{method}"), function, Vec::new()))
    }

    /// Returns the operators of a function with these known arguments.
    fn of(
        &mut self,
        name: &str,
        function: &'a StmtFunctionDef,
        mut known: Vec<Option<Known>>,
    ) -> Rc<Counts> {
        if !self.follows {
            return Rc::default();
        }
        if self.looked.len() > MOST_LOOKS {
            known.clear();
        }
        let key = (std::ptr::from_ref(function), known);
        match self.looked.get(&key) {
            Some(Some(counts)) => return Rc::clone(counts),
            Some(None) => return Rc::default(),
            None => {}
        }
        if self.depth >= DEEPEST {
            self.followed = false;
            return Rc::default();
        }
        self.looked.insert(key.clone(), None);
        self.depth += 1;
        let counts = Rc::new(self.look(name, function, &key.1));
        self.depth -= 1;
        self.looked.insert(key, Some(Rc::clone(&counts)));
        counts
    }

    fn look(
        &mut self,
        name: &str,
        function: &'a StmtFunctionDef,
        known: &[Option<Known>],
    ) -> Counts {
        let mut values = Values::default();
        let class = name.rsplit_once('.').map_or("", |(class, _)| class);
        for (index, parameter) in function.parameters.iter_non_variadic_params().enumerate() {
            let kind = match parameter.annotation() {
                Some(annotation) => annotated(annotation),
                None if index == 0 && self.library.classes.contains_key(class) => {
                    Type::Object(class.to_owned())
                }
                None => Type::Tensor,
            };
            values.set(
                parameter.name().as_str(),
                Value { kind, known: known.get(index).copied().flatten() },
            );
        }
        let place = readable(name);
        let folds = self.root != Some(std::ptr::from_ref(function));
        let mut body = Body { walker: self, values, counts: Counts::new(), place, folds };
        body.statements(&function.body);
        body.counts
    }
}

fn add(total: &mut Counts, more: &Counts) {
    for (key, count) in more {
        let entry = total.entry(key.clone()).or_default();
        *entry = entry.saturating_add(*count);
    }
}

/// Returns the name without the additions of the serialization:
/// `torch.nn.modules.linear.Linear.forward`.
fn readable(name: &str) -> String {
    let parts = name
        .split('.')
        .filter(|part| *part != "__torch__" && !part.starts_with("___torch_mangle_"));
    parts.collect::<Vec<_>>().join(".")
}

struct Body<'w, 'l, 'a> {
    walker: &'w mut Walker<'l, 'a>,
    values: Values<'a>,
    counts: Counts,
    place: String,
    /// Whether known values select branches.
    folds: bool,
}

impl<'a> Body<'_, '_, 'a> {
    fn statements(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                let value = self.value(&assign.value);
                for target in &assign.targets {
                    self.bind(target, &value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.value(value);
                }
                let value = Value::new(annotated(&assign.annotation));
                self.bind(&assign.target, &value);
            }
            Stmt::AugAssign(assign) => drop(self.value(&assign.value)),
            Stmt::Expr(expression) => drop(self.value(&expression.value)),
            Stmt::Return(result) => {
                if let Some(value) = &result.value {
                    self.value(value);
                }
            }
            Stmt::If(branch) => {
                let test = self.value(&branch.test);
                // The serialization writes `if` nested in `else`, never `elif`.
                let other = branch.elif_else_clauses.first().map_or(&[][..], |else_| &else_.body);
                self.branch(test.known, &branch.body, other);
            }
            Stmt::For(each) => {
                let value = Value::new(self.value(&each.iter).kind);
                self.bind(&each.target, &value);
                self.branch(None, &each.body, &[]);
            }
            Stmt::While(again) => {
                self.value(&again.test);
                self.branch(None, &again.body, &[]);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    self.value(&item.context_expr);
                }
                self.statements(&with.body);
            }
            Stmt::Assert(assert) => drop(self.value(&assert.test)),
            _ => {}
        }
    }

    /// Walks both branches, or only the one that is known to run.
    fn branch(&mut self, known: Option<Known>, body: &'a [Stmt], other: &'a [Stmt]) {
        match known.filter(|_| self.folds) {
            Some(Known::True) => self.statements(body),
            Some(Known::False) => self.statements(other),
            _ => {
                let mut branch = self.values.first_way();
                self.statements(body);
                self.values.second_way(&mut branch);
                self.statements(other);
                self.values.joined(branch);
            }
        }
    }

    fn bind(&mut self, target: &'a Expr, value: &Value) {
        let part = || Value::new(value.kind.clone());
        match target {
            Expr::Name(name) => {
                self.values.set(name.id.as_str(), value.clone());
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.bind(target, &part())),
            Expr::List(list) => list.elts.iter().for_each(|target| self.bind(target, &part())),
            Expr::Starred(starred) => self.bind(&starred.value, &part()),
            _ => {}
        }
    }

    /// Counts the operators of an expression and returns its value.
    fn value(&mut self, expression: &'a Expr) -> Value {
        match expression {
            Expr::Call(call) => self.call(call),
            Expr::Name(name) => {
                self.values.get(name.id.as_str()).cloned().unwrap_or_else(|| Value::host(None))
            }
            Expr::Attribute(attribute) => {
                if let Some(path) = dotted(expression) {
                    if path.starts_with("__torch__.") {
                        return Value::new(Type::Function(path));
                    }
                    if path.starts_with("CONSTANTS.") {
                        return Value::new(Type::Tensor);
                    }
                }
                match self.value(&attribute.value).kind {
                    Type::Object(class) => self.attribute(&class, &attribute.attr),
                    kind => Value::new(kind),
                }
            }
            Expr::Subscript(subscript) => {
                self.value(&subscript.slice);
                Value::new(self.value(&subscript.value).kind)
            }
            Expr::Tuple(tuple) => self.any_of(tuple.elts.iter()),
            Expr::List(list) => self.any_of(list.elts.iter()),
            Expr::Dict(dict) => self.any_of(dict.items.iter().map(|item| &item.value)),
            Expr::Starred(starred) => self.value(&starred.value),
            Expr::If(choice) => {
                self.value(&choice.test);
                let value = self.value(&choice.body);
                let other = self.value(&choice.orelse);
                value.or(other)
            }
            Expr::BinOp(operation) => {
                self.value(&operation.left);
                self.value(&operation.right);
                Value::host(None)
            }
            Expr::UnaryOp(operation) => {
                self.value(&operation.operand);
                Value::host(None)
            }
            Expr::Compare(comparison) => {
                self.value(&comparison.left);
                self.any_of(comparison.comparators.iter());
                Value::host(None)
            }
            Expr::BoolOp(operation) => {
                self.any_of(operation.values.iter());
                Value::host(None)
            }
            _ => Value::host(Known::literal(expression)),
        }
    }

    fn any_of(&mut self, expressions: impl Iterator<Item = &'a Expr>) -> Value {
        let kinds: Vec<Type> = expressions.map(|each| self.value(each).kind).collect();
        let kind = if kinds.contains(&Type::Tensor) {
            Type::Tensor
        } else {
            kinds.into_iter().next().unwrap_or(Type::Host)
        };
        Value { kind, known: Some(Known::Something) }
    }

    fn attribute(&self, class: &str, name: &str) -> Value {
        let class = self.walker.library.classes.get(class);
        let known = class.and_then(|class| class.constants.get(name));
        let known = known.and_then(|expression| Known::literal(expression));
        // An attribute without annotation is a parameter or a buffer of a traced module.
        let kind = class.and_then(|class| class.attributes.get(name)).cloned();
        Value { kind: kind.unwrap_or(Type::Tensor), known }
    }

    fn call(&mut self, call: &'a ExprCall) -> Value {
        let arguments = &call.arguments;
        if let Expr::Name(name) = &*call.func {
            match (name.id.as_str(), &*arguments.args) {
                ("annotate", [kind, value]) => {
                    let known = self.value(value).known;
                    return Value { kind: annotated(kind), known };
                }
                ("unchecked_cast", [kind, value]) => {
                    let known = self.value(value).known.or(Some(Known::Something));
                    return Value { kind: annotated(kind), known };
                }
                ("uninitialized", [kind]) => return Value::new(annotated(kind)),
                ("getattr", [object, Expr::StringLiteral(name)]) => {
                    let value = self.value(object);
                    return match (&value.kind, name.as_single_part_string()) {
                        (Type::Object(class), Some(name)) => self.attribute(class, name.as_str()),
                        _ => value,
                    };
                }
                _ => {}
            }
        }
        let values: Vec<Value> = arguments.args.iter().map(|each| self.value(each)).collect();
        let named = self.any_of(arguments.keywords.iter().map(|each| &each.value));
        let is_tensor = |value: &Value| value.kind == Type::Tensor;
        if let Some(path) = dotted(&call.func) {
            if let Some(name) = path.strip_prefix("torch.") {
                let tensor = values.iter().any(is_tensor) || is_tensor(&named);
                return self.operator(name, &values, tensor);
            }
            if let Some((space, name)) = path.strip_prefix("ops.").and_then(|p| p.split_once('.')) {
                // `prim` operators belong to the interpreter itself.
                if space != "prim" {
                    self.count(format!("{space}::{name}"));
                }
                return Value::new(Type::Tensor);
            }
        }
        match self.callee(&call.func, &values) {
            Some(kind) => Value::new(kind),
            // int(), range(), isinstance() and the like.
            None if matches!(&*call.func, Expr::Name(_)) => Value::host(None),
            None => {
                self.walker.followed = false;
                Value::new(Type::Tensor)
            }
        }
    }

    /// Counts the operators of a called function or method; `None` if the archive does not define
    /// it.
    fn callee(&mut self, called: &'a Expr, arguments: &[Value]) -> Option<Type> {
        let library = self.walker.library;
        let path = dotted(called).filter(|path| path.starts_with("__torch__."));
        let mut known = Vec::new();
        let (name, function) = if let (Expr::Attribute(attribute), None) = (called, path) {
            let Type::Object(class) = self.value(&attribute.value).kind else { return None };
            let method = library.classes.get(&class)?.methods.get(attribute.attr.as_str())?;
            known.push(None);
            (format!("{class}.{}", attribute.attr), *method)
        } else {
            let Type::Function(path) = self.value(called).kind else { return None };
            if library.classes.contains_key(&path) {
                // The call creates an instance of a class, such as a named tuple.
                return Some(Type::Object(path));
            }
            (path.clone(), *library.functions.get(&path)?)
        };
        known.extend(arguments.iter().map(|value| value.known));
        for parameter in function.parameters.iter_non_variadic_params().skip(known.len()) {
            known.push(parameter.default().and_then(Known::literal));
        }
        if !self.folds {
            known.clear();
        }
        let counts = self.walker.of(&name, function, known);
        add(&mut self.counts, &counts);
        Some(function.returns.as_deref().map_or(Type::Tensor, annotated))
    }

    fn operator(&mut self, name: &str, values: &[Value], tensor: bool) -> Value {
        match (name, values) {
            ("__is__" | "__isnot__", [value, Value { known: Some(Known::None), .. }]) => {
                let same = value.known.map(|known| known == Known::None);
                return Value::host(same.map(|same| Known::of(same == (name == "__is__"))));
            }
            ("__not__", [value]) => {
                return Value::host(match value.known {
                    Some(Known::True) => Some(Known::False),
                    Some(Known::False) => Some(Known::True),
                    _ => None,
                });
            }
            // Reading all sizes of a tensor is not an aten operator, but reading one of them is.
            ("size", [_]) => return Value::host(Some(Known::Something)),
            _ => {}
        }
        if hosts::host(name) || (hosts::either(name) && !tensor) {
            return Value::host(None);
        }
        self.count(format!("aten::{name}"));
        if hosts::gives_host(name) {
            Value::host(Some(Known::Something))
        } else {
            Value { kind: Type::Tensor, known: Some(Known::Something) }
        }
    }

    fn count(&mut self, operator: String) {
        *self.counts.entry((operator, self.place.clone())).or_default() += 1;
    }
}
