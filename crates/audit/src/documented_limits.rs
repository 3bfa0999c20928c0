//! Compares the documents of torch_npu with the registrations of the APIs that sources call.
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
    /// Its name.
    pub api: &'static str,
    /// Whether the documents call it supported.
    pub supported: bool,
    /// The data types that they list, by argument; `*` where they name none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<(&'static str, Vec<&'static str>)>,
    /// Chips that they do not list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_listed: Vec<&'static str>,
    /// Their other limits, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Words>,
    /// The worst class of its operators, if all of them are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered: Option<SupportClass>,
    /// The differences between documents, registrations and calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<DocumentationPoint>,
    /// How often it is called.
    pub count: u64,
    /// The first places.
    pub places: Vec<Place>,
}

/// The result of comparing documents, registrations and the calls of an API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DocumentationPoint {
    /// Called unsupported, and nothing else is known.
    Unsupported,
    /// Called unsupported, though everything it calls has kernels.
    Registered,
    /// Called unsupported or said to fall back, as the registrations have it.
    Agreed,
    /// Documented as falling back to the CPU, though everything it calls has kernels.
    MayFallBack,
    /// The chip at hand is not listed.
    Chip,
    /// A data type is not listed for it.
    Dtype {
        /// The data type.
        dtype: String,
        /// The documents of CANN list it for what the kernels call.
        listed_by_cann: bool,
    },
    /// An argument is given a value that is not allowed.
    Argument {
        /// The argument.
        name: String,
        /// The value that is written there.
        value: String,
        /// The values that are allowed.
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

/// Returns the worst class of all operators; nothing if one of them is unknown.
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
    // The data type that a call names is that of what it gives.
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

/// Data types that the lists are asked about. Of integers they name what indices are in one place
/// and what values are in another.
const FLOATS: [&str; 6] = ["bf16", "fp16", "fp32", "fp64", "complex64", "complex128"];

/// Whether the documents list data types for an argument, or for the first tensor, and not this one.
fn lacks(support: &DocumentedSupport, argument: Option<&str>, dtype: &str) -> bool {
    let of = |name: &str| support.types.iter().find(|(known, _)| *known == name);
    let list = match argument {
        Some(name) => of(name).or_else(|| of("*")),
        None => of("*").or_else(|| of("input")).or_else(|| of("self")),
    };
    // A list of integers alone is one of indices.
    list.is_some_and(|(_, types)| {
        types.iter().any(|known| FLOATS.contains(known)) && !types.contains(&dtype)
    })
}

/// Whether the documents of CANN list a data type for some function that the kernels may call.
fn listed_by_cann(operators: &[&'static str], dtype: &str, against: TargetEnvironment<'_>) -> bool {
    let overloads = operators.iter().flat_map(|name| against.registered.overloads(name));
    overloads.into_iter().any(|overload| {
        let docs = aclnn::functions(&overload).iter().filter_map(|name| aclnn::doc(name));
        let mut arguments = docs.flat_map(|doc| &doc.arguments);
        arguments.any(|(_, types)| types.contains(&dtype))
    })
}

/// A chip as the documents name it.
fn short_name(chip: ChipFamily) -> Option<&'static str> {
    match chip {
        ChipFamily::A910B => Some("A2"),
        ChipFamily::A3 => Some("A3"),
        ChipFamily::A950 => Some("950"),
        _ => None,
    }
}
