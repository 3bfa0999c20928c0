//! Required packages: requirement files, constraints, `pip install`, pyproject.toml, setup.cfg,
//! conda environments.
//!
//! A CUDA build of torch loses its local version, the corresponding torch_npu is added, packages
//! with an Ascend counterpart are renamed, and packages that only work with CUDA are flagged.

mod manifest;

use std::ops::Range;

use pep440_rs::Version;

use super::rules::{Action, Match, Place, Rule, Rules};
use super::site::{Certainty, Planner};
use data::Matrix;

/// Plans a file of requirements; the format follows from its `name` (without directories).
pub fn plan(planner: &mut Planner<'_>, name: &str) {
    let lower = name.to_ascii_lowercase();
    if lower.contains("npu") || lower.contains("ascend") {
        return;
    }
    if lower.ends_with(".toml") || lower == "pipfile" {
        manifest::toml(planner);
    } else if lower.ends_with(".yml") || lower.ends_with(".yaml") {
        manifest::conda(planner);
    } else if lower.ends_with(".cfg") {
        manifest::setup_cfg(planner);
    } else {
        lines(planner);
    }
}

/// One requirement in PEP 508 syntax, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
struct Requirement<'a> {
    name: &'a str,
    /// `[cuda12]` after the name, without the brackets.
    extras: &'a str,
    /// Range of the name, in the text that was read.
    at: Range<usize>,
    /// The range of the version specifiers.
    versions: Range<usize>,
    /// `; python_version < "3.10"`, with the semicolon.
    marker: &'a str,
    /// Whether an address follows the name.
    url: bool,
}

impl<'a> Requirement<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let start = text.len() - text.trim_start().len();
        let body = &text[start..];
        let len = body
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .unwrap_or(body.len());
        let name = body[..len].trim_end_matches('.');
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let mut rest = &body[name.len()..];
        let blank = |text: &'a str| text.trim_start_matches([' ', '\t']);
        rest = blank(rest);
        let mut extras = "";
        if let Some(behind) = rest.strip_prefix('[') {
            let end = behind.find(']')?;
            extras = &behind[..end];
            rest = blank(&behind[end + 1..]);
        }
        if !(rest.is_empty() || rest.starts_with(['=', '<', '>', '!', '~', ';', '@', '(', ','])) {
            return None;
        }
        let from = text.len() - rest.len();
        let (specifiers, marker) = rest.split_at(rest.find(';').unwrap_or(rest.len()));
        Some(Self {
            name,
            extras,
            at: start..start + name.len(),
            versions: from..from + specifiers.trim_end().len(),
            marker: marker.trim_end(),
            url: rest.starts_with('@'),
        })
    }

    /// The normalized name, as the package index compares it.
    fn normalized(&self) -> String {
        let mut out = String::with_capacity(self.name.len());
        for c in self.name.chars() {
            if matches!(c, '-' | '_' | '.') {
                if !out.ends_with('-') {
                    out.push('-');
                }
            } else {
                out.push(c.to_ascii_lowercase());
            }
        }
        out
    }
}

/// Ranges of each `+cu118` in version specifiers: `==2.1.0+cu121,!=2.1.1+cu121` has two.
fn local_cuda(versions: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    versions.split(',').filter_map(move |one| {
        let start = at;
        at += one.len() + 1;
        let around = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '\\');
        let version = one.trim_start_matches(|c| around(c) || "=<>!~^".contains(c));
        let version = version.split(around).next()?;
        // An invalid version is left unchanged.
        version.parse::<Version>().ok()?;
        let (_, local) = version.split_once('+')?;
        let digits = local.strip_prefix("cu")?;
        let of_cuda = digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let plus = start + one.find('+')?;
        of_cuda.then(|| plus..plus + 1 + local.len())
    })
}

/// The version of torch, if exactly one version is required.
fn exact_version(versions: &str) -> Option<Version> {
    let version = versions.trim().trim_matches(['(', ')']);
    let version = version.strip_prefix("===").or_else(|| version.strip_prefix("=="))?;
    // The text after `+` must be part of a valid version; without it the rest would be another
    // version.
    let version: Version = version.split_whitespace().next()?.parse().ok()?;
    Some(version.without_local())
}

