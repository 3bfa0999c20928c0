//! The texts of all findings, in both languages: `data/findings/*.toml`.
//!
//! A rule selects a message of a finding ID and its arguments; the sentences are here. The same
//! table is the source of the reports, `explain`, and the reference pages under `docs/`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Serialize, Serializer};

use super::table;
use crate::data_pack::{Pack, PackError, invalid};
use crate::packed::built_in_table;
use crate::ui;
use crate::{Component, FindingId, Outcome, Phase, RawFinding, Reason, Requirement};
use base::report::{CheckState, Finding, FixStep, Report, RuleResult, Severity, UNKNOWN_VERSION};
use base::text::{Lang, Text, fill, fill_quoted};

/// The family files, in the order in which they appear in the reference.
const FAMILIES: [&str; 20] = [
    "scan", "host", "dev", "drv", "cann", "nnal", "env", "py", "torch", "tnpu", "vllm", "ms",
    "net", "proc", "site", "convert", "verify", "ops", "fleet", "lint",
];
/// The maximum length of an argument in a sentence, in bytes: the maximum length of a path. It
/// prevents a malicious file from producing a report of megabytes.
const MAX_ARGUMENT: usize = 4 << 10;
/// The maximum length of a value shown as evidence, in bytes. Search paths can be long.
const MAX_VALUE: usize = 64 << 10;

static CATALOG: Catalog =
    Catalog { families: [const { OnceLock::new() }; FAMILIES.len()], reasons: OnceLock::new() };

/// All families of findings. Each is unpacked on first use, because most commands report findings
/// of one or two of them.
#[derive(Debug)]
pub struct Catalog {
    families: [OnceLock<Family>; FAMILIES.len()],
    reasons: OnceLock<BTreeMap<String, ReasonText>>,
}

/// A family of findings: one file, one page of the reference.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Format of the file; 1.
    pub schema: u32,
    /// The prefix of its IDs, in lowercase.
    pub family: String,
    /// Heading.
    pub title: Text,
    /// The findings.
    #[serde(default, rename = "finding")]
    pub entries: Vec<Entry>,
}

/// One finding ID.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The ID, for example `CANN-HOME`. Never reused for another meaning.
    pub id: String,
    /// The tool version that introduced it.
    pub since: String,
    /// The highest severity that it can have.
    pub severity: Severity,
    /// The healthy state, in a few words.
    pub name: Text,
    /// The meaning and the effect of the finding.
    pub why: Text,
    /// The detection method.
    pub detects: Text,
    /// The sources of the rule: documents, source files, threads.
    pub sources: Vec<String>,
    /// The messages, by key.
    #[serde(default)]
    pub message: BTreeMap<String, MessageTemplate>,
}

/// One message of a finding ID.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MessageTemplate {
    /// One sentence, with placeholders.
    pub title: Text,
    /// The cause; the entry's `why` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Text>,
    /// The steps of the fix, in order.
    #[serde(default)]
    pub fix: Vec<FixTemplate>,
}

/// One step of a fix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixTemplate {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
    /// A command line; the values of its placeholders are quoted for a shell.
    pub run: Option<String>,
    /// The phase in which it is carried out; `None` for an inspection, or for an alternative to
    /// another step.
    pub phase: Option<Phase>,
    /// Requirements in addition to the command.
    #[serde(default)]
    pub needs: Vec<Requirement>,
    /// The component that it installs, in a version that a plan selects.
    #[serde(default)]
    pub installs: Vec<Component>,
}

impl Serialize for FixTemplate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = Text::new(&self.en, &self.zh);
        FixStep { text, run: self.run.clone() }.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for FixTemplate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        FixStep::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<FixStep>()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    reason: BTreeMap<String, ReasonText>,
}

/// Why a rule has no result, and the evidence that would provide one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonText {
    en: String,
    zh: String,
    settle: Option<Text>,
}

