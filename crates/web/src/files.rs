//! Files that a user drops: the answer of `ascend-doctor FILE…`.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use base::report::{ExitStatus, Report};
use base::text::{Lang, Text};
use data::fault::Value as _;
use errcodes::log::{
    self, Content, EntryKind, Files, Filter, Input, OpenError, ProblemKind, Reading,
    describe_unreadable, diagnose,
};
use explain::input::bundle::{is_bundle, member};
use explain::input::{InputType, Route, by_content, by_extension};
use facts::{FACTS_SCHEMA, Facts};
use triage::{Collector, examine, merge};

use crate::outcome::{needs_program, of_report, section};
use crate::reply::{Outcome, Reply};
use crate::request::{FileEntry, Request};
use crate::text::options;

/// How much of a file is looked at to recognize it, in bytes.
const HEAD: usize = 64 << 10;
/// The largest facts of a bundle, in bytes.
const FACTS: u64 = 64 << 20;

/// Answers files.
pub(crate) fn answer(request: &Request, files: &[FileEntry]) -> Reply {
    let size = files.iter().fold(0_usize, |sum, file| sum.saturating_add(file.size));
    if size > crate::LIMIT {
        // The page says so before it reads the files.
        return Reply::failed(&format!("{size} > {}", crate::LIMIT));
    }
    let memory = MemoryFiles::new(request, files);
    let roots = memory.roots();
    let routes: Vec<Route> = roots.iter().map(|root| memory.detect(root)).collect();
    let Some(first) = routes.first() else { return Reply::of(Outcome::Mixed) };
    let is = |kind| routes.iter().all(|route| route.kind == kind);
    let issue = |route: &Route| matches!(route.kind, InputType::Issue | InputType::Bundle);
    let log = |route: &Route| route.kind == InputType::Log;
    if routes.iter().all(log) {
        let route = Route { inputs: roots.clone(), ..first.clone() };
        return logs(request, &route, &memory);
    }
    if routes.iter().all(|route| issue(route) || log(route)) {
        let kind = routes.iter().find(|route| issue(route)).map_or(first.kind, |route| route.kind);
        let route = Route { kind, command: &["triage"], inputs: roots.clone(), form: None };
        return triage(request, &route, &memory);
    }
    if is(InputType::Report) {
        return reports(request, first, &memory, &roots);
    }
    if routes.iter().all(|route| route.command == first.command) {
        let route = Route { inputs: roots, ..first.clone() };
        return needs_program(request, &route);
    }
    Reply { status: ExitStatus::Failure.code(), ..Reply::of(Outcome::Mixed) }
}

/// As `translate-error`: the diagnosis of logs.
fn logs(request: &Request, route: &Route, memory: &MemoryFiles) -> Reply {
    let diagnosis = diagnose(log::read(memory.inputs(), memory), &Filter::default());
    if let Some(why) = describe_unreadable(&diagnosis) {
        return Reply::failed(why.get(request.lang));
    }
    let subject = route.inputs.join(" ");
    of_report(request, route, log::report(&diagnosis, &subject, options(request.lang)))
}

/// As `triage`: texts of issues, bundles, and the logs next to them.
fn triage(request: &Request, route: &Route, memory: &MemoryFiles) -> Reply {
    let reading = log::read(memory.inputs(), memory);
    let mut texts = Collector::default();
    for stream in &log::open(memory.inputs(), memory).streams {
        // What cannot be read is reported with the logs.
        let _ = stream.read(memory, &mut |name, reader| texts.add(name, reader));
    }
    let machine = route.inputs.iter().find_map(|name| memory.facts(name));
    let subject = route.inputs.join(" ");
    of_report(request, route, triage_report(reading, texts, machine, &subject, request.lang))
}

/// The report of `triage`.
pub(crate) fn triage_report(
    reading: Reading,
    texts: Collector,
    machine: Option<Facts>,
    subject: &str,
    lang: Lang,
) -> Report {
    let diagnosis = diagnose(reading, &Filter::default());
    let triage = examine(merge(texts.stated), machine, &diagnosis, &texts.prose);
    triage::report(&triage, &diagnosis, subject, options(lang))
}

/// As `report`: JSON reports as pages.
fn reports(request: &Request, route: &Route, memory: &MemoryFiles, names: &[String]) -> Reply {
    let mut html = String::new();
    for name in names {
        match render::read_document(memory.bytes(name)) {
            Ok(document) => html.push_str(&section(&document)),
            Err(error) => return Reply::failed(error.fault().value().get(request.lang)),
        }
    }
    Reply {
        read_as: route.what().get(request.lang).to_owned(),
        command: Route { inputs: names.to_vec(), ..route.clone() }.shown(),
        html,
        ..Reply::of(Outcome::Answered)
    }
}

