//! Whether versions that are named together are compatible.

use base::text::{Lang, Text};
use base::version::{CannVersion, DottedVersion};
use data::matrix::{CannSide, DriverSide, DriverSupport, Support, VllmAscend, resolve_version};
use data::{Matrix, ui};
use pep440_rs::Version;

use super::{Package, of};
use crate::sheet::{Fit, Sheet, SheetKind};

/// The results for all pairs.
#[derive(Debug, Default)]
struct Judgements {
    worst: Option<Fit>,
    said: Vec<Text>,
    sources: Vec<String>,
}

impl Judgements {
    fn add(&mut self, fit: Fit, words: Text, source: &str) {
        self.worst = Some(match (self.worst, fit) {
            (Some(Fit::Conflict), _) | (_, Fit::Conflict) => Fit::Conflict,
            (Some(Fit::Unknown), _) | (_, Fit::Unknown) => Fit::Unknown,
            _ => Fit::Fits,
        });
        self.said.push(words);
        self.sources.push(source.to_owned());
    }

    fn statement(&self) -> Text {
        let join = |by: &str, lang: Lang| {
            self.said.iter().map(|text| text.get(lang)).collect::<Vec<_>>().join(by)
        };
        Text::new(join(". ", Lang::En), join("。", Lang::Zh))
    }
}

/// The versions that a text names, by package.
struct Named<'a>(&'a [(Package, String)]);

impl Named<'_> {
    fn get(&self, wanted: Package) -> Option<&str> {
        let found = self.0.iter().find(|(package, _)| *package == wanted);
        found.map(|(_, version)| version.as_str())
    }

    fn parse<V: std::str::FromStr>(&self, wanted: Package) -> Option<V> {
        self.get(wanted)?.parse().ok()
    }
}

/// The sheet of versions of several packages.
pub(super) fn read(text: &str, versions: &[(Package, String)]) -> Option<Sheet> {
    let matrix = Matrix::builtin();
    let named = Named(versions);
    let mut found = Judgements::default();
    let mut sheet = Sheet::new(SheetKind::Release, text.to_owned());
    if let (Some(npu), Some(cann)) = (named.parse(Package::TorchNpu), named.parse(Package::Cann)) {
        torch_npu_with_cann(matrix, &npu, &cann, &mut found);
    }
    if let (Some(npu), Some(torch)) = (named.parse(Package::TorchNpu), named.parse(Package::Torch))
    {
        torch_npu_with_torch(matrix, &npu, &torch, &mut found);
    }
    // torch_npu connects torch and CANN, so it decides if it is named.
    if let (Some(torch), Some(cann), None) =
        (named.parse(Package::Torch), named.parse(Package::Cann), named.get(Package::TorchNpu))
    {
        torch_with_cann(matrix, &torch, &cann, &mut found);
    }
    if let (Some(driver), Some(cann)) = (named.parse(Package::Driver), named.parse(Package::Cann)) {
        driver_with_cann(matrix, &driver, &cann, &mut found);
    }
    if let (Some(npu), Some(python)) = (named.parse(Package::TorchNpu), named.get(Package::Python))
    {
        torch_npu_with_python(matrix, &npu, python, &mut found);
    }
    if let (Some(torch), Some(python), None) =
        (named.parse(Package::Torch), named.get(Package::Python), named.get(Package::TorchNpu))
    {
        torch_with_python(matrix, &torch, python, &mut found);
    }
    vllm_ascend(matrix, &named, &mut found);
    // No table contains pairs of other packages: each package is described separately.
    if found.said.is_empty() {
        for (package, version) in versions {
            if let Some(one) = of(*package, version) {
                sheet.facts.extend(one.facts);
                for source in &one.sources {
                    sheet.source(source);
                }
            }
        }
        if sheet.facts.is_empty() {
            return None;
        }
        found.add(Fit::Unknown, ui::SHEET_PAIR_NO_TABLE.text(), "");
    }
    sheet.judge(found.worst.unwrap_or(Fit::Unknown), found.statement());
    for source in &found.sources {
        sheet.source(source);
    }
    let options = [
        (Package::Torch, "--torch"),
        (Package::TorchNpu, "--torch-npu"),
        (Package::Cann, "--cann"),
        (Package::VllmAscend, "--vllm-ascend"),
    ];
    let options = options
        .into_iter()
        .filter_map(|(package, option)| Some(format!("{option} {}", named.get(package)?)));
    let options: Vec<String> = options.collect();
    if !options.is_empty() {
        sheet.commands.push(format!("ascend-doctor compat {}", options.join(" ")));
    }
    Some(sheet)
}

