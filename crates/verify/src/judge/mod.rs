//! Turns the result of a run into findings. Starts no process and reads no file.

mod end;
mod fabric;
mod fault;
mod health;
mod severity;
mod time;
mod visible;

use std::collections::BTreeMap;

use super::identity::DeviceNames;
use super::parent::{ChildEnd, ChildResult};
use super::plog::LogTail;
use super::protocol::{Event, Fault, Measure, Outcome, Stage};
use super::run::{DeviceUse, RunResult};
use super::stage::link_name;
use base::report::{CheckState, Evidence, Finding, RuleResult, Severity, fold_consequences};
use base::text::{Later, Text};
use base::visible::NAME;
use data::{
    Catalog, FindingId, RawFinding, Reason,
    findings::{
        env_visible, verify_busy, verify_cache, verify_chatter, verify_crash, verify_hang,
        verify_health, verify_load, verify_memory, verify_runtime, verify_speed, verify_stress,
        verify_time,
    },
};
use end::{judge_end, judge_vendor_output};
use fault::{Code, judge_fault};
pub use time::find_slow;

/// The maximum number of devices quoted in a finding; all of them are named.
const QUOTED: usize = 3;

/// Input of the evaluation other than the run.
#[derive(Debug, Default)]
pub struct JudgeContext {
    /// `ASCEND_RT_VISIBLE_DEVICES` of the children, if it is set.
    pub visible: Option<String>,
    /// The minimum speed of a copy, by direction, in GB/s.
    pub floors: Vec<MinSpeed>,
    /// Speeds of an earlier run, by device and step, in GB/s.
    pub baseline: BTreeMap<(i32, String), f64>,
    /// Times of an earlier run, by device and measure, in milliseconds.
    pub baseline_times: BTreeMap<(i32, Measure), f64>,
    /// The cards of the devices.
    pub names: DeviceNames,
    /// Libraries in the search path for another architecture, and that architecture.
    pub foreign_libraries: Vec<(String, String)>,
    /// The last errors in the logs of the children, by the name of the child.
    pub logs: BTreeMap<String, LogTail>,
}

/// Minimum speed of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct MinSpeed {
    /// The step that measures it.
    pub step: &'static str,
    /// In GB/s.
    pub gb_per_s: f64,
}

/// Ratio to the speed of an earlier run below which a copy counts as slow.
const SLOWER: f64 = 0.8;
/// Ratio of the speeds at the end and at the beginning of a load below which it counts as faded.
const FADED: f64 = 0.7;
/// Minimum number of compared results for that ratio.
const ENOUGH: u64 = 12;

/// The result of the evaluation.
#[derive(Debug, Default)]
pub struct Judgment {
    /// The findings.
    pub findings: Vec<Finding>,
    /// The result of each stage.
    pub results: Vec<RuleResult>,
    /// Reasons for an inconclusive result, with the evidence that settles them.
    pub open: Vec<(Text, Option<Text>)>,
}

/// A finding on one device, or before any device was opened.
struct DeviceFinding {
    found: RawFinding,
    device: Option<i32>,
    code: Option<Code>,
    child: String,
}

