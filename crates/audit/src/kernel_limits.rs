//! Limits of a selected kernel: documented data types and chips, AI CPU, and functions that are
//! missing in the selected CANN.

use serde::Serialize;

use base::chip::ChipFamily;

use super::class::SupportClass;
use super::environment::TargetEnvironment;
use super::model::Op;
use super::model::Use;
use crate::ops::Via;
use crate::ops::aclnn::{self, AiCpu};

/// A limit that keeps a kernel from running normally.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Limit {
    /// The CANN documents do not list the data type for an argument.
    Dtype {
        /// The aclnn function.
        function: &'static str,
        /// The argument of the function.
        argument: &'static str,
        /// The data type, in the spelling of the documents.
        dtype: String,
        /// The documented data types.
        allowed: Vec<&'static str>,
        /// The CANN release of the documents.
        release: &'static str,
    },
    /// The CANN documents do not list the chip.
    Chip {
        /// The aclnn function.
        function: &'static str,
        /// The documented processors.
        allowed: Vec<&'static str>,
        /// The CANN release of the documents.
        release: &'static str,
    },
    /// The kernel runs on AI CPU for this data type, or for all if there is none.
    AiCpu {
        /// The data type.
        #[serde(skip_serializing_if = "Option::is_none")]
        dtype: Option<String>,
    },
    /// The selected CANN has none of the functions that the kernel calls.
    Missing {
        /// The functions.
        functions: Vec<&'static str>,
        /// Whether an operator of the graph engine is compiled instead.
        graph: bool,
    },
}

impl Limit {
    /// Returns the class of an operator with this limit.
    pub fn class(&self) -> SupportClass {
        match self {
            Self::Dtype { .. } | Self::Chip { .. } => SupportClass::Restricted,
            Self::AiCpu { .. } => SupportClass::AiCpu,
            Self::Missing { .. } => SupportClass::NeedsCann,
        }
    }
}

/// Returns the most severe limit of an overload that has a kernel. A limit counts only if it holds
/// for every function that the kernel may call.
pub fn limit(op: &Op, via: Via, used: &Use, against: TargetEnvironment<'_>) -> Option<Limit> {
    let overload = op.schema();
    let functions = aclnn::functions(&overload);
    // Chips before 910B prefer operators of the graph engine, which have other limits.
    let old = matches!(
        against.chip,
        Some(ChipFamily::A310 | ChipFamily::A910 | ChipFamily::A310P | ChipFamily::A310B)
    );
    let by_aclnn = via.aclnn && !(old && via.aclop);
    if by_aclnn && !functions.is_empty() {
        let missing =
            |name: &&'static str| against.cann.and_then(|cann| cann.has(name)) == Some(false);
        if functions.iter().all(missing) {
            let functions = functions.to_vec();
            return Some(Limit::Missing { functions, graph: via.aclop });
        }
        // On the chips that torch_npu primarily supports, kernels work beyond the documents:
        // `bucketize` calls a function that is documented for 950 only, yet it has long run on
        // 910B.
        let chip = against.chip.filter(|_| old);
        if let Some(limit) = chip_limit(functions, chip) {
            return Some(limit);
        }
    }
    let types = types(used, against.dtype);
    if by_aclnn {
        for (argument, dtype) in &types {
            if let Some(limit) = dtype_limit(functions, argument, aclnn::short(dtype)) {
                return Some(limit);
            }
        }
    }
    match aclnn::ai_cpu(&overload)? {
        AiCpu::Only => Some(Limit::AiCpu { dtype: None }),
        AiCpu::Except(fast) => {
            // With several tensors, this one selects the kernel.
            let (_, dtype) = types.iter().find(|(name, _)| name == "self" || name == "input")?;
            let dtype = aclnn::short(dtype);
            // Other types may be converted first: the exponential of int64 is computed in fp32.
            let kept = ["fp64", "complex64", "complex128"].contains(&dtype);
            (kept && !fast.contains(&dtype)).then(|| Limit::AiCpu { dtype: Some(dtype.to_owned()) })
        }
    }
}

