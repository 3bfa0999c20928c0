//! Cargo.toml: the feature of `ort`, and crates and features for CUDA.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::rules::{Place, Rules};
use super::super::site::{Certainty, Planner};
use super::super::syntax::UnparsableText;
use super::CUDA_CRATES;

/// Plans a Cargo.toml.
pub(super) fn plan(planner: &mut Planner<'_>) -> Result<(), UnparsableText> {
    let text = planner.text;
    let document = DeTable::parse(text)
        .map_err(|error| UnparsableText { at: error.span().map_or(0, |span| span.start) })?;
    let mut path = Vec::new();
    tables(planner, document.get_ref(), &mut path);
    Ok(())
}

fn tables(planner: &mut Planner<'_>, table: &DeTable<'_>, path: &mut Vec<String>) {
    // target.'cfg(…)'.dependencies is the deepest relevant table.
    if path.len() > 4 {
        return;
    }
    for (key, value) in table {
        let name = key.get_ref().to_string();
        let DeValue::Table(inner) = value.get_ref() else { continue };
        if matches!(name.as_str(), "dependencies" | "dev-dependencies" | "build-dependencies") {
            for (name, value) in inner {
                dependency(planner, name, value);
            }
        } else if name == "features" && path.is_empty() {
            for (_, value) in inner {
                features(planner, None, value);
            }
        } else if !matches!(name.as_str(), "package" | "metadata") {
            path.push(name);
            tables(planner, inner, path);
            path.pop();
        }
    }
}

fn dependency(
    planner: &mut Planner<'_>,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
) {
    let mut name = key.get_ref().to_string();
    let mut list = None;
    if let DeValue::Table(table) = value.get_ref() {
        if let Some(DeValue::String(package)) = table.get("package").map(Spanned::get_ref) {
            name = package.to_string();
        }
        list = table.get("features");
    }
    if CUDA_CRATES.contains(&name.replace('-', "_").as_str()) {
        planner.flag(Rules::builtin().site(Place::RustCuda), key.span(), Some(name));
        return;
    }
    if let Some(list) = list {
        features(planner, Some(&name), list);
    }
}

/// `features = ["cuda"]` of a dependency, or `cuda = ["ort/cuda"]` of the package itself.
fn features(planner: &mut Planner<'_>, of: Option<&str>, list: &Spanned<DeValue<'_>>) {
    let DeValue::Array(array) = list.get_ref() else { return };
    let rules = Rules::builtin();
    let items: Vec<(&str, Range<usize>)> = array
        .iter()
        .filter_map(|item| match item.get_ref() {
            DeValue::String(text) => Some((text.as_ref(), item.span())),
            _ => None,
        })
        .collect();
    let split = |text: &str| -> (String, String) {
        match of {
            Some(name) => (name.to_owned(), text.to_owned()),
            None => text.split_once('/').map_or_else(
                || (String::new(), text.to_owned()),
                |(name, feature)| (name.trim_end_matches('?').to_owned(), feature.to_owned()),
            ),
        }
    };
    let aware = items.iter().any(|(text, _)| split(text) == ("ort".to_owned(), "cann".to_owned()));
    for (text, span) in &items {
        let (name, feature) = split(text);
        let gpu = ["cuda", "cudnn", "nccl", "tensorrt", "flash-attn"]
            .iter()
            .any(|word| feature == *word || feature.starts_with("cuda-"));
        if name.is_empty() || !gpu || aware {
            continue;
        }
        let end = span.end - 1;
        if name == "ort" && feature == "cuda" && planner.text[..end].ends_with("cuda") {
            let rule = rules.site(Place::RustOrtProvider);
            planner.change(rule, end - 4..end, "cann", Certainty::Exact);
        } else if name == "ort"
            || ["tch", "candle", "burn", "mistralrs", "llama", "cubecl", "whisper"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        {
            planner.flag(
                rules.site(Place::RustCuda),
                span.clone(),
                Some(format!("{name}/{feature}")),
            );
        }
    }
}
