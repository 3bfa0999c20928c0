//! Parser of the user's own families, codes, causes, notes and signatures: `--data FILE`.
//!
//! The file is TOML in the format of the built-in tables: `[[family]]` as in
//! `data/cann_errors.toml`, `[[cause]]`
//! as in `data/errors/causes/`, `[[note]]` as in `data/errors/notes.toml`, `[[signature]]` as in
//! the files of `data/errors/signatures/`, and `[[code]]` for codes. An entry for a built-in code,
//! cause, note or signature replaces the built-in one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::cause::Cause;
use super::cause_table::{self, evidence};
use super::family::{Family, Row};
use super::log::{Role, Signature};
use super::overlay::{Overlay, set_overlay};
use super::query::Query;
use super::table;
use data::{FileError, UserFile, WithLine, faults};

/// Installs a file over the tables, before their first use.
///
/// # Errors
///
/// With the line, if the file does not parse, names a missing item or omits a required value.
///
/// # Panics
///
/// If the tables are already in use: values read from them could contradict the file.
pub fn install(text: &str) -> Result<(), FileError> {
    set_overlay(parse(text)?);
    Ok(())
}

/// A user's code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserCode {
    family: String,
    code: String,
    #[serde(default)]
    symbol: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    zh: String,
    #[serde(default)]
    component: String,
    #[serde(default)]
    becomes: Vec<String>,
    #[serde(default)]
    doc: String,
    /// Its cause.
    cause: Option<String>,
    /// How certain the cause is, in tenths.
    #[serde(default = "default_weight")]
    weight: u8,
    /// The source of this knowledge.
    source: String,
}

fn default_weight() -> u8 {
    20
}