/// Returns the data types of the arguments in the input, or else the one that the user named, for
/// the first argument.
fn types(used: &Use, asked: Option<&str>) -> Vec<(String, String)> {
    if used.types.is_empty() {
        return asked.map(|dtype| ("self".to_owned(), dtype.to_owned())).into_iter().collect();
    }
    let all = used.types.iter();
    all.flat_map(|(name, types)| types.iter().map(|dtype| (name.clone(), (*dtype).to_owned())))
        .collect()
}

fn chip_limit(functions: &'static [&'static str], chip: Option<ChipFamily>) -> Option<Limit> {
    let processor = aclnn::processor(chip?)?;
    let mut first = None;
    for function in functions {
        let doc = aclnn::doc(function)?;
        if doc.processors.is_empty() || doc.processors.contains(&processor) {
            return None;
        }
        first.get_or_insert(Limit::Chip {
            function,
            allowed: doc.processors.clone(),
            release: doc.release,
        });
    }
    first
}

fn dtype_limit(functions: &'static [&'static str], argument: &str, dtype: &str) -> Option<Limit> {
    let mut first = None;
    for function in functions {
        let doc = aclnn::doc(function)?;
        // Some documents use another name for the same argument; no limit is reported then.
        let (name, allowed) = doc.arguments.iter().find(|(name, _)| *name == argument)?;
        if allowed.contains(&dtype) {
            return None;
        }
        first.get_or_insert(Limit::Dtype {
            function,
            argument: name,
            dtype: dtype.to_owned(),
            allowed: allowed.clone(),
            release: doc.release,
        });
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::CannFunctions;
    use crate::ops::dispatch::{Registrations as _, Shipped};
    use crate::ops::{Tables, Target};

    struct Old;

    impl CannFunctions for Old {
        fn has(&self, function: &str) -> Option<bool> {
            Some(function == "aclnnAdd" || function == "aclnnAdds")
        }
    }

    fn of(
        op: &str,
        types: &[(&str, &'static str)],
        chip: Option<ChipFamily>,
        cann: Option<&dyn CannFunctions>,
    ) -> Option<Limit> {
        let tables = Tables::get();
        let target = Target::find(tables, "2.9.0").unwrap();
        let registered = &Shipped { tables, target: &target };
        let against =
            TargetEnvironment { registered, tables, target: &target, chip, cann, dtype: None };
        let op = Op::parse(op, true).unwrap();
        let via = registered.kernel(&op.schema()).unwrap();
        let mut used = Use::default();
        for (name, dtype) in types {
            used.types.entry((*name).to_owned()).or_default().insert(*dtype);
        }
        limit(&op, via, &used, against)
    }

    #[test]
    fn reports_undocumented_data_types() {
        // huggingface/diffusers#10428: aclnnRepeatInterleaveIntWithDim and DT_DOUBLE.
        let limit = of("repeat_interleave.self_int", &[("self", "float64")], None, None);
        assert!(
            matches!(&limit, Some(Limit::Dtype { dtype, allowed, .. }) if dtype == "fp64" && allowed.contains(&"fp32")),
            "{limit:?}"
        );
        assert_eq!(of("repeat_interleave.self_int", &[("self", "float32")], None, None), None);
        assert_eq!(
            of("add.Tensor", &[("self", "float16"), ("other", "float16")], None, None),
            None
        );
    }

    #[test]
    fn reports_ai_cpu_by_data_type() {
        assert_eq!(of("inverse", &[], None, None), Some(Limit::AiCpu { dtype: None }));
        let double = Some(Limit::AiCpu { dtype: Some("fp64".to_owned()) });
        assert_eq!(of("exp", &[("self", "float64")], None, None), double);
        for dtype in ["float32", "bfloat16", "int64"] {
            assert_eq!(of("exp", &[("self", dtype)], None, None), None, "{dtype}");
        }
        assert_eq!(of("abs", &[], None, None), None);
    }

    #[test]
    fn reports_missing_cann_functions() {
        let old: Option<&dyn CannFunctions> = Some(&Old);
        assert_eq!(of("add.Tensor", &[], None, old), None);
        let limit = of("abs", &[], Some(ChipFamily::A910B), old);
        assert_eq!(limit, Some(Limit::Missing { functions: vec!["aclnnAbs"], graph: true }));
        // The graph engine comes first on this chip, so aclnn is not needed.
        assert_eq!(of("abs", &[], Some(ChipFamily::A910), old), None);
    }
}
