//! Codes of MindIE: `MIE04E01011C`.
//!
//! Two digits for the component, a letter for the severity, six digits that the component defines.
//! For the server, these are its part, its activity and the kind of the error, two digits each.
//!
//! Sources: the error codes of MindIE (mindie_log_0072, mindie_log_0201); the constants of
//! MindIE-LLM's server.

use super::decoding::{Decoding, Part};
use crate::{Link, cause};
use base::text::Text;
use data::causes;
use data::ui;

const COMPONENTS: [&str; 9] = [
    "MindIE Cert",
    "MindIE Benchmark",
    "MindIE Client",
    "MindIE MS",
    "MindIE Server",
    "MindIE LLM",
    "MindIE SD",
    "MindIE RT",
    "MindIE Torch",
];
/// The only component whose own digits are known.
const SERVER: usize = 4;
const PARTS: [(&str, &str); 5] = [
    ("01", "daemon"),
    ("02", "endpoint"),
    ("04", "tokenizer"),
    ("06", "infer_instance"),
    ("07", "health_checker"),
];
/// The kinds of errors of the server.
const KINDS: [(&str, ui::Label); 28] = [
    ("01", ui::MINDIE_PERMISSION),
    ("02", ui::MINDIE_CHILD),
    ("03", ui::MINDIE_START),
    ("04", ui::MINDIE_ARGUMENT),
    ("05", ui::MINDIE_REQUEST),
    ("06", ui::MINDIE_STATUS),
    ("07", ui::MINDIE_CHECK),
    ("08", ui::MINDIE_COMPONENT),
    ("09", ui::MINDIE_SYSTEM),
    ("0A", ui::MINDIE_TENSOR),
    ("0B", ui::MINDIE_TEXT),
    ("0C", ui::MINDIE_RESPONSE),
    ("0D", ui::MINDIE_RESPONSE_MADE),
    ("0E", ui::MINDIE_JSON),
    ("0F", ui::MINDIE_LATE),
    ("10", ui::MINDIE_NO_RESPONSE),
    ("11", ui::MINDIE_KV),
    ("12", ui::MINDIE_RECOMPUTE),
    ("13", ui::MINDIE_SECURITY),
    ("14", ui::MINDIE_PASSED_ON),
    ("15", ui::MINDIE_CHECK),
    ("16", ui::MINDIE_UNKNOWN),
    ("17", ui::MINDIE_DOWNLOAD),
    ("18", ui::MINDIE_REMOVAL),
    ("19", ui::MINDIE_CHILD),
    ("1A", ui::MINDIE_CHILD),
    ("1B", ui::MINDIE_CONFIGURATION),
    ("1C", ui::MINDIE_INITIALISATION),
];
/// The kinds that name a cause; the others happen for many reasons.
const CAUSES: [(&str, &str); 6] = [
    ("01", causes::env::PERMISSION),
    ("02", causes::framework::WORKER_DIED),
    ("0E", causes::tool::CONFIG_INVALID),
    ("17", causes::tool::DOWNLOAD_FAILED),
    ("1A", causes::framework::WORKER_DIED),
    ("1B", causes::tool::CONFIG_INVALID),
];

fn of<T: Copy>(list: &[(&str, T)], key: &str) -> Option<T> {
    list.iter().find(|(digits, _)| *digits == key).map(|(_, value)| *value)
}

/// Decodes `name`, which is in upper case.
pub(super) fn decode_name(name: &str) -> Option<Decoding> {
    let rest = name.strip_prefix("MIE")?;
    // Users omit the end: the component and the letter still identify the origin.
    if !matches!(rest.len(), 3 | 5 | 7 | 9) || !rest.is_ascii() {
        return None;
    }
    let (component, letter, own) = (&rest[..2], &rest[2..3], &rest[3..]);
    let index: usize = component.parse().ok()?;
    let gravity = match letter {
        "E" | "C" => Some(ui::PART_ERROR),
        "W" => Some(ui::PART_WARNING),
        "I" => None,
        _ => return None,
    };
    if !own.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut parts = vec![
        Part::new(ui::PART_COMPONENT, component, COMPONENTS.get(index).copied().map(Text::same)),
        Part::part_with_label(ui::PART_GRAVITY, letter, gravity),
    ];
    if own.len() < 6 {
        let missing = ui::MINDIE_INCOMPLETE.text();
        parts.push(Part::new(ui::PART_NUMBER, own, Some(missing)));
        return Some(Decoding { scheme: ui::SCHEME_MINDIE, parts, links: Vec::new() });
    }
    if index != SERVER {
        parts.push(Part::new(ui::PART_NUMBER, own, None));
        return Some(Decoding { scheme: ui::SCHEME_MINDIE, parts, links: Vec::new() });
    }
    let (part, doing, kind) = (&own[..2], &own[2..4], &own[4..]);
    parts.push(Part::new(ui::PART_MODULE, part, of(&PARTS, part).map(Text::same)));
    let starts = (doing == "01").then(|| ui::MINDIE_DOING_START.text());
    parts.push(Part::new(ui::PART_DOING, doing, starts));
    parts.push(Part::part_with_label(ui::PART_KIND, kind, of(&KINDS, kind)));
    let due = of(&CAUSES, kind).filter(|_| letter != "I").and_then(cause);
    let links = due.map(|cause| Link { cause, weight: 15 }).into_iter().collect();
    Some(Decoding { scheme: ui::SCHEME_MINDIE, parts, links })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: &str) -> Vec<String> {
        let parts = decode_name(code).unwrap().parts;
        parts.into_iter().map(|part| part.meaning.map_or(part.value, |text| text.en)).collect()
    }

    #[test]
    fn codes_of_the_server_say_what_kind_of_error() {
        let parts = said("MIE04E01011C");
        assert_eq!(parts[..3], ["MindIE Server", "error", "daemon"]);
        assert_eq!(parts[4], ui::MINDIE_INITIALISATION.text().en);
        let download = decode_name("MIE04E020217").unwrap();
        assert_eq!(download.links[0].cause.id, "tool.download_failed");
        assert!(decode_name("MIE04E01011C").unwrap().links.is_empty());
    }

    #[test]
    fn codes_of_other_components_stay_whole() {
        assert_eq!(said("MIE05E000001"), ["MindIE LLM", "error", "000001"]);
        for name in ["MIE04E01011", "MIE04X01011C", "MIE04E01011G", "MIEAAE010101", "EI0006"] {
            assert!(decode_name(name).is_none(), "{name}");
        }
    }
}
