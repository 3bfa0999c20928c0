//! The evidence of each listed code in the form in which logs write it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, OnceLock};

use super::stated_code::StatedCode;
use crate::log::role::Role;
use crate::{Family, Kind, Link, Row, cause_of, families, rows};

/// The families of the return codes of ACL.
pub(super) const ACL_FAMILIES: [&str; 4] = ["acl_rt", "acl_api", "acl_ge", "aclnn"];

/// Whether functions of ACL return the codes of a family.
pub(in crate::log) fn is_return_code(family: &str) -> bool {
    ACL_FAMILIES.contains(&family)
}

/// The codes of the runtime by their messages. A message of several codes means the most certain
/// cause.
static REASONS: LazyLock<HashMap<&str, &StatedCode>> = LazyLock::new(|| {
    let mut reasons: HashMap<&str, &StatedCode> = HashMap::new();
    for family in families().iter().filter(|family| ["runtime", "acl_rt"].contains(&&*family.id)) {
        for row in rows(family) {
            let code = row.code.to_ascii_lowercase();
            if let Some(stated) =
                find_entry(&family.id, &code).filter(|stated| stated.cause.is_some())
            {
                let known = reasons.entry(&row.message).or_insert(stated);
                if known.weight < stated.weight {
                    *known = stated;
                }
            }
        }
    }
    reasons
});

/// A listed constant.
pub(super) fn find_symbol(symbol: &str, at: usize) -> Option<StatedCode> {
    ACL_FAMILIES.iter().chain(&["hccl"]).find_map(|id| {
        let family = families().iter().find(|family| family.id == **id)?;
        let row = rows(family).iter().find(|row| row.symbol == symbol)?;
        find_code(id, &row.code, at)
    })
}

/// `reason=[vector core exception]` is a code as text.
pub(super) fn find_reason(reason: &str, at: usize) -> Option<StatedCode> {
    let stated = REASONS.get(reason)?;
    Some(StatedCode { at, ..(*stated).clone() })
}

/// The ACL codes by torch_npu's texts for them. A text of several codes means the most certain
/// cause.
static WORDS: LazyLock<HashMap<&str, &StatedCode>> = LazyLock::new(|| {
    let mut known: HashMap<&str, &StatedCode> = HashMap::new();
    let Some(family) = families().iter().find(|family| family.id == "torch_npu_text") else {
        return known;
    };
    for row in rows(family) {
        let code = row.code.to_ascii_lowercase();
        let of_acl = ACL_FAMILIES.iter().find_map(|family| find_entry(family, &code));
        if let Some(stated) = of_acl.filter(|stated| stated.cause.is_some()) {
            let before = known.entry(row.message.trim_end_matches('.')).or_insert(stated);
            if before.weight < stated.weight {
                *before = stated;
            }
        }
    }
    known
});

/// `[Error]: The aicpu execution is abnormal.` is a code as text.
pub(super) fn find_words(words: &str, at: usize) -> Option<StatedCode> {
    let stated = WORDS.get(words.trim_end().trim_end_matches('.'))?;
    Some(StatedCode { at, ..(*stated).clone() })
}

/// The families whose codes are read in lines.
const FAMILIES: [&str; 14] = [
    "ecode",
    "ecode_inner",
    "acl_rt",
    "acl_api",
    "acl_ge",
    "aclnn",
    "hccl",
    "drv",
    "runtime",
    "ts",
    "chip",
    "torch_npu",
    "ge_inner",
    "dvpp",
];

