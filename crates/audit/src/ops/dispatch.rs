//! How PyTorch selects the implementation of an overload on an NPU.
//!
//! In the order of the dispatcher (aten/src/ATen/core/dispatch, torchgen; torch_npu's
//! `VariableFallbackKernel.cpp`):
//!
//! 1. torch_npu has registered a kernel: it runs.
//! 2. The overload is generated from another one, or has a kernel composed of other operators: that
//!    kernel runs, and each operator that it calls is dispatched in the same way.
//! 3. Otherwise torch_npu's fallback for all operators runs: it copies the tensors to the host,
//!    runs the CPU kernel, and copies the results back. Without a CPU kernel, it raises an error.
//!
//! A selected kernel may still reject the actual data types and shapes.

use std::collections::BTreeMap;

use super::composites;
use super::tables::{Native, Tables};
use super::target::Target;

/// The maximum nesting depth of composed operators that is followed.
const DEPTH: usize = 8;

/// How a kernel of torch_npu reaches the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Via {
    /// It calls a function of CANN's aclnn.
    pub aclnn: bool,
    /// It compiles and runs a single operator of the graph engine.
    pub aclop: bool,
    /// It is part of torch_npu itself.
    pub own: bool,
}

impl Via {
    /// Parses the flags of `data/ops/kernels.tsv`.
    pub(super) fn of(flags: &str) -> Self {
        let has = |flag| flags.contains(flag);
        Self { aclnn: has('N'), aclop: has('L'), own: has('T') }
    }
}

/// The choice of the dispatcher for an overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A kernel of torch_npu.
    Kernel(Via),
    /// A kernel composed of other operators that PyTorch registers or generates for all devices.
    Explicit,
    /// A composition that PyTorch differentiates through.
    Implicit,
    /// The fallback to the CPU.
    Fallback,
    /// The fallback without a CPU kernel: an error.
    NoKernel,
}

impl Class {
    /// Returns the letter in the fact tables.
    pub fn letter(self) -> char {
        match self {
            Self::Kernel(_) => 'K',
            Self::Explicit => 'E',
            Self::Implicit => 'C',
            Self::Fallback => 'F',
            Self::NoKernel => 'X',
        }
    }
}

/// The result of an operator after all of its components have been followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A kernel of torch_npu runs.
    Native(Via),
    /// The operator is composed of other operators.
    Decomposed {
        /// The operators that are known to run in its place.
        into: Vec<String>,
        /// Whether the tables have all of its operators.
        whole: bool,
    },
    /// This overload, which is the operator itself or one of its components, falls back to the CPU.
    Fallback(String),
    /// This overload, which is the operator itself or one of its components, has no kernel.
    NoKernel(String),
    /// The tables do not have this overload.
    Unknown,
}

impl Outcome {
    /// Returns the severity; a worse outcome has a larger number.
    fn rank(&self) -> u8 {
        match self {
            Self::Native(_) => 0,
            Self::Decomposed { whole: true, .. } => 1,
            Self::Unknown => 2,
            Self::Decomposed { whole: false, .. } => 3,
            Self::Fallback(_) => 4,
            Self::NoKernel(_) => 5,
        }
    }
}

/// The registrations of torch_npu, and those of PyTorch for every device.
pub trait Registrations: Sync {
    /// Returns the kernel of torch_npu for the overload, named without `aten::`.
    fn kernel(&self, overload: &str) -> Option<Via>;
    /// Returns how PyTorch runs the overload without a torch_npu kernel.
    fn native(&self, overload: &str) -> Option<Native<'_>>;
    /// Returns the overloads that a composed one is known to call.
    fn parts(&self, overload: &str) -> Vec<String>;
    /// Returns whether there is an operator `npu::name`; `None` for a name that no torch_npu is
    /// known to have.
    fn custom(&self, name: &str) -> Option<bool>;
    /// Returns the aten overloads with this base name, sorted by name.
    fn overloads(&self, base: &str) -> Vec<String>;
    /// Returns the `npu::` operators with this base name and any overload.
    fn custom_overloads(&self, base: &str) -> Vec<String>;

    /// Returns the choice of the dispatcher; `None` for an overload that is in neither
    /// registration.
    fn class(&self, overload: &str) -> Option<Class> {
        if let Some(via) = self.kernel(overload) {
            return Some(Class::Kernel(via));
        }
        let flags = self.native(overload)?.flags;
        let has = |flag| flags.contains(flag);
        Some(if has('d') || has('a') || has('E') || has('N') {
            Class::Explicit
        } else if has('C') {
            Class::Implicit
        } else if has('c') {
            Class::Fallback
        } else {
            Class::NoKernel
        })
    }

    /// Returns the outcome of an overload.
    fn outcome(&self, overload: &str) -> Outcome {
        follow(self, overload, &mut BTreeMap::new(), DEPTH)
    }
}

