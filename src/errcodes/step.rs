//! A step of a cause, and how the facts of a log shorten and complete it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use base::report::FixStep;
use base::text::Text;

/// Facts that a log shows: values by the name of the group that captured them, and the kinds of
/// available evidence, without a value.
pub type KnownFacts = BTreeMap<String, String>;

/// One action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
    /// A command line. `{name:default}` takes the value that a log names, or else the default.
    #[serde(default)]
    pub run: Option<String>,
    /// The fact that this step only determines: a value of a signature, or a kind of evidence. If
    /// it is known, the step is omitted.
    #[serde(default)]
    pub asks: Option<String>,
}

impl Step {
    /// The step completed with known facts; `None` if it only asks for one of them.
    pub fn with_facts(&self, known: &KnownFacts) -> Option<FixStep> {
        if self.asks.as_ref().is_some_and(|fact| known.contains_key(fact)) {
            return None;
        }
        Some(FixStep {
            text: Text::new(&self.en, &self.zh),
            run: self.run.as_ref().map(|run| fill(run, known)),
        })
    }

    /// The step without facts of a log.
    pub fn fix_step(&self) -> FixStep {
        FixStep {
            text: Text::new(&self.en, &self.zh),
            run: self.run.as_ref().map(|run| fill(run, &KnownFacts::new())),
        }
    }

    /// The names of all facts that the step asks for or can use.
    pub fn facts(&self) -> impl Iterator<Item = &str> {
        let run = self.run.as_deref().unwrap_or_default();
        self.asks.as_deref().into_iter().chain(holes(run).map(|hole| hole.name))
    }
}

/// The steps of a cause with the facts of a log. If all steps ask for known facts, they are kept:
/// an answer needs a next step.
pub fn steps_with_facts(steps: &[Step], known: &KnownFacts) -> Vec<FixStep> {
    let mut left: Vec<FixStep> = steps.iter().filter_map(|step| step.with_facts(known)).collect();
    if left.is_empty() {
        left = steps.iter().map(Step::fix_step).collect();
    }
    left
}

struct Hole<'r> {
    start: usize,
    end: usize,
    name: &'r str,
    default: &'r str,
}

/// The `{name:default}` of a command line. Braces of a shell or of Python do not have this form.
fn holes(run: &str) -> impl Iterator<Item = Hole<'_>> {
    run.match_indices('{').filter_map(|(start, _)| {
        let inside = &run[start + 1..];
        let inside = &inside[..inside.find('}')?];
        let (name, default) = inside.split_once(':')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        (is_name && is_value(default)).then(|| Hole {
            start,
            end: start + inside.len() + 2,
            name,
            default,
        })
    })
}

fn fill(run: &str, known: &KnownFacts) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for hole in holes(run) {
        let value = known.get(hole.name).filter(|value| is_plain(value));
        text += &run[at..hole.start];
        text += value.map_or(hole.default, String::as_str);
        at = hole.end;
    }
    text + &run[at..]
}

/// Whether a default is a word or a path, and not a Python format.
fn is_value(default: &str) -> bool {
    !default.is_empty() && default.split('/').all(|part| part.is_empty() || is_plain(part))
}

/// Whether a value is one word in every shell: logs are untrusted, and people paste commands.
fn is_plain(value: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-');
    (1..=100).contains(&value.len())
        && value.bytes().all(plain)
        && !value.starts_with('-')
        && !value.starts_with('.')
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fix_step().serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Step {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn step(run: &str, asks: Option<&str>) -> Step {
        Step {
            en: "Find it".to_owned(),
            zh: "查找".to_owned(),
            run: Some(run.to_owned()),
            asks: asks.map(str::to_owned),
        }
    }

    fn known(name: &str, value: &str) -> KnownFacts {
        KnownFacts::from([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn a_known_value_takes_the_place_of_the_default() {
        let size = step("export HCCL_BUFFSIZE={need:1024}", None);
        assert_eq!(size.fix_step().run.as_deref(), Some("export HCCL_BUFFSIZE=1024"));
        let filled = size.with_facts(&known("need", "609")).unwrap();
        assert_eq!(filled.run.as_deref(), Some("export HCCL_BUFFSIZE=609"));
        assert_eq!(size.facts().collect::<Vec<_>>(), ["need"]);
    }

    #[test]
    fn a_value_that_a_shell_would_read_otherwise_is_not_used() {
        for hostile in ["1;reboot", "$(reboot)", "a b", "-rf", "..", "", "`x`", "值"] {
            let filled = step("kill {pid:12345}", None).with_facts(&known("pid", hostile)).unwrap();
            assert_eq!(filled.run.as_deref(), Some("kill 12345"), "{hostile}");
        }
    }

    #[test]
    fn other_braces_stay() {
        for run in ["awk '{print $2}'", "${HOME}", "f'{x:>8}'", "{a,b}", "{", "{x", "{:1}", "{x:}"]
        {
            assert_eq!(fill(run, &KnownFacts::new()), run);
        }
    }

    #[test]
    fn what_is_known_is_not_asked_for() {
        let steps = [step("grep kernel_name log", Some("op")), step("true", None)];
        let runs = |known: &KnownFacts| -> Vec<String> {
            steps_with_facts(&steps, known).into_iter().filter_map(|step| step.run).collect()
        };
        assert_eq!(runs(&KnownFacts::new()), ["grep kernel_name log", "true"]);
        assert_eq!(runs(&known("op", "MatMulV2")), ["true"]);
        let only = steps_with_facts(&steps[..1], &known("op", "MatMulV2"));
        assert_eq!(only.len(), 1, "a cause without steps would be no answer");
    }
}
