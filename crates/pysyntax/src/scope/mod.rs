//! Resolves names by Python's scoping rules.
//!
//! `torch.cuda.x` only belongs to torch if `torch` is bound to the module in the scope of the
//! expression. So every binding of a file is collected first, then expressions are resolved to
//! dotted paths (`torch.cuda.amp.autocast`), through `import torch as th`,
//! `from torch import cuda as C`, `t = torch` and the like.

mod bindings;
mod collect;
mod few_names;
mod names;

use foldhash::HashSet;
use ruff_python_ast::visitor::Visitor as _;
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::TextRange;

use self::collect::Collector;
use self::few_names::FewNames;
use self::names::Names;

/// The maximum number of followed aliases (`a = b`, `b = c`, …).
const MAX_ALIASES: usize = 8;

/// Number of a scope; 0 is the module.
pub type ScopeId = usize;

/// A binding of a name at one place.
#[derive(Debug, Clone)]
pub enum Binding<'a> {
    /// An import: the dotted path of the imported object, and the place of the import.
    Import {
        /// The dotted path.
        path: String,
        /// The alias in the import statement.
        at: TextRange,
        /// Whether it came from `from … import`, so that it need not be a module.
        member: bool,
    },
    /// An assignment of one expression.
    Value(&'a Expr),
    /// A function of this file.
    Function(&'a StmtFunctionDef),
    /// A class of this file.
    Class(&'a StmtClassDef),
    /// A parameter, loop variable, … : unrelated to torch.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module,
    Function,
    Class,
}

#[derive(Debug)]
struct Scope<'a> {
    parent: Option<ScopeId>,
    kind: Kind,
    /// Names declared `global`.
    globals: HashSet<&'a str>,
}

/// A chain of names that starts at an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The dotted path, for example `torch.cuda.amp.autocast`.
    pub path: String,
    /// The number of parts of the path that the first name represents.
    pub base: usize,
    /// The alias of the import that binds the first name, if it is bound by one directly.
    pub import: Option<TextRange>,
    /// Whether the import was `from … import`.
    pub member: bool,
}

/// All scopes of a file.
#[derive(Debug)]
pub struct Scopes<'a> {
    all: Vec<Scope<'a>>,
    names: Names<'a>,
    /// Names that an import, or a possible alias of one, binds anywhere in the file. Most names are
    /// neither, and every use of a name is looked up.
    may_resolve: FewNames<'a>,
    /// The node that opens each scope, in order.
    by_node: Vec<(TextRange, ScopeId)>,
}

impl<'a> Scopes<'a> {
    /// Collects the bindings of a module. `package` is the dotted package of the file inside the
    /// converted tree, for relative imports (empty if unknown). `exports` resolves a name of
    /// another file of the tree.
    pub fn of(body: &'a [Stmt], package: &str, exports: &dyn Fn(&str) -> Option<String>) -> Self {
        Self::collected(body, Collector::new(package, exports, true))
    }

    /// Like [`Scopes::of`], for statements only: lambdas and comprehensions open no scopes, and
    /// bindings by `:=` deep in an expression are ignored. For a walk that tracks local names
    /// itself, for which a second walk through all expressions would only cost time.
    pub fn of_statements(body: &'a [Stmt], package: &str) -> Self {
        Self::collected(body, Collector::new(package, &|_| None, false))
    }

    fn collected(body: &'a [Stmt], mut collector: Collector<'a, '_>) -> Self {
        collector.scopes.add(None, Kind::Module);
        collector.visit_body(body);
        // Nearly in order: a function comes before the lambdas of its defaults.
        collector.scopes.by_node.sort_by_key(|(node, _)| (node.start(), node.end()));
        collector.scopes
    }

    fn empty() -> Self {
        Self {
            all: Vec::new(),
            names: Names::new(),
            may_resolve: FewNames::default(),
            by_node: Vec::new(),
        }
    }

    fn add(&mut self, parent: Option<ScopeId>, kind: Kind) -> ScopeId {
        self.all.push(Scope { parent, kind, globals: HashSet::default() });
        self.all.len() - 1
    }

    /// The scope that a function, class, lambda or comprehension opens.
    pub fn opened_by(&self, node: TextRange) -> Option<ScopeId> {
        let key = |node: &TextRange| (node.start(), node.end());
        let found = self.by_node.binary_search_by_key(&key(&node), |(node, _)| key(node)).ok()?;
        self.by_node.get(found).map(|(_, scope)| *scope)
    }

    /// The dotted path that an expression names in `scope`: `None` if it is not a chain of
    /// attributes that starts at an import.
    pub fn resolve(&self, expr: &Expr, scope: ScopeId) -> Option<Resolved> {
        self.resolve_within(expr, scope, MAX_ALIASES)
    }

    /// Like [`Scopes::resolve`], but returns only the path.
    pub fn path(&self, expr: &Expr, scope: ScopeId) -> Option<String> {
        if self.may_resolve(root(expr)?) { self.path_within(expr, scope) } else { None }
    }

