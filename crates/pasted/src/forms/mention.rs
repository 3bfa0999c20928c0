//! Clauses of sentences, and whether they state a fact about the machine of the author.

use std::sync::LazyLock;

use regex::Regex;

use crate::candidate::Reason;
use crate::version::regex;

/// Maximum length of an element of an enumeration, in characters.
const ENUMERATED: usize = 24;

/// A part of a sentence.
pub(super) struct Clause<'t> {
    pub(super) text: &'t str,
    /// Set if the clause states no fact about the machine.
    pub(super) doubt: Option<Reason>,
}

static QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)吗|呢$|是否|请问|能不能|能否|可否|有没有|怎么|如何|哪个|哪些|什么时候|为什么|多少|\b(?:which|whether|does|do (?:you|i|we)|can (?:i|we|you|it|someone)|could|is there|are there|is it|will|would|when will|how (?:to|do|can|should)|any (?:plan|update|idea)|wonder|did)\b",
    )
});
/// `请问…` before a fault: the question is about the fault, and the rest describes the machine.
static POLITE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:你好|您好|大家好)?[,!\s]*请问(?:一下)?"));
static FAULT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"报错|报了|出错|出现(?:错误|异常|问题)|失败|卡住|挂住"));
/// A question about the fault described in the rest of the sentence: `…，这是为什么？`.
static TAIL: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)[,;]\s*(?:请问)?(?:一下)?(?:大家|有人)?(?:知道)?(?:这个?|应该|该)?是?",
        r"(?:为什么|为啥|怎么(?:解决|办|回事|处理)|如何(?:解决|处理)|什么(?:原因|问题)|why(?: is that| does this happen)?",
        r"|how (?:to|can i|do i|should i) (?:fix|solve|resolve)(?: it| this| that)?|any (?:ideas?|help)|what(?: is|'s) wrong)[^,;]{0,8}$"
    ))
});
/// Applies in titles, too.
static REQUIREMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)支持|应该|应当|必须|建议|推荐|要求|需要|依赖|适配|配套|对应|最新|至少|以上|以下|(?:^|[^不])兼容",
        r"|\bsupports?\b|\bsupported\b|\bsupporting\b|\bsupport for\b|\bshould\b|\bmust\b|\brequires?\b|\brequired\b|\brequirements?\b|\brecommend|(?:^|[^n])\bcompatible\b|\bcompatibility with\b|\blatest\b|\bat least\b|\bor (?:later|newer|above|higher)\b|\bonly available\b|\bminimum\b|\byou(?:'ll| will)?(?: also)? need\b|\bneeds (?:a |an |the )?[A-Z]|\bdepends\b|\bpulls?\b|\bpinn?ed to\b|\bbump\b|\bport(?:ed)? to\b|\bmigrat",
        r"|为\s?\S{1,10}\s?\S+\s?编译|编译的?$|\bbuilt (?:for|against)\b|\bcompiled (?:for|against|with)\b|\bbuild (?:for|against)\b"
    ))
});
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)计划|希望|想要|如果|假如|假设|若|例如|比如|参考|文档|尝试|换成|换到|改成|改用|切换到|回退到|升级(?:到|至|为)|更新到|下个版本|未来|将(?:支持|会|在)",
        r"|\bplan(?:s|ned|ning)?\b|\bwant\b|\bwish\b|\bif\b|\bexamples?\b|\be\.g|\bdocs?\b|\bdocumentation\b|\breadme\b|\btry\b|\btrying\b|\bupgrad(?:e|ing)\b|\bdowngrad(?:e|ing)\b|\bswitch(?:ing)? to\b|\broadmap\b|\bfuture\b|\bnext\b|\binstead\b|\blike\b|\bsuch as\b|\bother than\b|\bunless\b|\bhope\b|\bmaybe\b|\bperhaps\b|\bit seems\b"
    ))
});
static EARLIER: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)之前|以前|原来|原先|此前|本来|最初|起初|一开始|曾|旧版|早期|上个版本|老版本|试过|都试|也试",
        r"|\bprevious(?:ly)?\b|\bbefore\b|\bearlier\b|\bolder\b|\bold\b|\bused to\b|\bprior\b|\boriginally\b|\binitially\b|\bat first\b|\bformerly\b|\btried\b|\bwas (?:using|on|working)\b|\bworked\b|\bworking (?:in|on|with)\b|\bintroduced\b|\badded in\b|\bremoved\b|\bdropped\b|\bdrops\b|\bdeprecat|\bfixed\b|\bsince\b|\buntil\b|\breleased?\b|\bchanged in\b|\bstarting\b|\bunlike\b|\bwhereas\b|\bcompared\b|\bregression\b|\breproduce[sd]? (?:on|in|with) (?:both|all|every)\b|引入|修复|移除|发布|废弃"
    ))
});
/// A version without the fault.
static COMPARISON: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)没有?问题|正常|能跑|\bworks?\b|\bfine\b|\bno (?:problem|issue)\b|\bnot affected\b",
        r"|\bok (?:on|in|with)\b|\bthan\b"
    ))
});
/// A word that ends an enumeration of earlier versions.
static NOW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)现在|目前|当前|现已|\bnow\b|\bcurrently\b"));
/// A remark in brackets, which may be about something else: `(previously 8.0.0)`.
static REMARK: LazyLock<Regex> = LazyLock::new(|| regex(r"\(([^()]*)\)"));
/// Components that the machine does not have.
static NEGATED: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)没有?(?:在)?(?:使用|用|安装|装|升级)|不是|并非|未(?:使用|安装|升级)|尚未|还没",
        r"|\bnot (?:using|use|on|running|installed|yet|have|a)\b|n't (?:use|have|using|upgraded)\b|\bwithout (?:a |the )?[A-Za-z_-]+ v?\d|\bno longer\b|\bnever\b"
    ))
});
/// Not used in titles that describe a fault, where these words are too frequent.
static POSSIBLE: LazyLock<Regex> = LazyLock::new(|| regex(r"可以|能够"));
/// Applies to the whole sentence.
static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\be\.g\b|例如|比如|\bfor example\b|\bsuch as\b|如果|假如|^\W*if\b")
});

