//! The schemas in `docs/schema/` match the types, and keep the promises of the last release,
//! because programs outside of the repository read the documents.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and reads files")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ascend_doctor::schema::documents;
use serde_json::{Value, json};

/// The files of a directory of this repository, by name.
fn files(dir: &str) -> BTreeMap<String, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn checked_in_schemas_are_those_of_the_types() {
    let generated: BTreeMap<String, String> = documents()
        .iter()
        .map(|document| (format!("{}.schema.json", document.name), document.text()))
        .collect();
    let checked_in = files("docs/schema");
    let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&checked_in), names(&generated), "run `cargo xtask schemas`");
    for (name, text) in generated {
        assert!(checked_in[&name] == text, "{name} is not current: run `cargo xtask schemas`");
    }
}

#[test]
fn every_schema_is_valid_and_names_itself() {
    let mut ids = BTreeSet::new();
    for document in documents() {
        let schema = &document.schema;
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(schema["$id"], format!("urn:ascend-doctor:schema:{}", document.name));
        let id = schema["properties"]["schema"]["const"].as_str();
        if let Some(id) = id {
            let id = id.strip_prefix("ascend-doctor/").unwrap().replace('/', "-");
            assert_eq!(id, document.name);
        }
        assert!(ids.insert(id.map(str::to_owned)), "{} has the ID of another", document.name);
    }
    // Common to all reports, and not a separate document.
    assert!(ids.contains(&None));
}

#[test]
fn schemas_keep_what_the_last_release_promised() {
    let current: BTreeMap<String, Value> = documents()
        .into_iter()
        .map(|document| (format!("{}.schema.json", document.name), document.schema))
        .collect();
    let released = files("tests/fixtures/schemas");
    assert!(released.len() > 10, "{}", released.len());
    let mut broken = Vec::new();
    for (name, text) in released {
        let before: Value = serde_json::from_str(&text).unwrap();
        match current.get(&name) {
            Some(after) => broken.extend(differences(&name, &before, after)),
            None => broken.push(format!("{name} is gone")),
        }
    }
    assert!(broken.is_empty(), "give the new shape a new version:\n{}", broken.join("\n"));
}

/// The broken promises of a schema: an optional member may be added, as may an alternative. None
/// may be removed, have another type, or become required or optional.
fn differences(name: &str, before: &Value, after: &Value) -> Vec<String> {
    let mut comparison = Comparison { before, after, pairs: BTreeSet::new(), broken: Vec::new() };
    comparison.compare(name, before, after);
    comparison.broken
}

struct Comparison<'a> {
    before: &'a Value,
    after: &'a Value,
    /// References whose comparison has started: types may contain themselves.
    pairs: BTreeSet<(String, String)>,
    broken: Vec<String>,
}

/// The target of a reference.
fn target<'a>(document: &'a Value, schema: &'a Value) -> (&'a Value, Option<&'a str>) {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(path) => (document.pointer(path.strip_prefix('#').unwrap()).unwrap(), Some(path)),
        None => (schema, None),
    }
}

