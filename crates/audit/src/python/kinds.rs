//! Infers the kind of value of an expression.

use ruff_python_ast::{Expr, Keyword, StmtFunctionDef};

use pysyntax::dotted;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Not a tensor: a number, a text, a shape …
    Not,
    /// Unknown.
    Maybe,
    /// A list, tuple or generator of tensors.
    Seq,
    /// A module that is called with tensors.
    Module,
    /// A tensor on the host.
    Host,
    /// Probably a tensor.
    Likely,
    /// A tensor.
    Tensor,
}

impl Kind {
    /// Returns whether the value is a tensor on the device.
    pub(super) fn is_tensor(self) -> bool {
        matches!(self, Self::Tensor | Self::Likely)
    }

    /// Returns whether the value is or contains a tensor.
    pub(super) fn holds(self) -> bool {
        self.is_tensor() || self == Self::Seq
    }

    /// Returns the kind of an element.
    pub(super) fn element(self) -> Self {
        match self {
            Self::Seq | Self::Likely => Self::Likely,
            Self::Tensor => Self::Tensor,
            Self::Host => Self::Host,
            Self::Module => Self::Module,
            Self::Maybe => Self::Maybe,
            Self::Not => Self::Not,
        }
    }

    /// Returns the kind of a value that is either of two.
    pub(super) fn join(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Tensor methods that do not return a tensor.
const PLAIN: &[&str] = &[
    "size",
    "dim",
    "numel",
    "item",
    "tolist",
    "numpy",
    "stride",
    "data_ptr",
    "element_size",
    "is_contiguous",
    "is_floating_point",
    "is_complex",
    "get_device",
    "ndimension",
    "nelement",
    "storage",
    "untyped_storage",
    "storage_offset",
    "backward",
    "register_hook",
    "is_pinned",
    "is_shared",
    "is_signed",
    "__len__",
    "equal",
    "allclose",
    "requires_grad_",
];

/// Functions and methods that return several tensors.
const SEVERAL: &[&str] = &[
    "chunk",
    "split",
    "unbind",
    "tensor_split",
    "split_with_sizes",
    "hsplit",
    "vsplit",
    "dsplit",
    "topk",
    "sort",
    "meshgrid",
    "broadcast_tensors",
    "kthvalue",
    "mode",
    "cummax",
    "cummin",
    "aminmax",
    "std_mean",
    "var_mean",
    "unsafe_chunk",
    "unsafe_split",
    "slogdet",
    "svd",
    "qr",
    "eigh",
    "eig",
    "lu",
    "lstsq",
    "frexp",
    "unique_consecutive",
    "multi_head_attention_forward",
];

/// Tensor attributes that are not tensors.
const ATTRIBUTES: &[&str] = &[
    "shape",
    "dtype",
    "device",
    "ndim",
    "is_cuda",
    "is_npu",
    "requires_grad",
    "layout",
    "names",
    "itemsize",
    "nbytes",
    "is_leaf",
    "grad_fn",
    "is_sparse",
    "is_quantized",
    "is_nested",
    "is_meta",
    "is_cpu",
    "type",
];

/// Returns whether an attribute exists only on tensors and modules.
pub(super) fn plain_attribute(name: &str) -> bool {
    ATTRIBUTES.contains(&name)
}

/// The arguments of a call that determine the kind of its result.
#[derive(Clone, Copy)]
pub(super) struct CallShape<'k> {
    /// The number of positional arguments.
    pub arguments: usize,
    pub keywords: &'k [Keyword],
}

impl CallShape<'_> {
    /// Returns whether there is a keyword argument of this name.
    pub(super) fn has(self, name: &str) -> bool {
        self.named(|given| given == name)
    }

    fn named(self, is: impl Fn(&str) -> bool) -> bool {
        self.keywords.iter().any(|one| one.arg.as_ref().is_some_and(|arg| is(arg.as_str())))
    }
}

/// Returns the result kind of a tensor method.
pub(super) fn method_result(name: &str, given: CallShape<'_>) -> Kind {
    if PLAIN.contains(&name) {
        return Kind::Not;
    }
    if name == "cpu" {
        return Kind::Host;
    }
    let by_dim =
        matches!(name, "max" | "min" | "median") && (given.arguments > 0 || given.has("dim"));
    let counted = name == "unique" && given.named(|name| name.starts_with("return_"));
    let tuple = name == "nonzero" && given.has("as_tuple");
    if SEVERAL.contains(&name) || by_dim || counted || tuple { Kind::Seq } else { Kind::Tensor }
}

/// Returns the result kind of a torch function, by the last part of its name.
pub(super) fn function_result(path: &str, given: CallShape<'_>) -> Kind {
    let name = dotted::last(path);
    if matches!(
        name,
        "is_tensor" | "is_floating_point" | "numel" | "is_complex" | "equal" | "allclose"
    ) {
        return Kind::Not;
    }
    // The first argument is the tensor itself.
    method_result(name, CallShape { arguments: given.arguments.saturating_sub(1), ..given })
}

