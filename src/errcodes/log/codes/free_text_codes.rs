//! Codes in the texts of programs that call CANN themselves: samples, bindings, tools.
//!
//! These programs announce the same return codes with different, common words. The rest of the line
//! decides whether the number behind a word is a code.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::capture::read_group;
use super::registered_codes::{ACL_FAMILIES, find_code, has_acl_code, is_listed};
use super::stated_code::StatedCode;
use crate::log::prefix::{Keys, keys};

/// Endings of the word before a return code of ACL.
const WORDS: [&str; 4] = ["ret", "Ret", "ror", "ROR"];
/// Endings that other words share: only a value assigned to such a word is examined.
const ASSIGNED: [&str; 3] = ["int", "ode", "ult"];
/// Separators between word and code.
const BETWEEN: [&str; 8] = ["=", " = ", "= ", ":", ": ", " ", " is ", "["];

/// The first digits of all return codes of ACL. The tables contain them, but reading the tables
/// takes longer than reading a short log.
const STARTS: [&str; 15] = [
    "100", "107", "145", "148", "161", "200", "207", "245", "300", "345", "361", "500", "507",
    "545", "561",
];

/// A return code of ACL behind a word that announces one.
const ACL: &str = r"(?-u)\b(?:acl_?)?(?:[rR]et(?:_?[cC]ode)?|(?:[eE]rror|ERROR)(?:[ _]?[cC]ode)?)(?: is| ?[:=])?[ \[(]{0,3}([1-9]\d{5})\b|\b(?:ret_int|(?:err)?[cC]ode|[rR]esult) ?= ?([1-9]\d{5})\b";
/// The return code of a media interface.
const DVPP: &str = r"(?-u)\b(?:[rR]et(?:_?[cC]ode)?|[eE]rr(?:or)?(?:[ _]?[cC]ode)?|fail(?:ed)?(?: with)?)\b[ :=,\[(]{1,4}(?:0[xX])?([aA]00[0-9a-fA-F]{5})\b";
/// GE's number for its own failures. No table lists its number for a general failure.
const GE: &str = r"(?-u)\bErrorNo: ?(\d{10})\(";
/// The message of `hccl_test` about the interface that it called.
const TEST: &str = r"(?-u)\b(hccl|acl) interface return err\b[^\n]{0,160}?\bretcode: ?(\d{1,6})\b";

static ACL_WORDS: LazyLock<Regex> = LazyLock::new(|| compile_regex(ACL));
static DVPP_WORDS: LazyLock<Regex> = LazyLock::new(|| compile_regex(DVPP));
static GE_NUMBER: LazyLock<Regex> = LazyLock::new(|| compile_regex(GE));
static TEST_RESULT: LazyLock<Regex> = LazyLock::new(|| compile_regex(TEST));

fn compile_regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the expression is proved by a test")
}

/// The line is about ACL, and the call failed. The reports of CANN to its caller end with the
/// reporting function.
static OF_ACL: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(r"(?-u)\b(?:acl|ACL|Acl)|NPU|Npu|npu|CANN|[aA]scend|\[FUNC:Report\w*Error\]")
});
static FAILED: Keys = keys![b"fail", b"Fail", b"FAIL", b"rror", b"RROR"];
static DVPP_KEYS: Keys = keys![b"hi_mpi_", b"hi_dvpp_", b"himpi_"];
static GE_KEYS: Keys = keys![b"ErrorNo:"];
static TEST_KEYS: Keys = keys![b" interface return err"];

/// The words with their separators and the first digits of the codes.
static LITERALS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut literals = Vec::with_capacity(WORDS.len() * BETWEEN.len() * STARTS.len());
    for word in WORDS {
        for between in BETWEEN {
            literals.extend(STARTS.map(|start| [word, between, start].concat()));
        }
    }
    for word in ASSIGNED {
        for between in ["=", " = "] {
            literals.extend(STARTS.map(|start| [word, between, start].concat()));
        }
    }
    literals
});

/// Literals; every line with such a code contains one of them.
pub(super) fn literals() -> impl Iterator<Item = &'static str> {
    let keys = ["hi_mpi_", "hi_dvpp_", "himpi_", "ErrorNo:", " interface return err"];
    LITERALS.iter().map(String::as_str).chain(keys)
}

/// Whether a line reports a failure.
pub(super) fn has_failed(line: &[u8]) -> bool {
    FAILED.is_in(line)
}

/// Whether `hccl_test` wrote the line: its `retcode` belongs to the interface that it names.
pub(super) fn is_of_test(line: &[u8]) -> bool {
    TEST_KEYS.is_in(line)
}

