//! The tools and their arguments.

use serde_json::{Map, Value, json};

use super::call::Order;
use super::order::{
    Given, audit_ops, check, compat, convert_in_place, convert_preview, diagnose_log, identify,
    port, search, triage, verify,
};
use super::page;
use super::place::Roots;
use crate::cli::Allowed;

/// A tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    /// The member of the document that is paged.
    pub(super) items: &'static str,
    /// Whether it only reads.
    reads_only: bool,
    build: fn(&Given<'_>, &mut Order) -> Result<(), String>,
}

/// An argument of a tool.
#[derive(Debug)]
struct Argument {
    name: &'static str,
    kind: ArgumentKind,
    about: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum ArgumentKind {
    Text,
    Choice(&'static [&'static str]),
    Number,
    /// One or more paths below the allowed directories.
    Paths,
    Words,
}

const PROFILES: &[&str] = &[
    "general",
    "import",
    "torch",
    "inference",
    "vllm",
    "sglang",
    "mindspore",
    "train",
    "multi-node",
    "container",
    "build",
    "node",
];
const ARCHS: &[&str] = &["aarch64", "x86_64"];

const fn text(name: &'static str, about: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Text, about }
}

const fn paths(about: &'static str) -> Argument {
    Argument { name: "paths", kind: ArgumentKind::Paths, about }
}

/// All tools, in the order in which agents need them.
const TOOLS: &[Tool] = &[
    Tool {
        name: "identify",
        title: "Identify one input",
        description: "Explain one pasted thing: an error code, a line of a log, a finding ID, a \
            version or pair of versions, an environment variable, a chip, a wheel or image name, a \
            library. Reads no file.",
        arguments: &[text("text", "What to explain, for example `507035` or `torch_npu 2.7.1`.")],
        items: "items",
        reads_only: true,
        build: identify,
    },
    Tool {
        name: "diagnose_log",
        title: "Find the first cause in logs",
        description: "Find the first cause of a failure in logs, with the lines that prove it and \
            the fix. Pass the text, or paths of files, directories or archives.",
        arguments: &[
            text("text", "Lines of the log."),
            paths("Log files, directories or archives."),
            Argument { name: "top", kind: ArgumentKind::Number, about: "Number of causes." },
        ],
        items: "findings",
        reads_only: true,
        build: diagnose_log,
    },
    Tool {
        name: "port",
        title: "Tell whether a project will run on NPUs",
        description: "Combine the preview of convert, the audit of operators and the requirements \
            of a project into one verdict: runs after the automatic changes, decisions left, or \
            blocked, with the order of work. Changes no file.",
        arguments: &[
            paths("Directory of the project: one path."),
            text("torch_npu", "Release of torch_npu to port to."),
        ],
        items: "findings",
        reads_only: true,
        build: port,
    },
    Tool {
        name: "triage",
        title: "Answer an issue text",
        description: "Answer the text of an issue: the versions that it states, judged by the \
            matrix, the first cause in its log, whether the versions explain it, and what is \
            still missing. Pass the text, or paths of texts and logs.",
        arguments: &[
            text("text", "Text of the issue, with its logs."),
            paths("Texts, logs, directories or archives."),
        ],
        items: "findings",
        reads_only: true,
        build: triage,
    },
    Tool {
        name: "check",
        title: "Check a machine",
        description: "Check this machine, or a copied root, for what its purpose requires: driver, \
            CANN, Python packages, devices. The verdict is pass, fail or inconclusive.",
        arguments: &[
            Argument {
                name: "profile",
                kind: ArgumentKind::Choice(PROFILES),
                about: "Purpose of the machine.",
            },
            text("root", "Copied or mounted root to check instead of this machine."),
            Argument { name: "only", kind: ArgumentKind::Words, about: "Only these IDs." },
            Argument { name: "skip", kind: ArgumentKind::Words, about: "Skip these IDs." },
        ],
        items: "findings",
        reads_only: true,
        build: check,
    },
    Tool {
        name: "compat",
        title: "List compatible versions",
        description: "List versions that work together, and the commands that install them. Name \
            the versions that are fixed.",
        arguments: &[
            text("torch", "PyTorch version."),
            text("torch_npu", "torch_npu version."),
            text("cann", "CANN version."),
            text("vllm_ascend", "vllm-ascend version."),
            text("python", "Python version, such as 3.11."),
            text("soc", "Chip, such as 910b, a3 or 310p."),
            Argument {
                name: "arch",
                kind: ArgumentKind::Choice(ARCHS),
                about: "Architecture of the host.",
            },
        ],
        items: "findings",
        reads_only: true,
        build: compat,
    },
    Tool {
        name: "convert_preview",
        title: "Preview the conversion of CUDA code",
        description: "List the changes that turn CUDA code into NPU code, and every place that a \
            person must decide. Writes nothing.",
        arguments: &[
            paths("Source files or directories."),
            text("target", "torch_npu version to convert for."),
        ],
        items: "findings",
        reads_only: true,
        build: convert_preview,
    },
    Tool {
        name: "audit_ops",
        title: "Audit the operators of a model",
        description: "List the operators of a model or source tree that run on the NPU, are \
            decomposed, fall back to the CPU, or fail.",
        arguments: &[
            paths("Models (.pt2, .onnx, traces) or Python sources."),
            text("torch_npu", "torch_npu version."),
            text("soc", "Chip, such as 910b."),
        ],
        items: "findings",
        reads_only: true,
        build: audit_ops,
    },
    Tool {
        name: "search",
        title: "Search codes and causes",
        description: "Search error codes and causes by words, in English or Chinese.",
        arguments: &[text("words", "Words, for example `link timeout`.")],
        items: "items",
        reads_only: true,
        build: search,
    },
];

