//! Finds codes in a line: numbers behind a context key, E-codes in all their printed forms, error
//! register values.
//!
//! A bare number is not a code: process ids, thread ids and addresses have the same shape.

use data::causes;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use self::capture::read_group;
pub(super) use self::registered_codes::is_return_code;
use self::registered_codes::{
    ACL_FAMILIES, find_code, find_reason, find_related, find_symbol, find_words, has_acl_code,
    new_stated_code,
};
pub(super) use self::stated_code::StatedCode;
use super::prefix::{Keys, keys};
use super::role::Role;
use super::signature::LITERAL;
use crate::decode::Registers;
use crate::overlay::overlay;
use crate::{Family, Link, Query, families, rows, table};

mod capture;
mod event;
mod free_text_codes;
mod registered_codes;
mod stated_code;

/// Literals; every line with such a number contains one of them. For short keys, the first digits
/// of ACL codes belong to the literal (see [`free_text_codes`]).
const LITERALS: [&str; 53] = [
    "errorStr:",
    "[Error]: ",
    "[PID: ",
    "coreId(",
    "error code : 0x",
    "error exception",
    "there is an exception of",
    "error code is",
    "error code:",
    "error code =",
    "error code ",
    "error_code",
    "errorcode",
    "errorCode",
    "runtime result",
    "ErrCode=",
    "errCode",
    "InnerCode=",
    "retCode=",
    "rtCode=",
    "retcode:",
    "retcode=",
    "drvRetCode",
    "hcclRet ->",
    "errNo[0x",
    "tdt error",
    "error=117",
    "error=118",
    "error=0x7",
    "errcode:(",
    "result[507",
    "failed: 507",
    "failed : 507",
    "failed, code",
    "vent id=",
    "vent id:",
    "vent_id=",
    "vent_id:",
    "event_state=",
    "Error Code",
    "ault Code",
    "ault code",
    "ault_code",
    "aultCode",
    "aultcode",
    "reason=[",
    "HCCL error",
    "CANN failure",
    "aclnnStatus",
    "ACL_ERROR_",
    "HCCL_E_",
    "ACLNN_ERR_",
    ", errno:",
];

/// The families of registered E-codes.
pub(super) const E_FAMILIES: [&str; 2] = ["ecode", "ecode_inner"];

/// The last digit may be hexadecimal.
const E_CODE: &str = r#"(?-u)(?:(?:^|[\s('":|])([EW][1-9A-Z][0-9]{3}[0-9A-F])(?:: ?|\[PID|\)|['"]| \[PID)|^([EW][1-9A-Z][0-9]{3}[0-9A-F])  |\[([EW][1-9A-Z][0-9]{3}[0-9A-F])\])"#;

/// An ACL code has six digits and must be listed, because `ret` is the most common word of plogs.
const DECIMAL: &str = r"(?-u)(?:\b[eE]rror[ _]?[cC]ode(?: is|:| =|=)?|\bruntime result(?: =|=|:)|\b[eE]rrCode[:=]|\bret(?:urn)?[cC]?o?d?e?(?: is|:| =|=|\[)|\bresult(?:\[| =|=)|\bfailed, code|\bfailed ?:|\bCANN failure|\baclnnStatus(?: is|:| =|=)|\berrno:)[ \[(:=]{0,3}([1-9]\d{5})\b";

/// Keys; one of them precedes such a code.
static INNER_KEYS: Keys =
    keys![b"InnerCode", b"etCode", b"etcode", b"rtCode", b"error", b"hcclRet"];
// Keys of the other expressions: searching for keys is faster than running the expressions.
static ERRNO_KEYS: Keys = keys![b"errNo[0x"];
static REGISTERS_KEYS: Keys = keys![b"errcode:("];
static REGISTER_KEYS: Keys = keys![b"coreId(", b"error code = 0x", b"error code : 0x"];
static CALL_KEYS: Keys =
    keys![b"HCCL function error", b"HCCL error", b"HCCL Error", b"function error: Hccl"];
static REASON_KEYS: Keys = keys![b"reason=["];
static FAULT_KEYS: Keys = keys![b"errorStr:"];
static WORDS_KEYS: Keys = keys![b"[Error]: "];
static ERR_KEYS: Keys = keys![b"ERR0", b"ERR9"];
static SYMBOL_KEYS: Keys = keys![b"ACL_ERROR_", b"HCCL_E_", b"ACLNN_ERR_"];

