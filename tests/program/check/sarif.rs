//! Requirements of the text of SARIF 2.1.0 beyond required members, tested with the logs of
//! complete machines. (The schema itself is third-party text, and is not stored here.)

use std::collections::BTreeSet;

use serde_json::Value;

use super::contract::run;
use crate::support::recipe;

const LEVELS: &[&str] = &["none", "note", "warning", "error"];
/// Section 3.33.7 names kinds of logical locations; others are allowed, but not empty ones.
const VERSION: &str = "2.1.0";

/// RFC 3986: a reference without spaces, control characters and characters that must be escaped.
fn is_uri_reference(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let bytes = text.as_bytes();
    let escapes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(at, _)| {
        bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    });
    !text.is_empty() && bytes.iter().all(|byte| plain(*byte)) && escapes
}

fn text_of<'a>(value: &'a Value, at: &str, wrong: &mut Vec<String>) -> &'a str {
    let text = value.as_str().unwrap_or_default();
    if text.trim().is_empty() {
        wrong.push(format!("{at}: no text but {value}"));
    }
    text
}

fn location(value: &Value, bases: &Value, at: &str, wrong: &mut Vec<String>) {
    let physical = &value["physicalLocation"];
    if physical.is_object() {
        let artifact = &physical["artifactLocation"];
        let uri = artifact["uri"].as_str().unwrap_or_default();
        if !is_uri_reference(uri) || uri.starts_with('/') || uri.contains("..") {
            wrong.push(format!("{at}: the uri `{uri}`"));
        }
        if bases.get(artifact["uriBaseId"].as_str().unwrap_or_default()).is_none() {
            wrong.push(format!("{at}: an unknown base in {artifact}"));
        }
        if let Some(region) = physical.get("region")
            && region["startLine"].as_u64().is_none_or(|line| line == 0)
        {
            wrong.push(format!("{at}: the region {region}"));
        }
    } else {
        let logical = value["logicalLocations"].as_array();
        if logical.is_none_or(Vec::is_empty) {
            wrong.push(format!("{at}: a location that is nowhere: {value}"));
        }
        for place in logical.into_iter().flatten() {
            text_of(&place["fullyQualifiedName"], at, wrong);
            text_of(&place["kind"], at, wrong);
        }
    }
    text_of(&value["message"]["text"], at, wrong);
}

fn look(log: &Value, machine: &str, wrong: &mut Vec<String>) {
    if log["version"] != VERSION || !is_uri_reference(log["$schema"].as_str().unwrap_or_default()) {
        wrong.push(format!("{machine}: {} {}", log["version"], log["$schema"]));
    }
    let run = &log["runs"][0];
    let bases = &run["originalUriBaseIds"];
    for (name, base) in bases.as_object().unwrap() {
        let uri = base["uri"].as_str().unwrap();
        if !uri.ends_with('/') || !uri.contains(':') || !is_uri_reference(uri) {
            wrong.push(format!("{machine}: the base {name} is `{uri}`"));
        }
    }
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    if ids.len() != rules.len() {
        wrong.push(format!("{machine}: a rule twice"));
    }
    for rule in rules {
        let at = format!("{machine} rule {}", rule["id"]);
        text_of(&rule["shortDescription"]["text"], &at, wrong);
        let level = rule["defaultConfiguration"]["level"].as_str();
        if level.is_some_and(|level| !LEVELS.contains(&level)) {
            wrong.push(format!("{at}: the level {level:?}"));
        }
        if let Some(uri) = rule.get("helpUri")
            && !is_uri_reference(uri.as_str().unwrap_or_default())
        {
            wrong.push(format!("{at}: {uri}"));
        }
    }
    let notifications = &run["invocations"][0]["toolExecutionNotifications"];
    for notification in notifications.as_array().into_iter().flatten() {
        let at = format!("{machine} notification");
        text_of(&notification["message"]["text"], &at, wrong);
        if notification["level"].as_str().is_some_and(|level| !LEVELS.contains(&level)) {
            wrong.push(format!("{at}: {}", notification["level"]));
        }
    }
    let mut prints = BTreeSet::new();
    for (index, result) in run["results"].as_array().unwrap().iter().enumerate() {
        let at = format!("{machine} result {index}");
        let rule =
            result["ruleIndex"].as_u64().and_then(|index| rules.get(usize::try_from(index).ok()?));
        if rule.is_none_or(|rule| rule["id"] != result["ruleId"]) {
            wrong.push(format!("{at}: {} is no rule {}", result["ruleId"], result["ruleIndex"]));
        }
        if !LEVELS.contains(&text_of(&result["level"], &at, wrong)) || result["kind"] != "fail" {
            wrong.push(format!("{at}: {} {}", result["level"], result["kind"]));
        }
        text_of(&result["message"]["text"], &at, wrong);
        if !prints.insert(result["partialFingerprints"].to_string()) {
            wrong.push(format!("{at}: a fingerprint twice"));
        }
        let mut related = BTreeSet::new();
        for place in result["locations"].as_array().into_iter().flatten() {
            location(place, bases, &at, wrong);
        }
        for place in result["relatedLocations"].as_array().into_iter().flatten() {
            location(place, bases, &at, wrong);
            if !related.insert(place["id"].as_u64()) {
                wrong.push(format!("{at}: a related location twice"));
            }
        }
    }
}

#[test]
fn logs_are_what_the_specification_asks() {
    let mut wrong = Vec::new();
    let mut results = 0;
    let keep = std::env::var_os("SARIF_KEEP");
    // All of them take a minute; they are written only for a comparison with the schema.
    let step = if keep.is_some() { 1 } else { 4 };
    for (name, recipe) in recipe::all().into_iter().step_by(step) {
        let dir = tempfile::tempdir().unwrap();
        recipe.build().write(dir.path());
        let mut args =
            vec!["--format", "sarif", "check", "--sysroot", dir.path().to_str().unwrap()];
        args.extend(recipe.expect.args.iter().map(String::as_str));
        let (_, text, errors) = run(&args);
        let log: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{name}: {errors}"));
        look(&log, &name, &mut wrong);
        results += log["runs"][0]["results"].as_array().unwrap().len();
        if let Some(dir) = &keep {
            std::fs::write(std::path::Path::new(&dir).join(format!("{name}.sarif")), &text)
                .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(results > 10, "{results} results");
}
