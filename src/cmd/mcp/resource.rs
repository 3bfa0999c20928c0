//! Resources: codes, findings, variables, chips, versions and rules, by name.

use base::text::Lang;
use render::page_markdown;
use serde_json::{Value, json};

use super::message::RpcError;
use explain::{self, Topic};

/// The kinds of resources: name, rest of the address, description, and example.
const KINDS: [(&str, &str, &str, &str); 6] = [
    ("code", "{family}/{code}", "An error code, such as acl_rt/507035", "acl_rt/507035"),
    ("finding", "{id}", "A finding of `check`, such as CANN-HOME", "CANN-HOME"),
    ("env", "{NAME}", "An environment variable", "HCCL_CONNECT_TIMEOUT"),
    ("chip", "{name}", "A chip or product, such as 910B3", "910B3"),
    ("compat", "{package}/{version}", "A version and what works with it", "torch_npu/2.7.1"),
    ("rule", "{id}", "A rule of `convert`, such as CV0017", "CV0017"),
];

/// Resources with a fixed address: one example of each kind, because there are too many in total.
pub(super) fn list() -> Vec<Value> {
    let describe = |(kind, _, about, example): &(&str, &str, &str, &str)| {
        json!({
            "uri": format!("ascend://{kind}/{example}"),
            "name": example,
            "description": about,
            "mimeType": "text/markdown",
        })
    };
    KINDS.iter().map(describe).collect()
}

/// The forms of addresses.
pub(super) fn templates() -> Vec<Value> {
    let describe = |(kind, rest, about, _): &(&str, &str, &str, &str)| {
        json!({
            "uriTemplate": format!("ascend://{kind}/{rest}"),
            "name": kind,
            "description": about,
            "mimeType": "text/markdown",
        })
    };
    KINDS.iter().map(describe).collect()
}

/// Reads the page of an address.
pub(super) fn read(params: &Value, lang: Lang) -> Result<Value, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
    let missing = || RpcError::no_resource(uri);
    let path = uri.strip_prefix("ascend://").filter(|path| path.len() < 300).ok_or_else(missing)?;
    let (kind, name) = path.split_once('/').ok_or_else(missing)?;
    let name = name.replace("%20", " ");
    let topics = find(kind, &name).ok_or_else(missing)?;
    let mut page = Vec::new();
    for topic in &topics {
        page_markdown(&topic.page(lang, false), 1, &mut page).map_err(|_| missing())?;
    }
    let text = String::from_utf8_lossy(&page).into_owned();
    let content = json!({ "uri": uri, "mimeType": "text/markdown", "text": text });
    Ok(json!({ "contents": [content] }))
}

fn find(kind: &str, name: &str) -> Option<Vec<Topic>> {
    let name = match kind {
        // The family selects one of several meanings.
        "code" => {
            let (family, code) = name.split_once('/')?;
            let mut answer = errcodes::answer(code);
            answer.matches.retain(|found| found.family.id == family);
            return answer.is_known().then(|| vec![Topic::Code(answer)]);
        }
        "compat" => name.replace('/', " "),
        _ => name.to_owned(),
    };
    let topics = explain::find(&name).ok()?;
    let fits = |topic: &Topic| match (kind, topic) {
        ("finding", Topic::Finding(..)) | ("rule", Topic::Rule(_)) => true,
        ("env", Topic::Sheet(sheet)) => sheet.about == explain::SheetKind::Variable,
        ("chip", Topic::Sheet(sheet)) => sheet.about == explain::SheetKind::Chip,
        ("compat", Topic::Sheet(sheet)) => sheet.about == explain::SheetKind::Release,
        _ => false,
    };
    (!topics.is_empty() && topics.iter().all(fits)).then_some(topics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_can_be_read_and_nothing_else_can() {
        for resource in list() {
            let page = read(&resource, Lang::En).unwrap();
            let text = page["contents"][0]["text"].as_str().unwrap().to_owned();
            assert!(text.len() > 40, "{resource}");
        }
        for uri in
            ["ascend://code/507035", "ascend://env/../x", "file:///etc/passwd", "ascend://", ""]
        {
            assert!(read(&json!({ "uri": uri }), Lang::En).is_err(), "{uri}");
        }
    }
}
