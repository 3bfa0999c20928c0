//! How PyTorch chooses what runs for an overload on an NPU.
//!
//! In the order of the dispatcher (aten/src/ATen/core/dispatch, torchgen; torch_npu's
//! `VariableFallbackKernel.cpp`):
//!
//! 1. torch_npu has registered a kernel: it runs.
//! 2. The overload is generated from another one, or has a kernel composed of other operators:
//!    that runs, and each operator that it calls is chosen in the same way.
//! 3. Otherwise the fallback of torch_npu for all operators runs: it copies the tensors to the
//!    host, runs the kernel of the CPU, and copies the results back. Where there is no kernel for
//!    the CPU either, it raises an error.
//!
//! That a kernel is chosen does not say that it accepts the data types and shapes at hand.

use std::collections::BTreeMap;

use super::tables::{Native, Tables};
use super::target::Target;

/// How deep operators made of operators are followed.
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
    /// The flags of `data/ops/kernels.tsv`.
    pub(super) fn of(flags: &str) -> Self {
        let has = |flag| flags.contains(flag);
        Self { aclnn: has('N'), aclop: has('L'), own: has('T') }
    }
}

/// What the dispatcher chooses for an overload.
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
    /// The fallback, and no kernel for the CPU either: an error.
    NoKernel,
}

impl Class {
    /// The letter of the fact tables.
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

/// What becomes of an operator, when all that it is made of has been followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A kernel of torch_npu runs.
    Native(Via),
    /// It is made of other operators. Whether each of them is known to have a kernel.
    Decomposed {
        /// The operators that are known to run in its place.
        into: Vec<String>,
        /// The tables know them all.
        whole: bool,
    },
    /// This overload, itself or one that it is made of, falls back to the CPU.
    Fallback(String),
    /// This overload, itself or one that it is made of, has no kernel at all.
    NoKernel(String),
    /// The tables do not have this overload.
    Unknown,
}

impl Outcome {
    /// The graver, the greater.
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

/// What is registered: by torch_npu, and by PyTorch for every device.
pub trait Registrations: Sync {
    /// The kernel of torch_npu for the overload, without `aten::`.
    fn kernel(&self, overload: &str) -> Option<Via>;
    /// How PyTorch would run it without one.
    fn native(&self, overload: &str) -> Option<Native<'_>>;
    /// The overloads that a composed one is known to call.
    fn parts(&self, overload: &str) -> Vec<String>;
    /// Whether there is an operator `npu::name`. Nothing for a name that no torch_npu is known to
    /// have.
    fn custom(&self, name: &str) -> Option<bool>;
    /// The overloads of aten of this base name, in the order of their names.
    fn overloads(&self, base: &str) -> Vec<String>;
    /// The operators `npu::` of this base name, with any overload.
    fn custom_overloads(&self, base: &str) -> Vec<String>;

    /// What the dispatcher chooses. Nothing for an overload that neither has.
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

    /// What becomes of an overload.
    fn outcome(&self, overload: &str) -> Outcome {
        follow(self, overload, &mut BTreeMap::new(), DEPTH)
    }
}

/// As [`Registrations::outcome`]. `seen` holds what was followed before, and nothing of what is being
/// followed.
fn follow<R: Registrations + ?Sized>(
    all: &R,
    overload: &str,
    seen: &mut BTreeMap<String, Option<Outcome>>,
    depth: usize,
) -> Outcome {
    // What calls itself by way of others is not known to end anywhere.
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
    let parts = all.parts(overload);
    // The samples reach nothing else: it changes how a tensor is seen, and computes nothing.
    if parts == [overload] {
        return Outcome::Decomposed { into: Vec::new(), whole: true };
    }
    let mut worst: Option<Outcome> = None;
    for part in parts.iter().filter(|part| *part != overload) {
        let outcome = match follow(all, part, seen, depth - 1) {
            // What this one is made of is among the parts too: they are all that was reached.
            Outcome::Decomposed { into, whole: false } if into.is_empty() => {
                Outcome::Decomposed { into, whole: true }
            }
            other => other,
        };
        if worst.as_ref().is_none_or(|worst| outcome.rank() > worst.rank()) {
            worst = Some(outcome);
        }
    }
    match worst {
        Some(bad @ (Outcome::Fallback(_) | Outcome::NoKernel(_))) => bad,
        Some(Outcome::Native(_) | Outcome::Decomposed { whole: true, .. }) => {
            Outcome::Decomposed { into: parts, whole: true }
        }
        Some(_) => Outcome::Decomposed { into: parts, whole: false },
        None => Outcome::Decomposed { into: Vec::new(), whole: false },
    }
}

/// The tables of the program, at one target.
#[derive(Debug, Clone, Copy)]
pub struct Shipped<'a> {
    /// All tables.
    pub tables: &'a Tables,
    /// The column and the PyTorch.
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

/// What an overload that is composed of others calls in every case, from the samples of the API of
/// the same name.
pub(crate) fn known_parts(overload: &str) -> Vec<String> {
    let base = overload.split('.').next().unwrap_or(overload);
    // In place and plain, an operator is composed of the same ones; its name may say which
    // module of torch it belongs to.
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

    /// Facts that the documents name, each by another way.
    #[test]
    fn known_operators_end_where_they_end() {
        assert!(matches!(outcome("2.9.0", "add.Tensor"), Outcome::Native(Via { aclnn: true, .. })));
        assert_eq!(outcome("2.9.0", "mode"), Outcome::Fallback("mode".into()));
        // A generated wrapper around an overload that falls back.
        assert_eq!(outcome("2.9.0", "lgamma"), Outcome::Fallback("lgamma.out".into()));
        // A kernel was there in 7.1 and is gone since 7.2.
        assert!(matches!(outcome("2.6.0", "ctc_loss.Tensor"), Outcome::Native(_)));
        assert!(!matches!(outcome("2.6.0.post5", "ctc_loss.Tensor"), Outcome::Native(_)));
        // linalg.inv is composed, and what it is made of falls back; inverse has a kernel.
        assert_eq!(
            outcome("2.9.0", "linalg_inv"),
            Outcome::Fallback("linalg_inv_ex.inverse".into())
        );
        assert!(matches!(outcome("2.9.0", "inverse"), Outcome::Native(_)));
        assert!(
            matches!(outcome("2.9.0", "einsum"), Outcome::Decomposed { whole: true, ref into } if into.contains(&"bmm".to_owned()))
        );
        assert!(matches!(
            outcome("2.9.0", "transpose.int"),
            Outcome::Decomposed { whole: true, .. }
        ));
        assert_eq!(outcome("2.9.0", "no_such_op"), Outcome::Unknown);
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
