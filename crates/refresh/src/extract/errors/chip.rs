//! `chip.tsv`: events of the chip and its drivers, with the names in ascend-faultdiag and the
//! runtime. Texts of the driver are not included.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail, ensure};
use regex::Regex;

use super::knowledge_base;
use super::ordered_json::members;
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Lists of events with their severity, by platform.
const EVENTS: [&str; 2] = [
    "scripts/package/driver/ascend910B/conf/dms_events_conf.lst",
    "scripts/package/driver/ascend950/conf/dms_events_conf.lst",
];
const LEVELS: &str = "component/ascend-device-plugin/build/faultCode.json";
const CONSTANTS: &str = "component/ascend-device-plugin/pkg/common/constants.go";
const RUNTIME: &str = "src/runtime/core/src/device/device_error_core_proc.cc";

/// Events in the order in which they were first seen.
#[derive(Debug, Default)]
struct Events {
    codes: Vec<String>,
    by_code: BTreeMap<String, Event>,
}

#[derive(Debug, Default)]
struct Event {
    /// English name, Chinese name and class in ascend-faultdiag.
    name: String,
    zh: String,
    class: String,
    /// Name in the runtime.
    runtime_name: String,
    /// Heading in the list of the driver.
    heading: String,
    /// Levels in the device plugin.
    levels: Vec<String>,
    sources: BTreeSet<String>,
}

impl Events {
    /// Returns the event with this code, and adds a source to it.
    fn seen(&mut self, code: String, source: &str) -> &mut Event {
        if !self.by_code.contains_key(&code) {
            self.codes.push(code.clone());
        }
        let event = self.by_code.entry(code).or_default();
        event.sources.insert(source.to_owned());
        event
    }
}

/// Extracts `chip.tsv`.
pub(super) fn table(context: &Context) -> Result<Content> {
    let mut events = Events::default();
    let driver = context.tree("hicann-driver")?;
    for path in EVENTS {
        let place = driver.place(path);
        for (code, heading) in driver_events(&required(&driver, path, "\n0x")?) {
            let event = events.seen(code, &place);
            if event.heading.is_empty() {
                event.heading = heading;
            }
        }
    }
    let cluster = context.tree("mind-cluster")?;
    let place = cluster.place(LEVELS);
    for (level, codes) in members::<Vec<String>>(&place, &cluster.text(LEVELS)?)? {
        for code in codes {
            let event = events.seen(spelled(&code), &place);
            if !event.levels.contains(&level) {
                event.levels.push(level.clone());
            }
        }
    }
    let (place, faults) = knowledge_base::read(context)?;
    for (code, fault) in faults {
        if let Some(digits) = code.strip_prefix("0x").filter(|digits| is_event(digits)) {
            let event = events.seen(spelled(digits), &place);
            let names = fault.attribute;
            event.class = [names.class, names.component, names.module].join("/");
            (event.name, event.zh) = (names.cause_en, names.cause_zh);
        }
    }
    let runtime = context.tree("hicann-runtime")?;
    for (code, name) in runtime_events(&required(&runtime, RUNTIME, "{0x")?) {
        events.seen(code, &runtime.place(RUNTIME)).runtime_name = name;
    }
    for code in plugin_events(&required(&cluster, CONSTANTS, "FaultCode = ")?)? {
        events.seen(code, &cluster.place(CONSTANTS));
    }
    let Events { codes, mut by_code } = events;
    let columns = ["code", "symbol", "message", "zh", "component", "level"];
    let mut rows = SourcedRows::new(&columns);
    for code in codes {
        let Some(event) = by_code.remove(&code) else { bail!("event {code} occurs twice") };
        let name = if event.name.is_empty() { &event.runtime_name } else { &event.name };
        let component = if event.class.is_empty() { &event.heading } else { &event.class };
        let levels = event.levels.join(" ");
        let sources: Vec<String> = event.sources.into_iter().collect();
        let place = Place::file(sources.join(" + "));
        rows.push([&code, "", name, &event.zh, component, &levels], place);
    }
    Ok(rows.into_table().into())
}

/// Returns the text of a file that must contain this mark.
fn required(tree: &Tree<'_>, path: &str, mark: &str) -> Result<String> {
    let text = tree.text(path)?;
    ensure!(text.contains(mark), "{} has no `{mark}`", tree.place(path));
    Ok(text)
}

fn is_event(digits: &str) -> bool {
    digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Normalizes the code of an event to eight hexadecimal digits. Unknown spellings stay unchanged.
fn spelled(code: &str) -> String {
    let code = code.to_uppercase();
    if code.len() > 8 { code } else { format!("0x{code:0>8}") }
}

/// Parses `0x80E01805 0` with the comment above it.
fn driver_events(text: &str) -> Vec<(String, String)> {
    let mut heading = "";
    let mut events = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            heading = comment.trim();
            continue;
        }
        let mut words = line.split_whitespace();
        let (code, severity) = (words.next().unwrap_or_default(), words.next());
        let digits = code.strip_prefix("0x").filter(|digits| is_event(digits));
        if let (Some(digits), Some(_)) = (digits, severity) {
            events.push((spelled(digits), heading.to_owned()));
        }
    }
    events
}

/// Parses `{0x80CD8008U, "L2BUFF multi bit Err."}`.
fn runtime_events(text: &str) -> Vec<(String, String)> {
    let Ok(entry) = Regex::new(r#"\{0x([0-9A-Fa-f]{8})[uU]?,\s*"([^"]*)"\}"#) else {
        return Vec::new();
    };
    let found = entry.captures_iter(text);
    found.map(|event| (spelled(&event[1]), event[2].to_owned())).collect()
}

/// Parses `AicBusFaultCode = 2160689161`. Shorter numbers are limits and lengths.
fn plugin_events(text: &str) -> Result<Vec<String>> {
    let constant = Regex::new(r"(?m)^\s*\w+FaultCode = (\d{10})$")?;
    let number = |digits: &str| Ok(format!("0x{:08X}", digits.parse::<u32>()?));
    constant.captures_iter(text).map(|found| number(&found[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_every_source_are_read() {
        let list = "# event_code severity\n\n# memory\n0x80E01805 0\n0x80e18400 1 \n0x12 1\n";
        let event = |code: &str, text: &str| (code.to_owned(), text.to_owned());
        assert_eq!(
            driver_events(list),
            [event("0x80E01805", "memory"), event("0x80E18400", "memory")]
        );
        let map = "    {0x80CD8008U, \"L2BUFF multi bit Err.\"},\n{0x1, \"x\"}";
        assert_eq!(runtime_events(map), [event("0x80CD8008", "L2BUFF multi bit Err.")]);
        let go = "\tDefaultIDForCreateVNPU = 0xFFFFFFFF\n\tAicBusFaultCode = 2160689161\n\tPartNumOfFaultCode = 4\n\t// [0x00f103b0,1]\n";
        assert_eq!(plugin_events(go).unwrap(), ["0x80C98009"]);
    }

    #[test]
    fn unknown_spellings_stay() {
        assert_eq!(spelled("80e01805"), "0x80E01805");
        assert_eq!(spelled("4F8"), "0x000004F8");
        assert_eq!(spelled("819b800dX1"), "819B800DX1");
    }

    #[test]
    fn events_are_listed_once_with_all_sources() {
        let mut events = Events::default();
        events.seen("b".to_owned(), "2");
        events.seen("a".to_owned(), "1");
        events.seen("b".to_owned(), "1");
        assert_eq!(events.codes, ["b", "a"]);
        assert_eq!(events.by_code["b"].sources.len(), 2);
    }
}