/// Implements [`Registrations::outcome`]. `seen` maps overloads to their outcomes; `None` marks an
/// overload that is being followed.
fn follow<R: Registrations + ?Sized>(
    all: &R,
    overload: &str,
    seen: &mut BTreeMap<String, Option<Outcome>>,
    depth: usize,
) -> Outcome {
    // Recursion through other operators has no known outcome.
    let endless = || Outcome::Decomposed { into: vec![overload.to_owned()], whole: false };
    match seen.get(overload) {
        Some(Some(outcome)) => return outcome.clone(),
        Some(None) => return endless(),
        None if depth == 0 => return endless(),
        None => {}
    }
    seen.insert(overload.to_owned(), None);
    let outcome = step(all, overload, seen, depth);
    seen.insert(overload.to_owned(), Some(outcome.clone()));
    outcome
}

fn step<R: Registrations + ?Sized>(
    all: &R,
    overload: &str,
    seen: &mut BTreeMap<String, Option<Outcome>>,
    depth: usize,
) -> Outcome {
    let Some(class) = all.class(overload) else { return Outcome::Unknown };
    match class {
        Class::Kernel(via) => return Outcome::Native(via),
        Class::Fallback => return Outcome::Fallback(overload.to_owned()),
        Class::NoKernel => return Outcome::NoKernel(overload.to_owned()),
        Class::Explicit | Class::Implicit => {}
    }
    let native = all.native(overload);
    // A structured operator is a wrapper around the overload that it delegates to.
    if let Some(Native { source: Some(source), flags }) = native
        && (flags.contains('d') || flags.contains('a'))
    {
        return match follow(all, source, seen, depth - 1) {
            Outcome::Native(_) => {
                Outcome::Decomposed { into: vec![source.to_owned()], whole: true }
            }
            other => other,
        };
    }
    let mut parts = all.parts(overload);
    if parts.is_empty() {
        parts.extend(of_each(all, overload));
    }
    // The samples reach no other operator, so this one only changes the view of a tensor and
    // computes nothing.
    if parts == [overload] {
        return Outcome::Decomposed { into: Vec::new(), whole: true };
    }
    let optional = composites::body(overload);
    let mut worst: Option<Outcome> = None;
    for part in parts.iter().filter(|part| *part != overload) {
        let outcome = match follow(all, part, seen, depth - 1) {
            // The samples also contain the components of this part, so the parts are complete.
            Outcome::Decomposed { into, whole: false } if into.is_empty() => {
                Outcome::Decomposed { into, whole: true }
            }
            other => other,
        };
        if worst.as_ref().is_none_or(|worst| outcome.rank() > worst.rank()) {
            worst = Some(outcome);
        }
    }
    // The arguments that lead to a fallback are unknown.
    let may_fail = optional.into_iter().flat_map(composites::Body::sometimes).any(|part| {
        matches!(follow(all, part, seen, depth - 1), Outcome::Fallback(_) | Outcome::NoKernel(_))
    });
    match worst {
        Some(bad @ (Outcome::Fallback(_) | Outcome::NoKernel(_))) => bad,
        Some(Outcome::Native(_) | Outcome::Decomposed { whole: true, .. }) if !may_fail => {
            Outcome::Decomposed { into: parts, whole: true }
        }
        Some(_) => Outcome::Decomposed { into: parts, whole: false },
        None if optional.is_some() && !may_fail => {
            Outcome::Decomposed { into: Vec::new(), whole: true }
        }
        None => Outcome::Decomposed { into: Vec::new(), whole: false },
    }
}

/// Returns the operator that an operator on lists calls for each tensor if no kernel takes the
/// list: the operator of the same name (`foreach_tensor_…_slow` in
/// aten/src/ATen/native/ForeachOpsKernels.cpp).
fn of_each<R: Registrations + ?Sized>(all: &R, overload: &str) -> Option<String> {
    let rest = overload.strip_prefix("_foreach_")?;
    let (base, list) = rest.split_once('.').unwrap_or((rest, ""));
    let one = match list {
        "List" | "Tensor" => "Tensor",
        "Scalar" | "ScalarList" => "Scalar",
        "" => "",
        _ => return None,
    };
    let names = [format!("{base}.{one}"), format!("{base}.Tensor_{one}"), base.to_owned()];
    names.into_iter().find(|name| all.class(name).is_some())
}

/// The built-in tables at one target.
#[derive(Debug, Clone, Copy)]
pub struct Shipped<'a> {
    /// All tables.
    pub tables: &'a Tables,
    /// The torch_npu column and the PyTorch version.
    pub target: &'a Target,
}

impl Registrations for Shipped<'_> {
    fn kernel(&self, overload: &str) -> Option<Via> {
        self.tables.kernel(overload)?.at(self.target.column).map(Via::of)
    }

    fn native(&self, overload: &str) -> Option<Native<'_>> {
        self.tables.native(overload, self.target.torch)
    }

    fn parts(&self, overload: &str) -> Vec<String> {
        known_parts(overload)
    }

    fn custom(&self, name: &str) -> Option<bool> {
        self.tables.custom(name).map(|runs| runs.at(self.target.column).is_some())
    }

    fn overloads(&self, base: &str) -> Vec<String> {
        self.tables.overloads(base).into_iter().map(str::to_owned).collect()
    }

    fn custom_overloads(&self, base: &str) -> Vec<String> {
        self.tables.custom_overloads(base).into_iter().map(str::to_owned).collect()
    }
}

