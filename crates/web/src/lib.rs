//! The offline page: requests of the page in, answers out, both as JSON.
//!
//! Must not touch: files, the network, the clock, the terminal. The page reads the files that the
//! user drops and passes their bytes with the time.
//!
//! - [`answer()`]: the answer to a request.
//! - [`request`], [`reply`]: their forms.
//! - `text`, `files`: what the program does with `ascend-doctor TEXT` and `ascend-doctor FILE`.
//! - `list`: searches, and lists of codes, causes, findings and versions.
//! - `memory`: the functions that the page calls.
//!
//! Texts of the page are in `page/texts.toml`. `cargo xtask page` builds the page.

mod files;
mod list;
#[cfg(target_family = "wasm")]
pub mod memory;
mod outcome;
pub mod reply;
pub mod request;
mod text;

use reply::Reply;
use request::{Operation, Request};

/// The most bytes of all files of a request.
pub const LIMIT: usize = 128 << 20;

/// Answers a request: the length of its JSON as four bytes, the least significant one first, the
/// JSON, and the content of its files.
pub fn answer(bytes: Vec<u8>) -> String {
    let reply = match Request::parse(bytes) {
        Ok(request) => match &request.operation {
            Operation::Ask { text } => text::answer(&request, text),
            Operation::Files { files } => files::answer(&request, files),
            Operation::Search { words } => list::search(words, request.lang),
            Operation::List { of } => list::list(of, request.lang),
        },
        Err(problem) => Reply::failed(&problem),
    };
    serde_json::to_string(&reply).unwrap_or_else(|error| Reply::failed(&error.to_string()).bare())
}

#[cfg(test)]
mod tests;
