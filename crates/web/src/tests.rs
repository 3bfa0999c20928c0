//! Requests as the page writes them.

use serde_json::{Value, json};

use super::*;

fn asked(request: &Value, contents: &[&[u8]]) -> Value {
    let head = request.to_string();
    let length = u32::try_from(head.len()).unwrap().to_le_bytes();
    let bytes = [&length[..], head.as_bytes(), &contents.concat()].concat();
    serde_json::from_str(&answer(bytes)).unwrap()
}

fn ask(text: &str) -> Value {
    asked(&json!({"op": "ask", "text": text, "lang": "en", "want": "json"}), &[])
}

fn files(files: &[(&str, &[u8])]) -> Value {
    let entries: Vec<Value> =
        files.iter().map(|(name, bytes)| json!({"name": name, "size": bytes.len()})).collect();
    let contents: Vec<&[u8]> = files.iter().map(|(_, bytes)| *bytes).collect();
    let request = json!({"op": "files", "files": entries, "lang": "zh", "want": "json"});
    asked(&request, &contents)
}

fn document(reply: &Value) -> Value {
    serde_json::from_str(reply["json"].as_str().expect("a document")).unwrap()
}

const LINE: &[u8] = b"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0)\n";

#[test]
fn each_kind_of_text_has_its_answer() {
    for (text, kind) in [
        ("507035", "code"),
        ("hccl.socket_timeout", "name"),
        ("torch_npu 2.7.1", "fact"),
        ("HCCL_CONNECT_TIMEOUT=1", "fact"),
        ("Ascend910B3", "fact"),
        ("torch.cuda.Event", "api"),
        ("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB", "log_text"),
        ("service hangs at allreduce", "description"),
    ] {
        let reply = ask(text);
        assert_eq!(reply["outcome"], "answered", "{text}");
        assert_eq!(document(&reply)["input"]["type"], kind, "{text}");
        assert!(reply["html"].as_str().unwrap().contains("<h"), "{text}");
    }
}

#[test]
fn inputs_without_an_answer_have_a_reason() {
    for (text, outcome) in [
        ("nonsense", "unknown"),
        ("", "unknown"),
        ("https://example.org/x/issues/1", "address"),
        ("train.py", "needs_program"),
        ("missing.log", "needs_file"),
    ] {
        assert_eq!(ask(text)["outcome"], outcome, "{text}");
    }
    assert_eq!(ask("train.py")["command"], "ascend-doctor convert train.py");
    assert_eq!(ask("EI006")["hits"][0]["name"], "EI0006");
}

#[test]
fn logs_and_directories_of_logs_are_diagnosed() {
    let one = files(&[("rank0.log", LINE)]);
    assert_eq!((&one["outcome"], &one["status"]), (&json!("answered"), &json!(1)));
    assert!(document(&one)["findings"][0]["id"].as_str().unwrap().contains("oom"), "{one}");
    let many = files(&[("logs/a/rank0.log", LINE), ("logs/rank1.log", LINE), ("logs/x.so", LINE)]);
    let document = document(&many);
    assert_eq!(document["subject"], "logs");
    assert_eq!(document["diagnosis"]["read"]["files"], 2, "{document:#}");
}

#[test]
fn files_that_only_the_program_reads_are_named() {
    let reply = files(&[("train.py", b"import torch")]);
    assert_eq!(reply["outcome"], "needs_program");
    assert_eq!(files(&[("train.py", b""), ("rank0.log", LINE)])["outcome"], "mixed");
    assert_eq!(files(&[("empty.log", b"")])["outcome"], "answered");
    assert_eq!(files(&[("cut.gz", &[0x1f, 0x8b, 8])])["outcome"], "failed");
}

#[test]
fn values_are_escaped() {
    let bad = "<img src=x onerror=alert(1)>";
    for reply in [
        ask(&format!("RuntimeError: NPU out of memory {bad}")),
        ask(&format!("{bad}\nE89999 {bad}\n507035 {bad}\n")),
        files(&[(&format!("{bad}.log"), &[LINE, bad.as_bytes()].concat())]),
    ] {
        let html = reply["html"].as_str().unwrap();
        assert!(!html.is_empty() && !html.contains("<img"), "{html}");
    }
}

#[test]
fn searches_find_codes_causes_and_packages() {
    let found = |words: &str, lang: &str| {
        let reply = asked(&json!({"op": "search", "words": words, "lang": lang}), &[]);
        let hits = reply["hits"].as_array().unwrap().clone();
        let kinds = hits.iter().map(|hit| hit["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    };
    assert!(found("507035", "en").contains(&"code".to_owned()));
    assert!(found("socket timeout", "en").contains(&"cause".to_owned()));
    assert!(found("建链超时", "zh").contains(&"cause".to_owned()));
    assert!(found("vllm-ascend", "en").contains(&"version".to_owned()));
    assert!(found("HCCL_CONNECT", "en").contains(&"variable".to_owned()));
    assert!(found("zzzz", "en").is_empty());
}

#[test]
fn every_entry_of_a_list_has_an_answer() {
    for of in ["causes", "versions", "variables", "findings"] {
        let reply = asked(&json!({"op": "list", "of": of, "lang": "en"}), &[]);
        let hits = reply["hits"].as_array().unwrap();
        assert!(hits.len() > 20, "{of}");
        for hit in hits.iter().step_by(7) {
            let name = hit["ask"].as_str().unwrap();
            assert_eq!(ask(name)["outcome"], "answered", "{of}: {name}");
        }
    }
    let families = asked(&json!({"op": "list", "of": "families", "lang": "zh"}), &[]);
    for family in families["hits"].as_array().unwrap() {
        let codes = asked(&json!({"op": "list", "of": family["ask"], "lang": "zh"}), &[]);
        assert_eq!(codes["outcome"], "listed", "{family}");
    }
}

#[test]
fn damaged_requests_are_refused() {
    for bytes in [&b""[..], b"abc", b"\xff\xff\xff\xff", b"\x02\0\0\0{}"] {
        let reply: Value = serde_json::from_str(&answer(bytes.to_vec())).unwrap();
        assert_eq!(reply["outcome"], "failed");
    }
    let lie = json!({"op": "files", "files": [{"name": "a.log", "size": 99}], "lang": "en"});
    assert_eq!(asked(&lie, &[b"short"])["outcome"], "failed");
}
