//! Error codes and logs of the Ascend stack: from a number, a name or a log to its cause.
//!
//! Must not touch: files, processes, the machine. The caller passes texts and streams, and
//! [`log::Files`] lends files, so that this layer also runs without a file system.
//!
//! The tables hold facts (code, symbol, the short official message, source) that a script extracts.
//! Causes and remedies are written by hand, and only if they are certain. A code without a cause is
//! shown with its symbol, message and source, without a guess.

mod cause;
mod cause_table;
pub mod decode;
mod family;
mod link;
pub mod log;
mod note;
mod overlay;
mod phrase;
mod query;
mod remedy;
mod search;
mod step;
mod table;
mod user_table;

pub use cause::{Cause, Evidence, Role};
pub use cause_table::{cause, causes, evidence};
pub use family::{Family, Kind, Quotation, Row};
pub use link::{Link, cause_of, links, note};
pub use note::Note;
pub use phrase::find_codes;
pub use query::{Form, Query};
pub use remedy::{Remedy, remedies};
pub use search::{Hit, search, suggest};
pub use step::{KnownFacts, Step, steps_with_facts};
pub use table::{families, family, last_change, rows};
pub use user_table::install;

use data::data_pack::{Pack, PackError};

/// Decodes the tables of a pack whose readers are in this crate.
///
/// # Errors
///
/// For the first table that its reader rejects.
pub fn check_pack(pack: &'static Pack) -> Result<(), PackError> {
    table::check(pack)?;
    link::check(pack)?;
    cause_table::check(pack)?;
    remedy::check(pack)?;
    log::check_pack(pack)
}

/// A code of one family that matches a query.
#[derive(Debug)]
pub struct Match {
    /// The family of the code.
    pub family: &'static Family,
    /// The row of its table.
    pub row: Row,
    /// Its meaning and the steps to take, if known.
    pub cause: Option<&'static Cause>,
    /// The code that determines the cause, if it is one that this code becomes.
    pub through: Option<String>,
    /// A remark on this code in addition to its cause.
    pub note: Option<&'static Note>,
    /// Rows of other families with other texts for the same code.
    pub also: Vec<(&'static Family, Row)>,
}

impl Match {
    /// Combines a row with its cause, note and other texts.
    pub fn new(family: &'static Family, row: Row) -> Self {
        // Another text for a code has the cause of that code.
        let own = [&family.id]
            .into_iter()
            .chain(&family.annotates)
            .find_map(|family| cause_of(family, &row.code));
        let (cause, through) = match own {
            Some(link) => (Some(link.cause), None),
            None => match cause_via_rows(&row) {
                Some((code, link)) => (Some(link.cause), Some(code.to_owned())),
                None => (None, None),
            },
        };
        let also = families()
            .iter()
            .filter(|other| other.annotates.contains(&family.id))
            .flat_map(|other| {
                let rows = table::find_rows(other, &row.code).into_iter();
                rows.filter(|other| {
                    row.symbol.is_empty() || other.symbol.is_empty() || row.symbol == other.symbol
                })
                .map(move |row| (other, row))
                .collect::<Vec<_>>()
            })
            .collect();
        Self { note: note(&family.id, &row.code), family, row, cause, through, also }
    }

    /// The codes that this one turns into on its way to the user.
    pub fn find_targets(&self) -> Vec<(&'static Family, Row)> {
        self.row.becomes.iter().filter_map(|code| find_code(code)).collect()
    }

    /// The codes of lower layers that turn into this one.
    pub fn find_sources(&self) -> Vec<(&'static Family, Row)> {
        families()
            .iter()
            .flat_map(|family| {
                table::find_turning_into(family, &self.row.code)
                    .into_iter()
                    .map(move |row| (family, row))
            })
            .collect()
    }
}

/// A code of another family that a code becomes: from the first family that has it.
fn find_code(code: &str) -> Option<(&'static Family, Row)> {
    let query = Query::parse(code);
    let mut found: Vec<_> = families()
        .iter()
        .filter(|family| !family.part && family.annotates.is_empty())
        .flat_map(|family| table::find(family, &query).into_iter().map(move |row| (family, row)))
        .collect();
    found.sort_by_key(|(family, _)| !query.is_written_like(family.kind));
    (!found.is_empty()).then(|| found.swap_remove(0))
}

/// The cause of the codes that a row becomes.
fn cause_via_rows(row: &Row) -> Option<(&str, Link)> {
    row.becomes.iter().find_map(|code| {
        let (family, row) = find_code(code)?;
        Some((code.as_str(), cause_of(&family.id, &row.code)?))
    })
}

/// Every possible meaning of `text`, the most plausible first: families that write their codes in
/// the same form, then the others, each in the order of `data/cann_errors.toml`.
///
/// Empty if no family has it.
pub fn look_up(text: &str) -> Vec<Match> {
    let query = Query::parse(text);
    let mut matches: Vec<Match> = families()
        .iter()
        .filter(|family| !family.part && family.annotates.is_empty())
        .flat_map(|family| {
            table::find(family, &query).into_iter().map(move |row| Match::new(family, row))
        })
        .collect();
    // Other texts for a code are a separate match only if the code itself is in no table.
    for family in families().iter().filter(|family| !family.annotates.is_empty()) {
        for row in table::find(family, &query) {
            let known = matches.iter().any(|found| found.row.code == row.code);
            if !known {
                matches.push(Match::new(family, row));
            }
        }
    }
    // A stable sort: the order of the families decides among equals.
    matches.sort_by_key(|found| !query.is_written_like(found.family.kind));
    matches
}

/// The answer to a query.
#[derive(Debug)]
pub struct Answer {
    /// The query.
    pub asked: String,
    /// Possible meanings, the most plausible first.
    pub matches: Vec<Match>,
    /// The decoded parts.
    pub decodings: Vec<decode::Decoding>,
}

impl Answer {
    /// Whether there is any match or decoding.
    pub fn is_known(&self) -> bool {
        !self.matches.is_empty() || !self.decodings.is_empty()
    }