const INNER: &str = r"(?-u)\b(InnerCode|retCode|rtCode|retcode|drvRetCode|tdt error|hcclRet|error) ?(?:=|:|->) ?(0x[0-9a-fA-F]{1,8}|\d{1,9})\b";
const ERRNO: &str = r"(?-u)errNo\[0x([0-9a-fA-F]{16})\]";
const REGISTERS: &str =
    r"(?-u)errcode:\((0x[0-9a-fA-F]{1,16}|0), ?(0x[0-9a-fA-F]{1,16}|0), ?(0x[0-9a-fA-F]{1,16}|0)\)";

/// The single register value that older chips and versions print, per core or per exception, and
/// the one that `msaicerr` collects.
const REGISTER: &str = r"(?-u)\bcoreId\( ?\d+\):\s+0x([0-9a-fA-F]{1,16})\b|(?:exception|error)\b[^\n]{0,60}error code = 0x([0-9a-fA-F]{1,16})\b|^error code +: 0x([0-9a-fA-F]{1,16})\s*$";

/// The result of an HCCL call, as torch_npu and programs around it print it.
const CALL: &str = r"(?-u)(?:(?:HCCL (?:function )?error\b|(?:OPS|NPU) function error: Hccl)[^\n]{0,240}?error code is|HCCL [Ee]rror [Cc]ode(?: is|:|=)?) ?(\d{1,2})\b";

/// The runtime's text for its own code.
const RUNTIME_REASON: &str = r"(?-u)\breason=\[([\w ,.:/()-]{4,120})\]";

/// The texts of the bits that are set: newer chips print no register values with them.
const FAULTS: &str = r"(?-u)errorStr: ?(\S[^\n]{10,400})";

/// torch_npu's text for an ACL code, on the line below the code.
const WORDS: &str = r"(?-u)^\s*\[Error\]: (\S[^\n]{4,200}?)\s*$";

/// A constant, by name.
const SYMBOL: &str = r"(?-u)\b((?:ACL_ERROR|HCCL_E|ACLNN_ERR)_[A-Z0-9_]{2,60})\b";

const ERR: &str = r"(?-u)(?:^|[ \t(\[:])(ERR\d{5})(?:[ \t:.,)\]]|$)";

macro_rules! regex {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("the expression is proved by a test"));
    };
}
regex!(E_CODES, E_CODE);
regex!(DECIMALS, DECIMAL);
regex!(INNERS, INNER);
regex!(ERRNOS, ERRNO);
regex!(REGISTER_WORDS, REGISTERS);
regex!(REGISTER_WORD, REGISTER);
regex!(HCCL_CALL, CALL);
regex!(REASON, RUNTIME_REASON);
regex!(CORE_FAULTS, FAULTS);
regex!(TORCH_NPU_WORDS, WORDS);
regex!(TORCH_NPU, ERR);
regex!(SYMBOLS, SYMBOL);

/// Literals; every line with a code that has no distinctive shape contains one of them.
pub(super) fn literals() -> impl Iterator<Item = &'static str> {
    LITERALS.into_iter().chain(torch_npu_literals()).chain(free_text_codes::literals())
}

