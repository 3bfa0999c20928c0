//! Chips, cards, servers, and the number and memory of NPUs.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, is_boundary, mention};
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::regex;

/// Every line with a chip, a server or a size of memory contains one of these.
const HINTS: [&str; 19] = [
    "910", "310", "950", "A2", "A3", "NPUs", "tlas", "TLAS", "300", "800", "HBM", "hbm", "Hbm",
    "显存", "emory", "MEMORY", "19e5", "19E5", "0x19",
];

const CHIP: &str = r"(?:910(?:_\d{2,4}|ProA|ProB|PremiumA|\s?B\dC?(?:-\d)?|BC?|C\d?|A\d?|D\d?)?|310(?:P\d?|B\d?)?|950(?:PR|DT)?(?:_\d{2,4})?)";
static NAMED: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r"(?i)((?:ascend|昇腾|升腾|华为)[ _-]?)?({CHIP})")));
static WHOLE: LazyLock<Regex> = LazyLock::new(|| regex(&format!(r"(?i)^(?:ascend[ _-]?)?{CHIP}$")));
/// In a log: the name of a SoC as a separate word.
static LOGGED: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r#"(?i)(?:^|[\["' =:(,])(ascend{CHIP})(?:$|[\]"' ,;:)])"#)));
static CARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(atlas\s?300[IVT](?:[\s-]?(?:pro|duo|a2)\b)?|\b(?:A?300[IVT]|A?3001)[\s-]?(?:pro|duo|a2)\b)",
    )
});
static SERVER: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)\b(atlas\s?(?:200|500|800|900|2000|9000)(?:I|T|C)?\b",
        r"(?:[\s-]?(?:A2|A3|A5|Pro|DK A2|9000|9010|3000|3010)\b)?(?:\s(?:SuperPoD|PoDc?)\b)?)",
        r"(?:[^,;(。]{0,8}\(\s?(?:型号|model)\s?:?\s?(\d{4})\s?\))?"
    ))
});
static SHORT_SERVER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(800[ITit][\s-]?(?:A2|A3|a2|a3))\b"));
static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i)(\d{{1,3}}|十六|[二两四八])\s*(?:卡|张|块|个|颗|片|\*|x)\s*(?:的)?\s*(?:(?:ascend|昇腾|华为|atlas)\s?)*{CHIP}"
    ))
});
static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i){CHIP}\s*(?:npu|芯片|卡)?\s*(?:\([^()]{{0,20}}\)\s*|\d\dGB?\s*)?(?:\*|x)\s*(\d{{1,3}})(?:\b|p\b|卡|张|块|个|颗|片)"
    ))
});
static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(r"(?i){CHIP}\s*(?:npu)?\s*[(,]?\s*(\d{{1,3}}|十六|[二两四八])\s*(?:卡|张|块)"))
});
/// `Atlas 800I A2 (8*64G)`
static TIMES_MEMORY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:^|[^0-9.])([1-9]\d?)\s?[*x]\s?(32|64)\s?GB?\b"));
/// `8张卡（每张64G显存）`: the number of NPUs of a machine, and their memory.
static CARDS_MEMORY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[^0-9.])([1-9]\d?)\s?(?:张|块)\s?(?:npu|昇腾)?\s?卡?\s?\(\s?(?:每张|每块|每卡|单卡)卡?\s?(?:32|64)\s?GB?\b",
    )
});
/// A separate clause after one with the chip: `昇腾910B2，8卡`.
static CARDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:单机|单台|共|一共)?\s?([1-9]\d?)\s?卡(?:机|服务器)?$|^([1-9]\d?)\s?(?:x\s?|\*\s?)?(?:(?i:ascend)\s)?NPUs$|(?:单机|单台|每台|每个?节点|每机)\s?([1-9]\d?)\s?卡",
    )
});
/// `a VM with 2 NPUs`, `the server has 8 Ascend NPUs`: a property of a machine, not of a command.
static NPUS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:vm|machine|server|node|host|box|container|pod)\s+(?:(?:with|has|having|of)\s+)+(?:all\s+)?([1-9]\d?)\s+(?:ascend\s+)?npus?\b",
    )
});
/// A generation of servers without the model: `A3单机`, `Ascend NPU A3`.
static GENERATION: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?:^|[^A-Za-z0-9_./:#-])(?:(?i:npu|ascend|昇腾|on(?: an?)?|在)\s?)(A[23])(?:$|[^A-Za-z0-9_./:+-])",
        r"|(?:^|[^A-Za-z0-9_./:#-])(?:Atlas\s)?(A[23])\s?(?:单机|双机|多机|机器|服务器|集群|超节点|(?i:npus?|servers?|machines?|nodes?|clusters?|superpod)\b)"
    ))
});
/// Several generations in one sentence do not describe a machine.
static GENERATIONS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|[^A-Za-z0-9])A[2-5]\s?(?:/|、|,|和|与|or|and|&|\+)\s?A[2-5]"));
static MEMORY: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)\b(\d{2,3})\s?Gi?B?\s(?:of\s)?(?:\w+\s)?(?:NPU(?: card)? memory|HBM|device memory|显存)",
        r"|\b(\d{2,3})\s?Gi?B?\s?(?:的)?(?:HBM|显存)",
        r"|(?:HBM|显存|NPU memory)(?:大小|容量)?\s*(?:is|为|是|:|=)?\s*(\d{2,3})\s?Gi?B?\b"
    ))
});
static CHIP_MEMORY: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r"(?i){CHIP}\s*\(?\s*(\d{{2,3}})\s?GB?\b")));
static ALLOCATOR: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\(NPU \d+; (\d+\.\d+) GiB total capacity"));
static PCI: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:0x)?19e5[: ]\s?(?:0x)?(d[0-9a-f]{3})\b"));
static SPARE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)占用|剩余|used|free|allocated|reserved|需要"));
/// A series, not a machine: `Atlas A2/A3 系列`, `910B series`.
static RANK_LIST: LazyLock<Regex> = LazyLock::new(|| regex(r"^sglang|^NPU 0(?:,\d+)*\s*:"));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for line in lines {
        let text = line.text.as_str();
        if line.kind == Kind::Quotation || line.kind == Kind::Comment {
            continue;
        }
        for total in ALLOCATOR.captures_iter(text) {
            found.add("hbm_gib", &total[1], line, Form::Log, Rank::Measured);
        }
        if line.kind != Kind::Text && line.kind != Kind::Heading {
            for soc in LOGGED.captures_iter(text) {
                if line.kind != Kind::Code {
                    found.add("npu", &soc[1], line, Form::Log, Rank::Derived);
                }
            }
            continue;
        }
        if let Some((list, name)) = text.split_once(':')
            && RANK_LIST.is_match(text)
            && is_chip(name.trim())
        {
            // SGLang: `NPU 0,1,2,3: Ascend910_9392`.
            found.add("npu", name.trim(), line, Form::KeyValue, Rank::Measured);
            let count = list.matches(',').count() + 1;
            found.add("npu_count", &count.to_string(), line, Form::KeyValue, Rank::Measured);
            continue;
        }
        if text.starts_with('|') || !HINTS.iter().any(|hint| text.contains(hint)) {
            continue;
        }
        let parts = mention::clauses(text, line.kind == Kind::Heading);
        let named = parts.iter().any(|part| {
            part.doubt.is_none() && (!chips(part.text).is_empty() || SERVER.is_match(part.text))
        });
        for clause in parts {
            if named
                && clause.doubt.is_none()
                && let Some(cards) = CARDS.captures(clause.text)
                && let Some(count) = cards.get(1).or(cards.get(2)).or(cards.get(3))
            {
                found.add("npu_count", count.as_str(), line, Form::Prose, Rank::Prose);
            }
            sentence(clause.text, clause.doubt, line, Rank::Prose, Form::Prose, found);
        }
    }
}

