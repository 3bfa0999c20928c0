//! How a child ended that did not end as it should.

use super::super::parent::{End, Ran};
use super::super::protocol::{Event, Rung};
use super::{Item, item};
use crate::report::{Evidence, Found, Reason};

pub(super) fn of_end(ran: &Ran, reasons: &mut Vec<Reason>) -> Option<Item> {
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
    Some(item(found, ran))
}

/// The stage that was under way.
fn stage(ran: &Ran) -> Option<(Rung, &str)> {
    ran.events.iter().rev().find_map(|event| match event {
        Event::Begin { rung, stage } => Some((*rung, stage.as_str())),
        _ => None,
    })
}

pub(super) fn of_chatter(ran: &Ran) -> Option<Item> {
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
    Some(item(found, ran))
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
