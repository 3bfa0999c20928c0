//! Versions in paths and file names: site-packages, CANN directories, wheels, `.run` packages.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::candidate::{Form, Rank};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::{is_cann, is_version, regex};

static PYTHON: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"/(?:lib(?:64)?/)?python(3\.\d{1,2}(?:\.\d{1,2})?)/(?:lib|site-packages|dist-packages|bin|[a-z_]+(?:\.py|/))",
    )
});
static CANN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)/(?:ascend-toolkit|nnae|nnrt|cann)[/-](\d+\.\d+(?:\.(?:rc|alpha|beta)?\d+|-(?:beta|alpha)\.?\d+)*)(?:[/:\s,)\x22']|$)",
    )
});
static NNAL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)/nnal(?:/atb|/asdsip)?/(\d+\.\d+(?:\.(?:rc|alpha|beta)?\d+)*)(?:[/:\s]|$)")
});
static ARCH_DIR: LazyLock<Regex> = LazyLock::new(|| regex(r"/(aarch64|x86_64)-linux(?:-gnu)?/"));
/// `_ext.cpython-39-aarch64-linux-gnu.so`: Python and the machine of a module.
static MODULE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\.cpython-3(\d{1,2})-(aarch64|x86_64)-linux-gnu\.so\b"));
static TOOLKIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"Ascend-cann-(?:toolkit|nnae|nnrt)_(\d+\.\d+[0-9A-Za-z.-]*?)_linux(?:-(aarch64|x86_64))?",
    )
});
static NNAL_PACKAGE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"Ascend-cann-nnal_(\d+\.\d+[0-9A-Za-z.-]*?)_linux(?:-(aarch64|x86_64))?")
});
static KERNELS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(Ascend-cann-(?:kernels-[0-9A-Za-z]+|[0-9A-Za-z]+-ops)_(\d+\.\d+[0-9A-Za-z.-]*?))_linux(?:-(aarch64|x86_64))?",
    )
});
static HDK: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"Ascend-hdk-(?:(910[bc]?|310p?|950|[Aa]3)-)?[0-9A-Za-z._-]*?npu-(driver|firmware)_(\d+\.\d+[0-9A-Za-z.]*?)(?:_linux(?:-(aarch64|x86-64|x86_64))?|\.run|\.zip)",
    )
});
static WHEEL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b([A-Za-z][A-Za-z0-9_.]*)-(\d+\.\d[0-9A-Za-z.+_]*)-(cp3(\d{1,2})|py3|py2\.py3)-[A-Za-z0-9_]+-([A-Za-z0-9_.]*?)\.whl",
    )
});
/// `torch_npu-2.5.1-py3.10.egg`, `numpy-1.26.4.dist-info`.
static DIST_INFO: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:site|dist)-packages/([A-Za-z][A-Za-z0-9_.]*)-(\d+\.\d[0-9A-Za-z.+]*?)(?:-py3\.\d+)?(?:-[a-z0-9_-]+)?\.(?:egg|dist-info|egg-info)",
    )
});
static KERNEL_DIR: LazyLock<Regex> =
    LazyLock::new(|| regex(r"/(ascend(?:310[pb]?|910(?:b|_9[35])?|950))/"));
/// Maximum number of lines read from a listing.
const MAX_LISTING: usize = 12;
static LISTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?:ls|ll)\b[^|;&]*/Ascend/(?:ascend-toolkit|nnae|nnrt)/?$"));
static LATEST: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\blatest -> (?:\./|/\S*/)?(\d+\.\d[\w.-]*)/?$"));
/// pip prints the addresses of its downloads.
static DOWNLOAD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:Downloading|Using cached|Collecting|Looking|Processing)\b"));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for line in lines {
        let text = line.text.as_str();
        if line.kind == Kind::Comment || DOWNLOAD.is_match(text) {
            continue;
        }
        if text.contains('/') {
            directories(text, line, found);
        }
        if text.contains("Ascend-") {
            packages(text, line, found);
        }
        if text.contains(".whl") {
            wheels(text, line, found);
        }
    }
    listing(lines, found);
}

