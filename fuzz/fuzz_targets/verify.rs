//! Possible output of a child of `verify`, which runs the vendor's code: the pipe of reports, that
//! of standard output and error, and the results of both.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use verify::judge::{JudgeContext, judge};
use verify::parent::{ChildEnd, ChildResult};
use verify::protocol::vendor_output::OutputReader;
use verify::protocol::{EventReader, Stage, VendorOutput};
use verify::run::RunResult;

fn heard(bytes: &[u8], chunk: usize) -> (EventReader, VendorOutput) {
    let (mut hearing, mut listener) = (EventReader::default(), OutputReader::default());
    for chunk in bytes.chunks(chunk) {
        hearing.feed(chunk, &mut |_| {});
        listener.feed(chunk);
    }
    (hearing, listener.to_output())
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let (whole, chatter) = heard(bytes, bytes.len().max(1));
    let (parts, again) = heard(bytes, usize::from(first >> 3) + 1);
    // The events do not depend on how the input is split. Compared as text, because NaN is not
    // equal to itself.
    assert_eq!(format!("{:?}", whole.events), format!("{:?}", parts.events));
    assert_eq!(
        (whole.done, whole.calls, &whole.last_call),
        (parts.done, parts.calls, &parts.last_call)
    );
    assert_eq!(chatter, again);
    assert!(chatter.bytes <= bytes.len() as u64);
    assert!(chatter.parts.iter().map(|part| part.bytes).sum::<u64>() <= chatter.bytes);
    let end = match first & 7 {
        0 | 1 => ChildEnd::Reported,
        2 => ChildEnd::Crashed(11),
        3 => ChildEnd::Exited(1),
        4 => ChildEnd::Silent(Duration::from_secs(1)),
        5 => ChildEnd::CrashedAtEnd(6),
        6 => ChildEnd::SilentAtEnd,
        _ => ChildEnd::Stuck(Default::default()),
    };
    let ran = |device: Option<i32>, heard: EventReader| ChildResult {
        name: device.map_or("count".to_owned(), |device| format!("device-{device}")),
        device,
        events: heard.events,
        last_call: heard.last_call,
        calls: heard.calls,
        end: end.clone(),
        chatter: chatter.clone(),
        took: Duration::ZERO,
    };
    let mut done = RunResult::of(ran(None, EventReader::default()));
    done.ranks = vec![ran(Some(1), heard(bytes, 9).0), ran(Some(2), parts)];
    done.devices = vec![ran(Some(0), whole)];
    let judged = judge(&done, &Stage::ALL, &JudgeContext::default());
    assert_eq!(judged.results.iter().filter(|result| result.id == "VERIFY-LOAD").count(), 1);
});