/// The requirement that is added for torch.
enum Partner {
    /// `torch-npu==2.7.1`.
    Exact(String),
    /// torch is not pinned to one version.
    Any,
    /// No release of torch_npu is known for this torch.
    None(String),
}

fn partner(versions: &str) -> Partner {
    let Some(torch) = exact_version(versions) else { return Partner::Any };
    match Matrix::builtin().installable(&torch, None, None).next() {
        Some(row) => Partner::Exact(row.version.to_string()),
        None => Partner::None(torch.to_string()),
    }
}

/// The version of torch_npu that is added for this torch.
#[cfg(test)]
pub fn torch_npu_for_test(torch: &str) -> String {
    match partner(&format!("=={torch}")) {
        Partner::Exact(version) => version,
        _ => String::new(),
    }
}

/// The rule for a package that only works with CUDA; `None` for every other.
fn package_rule(name: &str) -> Option<&'static Rule> {
    let rules = Rules::builtin();
    if let Some(rule) = rules.find(Match::Package, name) {
        return Some(rule);
    }
    let bare = without_cuda_suffix(name);
    let import = match bare {
        "nvidia-ml-py" | "nvidia-ml-py3" => "pynvml".to_owned(),
        "nvidia-dali" => "nvidia.dali".to_owned(),
        "cuda-python" => "cuda".to_owned(),
        "megatron-core" | "megatron-lm" => "megatron".to_owned(),
        "awq" => "autoawq".to_owned(),
        "minkowskiengine" => "MinkowskiEngine".to_owned(),
        "gputil" => "GPUtil".to_owned(),
        name => name.replace('-', "_"),
    };
    if let Some(rule) = rules.find(Match::Library, &import) {
        return (rule.action == Action::Flag).then_some(rule);
    }
    let of_cuda = bare != name
        || name.starts_with("nvidia-")
        || matches!(name, "cudatoolkit" | "cudatoolkit-dev" | "cudnn" | "nccl" | "pytorch-cuda")
        || name == "cuda"
        || [
            "cuda-",
            "libcublas",
            "libcudnn",
            "libcufft",
            "libcurand",
            "libcusolver",
            "libcusparse",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    of_cuda.then(|| rules.site(Place::RequirementsCudaPackage))
}

/// `cupy` for `cupy-cuda12x`, `nvidia-nccl` for `nvidia-nccl-cu12`.
fn without_cuda_suffix(name: &str) -> &str {
    let Some((bare, last)) = name.rsplit_once('-') else { return name };
    let version = last.strip_prefix("cuda").or_else(|| last.strip_prefix("cu"));
    match version {
        Some(version)
            if version.starts_with(|c: char| c.is_ascii_digit())
                && version.trim_end_matches('x').bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            bare
        }
        _ => name,
    }
}

/// The place and surrounding text of an added torch_npu.
struct Insertion {
    /// The offset.
    at: usize,
    /// The text before and after `torch-npu==2.7.1`.
    before: String,
    after: String,
}

/// Plans one requirement. `torch` is the place to add torch_npu, unless it is required already.
/// Returns whether it was added.
fn requirement(planner: &mut Planner<'_>, range: &Range<usize>, torch: Option<Insertion>) -> bool {
    let text = &planner.text[range.clone()];
    let Some(requirement) = Requirement::parse(text) else { return false };
    let rules = Rules::builtin();
    let place = range.start + requirement.at.start
        ..range.start + requirement.versions.end.max(requirement.at.end);
    let name = requirement.normalized();
    let versions = &text[requirement.versions.clone()];
    let wheel = rules.site(Place::RequirementsCudaWheel);
    if matches!(name.as_str(), "torch" | "torchvision" | "torchaudio" | "torchtext") {
        if requirement.url {
            if versions.contains("cu1") {
                planner.flag(rules.site(Place::RequirementsCudaPackage), place, None);
            }
            return false;
        }
        for local in local_cuda(versions) {
            let start = range.start + requirement.versions.start;
            let local = start + local.start..start + local.end;
            planner.change(wheel, local, "", Certainty::Exact);
        }
        if name == "torch"
            && !leaves_linux_out(requirement.marker)
            && let Some(insertion) = torch
        {
            return insert(planner, &place, versions, &insertion);
        }
        return false;
    }
    let of_cuda = |extra: &str| extra.trim().to_ascii_lowercase().contains("cuda");
    if requirement.extras.split(',').any(of_cuda) {
        let detail = format!("{name}[{}]", requirement.extras);
        planner.flag(rules.site(Place::RequirementsCudaPackage), place, Some(detail));
        return false;
    }
    let Some(rule) = package_rule(&name) else { return false };
    match (rule.action, rule.to) {
        (Action::Rewrite, Some(to)) => {
            let at = range.start + requirement.at.start..range.start + requirement.at.end;
            planner.change(rule, at, to, Certainty::Exact);
            // The counterpart has separate releases.
            if !versions.is_empty() {
                let rule = rules.site(Place::RequirementsOtherVersions);
                planner.flag(rule, place, Some(format!("{to}{versions}")));
            }
        }
        (Action::Flag, _) => planner.flag(rule, place, Some(name)),
        _ => {}
    }
    false
}

