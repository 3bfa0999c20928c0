//! `mcp`: messages in, messages out. The official client and the inspector are a step of `.ci/run`
//! (`scripts/test_mcp.py`).
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(dir: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
        command.env_clear().current_dir(dir).args(["--lang", "en", "mcp"]).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
    }

    fn ask(&mut self, method: &str, params: impl Into<Value>) -> Value {
        let params = params.into();
        self.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }));
        let answer = self.receive();
        assert_eq!(answer["id"], 7, "{answer}");
        answer
    }

    fn call(&mut self, name: &str, arguments: impl Into<Value>) -> Value {
        let arguments = arguments.into();
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        answer["result"].clone()
    }

    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

fn modern() -> Value {
    json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} })
}

#[test]
fn both_eras_are_served() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    let hello = server.ask("initialize", json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    let old = server.ask("tools/list", json!({}));
    assert!(old["result"].get("resultType").is_none(), "{old}");
    let found = server.ask("server/discover", json!({ "_meta": modern() }));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let new = server.ask("tools/list", json!({ "_meta": modern() }));
    assert_eq!(new["result"]["resultType"], "complete");
    assert!(new["result"]["ttlMs"].is_u64() && new["result"]["cacheScope"] == "public");
    assert_eq!(new["result"]["tools"], old["result"]["tools"]);
    let wrong = json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" });
    let refused = server.ask("tools/list", json!({ "_meta": wrong }));
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(server.ask("initialize", json!({ "_meta": modern() }))["error"]["code"], -32601);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn every_tool_answers_within_its_schema_and_16_kb() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.py"), "import torch\nx = torch.zeros(1).cuda()\n").unwrap();
    let mut many = vec!["import torch".to_owned()];
    many.extend((0..400).map(|n| format!("y{n} = torch.zeros({n}).cuda()")));
    std::fs::write(dir.path().join("b.py"), many.join("\n")).unwrap();
    let mut server = Server::start(dir.path(), &[]);
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    let calls = [
        ("identify", json!({ "text": "507035" }), 0),
        ("identify", json!({ "text": "torch 2.1.0 and torch_npu 2.7.1" }), 1),
        ("diagnose_log", json!({ "text": "error code:507015\n" }), 1),
        ("diagnose_log", json!({ "text": "all is well\n" }), 3),
        ("triage", json!({ "text": "It hangs.\n" }), 3),
        ("port", json!({ "paths": ["."] }), 0),
        ("check", json!({ "profile": "import", "skip": ["HOST"] }), 1),
        ("compat", json!({ "torch": "2.7.1", "python": "3.11", "arch": "aarch64" }), 0),
        ("convert_preview", json!({ "paths": ["."] }), 0),
        ("audit_ops", json!({ "paths": ["a.py"] }), 3),
        ("search", json!({ "words": "link timeout" }), 0),
    ];
    for tool in tools {
        let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let input = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        let name = tool["name"].as_str().unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        let mut tried = 0;
        for (_, arguments, status) in calls.iter().filter(|(tool, ..)| *tool == name) {
            assert!(input.is_valid(arguments), "{name}: {arguments}");
            let result = server.call(name, arguments.clone());
            let answer = &result["structuredContent"];
            assert!(schema.is_valid(answer), "{name}: {answer}");
            assert!(answer.to_string().len() <= 16 << 10, "{name}");
            assert_eq!(result["content"][0]["text"], answer.to_string(), "{name}");
            if name != "audit_ops" {
                assert_eq!(answer["status"], *status, "{name} {arguments}: {answer}");
            }
            tried += 1;
        }
        assert!(tried > 0, "{name} was not called");
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn pages_hold_every_item_once() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..60 {
        let code = "import torch\nimport pynvml\npynvml.nvmlInit()\n";
        std::fs::write(dir.path().join(format!("f{n:02}.py")), code).unwrap();
    }
    let mut server = Server::start(dir.path(), &[]);
    let mut arguments = json!({ "paths": ["."] });
    let (mut seen, mut total, mut pages) = (0, 1, 0);
    while seen < total {
        let answer = server.call("convert_preview", arguments.clone())["structuredContent"].clone();
        seen += answer["items"].as_array().unwrap().len();
        total = usize::try_from(answer["total"].as_u64().unwrap()).unwrap();
        pages += 1;
        assert!(pages < 100, "{answer}");
        arguments["cursor"] = answer.get("nextCursor").cloned().unwrap_or_default();
    }
    assert_eq!(seen, total);
    let wrong = server.ask(
        "tools/call",
        json!({ "name": "convert_preview", "arguments": { "paths": ["."], "cursor": "x" } }),
    );
    assert_eq!(wrong["error"]["code"], -32602);
}

#[test]
fn nothing_outside_of_the_roots_is_read_and_no_option_is_smuggled() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(dir.path().join("secret.log"), "error code:507015\n").unwrap();
    std::os::unix::fs::symlink("../secret.log", inner.join("link.log")).unwrap();
    let mut server = Server::start(&inner, &[]);
    for (name, arguments) in [
        ("diagnose_log", json!({ "paths": ["/etc/passwd"] })),
        ("diagnose_log", json!({ "paths": ["../secret.log"] })),
        ("diagnose_log", json!({ "paths": ["link.log"] })),
        ("diagnose_log", json!({ "paths": ["--data=/etc/passwd"] })),
        ("diagnose_log", json!({})),
        ("check", json!({ "root": "/" })),
        ("check", json!({ "profile": "torch --sysroot=/" })),
        ("convert_preview", json!({ "paths": ["-r"] })),
        ("convert_preview", json!({ "paths": [".."], "root": "x" })),
        ("compat", json!({ "python": "/bin/sh" })),
        ("identify", json!({ "text": "hello" })),
        ("identify", json!({ "text": "/etc/passwd" })),
        ("identify", json!({ "text": 5 })),
    ] {
        let result = server.call(name, arguments.clone());
        assert_eq!(result["isError"], true, "{name} {arguments}: {result}");
        assert_eq!(result["structuredContent"]["status"], 2);
        assert!(!result.to_string().contains("507015"), "{result}");
    }
    // A value is not parsed as an option.
    let result = server.call("search", json!({ "words": "--list-codes" }));
    assert_eq!(result["structuredContent"]["status"], 3, "{result}");
    for name in ["verify", "convert", "nonsense"] {
        let answer = server.ask("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32602, "{name}");
    }
    assert!(inner.read_dir().unwrap().count() == 1, "nothing is written");
}

#[test]
fn tools_that_write_need_permission() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.py");
    std::fs::write(&file, "import torch\nx = torch.zeros(1).cuda()\n").unwrap();
    let mut server = Server::start(dir.path(), &["--allow", "convert"]);
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    let convert = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "convert");
    assert_eq!(convert.unwrap()["annotations"]["readOnlyHint"], false);
    let result = server.call("convert", json!({ "paths": ["a.py"] }));
    assert_eq!(result["isError"], false, "{result}");
    assert!(std::fs::read_to_string(&file).unwrap().contains(".npu()"));
}

