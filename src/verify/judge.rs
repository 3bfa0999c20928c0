//! From what happened to what is found. Pure: no process, no file.

use std::collections::BTreeMap;

use super::parent::{End, Ran};
use super::plog::LogTail;
use super::protocol::{Again, Event, Fault, Outcome, Pattern, Place, Rung, Wrong};
use super::run::Done;
use crate::data::Catalog;
use crate::errcodes::{self, Match};
use crate::report::{Evidence, Finding, FixStep, Found, Reason, RuleResult, Severity, Verdict};
use crate::text::Text;

/// "No memory": somebody else has it; that is no fault of the device.
const NO_MEMORY: i32 = 207_001;
/// Families of codes that functions of ACL return.
const FAMILIES: [&str; 5] = ["acl_rt", "acl_api", "acl_ge", "aclnn", "acl_doc"];
/// How many devices a finding quotes; all of them are named.
const QUOTED: usize = 3;

/// What is known besides the run.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// `ASCEND_RT_VISIBLE_DEVICES`, if it is set.
    pub visible: Option<String>,
    /// The least speed of a copy, by direction, in GB/s.
    pub floors: Vec<Floor>,
    /// Speeds of an earlier run, by device and stage, in GB/s.
    pub baseline: BTreeMap<(i32, String), f64>,
    /// Libraries in the search path that the linker passes over, and for which machine they are.
    pub passed_over: Vec<(String, String)>,
    /// The last errors in the logs of the children, by device.
    pub logs: BTreeMap<Option<i32>, LogTail>,
}

/// The least speed of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The stage that measures it.
    pub stage: &'static str,
    /// In GB/s.
    pub gb_per_s: f64,
}

/// How much slower than an earlier run is no accident.
const SLOWER: f64 = 0.8;

/// The judgement.
#[derive(Debug, Default)]
pub struct Judgement {
    /// What was found.
    pub findings: Vec<Finding>,
    /// What became of each rung.
    pub results: Vec<RuleResult>,
    /// Why there is no verdict, if so.
    pub no_verdict: Vec<Text>,
}

/// Something that was found on one device, or before there were any.
struct Item {
    found: Found,
    device: Option<i32>,
    code: Option<i32>,
}

/// Judges a run of `rungs`.
pub fn judge(done: &Done, rungs: &[Rung], around: &Surroundings) -> Judgement {
    let catalog = Catalog::builtin();
    let mut items = Vec::new();
    let mut reasons: Vec<Reason> = Vec::new();
    for ran in std::iter::once(&done.first).chain(&done.devices) {
        for (rung, fault) in faults(ran) {
            items.push(of_fault(rung, fault, ran, &mut reasons));
        }
        items.extend(of_end(ran, &mut reasons));
        items.extend(of_chatter(ran));
        items.extend(of_speed(ran, around));
    }
    for device in &done.unknown {
        let fault = Fault::NoSuchDevice { device: *device, count: done.count.unwrap_or_default() };
        items.push(of_fault(Rung::Runtime, &fault, &done.first, &mut reasons));
    }
    if !around.passed_over.is_empty() {
        // They are there: that is no missing installation, and a verdict.
        let absent = items.iter_mut().find(|item| item.found.message == "absent");
        if let Some(item) = absent {
            reasons.retain(|reason| reason.key != "verify_no_library");
            let (path, arch) = &around.passed_over[0];
            item.found = Found::error("VERIFY-LOAD", "foreign").arg("path", path).arg("arch", arch);
        }
    }
    for item in &mut items {
        let runtime = item.found.id == "VERIFY-RUNTIME";
        if let Some(list) = around.visible.as_ref().filter(|_| runtime) {
            let evidence = Evidence::env("ASCEND_RT_VISIBLE_DEVICES").value(list);
            item.found.evidence.push(evidence);
        }
        if item.found.id != "VERIFY-CHATTER"
            && let Some(log) = around.logs.get(&item.device)
        {
            item.found.evidence.push(Evidence::file(&log.path).value(&log.lines));
        }
    }
    let findings = merge(items)
        .into_iter()
        .map(|(found, code)| {
            let mut finding = catalog.resolve(found);
            if let Some(known) = code.and_then(meaning) {
                translate(&mut finding, &known);
            }
            finding
        })
        .collect::<Vec<_>>();
    let mut no_verdict: Vec<Text> = Vec::new();
    for reason in &reasons {
        let text = catalog.reason(reason);
        if !no_verdict.contains(&text) {
            no_verdict.push(text);
        }
    }
    let limited = !around.floors.is_empty() || !around.baseline.is_empty();
    let results = results(done, rungs, limited, &findings);
    Judgement { findings, results, no_verdict }
}