/// The files of a request, as a tree below `/`.
#[derive(Debug, Default)]
pub(crate) struct MemoryFiles {
    bytes: Arc<Vec<u8>>,
    /// The place of each file in `bytes`, by its name.
    places: BTreeMap<String, Range<usize>>,
    /// The names in the order of the request.
    names: Vec<String>,
}

impl MemoryFiles {
    fn new(request: &Request, files: &[FileEntry]) -> Self {
        let mut memory = Self { bytes: Arc::clone(&request.bytes), ..Self::default() };
        for (file, place) in files.iter().zip(request.ranges(files)) {
            let name = file.name.trim_start_matches('/').to_owned();
            memory.places.insert(name.clone(), place);
            memory.names.push(name);
        }
        memory
    }

    /// The files and the top directories.
    fn roots(&self) -> Vec<String> {
        let mut roots: Vec<String> = Vec::new();
        for name in &self.names {
            let root = name.split('/').next().unwrap_or(name);
            if roots.iter().all(|known| known != root) {
                roots.push(root.to_owned());
            }
        }
        roots
    }

    fn inputs(&self) -> Vec<Input> {
        let input = |root: String| Input::Path { path: format!("/{root}"), shown: root };
        self.roots().into_iter().map(input).collect()
    }

    /// The content of a file; nothing for a directory.
    fn bytes(&self, name: &str) -> &[u8] {
        let place = self.places.get(name).cloned();
        place.and_then(|place| self.bytes.get(place)).unwrap_or_default()
    }

    /// What a file or directory is. Directories hold logs.
    fn detect(&self, name: &str) -> Route {
        if !self.places.contains_key(name) {
            return Route::new(InputType::Log, &["translate-error"], name);
        }
        let bytes = self.bytes(name);
        let head = &bytes[..bytes.len().min(HEAD)];
        by_extension(name).unwrap_or_else(|| by_content(name, head))
    }

    /// The facts of a machine in a bundle.
    fn facts(&self, name: &str) -> Option<Facts> {
        let bytes = self.bytes(name);
        let facts = is_bundle(bytes).then(|| member(bytes, "facts.json", FACTS).ok())??;
        let facts: Facts = serde_json::from_slice(&facts).ok()?;
        (facts.schema == FACTS_SCHEMA).then_some(facts)
    }

    /// The names directly below a directory.
    fn below(&self, dir: &str) -> BTreeMap<String, EntryKind> {
        let start = format!("{dir}/");
        let mut found = BTreeMap::new();
        let names = self.places.range(start.clone()..).map(|(name, _)| name);
        for rest in names.map_while(|name| name.strip_prefix(&start)) {
            match rest.split_once('/') {
                Some((name, _)) => found.insert(name.to_owned(), EntryKind::Directory),
                None => found.insert(rest.to_owned(), EntryKind::File),
            };
        }
        found
    }
}

/// Bytes of a request that stay with the reader of a file.
#[derive(Debug)]
struct Slice {
    bytes: Arc<Vec<u8>>,
    place: Range<usize>,
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.place.clone()).unwrap_or_default()
    }
}

impl Files for MemoryFiles {
    fn kind(&self, path: &str) -> Result<EntryKind, OpenError> {
        let name = path.trim_start_matches('/');
        if self.places.contains_key(name) {
            Ok(EntryKind::File)
        } else if self.below(name).is_empty() {
            Err(missing())
        } else {
            Ok(EntryKind::Directory)
        }
    }

    fn entries(&self, dir: &str) -> Result<Vec<(String, EntryKind)>, OpenError> {
        Ok(self.below(dir.trim_start_matches('/')).into_iter().collect())
    }

    fn open(&self, path: &str) -> Result<(Box<dyn Content>, u64), OpenError> {
        let place = self.places.get(path.trim_start_matches('/')).ok_or_else(missing)?;
        let size = u64::try_from(place.len()).unwrap_or(u64::MAX);
        let slice = Slice { bytes: Arc::clone(&self.bytes), place: place.clone() };
        Ok((Box::new(Cursor::new(slice)), size))
    }
}

fn missing() -> OpenError {
    OpenError { kind: ProblemKind::Unreadable, detail: Text::default() }
}
