//! Versions of packages, of CANN and of the driver, single or combined, in any wording.

mod pair;

use std::sync::LazyLock;

use base::version::{DottedVersion, InnerVersion};
use data::matrix::{Support, resolve_cann, resolve_version};
use data::{Matrix, PackageIndex, ui};
use pep440_rs::Version;
use regex::Regex;

use super::{Sheet, SheetKind};

/// The package of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Package {
    /// torch_npu.
    TorchNpu,
    /// vllm-ascend.
    VllmAscend,
    /// triton-ascend.
    TritonAscend,
    /// PyTorch.
    Torch,
    /// vLLM.
    Vllm,
    /// MindSpore.
    MindSpore,
    /// CANN.
    Cann,
    /// The driver of the NPU.
    Driver,
    /// Python, by its first two numbers.
    Python,
}

impl Package {
    /// The name in sentences.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TorchNpu => "torch_npu",
            Self::VllmAscend => "vllm-ascend",
            Self::TritonAscend => "triton-ascend",
            Self::Torch => "torch",
            Self::Vllm => "vLLM",
            Self::MindSpore => "MindSpore",
            Self::Cann => "CANN",
            Self::Driver => "driver",
            Self::Python => "Python",
        }
    }
}

/// The names of packages, longer ones first.
const NAMES: [(&str, Package); 17] = [
    ("torch_npu", Package::TorchNpu),
    ("torch-npu", Package::TorchNpu),
    ("torch npu", Package::TorchNpu),
    ("vllm_ascend", Package::VllmAscend),
    ("vllm-ascend", Package::VllmAscend),
    ("triton_ascend", Package::TritonAscend),
    ("triton-ascend", Package::TritonAscend),
    ("mindspore", Package::MindSpore),
    ("pytorch", Package::Torch),
    ("torch", Package::Torch),
    ("vllm", Package::Vllm),
    ("ascend hdk", Package::Driver),
    ("hdk", Package::Driver),
    ("driver", Package::Driver),
    ("驱动", Package::Driver),
    ("cann", Package::Cann),
    ("python", Package::Python),
];

/// Maximum number of rows of a list to show.
const FEW: usize = 6;

/// A package, its separator from the version, and the version.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    let names = names.join("|");
    Regex::new(&format!(
        r"(?i)({names})(?:toolkit|镜像|正式|的|版本|version|[\s:：=-])*v?([0-9]+(?:\.[0-9A-Za-z]+)*(?:\+[0-9A-Za-z]+)?)"
    ))
    .expect("a constant")
});

pub(super) fn read(text: &str) -> Vec<Sheet> {
    if text.len() > 200 || text.contains('\n') {
        return Vec::new();
    }
    let named = read_named(text);
    match named.as_slice() {
        [] => read_bare(text),
        // A longer text that happens to contain a version is a log.
        [(package, version)] => {
            let other = text.split_whitespace().count().saturating_sub(4) > 0;
            let sheet = if other { None } else { of(*package, version) };
            sheet.into_iter().collect()
        }
        _ => pair::read(text, &named).into_iter().collect(),
    }
}

fn read_named(text: &str) -> Vec<(Package, String)> {
    let mut found: Vec<(Package, String)> = Vec::new();
    for captures in NAMED.captures_iter(text) {
        let (Some(whole), Some(version)) = (captures.get(0), captures.get(2)) else { continue };
        let name = captures[1].to_lowercase();
        let before = text[..whole.start()].chars().next_back();
        let package = NAMES.iter().find(|(known, _)| *known == name).map(|(_, package)| *package);
        let Some(package) = package else { continue };
        let joined = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !joined && found.iter().all(|(known, _)| *known != package) {
            found.push((package, version.as_str().trim_end_matches('.').to_owned()));
        }
    }
    found
}

/// A version without a name: all packages in the tables with exactly this version.
fn read_bare(text: &str) -> Vec<Sheet> {
    let version = text.trim_start_matches(['v', 'V']);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    if !is_version {
        return of_inner(text).into_iter().collect();
    }
    let parts = version.split('.').count();
    if parts < 3 && !version.to_ascii_lowercase().contains("rc") {
        return Vec::new();
    }
    let all = [
        Package::Cann,
        Package::Driver,
        Package::Torch,
        Package::TorchNpu,
        Package::VllmAscend,
        Package::MindSpore,
    ];
    all.into_iter().filter_map(|package| of(package, version)).collect()
}