/// Returns whether a Python built-in never returns a tensor.
pub(super) fn plain_builtin(name: &str) -> bool {
    matches!(
        name,
        "len"
            | "isinstance"
            | "issubclass"
            | "str"
            | "repr"
            | "print"
            | "range"
            | "hasattr"
            | "callable"
            | "id"
            | "hash"
            | "type"
            | "open"
            | "format"
            | "round"
            | "divmod"
            | "any"
            | "all"
            | "int"
            | "float"
            | "bool"
            | "ord"
            | "chr"
            | "input"
            | "vars"
            | "dir"
    )
}

/// Returns whether a Python built-in returns its arguments in another order or form.
pub(super) fn passing_builtin(name: &str) -> bool {
    matches!(
        name,
        "list"
            | "tuple"
            | "zip"
            | "enumerate"
            | "reversed"
            | "sorted"
            | "iter"
            | "map"
            | "filter"
            | "set"
            | "dict"
    )
}

/// Returns the kind of a parameter by its annotation; `None` if the annotation names neither
/// tensors nor numbers.
pub(super) fn annotated_kind(annotation: &Expr, text: &str) -> Option<Kind> {
    use ruff_text_size::Ranged as _;
    let text = text.get(std::ops::Range::<usize>::from(annotation.range()))?;
    let text = text.trim_matches(|c| c == '"' || c == '\'');
    let many = ["List", "list", "Tuple", "tuple", "Sequence", "Iterable", "Dict", "dict"];
    // An annotation is short, so building a substring searcher takes longer than the search.
    let mut capitals = memchr::memchr_iter(b'T', text.as_bytes());
    if let Some(first) = capitals.find(|at| text.as_bytes()[*at..].starts_with(b"Tensor")) {
        let mut brackets = memchr::memchr_iter(b'[', &text.as_bytes()[..first]);
        let several = brackets.any(|at| many.iter().any(|word| text[..at].ends_with(word)));
        return Some(if several { Kind::Seq } else { Kind::Tensor });
    }
    let plain = ["int", "float", "bool", "str", "Callable", "device", "dtype", "Config", "None"];
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .filter(|word| !word.is_empty())
        .any(|word| plain.iter().any(|one| word.ends_with(one)))
        .then_some(Kind::Not)
}

/// Returns the kind of a parameter without annotation by its default value.
pub(super) fn default_kind(default: &Expr) -> Option<Kind> {
    match default {
        Expr::BooleanLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::UnaryOp(_) => Some(Kind::Not),
        _ => None,
    }
}

/// Returns whether a function runs while a model is built.
pub(super) fn is_constructor(def: &StmtFunctionDef) -> bool {
    let name = def.name.as_str();
    matches!(
        name,
        "__init__"
            | "__post_init__"
            | "__setstate__"
            | "__getstate__"
            | "__new__"
            | "__repr__"
            | "extra_repr"
            | "reset_parameters"
            | "_reset_parameters"
            | "from_pretrained"
            | "load_state_dict"
            | "state_dict"
            | "_load_from_state_dict"
            | "post_init"
    ) || name.starts_with("init_")
        || name.starts_with("_init_")
        || name.ends_with("_init")
        || name.ends_with("init_weights")
        || name.ends_with("init_weights_")
        || name.starts_with("collate")
        || name.starts_with("load_")
        || name.starts_with("_load_")
        || name.starts_with("convert_")
        || name.starts_with("checkpoint_filter")
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_expression;

    use super::*;

    #[test]
    fn annotations_declare_tensors() {
        let of = |source: &str| annotated_kind(parse_expression(source).unwrap().expr(), source);
        assert_eq!(of("torch.Tensor"), Some(Kind::Tensor));
        assert_eq!(of("Optional[Tensor]"), Some(Kind::Tensor));
        assert_eq!(of("List[torch.Tensor]"), Some(Kind::Seq));
        assert_eq!(of("Optional[int]"), Some(Kind::Not));
        assert_eq!(of("LlamaConfig"), Some(Kind::Not));
        assert_eq!(of("Cache"), None);
    }

    /// Returns the result kind of a call of `x` with this source text.
    fn given(call: &str, of: impl Fn(CallShape<'_>) -> Kind) -> Kind {
        let parsed = parse_expression(call).unwrap();
        let arguments = &parsed.expr().as_call_expr().unwrap().arguments;
        of(CallShape { arguments: arguments.args.len(), keywords: &arguments.keywords })
    }

    #[test]
    fn methods_return_tensors_or_plain_values() {
        let method = |name: &str, call: &str| given(call, |given| method_result(name, given));
        assert_eq!(method("size", "x(0)"), Kind::Not);
        assert_eq!(method("chunk", "x(2)"), Kind::Seq);
        assert_eq!(method("max", "x()"), Kind::Tensor);
        assert_eq!(method("max", "x(1)"), Kind::Seq);
        assert_eq!(method("unique", "x(return_counts=True)"), Kind::Seq);
        assert_eq!(method("unique", "x(sorted=True, **more)"), Kind::Tensor);
        assert_eq!(method("nonzero", "x(as_tuple=True)"), Kind::Seq);
        assert_eq!(method("cpu", "x()"), Kind::Host);
        let function = |call: &str| given(call, |given| function_result("torch.max", given));
        assert_eq!(function("x(y, dim=0)"), Kind::Seq);
        assert_eq!(function("x(y)"), Kind::Tensor);
    }
}