/// All codes of `line`. Each expression is much slower than the check whether it can match.
pub(super) fn find(line: &[u8]) -> Vec<StatedCode> {
    let mut codes = free_text_codes::find(line);
    // The program that prints a number identifies it better than the key.
    let spoken: Vec<usize> = codes.iter().map(|code| code.at).collect();
    let of_test = free_text_codes::is_of_test(line);
    for found in find_matches(&E_CODES, line, has_e_code) {
        let group = (1..=3).find(|group| found.get(*group).is_some()).unwrap_or(1);
        let (at, code) = read_group(&found, group);
        let known = E_FAMILIES.iter().find_map(|family| find_code(family, code, at));
        codes.extend(known.or_else(|| find_related(code, at)));
    }
    for found in find_matches(&DECIMALS, line, has_acl_code) {
        let (at, code) = read_group(&found, 1);
        let first = ACL_FAMILIES.iter().find_map(|family| find_code(family, code, at));
        // Round numbers are codes, too, but not every returned value is a code.
        let sure = |code: &StatedCode| {
            code.family == "acl_rt"
                || !found[0].starts_with(b"ret")
                || free_text_codes::has_failed(line)
        };
        codes.extend(first.filter(|code| sure(code) && !spoken.contains(&at)));
    }
    for found in find_matches(&INNERS, line, |line| INNER_KEYS.is_in(line)) {
        let ((_, key), (at, value)) = (read_group(&found, 1), read_group(&found, 2));
        codes.extend(find_inner_code(key, value, at).filter(|_| !of_test && !spoken.contains(&at)));
    }
    for found in find_matches(&ERRNOS, line, |line| ERRNO_KEYS.is_in(line)) {
        let (at, value) = read_group(&found, 1);
        let value = u64::from_str_radix(value, 16).unwrap_or(0) & 0xff;
        codes.extend(find_code("hccl", &value.to_string(), at));
    }
    for found in find_matches(&REGISTER_WORDS, line, |line| REGISTERS_KEYS.is_in(line)) {
        let words = [1, 2, 3].map(|group| {
            let (_, word) = read_group(&found, group);
            u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0)
        });
        codes.push(find_register_cause(words, read_group(&found, 0).0));
    }
    for found in find_matches(&REGISTER_WORD, line, |line| REGISTER_KEYS.is_in(line)) {
        let group = (1..=3).find(|group| found.get(*group).is_some()).unwrap_or(1);
        let (at, word) = read_group(&found, group);
        let word = u64::from_str_radix(word, 16).unwrap_or(0);
        codes.extend((word != 0).then(|| find_register_cause([word, 0, 0], at)));
    }
    for found in find_matches(&HCCL_CALL, line, |line| CALL_KEYS.is_in(line)) {
        let (at, code) = read_group(&found, 1);
        codes.extend(find_code("hccl", code, at));
    }
    for found in find_matches(&REASON, line, |line| REASON_KEYS.is_in(line)) {
        let (at, reason) = read_group(&found, 1);
        codes.extend(find_reason(reason, at));
    }
    for found in find_matches(&CORE_FAULTS, line, |line| FAULT_KEYS.is_in(line)) {
        let (at, words) = read_group(&found, 1);
        // The register values themselves are more exact: they name the bits.
        if !codes.iter().any(|code| code.family == "aicore") {
            codes.extend(
                Registers::find_link_of_words(words).map(|link| state_core_error(link, words, at)),
            );
        }
    }
    for found in find_matches(&TORCH_NPU_WORDS, line, |line| WORDS_KEYS.is_in(line)) {
        let (at, words) = read_group(&found, 1);
        codes.extend(find_words(words, at));
    }
    for found in find_matches(&TORCH_NPU, line, |line| ERR_KEYS.is_in(line)) {
        let (at, code) = read_group(&found, 1);
        codes.extend(find_code("torch_npu", code, at));
    }
    for found in find_matches(&SYMBOLS, line, |line| SYMBOL_KEYS.is_in(line)) {
        let (at, symbol) = read_group(&found, 1);
        codes.extend(find_symbol(symbol, at));
    }
    codes.extend(event::find(line));
    for (key, family) in user_code_keys() {
        for at in memchr::memmem::find_iter(line, key) {
            codes.extend(find_user_code(family, line, at + key.len()));
        }
    }
    codes
}

/// The matches of an expression, if `may` holds for the line.
fn find_matches<'r, 'l>(
    regex: &'r Regex,
    line: &'l [u8],
    may: fn(&[u8]) -> bool,
) -> impl Iterator<Item = Captures<'l>> + use<'r, 'l> {
    may(line).then(|| regex.captures_iter(line)).into_iter().flatten()
}

/// Whether the line contains a letter, a module and four digits.
fn has_e_code(line: &[u8]) -> bool {
    memchr::memchr2_iter(b'E', b'W', line).any(|at| {
        let digits = line.get(at + 2..at + 6).and_then(<[u8]>::split_last);
        digits.is_some_and(|(last, digits)| {
            last.is_ascii_hexdigit() && digits.iter().all(u8::is_ascii_digit)
        })
    })
}

/// `ERRssiii` codes as literals of their lines.
fn torch_npu_literals() -> impl Iterator<Item = &'static str> {
    let family = families().iter().filter(|family| family.id == "torch_npu");
    family.flat_map(rows).map(|row| row.code.as_str()).filter(|code| code.len() >= LITERAL)
}

/// The keys of the user's own families that are long enough to search for.
fn user_code_keys() -> impl Iterator<Item = (&'static str, &'static Family)> {
    let keys = |family: &'static Family| family.context.iter().map(move |key| (&**key, family));
    overlay().families.iter().flat_map(keys).filter(|(key, _)| key.len() >= LITERAL)
}

/// Literals; every line with a code of the user's own families contains one of them.
pub(super) fn user_literals() -> impl Iterator<Item = &'static str> {
    user_code_keys().map(|(key, _)| key)
}