/// The clauses of a line. A title describes the fault, so comparisons in it raise no doubt.
pub(super) fn clauses(text: &str, title: bool) -> Vec<Clause<'_>> {
    let mut out = Vec::new();
    for sentence in sentences(text) {
        let tail = TAIL.find(sentence).map(|m| m.start());
        let sentence = sentence.get(..tail.unwrap_or(sentence.len())).unwrap_or(sentence);
        let polite = POLITE.find(sentence).filter(|_| FAULT.is_match(sentence));
        let asked = sentence.get(polite.map_or(0, |m| m.end())..).unwrap_or(sentence);
        let question = sentence.trim_end().ends_with('?')
            || QUESTION.is_match(asked)
            || EXAMPLE.is_match(sentence);
        let mut before = None;
        for (clause, contrast) in parts(sentence) {
            if contrast || NOW.is_match(clause) {
                before = None;
            }
            let own = doubt(clause, question, title);
            // An enumeration: `supports 910A, 910B`, `之前用 CANN 8.0.RC3, torch 2.1.0`.
            let short = clause.chars().count() <= ENUMERATED;
            let doubt = own.or_else(|| before.filter(|_| short));
            before = doubt.filter(|reason| matches!(reason, Reason::Requirement | Reason::Earlier));
            out.push(Clause { text: clause, doubt });
        }
    }
    out
}

/// Directories and files, whose names are not words of the sentence: `/work/lib/x.cc`.
static PATH: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(^|[\s"'(]|[^\x00-\x7f])(?:/[A-Za-z0-9_.-]+){2,}"#));

/// The reason why a clause states no fact about the machine, if its words indicate one.
fn doubt(clause: &str, question: bool, title: bool) -> Option<Reason> {
    let clause = &*PATH.replace_all(clause, "$1/");
    if question {
        Some(Reason::Hypothetical)
    } else if REQUIREMENT.is_match(clause) {
        Some(Reason::Requirement)
    } else if EARLIER.is_match(clause) {
        Some(Reason::Earlier)
    } else if CONDITION.is_match(clause)
        || COMPARISON.is_match(clause)
        || NEGATED.is_match(clause)
        || !title && POSSIBLE.is_match(clause)
    {
        Some(Reason::Hypothetical)
    } else {
        None
    }
}

/// Sentences with their last character.
fn sentences(text: &str) -> Vec<&str> {
    let (mut out, mut start) = (Vec::new(), 0);
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|&(_, c)| c);
        let abbreviated = || {
            text.get(start..at).is_some_and(|head| {
                head.ends_with("e.g") || head.ends_with("i.e") || head.ends_with("vs")
            })
        };
        let stop = matches!(c, '。' | '?' | '!')
            || c == '.' && next.is_none_or(|c| c == ' ') && !abbreviated();
        if stop {
            let end = at + c.len_utf8();
            out.extend(text.get(start..end));
            start = end;
        }
    }
    out.extend(text.get(start..));
    out.retain(|sentence| !sentence.trim().is_empty());
    out
}

/// A word of contrast begins a clause of another kind: `works with X but fails with Y`.
static CONTRAST: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:but|while|whereas|however)\b|但是?|然而|[,;]而"));

/// The clauses of a sentence, each with whether it begins with a contrast.
fn parts(sentence: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut contrast = false;
    let mut add = |from: usize, to: usize, contrast: bool| {
        let part = sentence.get(from..to).unwrap_or_default();
        for (index, clause) in part.split([',', ';', '、', '|']).enumerate() {
            let clause = clause.trim();
            if !clause.is_empty() {
                out.push((clause, contrast && index == 0));
            }
        }
    };
    let mut cuts: Vec<(usize, usize)> =
        CONTRAST.find_iter(sentence).map(|word| (word.start(), word.end())).collect();
    for remark in REMARK.captures_iter(sentence).filter_map(|remark| remark.get(1)) {
        if EARLIER.is_match(remark.as_str()) {
            cuts.push((remark.start() - 1, remark.start()));
            cuts.push((remark.end(), remark.end() + 1));
        }
    }
    cuts.sort_unstable();
    for (end, next) in cuts {
        add(start, end.max(start), contrast);
        (start, contrast) = (next.max(start), true);
    }
    add(start, sentence.len(), contrast);
    out
}