/// Evaluates a run of `stages`.
pub fn judge(done: &RunResult, stages: &[Stage], around: &JudgeContext) -> Judgment {
    let catalog = Catalog::builtin();
    let mut items = Vec::new();
    let mut reasons: Vec<Reason> = Vec::new();
    let alone = std::iter::once(&done.first).chain(&done.devices);
    for ran in alone.chain(&done.peers).chain(&done.loads) {
        items.extend(judge_child(ran, &[], around, &mut reasons));
        items.extend(judge_speed(ran, around, done.in_use.is_used(), &mut reasons));
        items.extend(judge_leak(ran, done.in_use.is_used()));
        items.extend(judge_cache(ran));
        items.extend(judge_load(ran));
    }
    excuse_finalize(&mut items, done);
    items.extend(time::judge_times(done, around, &mut reasons));
    items.extend(health::judge_health(done, around));
    items.extend(fabric::judge_ranks(&done.ranks, around, &mut reasons));
    items.extend(judge_vendor_output(done));
    items.extend(judge_device_use(done));
    items.extend(judge_skipped_load(done, &mut reasons));
    for device in &done.unknown {
        let fault = Fault::NoSuchDevice { device: *device, count: done.count.unwrap_or_default() };
        items.push(judge_fault(Stage::Runtime, &fault, &done.first, &[], around, &mut reasons));
    }
    if !around.foreign_libraries.is_empty() {
        // The libraries are installed, so this is an error and not a missing installation.
        let absent = items.iter_mut().find(|item| item.found.message == "absent");
        if let Some(item) = absent {
            reasons.retain(|reason| !matches!(reason, Reason::VerifyNoLibrary { .. }));
            let (path, arch) = &around.foreign_libraries[0];
            item.found = verify_load::Foreign { arch, path }.error();
        }
    }
    visible::explain(&mut items, done, around);
    for item in &mut items {
        let runtime = item.found.id == verify_runtime::ID;
        if let Some(list) = around.visible.as_ref().filter(|_| runtime) {
            let evidence = Evidence::env(NAME).value(list);
            item.found.evidence.push(evidence);
        }
        if item.found.id != verify_chatter::ID
            && let Some(log) = around.logs.get(&item.child)
        {
            item.found.evidence.push(Evidence::file(&log.path).value(&log.lines));
        }
    }
    name_links(&mut items, done, &around.names);
    let findings = merge(items, &around.names)
        .into_iter()
        .map(|(found, code)| {
            let mut finding = catalog.resolve(found);
            if let Some(known) = code.and_then(fault::look_up_code) {
                fault::translate(&mut finding, &known);
            }
            finding
        })
        .collect::<Vec<_>>();
    let mut open: Vec<(Text, Option<Text>)> = Vec::new();
    for reason in &reasons {
        let one = (catalog.reason(reason), catalog.settle(reason));
        if !open.contains(&one) {
            open.push(one);
        }
    }
    let results = build_results(done, stages, around, &findings);
    Judgment { findings: fold_consequences(findings), results, open }
}

/// Returns the findings of one child, which may be one of `ranks`.
fn judge_child(
    ran: &ChildResult,
    ranks: &[ChildResult],
    around: &JudgeContext,
    reasons: &mut Vec<Reason>,
) -> Vec<DeviceFinding> {
    let faults = ran.events.iter().filter_map(|event| match event {
        Event::StepEnd { stage, outcome: Outcome::Failed { fault }, .. } => Some((*stage, fault)),
        _ => None,
    });
    let mut items: Vec<DeviceFinding> = faults
        .map(|(stage, fault)| judge_fault(stage, fault, ran, ranks, around, reasons))
        .collect();
    items.extend(judge_end(ran, reasons));
    items
}

fn device_finding(found: RawFinding, ran: &ChildResult) -> DeviceFinding {
    DeviceFinding { found, device: ran.device, code: None, child: ran.name.clone() }
}

/// Reports an unusable cache of compiled kernels.
fn judge_cache(ran: &ChildResult) -> Option<DeviceFinding> {
    ran.events.iter().find_map(|event| match event {
        Event::CacheUnusable { path, error } => {
            let found = verify_cache::Unusable { path }.info();
            Some(device_finding(found.evidence(Evidence::file(path).value(error)), ran))
        }
        _ => None,
    })
}

