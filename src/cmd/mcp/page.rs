//! Results of tools: a document in pages that fit into the context of a model.

use base::redact::{Level, Redactor};
use base::text::Lang;
use serde_json::{Map, Value, json};

use super::message::RpcError;
use super::tool::Tool;

/// Maximum size of a result, in bytes of JSON. A client receives it twice, as data and as text;
/// this limit applies to the text.
const RESULT: usize = 16 << 10;
/// The share of the members other than the items, in bytes.
const SUMMARY: usize = 5 << 10;
/// The reserve for the envelope, in bytes.
const ENVELOPE: usize = 1 << 10;
/// Limits for lists (elements) and texts (characters) within an item that is too large, tried in
/// order.
const CUTS: [(usize, usize); 4] = [(40, 2000), (12, 600), (4, 240), (1, 80)];
/// Members for machine use only, or large members that repeat the items.
const UNNEEDED: [&str; 6] = ["$schema", "data", "provenance", "matrix", "patches", "diff"];

/// The schema of all results.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": {
                "type": "integer",
                "enum": [0, 1, 2, 3],
                "description": "0 nothing found, 1 findings, 2 wrong input, 3 inconclusive",
            },
            "summary": {
                "type": "object",
                "description": "The members of the document beside its items, such as the verdict",
            },
            "items": {
                "type": "array",
                "items": { "type": "object" },
                "description": "Findings, or explained codes and names",
            },
            "total": { "type": "integer", "description": "Number of items on all pages" },
            "omitted": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Members that were too large",
            },
            "nextCursor": { "type": "string", "description": "Cursor of the next page" },
            "error": { "type": "string", "description": "Why there is no result" },
        },
        "required": ["status", "summary", "items", "total", "omitted"],
    })
}

/// The first item of the page that a call requests.
pub(super) fn read_cursor(arguments: &Value) -> Result<usize, RpcError> {
    match arguments.get("cursor").filter(|cursor| !cursor.is_null()) {
        None => Ok(0),
        Some(cursor) => {
            let number = cursor.as_str().and_then(|cursor| cursor.parse().ok());
            number.ok_or_else(|| RpcError::invalid("`cursor` is not one of a result"))
        }
    }
}

/// The result of a call that was not run, or failed.
pub(super) fn refusal(why: &str) -> Value {
    finish(&json!({
        "status": 2, "summary": {}, "items": [], "total": 0, "omitted": [], "error": cut(why, 2000),
    }))
}

/// The result of a run: one page of its output.
pub(super) fn result(tool: &Tool, run: (i32, &[u8], &str), from: usize, lang: Lang) -> Value {
    let (status, output, errors) = run;
    let Ok(Value::Object(mut document)) = serde_json::from_slice::<Value>(output) else {
        let why = if errors.trim().is_empty() { "the tool wrote no result" } else { errors.trim() };
        return refusal(redacted(&json!(why)).as_str().unwrap_or_default());
    };
    // A code has `items`, a line of a log has `findings`.
    let members = [tool.items, "findings", "items"];
    let member = members.into_iter().find(|name| document.contains_key(*name));
    let items = match member.and_then(|member| document.remove(member)) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let items: Vec<Value> = items.into_iter().map(|item| in_language(item, lang)).collect();
    let Value::Object(document) = in_language(Value::Object(document), lang) else {
        return refusal("the tool wrote no result");
    };
    let (summary, omitted) = summarize(document);
    let mut left = RESULT - ENVELOPE - size(&summary);
    let mut page = Vec::new();
    for item in items.iter().skip(from) {
        let item = shrink(&redacted(item), left.max(RESULT / 4));
        let bytes = size(&item);
        if bytes > left && !page.is_empty() {
            break;
        }
        left = left.saturating_sub(bytes);
        page.push(item);
    }
    let next = from + page.len();
    let mut answer = json!({
        "status": status, "summary": summary, "items": page, "total": items.len(),
        "omitted": omitted,
    });
    if next < items.len() {
        answer["nextCursor"] = next.to_string().into();
    }
    finish(&answer)
}

