//! What a child of `verify` may write, with the vendor's code in it: the pipe of reports, that of
//! standard output and error, and what is made of both.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;

use verify::judge::{Surroundings, judge};
use verify::parent::{End, Ran};
use verify::protocol::chatter::Listener;
use verify::protocol::{Chatter, Hearing, Rung};
use verify::run::Done;

fn heard(bytes: &[u8], chunk: usize) -> (Hearing, Chatter) {
    let (mut hearing, mut listener) = (Hearing::default(), Listener::default());
    for chunk in bytes.chunks(chunk) {
        hearing.feed(chunk, &mut |_| {});
        listener.feed(chunk);
    }
    (hearing, listener.chatter())
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let (whole, chatter) = heard(bytes, bytes.len().max(1));
    let (parts, again) = heard(bytes, usize::from(first >> 3) + 1);
    // However it is cut, it says the same; numbers that are none are equal to nothing.
    assert_eq!(format!("{:?}", whole.events), format!("{:?}", parts.events));
    assert_eq!(
        (whole.done, whole.calls, &whole.last_call),
        (parts.done, parts.calls, &parts.last_call)
    );
    assert_eq!(chatter, again);
    assert!(chatter.bytes <= bytes.len() as u64);
    assert!(chatter.parts.iter().map(|part| part.bytes).sum::<u64>() <= chatter.bytes);
    let end = match first & 7 {
        0 | 1 => End::Reported,
        2 => End::Crashed(11),
        3 => End::Exited(1),
        4 => End::Silent(Duration::from_secs(1)),
        5 => End::CrashedAtEnd(6),
        6 => End::SilentAtEnd,
        _ => End::Stuck(Default::default()),
    };
    let ran = |device: Option<i32>, heard: Hearing| Ran {
        name: device.map_or("count".to_owned(), |device| format!("device-{device}")),
        device,
        events: heard.events,
        last_call: heard.last_call,
        calls: heard.calls,
        end: end.clone(),
        chatter: chatter.clone(),
        took: Duration::ZERO,
    };
    let mut done = Done::of(ran(None, Hearing::default()));
    done.ranks = vec![ran(Some(1), heard(bytes, 9).0), ran(Some(2), parts)];
    done.devices = vec![ran(Some(0), whole)];
    let judged = classify(&done, &Rung::ALL, &Surroundings::default());
    assert_eq!(judged.results.iter().filter(|result| result.id == "VERIFY-LOAD").count(), 1);
});
