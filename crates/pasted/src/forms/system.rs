//! Operating system, kernel, architecture, C library: platform strings and system tools.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Found, mention};
use crate::candidate::{Form, Rank};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::{regex, version_at};

static PLATFORM: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\bLinux-(\d+\.\d+[^\s,]*?)-(aarch64|x86_64)-with-(?:glibc(\d+\.\d+)|\S+)")
});
static UNAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?:[^:]{1,20}:\s*)?Linux \S+ (\d+\.\d+\.\S+) #\d.*\b(aarch64|x86_64)\b")
});
static PRETTY: LazyLock<Regex> = LazyLock::new(|| regex(r#"^PRETTY_NAME="?([^"]+)"?$"#));
static RELEASE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^((?:openEuler|EulerOS|CentOS(?: Linux| Stream)?|Kylin[\w ]*?|Rocky Linux|BigCloud[\w ]*?|Anolis OS)) release (V?\d[\w.]*(?: \([\w. -]+\))?)$",
    )
});
/// `/etc/os-release` whose PRETTY_NAME was cut off.
static VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r#"^VERSION="([^"]+)"$"#));
static NAME: LazyLock<Regex> = LazyLock::new(|| regex(r#"^NAME="?([^"]+)"?$"#));
static UNAME_OPTION: LazyLock<Regex> = LazyLock::new(|| regex(r"\buname -(?:r|mr|rm)$"));
static UNAME_RELEASE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:aarch64 |x86_64 )?(\d+\.\d+\.\S+)(?: aarch64| x86_64)?$"));
static LDD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^ldd \((?:[^()]*(?:\([^()]*\))?[^()]*)\) (\d+\.\d+)$"));
/// llama.cpp: the compiler and the machine it was built for.
static TRIPLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"^(?:built|build: \d+ \([0-9a-f]+\)) with ",
        r"(?:.*\b(?:cc|gcc|c\+\+|g\+\+|GNU)\b(?:\s\([^()]*\))?\s(\d+\.\d+\.\d+)|.*) for (?:Linux )?(aarch64|x86_64)\b"
    ))
});
static LIBC: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)^(?:g?libc version|libc|glibc)\s*[:=]\s*(?:glibc[- ])?(\d+\.\d+)\b")
});
static GNU_GCC: LazyLock<Regex> = LazyLock::new(|| regex(r"^gcc \([^)]*\) (\d+\.\d+\.\d+)"));
static ARCH_WORD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(aarch64|arm64|x86_64|x86-64|x86|amd64)\b"));
static TRAILING_ARCH: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\s*[(/,-]?\s*\b(?:aarch64|x86_64|arm64|amd64)\b\)?\s*$"));
/// A remark about the origin of a distribution: `CTyunOS 22.06(基于openEuler)`.
static ORIGIN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\s*[(,]?\s*(?:基于|兼容|based on|derived from|compatible with)"));
/// A distribution with its version.
static OS: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)(ubuntu|openeuler|euleros|centos(?: linux| stream)?|debian(?: gnu/linux)?|kylin(?: linux)?(?: advanced)?(?: server)?(?: os)?|银河麒麟|麒麟|uniontech os(?: server)?|uos|anolis os|huawei cloud euler(?:os)?|euler|hce|ctyunos|bclinux|rocky linux|red hat enterprise linux)",
        r"\s*(?:系统|操作系统|release)?[ :_-]*(v?\d+(?:\.\d+)*(?:-lts)?(?:[-.]?sp\d)?)((?:\s*LTS(?:[- ]?SP\d)?\b)?(?:\s*\((?:LTS|SP\d+|LTS-SP\d+|Sword|Tercel|Lance|Halberd|Core)\)|\s*SP\d)?)"
    ))
});
static CONTAINER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)docker|container|podman|nerdctl|kubectl|kubernetes|\bk8s\b|\bpods?\b|容器|镜像|/workspace",
    )
});
static HOST: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\bhost\b|宿主|物理机|主机"));
static EULER_KERNEL: LazyLock<Regex> = LazyLock::new(|| regex(r"eulerosv(\d)r(\d{1,2})"));
static UNION_KERNEL: LazyLock<Regex> = LazyLock::new(|| regex(r"\.uel(\d\d)(?:\b|\.)"));
static OPENEULER_KERNEL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\.oe(\d\d)(\d\d)(?:sp(\d))?(?:\b|\.)"));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for (index, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Quotation | Kind::Comment) {
            continue;
        }
        let text = line.text.as_str();
        if let Some(platform) = PLATFORM.captures(text) {
            linux(&platform, line, Form::Platform, found);
            if let Some(glibc) = platform.get(3) {
                found.add_version("glibc", glibc.as_str(), line, Form::Platform, Rank::Measured);
            }
        } else if let Some(uname) = UNAME.captures(text) {
            linux(&uname, line, Form::SystemTool, found);
            found.take(index);
        } else if let Some(name) = PRETTY.captures(text).and_then(|name| os(&name[1])) {
            found.add("os", &name, line, Form::SystemTool, Rank::Measured);
            found.take(index);
        } else if let Some(release) = RELEASE.captures(text) {
            // `/etc/*-release`: "openEuler release 22.03 (LTS-SP3)".
            if let Some(name) = os(&format!("{} {}", &release[1], &release[2])) {
                found.add("os", &name, line, Form::SystemTool, Rank::Measured);
                found.take(index);
            }
        } else if let Some(name) = named_version(lines, index) {
            found.add("os", &name, line, Form::SystemTool, Rank::Written);
            found.take(index);
        } else if line.kind == Kind::Command && UNAME_OPTION.is_match(text) {
            if let Some(next) = lines.get(index + 1).filter(|next| next.number == line.number + 1)
                && let Some(release) = UNAME_RELEASE.captures(&next.text)
                && let Some(kernel) = kernel(&release[1])
            {
                found.add("kernel", kernel, next, Form::SystemTool, Rank::Measured);
                of_kernel(&next.text, kernel, next, Form::SystemTool, found);
            }
        } else if let Some(libc) = LDD.captures(text).or_else(|| LIBC.captures(text)) {
            found.add_version("glibc", &libc[1], line, Form::SystemTool, Rank::Measured);
        } else if let Some(triple) = TRIPLE.captures(text) {
            found.add("arch", &triple[2], line, Form::SystemTool, Rank::Derived);
            if let Some(gcc) = triple.get(1) {
                found.add_version("gcc", gcc.as_str(), line, Form::SystemTool, Rank::Derived);
            }
        } else if let Some(gcc) = GNU_GCC.captures(text) {
            found.add_version("gcc", &gcc[1], line, Form::SystemTool, Rank::Written);
        }
        if (line.kind == Kind::Text || line.kind == Kind::Heading)
            && (ARCH_WORD.is_match(text) || OS.is_match(text))
        {
            words(text, line, found);
        }
    }
}

