//! `mcp`: a server of the Model Context Protocol over standard input and output, for coding agents.
//!
//! A message is one line of JSON. Each tool call runs this program in a separate process with the
//! arguments of the call: it can be canceled, it cannot damage the server, and it has the limits of
//! the subcommand. Standard output contains only messages.
#![expect(clippy::disallowed_methods, reason = "reads messages from standard input")]

mod call;
mod message;
mod order;
mod page;
mod place;
mod prompt;
mod resource;
mod tool;

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data::{OrFault as _, faults};
use serde_json::{Value, json};

use super::standard_streams::print;
use crate::cli::McpArgs;
use base::report::ExitStatus;
use base::text::Lang;
use call::{Canceler, Outcome};
use message::{Era, Request, RpcError};
use place::Roots;

/// Maximum length of a message, in bytes. A longer message ends the server, because the start of
/// the next one cannot be found.
const MESSAGE: u64 = 8 << 20;
/// Maximum number of simultaneous calls.
const CALLS: usize = 8;

/// The state that all requests share.
#[derive(Debug)]
struct Server {
    roots: Roots,
    tools: Vec<&'static tool::Tool>,
    limit: Duration,
    lang: Lang,
    /// Running calls, by the ID of their request.
    running: Mutex<BTreeMap<String, Canceler>>,
}

/// Serves requests until standard input ends.
pub(super) fn run(args: &McpArgs, lang: Lang) -> anyhow::Result<ExitStatus> {
    let server = Arc::new(Server {
        roots: Roots::open(&args.root_allow)?,
        tools: tool::offered(&args.allow),
        limit: Duration::from_secs(args.tool_timeout),
        lang,
        running: Mutex::default(),
    });
    let mut input = io::stdin().lock();
    let mut calls = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(MESSAGE).read_until(b'\n', &mut line);
        let read = read.or_fault(|| faults::CannotRead { path: "-" }.fault())?;
        if read == 0 {
            break;
        }
        if line.last() != Some(&b'\n') && read as u64 == MESSAGE {
            send(&message::error(&Value::Null, &RpcError::parse()))?;
            break;
        }
        calls.retain(|call: &std::thread::JoinHandle<()>| !call.is_finished());
        let request = match Request::read(&line) {
            Ok(Some(request)) => request,
            Ok(None) => continue,
            Err(error) => {
                send(&message::error(&Value::Null, &error))?;
                continue;
            }
        };
        if request.id.is_none() {
            server.notice(&request);
        } else if request.method == "tools/call" {
            if calls.len() >= CALLS {
                send(&message::error(&request.id(), &RpcError::busy()))?;
                continue;
            }
            // Registered before it runs, so that an immediate cancellation finds it.
            let canceler = Canceler::default();
            lock(&server.running).insert(request.id().to_string(), canceler.clone());
            let server = Arc::clone(&server);
            let thread = std::thread::Builder::new();
            let spawned = thread.spawn(move || server.answer_call(&request, &canceler));
            calls.push(spawned.or_fault(|| faults::CannotRepeat.fault())?);
        } else {
            send(&server.answer(&request))?;
        }
    }
    // The client has disconnected.
    for canceler in lock(&server.running).values() {
        canceler.cancel();
    }
    for call in calls {
        let _ = call.join();
    }
    Ok(ExitStatus::Clean)
}

fn send(message: &Value) -> io::Result<()> {
    print(|_, out| {
        serde_json::to_writer(&mut *out, message)?;
        out.write_all(b"\n")
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Handles a message that needs no answer. Ignores unknown ones.
    fn notice(&self, request: &Request) {
        if request.method == "notifications/cancelled"
            && let Some(id) = request.params.get("requestId")
            && let Some(canceler) = lock(&self.running).get(&id.to_string())
        {
            canceler.cancel();
        }
    }

    /// Answers a request that needs no process.
    fn answer(&self, request: &Request) -> Value {
        let id = request.id();
        let era = match request.era() {
            Ok(era) => era,
            Err(error) => return message::error(&id, &error),
        };
        let result = match (request.method.as_str(), era) {
            ("initialize", Era::Handshake) => Ok(message::initialize(&request.params)),
            ("ping", Era::Handshake) => Ok(json!({})),
            ("server/discover", _) => Ok(message::discover()),
            ("tools/list", _) => Ok(json!({
                "tools": self.tools.iter().map(|tool| tool.describe()).collect::<Vec<_>>(),
            })),
            ("resources/list", _) => Ok(json!({ "resources": resource::list() })),
            ("resources/templates/list", _) => {
                Ok(json!({ "resourceTemplates": resource::templates() }))
            }
            ("resources/read", _) => resource::read(&request.params, self.lang),
            ("prompts/list", _) => Ok(json!({ "prompts": prompt::list() })),
            ("prompts/get", _) => prompt::get(&request.params),
            (method, _) => Err(RpcError::no_method(method)),
        };
        match result {
            Ok(result) => message::result(&id, result, era, &request.method),
            Err(error) => message::error(&id, &error),
        }
    }

    /// Runs a tool and sends its result, unless it is canceled.
    fn answer_call(&self, request: &Request, canceler: &Canceler) {
        let id = request.id();
        let answer = match request.era() {
            Ok(era) => match self.call(request, canceler) {
                Ok(Some(result)) => Some(message::result(&id, result, era, &request.method)),
                Ok(None) => None,
                Err(error) => Some(message::error(&id, &error)),
            },
            Err(error) => Some(message::error(&id, &error)),
        };
        lock(&self.running).remove(&id.to_string());
        if let Some(answer) = answer {
            // A disconnected client needs no answer; the loop detects the end of its input.
            let _ = send(&answer);
        }
    }

    fn call(&self, request: &Request, canceler: &Canceler) -> Result<Option<Value>, RpcError> {
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let tool = self.tools.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| RpcError::invalid(format!("no tool `{name}`")))?;
        let empty = json!({});
        let arguments = request.params.get("arguments").unwrap_or(&empty);
        let order = match tool.order(arguments, &self.roots) {
            Ok(order) => order,
            // The model can correct its arguments.
            Err(why) => return Ok(Some(page::refusal(&why))),
        };
        let cursor = page::read_cursor(arguments)?;
        Ok(match call::run(&order, self.lang, self.limit, canceler) {
            Outcome::Canceled => None,
            Outcome::Failed(why) => Some(page::refusal(&why)),
            Outcome::Ended { status, output, errors } => {
                Some(page::result(tool, (status, &output, &errors), cursor, self.lang))
            }
        })
    }
}
