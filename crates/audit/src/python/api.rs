//! The operators that an API calls: `data/ops/python.tsv`, and a rule for APIs without a row.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashMap;
use foldhash::fast::RandomState;

use pysyntax::dotted;

use super::packed::Lists;
use crate::ops::Tables;

/// The operators that an API calls, as the number of their list. It is small because it is kept for
/// each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatorSet(u16);

/// One operator that an API calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ApiOperator {
    /// The number of the operator.
    pub operator: u16,
    /// Only some calls reach it.
    pub maybe: bool,
    /// It belongs to the backward pass.
    pub backward: bool,
}

impl ApiOperator {
    /// Returns the name; for aten without `aten::`.
    pub(super) fn name(self) -> &'static str {
        name_of(self.operator)
    }

    /// Returns the set with only this operator.
    pub(super) fn alone(self) -> OperatorSet {
        OperatorSet(self.operator)
    }
}

/// Returns the name of an operator by its number; for aten without `aten::`.
pub(super) fn name_of(operator: u16) -> &'static str {
    APIS.names.get(usize::from(operator)).copied().unwrap_or_default()
}

impl OperatorSet {
    pub(super) fn operators(self) -> impl Iterator<Item = ApiOperator> {
        APIS.called.at(self.0.into()).iter().copied()
    }
}

/// A tensor method, by the number of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Method(u16);

/// Other types that have a method of this name, which a value of unknown type may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameSharing {
    /// None: only tensors have the method.
    TensorOnly,
    /// An array, an image or a table.
    Arrays,
    /// A text, a list, a module …
    Builtins,
}

struct Apis {
    /// Operator names by number. The aten operators come first: an API of the same name calls them.
    names: Vec<&'static str>,
    numbers: HashMap<&'static str, u16>,
    /// The number of aten operators.
    aten: u16,
    /// The called operators: first each operator by itself, in the order of the numbers, then those
    /// of each row.
    called: Lists<ApiOperator>,
    rows: HashMap<&'static str, OperatorSet>,
    /// Rows of tensor methods, of `torch` and of language operators, by the name after `Tensor.`,
    /// `torch.` and `operator.`. They are looked up at every call.
    by_last: [HashMap<&'static str, OperatorSet>; 3],
    methods: HashMap<&'static str, (NameSharing, Method)>,
    /// APIs whose operators depend on an argument, with its name and position.
    deciding: HashMap<&'static str, (&'static str, usize)>,
}

impl Apis {
    /// Returns the number of an operator, and assigns one to a new operator.
    fn number(&mut self, name: &'static str) -> u16 {
        let next = short(self.names.len());
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }
}

/// Converts the number of an operator, a row or a method. A test ensures that the built-in tables
/// fit into 16 bits.
fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

static APIS: LazyLock<Apis> = LazyLock::new(|| {
    // Tables that grow step by step need twice the memory during growth.
    let mut apis = Apis {
        names: Vec::with_capacity(2_000),
        numbers: map(1_700),
        aten: 0,
        called: Lists::default(),
        rows: map(1_100),
        by_last: [map(50), map(800), map(55)],
        methods: map(800),
        deciding: HashMap::default(),
    };
    for name in Tables::get().base_names() {
        apis.number(name);
    }
    apis.aten = short(apis.names.len());
    let mut rows: Vec<(&str, usize)> = Vec::with_capacity(1_100);
    let mut all_called: Vec<ApiOperator> = Vec::with_capacity(6_800);
    for row in crate::ops::table_rows("python") {
        let [name, cells @ ..] = &*row else { continue };
        // The cells list operators of every call, of some calls, of every backward pass, and of
        // some backward passes.
        let called = cells.iter().take(4).enumerate().filter(|(_, cell)| **cell != "-");
        let called = called.flat_map(|(at, cell)| cell.split(' ').map(move |name| (at, name)));
        all_called.extend(called.map(|(at, name)| ApiOperator {
            operator: apis.number(name),
            maybe: at % 2 == 1,
            backward: at >= 2,
        }));
        rows.push((name, all_called.len()));
    }
    for operator in 0..short(apis.names.len()) {
        apis.called.push([ApiOperator { operator, maybe: false, backward: false }]);
    }
    let mut start = 0;
    for (name, end) in rows {
        let called = all_called[start..end].iter().copied();
        start = end;
        let row = OperatorSet(short(apis.called.push(called)));
        if let Some((api, rest)) = name.split_once(' ')
            && let Some((argument, place)) = rest.split_once('@')
            && let Some((place, _)) = place.split_once('=')
            && let Ok(place) = place.parse()
        {
            apis.deciding.insert(api, (argument, place));
        }
        for (prefix, rows) in PREFIXES.iter().zip(&mut apis.by_last) {
            if let Some(rest) = name.strip_prefix(prefix) {
                rows.insert(rest, row);
            }
        }
        apis.rows.insert(name, row);
    }
    for row in crate::ops::table_rows("methods") {
        let [kind, names] = *row else { continue };
        let shared = match kind {
            "tensor" => NameSharing::TensorOnly,
            "array" => NameSharing::Arrays,
            _ => NameSharing::Builtins,
        };
        for name in names.split(' ') {
            let number = Method(short(apis.methods.len()));
            apis.methods.insert(name, (shared, number));
        }
    }
    apis
});