/// Reports a load test whose speed decreased.
fn judge_load(ran: &ChildResult) -> Option<DeviceFinding> {
    ran.events.iter().find_map(|event| match event {
        Event::Load { compared, first_tflops, last_tflops, .. }
            if *compared >= ENOUGH && *last_tflops < first_tflops * FADED =>
        {
            let (first, last) = (format!("{first_tflops:.2}"), format!("{last_tflops:.2}"));
            let found = verify_stress::Slower { first, last, r#where: Later }.warning();
            Some(device_finding(found, ran))
        }
        _ => None,
    })
}

/// Reports device memory that is not available again after it was freed.
fn judge_leak(ran: &ChildResult, in_use: bool) -> Option<DeviceFinding> {
    // Another process may allocate the freed memory.
    ran.events.iter().filter(|_| !in_use).find_map(|event| match event {
        Event::Leak { rounds, bytes, lost } => {
            let (size, lost) = (bytes >> 20, lost >> 20);
            let found = verify_memory::Leak { lost, rounds, size, r#where: Later }.warning();
            Some(device_finding(found, ran))
        }
        _ => None,
    })
}

/// Reports devices that other processes use.
fn judge_device_use(done: &RunResult) -> Option<DeviceFinding> {
    let DeviceUse::Used(processes) = &done.in_use else { return None };
    let found = verify_busy::Used { processes }
        .info()
        .evidence(Evidence::command("npu-smi info").value(processes));
    Some(DeviceFinding { found, device: None, code: None, child: done.first.name.clone() })
}

/// Reports devices without a load test.
fn judge_skipped_load(done: &RunResult, reasons: &mut Vec<Reason>) -> Option<DeviceFinding> {
    let (found, reason, why) = match &done.no_load {
        DeviceUse::NotAsked | DeviceUse::Idle => return None,
        DeviceUse::Used(why) => {
            (verify_stress::Busy.warning(), Reason::VerifyBusy { what: why.clone() }, why)
        }
        DeviceUse::Unknown(why) => {
            let what = why.clone();
            (verify_stress::Unknown.warning(), Reason::VerifyBusyUnknown { what }, why)
        }
    };
    reasons.push(reason);
    let found = found.evidence(Evidence::command("npu-smi info").value(why));
    Some(DeviceFinding { found, device: None, code: None, child: done.first.name.clone() })
}

/// Reports slow copies. If other processes use the devices, the result is inconclusive.
fn judge_speed(
    ran: &ChildResult,
    around: &JudgeContext,
    in_use: bool,
    reasons: &mut Vec<Reason>,
) -> Vec<DeviceFinding> {
    let mut items = Vec::new();
    for event in &ran.events {
        let Event::StepEnd { step, gb_per_s: Some(speed), .. } = event else { continue };
        let floor = around.floors.iter().find(|floor| floor.step == step);
        let before = ran.device.and_then(|device| around.baseline.get(&(device, step.clone())));
        let floor = floor.filter(|floor| *speed < floor.gb_per_s);
        let before = before.filter(|before| *speed < **before * SLOWER);
        let (stage, speed) = (step, format!("{speed:.2}"));
        let found = match (floor, before) {
            (None, None) => continue,
            _ if in_use => {
                reasons.push(Reason::VerifySpeedBusy);
                verify_speed::Busy { speed, stage, r#where: Later }.info()
            }
            (Some(floor), _) => {
                let least = floor.gb_per_s;
                verify_speed::Floor { least, speed, stage, r#where: Later }.error()
            }
            (None, Some(before)) => {
                let before = format!("{before:.2}");
                verify_speed::Baseline { before, speed, stage, r#where: Later }.warning()
            }
        };
        items.push(device_finding(found, ran));
    }
    items
}

/// A process that counted the devices and then crashed in `aclFinalize` has completed its work. If
/// no device process has this problem, it is a warning; else it is one fault of all.
fn excuse_finalize(items: &mut [DeviceFinding], done: &RunResult) {
    let first = &done.first;
    if first.is_whole() || !first.has_counted() || done.devices.is_empty() {
        return;
    }
    let alike = |ran: &ChildResult| {
        std::mem::discriminant(&ran.end) == std::mem::discriminant(&first.end)
            && !matches!(ran.end, ChildEnd::Reported)
            || ran.events.iter().any(is_failed_finalize)
    };
    if done.devices.iter().any(alike) {
        return;
    }
    for item in items.iter_mut().filter(|item| item.child == first.name) {
        item.found.severity = Severity::Warning;
    }
}

fn is_failed_finalize(event: &Event) -> bool {
    let Event::StepEnd { outcome: Outcome::Failed { fault }, .. } = event else { return false };
    matches!(fault, Fault::Call { function, .. } if function == "aclFinalize")
}

/// Replaces devices by the names of their cards in links between devices.
fn name_links(items: &mut [DeviceFinding], done: &RunResult, names: &DeviceNames) {
    let devices: Vec<i32> = done.devices.iter().filter_map(|ran| ran.device).collect();
    let known = |device: i32| names.join(&[Some(device)]);
    for item in items.iter_mut() {
        let Some(operation) = item.found.args.get("operation") else { continue };
        let pairs = devices.iter().flat_map(|from| devices.iter().map(move |to| (*from, *to)));
        let mut own = pairs.filter(|(from, to)| *operation == link_name(*from, *to));
        if let Some((from, to)) = own.next() {
            let name = format!("{} \u{2192} {}", known(from), known(to));
            item.found.args.insert("operation", name);
        }
    }
}

/// Merges equal findings of several devices.
fn merge(items: Vec<DeviceFinding>, names: &DeviceNames) -> Vec<(RawFinding, Option<Code>)> {
    let mut merged: Vec<(RawFinding, Vec<Option<i32>>, Option<Code>)> = Vec::new();
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
        .map(|(mut found, devices, code)| {
            let cards = devices.iter().flatten().filter_map(|device| names.get(*device));
            let more = cards.filter(|_| devices.len() > 1).take(QUOTED);
            found.evidence.extend(more.map(|card| {
                Evidence::command(format!("device {}", card.device)).value(card.name())
            }));
            let card = devices.first().and_then(|device| names.card_number(*device));
            let complete = |name: &str| match name {
                "card" => card.map_or_else(|| "N".to_owned(), |card| card.to_string()),
                _ => names.join(&devices),
            };
            (found.complete_each(complete), code)
        })
        .collect()
}

/// Returns the result of each stage and of the processes.
fn build_results(
    done: &RunResult,
    stages: &[Stage],
    around: &JudgeContext,
    findings: &[Finding],
) -> Vec<RuleResult> {
    let catalog = Catalog::builtin();
    let result = |id: FindingId, state: CheckState, reason: Option<Reason>| {
        catalog.result(id, state, reason.as_ref())
    };
    let found = |id: FindingId| findings.iter().any(|finding| finding.id == id);
    let mut results: Vec<RuleResult> = Stage::ALL
        .into_iter()
        .map(|stage| {
            let id = stage.finding_id();
            if found(id) {
                return result(id, CheckState::Found, None);
            }
            if !stages.contains(&stage) {
                return result(id, CheckState::NotApplicable, Some(Reason::VerifyNotAsked));
            }
            let (verdict, reason) = stage_verdict(done, stage);
            result(id, verdict, reason)
        })
        .collect();
    results.push(match (&around.visible, found(env_visible::ID)) {
        (None, _) => {
            let reason = Reason::NotSet { what: NAME.to_owned() };
            result(env_visible::ID, CheckState::NotApplicable, Some(reason))
        }
        (Some(_), true) => result(env_visible::ID, CheckState::Found, None),
        (Some(_), false) if done.count.is_none() => {
            result(env_visible::ID, CheckState::NotChecked, Some(Reason::VerifyStopped))
        }
        (Some(_), false) => result(env_visible::ID, CheckState::Passed, None),
    });
    for id in [verify_crash::ID, verify_hang::ID, verify_chatter::ID] {
        let verdict = if found(id) { CheckState::Found } else { CheckState::Passed };
        results.push(result(id, verdict, None));
    }
    results.push(match &done.in_use {
        DeviceUse::Used(_) => result(verify_busy::ID, CheckState::Found, None),
        DeviceUse::Idle => result(verify_busy::ID, CheckState::Passed, None),
        DeviceUse::Unknown(_) => {
            result(verify_busy::ID, CheckState::NotChecked, Some(Reason::VerifyUseUnknown))
        }
        DeviceUse::NotAsked => {
            result(verify_busy::ID, CheckState::NotApplicable, Some(Reason::VerifyStopped))
        }
    });
    results.push(match (found(verify_time::ID), time::is_compared(done, around)) {
        (true, _) => result(verify_time::ID, CheckState::Found, None),
        (_, true) => result(verify_time::ID, CheckState::Passed, None),
        (_, false) => {
            result(verify_time::ID, CheckState::NotApplicable, Some(Reason::VerifyOneTimed))
        }
    });
    results.push(match (found(verify_health::ID), done.history.samples.len() > 1) {
        (true, _) => result(verify_health::ID, CheckState::Found, None),
        (_, true) => result(verify_health::ID, CheckState::Passed, None),
        (_, false) => {
            result(verify_health::ID, CheckState::NotApplicable, Some(Reason::VerifyNoCards))
        }
    });
    let compiled = done
        .devices
        .iter()
        .flat_map(|ran| &ran.events)
        .any(|event| matches!(event, Event::Kernel { .. }));
    results.push(match (found(verify_cache::ID), compiled) {
        (true, _) => result(verify_cache::ID, CheckState::Found, None),
        (_, true) => result(verify_cache::ID, CheckState::Passed, None),
        (_, false) => {
            result(verify_cache::ID, CheckState::NotApplicable, Some(Reason::VerifyNoKernel))
        }
    });
    let measured = done
        .devices
        .iter()
        .flat_map(|ran| &ran.events)
        .any(|event| matches!(event, Event::StepEnd { gb_per_s: Some(_), .. }));
    let limited = !around.floors.is_empty() || !around.baseline.is_empty();
    results.push(match (found(verify_speed::ID), limited, measured) {
        (true, ..) => result(verify_speed::ID, CheckState::Found, None),
        (_, false, _) => {
            result(verify_speed::ID, CheckState::NotApplicable, Some(Reason::VerifyNoLimit))
        }
        (_, true, true) => result(verify_speed::ID, CheckState::Passed, None),
        (_, true, false) => {
            result(verify_speed::ID, CheckState::NotChecked, Some(Reason::VerifyStopped))
        }
    });
    results
}

/// Returns the verdict on a stage without findings.
fn stage_verdict(done: &RunResult, stage: Stage) -> (CheckState, Option<Reason>) {
    let children: Vec<&ChildResult> = match stage {
        Stage::Load => vec![&done.first],
        Stage::Runtime | Stage::Memory | Stage::Compute | Stage::Kernel => {
            done.devices.iter().collect()
        }
        Stage::Fabric => done.peers.iter().chain(&done.ranks).collect(),
        Stage::Stress => done.loads.iter().collect(),
    };
    let single = stage == Stage::Fabric && done.devices.len() == 1;
    if single && done.devices.iter().all(ChildResult::is_whole) {
        (CheckState::NotApplicable, Some(Reason::VerifyOneDevice))
    } else if children.is_empty() || !children.iter().all(|ran| has_finished(ran, stage)) {
        (CheckState::NotChecked, Some(Reason::VerifyStopped))
    } else if !children.iter().any(|ran| has_passed(ran, stage)) {
        (CheckState::NotApplicable, Some(Reason::VerifyNotSupported))
    } else {
        (CheckState::Passed, None)
    }
}

/// Returns whether a child finished this stage.
fn has_finished(ran: &ChildResult, stage: Stage) -> bool {
    ran.events.iter().any(|event| match event {
        Event::Done => true,
        Event::Begin { stage: later, .. } => *later > stage,
        _ => false,
    })
}

/// Returns whether a step of this stage passed.
fn has_passed(ran: &ChildResult, stage: Stage) -> bool {
    ran.events.iter().any(|event| {
        matches!(event, Event::StepEnd { stage: of, outcome: Outcome::Passed, .. } if *of == stage)
    })
}
