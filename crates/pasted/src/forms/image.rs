//! Container images, and the versions in the tags of known ones.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, is_boundary, mention};
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::regex;

static IMAGE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"((?:[A-Za-z0-9][A-Za-z0-9._-]*(?::\d+)?/)+[A-Za-z0-9][A-Za-z0-9._-]*):([A-Za-z0-9][A-Za-z0-9._-]*)",
    )
});
/// `core/context.cc:327` is a line of a source file.
static SOURCE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\.(?:py|c|cc|cpp|cxx|cu|h|hpp|go|ts|js|rs|java|cmake|sh|txt)$"));
/// The tag of an image without its name: `main-cann8.5.0-910b`.
static BARE_TAG: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?:^|[\s"'(])([a-z0-9][a-z0-9._]*-cann\d+\.\d[\w.]*-(?:910b|910|310p|950|a2|a3))(?:$|[\s"'),])"#,
    )
});
/// A line that starts a container, in contrast to one that mentions an image.
static RUNS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\b(?:docker|nerdctl|podman)\b.*\b(?:run|create)\b|^FROM |^image:|镜像|\bimage\b")
});
/// Repositories of images without the address of a registry.
const ORGANIZATIONS: [&str; 9] = [
    "ascend/",
    "ascendai/",
    "lmsysorg/",
    "gpustack/",
    "swr.",
    "quay.io/",
    "mindspore/",
    "ascendhub/",
    "vllm/",
];
static SHORT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(vllm-ascend|mindie|llamafactory|cann):(v?\d+\.\d+[A-Za-z0-9._]*-[A-Za-z0-9._-]+|v\d+\.\d+[A-Za-z0-9._]*)",
    )
});
static CANN_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:^|[-_])cann[-_]?v?(\d+\.\d+(?:\.(?:rc|alpha|beta)?\d+)*)"));
/// Paddle omits the dots: `cann80RC1-ubuntu20-aarch64-gcc84-py39`.
static DENSE_CANN_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|-)cann(\d)(\d)(RC\d|\d)(?:-|$)"));
static DENSE_GCC_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|-)gcc(1\d|[4-9])(\d)(?:-|$)"));
static PYTHON_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:^|-)py(?:thon)?3\.?(\d{1,2})(?:-|$)"));
static OS_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:^|-)(ubuntu|openeuler)-?(\d\d\.\d\d)"));
static ARCH_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|[-_.])(aarch64|arm64|x86_64|amd64)(?:$|[-_.])"));
/// The machine of an image. Without this part, it is Atlas A2 or several.
static CHIP_TAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:^|-)(910b|910c|310p|950)(?:-|$)"));
static GENERATION_TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)(?:^|-)(a[23])(?:-|$)"));
static SERVER_TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|-)(800[IT])-?(A[23])(?:-|$)"));
static CARD_TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|-)(300[IV])-?(Duo|Pro)(?:-|$)"));
static LIST_HEAD: LazyLock<Regex> = LazyLock::new(|| regex(r"^REPOSITORY\s+TAG\s+IMAGE ID\b"));
static LIST_ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([a-z0-9][\w./:-]*/[\w.-]+)\s+([\w][\w.-]*)\s+[0-9a-f]{12}\b"));
static QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:should i|can i|which|recommend|try|instead of|other than|works? (?:fine|well)|previous)\b|建议|推荐|之前|正常|没有?问题",
    )
});

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for line in lines {
        if line.kind == Kind::Comment || line.kind == Kind::Code {
            continue;
        }
        scan(&line.text, line, found);
    }
    listed(lines, found);
}

/// `docker images`. If it lists several images, none is the image of the machine.
fn listed(lines: &[Line], found: &mut Found) {
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| LIST_HEAD.is_match(&line.text)) {
        let rows = lines.iter().skip(index + 1).map(|line| (line, LIST_ROW.captures(&line.text)));
        let rows: Vec<_> = rows.map_while(|(line, row)| row.map(|row| (line, row))).collect();
        if let [(line, row)] = rows.as_slice() {
            let value = format!("{}:{}", &row[1], &row[2]);
            found.add("image", &value, line, Form::ImageTag, Rank::Derived);
            tags(row[1].rsplit('/').next().unwrap_or_default(), &row[2], line, found);
        }
    }
}

/// The value of the label "image", which may have no registry: `vllm-ascend:v0.9.1`.
pub(super) fn labelled(value: &str, line: &Line, found: &mut Found) {
    // [`read`] found those with a registry.
    let Some((repository, tag)) = value.trim().split_once(':') else { return };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !repository.is_empty()
        && repository.chars().all(plain)
        && !tag.is_empty()
        && tag.chars().all(plain)
    {
        found.add("image", value.trim(), line, Form::ImageTag, Rank::Written);
        tags(repository, tag, line, found);
    }
}

/// Images without a registry, by the name of a known repository: `vllm-ascend:v0.9.1 镜像`.
fn short(text: &str, line: &Line, found: &mut Found) {
    for image in SHORT.captures_iter(text) {
        let (Some(name), Some(tag)) = (image.get(1), image.get(2)) else { continue };
        let before = text.get(..name.start()).and_then(|head| head.chars().next_back());
        let tag = tag.as_str().trim_end_matches(['.', '-', '_']);
        if (is_boundary(before) || before == Some(':')) && !QUESTION.is_match(text) {
            let value = format!("{}:{tag}", name.as_str());
            found.add("image", &value, line, Form::ImageTag, Rank::Derived);
            tags(name.as_str(), tag, line, found);
        }
    }
}

