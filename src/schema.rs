//! The JSON Schemas of all documents that the program writes, generated from their types.
//!
//! Each shape has one ID. Objects are closed: an unknown member is a violation, except in maps.
//! `docs/schema/` has a copy of each schema, which `cargo xtask schemas` writes.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use audit::report::{AuditMembers, PatchMembers, SuggestionMembers};
use checks::members::{CheckMembers, CompatMembers};
use convert::members::{ConvertMembers, OutcomeMembers, PreviewMembers, TargetMember, UndoMembers};
use errcodes::log::DiagnosisMember;
use explain::document::{CodesDocument, ExplainDocument};
use explain::input::{InputMember, WithInput};
use facts::Facts;
use fleet::FleetMembers;
use machine::manifest::ManifestFile;
use render::JsonReport;
use triage::TriageMember;
use verify::members::VerifyMembers;

use crate::cmd::bundle::Manifest;
use crate::cmd::compat::MatrixMember;
use crate::cmd::data_status::DataMembers;
use crate::cmd::from_text::StatedDocument;
use crate::cmd::requested::ResolvedMember;
use crate::cmd::verify::EventLine;
use crate::lint::LintMembers;
use crate::port::PortMembers;

/// The schema of one shape.
#[derive(Debug, Clone)]
pub struct Document {
    /// The name of its file without extension, and the end of its `$id`: `check-2`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

impl Document {
    /// The text of its file.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }

    /// The schema on one line and without descriptions, as kept for a release.
    pub fn frozen(&self) -> String {
        let mut schema = self.schema.clone();
        remove_words(&mut schema);
        format!("{schema}\n")
    }
}

/// Declares the type of a report: the common members and those of a subcommand.
macro_rules! reports {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "describes what is put together of several structures")]
        struct $name {
            #[schemars(flatten)]
            report: JsonReport<'static>,
            // For a run without a named subcommand.
            #[schemars(flatten)]
            input: Option<InputMember<'static>>,
            $(#[schemars(flatten)] $field: $type,)*
        }
    )*};
}

