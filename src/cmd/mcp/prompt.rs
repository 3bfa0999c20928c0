//! Prompts for the three usual tasks.

use serde_json::{Value, json};

use super::message::RpcError;

struct Prompt {
    name: &'static str,
    title: &'static str,
    argument: &'static str,
    about: &'static str,
    text: &'static str,
}

const PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "triage_log",
        title: "Find the cause of a failure",
        argument: "path",
        about: "Log file, directory of logs or archive",
        text: "Find out why the run failed whose logs are in {value}. Call diagnose_log with the \
            path. Name the first cause, the lines that prove it and the fix for these versions. \
            Status 3 means that the logs do not show the cause: then say what is missing, and do \
            not guess. Call identify for every code before you state its meaning.",
    },
    Prompt {
        name: "prepare_machine",
        title: "Prepare a machine",
        argument: "goal",
        about: "Purpose: a profile of check, such as vllm or train",
        text: "Prepare this machine for {value}. Call check with this profile. Fix errors first, in \
            the order of the report, with the commands that it names. Call compat before you name \
            a version. Check again after every change. The machine is ready when the verdict is \
            pass. Inconclusive is not ready.",
    },
    Prompt {
        name: "migrate_repository",
        title: "Convert a CUDA repository",
        argument: "path",
        about: "Directory of the repository",
        text: "Prepare the repository in {value} for Ascend NPUs. Call convert_preview and \
            audit_ops with its path. List the automatic changes in one sentence, then every place \
            that a person must decide, with file and line, and every operator that falls back to \
            the CPU or fails. Change no file before the user agrees.",
    },
];

/// The prompts as listed by `prompts/list`.
pub(super) fn list() -> Vec<Value> {
    let describe = |prompt: &Prompt| {
        let argument =
            json!({ "name": prompt.argument, "description": prompt.about, "required": true });
        json!({ "name": prompt.name, "title": prompt.title, "arguments": [argument] })
    };
    PROMPTS.iter().map(describe).collect()
}

/// A prompt with its argument filled in.
pub(super) fn get(params: &Value) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| RpcError::invalid(format!("no prompt `{name}`")))?;
    let value = params.get("arguments").and_then(|given| given.get(prompt.argument));
    let missing = || RpcError::invalid(format!("the argument `{}` is missing", prompt.argument));
    let value = value.and_then(Value::as_str).ok_or_else(missing)?;
    let text = prompt.text.replace("{value}", value);
    Ok(json!({
        "description": prompt.title,
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    }))
}