fn faults(ran: &Ran) -> impl Iterator<Item = (Rung, &Fault)> {
    ran.events.iter().filter_map(|event| match event {
        Event::Stage { rung, outcome: Outcome::Failed { fault }, .. } => Some((*rung, fault)),
        _ => None,
    })
}

fn of_fault(rung: Rung, fault: &Fault, ran: &Ran, reasons: &mut Vec<Reason>) -> Item {
    let id = rung.finding();
    let device = ran.device;
    let mut code = None;
    let mut blocked = |key, what: &str| reasons.push(Reason { key, what: what.to_owned() });
    let found = match fault {
        Fault::NoLibrary { tried } => {
            blocked("verify_no_library", &tried.join(", "));
            Found::warning("VERIFY-LOAD", "absent").arg("libraries", tried.join(", "))
        }
        Fault::BrokenLibrary { library, error } => Found::error("VERIFY-LOAD", "broken")
            .arg("library", library)
            .evidence(Evidence::command(format!("dlopen {library}")).value(error)),
        Fault::MissingSymbols { library, symbols } => Found::error("VERIFY-LOAD", "symbols")
            .arg("library", library)
            .arg("symbols", symbols.join(", ")),
        Fault::Simulated { library } => {
            blocked("verify_simulated", library);
            Found::warning("VERIFY-LOAD", "simulated").arg("library", library)
        }
        Fault::NoDevice => {
            blocked("verify_no_device", "");
            Found::warning("VERIFY-RUNTIME", "no_device")
        }
        Fault::NoSuchDevice { device, count } => {
            blocked("verify_no_such_device", &device.to_string());
            Found::warning("VERIFY-RUNTIME", "no_such_device")
                .arg("device", device.to_string())
                .arg("count", count.to_string())
                .evidence(Evidence::option("--device").value(device.to_string()))
        }
        // Nobody there is what `no_device` says, whichever function says it.
        Fault::Call { function, code: 207_004, .. } if rung == Rung::Runtime => {
            blocked("verify_no_device", "");
            Found::warning("VERIFY-RUNTIME", "no_device")
                .evidence(Evidence::command(function).value("207004"))
        }
        Fault::Call { function, code: NO_MEMORY, message } if rung >= Rung::Memory => {
            blocked("verify_memory_full", &place(&[device]));
            code = Some(NO_MEMORY);
            Found::warning(id, "full")
                .arg("function", function)
                .evidence(said(function, message.as_ref()))
        }
        Fault::Call { function, code: number, message } => {
            code = Some(*number);
            let symbol = meaning(*number).map(|known| known.row.symbol);
            Found::error(id, "call")
                .arg("function", function)
                .arg("code", number.to_string())
                .arg("symbol", symbol.filter(|symbol| !symbol.is_empty()).unwrap_or("?".to_owned()))
                .evidence(said(function, message.as_ref()))
        }
        Fault::Null { function, message } => Found::error(id, "null")
            .arg("function", function)
            .evidence(said(function, message.as_ref())),
        Fault::Wrong(wrong) => of_wrong(id, wrong),
    };
    Item { found, device, code }
}

fn of_wrong(id: &'static str, wrong: &Wrong) -> Found {
    let message = match (wrong.what, wrong.again, wrong.pattern) {
        (Place::Guard, ..) => "guard",
        (Place::Input, ..) => "input",
        (Place::Tolerance, ..) => "tolerance",
        (_, Again::Right, _) => "intermittent",
        (_, _, Pattern::Unwritten) => "unwritten",
        _ => "wrong",
    };
    let seen = Evidence::command(&wrong.operation).says(
        match wrong.again {
            Again::Same => "verify_wrong_same",
            Again::Different => "verify_wrong_different",
            Again::Right => "verify_wrong_right",
        },
        &[
            ("pattern", wrong.pattern.as_str().to_owned()),
            ("first", wrong.first.to_string()),
            ("last", wrong.last.to_string()),
            ("expected", wrong.expected.clone()),
            ("got", wrong.got.clone()),
        ],
    );
    let severity = if wrong.what == Place::Tolerance { Severity::Warning } else { Severity::Error };
    Found::new(id, message, severity)
        .arg("operation", &wrong.operation)
        .arg("wrong", wrong.wrong.to_string())
        .arg("total", wrong.total.to_string())
        .evidence(seen)
}

