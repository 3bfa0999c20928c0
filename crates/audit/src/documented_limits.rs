//! Compares the torch_npu documents with the registrations of the APIs that sources call.
//!
//! The documents list tested APIs and contradict the registrations in places. The report contains
//! both, and the registrations decide.

use rayon::prelude::*;
use serde::Serialize;

use base::chip::ChipFamily;
use base::text::Words;

use super::class::SupportClass;
use super::classify::class_of;
use super::environment::TargetEnvironment;
use super::model::{Calls, Model, Op};
use super::place::Place;
use super::python::operators_of;
use crate::ops::aclnn;
use crate::ops::documents::{DocumentedSupport, Documents};

/// A called API with a documented limit.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitedApi {
    /// The name of the API.
    pub api: &'static str,
    /// Whether the documents mark the API as supported.
    pub supported: bool,
    /// The documented data types, by argument; `*` where the documents name no argument.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<(&'static str, Vec<&'static str>)>,
    /// Chips that are missing from the documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_listed: Vec<&'static str>,
    /// Other documented limits, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Words>,
    /// The worst class of its operators, if all of them are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered: Option<SupportClass>,
    /// The differences between documents, registrations and calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<DocumentationPoint>,
    /// The number of calls.
    pub count: u64,
    /// The first places.
    pub places: Vec<Place>,
}

/// The result of comparing documents, registrations and the calls of an API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DocumentationPoint {
    /// Documented as unsupported, without other evidence.
    Unsupported,
    /// Documented as unsupported, but all operators that it calls have kernels.
    Registered,
    /// Documented as unsupported or as a fallback, in agreement with the registrations.
    Agreed,
    /// Documented as a fallback to the CPU, but all operators that it calls have kernels.
    MayFallBack,
    /// The selected chip is not listed.
    Chip,
    /// A data type is not listed for the API.
    Dtype {
        /// The data type.
        dtype: String,
        /// Whether the CANN documents list it for the functions that the kernels call.
        listed_by_cann: bool,
    },
    /// A call passes a value that the documents do not allow.
    Argument {
        /// The argument.
        name: String,
        /// The value in the source.
        value: String,
        /// The allowed values.
        allowed: Vec<&'static str>,
        /// The first places.
        places: Vec<Place>,
    },
}

/// Returns the called APIs of a model that the documents limit.
pub fn limited_apis(
    model: &Model,
    documents: Documents,
    against: TargetEnvironment<'_>,
) -> Vec<LimitedApi> {
    let limited = model.apis.par_iter().filter_map(|(api, calls)| {
        let support = documents.support(api)?;
        let operators = operators_of(api);
        let registered = worst(&operators, against);
        Some(LimitedApi {
            api,
            supported: support.supported,
            dtypes: support.types.clone(),
            not_listed: support.missing.clone(),
            limits: support.limits.iter().map(|word| Words { en: word.en, zh: word.zh }).collect(),
            registered,
            points: points(support, calls, &operators, registered, against),
            count: calls.count,
            places: calls.places.clone(),
        })
    });
    limited.collect()
}