fn map<T>(room: usize) -> HashMap<&'static str, T> {
    HashMap::with_capacity_and_hasher(room, RandomState::default())
}

/// The prefixes of [`Apis::by_last`].
const PREFIXES: [&str; 3] = ["Tensor.", "torch.", "operator."];
const METHOD: usize = 0;
const TORCH: usize = 1;
const OPERATOR: usize = 2;

/// Prefixes of names that exist in several modules, with the public prefix.
const PUBLIC: &[(&str, &str)] = &[
    ("torch.functional.", "torch."),
    ("torch._C._nn.", "torch.nn.functional."),
    ("torch._C._VariableFunctions.", "torch."),
    ("torch._C._linalg.", "torch.linalg."),
    ("torch.Tensor.", "Tensor."),
    ("torch._tensor.Tensor.", "Tensor."),
    ("torch.nn.modules.", "torch.nn.*"),
    ("torch.optim.", "torch.optim.*"),
    ("torch.distributions.", "torch.distributions.*"),
    ("torchvision.ops.", "torchvision.ops.*"),
    ("timm.models.layers.", "timm.layers.*"),
    ("timm.layers.", "timm.layers.*"),
    ("transformers.integrations.", "transformers.integrations.*"),
    ("torch.nn.utils.clip_grad.", "torch.nn.utils."),
    ("torch.nn.utils.weight_norm.", "torch.nn.utils."),
    ("torch.nn.utils.spectral_norm.", "torch.nn.utils."),
];

/// The components after `torch.` in names of [`PUBLIC`], except those of `torch.nn`.
const MOVED: [&str; 6] = ["functional", "_C", "Tensor", "_tensor", "optim", "distributions"];

/// Returns the public name for a dotted name of torch.
pub(super) fn public(path: &str) -> Cow<'_, str> {
    // Most names are public already.
    let moved = match path.strip_prefix("torch.") {
        Some(rest) => match rest.strip_prefix("nn.") {
            Some(rest) => matches!(dotted::first(rest), "modules" | "utils"),
            None => MOVED.contains(&dotted::first(rest)),
        },
        None => ["torchvision.", "timm.", "transformers."].iter().any(|one| path.starts_with(one)),
    };
    if !moved {
        return Cow::Borrowed(path);
    }
    for (from, to) in PUBLIC {
        let Some(rest) = path.strip_prefix(from) else { continue };
        return match to.strip_suffix('*') {
            // The module of a class is not part of its public name.
            Some(to) => match dotted::split_last(rest) {
                Some((_, last)) => Cow::Owned(format!("{to}{last}")),
                None if to != *from => Cow::Owned(format!("{to}{rest}")),
                None => Cow::Borrowed(path),
            },
            None => Cow::Owned(format!("{to}{rest}")),
        };
    }
    Cow::Borrowed(path)
}