/// Returns whether the whole of `text` names a chip.
pub(super) fn is_chip(text: &str) -> bool {
    WHOLE.is_match(text)
}

/// Reads the value of a label such as "NPU type" or "hardware". The sentence rules read the same
/// line, but a label gives the value a higher rank.
pub(super) fn labelled(value: &str, line: &Line, form: Form, found: &mut Found) {
    for clause in mention::clauses(value, false) {
        sentence(clause.text, clause.doubt, line, Rank::Written, form, found);
    }
}

fn sentence(
    text: &str,
    doubt: Option<Reason>,
    line: &Line,
    rank: Rank,
    form: Form,
    found: &mut Found,
) {
    let mut add = |name: &str, value: &str, rank: Rank| match doubt {
        Some(reason) => found.reject(name, value, line, form, reason),
        None => found.add(name, value, line, form, rank),
    };
    let chips = chips(text);
    for chip in &chips {
        add("npu", chip, rank);
    }
    for card in CARD.captures_iter(text) {
        // `3001 pro` is a frequent typing error.
        add("npu", &card[1].replace("3001", "300I"), Rank::Derived);
    }
    let mut has_server = false;
    for server in SERVER.captures_iter(text) {
        // `Atlas 800 服务器(型号:3010)`
        let written = server.get(1).map_or("", |name| name.as_str().trim_end());
        let model = server.get(2).map(|m| format!(" (Model {})", m.as_str())).unwrap_or_default();
        add("server", &format!("{written}{model}"), rank);
        has_server = true;
    }
    if !has_server
        && let Some(server) = SHORT_SERVER.find(text)
        && is_boundary(text.get(..server.start()).and_then(|head| head.chars().next_back()))
        && !text.get(server.end()..).is_some_and(|rest| rest.starts_with(['-', '.', '_']))
    {
        add("server", server.as_str(), rank);
        has_server = true;
    }
    if !has_server
        && !GENERATIONS.is_match(text)
        && let Some(server) = GENERATION.captures(text)
        && let Some(name) = server.get(1).or(server.get(2))
    {
        add("server", name.as_str(), Rank::Derived);
    }
    if let Some(count) = NPUS.captures(text) {
        add("npu_count", &count[1], Rank::Derived);
    }
    if (has_server || !chips.is_empty())
        && let Some(both) = TIMES_MEMORY.captures(text)
    {
        add("npu_count", &both[1], rank);
        add("hbm_gb", &both[2], rank);
    }
    for pattern in [&COUNTED, &TIMES, &BEHIND] {
        if let Some(count) = pattern.captures(text).and_then(|count| number(&count[1]))
            && (1..=256).contains(&count)
            && !chips.is_empty()
        {
            add("npu_count", &count.to_string(), rank);
            break;
        }
    }
    if let Some(cards) = CARDS_MEMORY.captures(text) {
        add("npu_count", &cards[1], rank);
    }
    if !SPARE.is_match(text) {
        let memory = MEMORY.captures(text).and_then(|m| m.get(1).or(m.get(2)).or(m.get(3)));
        let memory = memory.or_else(|| CHIP_MEMORY.captures(text).and_then(|m| m.get(1)));
        if let Some(size) = memory.map(|m| m.as_str())
            && matches!(size, "16" | "24" | "32" | "48" | "64" | "96" | "112" | "128" | "144")
        {
            add("hbm_gb", size, rank);
        }
    }
    pci(text, line, form, found);
}

