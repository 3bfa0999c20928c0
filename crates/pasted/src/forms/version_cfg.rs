//! `version.cfg` of a toolkit: `runtime_running_version=[7.3.0.1.231:8.0.RC2]`.
//!
//! Each component has the running version, the upgraded one and the one that was installed first.
//! The version of CANN follows the colon.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::regex;

static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^([a-z]\w*)_(running|upgrade|installed)_version\s*=\s*\[(?:[\w.]*:)?(\d+\.\d[\w.-]*)\](?:\[[^\]]*\])*$",
    )
});

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let mut running: Vec<(usize, String)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if line.kind == Kind::Quotation || !line.text.contains("_version") {
            continue;
        }
        let Some(entry) = ENTRY.captures(&line.text) else { continue };
        found.take(index);
        if entry[2] == *"running" {
            // The toolkit and its parts; kernel packages can have another version.
            let part = matches!(&entry[1], "runtime" | "toolkit" | "compiler" | "hccl" | "opp");
            if part && !running.iter().any(|(_, version)| *version == entry[3]) {
                running.push((index, entry[3].to_owned()));
            }
        } else {
            found.reject("cann", &entry[3], line, Form::InfoFile, Reason::Weaker);
        }
    }
    for (index, version) in running {
        if let Some(line) = lines.get(index) {
            found.add_version("cann", &version, line, Form::InfoFile, Rank::Measured);
        }
    }
}
