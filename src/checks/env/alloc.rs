//! `PYTORCH_NPU_ALLOC_CONF`.

use super::value;
use crate::Context;
use base::report::Evidence;
use base::text::distance_within;
use data::{EnvVars, Outcome, findings::env_alloc};

const NAME: &str = "PYTORCH_NPU_ALLOC_CONF";

pub(super) fn alloc(ctx: &Context<'_>) -> Outcome {
    let text = match value(ctx, NAME) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    let evidence = || Evidence::env(NAME).value(text);
    let keys = &EnvVars::builtin().alloc;
    let options = split(text);
    let mut out = Vec::new();
    for (key, value) in &options {
        let switch = keys.switches.iter().any(|known| known == key);
        if !switch && !keys.other.iter().any(|known| known == key) {
            let known = keys.switches.iter().chain(&keys.other);
            let near = known
                .filter(|known| distance_within(key, known, 3).is_some())
                .min_by_key(|known| distance_within(key, known, 3));
            let found = match near {
                Some(near) => env_alloc::Misspelt { key, near }.warning(),
                None => env_alloc::Unknown { key }.warning(),
            };
            out.push(found.evidence(evidence()));
        } else if !is_valid(key, value, switch) {
            let expected = expected(key, switch);
            out.push(env_alloc::Value { expected, key, value }.warning().evidence(evidence()));
        }
    }
    let get = |key: &str| options.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    let other = ["max_split_size_mb", "garbage_collection_threshold"];
    if get("expandable_segments") == Some("True")
        && let Some(other) = other.into_iter().find(|key| get(key).is_some())
    {
        out.push(env_alloc::Conflict { other }.error().evidence(evidence()));
    }
    out.into()
}

/// Splits `key:value` pairs, separated by commas outside of brackets, ignoring blanks.
fn split(text: &str) -> Vec<(String, String)> {
    let mut depth = 0_u32;
    let mut parts = vec![String::new()];
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (key, value) = part.split_once(':').unwrap_or((part, ""));
            (key.to_owned(), value.to_owned())
        })
        .collect()
}

fn is_valid(key: &str, value: &str, switch: bool) -> bool {
    if switch {
        return matches!(value, "True" | "False");
    }
    let number = value.parse::<u64>().ok();
    let fraction = value.parse::<f64>().ok().filter(|value| value.is_finite());
    match key {
        "page_size" => value == "1g",
        "base_addr_aligned_kb" => number.is_some_and(|n| n <= 16),
        "max_split_size_mb" => number.is_some_and(|n| n > 20),
        "large_segment_size_mb" => number.is_some_and(|n| n > 10),
        "segment_size_mb" => number.is_some_and(|n| (20..=512).contains(&n)),
        "garbage_collection_threshold" => fraction.is_some_and(|f| f > 0.0 && f < 1.0),
        "per_process_memory_fraction" => fraction.is_some_and(|f| (0.0..=1.0).contains(&f)),
        _ => !value.is_empty(),
    }
}

fn expected(key: &str, switch: bool) -> &'static str {
    if switch {
        return "True, False";
    }
    match key {
        "page_size" => "1g",
        "base_addr_aligned_kb" => "0 … 16",
        "max_split_size_mb" => "> 20",
        "large_segment_size_mb" => "> 10",
        "segment_size_mb" => "20 … 512",
        "garbage_collection_threshold" => "0.0 < x < 1.0",
        "per_process_memory_fraction" => "0.0 … 1.0",
        _ => "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::Facts;

    fn messages(text: &str) -> Vec<&'static str> {
        let mut facts = Facts::default();
        facts.env.known = true;
        facts.env.vars.insert(NAME.to_owned(), text.to_owned());
        match alloc(&Context::of(&facts, Profile::General)) {
            Outcome::Found(found) => found.iter().map(|found| found.message).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn documented_examples_are_right() {
        for text in [
            "max_split_size_mb:32,garbage_collection_threshold:0.6",
            "expandable_segments:True,base_addr_aligned_kb:16",
            "page_size:1g",
            "expandable_segments:True, segment_size_mb:40",
            "roundup_power2_divisions:4",
            "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
            "multi_stream_lazy_reclaim:True",
            "per_process_memory_fraction:0.5",
            "expandable_segments:False,max_split_size_mb:256",
        ] {
            assert_eq!(messages(text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn mistakes_are_found() {
        assert_eq!(messages("expandable_segment:True"), ["misspelt"]);
        assert_eq!(messages("backend:cudaMallocAsync"), ["unknown"]);
        assert_eq!(messages("expandable_segments:true"), ["value"]);
        assert_eq!(messages("page_size:2m"), ["value"]);
        assert_eq!(messages("expandable_segments:True,max_split_size_mb:64"), ["conflict"]);
        assert_eq!(messages("]]][,,:"), ["unknown"]);
    }
}