    /// Whether a chain that starts with this name may have a path in some scope.
    pub fn may_resolve(&self, root: &str) -> bool {
        self.may_resolve.contains(root) || root == "torch"
    }

    /// Like [`Scopes::path`], for an expression whose first name is known to be one that may
    /// resolve.
    pub fn path_within(&self, expr: &Expr, scope: ScopeId) -> Option<String> {
        match expr {
            Expr::Name(name) => match self.import(&name.id, scope) {
                // Reserves room for the rest of the path.
                Some(Import { path, .. }) => {
                    let mut whole = String::with_capacity(path.len() + 40);
                    whole.push_str(path);
                    Some(whole)
                }
                None => self.name_within(&name.id, scope, MAX_ALIASES).map(|found| found.path),
            },
            Expr::Attribute(attribute) => {
                let mut path = self.path_within(&attribute.value, scope)?;
                path.push('.');
                path.push_str(attribute.attr.as_str());
                Some(path)
            }
            _ => None,
        }
    }

    /// The import that binds a name.
    fn import(&self, name: &str, scope: ScopeId) -> Option<Import<'_>> {
        best(self.bindings(name, scope)?.1)
    }

    fn resolve_within(&self, expr: &Expr, scope: ScopeId, depth: usize) -> Option<Resolved> {
        match expr {
            Expr::Name(name) => self.name_within(&name.id, scope, depth),
            Expr::Attribute(attribute) => {
                let mut base = self.resolve_within(&attribute.value, scope, depth)?;
                base.path.push('.');
                base.path.push_str(attribute.attr.as_str());
                Some(base)
            }
            _ => None,
        }
    }

    fn name_within(&self, name: &str, scope: ScopeId, depth: usize) -> Option<Resolved> {
        if !self.may_resolve(name) {
            return None;
        }
        let Some((home, bindings)) = self.bindings(name, scope) else {
            // The name may come from `from common import *`.
            return (name == "torch").then(|| Resolved {
                path: name.to_owned(),
                base: 1,
                import: None,
                member: false,
            });
        };
        // `try: import torch … except ImportError: torch = None` still binds torch.
        if let Some(Import { path, at, member }) = best(bindings) {
            let base = parts(path);
            return Some(Resolved { path: path.to_owned(), base, import: Some(at), member });
        }
        if depth == 0 {
            return None;
        }
        match bindings {
            [Binding::Value(value)] => {
                let mut found = self.resolve_within(value, home, depth - 1)?;
                found.base = parts(&found.path);
                found.import = None;
                Some(found)
            }
            _ => None,
        }
    }

    /// Whether any scope of the file binds `name`.
    pub fn binds_anywhere(&self, name: &str) -> bool {
        self.names.anywhere(name)
    }

    /// The scope where `name`, seen from `scope`, is bound.
    pub fn home(&self, name: &str, scope: ScopeId) -> Option<ScopeId> {
        self.bindings(name, scope).map(|(home, _)| home)
    }

    /// The bindings of a name, in Python's lookup order: the scope itself, then enclosing functions
    /// (not classes), then the module.
    pub fn bindings(&self, name: &str, scope: ScopeId) -> Option<(ScopeId, &[Binding<'a>])> {
        let key = self.names.key(name);
        let mut at = Some(scope);
        while let Some(id) = at {
            let here = &self.all[id];
            let visible = id == scope || here.kind != Kind::Class;
            if here.globals.contains(name) {
                return self.names.get(0, key).map(|found| (0, found));
            }
            if visible && let Some(found) = self.names.get(id, key) {
                return Some((id, found));
            }
            at = here.parent;
        }
        None
    }

    /// The bindings of the module itself: names with their dotted paths, for other files, sorted by
    /// name.
    pub fn exports(&self) -> Vec<(String, String)> {
        let names = self.names.of(0).filter(|(name, _)| self.may_resolve(name));
        let found = names.filter_map(|(name, bindings)| {
            let path = match best(bindings) {
                Some(Import { path, .. }) => path.to_owned(),
                None => self.name_within(name, 0, MAX_ALIASES)?.path,
            };
            Some((name.to_owned(), path))
        });
        let mut found: Vec<(String, String)> = found.collect();
        found.sort_unstable();
        found
    }
}

/// An import among the bindings of a name.
#[derive(Clone, Copy)]
struct Import<'s> {
    path: &'s str,
    at: TextRange,
    member: bool,
}