    /// The most certain cause: that of the most plausible meaning, else that of the parts.
    pub fn cause(&self) -> Option<&'static Cause> {
        let of_parts = || self.decodings.iter().flat_map(|decoding| &decoding.links);
        self.matches
            .first()
            .and_then(|found| found.cause)
            .or_else(|| of_parts().next().map(|link| link.cause))
    }
}

/// Looks up and decodes a code.
pub fn answer(text: &str) -> Answer {
    Answer {
        asked: text.trim().to_owned(),
        matches: look_up(text),
        decodings: decode::decode(text),
    }
}

/// The codes and symbols most similar to `text`, for "did you mean": first those that look the
/// same, such as a number with a letter in the place of a digit.
pub fn similar(text: &str, limit: usize) -> Vec<String> {
    let text = query::trim_punctuation(text).to_ascii_uppercase();
    let look = replace_lookalikes(&text);
    let codes = families().iter().flat_map(rows).map(|row| &row.code);
    let alike = codes.filter(|code| code.len() == text.len() && replace_lookalikes(code) == look);
    let slips = |code: &str| code.bytes().zip(text.bytes()).filter(|(a, b)| a != b).count();
    let mut alike: Vec<(usize, &String)> = alike.map(|code| (slips(code), code)).collect();
    alike.sort_unstable();
    alike.dedup();
    let mut similar: Vec<String> =
        alike.into_iter().map(|(_, code)| code.clone()).take(limit).collect();
    let names = families().iter().flat_map(|family| {
        rows(family).iter().flat_map(|row| {
            let code = (family.kind == Kind::Name).then(|| row.code.clone());
            code.into_iter().chain((!row.symbol.is_empty()).then(|| row.symbol.clone()))
        })
    });
    for name in base::text::nearest(&text, names, limit) {
        if similar.len() < limit && !similar.contains(&name) {
            similar.push(name);
        }
    }
    similar
}

