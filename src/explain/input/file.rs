//! Files, by their names and first bytes.

use std::path::Path;

use super::bundle::starts_bundle;
use super::{InputType, Route};

/// What a file name says of a file, whether it exists or not: a missing file is better reported as
/// missing than as unknown.
pub fn by_extension(name: &str) -> Option<Route> {
    if name.contains(char::is_whitespace) {
        return None;
    }
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    let (kind, command): (_, &'static [&'static str]) = match extension.as_str() {
        "whl" => (InputType::Wheel, &["manifest", "wheel-check"]),
        "pt" | "pt2" | "pth" | "onnx" | "safetensors" => (InputType::Model, &["audit-ops"]),
        "py" | "ipynb" | "cu" | "cuh" | "cpp" | "sh" => (InputType::Source, &["convert"]),
        _ => return None,
    };
    Some(Route::new(kind, command, name))
}

/// What a file of this name that starts with these bytes is.
pub fn by_content(name: &str, head: &[u8]) -> Route {
    if starts_bundle(head) {
        return Route::new(InputType::Bundle, &["triage"], name);
    }
    let head = String::from_utf8_lossy(head);
    let start = head.trim_start();
    if start.starts_with('{') {
        let is = |schema: &str| {
            let spaced = format!("\"schema\": \"ascend-doctor/{schema}");
            start.contains(&spaced) || start.contains(&spaced.replace(": ", ":"))
        };
        if is("facts/") {
            return Route::new(InputType::Facts, &["check", "--facts"], name);
        }
        if is("") {
            return Route::new(InputType::Report, &["report"], name);
        }
        if start.contains("\"traceEvents\"") {
            return Route::new(InputType::Model, &["audit-ops"], name);
        }
    }
    if super::issue::is_issue(&head) {
        return Route::new(InputType::Issue, &["triage"], name);
    }
    // Without it, a file with the name of a code would be that code.
    let command: &'static [&'static str] = if errcodes::answer(name).is_known() {
        &["translate-error", "--as", "file"]
    } else {
        &["translate-error"]
    };
    Route::new(InputType::Log, command, name)
}