fn parse(text: &str) -> Result<Overlay, FileError> {
    let mut file =
        UserFile::parse(text, &["schema", "family", "code", "cause", "note", "signature"])?;
    let schema: WithLine<u32> = file.take_required("schema")?;
    if schema.value != 1 {
        return Err(FileError::new(schema.line, faults::SchemaExpected { schema: "1" }));
    }
    let own_causes: Vec<WithLine<Cause>> = file.take_rows("cause")?;
    let mut overlay = Overlay::default();
    // Lines of families, whose causes may come later in the file.
    let mut lines = BTreeMap::new();
    let built_in = table::built_in();
    for WithLine { line: at, value: family } in file.take_rows::<Family>("family")? {
        let taken = built_in.iter().chain(&overlay.families).any(|known| known.id == family.id);
        if taken {
            return Err(FileError::new(at, faults::UserFamilyExists { id: family.id }));
        }
        lines.insert(family.id.clone(), at);
        overlay.families.push(family);
    }
    let mut own = BTreeSet::new();
    for WithLine { line: at, value: cause } in &own_causes {
        let id = &cause.id;
        if !id.contains('.') {
            return Err(FileError::new(*at, faults::UserCauseName { id }));
        }
        if !own.insert(id.clone()) {
            return Err(FileError::new(*at, faults::UserCauseTwice { id }));
        }
    }
    let is_cause = |id: &str| own.contains(id) || cause_table::find_built_in(id).is_some();
    for WithLine { line: at, value: cause } in &own_causes {
        let at = *at;
        if let Some(id) = cause.related.iter().find(|id| !is_cause(id)) {
            return Err(FileError::new(at, faults::UserNoCause { id }));
        }
        if let Some(id) = cause.evidence.iter().find(|id| evidence(id).is_none()) {
            return Err(FileError::new(at, faults::UserNoEvidence { id }));
        }
        if cause.steps.is_empty() {
            return Err(FileError::new(at, faults::UserCauseWithoutStep { id: &cause.id }));
        }
    }
    for family in &overlay.families {
        if let Some(id) = family.cause.as_ref().filter(|id| !is_cause(id)) {
            let at = lines.get(&family.id).copied().unwrap_or(1);
            return Err(FileError::new(at, faults::UserFamilyNoCause { family: &family.id, id }));
        }
    }
    let mut seen = BTreeSet::new();
    for WithLine { line: at, value: code } in file.take_rows::<UserCode>("code")? {
        let known = built_in.iter().chain(&overlay.families).find(|known| known.id == code.family);
        let Some(family) = known else {
            return Err(FileError::new(at, faults::UserNoFamily { id: code.family }));
        };
        if let Some(id) = code.cause.as_ref().filter(|id| !is_cause(id)) {
            return Err(FileError::new(at, faults::UserNoCause { id }));
        }
        if !(1..=30).contains(&code.weight) {
            return Err(FileError::new(at, faults::UserWeight { most: 30 }));
        }
        // In the spelling of the family, so that a lookup finds it.
        let spelled = match Query::parse(&code.code) {
            Query::Name(_) => code.code.clone(),
            number @ Query::Number { .. } => {
                number.spellings(family.kind).into_iter().next().unwrap_or_default()
            }
        };
        if spelled.is_empty() || spelled.contains(['\t', '\n']) {
            return Err(FileError::new(
                at,
                faults::UserNotACode { code: code.code, family: code.family },
            ));
        }
        if !seen.insert((code.family.clone(), spelled.clone())) {
            return Err(FileError::new(at, faults::UserCodeTwice { code: code.code }));
        }
        if let Some(id) = code.cause {
            overlay.links.push((code.family.clone(), spelled.clone(), id, code.weight));
        }
        let row = Row {
            code: spelled,
            symbol: code.symbol,
            message: code.message,
            zh: code.zh,
            component: code.component,
            becomes: code.becomes,
            doc: code.doc,
            source: code.source,
            ..Row::default()
        };
        overlay.rows.push((code.family, row));
    }
    for WithLine { line: at, value: signature } in file.take_rows::<Signature>("signature")? {
        if let Some(fault) = signature.find_defect() {
            return Err(FileError::new(at, faults::UserSignature { id: signature.id, why: fault }));
        }
        if signature.role != Role::Context && !is_cause(&signature.cause) {
            return Err(FileError::new(at, faults::UserNoCause { id: signature.cause }));
        }
        if overlay.signatures.iter().any(|known| known.id == signature.id) {
            return Err(FileError::new(at, faults::UserSignatureTwice { id: signature.id }));
        }
        overlay.signatures.push(signature);
    }
    overlay.causes = own_causes.into_iter().map(|cause| cause.value).collect();
    overlay.notes = file.take_rows("note")?.into_iter().map(|note| note.value).collect();
    Ok(overlay)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
schema = 1

[[family]]
id = "house"
kind = "decimal"
title = { en = "House", zh = "自有" }
says = { en = "Printed by our launcher", zh = "由启动器打印" }
context = ["launcher says"]

[[cause]]
id = "house.disk_full"
title = { en = "The scratch disk is full", zh = "临时盘已满" }
text = { en = "…", zh = "……" }
sources = ["our wiki"]
[[cause.step]]
en = "Clean it"
zh = "清理"

[[code]]
family = "house"
code = "0x10"
symbol = "NO_SPACE"
cause = "house.disk_full"
source = "our wiki"

[[signature]]
id = "house.scratch"
cause = "house.disk_full"
role = "root"
weight = 80
literals = ['no space on scratch']
regex = 'no space on scratch'
example = 'launcher: no space on scratch'
counter = 'space on scratch'
source = "our wiki"
"#;

    #[test]
    fn a_good_file_is_read_and_its_codes_are_spelled_as_their_family_does() {
        let overlay = parse(GOOD).unwrap();
        assert_eq!(overlay.rows[0].1.code, "16");
        assert_eq!(overlay.links[0].2, "house.disk_full");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let bad = |from: &str, to: &str| {
            let error = parse(&GOOD.replacen(from, to, 1)).unwrap_err();
            (error.line, error.what.en)
        };
        assert_eq!(bad("schema = 1", "schema = 2").0, 2);
        assert_eq!(
            bad("family = \"house\"", "family = \"hous\""),
            (20, "unknown family `hous`".to_owned())
        );
        assert_eq!(bad("cause = \"house.disk_full\"", "cause = \"house.disk\"").0, 20);
        assert_eq!(bad("id = \"house\"", "id = \"acl_rt\"").0, 4);
        assert_eq!(bad("kind = \"decimal\"", "kind = \"decimal\"\ncause = \"no.cause\"").0, 4);
        assert_eq!(bad("id = \"house.disk_full\"", "id = \"disk_full\"").0, 11);
        assert_eq!(bad("code = \"0x10\"", "code = \"\"").0, 20);
        assert_eq!(bad("symbol = \"NO_SPACE\"", "symbl = \"NO_SPACE\"").0, 23);
        assert_eq!(bad("schema = 1", "schema = ").0, 2);
        assert_eq!(parse("").unwrap_err().line, 1);
        assert_eq!(
            bad("'no space on scratch'", "'elsewhere'"),
            (27, "signature `house.scratch`: the example contains none of the literals".to_owned())
        );
        assert_eq!(bad("'no space on scratch'", "'no'").0, 27);
        assert_eq!(bad("regex = 'no space", "regex = '(no space").0, 27);
        assert_eq!(bad("counter = 'space", "counter = 'no space").0, 27);
        assert_eq!(bad("cause = \"house.disk_full\"\nrole", "cause = \"house.x\"\nrole").0, 27);
    }
}