/// The first components of all API names in the table. `operator` is also a Python module. Most
/// calls are of names outside of the table.
const ROOTS: [&str; 6] = ["torch", "torchvision", "transformers", "timm", "Tensor", "operator"];

fn has_rows(path: &str) -> bool {
    path.starts_with(['t', 'T', 'o']) && ROOTS.contains(&dotted::first(path))
}

fn row(name: &str) -> Option<OperatorSet> {
    APIS.rows.get(name).copied()
}

fn row_of(prefix: usize, rest: &str) -> Option<OperatorSet> {
    APIS.by_last[prefix].get(rest).copied()
}

fn own(name: &str) -> Option<OperatorSet> {
    APIS.numbers.get(name).copied().filter(|number| *number < APIS.aten).map(OperatorSet)
}

/// Returns the operators of an API by its public name; `None` if it is not an API, or calls none.
pub(super) fn api(path: &str) -> Option<OperatorSet> {
    if !has_rows(path) {
        return None;
    }
    if let Some(found) = row(path) {
        return Some(found);
    }
    let (module, name) = dotted::split_last(path)?;
    if name.starts_with("__") {
        return None;
    }
    match module {
        "torch" => row_of(METHOD, name).or_else(|| own(name)),
        "torch.nn.functional" => row_of(TORCH, name).or_else(|| own(name)),
        "torch.linalg" => own(&format!("linalg_{name}")),
        "torch.fft" => own(&format!("fft_{name}")),
        "torch.special" => own(&format!("special_{name}")),
        "Tensor" => method(name),
        _ => None,
    }
}

/// Returns the operators of a tensor method.
pub(super) fn method(name: &str) -> Option<OperatorSet> {
    row_of(METHOD, name).or_else(|| row_of(TORCH, name)).or_else(|| own(name))
}

/// Returns the operators that a language operator calls on tensors: `add`, `getitem int`.
pub(super) fn operator(name: &str) -> Option<OperatorSet> {
    row_of(OPERATOR, name)
}

/// Returns the other types with a method of this name; `None` if tensors have no such method.
pub(super) fn shared(name: &str) -> Option<NameSharing> {
    APIS.methods.get(name).map(|(shared, _)| *shared)
}

/// Returns the tensor method with this name.
pub(super) fn method_named(name: &str) -> Option<Method> {
    APIS.methods.get(name).map(|(_, method)| *method)
}

/// Returns the name and position of the argument that determines the operators of an API.
pub(super) fn deciding(path: &str) -> Option<(&'static str, usize)> {
    if has_rows(path) { APIS.deciding.get(path).copied() } else { None }
}

/// Returns the operators of an API for this value of the deciding argument; empty if the argument
/// is not passed.
pub(super) fn decided(path: &str, argument: (&str, usize), value: &str) -> Option<OperatorSet> {
    row(&format!("{path} {}@{}={value}", argument.0, argument.1))
}

/// Returns the operators of an API with an option, as in `torch.optim.Adam fused=True`.
pub(super) fn with_option(path: &str, option: &str, value: &str) -> Option<OperatorSet> {
    row(&format!("{path} {option}={value}"))
}

/// Registries from which model files take functions by a configuration key.
const REGISTRIES: &[&str] =
    &["transformers.activations.ACT2FN", "transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS"];

/// Returns the registry that a path names. Model files may be copied out of their package.
pub(super) fn registry(path: &str) -> Option<&'static str> {
    let short =
        |known: &&&str| known.strip_prefix("transformers.").is_some_and(|end| path.ends_with(end));
    REGISTRIES.iter().find(short).copied()
}

/// Returns the entry of a registry by its key; an empty key means any entry.
pub(super) fn registered(path: &str, key: &str) -> Option<OperatorSet> {
    if key.is_empty() { row(path) } else { row(&format!("{path} {key}")) }
}

/// Returns the activation with this name, as model libraries name it.
pub(super) fn activation(name: &str) -> Option<OperatorSet> {
    registered("transformers.activations.ACT2FN", name)
}