/// The most relevant import of a name.
fn best<'s>(bindings: &'s [Binding<'_>]) -> Option<Import<'s>> {
    let mut found: Option<Import<'_>> = None;
    for binding in bindings {
        let Binding::Import { path, at, member } = binding else { break };
        // `try: from a import x … except ImportError: from b import x`.
        if found.is_none_or(|other| rank(path) > rank(other.path)) {
            found = Some(Import { path, at: *at, member: *member });
        }
    }
    found
}

/// The number of parts of a dotted name.
pub fn parts(path: &str) -> usize {
    memchr::memchr_iter(b'.', path.as_bytes()).count() + 1
}

/// The first name of a chain of attributes.
pub fn root(expr: &Expr) -> Option<&str> {
    let mut expr = expr;
    loop {
        match expr {
            Expr::Name(name) => return Some(name.id.as_str()),
            Expr::Attribute(attribute) => expr = &attribute.value,
            _ => return None,
        }
    }
}

/// The relevance of one of several imports of a name: those related to CUDA are highest.
fn rank(path: &str) -> u8 {
    if path.starts_with("torch.cuda") { 2 } else { u8::from(path.starts_with("torch")) }
}

/// The absolute name of a relative import. A name outside the known tree keeps one leading dot, so
/// that it can never be mistaken for torch.
pub fn relative(package: &str, level: u32, module: &str) -> String {
    let mut parts: Vec<&str> = package.split('.').filter(|part| !part.is_empty()).collect();
    let up = usize::try_from(level).unwrap_or(1).saturating_sub(1);
    parts.truncate(parts.len().saturating_sub(up));
    if !module.is_empty() {
        parts.push(module);
    }
    format!(".{}", parts.join("."))
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_module;
    use ruff_text_size::Ranged as _;

    use super::*;

    /// The paths of all expression statements of the module and of its functions, in order.
    fn paths(source: &str) -> Vec<Option<String>> {
        let parsed = parse_module(source).unwrap();
        let body = &parsed.syntax().body;
        let scopes = Scopes::of(body, "pkg.sub", &|_| None);
        let mut found = Vec::new();
        collect(body, 0, &scopes, &mut found);
        found
    }

    fn collect(body: &[Stmt], scope: ScopeId, scopes: &Scopes<'_>, out: &mut Vec<Option<String>>) {
        for stmt in body {
            match stmt {
                Stmt::Expr(expr) => out.push(scopes.path(&expr.value, scope)),
                Stmt::FunctionDef(def) => {
                    collect(&def.body, scopes.opened_by(stmt.range()).unwrap(), scopes, out);
                }
                Stmt::ClassDef(def) => {
                    collect(&def.body, scopes.opened_by(stmt.range()).unwrap(), scopes, out);
                }
                _ => {}
            }
        }
    }

    fn one(source: &str) -> Option<String> {
        paths(source).pop().unwrap()
    }

    #[test]
    fn imports_and_aliases() {
        assert_eq!(one("import torch as th\nth.cuda.x").as_deref(), Some("torch.cuda.x"));
        assert_eq!(one("from torch import cuda as C\nC.x").as_deref(), Some("torch.cuda.x"));
        assert_eq!(one("import torch.cuda.amp\ntorch.y").as_deref(), Some("torch.y"));
        assert_eq!(one("import torch\nt = torch\nt.cuda").as_deref(), Some("torch.cuda"));
        assert_eq!(one("from . import cuda\ncuda.x").as_deref(), Some(".pkg.sub.cuda.x"));
        assert_eq!(one("from ..a import b\nb").as_deref(), Some(".pkg.a.b"));
    }

    #[test]
    fn shadowing() {
        assert_eq!(one("import torch\ndef f(torch):\n  torch.cuda"), None);
        assert_eq!(one("cuda = x.type != 'cpu'\ncuda.y"), None);
        assert_eq!(
            one("import torch\nclass A:\n  torch = 1\n  def f(self):\n    torch.cuda").as_deref(),
            Some("torch.cuda")
        );
        assert_eq!(
            one("import torch\nfor torch in y: pass\ntorch.cuda").as_deref(),
            Some("torch.cuda")
        );
    }

    #[test]
    fn statements_alone() {
        let source =
            "import torch\nif (x := torch) is y: z = [torch for torch in x]\ndef f(): pass";
        let parsed = parse_module(source).unwrap();
        let body = &parsed.syntax().body;
        let (all, statements) = (Scopes::of(body, "", &|_| None), Scopes::of_statements(body, ""));
        assert_eq!((all.all.len(), statements.all.len()), (3, 2));
        for scopes in [all, statements] {
            assert_eq!(scopes.exports().len(), 2, "{:?}", scopes.exports());
            assert!(scopes.opened_by(body[2].range()).is_some());
        }
    }

    #[test]
    fn optional_imports() {
        let source = "try:\n  import torch\nexcept ImportError:\n  torch = None\ntorch.cuda";
        assert_eq!(one(source).as_deref(), Some("torch.cuda"));
        let source = "x = 1\nimport a as x\nx = 2\nimport torch as x\nx = 3\nx.cuda";
        assert_eq!(one(source).as_deref(), Some("torch.cuda"));
    }

    #[test]
    fn globals_and_cycles() {
        assert_eq!(
            one("import torch\ndef f():\n  global torch\n  torch.cuda").as_deref(),
            Some("torch.cuda")
        );
        assert_eq!(one("a = b\nb = a\na.x"), None);
    }
}