/// The CANN version of a tag without an image, in a clause about the author's machine.
fn bare_tags(text: &str, line: &Line, found: &mut Found) {
    for clause in mention::clauses(text, line.kind == Kind::Heading) {
        for tag in BARE_TAG.captures_iter(clause.text) {
            let Some(cann) = CANN_TAG.captures(&tag[1]) else { continue };
            let form = Form::ImageTag;
            if let Some(reason) = clause.doubt {
                found.reject("cann", &cann[1], line, form, reason);
            } else {
                found.add_version("cann", &cann[1], line, form, Rank::Derived);
                machine(&tag[1], line, found);
            }
        }
    }
}

fn scan(text: &str, line: &Line, found: &mut Found) {
    short(text, line, found);
    if matches!(line.kind, Kind::Text | Kind::Heading) && text.contains("-cann") {
        bare_tags(text, line, found);
    }
    for image in IMAGE.captures_iter(text) {
        let (Some(whole), Some(repository), Some(tag)) = (image.get(0), image.get(1), image.get(2))
        else {
            continue;
        };
        let before = text.get(..whole.start()).and_then(|head| head.chars().next_back());
        let tag = tag.as_str().trim_end_matches(['.', '-', '_']);
        let repository = repository.as_str();
        let first = repository.split('/').next().unwrap_or_default();
        // An address has a port or a path after its colon, and a mount has a path.
        let is_registry = first.contains('.')
            && !first.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            || first.contains(':');
        let is_known = ORGANIZATIONS.iter().any(|org| repository.starts_with(org));
        let free = before.is_none_or(|c| is_boundary(Some(c)) || c == ':')
            && !text.get(..whole.start()).is_some_and(|head| head.ends_with("://"));
        let ends = text
            .get(repository.len() + whole.start() + 1 + tag.len()..)
            .and_then(|rest| rest.chars().next());
        if !free
            || !(is_registry || is_known)
            || tag.is_empty()
            || SOURCE.is_match(repository)
            || matches!(ends, Some('/' | ':' | '$' | '{'))
        {
            continue;
        }
        if first.starts_with("github.")
            || first.starts_with("gitee.")
            || first.starts_with("gitcode.")
        {
            continue;
        }
        let value = format!("{repository}:{tag}");
        if QUESTION.is_match(text) && line.kind != Kind::Command {
            found.reject("image", &value, line, Form::ImageTag, Reason::Hypothetical);
            continue;
        }
        let rank = if RUNS.is_match(text) { Rank::Written } else { Rank::Derived };
        found.add("image", &value, line, Form::ImageTag, rank);
        tags(repository.rsplit('/').next().unwrap_or_default(), tag, line, found);
    }
}

/// The versions that the tag of a known image contains.
fn tags(repository: &str, tag: &str, line: &Line, found: &mut Found) {
    let (form, rank) = (Form::ImageTag, Rank::Derived);
    let head = tag.trim_start_matches(['v', 'V']).split('-').next().unwrap_or_default();
    let name = match repository {
        "vllm-ascend" => Some("vllm_ascend"),
        "cann" | "ascend-toolkit" => Some("cann"),
        "llamafactory" => Some("llamafactory"),
        "sglang" => Some("sglang"),
        "mindie" => Some("mindie"),
        _ => None,
    };
    if let Some(name) = name {
        found.add_version(name, head, line, form, rank);
    }
    if let Some(cann) = CANN_TAG.captures(tag) {
        found.add_version("cann", &cann[1], line, form, rank);
    }
    if let Some(python) = PYTHON_TAG.captures(tag) {
        found.add_version("python", &format!("3.{}", &python[1]), line, form, rank);
    }
    // A path of the running program is more reliable than such a short name.
    let dense = Rank::Intended;
    if let Some(cann) = DENSE_CANN_TAG.captures(tag) {
        let version = format!("{}.{}.{}", &cann[1], &cann[2], &cann[3]);
        found.add_version("cann", &version, line, form, dense);
    }
    if let Some(gcc) = DENSE_GCC_TAG.captures(tag) {
        found.add_version("gcc", &format!("{}.{}", &gcc[1], &gcc[2]), line, form, dense);
    }
    if let Some(arch) = ARCH_TAG.captures(tag).and_then(|arch| super::system::arch(&arch[1])) {
        found.add("arch", arch, line, form, rank);
    }
    machine(tag, line, found);
    if let Some(os) = OS_TAG.captures(tag) {
        let name = if os[1].eq_ignore_ascii_case("ubuntu") { "Ubuntu" } else { "openEuler" };
        found.add("os", &format!("{name} {}", &os[2]), line, form, rank);
    }
}

/// Reads the machine of a tag, for which the image was built. Images for a different machine are a
/// frequent fault, so it is not a fact about the machine.
fn machine(tag: &str, line: &Line, found: &mut Found) {
    let (form, reason) = (Form::ImageTag, Reason::OtherLayer);
    if let Some(chip) = CHIP_TAG.captures(tag) {
        found.reject("npu", &chip[1].to_ascii_uppercase(), line, form, reason);
    }
    if let Some(card) = CARD_TAG.captures(tag) {
        found.reject("npu", &format!("{} {}", &card[1], &card[2]), line, form, reason);
    }
    if let Some(server) = SERVER_TAG.captures(tag) {
        found.reject("server", &format!("{} {}", &server[1], &server[2]), line, form, reason);
    } else if let Some(generation) = GENERATION_TAG.captures(tag) {
        found.reject("server", &generation[1].to_ascii_uppercase(), line, form, reason);
    }
}