/// A system described as that of the host is the only one if the text has no container.
pub(super) fn host_without_container(lines: &[Line], found: &mut Found) {
    let stated = |name: &str, found: &Found| {
        found.candidates.iter().find(|one| one.name == name && one.doubt.is_none()).cloned()
    };
    if stated("os", found).is_some() {
        return;
    }
    if let Some(host) = stated("host_os", found).filter(|host| host.form == Form::KeyValue)
        && !lines.iter().any(|line| CONTAINER.is_match(&line.text))
        && let Some(line) = lines.iter().find(|line| line.number == host.line)
    {
        found.add("os", &host.value, line, host.form, Rank::Derived);
    }
}

/// The system of an `/etc/os-release` by its name and version, at the line of the version.
fn named_version(lines: &[Line], index: usize) -> Option<String> {
    let version = VERSION.captures(&lines.get(index)?.text)?;
    let block = lines.get(index)?.block;
    let mut near =
        lines.iter().skip(index.saturating_sub(4)).take(9).filter(|one| one.block == block);
    let name = near.find_map(|one| NAME.captures(&one.text))?;
    os(&format!("{} {}", &name[1], &version[1]))
}

/// Kernel, system of the host and architecture of a platform string. Containers share the
/// kernel of the host.
fn linux(parts: &Captures, line: &Line, form: Form, found: &mut Found) {
    let kernel = parts[1].trim_end_matches(".aarch64").trim_end_matches(".x86_64");
    found.add("kernel", kernel, line, form, Rank::Measured);
    found.add("arch", &parts[2], line, form, Rank::Measured);
    if let Some(host) = host_os(kernel) {
        found.add("host_os", &host, line, form, Rank::Measured);
    }
}

/// Reads the architecture and the host system in the name of a kernel.
pub(super) fn of_kernel(value: &str, kernel: &str, line: &Line, form: Form, found: &mut Found) {
    for arch in ["aarch64", "x86_64"] {
        if value.contains(&format!(".{arch}")) {
            found.add("arch", arch, line, form, Rank::Derived);
        }
    }
    if let Some(host) = host_os(kernel) {
        found.add("host_os", &host, line, Form::Platform, Rank::Derived);
    }
}

/// The distribution that builds a kernel of this name.
fn host_os(kernel: &str) -> Option<String> {
    if let Some(euler) = EULER_KERNEL.captures(kernel) {
        return Some(format!("EulerOS {}.0 SP{}", &euler[1], &euler[2]));
    }
    if let Some(open) = OPENEULER_KERNEL.captures(kernel) {
        let pack = open.get(3).map(|pack| format!(" SP{}", pack.as_str())).unwrap_or_default();
        return Some(format!("openEuler {}.{}{pack}", &open[1], &open[2]));
    }
    if kernel.ends_with(".hce2") {
        return Some("Huawei Cloud EulerOS 2.0".to_owned());
    }
    if let Some(union) = UNION_KERNEL.captures(kernel) {
        return Some(format!("UOS Server {}", &union[1]));
    }
    kernel.contains(".ky10").then(|| "Kylin V10".to_owned())
}

