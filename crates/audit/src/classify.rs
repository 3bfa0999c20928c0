//! Classifies the operators of an input for one torch_npu, chip and CANN.

use rayon::prelude::*;
use serde::Serialize;

use base::chip::ChipFamily;

use super::class::SupportClass;
use super::environment::TargetEnvironment;
use super::kernel_limits::{Limit, limit};
use super::model::{Format, Model, Op, Use};
use crate::ops::libraries::{self, Behaviour};
use crate::ops::{Outcome, Via, aclnn, host, onnx};

/// Up to this number of operators, one thread classifies them faster than it takes to start others.
const SEQUENTIAL_LIMIT: usize = 200;

/// An operator with its class and the reasons for it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassifiedOperator {
    /// The operator as the input names it.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub op: Op,
    /// Its class.
    pub class: SupportClass,
    /// The overloads that determine the class, with namespace, if they differ from the operator
    /// itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// The limit that keeps its kernel from running normally.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// For an operator without a named overload: the overload with an empty name, which is called
    /// unless further arguments are given, runs on the device.
    #[serde(skip)]
    pub default_runs: bool,
    /// The number of uses and their places.
    #[serde(flatten)]
    pub used: Use,
}

fn as_text<S: serde::Serializer>(op: &Op, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(op)
}

/// Unpacks the tables that most operators need.
pub fn prepare() {
    let (_, _) = (aclnn::functions(""), aclnn::ai_cpu(""));
}

/// Classifies every operator of an input, except those that a trace shows only inside other
/// operators.
pub fn classify(model: &Model, against: TargetEnvironment<'_>) -> Vec<ClassifiedOperator> {
    let uses: Vec<(&Op, &Use)> =
        model.uses.iter().filter(|(_, used)| used.inside < used.count).collect();
    let judged = |(op, used): (&Op, &Use)| {
        let (mut class, through) = if model.format == Format::Onnx {
            (classify_onnx(op, model.opsets.get(&op.namespace).copied()), Vec::new())
        } else {
            classify_operator(op, against)
        };
        let limit = limit_of(op, class, used, against);
        class = limit.as_ref().map_or(class, Limit::class);
        if used.fell_back > 0 && class < SupportClass::Fallback {
            // For an operator that is in no table, the recording is the only evidence.
            let known = class != SupportClass::Unknown;
            class = if known { SupportClass::Observed } else { SupportClass::Fallback };
        }
        let default_runs = class == SupportClass::Depends
            && op.namespace == "aten"
            && classify_overload(&op.name, against).0 <= SupportClass::Composed;
        let (class, through) = downgrade_unlikely(class, through, op, used);
        ClassifiedOperator {
            op: op.clone(),
            class,
            through,
            limit,
            default_runs,
            used: used.clone(),
        }
    };
    let mut all: Vec<ClassifiedOperator> = if uses.len() < SEQUENTIAL_LIMIT {
        uses.into_iter().map(judged).collect()
    } else {
        uses.into_par_iter().map(judged).collect()
    };
    all.sort_by(|a, b| {
        b.class.cmp(&a.class).then(b.used.count.cmp(&a.used.count)).then(a.op.cmp(&b.op))
    });
    all
}

/// Returns the limit that keeps the kernel of an operator from running normally.
fn limit_of(
    op: &Op,
    class: SupportClass,
    used: &Use,
    against: TargetEnvironment<'_>,
) -> Option<Limit> {
    if class != SupportClass::Native || op.namespace != "aten" || op.overload.is_none() {
        return None;
    }
    limit(op, against.registered.kernel(&op.schema())?, used, against)
}

/// Lowers the class of operators that only some arguments reach, or that run only while a model is
/// built: they may never fail.
fn downgrade_unlikely(
    class: SupportClass,
    through: Vec<String>,
    op: &Op,
    used: &Use,
) -> (SupportClass, Vec<String>) {
    if class < SupportClass::Fallback
        || used.maybe + used.setup < used.count
        || used.maybe + used.setup == 0
    {
        return (class, through);
    }
    let through = if through.is_empty() { vec![op.to_string()] } else { through };
    (if used.maybe == 0 { SupportClass::Setup } else { SupportClass::Depends }, through)
}

/// Returns the class of an operator without regard to its arguments.
pub(crate) fn class_of(op: &Op, against: TargetEnvironment<'_>) -> SupportClass {
    classify_operator(op, against).0
}

