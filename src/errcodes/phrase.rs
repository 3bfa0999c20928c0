//! Codes within a phrase, as people paste them: `drvRetCode=87`, `ret is -8005`, `报错507899`,
//! `Communication_Error_Get_Socket(EI0006)`.
//!
//! The word before a number selects its family. A number without such a word is a code only if it
//! is large and a word announces a code; any other number in a sentence is not a code.

use super::family::Family;
use super::query::Query;
use super::{Answer, decode, families, look_up, table};

/// The longest phrase, in bytes: longer texts are logs.
const PHRASE: usize = 400;
/// The maximum distance in bytes between a number and the start of the word that announces it.
const BEFORE: usize = 40;
/// From here on, decimal numbers are rarely counts of something.
const LARGE: i64 = 100_000;
/// From here on, hexadecimal numbers are codes of the runtime or of events.
const LARGE_HEX: i64 = 0x700_0000;
/// The largest number of codes of one phrase.
const CODES: usize = 8;

/// Words that announce a code of any family.
const ANNOUNCE: [&str; 16] = [
    "err",
    "code",
    "ret",
    "rc",
    "result",
    "return",
    "fail",
    "acl",
    "cann",
    "npu",
    "错误",
    "报错",
    "错误码",
    "返回",
    "失败",
    "异常",
];
/// Words that may separate such a word from its number.
const FILLERS: [&str; 8] = ["is", "was", "of", "no", "为", "是", "码", "值"];

/// Returns the codes that a phrase names, each once.
pub fn find_codes(text: &str) -> Vec<Answer> {
    let text = text.trim();
    if text.len() > PHRASE || text.contains('\n') {
        return Vec::new();
    }
    let mut answers = find_titled(text);
    for (at, token) in tokens(text) {
        if answers.iter().any(|answer| answer.asked == token) {
            continue;
        }
        if let Some(answer) = answer_token(text, at, token) {
            answers.push(answer);
        }
        if answers.len() == CODES {
            break;
        }
    }
    answers
}

/// The registered messages with this title, such as `Device_Absent/Abnormal`. Several messages
/// share some titles, and only one of them is meant: if there are too many, the result is empty.
fn find_titled(title: &str) -> Vec<Answer> {
    const SHARED: usize = 3;
    let family = table::family("ecode").filter(|_| title.contains('_'));
    let rows = family.map(table::rows).unwrap_or_default().iter();
    let titled: Vec<&str> = rows
        .filter(|row| row.symbol.eq_ignore_ascii_case(title))
        .map(|row| row.code.as_str())
        .collect();
    let few = if titled.len() <= SHARED { titled.as_slice() } else { &[] };
    few.iter().map(|code| super::answer(code)).collect()
}

/// Runs of letters and digits with their offsets; a number keeps its sign.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_part(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
        let signed = bytes[at].is_ascii_digit() && at > 0 && bytes[at - 1] == b'-';
        let start = if signed && (at < 2 || !is_part(bytes[at - 2])) { at - 1 } else { at };
        found.push((start, &text[start..end]));
        at = end;
    }
    found
}

fn answer_token(text: &str, at: usize, token: &str) -> Option<Answer> {
    let chosen = match Query::parse(token) {
        Query::Name(_) => is_code_name(token).then(Vec::new)?,
        Query::Number { value, .. } => {
            let is_hex = token.starts_with("0x") || token.starts_with("0X");
            // A part of a version or of a floating-point number.
            let next = text.as_bytes().get(at + token.len());
            if text[..at].ends_with('.') || next == Some(&b'.') && token.len() < 5 {
                return None;
            }
            let before = read_before(text, at);
            let named = select(|family| &family.before, |word| before.ends_with(word));
            let announced = !named.is_empty() || ANNOUNCE.iter().any(|word| before.ends_with(word));
            let whole = squeeze(text);
            let about = select(|family| &family.about, |word| whole.contains(word));
            let large = if is_hex { value >= LARGE_HEX } else { value.abs() >= LARGE };
            let alone = before.is_empty() && whole.len() <= token.len() + 4;
            match (announced, large) {
                (true, true) => named,
                (true, false) if !about.is_empty() => about,
                (true, false) if !named.is_empty() => named,
                (false, true) if alone || announces_anywhere(&whole) => about,
                _ => return None,
            }
        }
    };
    let mut matches = look_up(token);
    let of_chosen = |family: &Family| chosen.iter().any(|id| *id == family.id);
    if matches.iter().any(|found| of_chosen(found.family)) {
        matches.retain(|found| of_chosen(found.family));
    } else if !chosen.is_empty() && !is_large(token) {
        return None;
    }
    let decodings = decode::decode(token);
    let known = !matches.is_empty();
    known.then(|| Answer { asked: token.to_owned(), matches, decodings })
}

