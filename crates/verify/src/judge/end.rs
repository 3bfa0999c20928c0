//! Evaluates the end of a child that did not end regularly.

use super::super::parent::{ChildEnd, ChildResult, StuckProcess, signal_name};
use super::super::protocol::{Event, FunctionOutput, Stage};
use super::super::run::RunResult;
use super::{DeviceFinding, QUOTED, device_finding};
use base::report::Evidence;
use base::text::Later;
use data::{
    Reason,
    findings::{verify_chatter, verify_crash, verify_hang, verify_load},
    ui,
};

/// The maximum number of functions named in a title.
const NAMED: usize = 5;

pub(super) fn judge_end(ran: &ChildResult, reasons: &mut Vec<Reason>) -> Option<DeviceFinding> {
    let function = ran.last_call.as_deref().unwrap_or("?");
    let mut found = match &ran.end {
        ChildEnd::Reported => return None,
        // For a truncated library, the loader maps pages behind the end of the file.
        ChildEnd::Crashed(signal) if function.starts_with("dlopen ") => {
            let library = function.trim_start_matches("dlopen ");
            verify_load::Broken { library }
                .error()
                .evidence(Evidence::command(function).value(signal_name(*signal)))
        }
        ChildEnd::Crashed(signal) => {
            let signal = signal_name(*signal);
            verify_crash::Signal { function, signal, r#where: Later }.error()
        }
        ChildEnd::Exited(status) => verify_crash::Exit { function, status, r#where: Later }.error(),
        ChildEnd::CrashedAtEnd(signal) => {
            let signal = signal_name(*signal);
            verify_crash::AtEnd { function, signal, r#where: Later }.warning()
        }
        ChildEnd::NotStarted(error) => {
            let what = error.clone();
            reasons.push(Reason::VerifyNotStarted { what });
            verify_crash::NotStarted { error, function, r#where: Later }.warning()
        }
        ChildEnd::Silent(limit) => {
            let seconds = limit.as_secs_f64();
            verify_hang::Silent { function, seconds, r#where: Later }.error()
        }
        ChildEnd::Stuck(StuckProcess { pid, state, place }) => {
            // Dead, or stopped by a debugger: the driver is not involved.
            let held = matches!(state, Some('Z' | 't' | 'T'));
            let found = if held {
                verify_hang::Held { function, pid, r#where: Later }.error()
            } else {
                verify_hang::Stuck { function, pid, r#where: Later }.error()
            };
            found
                .evidence(
                    Evidence::file(format!("/proc/{pid}/stat"))
                        .value_if(state.map(String::from).as_ref()),
                )
                .evidence(Evidence::file(format!("/proc/{pid}/wchan")).value_if(place.as_ref()))
        }
        ChildEnd::SilentAtEnd => verify_hang::AtEnd { function, r#where: Later }.warning(),
    };
    if let Some((stage, step)) = find_open_step(ran) {
        let at = format!("{}: {step}", stage.as_str());
        found = found.evidence(Evidence::command(at));
    }
    if !ran.chatter.tail.is_empty() {
        let tail = last_lines(&ran.chatter.tail);
        found = found.evidence(Evidence::command("stdout, stderr").value(tail));
    }
    Some(device_finding(found, ran))
}

/// The unfinished step.
fn find_open_step(ran: &ChildResult) -> Option<(Stage, &str)> {
    ran.events.iter().rev().find_map(|event| match event {
        Event::Begin { stage, step } => Some((*stage, step.as_str())),
        _ => None,
    })
}

/// The output of the vendor's code: one finding for all children, which names all functions.
pub(super) fn judge_vendor_output(done: &RunResult) -> Vec<DeviceFinding> {
    // The output of a crash is part of the finding about the crash.
    let chatty =
        || done.children().filter(|ran| ran.chatter.bytes > 0 && ran.end == ChildEnd::Reported);
    let mut functions: Vec<String> = Vec::new();
    for part in chatty().flat_map(|ran| &ran.chatter.parts) {
        let name = format!("`{}`", function_name(part));
        if !functions.contains(&name) {
            functions.push(name);
        }
    }
    if functions.len() > NAMED {
        functions.truncate(NAMED);
        functions.push("\u{2026}".to_owned());
    }
    let functions = functions.join(", ");
    let of_child = |ran: &ChildResult| {
        let mut found = verify_chatter::Wrote { functions: &functions, r#where: Later }.info();
        for part in ran.chatter.parts.iter().take(QUOTED) {
            let source = format!("{} (stdout, stderr)", function_name(part));
            found = found.evidence(
                Evidence::command(source)
                    .value(last_lines(&part.tail))
                    .says(ui::VerifyChatter { bytes: part.bytes }.text()),
            );
        }
        device_finding(found, ran)
    };
    chatty().map(of_child).collect()
}

fn function_name(part: &FunctionOutput) -> &str {
    part.function.as_deref().unwrap_or("exec")
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::protocol::VendorOutput;

    /// Only a process that waits in the kernel is reported as stuck in the driver.
    #[test]
    fn a_process_that_stays_is_said_to_be_where_it_is() {
        for (state, message) in [
            (Some('D'), "stuck"),
            (Some('R'), "stuck"),
            (None, "stuck"),
            (Some('t'), "held"),
            (Some('Z'), "held"),
        ] {
            let place = Some("devdrv_wait".to_owned());
            let ran = ChildResult {
                name: "device-3".to_owned(),
                device: Some(3),
                events: Vec::new(),
                last_call: Some("aclrtMalloc".to_owned()),
                calls: 1,
                end: ChildEnd::Stuck(StuckProcess { pid: 42, state, place }),
                chatter: VendorOutput::default(),
                took: Duration::ZERO,
            };
            let item = judge_end(&ran, &mut Vec::new()).unwrap();
            assert_eq!(
                (item.found.id.as_str(), item.found.message),
                ("VERIFY-HANG", message),
                "{state:?}"
            );
            assert_eq!(item.found.args["function"], "aclrtMalloc");
            assert_eq!(item.found.args["pid"], "42");
            assert!(
                item.found.evidence.iter().any(|seen| seen.value.as_deref() == Some("devdrv_wait"))
            );
        }
    }
}