fn insert(
    planner: &mut Planner<'_>,
    place: &Range<usize>,
    versions: &str,
    insertion: &Insertion,
) -> bool {
    let rules = Rules::builtin();
    let wheel = rules.site(Place::RequirementsCudaWheel);
    let Insertion { at, before, after } = insertion;
    match partner(versions) {
        Partner::Exact(version) => {
            let text = format!("{before}torch-npu=={version}{after}");
            planner.change(wheel, *at..*at, text, Certainty::Exact);
        }
        Partner::Any => {
            let text = format!("{before}torch-npu{after}");
            planner.change(wheel, *at..*at, text, Certainty::Likely);
            planner.note(rules.site(Place::RequirementsTorchUnpinned), place.clone(), None);
        }
        Partner::None(version) => {
            let rule = rules.site(Place::RequirementsNoTorchNpu);
            planner.flag(rule, place.clone(), Some(version));
            return false;
        }
    }
    true
}

/// The range of the option, if `range` (an option and its value) names an index of torch wheels as
/// the only index. Such an index has no torch_npu.
fn only_index(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let whole = &text[range.clone()];
    let (option, address) = whole.split_once(['=', ' ', '\t'])?;
    let of_wheels = address.contains("://") && address.split('/').any(|part| part == "whl");
    (matches!(option, "-i" | "--index-url") && of_wheels)
        .then(|| range.start..range.start + option.len())
}

/// Rewrites the option to `--extra-index-url`, so that the usual index stays available.
fn one_more_index(planner: &mut Planner<'_>, option: Range<usize>) {
    let rule = Rules::builtin().site(Place::RequirementsCudaWheel);
    planner.change(rule, option, "--extra-index-url", Certainty::Exact);
}

/// Whether a marker excludes Linux; torch_npu is only available for Linux.
fn leaves_linux_out(marker: &str) -> bool {
    let tight: String = marker.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
    let tight = tight.replace('\'', "");
    let other = ["sys_platform==darwin", "sys_platform==win32", "platform_system==Darwin"]
        .iter()
        .chain(["platform_system==Windows", "sys_platform!=linux", "platform_system!=Linux"].iter())
        .any(|part| tight.contains(part));
    other && !marker.contains(" or ")
}

/// Whether a text already requires torch_npu.
fn asks_for_torch_npu(text: &str) -> bool {
    ["torch-npu", "torch_npu"].iter().any(|name| text.contains(name))
}

/// The segment `cu118` in the address of a wheel index, `…/whl/cu118`.
fn wheel_index(planner: &mut Planner<'_>, range: &Range<usize>) {
    let text = &planner.text[range.clone()];
    let rules = Rules::builtin();
    let mut at = range.start;
    let mut behind_whl = false;
    for part in text.split('/') {
        let digits = part.strip_prefix("cu");
        if behind_whl
            && digits.is_some_and(|d| d.len() >= 2 && d.bytes().all(|b| b.is_ascii_digit()))
        {
            let rule = rules.site(Place::RequirementsCudaWheel);
            planner.change(rule, at..at + part.len(), "cpu", Certainty::Exact);
            return;
        }
        behind_whl |= part == "whl";
        at += part.len() + 1;
    }
    if text.contains("+cu1") || text.contains("%2Bcu1") || text.contains("/cu1") {
        planner.flag(rules.site(Place::RequirementsCudaPackage), range.clone(), None);
    }
}