/// Whether versions fit together; `None` if no table has any of them.
pub(super) fn together(versions: &[(Package, String)]) -> Option<Sheet> {
    let names = versions.iter().map(|(package, version)| format!("{} {version}", package.label()));
    pair::read(&names.collect::<Vec<_>>().join(" "), versions)
}

/// The sheet of a package by its name in an index, a tag or a list.
pub(super) fn of_package(name: &str, version: &str) -> Option<Sheet> {
    let name = name.to_ascii_lowercase();
    let (_, package) = NAMES.iter().find(|(known, _)| *known == name)?;
    of(*package, version)
}

fn of(package: Package, version: &str) -> Option<Sheet> {
    match package {
        Package::TorchNpu => torch_npu(version),
        Package::VllmAscend => vllm_ascend(version),
        Package::TritonAscend => triton_ascend(version),
        Package::Torch => torch(version),
        Package::Vllm => vllm(version),
        Package::MindSpore => mindspore(version),
        Package::Cann => cann(version),
        Package::Driver => driver(version),
        Package::Python => None,
    }
}

fn few(items: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    let more = all.len().saturating_sub(FEW);
    all.truncate(FEW);
    if more > 0 {
        all.push("…".to_owned());
    }
    all.join(", ")
}

fn torch_npu(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let found = resolve_version(asked, matrix.torch_npu_versions()).ok()?;
    let row = matrix.torch_npu(&found.version)?;
    let mut sheet = Sheet::new(SheetKind::Release, format!("torch_npu {}", found.version));
    sheet.package("torch", row.torch.to_string());
    let accepted = matrix.accepted_cann(row);
    match &row.cann {
        Some(cann) => {
            sheet.package("CANN", cann.to_string());
            sheet.fact(ui::SHEET_ACCEPTED_CANN, few(accepted));
        }
        None => sheet.package("CANN", few(accepted)),
    }
    sheet.fact(ui::SHEET_PYTHON, row.pythons().join(", "));
    sheet.fact(ui::SHEET_ARCH, few(row.wheels.keys().cloned()));
    sheet.fact(ui::SHEET_GLIBC, few(row.glibc.values().map(ToString::to_string)));
    sheet.package(
        "triton-ascend",
        row.triton_ascend.as_ref().map(ToString::to_string).unwrap_or_default(),
    );
    let pinned = matrix.vllm_ascend.iter();
    let pinned = pinned.filter(|plugin| plugin.torch_npu.iter().any(|pin| pin.0 == row.version.0));
    sheet.package("vllm-ascend", few(pinned.map(|plugin| plugin.version.to_string())));
    let index = PackageIndex::builtin();
    let version = row.version.to_string();
    if index.published("torch-npu", &version).is_none() {
        let siblings =
            matrix.torch_npu_for(&row.torch).into_iter().map(|row| row.version.to_string());
        let there = few(siblings.filter(|version| index.published("torch-npu", version).is_some()));
        sheet.push("index", ui::SHEET_INDEX.text(), ui::SheetNotInIndex { there }.text());
    }
    sheet.commands = vec![format!("ascend-doctor compat --torch-npu {}", row.version)];
    sheet.source(&row.source);
    Some(sheet)
}

fn torch(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let found = resolve_version(asked.split('+').next()?, matrix.torch_versions()).ok()?;
    // `2.9` is the release line of 2.9.0 and 2.9.1.
    let line: Vec<u64> = asked.split('.').filter_map(|part| part.parse().ok()).collect();
    let is_asked = |row: &&data::matrix::TorchNpu| match line.len() {
        2 => row.torch.release().starts_with(&line),
        _ => row.torch.0 == found.version,
    };
    let rows: Vec<_> = matrix.torch_npu.iter().filter(is_asked).collect();
    let first = rows.first()?;
    let name = if line.len() == 2 { asked.to_owned() } else { found.version.to_string() };
    let mut sheet = Sheet::new(SheetKind::Release, format!("torch {name}"));
    let with_cann = |row: &&data::matrix::TorchNpu| match &row.cann {
        Some(cann) => format!("{} (CANN {cann})", row.version),
        None => row.version.to_string(),
    };
    sheet.package("torch_npu", few(rows.iter().map(with_cann)));
    sheet.fact(ui::SHEET_PYTHON, first.pythons().join(", "));
    let plugins = matrix.vllm_ascend.iter();
    let plugins = plugins
        .filter(|plugin| plugin.torch.as_ref().is_some_and(|torch| torch.0 == found.version));
    sheet.package("vllm-ascend", few(plugins.map(|plugin| plugin.version.to_string())));
    sheet.commands = vec![format!("ascend-doctor compat --torch {}", found.version)];
    for row in rows.iter().take(FEW) {
        sheet.source(&row.source);
    }
    Some(sheet)
}