/// The code of one of the user's own families behind its key.
fn find_user_code(family: &'static Family, line: &[u8], at: usize) -> Option<StatedCode> {
    let between = |byte: &u8| matches!(byte, b' ' | b':' | b'=' | b'[' | b'(' | b'\'' | b'"');
    let start = at + line[at..].iter().take(4).take_while(|byte| between(byte)).count();
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = line[start..].iter().take(64).take_while(|byte| part(byte)).count();
    let code = std::str::from_utf8(&line[start..start + length]).ok()?;
    let query = Query::parse(code);
    let row = table::find(family, &query).into_iter().next()?;
    Some(StatedCode { at, ..new_stated_code(family, &row) })
}

/// The registered message of an E-code.
pub(super) fn find_message(code: &StatedCode) -> Option<&'static str> {
    E_FAMILIES
        .contains(&code.family)
        .then(|| registered_codes::find_message(code.family, &code.spelled))?
}

/// Whether a rule is a code and not a signature.
pub(super) fn is_code(rule: &str) -> bool {
    rule.contains(':')
}

/// `retCode=` may print a code of the task scheduler, of the runtime, or the latter in decimal.
fn find_inner_code(key: &str, value: &str, at: usize) -> Option<StatedCode> {
    let number = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => value.parse().ok()?,
    };
    if number == 0 {
        return None;
    }
    match key {
        "drvRetCode" => find_code("drv", &number.to_string(), at),
        "hcclRet" => find_code("hccl", &number.to_string(), at),
        "tdt error" => event::state_tsd_error(number, at),
        _ if (0x0700_0000..0x0800_0000).contains(&number) => {
            find_code("runtime", &format!("{number:#x}"), at)
        }
        // Everything is called an error; only the codes of the runtime have a distinctive shape.
        "error" => None,
        _ if (100_000..600_000).contains(&number) => {
            ACL_FAMILIES.iter().find_map(|family| find_code(family, &number.to_string(), at))
        }
        "retCode" | "retcode" if number < 0x1000 => find_code("ts", &format!("{number:#x}"), at),
        _ => None,
    }
}

/// Error register values of an AI Core: the set bits identify the fault. A bit that names a cause
/// is the strongest evidence in a log.
fn find_register_cause(words: [u64; 3], at: usize) -> StatedCode {
    let text = format!("({:#x}, {:#x}, {:#x})", words[0], words[1], words[2]);
    let link = Registers(words).links().into_iter().next();
    let cause = link.map_or(causes::aicore::KERNEL_EXCEPTION, |link| link.cause.id.as_str());
    let (role, weight) = classify_core_error(link.map_or(0, |link| link.weight));
    StatedCode { family: "aicore", spelled: text, cause: Some(cause), role, weight, at }
}

/// A code for the text of a bit.
fn state_core_error(link: Link, words: &str, at: usize) -> StatedCode {
    let (role, weight) = classify_core_error(link.weight);
    let words = words.split('.').next().unwrap_or(words).trim();
    let cause = Some(link.cause.id.as_str());
    StatedCode { family: "aicore", spelled: words.to_owned(), cause, role, weight, at }
}