/// Returns the overloads that a composed overload always calls: its recorded body, or else the
/// samples of the API of the same name.
pub(crate) fn known_parts(overload: &str) -> Vec<String> {
    if let Some(body) = composites::body(overload) {
        return body.always().map(str::to_owned).collect();
    }
    let base = overload.split('.').next().unwrap_or(overload);
    // An operator and its in-place variant have the same components. The name may contain the torch
    // module of the operator.
    let plain = base.strip_suffix('_').filter(|name| !name.ends_with('_')).unwrap_or(base);
    let mut names = vec![plain.to_owned(), format!("nn.functional.{plain}")];
    for module in ["linalg", "fft", "special"] {
        if let Some(rest) = plain.strip_prefix(module).and_then(|rest| rest.strip_prefix('_')) {
            names.push(format!("{module}.{rest}"));
        }
    }
    let api = names.iter().find_map(|name| Tables::api(name));
    api.map_or_else(Vec::new, |api| api.always.iter().map(|name| (*name).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(version: &str) -> Target {
        Target::find(Tables::get(), version).unwrap()
    }

    fn outcome(version: &str, overload: &str) -> Outcome {
        let target = at(version);
        Shipped { tables: Tables::get(), target: &target }.outcome(overload)
    }

    /// Documented outcomes, each reached in a different way.
    #[test]
    fn known_operators_end_where_they_end() {
        assert!(matches!(outcome("2.9.0", "add.Tensor"), Outcome::Native(Via { aclnn: true, .. })));
        assert_eq!(outcome("2.9.0", "mode"), Outcome::Fallback("mode".into()));
        // A generated wrapper around an overload that falls back.
        assert_eq!(outcome("2.9.0", "lgamma"), Outcome::Fallback("lgamma.out".into()));
        // A kernel was there in 7.1 and is gone since 7.2.
        assert!(matches!(outcome("2.6.0", "ctc_loss.Tensor"), Outcome::Native(_)));
        assert!(!matches!(outcome("2.6.0.post5", "ctc_loss.Tensor"), Outcome::Native(_)));
        // linalg.inv is composed and has a component that falls back; inverse has a kernel.
        assert_eq!(
            outcome("2.9.0", "linalg_inv"),
            Outcome::Fallback("linalg_inv_ex.inverse".into())
        );
        assert!(matches!(outcome("2.9.0", "inverse"), Outcome::Native(_)));
        assert!(matches!(outcome("2.9.0", "einsum"), Outcome::Decomposed { whole: true, .. }));
        assert!(matches!(
            outcome("2.9.0", "transpose.int"),
            Outcome::Decomposed { whole: true, .. }
        ));
        assert_eq!(outcome("2.9.0", "no_such_op"), Outcome::Unknown);
    }

    /// The body of a composite matters only in releases that do not register the composite.
    #[test]
    fn bodies_are_followed_where_nothing_is_registered_above_them() {
        let falls = |version: &str, name: &str| match outcome(version, name) {
            Outcome::Fallback(leaf) => Some(leaf),
            _ => None,
        };
        assert_eq!(falls("2.9.0", "linalg_cholesky").as_deref(), Some("linalg_cholesky_ex.L"));
        for name in ["max.other", "min.other", "numpy_T", "combinations"] {
            let whole = matches!(outcome("2.9.0", name), Outcome::Decomposed { whole: true, .. });
            assert!(whole, "{name}: {:?}", outcome("2.9.0", name));
        }
    }

    #[test]
    fn operators_on_lists_are_those_on_each_tensor() {
        for name in ["_foreach_mul_.Scalar", "_foreach_add_.List", "_foreach_lerp_.Scalar"] {
            let whole = matches!(
                outcome("2.9.0", name),
                Outcome::Native(_) | Outcome::Decomposed { whole: true, .. }
            );
            assert!(whole, "{name}: {:?}", outcome("2.9.0", name));
        }
    }

    struct Loop;

    impl Registrations for Loop {
        fn kernel(&self, _: &str) -> Option<Via> {
            None
        }
        fn native(&self, _: &str) -> Option<Native<'_>> {
            Some(Native { source: None, flags: "C" })
        }
        fn parts(&self, overload: &str) -> Vec<String> {
            vec![if overload == "a" { "b" } else { "a" }.to_owned()]
        }
        fn custom(&self, _: &str) -> Option<bool> {
            None
        }
        fn overloads(&self, _: &str) -> Vec<String> {
            Vec::new()
        }
        fn custom_overloads(&self, _: &str) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn what_calls_itself_ends() {
        assert!(matches!(Loop.outcome("a"), Outcome::Decomposed { whole: false, .. }));
    }
}