reports! {
    /// The output of `audit-ops --format json`.
    AuditOps {
        members: AuditMembers<'static>,
        suggestions: Option<SuggestionMembers<'static>>,
        patches: Option<PatchMembers<'static>>,
        resolved: Option<ResolvedMember<'static>>,
    }
    /// The output of `check --format json`.
    Check { members: Option<CheckMembers<'static>>, }
    /// The output of `compat --format json` and `check --list-compat --format json`.
    Compat {
        members: CompatMembers<'static>,
        matrix: MatrixMember<'static>,
        resolved: Option<ResolvedMember<'static>>,
    }
    /// The output of `convert --format json`.
    Convert {
        members: ConvertMembers<'static>,
        target: TargetMember<'static>,
        written: Option<OutcomeMembers>,
        preview: Option<PreviewMembers>,
        resolved: Option<ResolvedMember<'static>>,
    }
    /// The output of `convert --undo --format json`.
    ConvertUndo { members: UndoMembers, }
    /// The output of `data status --format json`.
    DataStatus { members: DataMembers<'static>, }
    /// The output of `fleet merge --format json`.
    FleetMerge { members: FleetMembers<'static>, }
    /// The output of `translate-error --format json` for logs and texts; for codes it writes
    /// `codes/1`.
    TranslateError { members: DiagnosisMember<'static>, }
    /// The output of `lint --format json`.
    Lint { members: LintMembers<'static>, }
    /// The output of `port --format json`.
    Port { members: PortMembers<'static>, }
    /// The output of `triage --format json`.
    Triage { diagnosis: DiagnosisMember<'static>, members: TriageMember<'static>, }
    /// The output of `verify --format json`. `--format jsonl` first writes a line of
    /// `verify-stage/1` for each stage.
    Verify { members: VerifyMembers<'static>, }
    /// The output of `manifest wheel-check --format json`.
    WheelCheck {}
}

/// All schemas, by name.
pub fn documents() -> Vec<Document> {
    let mut documents = vec![
        document::<AuditOps>("audit-ops", 2),
        document::<Manifest>("bundle", 1),
        document::<Check>("check", 2),
        document::<WithInput<'static, CodesDocument<'static>>>("codes", 1),
        document::<Compat>("compat", 2),
        document::<Convert>("convert", 2),
        document::<ConvertUndo>("convert-undo", 2),
        document::<DataStatus>("data", 2),
        document::<WithInput<'static, ExplainDocument<'static>>>("explain", 1),
        document::<Facts>("facts", 1),
        document::<FleetMerge>("fleet", 2),
        document::<ManifestFile>("manifest", 1),
        common_report(),
        document::<TranslateError>("translate-error", 2),
        document::<WithInput<'static, StatedDocument>>("stated", 1),
        document::<Lint>("lint", 2),
        document::<Port>("port", 2),
        document::<Triage>("triage", 2),
        document::<Verify>("verify", 2),
        verify_stage(),
        document::<WheelCheck>("wheel-check", 2),
    ];
    documents.sort_by(|a, b| a.name.cmp(&b.name));
    documents
}

/// The schema of the document with the ID `ascend-doctor/KIND/VERSION`.
fn document<T: JsonSchema>(kind: &str, version: u32) -> Document {
    let mut schema = generate::<T>();
    close(&mut schema);
    if let Some(id) = schema.pointer_mut("/properties/schema") {
        *id = json!({ "const": format!("ascend-doctor/{kind}/{version}") });
    }
    named(schema, &format!("{kind}-{version}"), &format!("ascend-doctor {kind}, version {version}"))
}

/// The common members of all reports. The schema is open at the top level, where subcommands add
/// members.
fn common_report() -> Document {
    let mut schema = generate::<JsonReport<'static>>();
    close(&mut schema);
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("additionalProperties");
    }
    if let Some(id) = schema.pointer_mut("/properties/schema") {
        *id = json!({ "type": "string", "pattern": "^ascend-doctor/[a-z-]+/2$" });
    }
    named(schema, "report-2", "ascend-doctor report, version 2")
}

/// The schema of a completed stage, the only event of `verify` that is printed as a line.
fn verify_stage() -> Document {
    let Document { name, mut schema } = document::<EventLine<'static>>("verify-stage", 1);
    if let Some(Value::Array(events)) = schema.get_mut("oneOf") {
        events.retain(|event| event.pointer("/properties/event/const") == Some(&json!("stage")));
    }
    let used = schema.to_string();
    if let Some(Value::Object(types)) = schema.get_mut("$defs") {
        types.retain(|name, _| used.contains(&format!("#/$defs/{name}\"")));
    }
    Document { name, schema }
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema: Schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.to_value()
}

fn named(schema: Value, name: &str, title: &str) -> Document {
    let mut whole = Map::new();
    whole.insert("$id".to_owned(), json!(format!("urn:ascend-doctor:schema:{name}")));
    if let Value::Object(members) = schema {
        whole.extend(members);
    }
    whole.insert("title".to_owned(), json!(title));
    Document { name: name.to_owned(), schema: Value::Object(whole) }
}

/// Removes descriptions, because their wording may change.
fn remove_words(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("description").is_some_and(Value::is_string) {
                members.remove("description");
            }
            members.values_mut().for_each(remove_words);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_words),
        _ => {}
    }
}

/// Closes all objects of a schema, and removes number formats, which are specific to Rust.
fn close(schema: &mut Value) {
    let types = schema.get("$defs").cloned().unwrap_or_default();
    join(schema, &types);
    close_object(schema, false);
    // A report has all parts of a proof or none.
    if schema.pointer("/properties/goal").is_some() {
        let others = |own: &str| PROOF.iter().filter(|name| **name != own).collect::<Vec<_>>();
        let together: Map<String, Value> =
            PROOF.iter().map(|name| ((*name).to_owned(), json!(others(name)))).collect();
        schema["dependentRequired"] = Value::Object(together);
    }
}

/// The members of a report that prove its verdict.
const PROOF: [&str; 4] = ["coverage", "goal", "headline", "verdict"];

/// Merges the members of a type into an object that has this type and further members, such as a
/// variant with a tag: a closed type would reject the tag.
fn join(schema: &mut Value, types: &Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties")
                && let Some(Value::String(path)) = members.get("$ref")
                && let Some(Value::Object(own)) =
                    path.strip_prefix("#/$defs/").and_then(|name| types.get(name)).cloned()
            {
                members.remove("$ref");
                for (key, value) in own {
                    match (members.get_mut(&key), value) {
                        (Some(Value::Object(here)), Value::Object(there)) => here.extend(there),
                        (Some(Value::Array(here)), Value::Array(there)) => here.extend(there),
                        (Some(_), _) => {}
                        (None, value) => drop(members.insert(key, value)),
                    }
                }
            }
            for inner in members.values_mut() {
                join(inner, types);
            }
        }
        Value::Array(items) => {
            for inner in items {
                join(inner, types);
            }
        }
        _ => {}
    }
}

/// Closes a schema. `part` means that it is a part of an object that is closed as a whole.
fn close_object(schema: &mut Value, part: bool) {
    let Value::Object(members) = schema else { return };
    members.remove("format");
    if let Some(Value::String(words)) = members.get_mut("description") {
        *words = words.replace('\n', " ");
    }
    let has_members = members.contains_key("properties");
    let alternatives = ["allOf", "anyOf", "oneOf"];
    let composed = alternatives.iter().any(|key| members.contains_key(*key));
    let is_map = members.contains_key("additionalProperties");
    if has_members && !part && !is_map {
        let key = if composed { "unevaluatedProperties" } else { "additionalProperties" };
        members.insert(key.to_owned(), json!(false));
    }
    for (key, value) in members.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(inner)) => {
                for schema in inner.values_mut() {
                    close_object(schema, false);
                }
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(inner)) => {
                for schema in inner {
                    close_object(schema, part || has_members);
                }
            }
            ("prefixItems", Value::Array(inner)) => {
                for schema in inner {
                    close_object(schema, false);
                }
            }
            ("items" | "additionalProperties", schema) => close_object(schema, false),
            _ => {}
        }
    }
}