/// IDs and messages of the findings that the program reports, by family.
static NEEDED: LazyLock<Vec<Family>> = LazyLock::new(|| {
    FAMILIES.iter().map(|name| built_in_table(&format!("findings/{name}"))).collect()
});
/// The reasons that the program uses.
static NEEDED_REASONS: LazyLock<Reasons> = LazyLock::new(|| built_in_table("findings/reasons"));

/// Decodes the tables of a pack. They must have all messages that the program uses.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    for (name, needed) in FAMILIES.iter().zip(NEEDED.iter()) {
        let table = format!("findings/{name}");
        let family: Family = pack.table(&table)?;
        let found: BTreeMap<&str, &Entry> =
            family.entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
        for entry in &needed.entries {
            let found = found.get(entry.id.as_str());
            let found = found.ok_or_else(|| invalid(&table, format!("{} is missing", entry.id)))?;
            if let Some(key) = entry.message.keys().find(|key| !found.message.contains_key(*key)) {
                return Err(invalid(&table, format!("{} has no message `{key}`", entry.id)));
            }
        }
    }
    let reasons = pack.table::<Reasons>("findings/reasons")?.reason;
    match NEEDED_REASONS.reason.keys().find(|key| !reasons.contains_key(*key)) {
        Some(key) => Err(invalid("findings/reasons", format!("`{key}` is missing"))),
        None => Ok(()),
    }
}