/// The codes of a family in the form of logs. The evidence of a code is looked up on first use,
/// because a log contains few codes.
struct Codes {
    family: &'static Family,
    rows: OnceLock<HashMap<String, (&'static Row, OnceLock<StatedCode>)>>,
}

static LISTED: LazyLock<HashMap<&str, Codes>> = LazyLock::new(|| {
    let listed = families().iter().filter(|family| FAMILIES.contains(&family.id.as_str()));
    listed.map(|family| (family.id.as_str(), Codes { family, rows: OnceLock::new() })).collect()
});

impl Codes {
    fn get(&'static self, code: &str) -> Option<&'static (&'static Row, OnceLock<StatedCode>)> {
        let rows = self.rows.get_or_init(|| {
            let rows = rows(self.family).iter().map(|row| {
                let name = self.family.kind == Kind::Name;
                let code = if name { row.code.clone() } else { row.code.to_ascii_lowercase() };
                (code, (row, OnceLock::new()))
            });
            rows.collect()
        });
        rows.get(code)
    }
}

/// The code of a family, if listed.
pub(super) fn find_code(family: &str, code: &str, at: usize) -> Option<StatedCode> {
    Some(StatedCode { at, ..find_entry(family, code)?.clone() })
}

pub(super) fn find_entry(family: &str, code: &str) -> Option<&'static StatedCode> {
    let codes = LISTED.get(family)?;
    let (row, said) = codes.get(code)?;
    Some(said.get_or_init(|| new_stated_code(codes.family, row)))
}

/// The message of a code.
pub(super) fn find_message(family: &str, code: &str) -> Option<&'static str> {
    Some(LISTED.get(family)?.get(code)?.0.message.as_str())
}

pub(super) fn is_listed(family: &str, code: &str) -> bool {
    LISTED.get(family).is_some_and(|codes| codes.get(code).is_some())
}

/// Whether the line contains a number that is a return code of ACL.
pub(super) fn has_acl_code(line: &[u8]) -> bool {
    let mut at = 0;
    while at < line.len() {
        if !line[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let length = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let listed = |code| ACL_FAMILIES.iter().any(|family| is_listed(family, code));
        if length == 6 && std::str::from_utf8(&line[at..at + length]).is_ok_and(listed) {
            return true;
        }
        at += length;
    }
    false
}

pub(super) fn new_stated_code(family: &'static Family, row: &Row) -> StatedCode {
    let link = cause_of(&family.id, &row.code).or_else(|| {
        // The code that it becomes on its way to the user is less exact.
        let of = |family| row.becomes.iter().find_map(|code| cause_of(family, code));
        let becomes = of("acl_rt").or_else(|| of("ecode"))?;
        Some(Link { weight: becomes.weight.saturating_sub(2).max(1), ..becomes })
    });
    let (role, weight) = link.map_or((Role::Wrapper, 1), |link| classify_code(&family.id, &link));
    StatedCode {
        family: &family.id,
        spelled: row.code.clone(),
        cause: link.map(|link| link.cause.id.as_str()),
        role,
        weight,
        at: 0,
    }
}

/// An unregistered E-code: TBE and AscendC operators invent some. Its first letters identify the
/// module, and if most codes of the module have one cause, so has this one.
pub(super) fn find_related(code: &str, at: usize) -> Option<StatedCode> {
    let family = families().iter().find(|family| family.id == "ecode")?;
    if let Some(link) = cause_of("ecode", code) {
        let (role, weight) = classify_code("ecode", &link);
        let cause = Some(link.cause.id.as_str());
        return Some(StatedCode {
            family: "ecode",
            spelled: code.to_owned(),
            cause,
            role,
            weight,
            at,
        });
    }
    let mut votes: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut relatives = 0;
    for row in rows(family).iter().filter(|row| row.code.get(..2) == code.get(..2)) {
        relatives += 1;
        if let Some(link) = cause_of("ecode", &row.code) {
            *votes.entry(&link.cause.id).or_default() += 1;
        }
    }
    let (cause, most) = votes.into_iter().max_by_key(|(_, count)| *count)?;
    let clear = most * 3 >= relatives * 2;
    clear.then(|| StatedCode {
        family: "ecode",
        spelled: code.to_owned(),
        cause: Some(cause),
        role: Role::Symptom,
        weight: 34,
        at,
    })
}

/// The role of a code in a failure, and its weight on the scale of signatures. The layer nearest to
/// the failure has the most specific codes: an E-code is more exact than the return code of the
/// same call.
pub(super) fn classify_code(family: &str, link: &Link) -> (Role, u8) {
    let cause = link.cause;
    if link.weight <= 1 || cause.role == crate::Role::Wrapper {
        return (Role::Wrapper, 2 * link.weight.min(5));
    }
    let weight = link.weight + if family == "ecode" { 24 } else { 10 };
    let role = match cause.role {
        crate::Role::Consequence => Role::Consequence,
        _ if link.weight < 15 => Role::Symptom,
        _ => Role::Root,
    };
    (role, weight)
}