fn classify_operator(op: &Op, against: TargetEnvironment<'_>) -> (SupportClass, Vec<String>) {
    let registered = against.registered;
    match op.namespace.as_str() {
        "aten" => {}
        // These names come from warnings of torch_npu that report a kernel on AI CPU.
        "kernel" => return (SupportClass::AiCpu, Vec::new()),
        "npu" => {
            // Without an overload name, any overload of the operator counts.
            let names = if op.overload.is_some() {
                vec![op.schema()]
            } else {
                registered.custom_overloads(&op.name)
            };
            let there = names.iter().filter_map(|name| registered.custom(name)).max();
            let class = match there {
                Some(true) => SupportClass::Native,
                Some(false) => SupportClass::Unsupported,
                None => SupportClass::Unknown,
            };
            return (class, Vec::new());
        }
        _ => return (classify_library_operator(op, against), Vec::new()),
    }
    if op.overload.is_some() {
        return classify_overload(&op.schema(), against);
    }
    // The overload is unknown. Overloads that write into a given tensor are excluded.
    let overloads = registered.overloads(&op.name).into_iter().filter(|name| !writes_into(name));
    let all: Vec<(SupportClass, Vec<String>)> = overloads
        .map(|name| {
            let (class, mut through) = classify_overload(&name, against);
            if through.is_empty() {
                through.push(format!("aten::{name}"));
            }
            (class, through)
        })
        .filter(|(class, _)| *class != SupportClass::Unknown)
        .collect();
    let (Some(best), Some(worst)) =
        (all.iter().map(|(class, _)| *class).min(), all.iter().map(|(class, _)| *class).max())
    else {
        return (SupportClass::Unknown, Vec::new());
    };
    let class = if worst >= SupportClass::Fallback && best < SupportClass::Fallback {
        SupportClass::Depends
    } else if worst == SupportClass::PartlyKnown {
        // The overload with an empty name is called unless further arguments are given.
        match classify_overload(&op.name, against).0 {
            usual if usual <= SupportClass::Composed => usual.max(SupportClass::Composed),
            _ => worst,
        }
    } else {
        worst
    };
    let mut through: Vec<String> = if worst >= SupportClass::Host {
        all.into_iter()
            .filter(|(each, _)| *each == worst)
            .flat_map(|(_, through)| through)
            .collect()
    } else {
        Vec::new()
    };
    through.sort_unstable();
    through.dedup();
    (class, through)
}

/// Returns the class of an operator of another library.
fn classify_library_operator(op: &Op, against: TargetEnvironment<'_>) -> SupportClass {
    let name = format!("{}::{}", op.namespace, op.name);
    let Some(known) = libraries::operator(&name) else { return SupportClass::Unknown };
    let torch = against.tables.columns[against.target.column].torch;
    match known.behaviour {
        Behaviour::Native => SupportClass::Native,
        Behaviour::Neutral => SupportClass::PartlyKnown,
        Behaviour::Fallback if libraries::falls_back(torch) => SupportClass::Fallback,
        Behaviour::Fallback | Behaviour::Raises => SupportClass::Unsupported,
    }
}

/// Returns whether an overload writes into a given output, or takes dimension names. Graphs contain
/// neither.
fn writes_into(name: &str) -> bool {
    let Some((_, overload)) = name.split_once('.') else { return false };
    // In `sort.values`, `max.dim_max` and `tanh_backward.grad_input` the overload names an output.
    ["out", "values", "dim_max", "dim_min", "grad_input"].contains(&overload)
        || ["_out", "_values"].iter().any(|end| overload.ends_with(end))
        || overload.to_ascii_lowercase().contains("dimname")
}

/// Returns the class of one overload, and the overload that decides it.
fn classify_overload(name: &str, against: TargetEnvironment<'_>) -> (SupportClass, Vec<String>) {
    let release = against.tables.release_of(&against.tables.columns[against.target.column]);
    let through = |leaf: &str| {
        if leaf == name { Vec::new() } else { vec![format!("aten::{leaf}")] }
    };
    match against.registered.outcome(name) {
        Outcome::Native(via) if is_refused(via, against.chip) => {
            (SupportClass::Unsupported, Vec::new())
        }
        Outcome::Native(_) if host::always(name, release) => (SupportClass::Host, Vec::new()),
        Outcome::Native(_) => (SupportClass::Native, Vec::new()),
        Outcome::Decomposed { whole: true, .. } => (SupportClass::Composed, Vec::new()),
        Outcome::Decomposed { whole: false, .. } => (SupportClass::PartlyKnown, Vec::new()),
        Outcome::Fallback(leaf) => (SupportClass::Fallback, through(&leaf)),
        Outcome::NoKernel(leaf) => (SupportClass::Unsupported, through(&leaf)),
        Outcome::Unknown => (SupportClass::Unknown, Vec::new()),
    }
}

/// Returns the class of an ONNX operator for the opset of its domain.
fn classify_onnx(op: &Op, opset: Option<i64>) -> SupportClass {
    let own = op.namespace == "onnx";
    let name = if own { op.name.clone() } else { format!("{}::{}", op.namespace, op.name) };
    match (onnx::opsets(&name), opset) {
        // The parser looks up the exact opset of the model.
        (_, Some(opset)) if own && onnx::is_refused(&op.name, opset) => SupportClass::Unsupported,
        // The support of operators newer than the tables is unknown. An operator of another domain
        // needs a plug-in, which may be installed.
        (None, Some(opset)) if own && opset <= onnx::newest() => SupportClass::Unsupported,
        (_, Some(opset)) if own && opset > onnx::NEWEST_READ && !onnx::is_built_in(&op.name) => {
            SupportClass::Unknown
        }
        (Some(_), _) if own && onnx::is_built_in(&op.name) => SupportClass::Native,
        (None, _) => SupportClass::Unknown,
        (Some((first, last)), Some(opset)) if own && !(first..=last).contains(&opset) => {
            SupportClass::PartlyKnown
        }
        (Some(_), _) => SupportClass::Native,
    }
}