/// Copies that are slower than they should be.
fn of_speed(ran: &Ran, around: &Surroundings) -> Vec<Item> {
    let mut items = Vec::new();
    for event in &ran.events {
        let Event::Stage { stage, gb_per_s: Some(speed), .. } = event else { continue };
        let floor = around.floors.iter().find(|floor| floor.stage == stage);
        let before = ran.device.and_then(|device| around.baseline.get(&(device, stage.clone())));
        let found = if let Some(floor) = floor.filter(|floor| *speed < floor.gb_per_s) {
            Found::error("VERIFY-SPEED", "floor").arg("least", format!("{}", floor.gb_per_s))
        } else if let Some(before) = before.filter(|before| *speed < **before * SLOWER) {
            Found::warning("VERIFY-SPEED", "baseline").arg("before", format!("{before:.2}"))
        } else {
            continue;
        };
        let found = found.arg("stage", stage).arg("speed", format!("{speed:.2}"));
        items.push(Item { found, device: ran.device, code: None });
    }
    items
}

/// What the runtime said, as evidence.
fn said(function: &str, message: Option<&String>) -> Evidence {
    Evidence::command(function).value_if(message)
}

fn of_end(ran: &Ran, reasons: &mut Vec<Reason>) -> Option<Item> {
    let function = ran.last_call.clone().unwrap_or_else(|| "?".to_owned());
    let found = match &ran.end {
        End::Reported => return None,
        // Of a library that is cut off, the loader maps what is not there.
        End::Crashed(signal) if function.starts_with("dlopen ") => {
            let library = function.trim_start_matches("dlopen ");
            Found::error("VERIFY-LOAD", "broken")
                .arg("library", library)
                .evidence(Evidence::command(&function).value(signal_name(*signal)))
        }
        End::Crashed(signal) => {
            Found::error("VERIFY-CRASH", "signal").arg("signal", signal_name(*signal))
        }
        End::Exited(status) => {
            Found::error("VERIFY-CRASH", "exit").arg("status", status.to_string())
        }
        End::CrashedAtEnd(signal) => {
            Found::warning("VERIFY-CRASH", "at_end").arg("signal", signal_name(*signal))
        }
        End::NotStarted(error) => {
            let what = error.clone();
            reasons.push(Reason { key: "verify_not_started", what });
            Found::warning("VERIFY-CRASH", "not_started").arg("error", error)
        }
        End::Silent(limit) => {
            Found::error("VERIFY-HANG", "silent").arg("seconds", limit.as_secs_f64().to_string())
        }
        End::Stuck(pid, place) => Found::error("VERIFY-HANG", "stuck")
            .arg("pid", pid.to_string())
            .evidence(Evidence::file(format!("/proc/{pid}/wchan")).value_if(place.as_ref())),
        End::SilentAtEnd => Found::warning("VERIFY-HANG", "at_end"),
    };
    let mut found = found;
    if found.id != "VERIFY-LOAD" {
        found = found.arg("function", function);
    }
    if let Some((rung, stage)) = stage(ran) {
        let at = format!("{}: {stage}", rung.as_str());
        found = found.evidence(Evidence::command(at));
    }
    if !ran.chatter.tail.is_empty() {
        let tail = last_lines(&ran.chatter.tail);
        found = found.evidence(Evidence::command("stdout, stderr").value(tail));
    }
    Some(Item { found, device: ran.device, code: None })
}

/// The stage that was under way.
fn stage(ran: &Ran) -> Option<(Rung, &str)> {
    ran.events.iter().rev().find_map(|event| match event {
        Event::Begin { rung, stage } => Some((*rung, stage.as_str())),
        _ => None,
    })
}

