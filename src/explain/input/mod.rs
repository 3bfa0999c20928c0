//! Recognizes inputs: what a text or a file is, and the subcommand that handles it.
//!
//! The caller reads files. `ascend-doctor THING` and the offline page use the same rules.

pub mod bundle;
mod file;
mod issue;
mod words;

use serde::Serialize;

use base::text::{Text, shell_quote};
use data::ui;

pub use file::{by_content, by_extension};
pub use words::detect as detect_text;

/// The longest command of the first line, in characters.
const LINE: usize = 60;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputType {
    /// No input: the machine.
    Machine,
    /// Error codes, alone or in a few words.
    Code,
    /// IDs of findings, causes or rules of `convert`, or names of code families.
    Name,
    /// A variable, chip, release, wheel name, image or path.
    Fact,
    /// A function or package of CUDA.
    Api,
    /// Lines of a log.
    LogText,
    /// Log files, directories of logs, archives, standard input.
    Log,
    /// A source tree or source file.
    Source,
    /// A model file.
    Model,
    /// A wheel file.
    Wheel,
    /// JSON reports.
    Report,
    /// Facts of a machine.
    Facts,
    /// A copied or mounted root.
    Root,
    /// A description of a failure in words.
    Description,
    /// The text of an issue: versions, output of programs and logs.
    Issue,
    /// A support bundle.
    Bundle,
}

impl InputType {
    const fn label(self) -> ui::Label {
        match self {
            Self::Machine => ui::INPUT_MACHINE,
            Self::Code => ui::INPUT_CODE,
            Self::Name => ui::INPUT_NAME,
            Self::Fact => ui::INPUT_FACT,
            Self::Api => ui::INPUT_API,
            Self::LogText => ui::INPUT_LOG_TEXT,
            Self::Issue => ui::INPUT_ISSUE,
            Self::Bundle => ui::INPUT_BUNDLE,
            Self::Log => ui::INPUT_LOG,
            Self::Source => ui::INPUT_SOURCE,
            Self::Model => ui::INPUT_MODEL,
            Self::Wheel => ui::INPUT_WHEEL,
            Self::Report => ui::INPUT_REPORT,
            Self::Facts => ui::INPUT_FACTS,
            Self::Root => ui::INPUT_ROOT,
            Self::Description => ui::INPUT_DESCRIPTION,
        }
    }
}

/// What a command line without a subcommand was taken for.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detected {
    /// The kind of the input.
    #[serde(rename = "type")]
    kind: InputType,
    /// The command that handles only this kind.
    command: String,
    /// The kind in words.
    #[serde(skip)]
    what: Text,
}

impl Detected {
    /// What inputs were taken for.
    pub fn new(route: &Route) -> Self {
        Self { kind: route.kind, command: route.shown(), what: route.what() }
    }

    /// No input, which stands for the machine and `command`.
    pub fn machine(command: &str) -> Self {
        let kind = InputType::Machine;
        Self { kind, command: command.to_owned(), what: kind.label().text() }
    }

    /// The first line of the answer.
    pub fn line(&self) -> Text {
        // A pasted line of a log would be there twice.
        let command = match self.command.char_indices().nth(LINE) {
            Some((at, _)) => format!("{}…", &self.command[..at]),
            None => self.command.clone(),
        };
        ui::DetectedInput { what: self.what.clone(), command }.text()
    }
}

/// The subcommand for inputs: its words, and the inputs as it takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The kind of the inputs.
    pub kind: InputType,
    /// The subcommand with its options, for example `check --facts`.
    pub command: &'static [&'static str],
    /// The inputs.
    pub inputs: Vec<String>,
    /// What the input is, if the kind has several forms.
    pub form: Option<ui::Label>,
}

impl Route {
    /// The subcommand for one input.
    pub fn new(kind: InputType, command: &'static [&'static str], input: &str) -> Self {
        Self { kind, command, inputs: vec![input.to_owned()], form: None }
    }

    fn of_form(self, form: ui::Label) -> Self {
        Self { form: Some(form), ..self }
    }

    /// What the inputs are.
    pub fn what(&self) -> Text {
        self.form.unwrap_or_else(|| self.kind.label()).text()
    }

    /// Whether `explain` has a page about each input of the kind.
    fn is_explained(&self) -> bool {
        matches!(self.kind, InputType::Code | InputType::Name | InputType::Fact | InputType::Api)
    }

    /// The words behind the options of all subcommands.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.command.iter().map(|&word| word.to_owned()).collect();
        // An input that looks like an option is none.
        if self.inputs.iter().any(|input| input.starts_with('-') && input != "-") {
            words.push("--".to_owned());
        }
        words.extend(self.inputs.iter().cloned());
        words
    }

    /// The command line for people.
    pub fn shown(&self) -> String {
        let words = self.words();
        let quoted: Vec<_> = words.iter().map(|word| shell_quote(word)).collect();
        format!("ascend-doctor {}", quoted.join(" "))
    }
}

/// What inputs turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// One subcommand handles them.
    One(Route),
    /// Two do, and the user has to choose.
    Two(Route, Route),
    /// Each needs a command of its own.
    Mixed(Vec<Route>),
    /// An address: nothing is fetched.
    Address,
    /// Nothing is known of them.
    Nothing,
}

/// The command for all of several inputs, if there is one.
pub fn join(routes: Vec<Route>) -> Found {
    let Some(first) = routes.first() else { return Found::Nothing };
    let inputs = || routes.iter().flat_map(|route| route.inputs.clone()).collect();
    if routes.iter().all(|route| route.command == first.command) {
        Found::One(Route { inputs: inputs(), ..first.clone() })
    } else if routes.iter().all(Route::is_explained) {
        let (kind, command) = (InputType::Name, &["explain"]);
        Found::One(Route { kind, command, inputs: inputs(), form: None })
    } else {
        Found::Mixed(routes)
    }
}

/// The member of a report that names the detected input.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputMember<'a> {
    /// What a command line without a subcommand was taken for.
    pub input: &'a Detected,
}

/// A document with the detected input, if there is one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WithInput<'a, D> {
    /// The document.
    #[serde(flatten)]
    pub document: &'a D,
    /// What a command line without a subcommand was taken for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub input: Option<&'a Detected>,
}