/// The codes of `line`.
pub(super) fn find(line: &[u8]) -> Vec<StatedCode> {
    let mut codes = Vec::new();
    if is_of_test(line) {
        for found in TEST_RESULT.captures_iter(line) {
            let ((_, whose), (at, code)) = (read_group(&found, 1), read_group(&found, 2));
            codes.extend(match whose {
                "hccl" => find_code("hccl", code, at),
                _ => state_acl_code(code, at),
            });
        }
    }
    if GE_KEYS.is_in(line) {
        for found in GE_NUMBER.captures_iter(line) {
            let (at, code) = read_group(&found, 1);
            codes.extend(find_code("ge_inner", code, at));
        }
    }
    if DVPP_KEYS.is_in(line) {
        for found in DVPP_WORDS.captures_iter(line) {
            let (at, code) = read_group(&found, 1);
            codes.extend(find_code("dvpp", &format!("0x{}", code.to_ascii_lowercase()), at));
        }
    }
    if has_acl_code(line) && has_failed(line) && OF_ACL.is_match(line) {
        for found in ACL_WORDS.captures_iter(line) {
            let group = if found.get(1).is_some() { 1 } else { 2 };
            let (at, code) = read_group(&found, group);
            if !codes.iter().any(|known| known.at == at) {
                codes.extend(state_acl_code(code, at));
            }
        }
    }
    codes
}

fn state_acl_code(code: &str, at: usize) -> Option<StatedCode> {
    let family = ACL_FAMILIES.iter().find(|family| is_listed(family, code))?;
    find_code(family, code, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{families, rows};

    fn found(line: &str) -> Vec<String> {
        super::super::find(line.as_bytes())
            .iter()
            .map(|code| format!("{}:{}", code.family, code.spelled))
            .collect()
    }

    #[test]
    fn all_codes_of_acl_begin_with_digits_that_are_looked_for() {
        let of_acl = families().iter().filter(|one| ACL_FAMILIES.contains(&one.id.as_str()));
        for row in of_acl.flat_map(rows).filter(|row| row.code.len() == 6) {
            assert!(STARTS.iter().any(|start| row.code.starts_with(start)), "{}", row.code);
        }
    }

    #[test]
    fn each_program_has_its_own_words_for_a_code_of_acl() {
        for (line, code) in [
            ("[ERROR] aclmdlLoadFromFile failed, ret = 545005", "acl_ge:545005"),
            ("acl.mdl.execute failed, ret= 507018", "acl_rt:507018"),
            ("aclmdlExecute failed,ret=500002", "acl_api:500002"),
            ("[ERROR] acldvppJpegDecodeAsync failed, aclRet = 100000", "acl_api:100000"),
            ("aclrtSynchronizeStream failed, aclRet is 507018", "acl_rt:507018"),
            ("Failed to create acl vdec channel, error 507018", "acl_rt:507018"),
            ("aclnnMulCustomGetWorkspaceSize failed. ERROR: 161002", "aclnn:161002"),
            ("load model failed, aclError:145000", "acl_ge:145000"),
            ("Exception: acl.mdl.load_from_file failed ret_int=500002", "acl_api:500002"),
            (
                "Calling acl inferface failed. (Calling Function = aclrtCreateContext, Code = 507033",
                "acl_rt:507033",
            ),
            (
                "build op model failed, result = 500001[FUNC:ReportInnerError][FILE:log_inner.cpp]",
                "acl_api:500001",
            ),
        ] {
            assert_eq!(found(line), [code], "{line}");
        }
        for line in [
            // Not a failure, not of ACL, or not behind a word that announces a code.
            "aclrtMalloc ret = 100000",
            "the request failed, error 100000",
            "aclrtMalloc failed, size = 200000",
            "[ERROR] ACL: pid 507018 failed",
            "aclmdlExecute failed, ret = 599999",
            "acl: failed after rows result=100000x",
            "acl failed, int = 100000",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn interfaces_for_media_return_hexadecimal_codes() {
        for line in [
            "hi_mpi_vdec_create_chn failed, ret = 0xa0058010",
            "[hi_mpi_vdec_create_chn] fail, ret: a0058010",
            "hi_mpi_vdec_create_chn failed with 0xA0058010",
        ] {
            assert_eq!(found(line), ["dvpp:0xa0058010"], "{line}");
        }
        assert_eq!(found("hi_mpi_vpc_resize start, addr a0058010"), [""; 0]);
        assert_eq!(found("write failed, ret = 0xa0058010"), [""; 0]);
    }

    #[test]
    fn the_graph_engine_numbers_its_failures() {
        let line = "[ERROR] GE(39,py):2021-11-18-01:09:39.548.671 [a.cc:6]39 F: ErrorNo: \
            1343242270(Prepare Graph infershape failed) [COMP][PRE_OPT]x";
        assert_eq!(found(line), ["ge_inner:1343242270"]);
        assert_eq!(found("F: ErrorNo: 4294967295(failed) [COMP][DEFAULT]x"), [""; 0]);
        assert_eq!(found("F: ErrorNo: 0() [COMP][DEFAULT]x"), [""; 0]);
    }

    #[test]
    fn a_test_says_whose_result_it_is() {
        let line = "hccl interface return err ./common/src/a.cc:538, retcode: 3 ";
        assert_eq!(found(line), ["hccl:3"]);
        let line = "acl interface return err ./common/src/a.cc:538, retcode: 507033 ";
        assert_eq!(found(line), ["acl_rt:507033"]);
        assert_eq!(found("acl interface return err ./a.cc:538, retcode: 7 "), [""; 0]);
    }
}