#[test]
fn a_canceled_call_ends_and_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    // Work for seconds: many files with many lines each.
    let lines = "[ERROR] RUNTIME(1,x): error code:507015 ErrCode=507015\n".repeat(200_000);
    for n in 0..8 {
        std::fs::write(dir.path().join(format!("l{n}.log")), &lines).unwrap();
    }
    let call = json!({ "name": "diagnose_log", "arguments": { "paths": ["."] } });
    server.send(&json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call }));
    let started = Instant::now();
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": "slow" } }));
    // The next response belongs to the next call, because a canceled call has none.
    let next = server.call("identify", json!({ "text": "507035" }));
    assert_eq!(next["structuredContent"]["status"], 0);
    drop(server.input.take());
    assert!(server.child.wait().unwrap().success());
    assert!(started.elapsed() < Duration::from_mins(1));
}

#[test]
fn broken_messages_are_answered_and_the_server_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    for (line, code) in [("{", -32700), ("[]", -32600), ("{\"method\":1}", -32600)] {
        server.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
        assert_eq!(server.receive()["error"]["code"], code, "{line}");
    }
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/unknown" }));
    assert_eq!(server.ask("nothing", json!({}))["error"]["code"], -32601);
    let read = server.ask("resources/read", json!({ "uri": "ascend://chip/910B3" }));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("Atlas A2"));
    let missing = server.ask("resources/read", json!({ "uri": "ascend://chip/x" }));
    assert_eq!(missing["error"]["code"], -32002);
    let prompts = server.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    for prompt in prompts.as_array().unwrap() {
        let name = &prompt["arguments"][0]["name"];
        let value = json!({ name.as_str().unwrap(): "x.log" });
        let got = server.ask("prompts/get", json!({ "name": prompt["name"], "arguments": value }));
        let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("x.log"), "{text}");
    }
    assert_eq!(server.end(), Some(0));
}
