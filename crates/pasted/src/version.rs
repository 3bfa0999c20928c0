//! Shapes of versions, and the plausible versions of each component.

use std::sync::LazyLock;

use regex::Regex;

/// Maximum length of a version; local versions with a commit and a date have about 50.
const MAX_VERSION: usize = 80;

static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^v?\d{1,4}(?:\.\d+|[._-]?(?:rc|alpha|beta|post|dev|pre|spc|a|b|c|t)\.?\d*)*(?:\+[a-z0-9]+(?:[._-][a-z0-9]+)*)?$",
    )
});

/// Text that makes the preceding version one of several: `2.1/2.4`, `2.1 or 2.4`, `8.0 ~ 8.2`.
static SEVERAL: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)^(?:\+(?:[^A-Za-z]|$)|[.-]x\b|\.?\*|\s*(?:(?:or|to|and|至|到|或者?|和|与|以及|、|/|~|-)\s*v?\d+\.\d|/\s*v?\d|~|以上|及以上|以下|及以下",
        r"|之前的?版本|或更高|或以上|or (?:later|above|higher|newer|greater|lower)|and (?:later|above|newer|higher)))"
    ))
});

/// Compiles a pattern of this crate; a mistake in one fails every test.
///
/// Word boundaries are those of ASCII: `在CANN 8.0上` has no blanks around its words.
#[expect(clippy::expect_used, reason = "patterns are constants")]
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("constant pattern")
}

/// The version at the start of `text`. `None` if no version starts there, or if it is one of
/// several.
pub(crate) fn version_at(text: &str) -> Option<&str> {
    let end = text
        .bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'_' | b'-')))
        .unwrap_or(text.len());
    let run = text.get(..end)?;
    // `torch2.1.0+cann8.0.RC1` lists two components, while `2.1.0+cpu` has a local version.
    let run = match run.split_once('+') {
        Some((version, local)) if is_component(local) => version,
        _ => run,
    };
    let run = run.trim_end_matches(['.', '-', '_', '+']);
    // `2.1+` is a range, not a version.
    if text.get(run.len()..).is_some_and(|rest| SEVERAL.is_match(rest)) {
        return None;
    }
    if is_version(run) {
        return Some(run);
    }
    // Tags of images: `v0.9.1-310p-openeuler`.
    let (version, tag) = run.split_once('-')?;
    let of_image = tag.split('-').all(|part| matches!(part, "310p" | "a3" | "a2" | "openeuler"));
    (of_image && is_version(version)).then_some(version)
}

fn is_component(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "torch",
        "pytorch",
        "cann",
        "npu",
        "python",
        "vllm",
        "mindspore",
        "transformers",
        "triton",
        "driver",
        "hdk",
    ]
    .iter()
    .any(|name| text.starts_with(name))
}

/// Returns whether the whole of `text` is a version of at least two parts.
pub(crate) fn is_version(text: &str) -> bool {
    text.len() <= MAX_VERSION && text.contains('.') && SHAPE.is_match(text)
}

/// The first number, and the second if there is one.
fn line_of(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim_start_matches(['v', 'V']).split('.');
    let major = parts.next()?.parse().ok()?;
    let digits: String = parts.next()?.chars().take_while(char::is_ascii_digit).collect();
    Some((major, digits.parse().unwrap_or(0)))
}

/// Returns whether a component can have the version. Excludes driver versions for CANN, file names
/// for Python, and other numbers for all components.
pub(crate) fn plausible(name: &str, version: &str) -> bool {
    let Some((major, minor)) = line_of(version) else { return false };
    match name {
        "torch" | "torch_npu" => (1..=3).contains(&major) && minor < 40,
        "python" => {
            (major == 3 && (3..30).contains(&minor) || major == 2 && minor == 7)
                && version.len() <= 10
        }
        "cann" => is_cann(version),
        "driver" => (20..=40).contains(&major),
        "firmware" => (1..=20).contains(&major) && version.split('.').count() >= 3,
        "glibc" => major == 2 && (10..60).contains(&minor),
        "gcc" => (4..=20).contains(&major),
        "vllm" | "vllm_ascend" | "sglang" => major <= 2,
        "mindspore" => major <= 4,
        "triton" | "triton_ascend" => (1..=5).contains(&major),
        "transformers" => (2..=9).contains(&major),
        "nnal" => (5..=15).contains(&major),
        "ms_swift" => major <= 9,
        _ => true,
    }
}

/// Returns whether a version has the shape of a CANN version: `8.1.RC1`, `7.0.1.1`, `9.0.0`.
pub(crate) fn is_cann(version: &str) -> bool {
    let Some((major, _)) = line_of(version) else { return false };
    // Component versions such as `8.2.0.0.201` and firmware have five numbers.
    (3..=15).contains(&major) && version.split('.').count() <= 4 && !version.contains('+')
        || version.parse::<base::version::CannVersion>().is_ok_and(|v| (3..=15).contains(&v.major))
}