/// A number in digits, or one of the common Chinese numbers of cards.
fn number(text: &str) -> Option<u32> {
    match text {
        "二" | "两" => Some(2),
        "四" => Some(4),
        "八" => Some(8),
        "十六" => Some(16),
        _ => text.parse().ok(),
    }
}

/// The PCI id of an NPU: vendor 19e5, device d100 to d806.
pub(super) fn pci(text: &str, line: &Line, form: Form, found: &mut Found) {
    for id in PCI.captures_iter(text) {
        found.add(
            "pci_id",
            &format!("19e5:{}", id[1].to_ascii_lowercase()),
            line,
            form,
            Rank::Written,
        );
    }
}

/// Names of chips in a sentence, as written. Bare numbers need the name of the vendor.
fn chips(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for chip in NAMED.captures_iter(text) {
        let (Some(whole), Some(model)) = (chip.get(0), chip.get(2)) else { continue };
        let before = text.get(..whole.start()).and_then(|t| t.chars().next_back());
        let after = text.get(whole.end()..).unwrap_or_default();
        let mut next = after.chars();
        let times = after.starts_with(['x', 'X'])
            && after.get(1..).is_some_and(|t| t.starts_with(|c: char| c.is_ascii_digit()));
        let ends = match (next.next(), next.next()) {
            // In `8.1.rc1-910b-ubuntu` it is part of a tag; at the end, as in `910B-` or `910B.`,
            // it is not.
            (Some('.'), more) => !more.is_some_and(|c| c.is_ascii_alphanumeric()),
            (Some(c), _) => {
                !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\' | '%'))
            }
            (None, _) => true,
        } || times;
        let free = is_boundary(before)
            // `8x910B`
            || before.is_some_and(|c| matches!(c, 'x' | 'X' | '*'))
            // `型号:910B3`, `--target=Ascend910B`
            || before == Some(':') && !text.get(..whole.start()).is_some_and(|t| t.contains('/'));
        let digits = model.as_str().bytes().all(|b| b.is_ascii_digit());
        if !free || !ends || digits && chip.get(1).is_none() {
            continue;
        }
        // A Chinese vendor name is not part of the name of the chip.
        let latin = chip.get(1).is_some_and(|maker| maker.as_str().is_ascii());
        if digits
            && !latin
            && !chip.get(1).is_some_and(|maker| maker.as_str().starts_with(['昇', '升']))
        {
            continue;
        }
        out.push(if latin || digits { whole.as_str() } else { model.as_str() });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_words_of_their_own() {
        assert_eq!(chips("在昇腾910B3上"), ["910B3"]);
        assert_eq!(chips("8 * Ascend 910B"), ["Ascend 910B"]);
        assert_eq!(chips("NPU 910B4-1 and Ascend910_9392"), ["910B4-1", "Ascend910_9392"]);
        for text in
            ["cann:8.1-910b-ubuntu", "port 310", "a910b3", "ops/ascend910b/x", "950 ms", "#910B"]
        {
            assert!(chips(text).is_empty(), "{text}");
        }
    }
}