/// A tool that needs permission at the start of the server.
const VERIFY: Tool = Tool {
    name: "verify",
    title: "Verify the results of the NPUs",
    description: "Run test computations on every NPU and compare the results. Uses the devices for \
        some seconds.",
    arguments: &[],
    items: "findings",
    reads_only: false,
    build: verify,
};
const CONVERT: Tool = Tool {
    name: "convert",
    title: "Convert CUDA code in place",
    description: "Convert a source tree in place. The answer names the command that undoes it. \
        Preview first.",
    arguments: &[
        paths("Source files or directories."),
        text("target", "torch_npu version to convert for."),
    ],
    items: "findings",
    reads_only: false,
    build: convert_in_place,
};

/// The tools that a server provides.
pub(super) fn offered(allowed: &[Allowed]) -> Vec<&'static Tool> {
    let mut all: Vec<&Tool> = TOOLS.iter().collect();
    for (one, tool) in [(Allowed::Verify, &VERIFY), (Allowed::Convert, &CONVERT)] {
        if allowed.contains(&one) {
            all.push(tool);
        }
    }
    all
}

impl Tool {
    /// The tool as listed by `tools/list`.
    pub(super) fn describe(&self) -> Value {
        let mut properties = Map::new();
        for argument in self.arguments {
            properties.insert(argument.name.to_owned(), argument.schema());
        }
        let cursor = "Continue a result: its `nextCursor`.";
        properties.insert("cursor".to_owned(), json!({ "type": "string", "description": cursor }));
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": self.required(),
                "additionalProperties": false,
            },
            "outputSchema": page::schema(),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.reads_only,
                "destructiveHint": !self.reads_only,
                "openWorldHint": false,
            },
        })
    }

    /// Arguments that a tool requires. Logs are passed as text or as paths.
    fn required(&self) -> Vec<&'static str> {
        match self.name {
            "identify" => vec!["text"],
            "search" => vec!["words"],
            "convert_preview" | "convert" | "audit_ops" | "port" => vec!["paths"],
            _ => Vec::new(),
        }
    }

    /// Returns the run that a call requests.
    ///
    /// # Errors
    ///
    /// The error in the arguments, for the model to correct.
    pub(super) fn order(&self, arguments: &Value, roots: &Roots) -> Result<Order, String> {
        let object = arguments.as_object().ok_or("`arguments` must be an object")?;
        for name in object.keys() {
            let is_known =
                name == "cursor" || self.arguments.iter().any(|argument| argument.name == name);
            if !is_known {
                return Err(format!("no argument `{name}`"));
            }
        }
        for name in self.required() {
            if object.get(name).is_none_or(Value::is_null) {
                return Err(format!("the argument `{name}` is missing"));
            }
        }
        for argument in self.arguments {
            if let (ArgumentKind::Choice(choices), Some(value)) =
                (argument.kind, object.get(argument.name))
                && !value.as_str().is_some_and(|value| choices.contains(&value))
            {
                return Err(format!("`{}` must be one of {}", argument.name, choices.join(", ")));
            }
        }
        let mut order = Order { arguments: Vec::new(), input: None };
        (self.build)(&Given { object, roots }, &mut order)?;
        Ok(order)
    }
}

impl Argument {
    fn schema(&self) -> Value {
        let strings = || json!({ "type": "string" });
        let mut schema = match self.kind {
            ArgumentKind::Text => strings(),
            ArgumentKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
            ArgumentKind::Number => json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
            ArgumentKind::Paths | ArgumentKind::Words => {
                json!({ "type": "array", "items": strings(), "minItems": 1, "maxItems": 100 })
            }
        };
        schema["description"] = self.about.into();
        schema
    }
}