impl Catalog {
    /// Returns the built-in catalog.
    pub fn builtin() -> &'static Self {
        &CATALOG
    }

    /// Returns the families, in reference order.
    pub fn families(&self) -> impl Iterator<Item = &Family> {
        (0..FAMILIES.len()).map(|at| self.family(at))
    }

    fn family(&self, at: usize) -> &Family {
        self.families[at].get_or_init(|| table(&format!("findings/{}", FAMILIES[at])))
    }

    fn reasons(&self) -> &BTreeMap<String, ReasonText> {
        self.reasons.get_or_init(|| table::<Reasons>("findings/reasons").reason)
    }

    /// Returns all entries, in reference order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.families().flat_map(|family| &family.entries)
    }

    /// Returns the entry with this ID, ignoring case.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.find_entry(id).map(|(_, entry)| entry)
    }

    /// Returns the family with this ID, ignoring case.
    pub fn family_of(&self, id: &str) -> Option<&Family> {
        self.find_entry(id).map(|(family, _)| family)
    }

    /// Looks first in the family whose name is the prefix of the ID. A few IDs have other prefixes.
    fn find_entry(&self, id: &str) -> Option<(&Family, &Entry)> {
        let prefix = id.split('-').next().unwrap_or_default();
        let likely = FAMILIES.iter().position(|name| name.eq_ignore_ascii_case(prefix));
        let others = (0..FAMILIES.len()).filter(|at| Some(*at) != likely);
        likely.into_iter().chain(others).find_map(|at| {
            let family = self.family(at);
            let entry = family.entries.iter().find(|entry| entry.id.eq_ignore_ascii_case(id))?;
            Some((family, entry))
        })
    }

    /// Returns the text of a reason.
    pub fn reason(&self, reason: &Reason) -> Text {
        let Some(text) = self.reasons().get(reason.key()) else {
            return Text::same(reason.key());
        };
        let args = BTreeMap::from([("what", reason.what().unwrap_or_default().to_owned())]);
        Text { en: fill(&text.en, &args), zh: fill(&text.zh, &args) }
    }

    /// Returns the evidence that settles a reason, as an instruction, if the catalog has one.
    pub fn settle(&self, reason: &Reason) -> Option<Text> {
        let text = self.reasons().get(reason.key())?.settle.as_ref()?;
        let what = BTreeMap::from([("what", reason.what().unwrap_or_default().to_owned())]);
        Some(Text { en: fill(&text.en, &what), zh: fill(&text.zh, &what) })
    }

    /// Returns the result of a rule without its findings.
    pub fn result(&self, id: FindingId, state: CheckState, reason: Option<&Reason>) -> RuleResult {
        let name = self.entry(id.as_str()).map(|entry| entry.name.clone()).unwrap_or_default();
        RuleResult {
            reason: reason.map(|reason| self.reason(reason)),
            settle: reason.and_then(|reason| self.settle(reason)),
            ..RuleResult::new(id.as_str(), name, state)
        }
    }

    /// Adds the findings and the result of a rule to a report.
    pub fn record(&self, id: FindingId, outcome: Outcome, report: &mut Report) {
        let result = match outcome {
            Outcome::Passed => self.result(id, CheckState::Passed, None),
            Outcome::NotApplicable(why) => self.result(id, CheckState::NotApplicable, Some(&why)),
            Outcome::NotChecked(why) => self.result(id, CheckState::NotChecked, Some(&why)),
            Outcome::Blocked(why) => {
                let result = self.result(id, CheckState::NotChecked, Some(&why));
                RuleResult { blocked: true, ..result }
            }
            Outcome::Found(found) => {
                report.findings.extend(found.into_iter().map(|found| self.resolve(found)));
                self.result(id, CheckState::Found, None)
            }
            Outcome::FoundInPart(found, why) => {
                report.findings.extend(found.into_iter().map(|found| self.resolve(found)));
                let result = self.result(id, CheckState::Found, Some(&why));
                RuleResult { blocked: true, ..result }
            }
        };
        log::debug!("{id} {:?}", result.state);
        report.results.push(result);
    }

    /// Adds the texts to the result of a rule. A missing ID or message is a defect that tests find.
    /// At run time it appears as its bare key, so no finding is lost.
    pub fn resolve(&self, mut found: RawFinding) -> Finding {
        debug_assert!(found.is_complete(), "{} lacks values", found.id);
        let values = found.args.values_mut().chain(found.args_zh.values_mut());
        values.for_each(|value| shorten(value, MAX_ARGUMENT));
        for evidence in &mut found.evidence {
            evidence.value.iter_mut().for_each(|value| shorten(value, MAX_VALUE));
        }
        let entry = self.entry(found.id.as_str());
        let template = entry.and_then(|entry| entry.message.get(found.message));
        debug_assert!(template.is_some(), "no message `{}` of `{}`", found.message, found.id);
        let args = &found.args;
        let (en, mut zh) = (spell_arguments(args, Lang::En), spell_arguments(args, Lang::Zh));
        zh.extend(std::mem::take(&mut found.args_zh));
        let both = |text: &Text| Text { en: fill(&text.en, &en), zh: fill(&text.zh, &zh) };
        let title = template.map_or_else(
            || Text::same(format!("{} {:?}", found.message, args)),
            |t| both(&t.title),
        );
        let cause = template
            .and_then(|t| t.cause.as_ref())
            .or(entry.map(|entry| &entry.why))
            .map(both)
            .unwrap_or_default();
        let fix = template.map(|t| t.fix.as_slice()).unwrap_or_default();
        Finding {
            id: found.id.to_string(),
            message: found.message.to_owned(),
            severity: found.severity,
            title,
            cause,
            fix: fix
                .iter()
                .map(|step| FixStep {
                    text: Text { en: fill(&step.en, &en), zh: fill(&step.zh, &zh) },
                    run: step.run.as_deref().map(|run| fill_quoted(run, args)),
                })
                .collect(),
            evidence: found.evidence,
            refs: entry.map(|entry| entry.sources.clone()).unwrap_or_default(),
            because: found.because.iter().map(|id| id.as_str()).collect(),
            consequences: Vec::new(),
            values: BTreeMap::new(),
        }
    }
}

/// Returns the arguments in the form for sentences of this language.
fn spell_arguments(
    args: &BTreeMap<&'static str, String>,
    lang: Lang,
) -> BTreeMap<&'static str, String> {
    let mut args = args.clone();
    for value in args.values_mut().filter(|value| *value == UNKNOWN_VERSION) {
        *value = ui::UNKNOWN_VERSION.get(lang);
    }
    args
}