/// Returns whether torch_npu rejects an operator of the graph engine because the chip supports only
/// aclnn (`IsAclnnOnly` of torch_npu).
fn is_refused(via: Via, chip: Option<ChipFamily>) -> bool {
    chip == Some(ChipFamily::A950) && via.aclop && !via.aclnn && !via.own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::dispatch::{Registrations as _, Shipped};
    use crate::ops::{Tables, Target};

    fn class(version: &str, op: &str, chip: Option<ChipFamily>) -> (SupportClass, Vec<String>) {
        let tables = Tables::get();
        let target = Target::find(tables, version).unwrap();
        let registered = &Shipped { tables, target: &target };
        let against = TargetEnvironment {
            registered,
            tables,
            target: &target,
            chip,
            cann: None,
            dtype: None,
        };
        classify_operator(&Op::parse(op, false).unwrap(), against)
    }

    #[test]
    fn classifies_operators_by_release_and_chip() {
        assert_eq!(class("2.9.0", "aten::add.Tensor", None).0, SupportClass::Native);
        assert_eq!(class("2.9.0", "aten::mode", None).0, SupportClass::Fallback);
        let (kind, through) = class("2.9.0", "aten::lgamma", None);
        assert_eq!((kind, through), (SupportClass::Fallback, vec!["aten::lgamma.out".to_owned()]));
        assert_eq!(class("2.9.0", "torchvision::nms", None).0, SupportClass::Fallback);
        assert_eq!(class("2.0.1", "torchvision::nms", None).0, SupportClass::Unsupported);
        assert_eq!(class("2.9.0", "torchvision::no_such", None).0, SupportClass::Unknown);
        assert_eq!(class("2.9.0", "_vllm_fa2_C::fwd", None).0, SupportClass::Unknown);
        assert_eq!(class("2.9.0", "npu::npu_rms_norm", None).0, SupportClass::Native);
        assert_eq!(
            class("2.1.0-5.0.0", "npu::npu_swiglu_quant", None).0,
            SupportClass::Unsupported
        );
        assert_eq!(class("2.9.0", "aten::no_such", None).0, SupportClass::Unknown);
        assert_eq!(class("2.9.0", "aten::_pad_packed_sequence", None).0, SupportClass::Host);
    }

    #[test]
    fn the_usual_overload_decides_where_none_fails() {
        assert_eq!(class("2.7.1", "aten::rand", None).0, SupportClass::Composed);
        assert_eq!(class("2.9.0", "aten::mm", None).0, SupportClass::Depends);
    }

    /// A name without an overload is not reported as long as the usual overload has a kernel.
    #[test]
    fn unnamed_overload_is_not_reported_as_fallback() {
        for op in [
            "add",
            "sum",
            "mul",
            "linear",
            "layer_norm",
            "conv2d",
            "to",
            "cat",
            "embedding",
            "scaled_dot_product_attention",
        ] {
            let (kind, through) = class("2.9.0", &format!("aten::{op}"), None);
            assert!(kind < SupportClass::Depends, "{op}: {kind:?} {through:?}");
        }
    }

    #[test]
    fn classifies_onnx_operators_by_opset() {
        let of = |name: &str, opset| {
            let overload = Some(String::new());
            classify_onnx(
                &Op { namespace: "onnx".into(), name: name.into(), overload },
                Some(opset),
            )
        };
        assert_eq!(of("Conv", 17), SupportClass::Native);
        assert_eq!(of("Conv", 20), SupportClass::Unsupported);
        assert_eq!(of("Gelu", 20), SupportClass::Unsupported);
        assert_eq!(of("Constant", 20), SupportClass::Native);
        assert_eq!(of("Conv", 7), SupportClass::PartlyKnown);
        assert_eq!(of("Conv", 99), SupportClass::Unknown);
        assert_eq!(of("NoSuchOperator", 17), SupportClass::Unsupported);
    }

    #[test]
    fn graph_engine_only_kernel_is_unsupported_on_aclnn_only_chip() {
        let tables = Tables::get();
        let target = Target::find(tables, "2.9.0").unwrap();
        let only = tables.columns.len();
        assert!(only > 0);
        let name = "_embedding_bag_per_sample_weights_backward";
        let via = Shipped { tables, target: &target }.kernel(name);
        let refused_there = via.is_some_and(|via| is_refused(via, Some(ChipFamily::A950)));
        let expected = via.is_some_and(|via| via.aclop && !via.aclnn && !via.own);
        assert_eq!(refused_there, expected);
        assert!(!via.is_some_and(|via| is_refused(via, Some(ChipFamily::A910B))));
    }
}
