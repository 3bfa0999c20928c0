//! Versions in sentences: `在 CANN 8.0.RC3 上`, `torch_npu2.4.0 和CANN 8.0.RC3冲突`.
//!
//! A sentence must contain a sign that it is about the machine of the author; a title counts
//! because of its position. Any other text with a version may be about any machine.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, is_boundary, mention};
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::{is_cann, plausible, regex, version_at};

const NAME: &str = r"(?:py)?torch[-_ ]?npu|vllm[-_ ]?ascend|triton[-_ ]?ascend|paddle[-_]custom[-_]npu|llama[-_ ]?factory|ms[-_]swift|(?:ascend[- ])?cann(?:[- ]?toolkit)?|ascend[- ]?hdk|hdk|mindspore|mindformers|mindspeed|mindie|transformers|变压器|deepspeed|accelerate|lmdeploy|sglang|pytorch|torchvision|torchaudio|torch|triton|numpy|python|vllm|nnal|verl|peft|trl|dlinfer|mmcv(?:-full)?|mmengine|(?:npu[ -]?|昇腾|ascend )?driver|(?:npu)?驱动|(?:npu[ -]?)?firmware|固件";
static COMPONENT: LazyLock<Regex> = LazyLock::new(|| regex(&format!("(?i){NAME}")));
static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i)({NAME})(?:\s*的)?\s*(?:版本号?|version|ver\.?|branch|release|tag|分支)?\s*(是|为|is|==|=|:|@|-)?\s*v?(\d)"
    ))
});
static REVERSED: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r"(?i)(\d[0-9A-Za-z.+-]*)\s*(?:版本)?\s*的\s*({NAME})")));
/// `torch降级到2.3.1后`, `upgraded torch to 2.6.0`: the second version is installed.
static MOVED: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i)({NAME})\s*(?:版本)?\s*(?:从\s*v?\S+?\s*)?(?:升级|降级|更新|升|降|回退|切换|换|改)(?:到|至|成|为)(?:了)?\s*v?(\d[0-9A-Za-z.+]*)\s*(?:版本)?\s*(?:后|了|之后|以后)"
    ))
});
static MOVED_EN: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i)(?:upgraded|downgraded|updated|switched|rolled back)\s+(?:to\s+)?(?:my |the )?({NAME})\s+(?:version\s+)?(?:from\s+\S+\s+)?(?:to\s+)?v?(\d[0-9A-Za-z.+]*)"
    ))
});
/// `后来换成了CANN 8.1.RC1`, `已经升级到 CANN 8.1.RC1`
static MOVED_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i)(?:后来|现在|现已|已经?|目前|又|重新)\s?(?:升级|降级|更新|升|降|回退|切换|换|改)(?:到|至|成|为)了?\s*({NAME})\s*(?:版本)?\s*v?(\d[0-9A-Za-z.+]*)"
    ))
});
/// `After upgrading torch_npu from 2.4.0 to 2.5.1 it fails.`
static AFTER_EN: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"(?i)\b(?:after|since|upon)\s+(?:i\s+|we\s+)?(?:upgrad|downgrad|updat|switch|mov)\w*\s+(?:to\s+)?(?:my |the )?({NAME})\s+(?:version\s+)?(?:from\s+\S+\s+)?(?:to\s+)?v?(\d[0-9A-Za-z.+]*)"
    ))
});
/// `驱动版本也确认过6.3.RC2`
static DRIVER_WORDS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"驱动版本[\u{4e00}-\u{9fff}]{0,8}\s*(\d[0-9A-Za-z.]*)"));
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)使用|用的|安装了|安装的|装的是|当前|目前|我的|我们|环境|版本(?:是|为|:)|运行|系统|镜像|在\s?\S*\s?\S*上",
        r"|在\s?\S*\s?\S*(?:中|下|里)(?:执行|运行|跑|安装|使用|启动|导入|import)|\b(?:when|after) installing \S+(?: v?\d\S*)? (?:in|on)\b",
        r"|\busing\b|\buse\b|\bwith\b|\brunning\b|\brun on\b|\bon\b|\binstalled\b|\bhave\b|\bmy\b|\bour\b|\benvironment\b|\benv\b|\bversion is\b|\bi'm\b|\bam on\b|\bunder\b"
    ))
});
/// `torch版本2.1 python版本3.8`: two of them in a clause are a list of installed components.
static TERSE: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(r"(?i)(?:{NAME})\s?版本\s?v?\d[\w.+]*\s+(?:{NAME})\s?版本\s?v?\d"))
});
/// Words of an author who follows a guide, and so describes their own machine.
static FOLLOWS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:按照?|跟着)(?:官方|官网)?的?(?:教程|手册|说明|文档)"));
/// Other projects and people: `X recommends`, `the guide uses`.
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:guide|tutorial|manual|page|table|matrix|matches|changelog|notes?|website|official|upstream|someone|others?|he|she|they|colleague|teammate|users?|people)\b|官网|官方文档|别人|其他人|同事|大家|教程|手册|说明|表格",
    )
});

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let title = lines.first().map(|line| line.number);
    for (index, line) in lines.iter().enumerate() {
        let is_title = Some(line.number) == title;
        let prose =
            matches!(line.kind, Kind::Text | Kind::Heading) || is_title && line.kind == Kind::Log;
        // Most lines of a log name no component.
        let named = line.text.bytes().any(|b| b.is_ascii_digit()) && COMPONENT.is_match(&line.text);
        if !prose
            || !named
            || found.is_taken(index)
            || line.text.len() > 2000
            || line.text.starts_with('|')
            || line.text.starts_with(['+', '-']) && line.text.contains("==")
        {
            continue;
        }
        let is_title = is_title && line.kind != Kind::Log && line.text.len() < 200;
        for clause in mention::clauses(&line.text, is_title || line.kind == Kind::Heading) {
            moved(clause.text, line, found);
            sentence(&clause, is_title, line, found);
        }
    }
}