fn of_chatter(ran: &Ran) -> Option<Item> {
    // What a crash printed stands at the crash.
    if ran.chatter.bytes == 0 || ran.end != End::Reported {
        return None;
    }
    let function = ran.chatter.during.clone().unwrap_or_else(|| "?".to_owned());
    // Which call was under way when the first of it was read: calls are quicker than readers.
    let found = Found::info("VERIFY-CHATTER", "wrote").evidence(
        Evidence::command(format!("{function} (stdout, stderr)"))
            .value(last_lines(&ran.chatter.tail)),
    );
    Some(Item { found, device: ran.device, code: None })
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// The name of a signal that ends processes.
fn signal_name(signal: i32) -> String {
    match signal {
        4 => "SIGILL".to_owned(),
        6 => "SIGABRT".to_owned(),
        7 => "SIGBUS".to_owned(),
        8 => "SIGFPE".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => other.to_string(),
    }
}

/// `NPU 0, 1`, or `CANN` for what happened before there were devices.
fn place(devices: &[Option<i32>]) -> String {
    let numbers: Vec<String> = devices.iter().flatten().map(ToString::to_string).collect();
    if numbers.is_empty() { "CANN".to_owned() } else { format!("NPU {}", numbers.join(", ")) }
}

/// One finding for what several devices have in common.
fn merge(items: Vec<Item>) -> Vec<(Found, Option<i32>)> {
    let mut merged: Vec<(Found, Vec<Option<i32>>, Option<i32>)> = Vec::new();
    for item in items {
        let same = merged.iter_mut().find(|(found, _, _)| {
            (found.id, found.message, &found.args)
                == (item.found.id, item.found.message, &item.found.args)
        });
        match same {
            Some((found, devices, _)) => {
                if devices.len() < QUOTED {
                    let new = item.found.evidence.into_iter();
                    let new: Vec<_> = new.filter(|seen| !found.evidence.contains(seen)).collect();
                    found.evidence.extend(new);
                }
                devices.push(item.device);
            }
            None => merged.push((item.found, vec![item.device], item.code)),
        }
    }
    merged
        .into_iter()
        .map(|(found, devices, code)| (found.arg("where", place(&devices)), code))
        .collect()
}

/// What a code means that a function of ACL returned.
fn meaning(code: i32) -> Option<Match> {
    let mut known = errcodes::look_up(&code.to_string());
    known.retain(|found| FAMILIES.contains(&found.family.id.as_str()));
    let at = known.iter().position(|found| found.cause.is_some()).unwrap_or(0);
    (at < known.len()).then(|| known.swap_remove(at))
}

/// Says what the error table says about the code.
fn translate(finding: &mut Finding, known: &Match) {
    let Some(cause) = known.cause else {
        if !known.row.message.is_empty() {
            finding.cause = Text::same(&known.row.message);
        }
        return;
    };
    finding.cause = cause.text.clone();
    finding.fix.extend(
        cause
            .steps
            .iter()
            .map(|step| FixStep { text: Text::new(&step.en, &step.zh), run: step.run.clone() }),
    );
    finding.refs.extend(cause.sources.iter().cloned());
}

/// What became of each rung, and of the processes.
fn results(done: &Done, rungs: &[Rung], limited: bool, findings: &[Finding]) -> Vec<RuleResult> {
    let catalog = Catalog::builtin();
    let result = |id: &'static str, verdict: Verdict, reason: Option<&'static str>| RuleResult {
        id,
        name: catalog.entry(id).map(|entry| entry.name.clone()).unwrap_or_default(),
        verdict,
        reason: reason.map(|key| catalog.reason(&Reason { key, what: String::new() })),
    };
    let found = |id: &str| findings.iter().any(|finding| finding.id == id);
    let mut results: Vec<RuleResult> = Rung::ALL
        .into_iter()
        .map(|rung| {
            let id = rung.finding();
            if found(id) {
                return result(id, Verdict::Found, None);
            }
            if !rungs.contains(&rung) {
                return result(id, Verdict::NotApplicable, Some("verify_not_asked"));
            }
            let tried: &[Ran] = match rung {
                Rung::Load => std::slice::from_ref(&done.first),
                _ => &done.devices,
            };
            if tried.is_empty() || !tried.iter().all(|ran| finished(ran, rung)) {
                result(id, Verdict::NotChecked, Some("verify_stopped"))
            } else if !tried.iter().any(|ran| proves(ran, rung)) {
                result(id, Verdict::NotApplicable, Some("verify_not_supported"))
            } else {
                result(id, Verdict::Passed, None)
            }
        })
        .collect();
    for id in ["VERIFY-CRASH", "VERIFY-HANG", "VERIFY-CHATTER"] {
        let verdict = if found(id) { Verdict::Found } else { Verdict::Passed };
        results.push(result(id, verdict, None));
    }
    let measured = done
        .devices
        .iter()
        .flat_map(|ran| &ran.events)
        .any(|event| matches!(event, Event::Stage { gb_per_s: Some(_), .. }));
    results.push(match (found("VERIFY-SPEED"), limited, measured) {
        (true, ..) => result("VERIFY-SPEED", Verdict::Found, None),
        (_, false, _) => result("VERIFY-SPEED", Verdict::NotApplicable, Some("verify_no_limit")),
        (_, true, true) => result("VERIFY-SPEED", Verdict::Passed, None),
        (_, true, false) => result("VERIFY-SPEED", Verdict::NotChecked, Some("verify_stopped")),
    });
    results
}

/// Whether a child came beyond this rung.
fn finished(ran: &Ran, rung: Rung) -> bool {
    ran.events.iter().any(|event| match event {
        Event::Done => true,
        Event::Begin { rung: later, .. } => *later > rung,
        _ => false,
    })
}

/// Whether a stage of this rung passed.
fn proves(ran: &Ran, rung: Rung) -> bool {
    ran.events.iter().any(|event| {
        matches!(event, Event::Stage { rung: of, outcome: Outcome::Passed, .. } if *of == rung)
    })
}