/// The role of a bit in a failure, by the weight of its cause.
fn classify_core_error(weight: u8) -> (Role, u8) {
    match weight {
        26.. => (Role::Root, 76),
        22..26 => (Role::Root, 70),
        15..22 => (Role::Root, 56),
        _ => (Role::Symptom, 45),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        find(line.as_bytes())
            .iter()
            .map(|code| format!("{}:{}", code.family, code.spelled))
            .collect()
    }

    #[test]
    fn all_prints_of_an_e_code() {
        for line in [
            "EI0006: [PID: 7277] 2024-11-28-11:59:30.645.648 Getting socket times out.",
            "EI0006: 2024-08-05-18:15:21.270.506 Getting socket times out.",
            "EI0006[PID: 10180] 2026-06-10-17:20:44.486.049 (EI0006):  text",
            "[PID: 749] 2025-12-29-03:16:15.787.356 Get_Socket_Timeout(EI0006): Getting",
            "[EI0006] text",
            "RuntimeError: ({'errCode': 'EI0006', 'op_name': 'x'}",
            "RuntimeError: call aclnnArange failed, detail:EI0006: Inner",
        ] {
            let codes = found(line);
            assert!(!codes.is_empty(), "{line}");
            assert!(codes.iter().all(|code| code == "ecode:EI0006"), "{line}: {codes:?}");
        }
        assert_eq!(found("EE9999  Task execute failed, base info"), ["ecode_inner:EE9999"]);
        assert_eq!(found("E2101A: Failed to parse"), ["ecode:E2101A"]);
    }

    #[test]
    fn a_number_counts_only_behind_a_key() {
        for (line, code) in [
            ("NPU function error: c10_npu::SetDevice(d), error code is 507033", "acl_rt:507033"),
            ("x.cpp:281 OPS function error: HcclAllreduce, error code is 6", "hccl:6"),
            ("synchronize stream failed, runtime result = 507035.", "acl_rt:507035"),
            ("RuntimeError: ACL stream synchronize failed, error code:507035", "acl_rt:507035"),
            ("Call rt api rtStreamSynchronize failed, ret: 507011", "acl_rt:507011"),
            ("Malloc device memory failed, size[32212254720], ret[207001]", "acl_rt:207001"),
            ("model execute error, retCode=0x91, [x]", "ts:0x91"),
            ("DevMemAlloc failed: size=1, retCode=117571606![FUNC:", "runtime:0x7020016"),
            ("Create capture stream failed, event_id=-1, error=117571619.", "runtime:0x7020023"),
            ("halMemAlloc failed: size=1, drvRetCode=6![FUNC:", "drv:6"),
            ("RuntimeError: Failed to register memory | HCCL Error Code: 19", "hccl:19"),
            ("[AllReduce]call trace: hcclRet -> 9", "hccl:9"),
            ("[Result]errNo[0x0000000005010009] hcclComm", "hccl:9"),
        ] {
            assert_eq!(found(line), [code], "{line}");
        }
        for line in [
            "[INFO] GE(507035,python):2025-05-12-20:55:44.705.025 [a.cc:507]507015 x",
            "pid 507035 exited",
            "size=507035",
            "stream_id=507035, task_id=107002",
            "loss 0.507035 step 207001",
            "src[0x12c0c0013000] 0x507035",
            "ret: 5070351",
            "retCode=0",
            "relative error=0x31",
            "error=507035",
            "ret[0]",
            "E10001 steps",
            "step E10001x:",
            "model_E10001: ok",
            "3E10001: x",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
        let line = "rtStreamSynchronize:ErrCode=507011, desc=[x], InnerCode=0x7150050";
        assert_eq!(found(line), ["acl_rt:507011", "runtime:0x7150050"]);
    }

    #[test]
    fn the_words_for_bits_do_without_registers() {
        let line = b"The extend info: errcode:(95) errorStr: The address for the VEC instruction \
            to read/write UB is out of bounds. subErrType: 0x4.";
        let codes = find(line);
        assert_eq!(codes.len(), 1, "{codes:?}");
        assert_eq!(codes[0].cause, Some("aicore.onchip_buffer_oob"));
        assert_eq!(find(b"errorStr: something that no table has"), []);
    }

    #[test]
    fn the_words_of_torch_npu_stand_for_their_code() {
        let words = "[Error]: The aicpu execution is abnormal. ";
        assert_eq!(found(words), ["acl_rt:507018"]);
        assert_eq!(found("[Error]: A thing happened."), [""; 0]);
        assert_eq!(found("x [Error]: The aicpu execution is abnormal."), [""; 0]);
    }

    #[test]
    fn an_unlisted_e_code_is_of_its_module() {
        let line = b"RuntimeError: ({'errCode': 'E80012', 'op_name': 'reduce_sum_d'}";
        assert_eq!(find(line)[0].cause, Some("op.unsupported_attr_or_shape"));
        assert_eq!(found("E80012 steps done"), [""; 0]);
    }

    #[test]
    fn register_words_become_causes() {
        let old = find(b"        coreId( 0):        0x800000    [FUNC:x]");
        assert_eq!(old[0].cause, Some("aicore.illegal_gm_access"));
        for (words, cause) in [
            ("(0x800000, 0x4000, 0)", "aicore.illegal_gm_access"),
            ("(0, 0x1000, 0)", "aicore.vec_illegal_instr_cfg"),
            ("(0x200000000, 0, 0)", "aicore.onchip_buffer_oob"),
            ("(0,0,0)", "aicore.timeout_or_trap"),
            ("(0, 0x8000, 0)", "aicore.ccu_bus_error"),
            ("(0x10, 0, 0)", "aicore.illegal_instruction"),
            ("(0x100, 0x4000, 0)", "aicore.ecc"),
            ("(0x8, 0, 0)", "aicore.numeric_fault"),
            ("(0, 0, 0x20000)", "aicore.kernel_exception"),
        ] {
            let line = format!("The extend info: errcode:{words} errorStr: x");
            assert_eq!(find(line.as_bytes())[0].cause, Some(cause), "{words}");
        }
    }
}
