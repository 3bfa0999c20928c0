//! Messages of the protocol, in both of its eras.
//!
//! Up to `2025-11-25` a client opens a session with `initialize`. From `2026-07-28` on every
//! request names its version in `_meta`, and results contain their completeness and their lifetime.
//! Source: modelcontextprotocol/modelcontextprotocol, schema of both revisions.

use serde_json::{Value, json};

/// Revisions with a handshake, newest first.
const HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revision without a handshake.
const MODERN: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// Lifetime of lists and resources, in milliseconds: the tables do not change while the server
/// runs.
const HOLDS: u64 = 3_600_000;

/// Instructions to the client for the use of the server.
const INSTRUCTIONS: &str = "Facts about Huawei Ascend NPU stacks: error codes, causes of failures \
    in logs, compatible versions, CUDA code that must change, operators that fall back to the CPU. \
    Ask these tools instead of stating versions or meanings of codes from memory. `status` is 0 \
    (nothing found), 1 (findings), 2 (wrong input) or 3 (not enough evidence). Status 3 is no \
    success: report what is missing.";

/// The way in which client and server agree on a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// By `initialize`.
    Handshake,
    /// In every request.
    Modern,
}

/// A request, or a notification if it has no ID.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

impl Request {
    /// Parses a line. Returns `None` for an empty line or an answer; this server sends no requests,
    /// so it expects no answers.
    pub(super) fn read(line: &[u8]) -> Result<Option<Self>, RpcError> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let mut message: Value = serde_json::from_slice(line).map_err(|_| RpcError::parse())?;
        let Some(object) = message.as_object_mut() else {
            return Err(RpcError::invalid_request());
        };
        let Some(method) = object.get("method") else { return Ok(None) };
        let method = method.as_str().ok_or_else(RpcError::invalid_request)?.to_owned();
        let id = object.remove("id").filter(|id| id.is_string() || id.is_number());
        let params = object.remove("params").unwrap_or_else(|| json!({}));
        Ok(Some(Self { id, method, params }))
    }

    pub(super) fn id(&self) -> Value {
        self.id.clone().unwrap_or(Value::Null)
    }

    /// The era of the request.
    pub(super) fn era(&self) -> Result<Era, RpcError> {
        match self.params.get("_meta").and_then(|meta| meta.get(VERSION_KEY)) {
            None => Ok(Era::Handshake),
            Some(version) if version == MODERN => Ok(Era::Modern),
            Some(version) => Err(RpcError::unsupported(version)),
        }
    }
}

/// An error of the protocol.
#[derive(Debug)]
pub(super) struct RpcError {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn parse() -> Self {
        Self::new(-32700, "parse error")
    }

    fn invalid_request() -> Self {
        Self::new(-32600, "invalid request")
    }

    pub(super) fn no_method(method: &str) -> Self {
        Self::new(-32601, format!("no method `{method}`"))
    }

    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self::new(-32602, why)
    }

    pub(super) fn no_resource(uri: &str) -> Self {
        Self { data: Some(json!({ "uri": uri })), ..Self::new(-32002, "no such resource") }
    }

    pub(super) fn busy() -> Self {
        Self::new(-32000, "too many calls at one time: wait for one of them")
    }

    fn unsupported(version: &Value) -> Self {
        let data = json!({ "requested": version, "supported": supported() });
        Self { data: Some(data), ..Self::new(-32022, "unsupported protocol version") }
    }
}

fn supported() -> Vec<&'static str> {
    let mut all = vec![MODERN];
    all.extend(HANDSHAKE);
    all
}

fn server_info() -> Value {
    json!({ "name": "ascend-doctor", "version": env!("CARGO_PKG_VERSION") })
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {} })
}

/// The answer to `initialize`: the version of the client if it is known, else the newest.
pub(super) fn initialize(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = HANDSHAKE.into_iter().find(|known| *known == asked).unwrap_or(HANDSHAKE[0]);
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

/// The answer to `server/discover`.
pub(super) fn discover() -> Value {
    json!({
        "supportedVersions": [MODERN],
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
    })
}

/// An answer with the members that its era requires.
pub(super) fn result(id: &Value, mut result: Value, era: Era, method: &str) -> Value {
    if (era == Era::Modern || method == "server/discover")
        && let Some(object) = result.as_object_mut()
    {
        object.insert("resultType".to_owned(), "complete".into());
        object.insert("_meta".to_owned(), json!({ SERVER_KEY: server_info() }));
        if method != "tools/call" && method != "prompts/get" {
            object.insert("ttlMs".to_owned(), HOLDS.into());
            object.insert("cacheScope".to_owned(), "public".into());
        }
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// An error response.
pub(super) fn error(id: &Value, error: &RpcError) -> Value {
    let mut object = json!({ "code": error.code, "message": error.message });
    if let Some(data) = &error.data {
        object["data"] = data.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": object })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_told_apart() {
        assert!(Request::read(b"\n").unwrap().is_none());
        assert!(Request::read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap().is_none());
        assert!(Request::read(b"{").is_err() && Request::read(b"[1]").is_err());
        let note = Request::read(br#"{"jsonrpc":"2.0","method":"x"}"#).unwrap().unwrap();
        assert!(note.id.is_none());
    }

    #[test]
    fn an_unknown_revision_is_refused_with_the_known_ones() {
        let line = json!({ "id": 1, "method": "tools/list",
            "params": { "_meta": { VERSION_KEY: "2030-01-01" } } });
        let request = Request::read(line.to_string().as_bytes()).unwrap().unwrap();
        let error = request.era().unwrap_err();
        assert_eq!(error.code, -32022);
        assert_eq!(error.data.unwrap()["supported"][0], MODERN);
    }

    #[test]
    fn initialize_falls_back_to_the_newest_revision() {
        let version = |asked: &str| initialize(&json!({ "protocolVersion": asked }));
        assert_eq!(version("2024-11-05")["protocolVersion"], "2024-11-05");
        assert_eq!(version("1999-01-01")["protocolVersion"], HANDSHAKE[0]);
    }
}