/// The alternatives of a schema; the values of an enumeration are alternatives.
fn alternatives(schema: &Value) -> Vec<Value> {
    let values = schema.get("enum").and_then(Value::as_array);
    let values = values.into_iter().flatten().map(|value| json!({ "const": value }));
    let listed = ["oneOf", "anyOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    let own = schema.get("const").map(|value| json!({ "const": value }));
    let all: Vec<Value> = values.chain(listed.flatten().cloned()).chain(own).collect();
    let plain = |one: Value| match one.get("const") {
        Some(value) => json!({ "const": value }),
        None => one,
    };
    all.into_iter().map(plain).collect()
}

/// The types of a schema; one with only alternatives has none.
fn types(schema: &Value) -> BTreeSet<String> {
    match schema.get("type") {
        // The type of an enumeration follows from its values.
        _ if !alternatives(schema).is_empty() && schema.get("properties").is_none() => {
            BTreeSet::new()
        }
        Some(Value::Array(types)) => types.iter().map(ToString::to_string).collect(),
        Some(one) => BTreeSet::from([one.to_string()]),
        None => BTreeSet::new(),
    }
}

impl Comparison<'_> {
    fn compare(&mut self, place: &str, before: &Value, after: &Value) {
        let (old_document, new_document) = (self.before, self.after);
        let (before, from) = target(old_document, before);
        let (after, to) = target(new_document, after);
        if let (Some(from), Some(to)) = (from, to)
            && !self.pairs.insert((from.to_owned(), to.to_owned()))
        {
            return;
        }
        if types(before) != types(after) {
            let words = format!("{place}: type {:?} became {:?}", types(before), types(after));
            self.broken.push(words);
        }
        for key in ["pattern", "dependentRequired"] {
            if before.get(key) != after.get(key) {
                self.broken.push(format!("{place}: another {key}"));
            }
        }
        self.compare_members(place, before, after);
        for key in ["items", "additionalProperties", "unevaluatedProperties"] {
            match (before.get(key), after.get(key)) {
                (Some(before @ Value::Object(_)), Some(after @ Value::Object(_))) => {
                    self.compare(&format!("{place}/{key}"), before, after);
                }
                (before, after) if before == after => {}
                _ => self.broken.push(format!("{place}: another {key}")),
            }
        }
        self.compare_alternatives(place, &alternatives(before), &alternatives(after));
    }

    fn compare_members(&mut self, place: &str, before: &Value, after: &Value) {
        let empty = serde_json::Map::new();
        let members = |schema: &Value| {
            schema.get("properties").and_then(Value::as_object).unwrap_or(&empty).clone()
        };
        let required = |schema: &Value| -> BTreeSet<String> {
            let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            names.map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let (old, new) = (members(before), members(after));
        for (name, schema) in &old {
            match new.get(name) {
                Some(now) => self.compare(&format!("{place}/{name}"), schema, now),
                None => self.broken.push(format!("{place}: `{name}` was removed")),
            }
        }
        for name in required(after).difference(&required(before)) {
            self.broken.push(format!("{place}: `{name}` became required"));
        }
        for name in required(before).difference(&required(after)) {
            self.broken.push(format!("{place}: `{name}` became optional"));
        }
    }

    /// Each alternative must still exist; the order does not matter.
    fn compare_alternatives(&mut self, place: &str, before: &[Value], after: &[Value]) {
        if before.is_empty() != after.is_empty() {
            self.broken.push(format!("{place}: alternatives were added or removed as a whole"));
            return;
        }
        for (number, old) in before.iter().enumerate() {
            let fits = |new: &&Value| {
                let mut inner = Comparison {
                    before: self.before,
                    after: self.after,
                    pairs: self.pairs.clone(),
                    broken: Vec::new(),
                };
                match (old.get("const"), new.get("const")) {
                    (None, None) => inner.compare(place, old, new),
                    (old, new) if old == new => {}
                    _ => return false,
                }
                inner.broken.is_empty()
            };
            if !after.iter().any(|new| fits(&new)) {
                self.broken.push(format!("{place}: alternative {number} was changed or removed"));
            }
        }
    }
}

/// A change of a schema.
type Change = fn(&mut Value);

#[test]
fn changes_that_break_a_promise_are_found_and_additions_are_not() {
    let schema = |name: &str| {
        let all = documents();
        all.into_iter().find(|document| document.name == name).unwrap().schema
    };
    let breaking: [(&str, &str, Change); 10] = [
        ("check-2", "`fingerprint` was removed", |schema| {
            schema["properties"].as_object_mut().unwrap().remove("fingerprint");
        }),
        ("check-2", "`hostname` became required", |schema| {
            schema["properties"]["hostname"] = json!({ "type": "string" });
            schema["required"].as_array_mut().unwrap().push(json!("hostname"));
        }),
        ("check-2", "`headline` became required", |schema| {
            schema["required"].as_array_mut().unwrap().push(json!("headline"));
        }),
        ("check-2", "`findings` became optional", |schema| {
            schema["required"].as_array_mut().unwrap().retain(|name| name != "findings");
        }),
        ("check-2", "/taken: type", |schema| {
            schema["properties"]["taken"]["type"] = json!("string");
        }),
        ("check-2", "`cann` was removed", |schema| {
            let members = schema["$defs"]["Fingerprint"]["properties"].as_object_mut().unwrap();
            let moved = members.remove("cann").unwrap();
            members.insert("toolkit".to_owned(), moved);
        }),
        ("check-2", "/severity", |schema| {
            let values = schema["$defs"]["Severity"]["oneOf"].as_array_mut().unwrap();
            values.retain(|value| value["const"] != "warning");
        }),
        ("verify-stage-1", "alternative 0", |schema| {
            let outcomes = schema["$defs"]["Outcome"]["oneOf"].as_array_mut().unwrap();
            outcomes.retain(|outcome| outcome["properties"]["outcome"]["const"] != "failed");
        }),
        ("audit-ops-2", "another items", |schema| {
            schema["properties"]["inputs"].as_object_mut().unwrap().remove("items");
        }),
        ("codes-1", "type", |schema| {
            schema["properties"]["schema"] = json!({ "type": "string" });
        }),
    ];
    for (name, expected, change) in breaking {
        let before = schema(name);
        let mut after = before.clone();
        change(&mut after);
        let found = differences(name, &before, &after);
        assert!(found.iter().any(|one| one.contains(expected)), "{name} {expected}: {found:?}");
    }
    let allowed: [(&str, Change); 4] = [
        ("check-2", |schema| {
            schema["properties"]["hostname"] = json!({ "type": "string" });
        }),
        ("check-2", |schema| {
            schema["description"] = json!("other words");
            schema["$defs"]["Fingerprint"]["properties"]["aicpu"] = json!({ "type": "string" });
        }),
        ("check-2", |schema| {
            let values = schema["$defs"]["Severity"]["oneOf"].as_array_mut().unwrap();
            values.push(json!({ "const": "notice", "type": "string" }));
        }),
        ("check-2", |schema| {
            // A renamed type does not change the document.
            let text = schema.to_string().replace("Fingerprint", "Versions");
            *schema = serde_json::from_str(&text).unwrap();
        }),
    ];
    for (number, (name, change)) in allowed.into_iter().enumerate() {
        let before = schema(name);
        let mut after = before.clone();
        change(&mut after);
        assert_ne!(before, after);
        assert_eq!(differences(name, &before, &after), Vec::<String>::new(), "{number}");
    }
}