fn cann(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let found = resolve_cann(asked, matrix.cann_versions()).ok()?;
    let version = found.version;
    let mut sheet = Sheet::new(SheetKind::Release, format!("CANN {version}"));
    let made_for =
        |row: &&data::matrix::TorchNpu| row.cann.as_ref().is_some_and(|cann| cann.0 == version);
    let own: Vec<&data::matrix::TorchNpu> = matrix.torch_npu.iter().filter(made_for).collect();
    sheet.package("torch_npu", few(own.iter().map(|row| row.version.to_string())));
    let others = matrix.torch_npu.iter().filter(|row| !made_for(row));
    let others = others.filter(|row| {
        matches!(matrix.torch_npu_with_cann(&row.version, &version), Support::Compatible { .. })
    });
    sheet.fact(ui::SHEET_ALSO_TORCH_NPU, few(others.map(|row| row.version.to_string())));
    let pairs: Vec<_> = matrix.pairs.iter().filter(|pair| pair.cann.0 == version).collect();
    sheet.fact(ui::SHEET_DRIVER, few(pairs.iter().map(|pair| pair.hdk.to_string())));
    let plugins = matrix.vllm_ascend.iter().filter(|row| row.cann.0 == version);
    sheet.package("vllm-ascend", few(plugins.map(|row| row.version.to_string())));
    let mindspore = matrix.mindspore.iter();
    let mindspore = mindspore.filter(|row| row.cann.as_ref().is_some_and(|cann| cann.0 == version));
    sheet.package("MindSpore", few(mindspore.map(|row| row.version.clone())));
    if let Some(row) = matrix.cann(&version) {
        sheet.fact(ui::SHEET_IMAGE_CHIPS, row.chips.join(", "));
        sheet.fact(ui::SHEET_IMAGE_PYTHON, row.image_python.join(", "));
        sheet.source(&row.source);
    }
    sheet.commands = vec![format!("ascend-doctor compat --cann {version}")];
    for row in &own {
        sheet.source(&row.source);
    }
    for pair in pairs.iter().take(2) {
        sheet.source(&pair.source);
    }
    (!sheet.facts.is_empty()).then_some(sheet)
}

/// A driver by its version (`25.2.0`).
fn driver(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let version: DottedVersion = asked.trim().parse().ok()?;
    let pairs: Vec<_> = matrix.pairs.iter().filter(|pair| pair.hdk.0 == version).collect();
    let row = matrix.drivers.iter().find(|row| row.version.0 == version);
    if pairs.is_empty() && row.is_none() {
        return None;
    }
    let mut sheet = Sheet::new(SheetKind::Release, format!("driver {version}"));
    sheet.package("CANN", few(pairs.iter().map(|pair| pair.cann.to_string())));
    let firmware = pairs.iter().filter_map(|pair| pair.firmware.clone());
    sheet.fact(ui::SHEET_FIRMWARE, few(firmware));
    if let Some(row) = row {
        let inner = row.innerversion.as_ref().map(ToString::to_string);
        sheet.fact(ui::SHEET_INNER, inner.unwrap_or_default());
        sheet.fact(ui::SHEET_ACCEPTS, row.compatible.clone().unwrap_or_default());
        sheet.source(&row.source);
    }
    sheet.commands = vec![format!("ascend-doctor compat --driver {version}")];
    for pair in pairs.iter().take(2) {
        sheet.source(&pair.source);
    }
    Some(sheet)
}

fn of_inner(text: &str) -> Option<Sheet> {
    let inner: InnerVersion = text.parse().ok()?;
    let matrix = Matrix::builtin();
    let same = |own: &Option<data::matrix::Parsed<InnerVersion>>| {
        own.as_ref().is_some_and(|own| own.0 == inner)
    };
    if let Some(row) = matrix.drivers.iter().find(|row| same(&row.innerversion)) {
        return driver(&row.version.to_string());
    }
    if let Some(row) = matrix.cann.iter().find(|row| same(&row.innerversion)) {
        return cann(&row.version.to_string());
    }
    // Builds of one release line differ only in their last digits.
    let near = matrix
        .drivers
        .iter()
        .filter(|row| row.innerversion.as_ref().is_some_and(|own| own.0.same_line(&inner)));
    let near: Vec<String> = near.map(|row| row.version.to_string()).collect();
    let mut sheet = Sheet::new(SheetKind::Release, inner.to_string());
    sheet.fact(ui::SHEET_LINE_OF, near.join(", "));
    sheet.source("driver/version.info: Innerversion");
    (!near.is_empty()).then_some(sheet)
}