fn moved(text: &str, line: &Line, found: &mut Found) {
    let english = MOVED_EN.captures_iter(text).chain(AFTER_EN.captures_iter(text));
    let chinese = MOVED.captures_iter(text).chain(MOVED_BEFORE.captures_iter(text));
    for change in chinese.chain(english) {
        if let Some(name) = names::of_label(&change[1])
            && let Some(version) = version_at(&change[2])
        {
            found.add_version(&name, version, line, Form::Prose, Rank::Written);
        }
    }
}

fn sentence(clause: &mention::Clause<'_>, is_title: bool, line: &Line, found: &mut Found) {
    let text = clause.text;
    let mut hits: Vec<(String, String, bool)> = Vec::new();
    let mut covered = 0;
    for hit in MENTION.captures_iter(text) {
        let (Some(whole), Some(name), Some(digit)) = (hit.get(0), hit.get(1), hit.get(3)) else {
            continue;
        };
        let before = text.get(..whole.start()).and_then(|t| t.chars().next_back());
        let Some(version) = text.get(digit.start()..).and_then(version_at) else { continue };
        let Some(name) = names::of_label(name.as_str()) else { continue };
        // `"torch==2.7.1",` is an element of a list of requirements.
        if !is_boundary(before) || matches!(before, Some('"' | '\'')) {
            continue;
        }
        let pinned = hit.get(2).is_some_and(|sign| matches!(sign.as_str(), "==" | "是" | "为"));
        covered += digit.start() - whole.start() + version.len();
        hits.push((name, version.to_owned(), pinned));
    }
    for hit in REVERSED.captures_iter(text) {
        if let Some(name) = names::of_label(&hit[2])
            && let Some(version) = version_at(&hit[1])
        {
            covered += hit[0].len();
            hits.push((name, version.to_owned(), false));
        }
    }
    if let Some(driver) = DRIVER_WORDS.captures(text)
        && let Some(version) = version_at(&driver[1])
    {
        covered = text.len();
        hits.push(("driver".to_owned(), version.to_owned(), true));
    }
    let terse = TERSE.is_match(text);
    let elsewhere = ELSEWHERE.is_match(&FOLLOWS.replace_all(text, " "));
    let short = text.len().saturating_sub(covered) <= 12;
    for (name, version, pinned) in hits {
        let doubt = match clause.doubt {
            Some(reason) => Some(reason),
            None if elsewhere => Some(Reason::OtherLayer),
            None if is_title || pinned || short || terse => None,
            None if SIGN.is_match(text) => None,
            None => Some(Reason::Hypothetical),
        };
        let (name, fits) = match name.as_str() {
            "driver" if !plausible("driver", &version) && is_cann(&version) => {
                ("cann", version.to_ascii_lowercase().contains("rc"))
            }
            name => (name, plausible(name, &version)),
        };
        match doubt {
            Some(reason) => found.reject(name, &version, line, Form::Prose, reason),
            None if fits => found.add_version(name, &version, line, Form::Prose, Rank::Prose),
            None => found.reject(name, &version, line, Form::Prose, Reason::OtherLayer),
        }
        if clause.doubt == Some(Reason::Requirement)
            && (text.contains("编译") || text.contains("built") || text.contains("compiled"))
            && name == "cann"
        {
            found.add_version("built_for", &version, line, Form::Prose, Rank::Prose);
        }
    }
}
