//! Builds the command line for a tool call.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value};

use super::call::Order;
use super::place::Roots;
use crate::cmd::front;

/// Maximum length of a text argument, in bytes. Longer logs are passed as files.
const TEXT: usize = 1 << 20;

/// The arguments of a call.
pub(super) struct Given<'a> {
    pub(super) object: &'a Map<String, Value>,
    pub(super) roots: &'a Roots,
}

impl Given<'_> {
    fn text(&self, name: &str) -> Result<Option<&str>, String> {
        let Some(value) = self.object.get(name).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let text = value.as_str().ok_or_else(|| format!("`{name}` must be a text"))?;
        if text.len() > TEXT || text.contains('\0') {
            return Err(format!("`{name}` is longer than {TEXT} bytes, or holds a NUL character"));
        }
        Ok(Some(text))
    }

    fn list(&self, name: &str) -> Result<Vec<&str>, String> {
        let Some(value) = self.object.get(name).filter(|value| !value.is_null()) else {
            return Ok(Vec::new());
        };
        let list = value.as_array().filter(|list| list.len() <= 100);
        let list = list.ok_or_else(|| format!("`{name}` must be a list of at most 100 texts"))?;
        let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
        texts.ok_or_else(|| format!("`{name}` must be a list of texts"))
    }

    /// The resolved paths. A resolved path begins with `/`, so it is never parsed as an option.
    fn paths(&self) -> Result<Vec<OsString>, String> {
        let resolve = |path: &str| self.roots.resolve(path).map(Into::into);
        self.list("paths")?.into_iter().map(resolve).collect()
    }

    /// Adds `--option=value` for a text. In one word, a value that begins with a dash is not parsed
    /// as an option.
    fn add_option(&self, order: &mut Order, name: &str, option: &str) -> Result<(), String> {
        if let Some(value) = self.text(name)? {
            order.arguments.push(format!("{option}={value}").into());
        }
        Ok(())
    }
}

fn words(order: &mut Order, words: &[&str]) {
    order.arguments.extend(words.iter().map(OsString::from));
}

pub(super) fn identify(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    let text = given.text("text")?.unwrap_or_default();
    // A text that names a file could be read from outside of the allowed directories.
    let words = front::words_of_text(text).ok_or_else(|| {
        format!("nothing is known of `{text}`: pass an error code, a version, a variable or a line of a log")
    })?;
    let is_log = words.iter().any(|word| word == "text");
    order.arguments.extend(words.into_iter().map(OsString::from));
    if is_log {
        order.arguments.insert(1, "--anonymize".into());
    }
    Ok(())
}

pub(super) fn triage(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["triage", "--anonymize"]);
    match (given.text("text")?, given.paths()?) {
        (Some(text), paths) if paths.is_empty() => {
            order.input = Some(text.to_owned());
            words(order, &["-"]);
        }
        (None, paths) if !paths.is_empty() => {
            words(order, &["--"]);
            order.arguments.extend(paths);
        }
        _ => return Err("pass `text` or `paths`, one of both".to_owned()),
    }
    Ok(())
}

pub(super) fn diagnose_log(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["translate-error", "--anonymize"]);
    if let Some(top) = given.object.get("top").filter(|top| !top.is_null()) {
        let top = top.as_u64().filter(|top| (1..=100).contains(top));
        let top = top.ok_or("`top` must be a number from 1 to 100")?;
        order.arguments.push(format!("--top={top}").into());
    }
    match (given.text("text")?, given.paths()?) {
        (Some(text), paths) if paths.is_empty() => {
            order.input = Some(text.to_owned());
            words(order, &["-"]);
        }
        (None, paths) if !paths.is_empty() => {
            words(order, &["--as", "file", "--"]);
            order.arguments.extend(paths);
        }
        _ => return Err("pass `text` or `paths`, one of both".to_owned()),
    }
    Ok(())
}

pub(super) fn check(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    // The host name is not useful to a model.
    words(order, &["check", "--host=machine"]);
    given.add_option(order, "profile", "--profile")?;
    if let Some(root) = given.text("root")? {
        words(order, &["--sysroot"]);
        order.arguments.push(given.roots.resolve(root)?.into());
    }
    for (name, option) in [("only", "--only"), ("skip", "--skip")] {
        let ids = given.list(name)?;
        if !ids.is_empty() {
            order.arguments.push(format!("{option}={}", ids.join(",")).into());
        }
    }
    Ok(())
}

pub(super) fn compat(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["compat"]);
    for (name, option) in [
        ("torch", "--torch"),
        ("torch_npu", "--torch-npu"),
        ("cann", "--cann"),
        ("vllm_ascend", "--vllm-ascend"),
        ("soc", "--soc"),
        ("arch", "--arch"),
    ] {
        given.add_option(order, name, option)?;
    }
    if let Some(python) = given.text("python")? {
        // The option also accepts an interpreter, which would be read.
        if Path::new(python).components().count() != 1 || !python.starts_with('3') {
            return Err("`python` must be a version such as 3.11".to_owned());
        }
        order.arguments.push(format!("--python={python}").into());
    }
    Ok(())
}

pub(super) fn convert_preview(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["convert"]);
    given.add_option(order, "target", "--target")?;
    words(order, &["--"]);
    order.arguments.extend(given.paths()?);
    Ok(())
}

pub(super) fn convert_in_place(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["convert"]);
    given.add_option(order, "target", "--target")?;
    words(order, &["--root"]);
    order.arguments.extend(given.paths()?);
    Ok(())
}

pub(super) fn port(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["port", "--no-machine"]);
    given.add_option(order, "torch_npu", "--torch-npu")?;
    words(order, &["--"]);
    match given.paths()?.as_slice() {
        [path] => order.arguments.push(path.clone()),
        _ => return Err("pass one path in `paths`".to_owned()),
    }
    Ok(())
}

pub(super) fn audit_ops(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["audit-ops"]);
    given.add_option(order, "torch_npu", "--torch-npu")?;
    given.add_option(order, "soc", "--soc")?;
    words(order, &["--"]);
    order.arguments.extend(given.paths()?);
    Ok(())
}

pub(super) fn search(given: &Given<'_>, order: &mut Order) -> Result<(), String> {
    let wanted = given.text("words")?.unwrap_or_default();
    words(order, &["translate-error"]);
    order.arguments.push(format!("--search={wanted}").into());
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "all tools have one form")]
pub(super) fn verify(_: &Given<'_>, order: &mut Order) -> Result<(), String> {
    words(order, &["verify"]);
    Ok(())
}
