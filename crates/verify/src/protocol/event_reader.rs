//! Parses events of a child. The child runs vendor code, which may have corrupted its memory, so
//! its output is size-limited and invalid lines are ignored.

use super::{Event, Outcome};

/// The maximum length of a line, in bytes; longer lines are skipped.
const MAX_LINE: usize = 64 << 10;
/// The maximum number of bytes of lines kept as events; a valid report is smaller.
const MAX_KEPT: usize = 16 << 20;

/// The events of a child so far.
#[derive(Debug, Default)]
pub struct EventReader {
    /// Its events, without the calls.
    pub events: Vec<Event>,
    /// The last function that it called.
    pub last_call: Option<String>,
    /// The number of functions that it called.
    pub calls: u64,
    /// Whether it sent its last event: completion, or a failed step, after which no function is
    /// called.
    pub done: bool,
    /// The beginning of a line.
    pending: Vec<u8>,
    /// Whether the unfinished line is too long.
    too_long: bool,
    kept: usize,
}

impl EventReader {
    /// Parses the next bytes; `listen` receives the events in them.
    pub fn feed(&mut self, mut bytes: &[u8], listen: &mut dyn FnMut(&Event)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            self.append_bytes(line);
            let line = std::mem::take(&mut self.pending);
            if !std::mem::take(&mut self.too_long) {
                self.parse_line(&line, listen);
            }
        }
        // An unfinished line; if it is never finished, the child crashed.
        self.append_bytes(bytes);
    }

    fn append_bytes(&mut self, bytes: &[u8]) {
        self.too_long |= self.pending.len() + bytes.len() > MAX_LINE;
        if self.too_long {
            self.pending.clear();
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }

    fn parse_line(&mut self, line: &[u8], listen: &mut dyn FnMut(&Event)) {
        let Ok(event) = serde_json::from_slice::<Event>(line) else { return };
        listen(&event);
        if let Event::Call { function } = event {
            self.last_call = Some(function);
            self.calls += 1;
            return;
        }
        if matches!(event, Event::Returned { .. }) {
            return;
        }
        let failed =
            |event: &Event| matches!(event, Event::StepEnd { outcome: Outcome::Failed { .. }, .. });
        self.done |= event == Event::Done || failed(&event);
        self.kept = self.kept.saturating_add(line.len() + size_of::<Event>());
        if self.kept <= MAX_KEPT {
            self.events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8], chunk: usize) -> (EventReader, usize) {
        let (mut event_reader, mut heard) = (EventReader::default(), 0);
        for chunk in bytes.chunks(chunk) {
            event_reader.feed(chunk, &mut |_| heard += 1);
        }
        (event_reader, heard)
    }

    #[test]
    fn lines_are_events_however_they_come() {
        let stream = "{\"event\":\"call\",\"function\":\"aclInit\"}\n\nno json\n{\"event\":\"x\"}\n\
             {\"event\":\"devices\",\"count\":2}\n{\"event\":\"call\",\"function\":\"aclFinalize\"}\n\
             {\"event\":\"done\"}\n{\"event\":\"dev";
        for chunk in [1, 2, 5, stream.len()] {
            let (event_reader, heard) = heard(stream.as_bytes(), chunk);
            assert_eq!(event_reader.events, [Event::Devices { count: 2 }, Event::Done]);
            assert_eq!((heard, event_reader.calls, event_reader.done), (4, 2, true));
            assert_eq!(event_reader.last_call.as_deref(), Some("aclFinalize"));
        }
        assert!(!heard(b"{\"event\":\"done\"}", 9).0.done, "a line that is cut off");
    }

    #[test]
    fn it_is_bounded() {
        let long =
            [&b"{\"event\":\"soc\",\"name\":\""[..], &vec![b'x'; MAX_LINE], b"\"}\n"].concat();
        let (event_reader, heard_events) =
            heard(&[&long[..], b"{\"event\":\"done\"}\n"].concat(), 4096);
        assert_eq!((event_reader.events, heard_events), (vec![Event::Done], 1));
        let name = "x".repeat(MAX_LINE / 2);
        let line = format!("{{\"event\":\"soc\",\"name\":\"{name}\"}}\n");
        let (event_reader, _) = heard(line.repeat(600).as_bytes(), 1 << 16);
        assert!(event_reader.events.len() < MAX_KEPT / name.len(), "{}", event_reader.events.len());
        let (event_reader, _) = heard(&vec![b'x'; 1 << 20], 1 << 16);
        assert!(event_reader.pending.capacity() <= 2 * MAX_LINE);
    }
}