fn torch_npu_with_cann(matrix: &Matrix, npu: &Version, cann: &CannVersion, found: &mut Judgements) {
    let (package, other) = (format!("torch_npu {npu}"), format!("CANN {cann}"));
    match matrix.torch_npu_with_cann(npu, cann) {
        Support::Recommended { source } => {
            found.add(Fit::Fits, ui::SheetPairRecommended { package, other }.text(), &source);
        }
        Support::Compatible { source, .. } => {
            found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), &source);
        }
        Support::Unsupported { accepted, source, .. } => {
            let accepted = format!("CANN {}", accepted.join(", "));
            let words = ui::SheetPairConflict { package, other, accepted }.text();
            found.add(Fit::Conflict, words, &source);
        }
        Support::NewerThanTable(_) | Support::Unlisted => {
            found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other }.text(), "");
        }
    }
}

fn torch_npu_with_torch(matrix: &Matrix, npu: &Version, torch: &Version, found: &mut Judgements) {
    let (package, other) = (format!("torch_npu {npu}"), format!("torch {torch}"));
    match matrix.torch_npu(npu) {
        Some(row) if row.torch.0 == torch.only_release() => {
            found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), &row.source);
        }
        Some(row) => {
            let accepted = format!("torch {}", row.torch);
            let words = ui::SheetPairConflict { package, other, accepted }.text();
            found.add(Fit::Conflict, words, &row.source);
        }
        None => found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other }.text(), ""),
    }
}

/// The Python versions that the documents or the wheels of a release have.
fn torch_npu_with_python(matrix: &Matrix, npu: &Version, python: &str, found: &mut Judgements) {
    let minor = minor_of(python);
    let (package, other) = (format!("torch_npu {npu}"), format!("Python {minor}"));
    let row = matrix.torch_npu(npu);
    let mut known: Vec<String> =
        row.map(|row| row.pythons().into_iter().map(str::to_owned).collect()).unwrap_or_default();
    for documented in row.iter().flat_map(|row| &row.python_documented) {
        if !known.contains(documented) {
            known.push(documented.clone());
        }
    }
    match row {
        Some(row) if known.contains(&minor) => {
            found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), &row.source);
        }
        Some(row) if !known.is_empty() => {
            let accepted = format!("Python {}", known.join(", "));
            let words = ui::SheetPairConflict { package, other, accepted }.text();
            found.add(Fit::Conflict, words, &row.source);
        }
        _ => found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other }.text(), ""),
    }
}

/// The Python versions of all torch_npu releases for a torch.
fn torch_with_python(matrix: &Matrix, torch: &Version, python: &str, found: &mut Judgements) {
    let minor = minor_of(python);
    let (package, other) = (format!("torch {torch}"), format!("Python {minor}"));
    let rows = matrix.torch_npu_for(torch);
    let mut known: Vec<&str> = Vec::new();
    for row in &rows {
        let documented = row.python_documented.iter().map(String::as_str);
        for version in row.pythons().into_iter().chain(documented) {
            if !known.contains(&version) {
                known.push(version);
            }
        }
    }
    let source = rows.first().map_or("", |row| row.source.as_str());
    if known.contains(&minor.as_str()) {
        found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), source);
    } else if known.is_empty() {
        found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other }.text(), "");
    } else {
        let accepted = format!("Python {}", known.join(", "));
        let words = ui::SheetPairConflict { package, other, accepted }.text();
        found.add(Fit::Conflict, words, source);
    }
}