/// `ls` of the directory that has one directory for each installed CANN.
fn listing(lines: &[Line], found: &mut Found) {
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| LISTED.is_match(&line.text)) {
        let mut names: Vec<(&Line, &str)> = Vec::new();
        for line in lines.iter().skip(index + 1).take(MAX_LISTING) {
            if line.kind == Kind::Command {
                break;
            }
            if let Some(link) = LATEST.captures(&line.text).and_then(|link| link.get(1)) {
                names = vec![(line, link.as_str())];
                break;
            }
            names
                .extend(line.text.split_whitespace().filter(|w| is_cann_dir(w)).map(|w| (line, w)));
        }
        // If several are installed, the list does not show which one is in use.
        if let [(line, version)] = names.as_slice() {
            found.add_version("cann", version, line, Form::Path, Rank::Derived);
        }
    }
}

fn is_cann_dir(word: &str) -> bool {
    is_version(word) && word.matches('.').count() >= 2 && is_cann(word)
}

fn directories(text: &str, line: &Line, found: &mut Found) {
    let (form, rank) = (Form::Path, Rank::Derived);
    for python in PYTHON.captures_iter(text) {
        found.add_version("python", &python[1], line, form, rank);
    }
    for cann in CANN.captures_iter(text) {
        found.add_version("cann", &cann[1], line, form, rank);
    }
    for nnal in NNAL.captures_iter(text) {
        found.add_version("nnal", &nnal[1], line, form, rank);
    }
    for arch in ARCH_DIR.captures_iter(text) {
        found.add("arch", &arch[1], line, form, rank);
    }
    for module in MODULE.captures_iter(text) {
        found.add_version("python", &format!("3.{}", &module[1]), line, form, rank);
        found.add("arch", &module[2], line, form, rank);
    }
    for soc in KERNEL_DIR.captures_iter(text) {
        found.add("soc_from_path", &soc[1], line, form, rank);
    }
    for package in DIST_INFO.captures_iter(text) {
        let name = names::of_package(&package[1]);
        found.add_version(&name, &package[2], line, form, rank);
    }
}

/// Reads names of `.run` packages. In a sentence they are installed; in a command, possibly.
fn packages(text: &str, line: &Line, found: &mut Found) {
    let form = Form::PackageFile;
    let rank = if line.kind == Kind::Text { Rank::Written } else { Rank::Derived };
    let arch = |arch: Option<regex::Match<'_>>, found: &mut Found| {
        if let Some(arch) = arch {
            found.add(
                "arch",
                &arch.as_str().replace("x86-64", "x86_64"),
                line,
                form,
                Rank::Derived,
            );
        }
    };
    for package in TOOLKIT.captures_iter(text) {
        found.add_version("cann", &package[1], line, form, rank);
        arch(package.get(2), found);
    }
    for package in NNAL_PACKAGE.captures_iter(text) {
        found.add_version("nnal", &package[1], line, form, rank);
        arch(package.get(2), found);
    }
    for package in KERNELS.captures_iter(text) {
        found.add("kernels", &package[1], line, form, rank);
        found.add_version("cann", &package[2], line, form, Rank::Derived);
        arch(package.get(3), found);
    }
    for package in HDK.captures_iter(text) {
        found.add_version(&package[2], &package[3], line, form, rank);
        arch(package.get(4), found);
        // A driver package is built for one chip and does not install on others.
        match package.get(1).map(|chip| chip.as_str()) {
            Some(server @ ("A3" | "a3")) => {
                found.add("server", &server.to_ascii_uppercase(), line, form, Rank::Derived);
            }
            Some(chip) => found.add("npu", chip, line, form, Rank::Derived),
            None => {}
        }
    }
}

fn wheels(text: &str, line: &Line, found: &mut Found) {
    let (form, rank) = (Form::PackageFile, Rank::Derived);
    // Wheels of the same package are alternatives.
    let mut names: Vec<&str> = WHEEL
        .captures_iter(text)
        .filter_map(|wheel| wheel.get(1))
        .map(|name| name.as_str())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    if names.len() < count {
        return;
    }
    for wheel in WHEEL.captures_iter(text) {
        let name = names::of_package(&wheel[1]);
        found.add_version(&name, &wheel[2], line, form, rank);
        if let Some(minor) = wheel.get(4) {
            found.add_version("python", &format!("3.{}", minor.as_str()), line, form, rank);
        }
        for arch in ["aarch64", "x86_64"] {
            if wheel[5].contains(arch) {
                found.add("arch", arch, line, form, rank);
            }
        }
    }
}