/// Replaces each letter that looks like a digit by that digit.
fn replace_lookalikes(text: &str) -> String {
    let digit = |c: char| match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        'Z' => '2',
        'S' => '5',
        'B' => '8',
        other => other,
    };
    text.chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> (String, String, String) {
        let found = look_up(text);
        let first = found.first().unwrap_or_else(|| panic!("`{text}` is unknown"));
        (first.family.id.clone(), first.row.code.clone(), first.row.symbol.clone())
    }

    fn is(text: &str, family: &str, symbol: &str) {
        let (of, _, name) = first(text);
        assert_eq!((of.as_str(), name.as_str()), (family, symbol), "{text}");
    }

    #[test]
    fn every_form_of_a_code_is_read() {
        is("507035", "acl_rt", "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION");
        is("0x7bc9b", "acl_rt", "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION");
        is("acl_error_rt_vector_core_exception", "acl_rt", "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION");
        is("-8005", "dcmi", "DCMI_ERR_CODE_INNER_ERR");
        is("ERR00100", "torch_npu", "PTA.ACL");
        is("err00100", "torch_npu", "PTA.ACL");
        is("EI0006", "ecode", "Communication_Error_Get_Socket");
        is("ei0006", "ecode", "Communication_Error_Get_Socket");
        is("EE9999", "ecode_inner", "inner error catch-all");
        is("0x26", "ts", "TS_ERROR_AICORE_EXCEPTION");
        is("561003", "aclnn", "ACLNN_ERR_INNER_FIND_KERNEL_ERROR");
        is("HCCL_E_TIMEOUT", "hccl", "HCCL_E_TIMEOUT");
        is(" 107002: ", "acl_rt", "ACL_ERROR_RT_CONTEXT_NULL");
        is("-1", "ge_graph", "GRAPH_FAILED");
        // Plogs print inner runtime codes in hexadecimal and, here and there, in decimal.
        is("0x07010003", "runtime", "RT_ERROR_DEVICE_ID");
        is("117506051", "runtime", "RT_ERROR_DEVICE_ID");
    }

    #[test]
    fn a_letter_for_a_digit_is_a_slip() {
        for (typed, meant) in
            [("507O35", "507035"), ("5O7o35", "507035"), ("EI00O6", "EI0006"), ("1O7OO2", "107002")]
        {
            let similar = similar(typed, 3);
            assert_eq!(similar.first().map(String::as_str), Some(meant), "{typed}: {similar:?}");
        }
        assert!(similar("OOOOOO", 3).is_empty());
    }

    #[test]
    fn small_numbers_are_ambiguous_and_say_so() {
        let families: Vec<&str> =
            look_up("7").iter().map(|found| found.family.id.as_str()).collect();
        assert!(families.len() >= 4, "{families:?}");
        assert_eq!(families[0], "hccl");
        assert_eq!(look_up("0x7")[0].family.id, "ts", "a hexadecimal number is the scheduler's");
    }

    #[test]
    fn what_no_family_has_is_not_found() {
        for text in ["", "99999", "ERR99998", "E0", "nonsense", "-", "0x", "99999999999999999999"] {
            assert!(look_up(text).is_empty(), "`{text}`");
        }
    }

    /// Looks up every code of every header, in the spelling of its family. (A test of the tables
    /// checks that each table has all its codes.)
    #[test]
    fn every_code_of_every_header_resolves() {
        let headers = [
            "acl_rt",
            "acl_api",
            "acl_ge",
            "aclnn",
            "aclrtc",
            "acl_doc",
            "torch_npu",
            "dcmi",
            "hccl",
            "drv",
            "ts",
            "runtime",
            "atb",
            "hixl",
            "dvpp",
            "ge_graph",
        ];
        for family in headers.iter().filter_map(|id| family(id)) {
            for row in rows(family) {
                let found = look_up(&row.code);
                let is = |found: &Match| {
                    let here = found.family.id == family.id && found.row.code == row.code;
                    here || found.also.iter().any(|(of, other)| of.id == family.id && other == row)
                        || family.annotates.contains(&found.family.id) && found.row.code == row.code
                };
                assert!(found.iter().any(is), "{} {}", family.id, row.code);
            }
        }
    }

    #[test]
    fn operators_that_print_codes_of_no_registry_are_understood() {
        assert_eq!(answer("E80012").cause().unwrap().id, "op.unsupported_attr_or_shape");
        assert_eq!(answer("E80003").cause().unwrap().id, "op.unsupported_attr_or_shape");
    }

    /// Codes that are wrong in a widely copied table, with the symbols of the headers.
    #[test]
    fn codes_that_are_often_mistaken() {
        for (code, symbol) in [
            ("507008", "ACL_ERROR_RT_SOC_VERSION"),
            ("507011", "ACL_ERROR_RT_MODEL_EXECUTE"),
            ("507015", "ACL_ERROR_RT_AICORE_EXCEPTION"),
            ("507035", "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"),
            ("507037", "ACL_ERROR_RT_CDQ_BATCH_ABNORMAL"),
            ("207001", "ACL_ERROR_RT_MEMORY_ALLOCATION"),
            ("207006", "ACL_ERROR_RT_NO_PERMISSION"),
            ("500001", "ACL_ERROR_FAILURE"),
            ("500002", "ACL_ERROR_GE_FAILURE"),
            ("107001", "ACL_ERROR_RT_INVALID_DEVICEID"),
            ("107002", "ACL_ERROR_RT_CONTEXT_NULL"),
            ("107005", "ACL_ERROR_RT_STREAM_MODEL"),
            ("507001", "ACL_ERROR_RT_TS_ERROR"),
            ("507002", "ACL_ERROR_RT_STREAM_TASK_FULL"),
            ("507005", "ACL_ERROR_RT_END_OF_SEQUENCE"),
            ("507014", "ACL_ERROR_RT_AICORE_TIMEOUT"),
            ("507018", "ACL_ERROR_RT_AICPU_EXCEPTION"),
            ("507021", "ACL_ERROR_RT_PROFILING_ERROR"),
            ("507023", "ACL_ERROR_RT_MODEL_ABORT_NORMAL"),
            ("507030", "ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL"),
            ("507032", "ACL_ERROR_RT_PROGRAM_USE_OUT"),
            ("507034", "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT"),
            ("507036", "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION"),
            ("507038", "ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR"),
            ("507039", "ACL_ERROR_RT_DIE_SET_ERROR"),
            ("207002", "ACL_ERROR_RT_MEMORY_FREE"),
            ("207003", "ACL_ERROR_RT_AICORE_OVER_FLOW"),
            ("207007", "ACL_ERROR_RT_NO_EVENT_RESOURCE"),
            ("500003", "ACL_ERROR_RT_FAILURE"),
            ("500004", "ACL_ERROR_DRV_FAILURE"),
            ("500005", "ACL_ERROR_PROFILING_FAILURE"),
        ] {
            assert_eq!(first(code).2, symbol, "{code}");
        }
        // The other two of the thirty-three: nothing prints a bare 99999, and ERR99999 is not a
        // failure of torch_npu.
        assert!(look_up("99999").is_empty());
        let foreign = look_up("ERR99999");
        assert!(foreign.iter().all(|found| found.family.id == "torch_npu"));
    }
}
