//! How a child ended that did not end as it should.

use super::super::parent::{End, Ran, Stuck};
use super::super::protocol::{Event, Part, Rung};
use super::super::run::Done;
use super::{Item, QUOTED, item};
use base::report::{Evidence, RawFinding, Reason};
use data::sentence;

/// How many functions a title names.
const NAMED: usize = 5;

pub(super) fn of_end(ran: &Ran, reasons: &mut Vec<Reason>) -> Option<Item> {
    let function = ran.last_call.clone().unwrap_or_else(|| "?".to_owned());
    let found = match &ran.end {
        End::Reported => return None,
        // Of a library that is cut off, the loader maps what is not there.
        End::Crashed(signal) if function.starts_with("dlopen ") => {
            let library = function.trim_start_matches("dlopen ");
            RawFinding::error("VERIFY-LOAD", "broken")
                .arg("library", library)
                .evidence(Evidence::command(&function).value(signal_name(*signal)))
        }
        End::Crashed(signal) => {
            RawFinding::error("VERIFY-CRASH", "signal").arg("signal", signal_name(*signal))
        }
        End::Exited(status) => {
            RawFinding::error("VERIFY-CRASH", "exit").arg("status", status.to_string())
        }
        End::CrashedAtEnd(signal) => {
            RawFinding::warning("VERIFY-CRASH", "at_end").arg("signal", signal_name(*signal))
        }
        End::NotStarted(error) => {
            let what = error.clone();
            reasons.push(Reason { key: "verify_not_started", what });
            RawFinding::warning("VERIFY-CRASH", "not_started").arg("error", error)
        }
        End::Silent(limit) => RawFinding::error("VERIFY-HANG", "silent")
            .arg("seconds", limit.as_secs_f64().to_string()),
        End::Stuck(Stuck { pid, state, place }) => {
            // Dead, or stopped by a debugger: the driver has nothing to do with it.
            let held = matches!(state, Some('Z' | 't' | 'T'));
            RawFinding::error("VERIFY-HANG", if held { "held" } else { "stuck" })
                .arg("pid", pid.to_string())
                .evidence(
                    Evidence::file(format!("/proc/{pid}/stat"))
                        .value_if(state.map(String::from).as_ref()),
                )
                .evidence(Evidence::file(format!("/proc/{pid}/wchan")).value_if(place.as_ref()))
        }
        End::SilentAtEnd => RawFinding::warning("VERIFY-HANG", "at_end"),
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
    Some(item(found, ran))
}

/// The stage that was under way.
fn stage(ran: &Ran) -> Option<(Rung, &str)> {
    ran.events.iter().rev().find_map(|event| match event {
        Event::Begin { rung, stage } => Some((*rung, stage.as_str())),
        _ => None,
    })
}

/// What the vendor's code printed: one finding for all children, which names all functions.
pub(super) fn of_chatter(done: &Done) -> Vec<Item> {
    // What a crash printed stands at the crash.
    let chatty = || done.all().filter(|ran| ran.chatter.bytes > 0 && ran.end == End::Reported);
    let mut functions: Vec<String> = Vec::new();
    for part in chatty().flat_map(|ran| &ran.chatter.parts) {
        let name = format!("`{}`", name(part));
        if !functions.contains(&name) {
            functions.push(name);
        }
    }
    if functions.len() > NAMED {
        functions.truncate(NAMED);
        functions.push("\u{2026}".to_owned());
    }
    let functions = functions.join(", ");
    let of_child = |ran: &Ran| {
        let mut found = RawFinding::info("VERIFY-CHATTER", "wrote").arg("functions", &functions);
        for part in ran.chatter.parts.iter().take(QUOTED) {
            let source = format!("{} (stdout, stderr)", name(part));
            found = found.evidence(
                Evidence::command(source)
                    .value(last_lines(&part.tail))
                    .says(sentence("verify_chatter", &[("bytes", part.bytes.to_string())])),
            );
        }
        item(found, ran)
    };
    chatty().map(of_child).collect()
}

fn name(part: &Part) -> &str {
    part.function.as_deref().unwrap_or("exec")
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::protocol::Chatter;

    /// Only what waits in the kernel is said to be stuck in the driver.
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
            let ran = Ran {
                name: "device-3".to_owned(),
                device: Some(3),
                events: Vec::new(),
                last_call: Some("aclrtMalloc".to_owned()),
                calls: 1,
                end: End::Stuck(Stuck { pid: 42, state, place }),
                chatter: Chatter::default(),
                took: Duration::ZERO,
            };
            let item = of_end(&ran, &mut Vec::new()).unwrap();
            assert_eq!((item.found.id, item.found.message), ("VERIFY-HANG", message), "{state:?}");
            assert_eq!(item.found.args["function"], "aclrtMalloc");
            assert_eq!(item.found.args["pid"], "42");
            assert!(
                item.found.evidence.iter().any(|seen| seen.value.as_deref() == Some("devdrv_wait"))
            );
        }
    }
}