/// Arguments of `pip install` or `conda install`: the range of each value, and the end of its word.
pub fn arguments(planner: &mut Planner<'_>, words: &[(Range<usize>, usize)], conda: bool) {
    let text = planner.text;
    let aware = words.iter().any(|(range, _)| asks_for_torch_npu(&text[range.clone()]));
    let mut option = 0..0;
    let mut sole = None;
    let mut added = false;
    for (range, end) in words {
        let word = &text[range.clone()];
        let before = std::mem::replace(&mut option, range.clone());
        let previous = &text[before.clone()];
        let from = if word.starts_with('-') { range.start } else { before.start };
        sole = sole.or(only_index(text, from..range.end));
        if word.starts_with('-') {
            if let Some((_, value)) = word.split_once('=')
                && value.contains("://")
            {
                wheel_index(planner, &(range.end - value.len()..range.end));
            }
        } else if word.contains("://") {
            wheel_index(planner, range);
        } else if matches!(previous, "-r" | "--requirement" | "-c" | "--channel" | "-n" | "--name")
        {
        } else if conda {
            manifest::conda_package(planner, range);
        } else {
            let insertion = Insertion { at: *end, before: " ".to_owned(), after: String::new() };
            added |= requirement(planner, range, (!aware).then_some(insertion));
        }
    }
    if let (true, Some(option)) = (added, sole) {
        one_more_index(planner, option);
    }
}

/// A requirement file: one requirement or option per line.
fn lines(planner: &mut Planner<'_>) {
    let text = planner.text;
    let aware = asks_for_torch_npu(text);
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    let mut asked = false;
    let mut added = false;
    let mut sole = None;
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        // A backslash at the end joins the next line, which may contain hashes.
        let mut whole = line;
        while whole.trim_end().ends_with('\\')
            && let Some(next) = lines.next()
        {
            at += next.len();
            whole = &text[start..at];
        }
        let code = whole.split(" #").next().unwrap_or_default().trim_end();
        let trimmed = code.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let range = start + (code.len() - trimmed.len())..start + code.len();
        if trimmed.starts_with('-') {
            sole = sole.or(only_index(text, range.clone()));
            option_line(planner, &range);
        } else if trimmed.contains("--hash") {
            hashed(planner, &range);
        } else if trimmed.contains("://") && !trimmed.contains('@') {
            wheel_index(planner, &range);
        } else {
            let end = line_end(line);
            let Some(parsed) = Requirement::parse(trimmed) else { continue };
            let marker = parsed.marker.to_owned();
            let eol = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let indent = &line[..line.len() - line.trim_start().len()];
            let insertion = Insertion {
                at: start + end,
                before: format!("{eol}{indent}"),
                after: marker.clone(),
            };
            let first = !asked || !marker.is_empty();
            asked |= parsed.normalized() == "torch";
            added |= requirement(planner, &range, (!aware && first).then_some(insertion));
        }
    }
    if let (true, Some(option)) = (added, sole) {
        one_more_index(planner, option);
    }
}

fn line_end(line: &str) -> usize {
    line.trim_end_matches(['\n', '\r']).len()
}

fn option_line(planner: &mut Planner<'_>, range: &Range<usize>) {
    let text = &planner.text[range.clone()];
    let Some(scheme) = text.find("://") else { return };
    let start = text[..scheme].rfind([' ', '\t', '=']).map_or(0, |at| at + 1);
    let len = text[start..].find([' ', '\t']).unwrap_or(text.len() - start);
    wheel_index(planner, &(range.start + start..range.start + start + len));
}

/// A requirement with hashes cannot be edited: the hashes are those of the old files.
fn hashed(planner: &mut Planner<'_>, range: &Range<usize>) {
    let Some(requirement) = Requirement::parse(&planner.text[range.clone()]) else { return };
    let name = requirement.normalized();
    if name == "torch" || package_rule(&name).is_some_and(|rule| rule.action != Action::Keep) {
        let place = range.start + requirement.at.start..range.start + requirement.at.end;
        planner.flag(Rules::builtin().site(Place::RequirementsHash), place, Some(name));
    }
}

#[cfg(test)]
mod tests;