/// Cuts `text` to about `limit` bytes, between characters.
fn shorten(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::findings::{cann_ops, scan_read};
    use base::text::placeholders;

    #[test]
    fn an_unknown_version_is_spelled_out() {
        let found =
            cann_ops::Absent { chip: "", dir: "", root: "", version: UNKNOWN_VERSION }.info();
        let title = Catalog::builtin().resolve(found).title;
        assert!(
            title.en.contains("(version unknown)") && title.zh.contains("版本未知"),
            "{title:?}"
        );
    }

    fn both_languages(what: &str, text: &Text) {
        assert!(!text.en.trim().is_empty(), "{what} lacks English");
        assert!(!text.zh.trim().is_empty(), "{what} lacks Chinese");
        assert_eq!(
            placeholders(&text.en),
            placeholders(&text.zh),
            "{what}: the placeholders of the two languages differ"
        );
        assert!(
            text.zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)),
            "{what}: the Chinese text is not Chinese: {}",
            text.zh
        );
    }

    #[test]
    fn every_message_has_both_languages() {
        let catalog = Catalog::builtin();
        for entry in catalog.entries() {
            both_languages(&entry.id, &entry.name);
            both_languages(&entry.id, &entry.why);
            both_languages(&entry.id, &entry.detects);
            for (key, message) in &entry.message {
                let what = format!("{} {key}", entry.id);
                both_languages(&what, &message.title);
                message.cause.iter().for_each(|text| both_languages(&what, text));
                for step in &message.fix {
                    both_languages(&what, &Text::new(&step.en, &step.zh));
                }
            }
        }
        for (key, reason) in catalog.reasons() {
            both_languages(key, &Text::new(&reason.en, &reason.zh));
            reason.settle.iter().for_each(|settle| both_languages(key, settle));
        }
    }

    #[test]
    fn entries_are_found_whatever_their_ids_begin_with() {
        let catalog = Catalog::builtin();
        for family in catalog.families() {
            for entry in &family.entries {
                let (found, of) = (catalog.entry(&entry.id), catalog.family_of(&entry.id));
                assert!(found.is_some_and(|found| std::ptr::eq(found, entry)), "{}", entry.id);
                assert!(of.is_some_and(|of| std::ptr::eq(of, family)), "{}", entry.id);
            }
        }
        assert_eq!(catalog.entry("mooncake-lib").map(|entry| &*entry.id), Some("MOONCAKE-LIB"));
        assert!(catalog.entry("CANN-").is_none() && catalog.entry("").is_none());
    }

    #[test]
    fn commands_name_the_interpreter() {
        for entry in Catalog::builtin().entries() {
            for (key, message) in &entry.message {
                for run in message.fix.iter().filter_map(|step| step.run.as_deref()) {
                    let bare = run.split("&&").any(|command| {
                        command
                            .split_whitespace()
                            .find(|word| !word.contains('='))
                            .is_some_and(|word| word.starts_with("pip"))
                    });
                    assert!(!bare, "{} {key}: `{run}` may run another pip", entry.id);
                }
            }
        }
    }

    #[test]
    fn values_of_the_machine_are_bounded() {
        let long = "版".repeat(1 << 20);
        let evidence = base::report::Evidence::file("/x").value(&long);
        let found =
            scan_read::Unreadable { path: "/x", detail: &long }.warning().evidence(evidence);
        let finding = Catalog::builtin().resolve(found);
        assert!(finding.title.en.len() + finding.cause.en.len() < 4 * MAX_ARGUMENT);
        let value = finding.evidence[0].value.as_deref().unwrap();
        assert!(value.len() <= MAX_VALUE + 3 && value.ends_with("版…"));
    }

    #[test]
    fn ids_are_unique_and_belong_to_their_family() {
        let mut seen = BTreeSet::new();
        for (family, file) in Catalog::builtin().families().zip(FAMILIES) {
            assert_eq!(family.schema, 1);
            assert_eq!(family.family, *file);
            for entry in &family.entries {
                assert!(seen.insert(&entry.id), "{} occurs twice", entry.id);
                assert_eq!(entry.id, entry.id.to_ascii_uppercase());
                assert!(!entry.sources.is_empty(), "{} has no source", entry.id);
                assert!(!entry.message.is_empty(), "{} has no message", entry.id);
            }
        }
    }
}