fn vllm_ascend(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let found = resolve_version(asked, matrix.vllm_ascend_versions()).ok()?;
    let row = matrix.vllm_ascend(&found.version)?;
    let mut sheet = Sheet::new(SheetKind::Release, format!("vllm-ascend {}", found.version));
    sheet.package("vLLM", few(row.vllm.iter().map(ToString::to_string)));
    sheet.package("torch", row.torch.as_ref().map(ToString::to_string).unwrap_or_default());
    sheet.package("torch_npu", few(row.torch_npu.iter().map(ToString::to_string)));
    sheet.package("CANN", row.cann.to_string());
    sheet.package("triton-ascend", few(row.triton_ascend.iter().map(ToString::to_string)));
    sheet.fact(ui::SHEET_PYTHON, row.python.0.to_string());
    sheet.commands = vec![format!("ascend-doctor compat --vllm-ascend {}", found.version)];
    sheet.source(&row.source);
    Some(sheet)
}

fn vllm(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let known = matrix.vllm_ascend.iter().flat_map(|row| row.vllm.iter().map(|v| v.0.clone()));
    let found = resolve_version(asked, known).ok()?;
    let rows: Vec<_> = matrix
        .vllm_ascend
        .iter()
        .filter(|row| row.vllm.iter().any(|version| version.0 == found.version))
        .collect();
    let first = rows.first()?;
    let mut sheet = Sheet::new(SheetKind::Release, format!("vLLM {}", found.version));
    sheet.package("vllm-ascend", few(rows.iter().map(|row| row.version.to_string())));
    sheet.package("torch_npu", few(first.torch_npu.iter().map(ToString::to_string)));
    sheet.package("CANN", first.cann.to_string());
    sheet.commands = vec![format!("ascend-doctor compat --vllm-ascend {}", first.version)];
    sheet.source(&first.source);
    Some(sheet)
}

fn triton_ascend(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let version: Version = asked.parse().ok()?;
    let mut sheet = Sheet::new(SheetKind::Release, format!("triton-ascend {version}"));
    let own = matrix.torch_npu.iter();
    let own: Vec<_> =
        own.filter(|row| row.triton_ascend.as_ref().is_some_and(|own| own.0 == version)).collect();
    sheet.package("torch_npu", few(own.iter().map(|row| row.version.to_string())));
    let plugins = matrix.vllm_ascend.iter();
    let plugins: Vec<_> =
        plugins.filter(|row| row.triton_ascend.iter().any(|own| own.0 == version)).collect();
    sheet.package("vllm-ascend", few(plugins.iter().map(|row| row.version.to_string())));
    if let Some(published) = PackageIndex::builtin().published("triton-ascend", asked) {
        sheet.fact(ui::SHEET_PYTHON, published.pythons.join(", "));
        sheet.fact(ui::SHEET_ARCH, published.archs.join(", "));
        sheet.source("package index: triton-ascend");
    }
    for row in &own {
        sheet.source(&row.source);
    }
    for row in &plugins {
        sheet.source(&row.source);
    }
    (!sheet.facts.is_empty()).then_some(sheet)
}

fn mindspore(asked: &str) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let row = matrix.mindspore(asked)?;
    let mut sheet = Sheet::new(SheetKind::Release, format!("MindSpore {}", row.version));
    sheet.package("CANN", row.cann.as_ref().map(ToString::to_string).unwrap_or_default());
    let python = if row.python.is_empty() {
        row.python_documented.clone().unwrap_or_default()
    } else {
        row.python.join(", ")
    };
    sheet.fact(ui::SHEET_PYTHON, python);
    sheet.package("numpy", row.numpy.as_ref().map(|numpy| numpy.0.to_string()).unwrap_or_default());
    sheet.commands = vec![format!("ascend-doctor compat --mindspore {}", row.version)];
    sheet.source(&row.source);
    Some(sheet)
}