/// Returns the worst class of all operators; `None` if one of them is unknown.
fn worst(operators: &[&'static str], against: TargetEnvironment<'_>) -> Option<SupportClass> {
    let classes = operators.iter().map(|name| match name.split_once("::") {
        None => class_of(&Op::named("aten", name), against),
        Some((namespace, name)) => class_of(&Op::named(namespace, name), against),
    });
    let classes: Vec<SupportClass> = classes.collect();
    let unknown =
        |class: &SupportClass| matches!(class, SupportClass::Unknown | SupportClass::PartlyKnown);
    if classes.iter().any(unknown) { None } else { classes.into_iter().max() }
}

fn points(
    support: &DocumentedSupport,
    calls: &Calls,
    operators: &[&'static str],
    registered: Option<SupportClass>,
    against: TargetEnvironment<'_>,
) -> Vec<DocumentationPoint> {
    let falls_back = registered.is_some_and(|class| class >= SupportClass::Depends);
    let on_cpu = |key: &str| key == "may_fall_back" || key == "cpu_only";
    let mut points = Vec::new();
    if !support.supported {
        points.push(match registered {
            None => DocumentationPoint::Unsupported,
            Some(_) if falls_back => DocumentationPoint::Agreed,
            Some(_) => DocumentationPoint::Registered,
        });
        return points;
    }
    if support.limits.iter().any(|word| on_cpu(word.key)) {
        match registered {
            Some(_) if falls_back => points.push(DocumentationPoint::Agreed),
            Some(_) => points.push(DocumentationPoint::MayFallBack),
            None => {}
        }
    }
    if against.chip.and_then(short_name).is_some_and(|chip| support.missing.contains(&chip)) {
        points.push(DocumentationPoint::Chip);
    }
    let listed = |dtype: &str| listed_by_cann(operators, dtype, against);
    let mut asked: Vec<(&str, Option<&str>)> = Vec::new();
    // A `dtype` argument determines the data type of the result.
    for (name, value) in calls.given.keys().filter(|(name, _)| name == "dtype") {
        asked.extend(value.strip_prefix("torch.").map(|value| (value, Some(name.as_str()))));
    }
    asked.extend(against.dtype.map(|dtype| (dtype, None)));
    for (dtype, argument) in asked {
        let short = aclnn::short(dtype);
        if FLOATS.contains(&short) && lacks(support, argument, short) {
            let listed_by_cann = listed(short);
            let point = DocumentationPoint::Dtype { dtype: short.to_owned(), listed_by_cann };
            if !points.contains(&point) {
                points.push(point);
            }
        }
    }
    for ((name, value), places) in &calls.given {
        let limits = support.limits.iter().filter_map(|word| word.allowed.as_ref());
        for (_, allowed) in limits.filter(|(limited, _)| limited == name) {
            if !allowed.contains(&value.as_str()) {
                let (name, value) = (name.clone(), value.clone());
                let (allowed, places) = (allowed.clone(), places.clone());
                points.push(DocumentationPoint::Argument { name, value, allowed, places });
            }
        }
    }
    points
}

/// Data types that are compared with the lists. Integers are excluded, because some lists give the
/// integer types of the indices and others those of the values.
const FLOATS: [&str; 6] = ["bf16", "fp16", "fp32", "fp64", "complex64", "complex128"];

/// Returns whether the documents list data types for an argument, or for the first tensor, without
/// this one.
fn lacks(support: &DocumentedSupport, argument: Option<&str>, dtype: &str) -> bool {
    let of = |name: &str| support.types.iter().find(|(known, _)| *known == name);
    let list = match argument {
        Some(name) => of(name).or_else(|| of("*")),
        None => of("*").or_else(|| of("input")).or_else(|| of("self")),
    };
    // A list with only integers is one of indices.
    list.is_some_and(|(_, types)| {
        types.iter().any(|known| FLOATS.contains(known)) && !types.contains(&dtype)
    })
}

/// Returns whether the CANN documents list a data type for a function that the kernels may call.
fn listed_by_cann(operators: &[&'static str], dtype: &str, against: TargetEnvironment<'_>) -> bool {
    let overloads = operators.iter().flat_map(|name| against.registered.overloads(name));
    overloads.into_iter().any(|overload| {
        let docs = aclnn::functions(&overload).iter().filter_map(|name| aclnn::doc(name));
        let mut arguments = docs.flat_map(|doc| &doc.arguments);
        arguments.any(|(_, types)| types.contains(&dtype))
    })
}

/// Returns the name of a chip in the documents.
fn short_name(chip: ChipFamily) -> Option<&'static str> {
    match chip {
        ChipFamily::A910B => Some("A2"),
        ChipFamily::A3 => Some("A3"),
        ChipFamily::A950 => Some("950"),
        _ => None,
    }
}
