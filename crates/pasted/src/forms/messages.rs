//! Messages of CANN and of frameworks that state a fact about the machine.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::candidate::{Form, Rank};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::regex;

/// Every message contains one of these.
const HINTS: [&str; 6] = ["VISIBLE", "visible", "Ascend", "ascend", "urrent", "SOC"];
/// EE1001: the value of the variable, and the number of devices that the process can have.
static VISIBLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\bset ASCEND_RT_VISIBLE_DEVICES:([\d,]+) error, input data range?\s?\[0-(\d{1,3})\)",
    )
});
/// Names of facts, each with the message whose first group is the value.
static MESSAGES: [(&str, &str, Rank); 6] = [
    // Paddle counts the devices of the plug-in.
    ("npu_count", r"\bCustomDevice: npu, visible devices count: (\d{1,3})\b", Rank::Derived),
    // The runtime names the chip of the device that it opened.
    ("npu", r"\bsupport for (Ascend\d{3}\w*) is not implemented", Rank::Measured),
    (
        "cann",
        r"(?i)\bcurrent (?:CANN version|version of CANN) is:?\s?(\d+\.\d[\w.]*\w)",
        Rank::Measured,
    ),
    // The build of llama.cpp queries npu-smi.
    ("npu", r"\bSOC_VERSION auto-detected is:\s?(Ascend\d{3}\w*)", Rank::Measured),
    (
        "env.ASCEND_TOOLKIT_HOME",
        r"\bupdated CANN_INSTALL_DIR from ASCEND_TOOLKIT_HOME=(/[^\s$]+)$",
        Rank::Measured,
    ),
    (
        "npu",
        r"(?i)\bcurrent soc(?:[_ ]version)?(?: is)?\s?[:=]?\s?\[?(Ascend\d{3}\w*)",
        Rank::Derived,
    ),
];
static PATTERNS: LazyLock<Vec<(&str, Regex, Rank)>> = LazyLock::new(|| {
    MESSAGES.iter().map(|(name, pattern, rank)| (*name, regex(pattern), *rank)).collect()
});

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for line in lines {
        if matches!(line.kind, Kind::Quotation | Kind::Comment | Kind::Code) {
            continue;
        }
        let text = line.text.as_str();
        if !HINTS.iter().any(|hint| text.contains(hint)) {
            continue;
        }
        if let Some(visible) = VISIBLE.captures(text) {
            let name = "env.ASCEND_RT_VISIBLE_DEVICES";
            found.add(name, &visible[1], line, Form::Log, Rank::Derived);
            found.add("npu_count", &visible[2], line, Form::Log, Rank::Derived);
        }
        for (name, pattern, rank) in PATTERNS.iter() {
            if let Some(message) = pattern.captures(text) {
                let (value, form) = (&message[1], Form::Log);
                if *name == "cann" {
                    found.add_version(name, value, line, form, *rank);
                } else {
                    found.add(name, value, line, form, *rank);
                }
            }
        }
    }
}