/// Returns the in-place variant of an operator, if there is one: `relu_` for `relu`.
pub(super) fn in_place(called: ApiOperator) -> Option<OperatorSet> {
    if called.backward { None } else { own(&format!("{}_", called.name())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(reach: Option<OperatorSet>) -> Vec<&'static str> {
        reach.map_or_else(Vec::new, |reach| {
            reach
                .operators()
                .filter(|one| !one.maybe && !one.backward)
                .map(ApiOperator::name)
                .collect()
        })
    }

    #[test]
    fn apis_have_operators() {
        assert_eq!(names(api("torch.nn.Linear")), ["linear"]);
        assert_eq!(names(api("torch.nn.functional.linear")), ["linear"]);
        assert_eq!(names(api("torch.abs")), ["abs"]);
        assert_eq!(names(api("torch.linalg.inv")), ["linalg_inv"]);
        assert_eq!(names(method("masked_fill_")), ["masked_fill_"]);
        assert_eq!(names(operator("matmul")), ["matmul"]);
        assert_eq!(names(operator("getitem int")), ["select"]);
        assert_eq!(api("torch.nn.Module"), None);
        assert_eq!(api("torch.no_grad"), None);
        let relu = own("relu").unwrap().operators().next().unwrap();
        assert_eq!(names(in_place(relu)), ["relu_"]);
        assert_eq!(in_place(ApiOperator { backward: true, ..relu }), None);
        assert_eq!(names(Some(relu.alone())), ["relu"]);
    }

    #[test]
    fn every_row_has_a_known_prefix() {
        assert!(APIS.rows.keys().all(|name| has_rows(name)));
        assert_eq!(names(api("operator.mul")), ["mul"]);
        assert_eq!(api("torchx.abs"), None);
    }

    /// A name that [`public`] returns unchanged by its early check has no prefix that moves.
    #[test]
    fn every_prefix_maps_to_its_public_name() {
        for (from, to) in PUBLIC {
            let path = format!("{from}a.B");
            assert!(matches!(public(&path), Cow::Owned(_)) || to.starts_with(from), "{path}");
            assert_ne!(public(&path), path, "{path}");
        }
    }

    #[test]
    fn operator_numbers_fit_16_bits() {
        let last = short(APIS.names.len() + APIS.rows.len());
        assert!(last < u16::MAX && short(APIS.methods.len()) < u16::MAX);
        assert_eq!(own("torchvision::nms"), None);
        assert!(names(api("torchvision.ops.nms")).contains(&"torchvision::nms"));
    }

    #[test]
    fn argument_value_selects_operators() {
        let path = "torch.nn.functional.interpolate";
        let argument = deciding(path).unwrap();
        assert_eq!(argument, ("mode", 3));
        assert_eq!(names(decided(path, argument, "bicubic")), ["upsample_bicubic2d"]);
        assert!(
            names(with_option("torch.optim.AdamW", "fused", "True")).contains(&"_fused_adamw_")
        );
    }

    #[test]
    fn maps_paths_to_public_names() {
        for (from, to) in [
            ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
            ("torch.nn.modules.Linear", "torch.nn.Linear"),
            ("torch.optim.adamw.AdamW", "torch.optim.AdamW"),
            ("torch.optim.AdamW", "torch.optim.AdamW"),
            ("torchvision.ops.boxes.nms", "torchvision.ops.nms"),
            ("torch.Tensor.add", "Tensor.add"),
            ("timm.models.layers.Mlp", "timm.layers.Mlp"),
            ("timm.layers.mlp.Mlp", "timm.layers.Mlp"),
            ("torch.cat", "torch.cat"),
            ("torch.nn.utils.clip_grad.clip_grad_norm_", "torch.nn.utils.clip_grad_norm_"),
            ("torch.nn.functional.relu", "torch.nn.functional.relu"),
        ] {
            assert_eq!(public(from), to);
        }
    }

    #[test]
    fn detects_method_names_shared_with_other_types() {
        assert_eq!(shared("split"), Some(NameSharing::Builtins));
        assert_eq!(shared("reshape"), Some(NameSharing::Arrays));
        assert_eq!(shared("masked_fill_"), Some(NameSharing::TensorOnly));
        assert_eq!(shared("no_such"), None);
    }
}
