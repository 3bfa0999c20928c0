//! Registries of E-codes: JSON with `error_info_list`, in a file or in a string of a C++ source.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;
use serde::Deserialize;

use super::c_strings::string_literals;

/// One message of a registry. Causes and solutions are not read, because the project has its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) code: String,
    pub(super) title: String,
    /// Module, such as `GE Errors`.
    pub(super) component: String,
    pub(super) text: String,
    pub(super) arguments: String,
}

#[derive(Deserialize)]
struct File {
    error_info_list: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "ErrCode")]
    code: String,
    #[serde(rename = "errTitle", default)]
    title: Option<String>,
    #[serde(rename = "errClass", default)]
    class: Option<String>,
    #[serde(rename = "ErrMessage", default)]
    message: Option<String>,
    #[serde(rename = "Arglist", default)]
    arguments: Option<String>,
}

/// Returns whether a text has the form of an E-code: `E10001`, `E2100C`, `EZ9999`, `W11003`. AOE
/// codes have one digit more: `EG10000`.
pub(super) fn is_code(text: &str) -> bool {
    static CODE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("^[EW][0-9A-Z][0-9A-F]{4,5}$").expect("the pattern of an E-code")
    });
    CODE.is_match(text)
}

/// Returns the messages of a registry file. `path` decides whether it is JSON or C++.
pub(super) fn messages(path: &str, text: &str) -> Result<Vec<Message>> {
    if path.ends_with(".json") {
        return parse(text);
    }
    let literals = string_literals(text);
    let mut found = Vec::new();
    for json in literals.iter().filter(|literal| literal.contains("\"error_info_list\"")) {
        found.extend(parse(json)?);
    }
    ensure!(!found.is_empty(), "no string holds an error_info_list");
    Ok(found)
}

fn parse(json: &str) -> Result<Vec<Message>> {
    let file: File = serde_json::from_str(json).context("the registry is not valid")?;
    ensure!(!file.error_info_list.is_empty(), "the registry is empty");
    let message = |entry: Entry| {
        let code = entry.code.trim().to_owned();
        ensure!(is_code(&code), "`{code}` is not an E-code");
        Ok(Message {
            code,
            title: entry.title.unwrap_or_default().trim().to_owned(),
            // Some names have trailing blanks: `HCCL Errors `.
            component: entry.class.unwrap_or_default().trim().to_owned(),
            text: entry.message.unwrap_or_default(),
            arguments: entry.arguments.unwrap_or_default(),
        })
    };
    file.error_info_list.into_iter().map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"error_info_list": [{"errClass": "HCCL Errors ", "errTitle": "T",
        "ErrCode": "EI0001", "ErrMessage": "Value %s", "Arglist": "value",
        "suggestion": {"Solution": "N/A"}}, {"errClass": null, "ErrCode": "E2100C"}]}"#;

    #[test]
    fn every_form_gives_the_same_messages() {
        let raw = format!("// R\"(\nconst std::string a = R\"({JSON})\";\n");
        let lines: Vec<String> = JSON
            .lines()
            .map(|line| format!("    \"{}\\n\"\n", line.replace('"', "\\\"")))
            .collect();
        let literals = format!("static const char g[] =\n{};\n", lines.concat());
        let read = messages("a/error_code.json", JSON).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].component.as_str(), read[0].title.as_str()), ("HCCL Errors", "T"));
        assert_eq!(read[1].text, "");
        assert_eq!(messages("a.cc", &raw).unwrap(), read);
        assert_eq!(messages("a.h", &literals).unwrap(), read);
    }

    #[test]
    fn files_without_messages_are_rejected() {
        for (path, text) in [
            ("a.json", "{\"error_info_list\": []}"),
            ("a.json", "{}"),
            ("a.json", "{\"error_info_list\": [{\"ErrCode\": \"E1\"}]}"),
            ("a.cc", "const char* a = \"x\";"),
            ("a.cc", "const char* a = R\"({\"error_info_list\": [)\";"),
        ] {
            assert!(messages(path, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_last_digits_of_codes_may_be_hexadecimal() {
        assert!(["E10001", "E2100C", "EZ9999", "WF0001", "EG10000"].into_iter().all(is_code));
        assert!(!["E1000", "E1000G", "X10001", "E1000111"].into_iter().any(is_code));
    }
}