/// Architectures and systems in sentences.
fn words(text: &str, line: &Line, found: &mut Found) {
    for clause in mention::clauses(text, line.kind == Kind::Heading) {
        if clause.doubt.is_some() || clause.text.len() > 200 {
            continue;
        }
        for word in ARCH_WORD.captures_iter(clause.text) {
            let Some(range) = word.get(1) else { continue };
            let before = clause.text.get(..range.start()).and_then(|t| t.chars().next_back());
            let after = clause.text.get(range.end()..).and_then(|t| t.chars().next());
            // `linux-arm64` and `linux/arm64` are platforms.
            let head = clause.text.get(..range.start()).unwrap_or_default().to_ascii_lowercase();
            let platform = head.strip_suffix("linux-").or_else(|| head.strip_suffix("linux/"));
            let platform = platform.map(|head| head.chars().next_back());
            let free = super::is_boundary(before)
                || before == Some(':')
                || platform.is_some_and(|c| c == Some(':') || super::is_boundary(c));
            let ends = clause.text.get(range.end()..).is_some_and(|rest| rest == ".");
            let is_word = free && (ends || !matches!(after, Some('-' | '/' | '.' | '_' | '\\')));
            if is_word && let Some(name) = arch(&word[1]) {
                found.add("arch", name, line, Form::Prose, Rank::Prose);
            }
        }
        if HOST.is_match(clause.text) {
            continue;
        }
        if let Some(range) = OS.find(clause.text)
            && super::is_boundary(
                clause.text.get(..range.start()).and_then(|t| t.chars().next_back()),
            )
            && !clause.text.contains("gcc")
            && !clause.text.contains("GCC")
            && let Some(name) = os(clause.text)
        {
            found.add("os", &name, line, Form::Prose, Rank::Prose);
        }
    }
}

/// `aarch64` or `x86_64`, from a value that begins with one of the usual names.
pub(super) fn arch(value: &str) -> Option<&'static str> {
    // The label shows that it is an architecture: `架构: ARM`.
    if value.eq_ignore_ascii_case("arm") || value.eq_ignore_ascii_case("arm架构") {
        return Some("aarch64");
    }
    let word = ARCH_WORD.find(value)?;
    if ARCH_WORD.find_iter(value).count() > 1 && value.contains('/') {
        return None;
    }
    match word.as_str().to_ascii_lowercase().as_str() {
        "aarch64" | "arm64" => Some("aarch64"),
        _ => Some("x86_64"),
    }
}

/// The release of a kernel: `5.10.0-60.18.0.50.oe2203`.
pub(super) fn kernel(value: &str) -> Option<&str> {
    let word =
        value.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let parts =
        word.split('.').take_while(|part| part.starts_with(|c: char| c.is_ascii_digit())).count();
    (parts >= 2).then(|| word.trim_end_matches(".aarch64").trim_end_matches(".x86_64"))
}

/// The system in a value: `Ubuntu 22.04.5 LTS (aarch64)` without the architecture, and
/// `ubuntu20.0.4` with its usual spelling.
pub(super) fn os(value: &str) -> Option<String> {
    let found = OS.captures_iter(value).last()?;
    let version = &found[2];
    if version_at(version).is_none()
        && !version.starts_with(['v', 'V'])
        && !version.bytes().all(|b| b.is_ascii_digit())
        && !version.contains("LTS")
        && !version.to_ascii_lowercase().contains("sp")
    {
        return None;
    }
    let start = found.get(0)?.start();
    let whole = value.get(start..)?;
    let name = match found[1].to_ascii_lowercase().as_str() {
        "ubuntu" => "Ubuntu",
        "openeuler" => "openEuler",
        "euleros" => "EulerOS",
        _ => "",
    };
    // EulerOS has 2.x; a larger number is one of openEuler, misspelled.
    let name = match name {
        "" if found[1].eq_ignore_ascii_case("euler") => {
            version.starts_with("2.").then_some("EulerOS")?
        }
        name => name,
    };
    if name == "Ubuntu" {
        let mut parts = version.split('.');
        let year: u32 = parts.next()?.parse().ok()?;
        // Also excludes `Ubuntu 9.4.0-1ubuntu1`, a version of GCC.
        if !(14..=30).contains(&year) || version.contains('-') {
            return None;
        }
    }
    if name.is_empty() {
        // Names of other systems have several words. They are kept as written, without the
        // architecture.
        let end = whole.find([',', ';', '。']).unwrap_or(whole.len());
        let text = whole.get(..end)?;
        let text = text.get(..ORIGIN.find(text).map_or(text.len(), |m| m.start()))?;
        let text = TRAILING_ARCH.replace(text, "");
        let text = text.trim();
        return (text.len() <= 60).then(|| text.to_owned());
    }
    // A frequent typing error.
    let version =
        if name == "Ubuntu" { version.replace(".0.4", ".04") } else { version.to_owned() };
    let version = version.replace("-LTS", " LTS").replace("-lts", " LTS");
    let rest = found[3].trim_end();
    let rest =
        if rest.is_empty() || rest.starts_with(' ') { rest.to_owned() } else { format!(" {rest}") };
    Some(format!("{name} {version}{rest}"))
}