fn is_large(token: &str) -> bool {
    match Query::parse(token) {
        Query::Number { value, .. } if token.starts_with("0x") => value >= LARGE_HEX,
        Query::Number { value, .. } => value.abs() >= LARGE,
        Query::Name(_) => true,
    }
}

/// Whether a word has the form of a code or of a constant, which ordinary words do not have.
fn is_code_name(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let upper = token.bytes().filter(u8::is_ascii_uppercase).count();
    let constant = token.contains('_') && !token.bytes().any(|byte| byte.is_ascii_lowercase());
    // `EI0006`, `0x` aside; `E39009`.
    let code = digits >= 4 && upper >= 2 && token.len() <= 10
        || digits >= 5 && token.len() <= 7 && token.starts_with('E');
    (constant || code) && families().iter().any(|family| !family.part && has(family, token))
}

fn has(family: &'static Family, token: &str) -> bool {
    !table::find(family, &Query::parse(token)).is_empty()
}

/// The IDs of the families with a matching word; those with the longest one.
fn select(
    words: impl Fn(&'static Family) -> &'static Vec<String>,
    fits: impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    let longest = |family: &'static Family| {
        words(family).iter().filter(|word| fits(word)).map(String::len).max()
    };
    let fitting: Vec<(usize, &'static str)> = families()
        .iter()
        .filter_map(|family| longest(family).map(|length| (length, family.id.as_str())))
        .collect();
    let most = fitting.iter().map(|(length, _)| *length).max();
    fitting.into_iter().filter(|(length, _)| Some(*length) == most).map(|(_, id)| id).collect()
}

/// The words before a number, in the form of the tables, without trailing fillers.
fn read_before(text: &str, at: usize) -> String {
    let mut start = at.saturating_sub(BEFORE);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut before = squeeze(&text[start..at]);
    // The word of a family takes precedence over a filler at its end: `错误码`.
    while !ends_with_word(&before)
        && let Some(filler) = FILLERS.iter().find(|filler| before.ends_with(*filler))
    {
        before.truncate(before.len() - filler.len());
    }
    before
}

fn ends_with_word(before: &str) -> bool {
    let of_family =
        |family: &Family| family.before.iter().any(|word| before.ends_with(word.as_str()));
    ANNOUNCE.iter().any(|word| before.ends_with(word)) || families().iter().any(of_family)
}

fn announces_anywhere(whole: &str) -> bool {
    ANNOUNCE.iter().any(|word| word.len() > 2 && whole.contains(word))
}

/// Letters and digits in lower case.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        let of = |answer: Answer| {
            let found = &answer.matches[0];
            format!("{}:{}", found.family.id, found.row.code)
        };
        find_codes(text).into_iter().map(of).collect()
    }

    #[test]
    fn the_word_before_a_number_selects_the_family() {
        for (text, code) in [
            ("drvRetCode=87", "drv:87"),
            ("drv_ret_code=33", "drv:33"),
            ("retCode=0x2a", "ts:0x2a"),
            ("retCode=0x7020012", "runtime:0x7020012"),
            ("rc 0x7010003", "runtime:0x7010003"),
            ("ret[9]", "hccl:9"),
            ("ret is -8005", "dcmi:-8005"),
            ("ret code: -8010", "dcmi:-8010"),
            ("HcclAllreduce, error code is 6", "hccl:6"),
            ("Event ID 0x80CB800A", "chip:0x80CB800A"),
            ("错误码507035", "acl_rt:507035"),
            ("错误码 107002", "acl_rt:107002"),
            ("错误码为：507035", "acl_rt:507035"),
            ("报错507899", "acl_rt:507899"),
            ("code:507048", "acl_rt:507048"),
            ("aclnn 561003", "aclnn:561003"),
            ("EI0006:", "ecode:EI0006"),
            ("Device_Absent/Abnormal", "ecode:EL0001"),
            ("Communication_Error_Get_Socket(EI0006)", "ecode:EI0006"),
        ] {
            assert_eq!(codes(text), [code], "{text}");
        }
    }

    #[test]
    fn several_codes_are_all_named() {
        let text = "ErrCode=507899, desc=[driver error], drvRetCode=87, see EI0006";
        assert_eq!(codes(text), ["acl_rt:507899", "drv:87", "ecode:EI0006"]);
    }

    #[test]
    fn numbers_of_a_sentence_are_no_codes() {
        for text in [
            "torch 2.9",
            "CANN 8.5.0",
            "step 100000 of 200000",
            "hello",
            "Atlas 800T A2",
            "MY_CONNECT_TIMEOUT=60",
            "use 8 NPUs on 2 hosts",
            "error rate 0.05",
            "V100R001C23SPC002B212",
            "a retry took 7 seconds",
            "",
        ] {
            assert_eq!(codes(text), [""; 0], "{text}");
        }
    }
}