/// `3.11` of `3.11.9`.
fn minor_of(python: &str) -> String {
    python.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn torch_with_cann(matrix: &Matrix, torch: &Version, cann: &CannVersion, found: &mut Judgements) {
    let (package, other) = (format!("torch {torch}"), format!("CANN {cann}"));
    let rows = matrix.torch_npu_for(torch);
    let fits = rows.iter().find_map(|row| match matrix.torch_npu_with_cann(&row.version, cann) {
        Support::Recommended { source } | Support::Compatible { source, .. } => {
            Some((row.version.to_string(), source))
        }
        _ => None,
    });
    if let Some((through, source)) = fits {
        let words = ui::SheetPairThrough { package, other, through }.text();
        found.add(Fit::Fits, words, &source);
        return;
    }
    let refused =
        rows.iter().filter_map(|row| match matrix.torch_npu_with_cann(&row.version, cann) {
            Support::Unsupported { accepted, source, .. } => Some((accepted, source)),
            _ => None,
        });
    let refused: Vec<_> = refused.collect();
    // One row without a statement leaves the pair open.
    if refused.is_empty() || refused.len() < rows.len() {
        found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other }.text(), "");
        return;
    }
    let mut accepted: Vec<String> = Vec::new();
    for version in refused.iter().flat_map(|(accepted, _)| accepted) {
        if !accepted.contains(version) {
            accepted.push(version.clone());
        }
    }
    let accepted = format!("CANN {}", accepted.join(", "));
    let words = ui::SheetPairConflict { package, other, accepted }.text();
    found.add(Fit::Conflict, words, refused.first().map_or("", |(_, source)| source));
}

fn driver_with_cann(
    matrix: &Matrix,
    driver: &DottedVersion,
    cann: &CannVersion,
    found: &mut Judgements,
) {
    let (package, other) = (format!("driver {driver}"), format!("CANN {cann}"));
    let side = DriverSide { version: Some(driver), ..DriverSide::default() };
    let with = CannSide { version: Some(cann), ..CannSide::default() };
    match matrix.driver_with_cann(side, with) {
        DriverSupport::Paired { source } => {
            found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), &source);
        }
        DriverSupport::Listed { .. } | DriverSupport::Within => {
            found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), "");
        }
        DriverSupport::TooOld { expected, .. } => {
            let accepted = format!("driver {}", expected.join(", "));
            let words = ui::SheetPairConflict { package: other, other: package, accepted }.text();
            found.add(Fit::Conflict, words, "");
        }
        _ => found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other }.text(), ""),
    }
}

/// Checks a vllm-ascend release with each package in its row.
fn vllm_ascend(matrix: &Matrix, named: &Named<'_>, found: &mut Judgements) {
    let Some(asked) = named.get(Package::VllmAscend) else { return };
    let resolved = resolve_version(asked, matrix.vllm_ascend_versions()).ok();
    let row = resolved.and_then(|resolved| matrix.vllm_ascend(&resolved.version));
    for (wanted, name) in [
        (Package::Vllm, "vLLM"),
        (Package::Torch, "torch"),
        (Package::TorchNpu, "torch_npu"),
        (Package::Cann, "CANN"),
    ] {
        let Some(other) = named.get(wanted) else { continue };
        let accepted = row.map(|row| pins(row, wanted)).unwrap_or_default();
        let source = row.map_or("", |row| row.source.as_str());
        let (package, shown) = (format!("vllm-ascend {asked}"), format!("{name} {other}"));
        if accepted.iter().any(|known| known.eq_ignore_ascii_case(other)) {
            found.add(Fit::Fits, ui::SheetPairFits { package, other: shown }.text(), source);
        } else if accepted.is_empty() || wanted == Package::Cann {
            // The row only contains the CANN version of the images. Others may work.
            found.add(Fit::Unknown, ui::SheetPairUnlisted { package, other: shown }.text(), source);
        } else {
            let accepted = format!("{name} {}", accepted.join(", "));
            let words = ui::SheetPairConflict { package, other: shown, accepted }.text();
            found.add(Fit::Conflict, words, source);
        }
    }
    if let (Some(row), Some(python)) = (row, named.get(Package::Python))
        && let Ok(version) = minor_of(python).parse::<Version>()
    {
        let (package, other) = (format!("vllm-ascend {asked}"), format!("Python {version}"));
        if row.python.0.contains(&version) {
            found.add(Fit::Fits, ui::SheetPairFits { package, other }.text(), &row.source);
        } else {
            let accepted = format!("Python {}", row.python.0);
            let words = ui::SheetPairConflict { package, other, accepted }.text();
            found.add(Fit::Conflict, words, &row.source);
        }
    }
}

fn pins(row: &VllmAscend, wanted: Package) -> Vec<String> {
    match wanted {
        Package::Vllm => row.vllm.iter().map(ToString::to_string).collect(),
        Package::Torch => row.torch.iter().map(ToString::to_string).collect(),
        Package::TorchNpu => row.torch_npu.iter().map(ToString::to_string).collect(),
        Package::Cann => vec![row.cann.to_string()],
        _ => Vec::new(),
    }
}