/// The members other than the items, as far as they fit, and the names of the omitted ones.
fn summarize(document: Map<String, Value>) -> (Value, Vec<String>) {
    let mut members: Vec<(String, Value)> =
        document.into_iter().map(|(name, value)| (name, redacted(&value))).collect();
    // Small members are the most informative: the verdict, the counts.
    members.sort_by_key(|(_, value)| size(value));
    let mut summary = Map::new();
    let mut omitted = Vec::new();
    let mut left = SUMMARY;
    for (name, value) in members {
        if UNNEEDED.contains(&name.as_str()) {
            continue;
        }
        let value = if size(&value) > left { shrink(&value, left) } else { value };
        let bytes = size(&value) + name.len();
        if bytes > left {
            omitted.push(name);
        } else {
            left -= bytes;
            summary.insert(name, value);
        }
    }
    omitted.sort();
    (Value::Object(summary), omitted)
}

/// Reduces every text of a value to one language: both would take twice the space.
fn in_language(value: Value, lang: Lang) -> Value {
    match value {
        Value::Object(mut members) => {
            let is_text =
                members.len() == 2 && members.contains_key("en") && members.contains_key("zh");
            let own = if lang == Lang::Zh { "zh" } else { "en" };
            if let Some(text) = is_text.then(|| members.remove(own)).flatten() {
                return text;
            }
            let all = members.into_iter();
            Value::Object(all.map(|(name, one)| (name, in_language(one, lang))).collect())
        }
        Value::Array(list) => {
            Value::Array(list.into_iter().map(|one| in_language(one, lang)).collect())
        }
        other => other,
    }
}

/// Reduces a value to a size, if necessary by shortening lists and texts.
fn shrink(value: &Value, most: usize) -> Value {
    if size(value) <= most {
        return value.clone();
    }
    let mut small = value.clone();
    for (length, characters) in CUTS {
        limit(&mut small, length, characters);
        if size(&small) <= most {
            break;
        }
    }
    small
}

fn limit(value: &mut Value, length: usize, characters: usize) {
    match value {
        Value::Array(list) => {
            let more = list.len().saturating_sub(length);
            list.truncate(length);
            for one in list.iter_mut() {
                limit(one, length, characters);
            }
            // A list of texts can contain a note that it is cut. Other lists cannot.
            if more > 0 && list.iter().all(Value::is_string) {
                list.push(format!("… {more} more").into());
            }
        }
        Value::Object(members) => {
            for one in members.values_mut() {
                limit(one, length, characters);
            }
        }
        Value::String(text) => *text = cut(text, characters),
        _ => {}
    }
}

fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Removes tokens, keys and passwords from a value. The options of the runs already exclude names
/// of hosts and users.
fn redacted(value: &Value) -> Value {
    let mut value = value.clone();
    Redactor::new(Level::Secrets, []).json(&mut value);
    value
}

fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

fn finish(answer: &Value) -> Value {
    json!({
        "content": [{ "type": "text", "text": answer.to_string() }],
        "structuredContent": answer,
        "isError": answer["status"] == 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> &'static Tool {
        super::super::tool::offered(&[])[1]
    }

    fn run(document: &Value, from: usize) -> Value {
        let text = document.to_string();
        result(tool(), (1, text.as_bytes(), ""), from, Lang::En)["structuredContent"].clone()
    }

    #[test]
    fn every_item_is_on_exactly_one_page_of_bounded_size() {
        let items: Vec<Value> =
            (0..300).map(|n| json!({ "id": n, "title": "x".repeat(n * 3) })).collect();
        let document = json!({ "verdict": "fail", "findings": items });
        let (mut from, mut seen) = (0, 0);
        loop {
            let page = run(&document, from);
            assert!(size(&page) <= RESULT, "{}", size(&page));
            for item in page["items"].as_array().unwrap() {
                assert_eq!(item["id"], seen);
                seen += 1;
            }
            assert_eq!(page["summary"]["verdict"], "fail");
            match page["nextCursor"].as_str() {
                Some(cursor) => from = cursor.parse().unwrap(),
                None => break,
            }
        }
        assert_eq!(seen, 300);
        assert_eq!(run(&document, 300)["items"], json!([]));
    }

    #[test]
    fn an_item_that_is_too_large_is_cut() {
        let document = json!({ "findings": [{ "list": vec!["y".repeat(500); 400] }] });
        let page = run(&document, 0);
        assert!(size(&page) <= RESULT && page["items"].as_array().unwrap().len() == 1);
    }

    #[test]
    fn a_run_without_a_document_is_an_error() {
        let answer = result(tool(), (2, b"", "error: no such file"), 0, Lang::En);
        assert_eq!(answer["isError"], true);
        assert_eq!(answer["structuredContent"]["error"], "error: no such file");
    }
}
