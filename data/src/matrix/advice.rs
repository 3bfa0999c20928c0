//! Selects the versions to install.

use pep440_rs::Version;
use serde::Serialize;

use super::VllmAscend;
use super::install::{cann_packages, environment, uses_atb};
use super::rows::minor;
use super::{
    Basis, CannSide, DriverSide, DriverSupport, Level, Machine, Matrix, RequestedVersions, Support,
    TorchNpu,
};
use crate::{InstallStep, OfficialPair, PackageIndex, ui};
use base::text::Text;
use base::version::CannVersion;

/// Returns the rank of a pair; higher ranks are preferred.
fn rank_support(support: &Support) -> Option<u8> {
    match support {
        Support::Recommended { .. } => Some(3),
        Support::Compatible { basis: Basis::Release, .. } => Some(2),
        Support::Compatible { .. } => Some(1),
        _ => None,
    }
}

/// Returns whether there is a wheel, of a final or recommended version, for this machine. Unknown
/// properties of the machine do not exclude a version.
fn is_published(row: &TorchNpu, arch: Option<&str>, python: Option<&str>) -> bool {
    // A candidate in the vendor's table of recommendations is intended for installation.
    let released = !row.version.any_prerelease() || row.level == Level::Recommended;
    !row.wheels.is_empty() && row.runs_on(arch, python) && released
}

impl Matrix {
    /// Returns whether the pair is recommended or known to be compatible.
    pub fn accepts(&self, version: &Version, cann: &CannVersion) -> bool {
        rank_support(&self.torch_npu_with_cann(version, cann)).is_some()
    }

    /// Returns the torch_npu versions for `torch` that a user can install, newest first: final ones
    /// of a known release, with a wheel for this machine. Unknown properties of the machine do not
    /// exclude a version.
    pub fn installable(
        &self,
        torch: &Version,
        arch: Option<&str>,
        python: Option<&str>,
    ) -> impl Iterator<Item = &TorchNpu> {
        self.torch_npu_for(torch).into_iter().filter(move |row| {
            let placed = row.cann.is_some() && row.level != Level::Prerelease;
            is_published(row, arch, python) && placed
        })
    }

    /// Returns the torch_npu version to install for `torch` on this CANN: the recommended one, or
    /// else the newest that accepts it.
    pub fn best_torch_npu(
        &self,
        torch: &Version,
        cann: &CannVersion,
        arch: Option<&str>,
        python: Option<&str>,
    ) -> Option<&TorchNpu> {
        self.best_of(self.installable(torch, arch, python), cann).map(|(_, row)| row)
    }

    /// Returns the best of these versions on this CANN; the first of several.
    fn best_of<'a>(
        &self,
        rows: impl Iterator<Item = &'a TorchNpu>,
        cann: &CannVersion,
    ) -> Option<(u8, &'a TorchNpu)> {
        let mut best: Option<(u8, &TorchNpu)> = None;
        for row in rows {
            let Some(rank) = rank_support(&self.torch_npu_with_cann(&row.version, cann)) else {
                continue;
            };
            if best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, row));
            }
        }
        best
    }

    /// Returns versions that the vendor's table recommends, but that are on no package index.
    fn unpublished(
        &self,
        torch: &Version,
        arch: Option<&str>,
        python: Option<&str>,
    ) -> impl Iterator<Item = &TorchNpu> {
        self.torch_npu_for(torch).into_iter().filter(move |row| {
            row.wheels.is_empty() && row.level == Level::Recommended && row.runs_on(arch, python)
        })
    }
}

/// A set of compatible versions, and the commands to install them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// torch.
    pub torch: String,
    /// torch_npu.
    pub torch_npu: String,
    /// CANN.
    pub cann: String,
    /// Whether that CANN is installed.
    pub cann_installed: bool,
    /// `recommended` or `compatible`.
    pub level: &'static str,
    /// Commands, in order.
    pub commands: Vec<String>,
    /// The commands with the components that they install.
    #[serde(skip)]
    pub steps: Vec<InstallStep>,
    /// The reasons for these versions.
    pub reasons: Vec<Text>,
    /// The sources of the versions.
    pub sources: Vec<String>,
    /// Requirements that the default package index cannot satisfy, with the official options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub index: Vec<OfficialPair>,
}

/// The reason why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoAdvice {
    /// The reason in words.
    pub reason: Text,
    /// The nearest alternatives.
    pub nearest: Vec<String>,
}

impl NoAdvice {
    pub(super) fn new(reason: Text, nearest: Vec<String>) -> Self {
        Self { reason, nearest }
    }
}

/// A choice of versions before the advice is written.
struct Choice<'a> {
    npu: &'a TorchNpu,
    cann: CannVersion,
    support: Support,
    driver: Option<DriverSupport>,
}

impl Matrix {
    /// Returns the versions to install for `wish` on `machine`.
    pub fn advise(&self, wish: &RequestedVersions, machine: &Machine) -> Result<Advice, NoAdvice> {
        let plugin = match &wish.vllm_ascend {
            Some(version) => Some(self.vllm_ascend(version).ok_or_else(|| {
                let known = self.vllm_ascend.iter().map(|row| row.version.to_string());
                let reason = ui::CompatUnknownVllmAscend { version }.text();
                NoAdvice::new(reason, list_versions(&version.to_string(), known))
            })?),
            None => None,
        };
        if let Some(plugin) = plugin {
            plugin_runs_on(plugin, machine)?;
        }
        let wanted_npu = wish.torch_npu.as_ref().or(plugin.and_then(|row| row.torch_npu.first()));
        let wanted_cann = wish.cann.as_ref().map(|cann| cann.0).or(plugin.map(|row| row.cann.0));
        let choice = match wanted_npu {
            Some(version) => self.choose_cann(version, wanted_cann, machine)?,
            None => self.choose(wish.torch.as_ref().map(|v| &v.0), wanted_cann, machine)?,
        };
        Ok(self.write_out(&choice, plugin, machine))
    }

    /// Returns the text that the driver supports the CANN, or that no driver was found. `None` if
    /// [`Self::driver_gap`] returns a problem.
    pub(super) fn driver_reason(&self, machine: &Machine, cann: &CannVersion) -> Option<Text> {
        if self.driver_verdict(machine, cann).is_none() {
            return Some(ui::CompatNoDriver { cann }.text());
        }
        let driver = shown_driver(machine);
        let fits = self.driver_gap(machine, cann).is_none();
        fits.then(|| ui::CompatDriverFits { cann, driver }.text())
    }

    /// Returns why there is no evidence that the machine's driver supports the CANN, if a driver is
    /// known.
    pub fn driver_gap(&self, machine: &Machine, cann: &CannVersion) -> Option<Text> {
        let driver = shown_driver(machine);
        match self.driver_verdict(machine, cann)? {
            DriverSupport::TooOld { expected, .. } | DriverSupport::Unverified { expected } => {
                let expected = expected.join(", ");
                Some(ui::CompatDriverUnsure { cann, driver, expected }.text())
            }
            DriverSupport::Unknown | DriverSupport::NewerCann => {
                Some(ui::CompatDriverUnknown { cann, driver }.text())
            }
            _ => None,
        }
    }

    fn driver_verdict(&self, machine: &Machine, cann: &CannVersion) -> Option<DriverSupport> {
        if machine.driver.is_none() && machine.driver_inner.is_none() {
            return None;
        }
        let driver = DriverSide {
            version: machine.driver.as_deref(),
            inner: machine.driver_inner.as_deref(),
            accepts: machine.driver_accepts.as_deref(),
        };
        let cann = CannSide { version: Some(cann), ..CannSide::default() };
        Some(self.driver_with_cann(driver, cann))
    }

    /// Selects the CANN for a requested torch_npu: the requested one, or else the installed one if
    /// compatible, or else the recommended one.
    fn choose_cann(
        &self,
        version: &Version,
        wanted: Option<CannVersion>,
        machine: &Machine,
    ) -> Result<Choice<'_>, NoAdvice> {
        let known = || self.torch_npu.iter().map(|row| row.version.to_string());
        let npu = self.torch_npu(version).ok_or_else(|| {
            let reason = ui::CompatUnknownTorchNpu { version }.text();
            NoAdvice::new(reason, list_versions(&version.to_string(), known()))
        })?;
        let (arch, python) = (machine.arch.as_deref(), machine.python.as_deref());
        if !npu.runs_on(arch, python) {
            let reason = ui::CompatNoBuild { version: &npu.version, wanted: shown(machine) };
            return Err(NoAdvice::new(reason.text(), list_builds([npu], arch)));
        }
        let installed = machine.cann.as_ref().map(|cann| cann.0);
        let candidates = match wanted {
            Some(cann) => vec![cann],
            None => installed.into_iter().chain(npu.cann.as_ref().map(|cann| cann.0)).collect(),
        };
        for cann in candidates {
            let support = self.torch_npu_with_cann(&npu.version, &cann);
            if rank_support(&support).is_some() {
                let driver = self.driver_verdict(machine, &cann);
                return Ok(Choice { npu, cann, support, driver });
            }
        }
        let version = &npu.version;
        let reason = match wanted {
            Some(cann) => ui::CompatNoPair { cann, version }.text(),
            None => ui::CompatNoCann { version }.text(),
        };
        Err(NoAdvice::new(reason, self.accepted_cann(npu)))
    }

    /// Selects torch_npu and CANN for a torch (or for any): on the requested or installed CANN, or
    /// else on the newest that the driver supports.
    fn choose(
        &self,
        torch: Option<&Version>,
        wanted: Option<CannVersion>,
        machine: &Machine,
    ) -> Result<Choice<'_>, NoAdvice> {
        let mut known: Vec<&Version> = self.torch_npu.iter().map(|row| &row.torch.0).collect();
        known.sort_unstable_by(|a, b| b.cmp(a));
        known.dedup();
        let torches: Vec<Version> = match torch {
            Some(torch) => {
                let torch = torch.only_release();
                if !known.contains(&&torch) {
                    let version = torch.to_string();
                    let names = known.iter().map(ToString::to_string);
                    let near = list_versions(&version, names);
                    let newer = known.first().is_none_or(|newest| torch > **newest);
                    let reason = if newer {
                        ui::CompatNewerTorch { version }.text()
                    } else {
                        ui::CompatUnknownTorch { version }.text()
                    };
                    return Err(NoAdvice::new(reason, near));
                }
                vec![torch]
            }
            None => known.into_iter().cloned().collect(),
        };
        let (arch, python) = (machine.arch.as_deref(), machine.python.as_deref());
        let choice = |npu, cann: CannVersion| Choice {
            npu,
            cann,
            support: self.torch_npu_with_cann(&npu.version, &cann),
            driver: self.driver_verdict(machine, &cann),
        };
        if let Some(cann) = wanted.or(machine.cann.as_ref().map(|cann| cann.0)) {
            // A recommended version precedes a newer one that also accepts this CANN.
            let published = torches.iter().flat_map(|torch| self.installable(torch, arch, python));
            let placed = torches.iter().flat_map(|torch| self.unpublished(torch, arch, python));
            let best = self.best_of(published, &cann).or_else(|| self.best_of(placed, &cann));
            if let Some((_, npu)) = best {
                return Ok(choice(npu, cann));
            }
            if wanted.is_some() {
                let version = torch.map_or_else(|| "*".to_owned(), ToString::to_string);
                let reason = ui::CompatNoTorchNpu { cann, version }.text();
                let near = torches.iter().flat_map(|torch| self.installable(torch, arch, python));
                let near = near.filter_map(|row| row.cann.as_ref()).map(ToString::to_string);
                return Err(NoAdvice::new(reason, remove_duplicates(near)));
            }
        }
        let serves = |driver: &Option<DriverSupport>| {
            !matches!(driver, Some(DriverSupport::TooOld { .. } | DriverSupport::Unverified { .. }))
        };
        let placed = |torch| {
            let rows = self.installable(torch, arch, python);
            let rows = rows.filter_map(|npu| Some(choice(npu, npu.cann.as_ref()?.0)));
            let mut rows: Vec<Choice<'_>> = rows.collect();
            // A recommended version precedes a newer one that is in no table.
            rows.sort_by_key(|choice| std::cmp::Reverse(rank_support(&choice.support)));
            rows
        };
        let candidates: Vec<Choice<'_>> = torches.iter().flat_map(placed).collect();
        let at = candidates.iter().position(|choice| serves(&choice.driver)).unwrap_or(0);
        candidates.into_iter().nth(at).ok_or_else(|| {
            // A wheel exists, but no document assigns a CANN to it.
            let rows = || torches.iter().flat_map(|torch| self.torch_npu_for(torch));
            if let Some(row) = rows().find(|row| is_published(row, arch, python)) {
                let reason = ui::CompatNoCann { version: &row.version }.text();
                let known = rows().filter_map(|row| row.cann.as_ref()).map(ToString::to_string);
                return NoAdvice::new(reason, remove_duplicates(known));
            }
            let version = torch.map_or_else(|| "*".to_owned(), ToString::to_string);
            let built = rows().any(|row| !row.wheels.is_empty() && !row.version.any_prerelease());
            let limited = built && (python.is_some() || arch.is_some());
            let reason = if limited {
                ui::CompatNoWheel { version, wanted: shown(machine) }.text()
            } else {
                ui::CompatNoPublished { version }.text()
            };
            NoAdvice::new(reason, list_builds(rows(), arch))
        })
    }

    fn write_out(
        &self,
        choice: &Choice<'_>,
        plugin: Option<&VllmAscend>,
        machine: &Machine,
    ) -> Advice {
        let Choice { npu, cann, support, .. } = choice;
        let installed = machine.cann.as_ref().is_some_and(|here| here.0 == *cann);
        let mut reasons = Vec::new();
        let mut sources = vec![npu.source.clone()];
        let version = &npu.version;
        let (level, reason) = match support {
            Support::Recommended { .. } => {
                ("recommended", ui::CompatRecommended { npu: version, cann }.text())
            }
            _ => ("compatible", ui::CompatCompatible { npu: version, cann }.text()),
        };
        reasons.push(reason);
        if let Support::Compatible { source, .. } = support {
            sources.push(source.clone());
        }
        let old = machine.cann.as_ref().filter(|_| !installed);
        if let Some(old) = old {
            reasons.push(ui::CompatOtherCann { here: old, cann }.text());
        }
        reasons.extend(self.driver_reason(machine, cann));
        let mut steps = Vec::new();
        if !installed {
            steps.extend(cann_packages(cann, machine, uses_atb(npu)));
        }
        steps.extend(environment(cann, machine, installed, uses_atb(npu)));
        let mut index = Vec::new();
        steps.extend(self.pip_commands(npu, cann, plugin, machine, &mut reasons, &mut index));
        if let Some(plugin) = plugin {
            sources.push(plugin.source.clone());
        }
        sources.extend(index.iter().map(|gap| gap.source.to_owned()));
        sources.dedup();
        Advice {
            torch: npu.torch.to_string(),
            torch_npu: npu.version.to_string(),
            cann: cann.to_string(),
            cann_installed: installed,
            level,
            commands: steps.iter().map(|step| step.run.clone()).collect(),
            steps,
            reasons,
            sources,
            index,
        }
    }
}

fn shown_driver(machine: &Machine) -> String {
    machine.driver.as_ref().map_or_else(String::new, ToString::to_string)
}

/// Returns Python and architecture of the machine, as far as they are known.
pub(super) fn shown(machine: &Machine) -> String {
    let python = machine.python.as_ref().map(|python| format!("Python {python}"));
    python.into_iter().chain(machine.arch.clone()).collect::<Vec<_>>().join(", ")
}

/// Returns the architectures with a wheel if this one has none, or else its Python versions.
fn list_builds<'a>(
    rows: impl IntoIterator<Item = &'a TorchNpu>,
    arch: Option<&str>,
) -> Vec<String> {
    let rows: Vec<&TorchNpu> =
        rows.into_iter().filter(|row| !row.version.any_prerelease()).collect();
    if rows.iter().all(|row| row.wheels.is_empty()) {
        let documented = rows.iter().flat_map(|row| &row.python_documented);
        return remove_duplicates(documented.map(|python| format!("Python {python}")));
    }
    let of =
        |arch: &str| rows.iter().filter_map(move |row| row.wheels.get(arch)).flatten().collect();
    let mut pythons: Vec<&String> = match arch {
        Some(arch) => of(arch),
        None => rows.iter().flat_map(|row| row.wheels.values().flatten()).collect(),
    };
    if pythons.is_empty() {
        return remove_duplicates(rows.iter().flat_map(|row| row.wheels.keys().cloned()));
    }
    pythons.sort_by_key(|python| minor(python));
    remove_duplicates(pythons.into_iter().map(|python| format!("Python {python}")))
}

/// Rejects a Python or an architecture for which a vllm-ascend with wheels has none.
fn plugin_runs_on(plugin: &VllmAscend, machine: &Machine) -> Result<(), NoAdvice> {
    let version = plugin.version.to_string();
    let Some(nearest) = lacks_build("vllm-ascend", &version, machine) else { return Ok(()) };
    let reason = ui::CompatNoPluginBuild { version, wanted: shown(machine) }.text();
    Err(NoAdvice::new(reason, nearest))
}

/// Returns the builds of a package with wheels on the default index if it has none for this
/// machine.
pub(super) fn lacks_build(package: &str, version: &str, machine: &Machine) -> Option<Vec<String>> {
    let row = PackageIndex::builtin().published(package, version)?;
    let lacks = |known: &[&str], wanted: &Option<String>| {
        let lacks = |wanted: &String| !known.is_empty() && !known.contains(&wanted.as_str());
        wanted.as_ref().is_some_and(lacks)
    };
    if lacks(&row.archs, &machine.arch) {
        Some(row.archs.iter().map(|&arch| arch.to_owned()).collect())
    } else if lacks(&row.pythons, &machine.python) {
        Some(row.pythons.iter().map(|python| format!("Python {python}")).collect())
    } else {
        None
    }
}

fn remove_duplicates(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Returns at most five known names, those with the longest common prefix with `wanted` first.
pub(super) fn list_versions(wanted: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    let shared = |name: &str| wanted.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let mut all = remove_duplicates(known);
    all.sort_by_key(|name| std::cmp::Reverse(shared(name)));
    all.truncate(5);
    all
}

#[cfg(test)]
mod tests {
    use super::super::Parsed;
    use super::*;

    fn machine(arch: &str, python: &str, cann: &str, driver: &str) -> Machine {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Machine {
            arch: some(arch),
            python: some(python),
            interpreter: "python3".to_owned(),
            driver: driver.parse().ok().map(Parsed),
            cann: cann.parse().ok().map(Parsed),
            ..Machine::default()
        }
    }

    fn torch(version: &str) -> RequestedVersions {
        RequestedVersions {
            torch: Some(Parsed(version.parse().unwrap())),
            ..RequestedVersions::default()
        }
    }

    #[test]
    fn the_installed_cann_decides() {
        let here = machine("x86_64", "3.11", "8.5.1", "25.5.0");
        let advice = Matrix::builtin().advise(&torch("2.7.1"), &here).unwrap();
        assert!(advice.cann_installed && advice.cann == "8.5.1");
        assert_eq!(advice.torch_npu, "2.7.1.post2", "recommended with 8.5.0");
        let pip: Vec<&String> =
            advice.commands.iter().filter(|command| command.contains("pip")).collect();
        assert!(pip[0].ends_with("torch==2.7.1 --index-url https://download.pytorch.org/whl/cpu"));
        assert!(pip[1].contains("torch_npu==2.7.1.post2") && pip[1].ends_with("'numpy<2'"));
    }

    #[test]
    fn the_recommended_one_goes_before_a_newer_one() {
        let here = machine("aarch64", "3.11", "8.3.RC1", "");
        let advice = Matrix::builtin().advise(&torch("2.7.1"), &here).unwrap();
        assert_eq!((advice.torch_npu.as_str(), advice.level), ("2.7.1", "recommended"));
        assert!(!advice.commands.iter().any(|command| command.contains("index-url")));
    }

    #[test]
    fn without_cann_the_driver_decides() {
        let advise = |driver| {
            let here = machine("aarch64", "3.11", "", driver);
            Matrix::builtin().advise(&torch("2.7.1"), &here).unwrap()
        };
        assert_eq!(advise("26.2.0").cann, "9.2.0");
        assert_eq!(advise("24.1.0").cann, "8.5.0", "its code C19 is on the list of 8.5.0");
        let commands = advise("26.2.0").commands;
        assert_eq!(commands[0], "bash Ascend-cann-toolkit_9.2.0_linux-aarch64.run --install");
        assert!(commands[1].contains("Ascend-cann-<chip>-ops_9.2.0"));
    }

    #[test]
    fn the_python_must_have_a_wheel() {
        let here = machine("aarch64", "3.13", "8.5.0", "");
        let advice = Matrix::builtin().advise(&torch("2.7.1"), &here).unwrap();
        assert_eq!(advice.torch_npu, "2.7.1.post11", "2.7.1.post2 has no wheel for 3.13");
        let none = Matrix::builtin().advise(&torch("2.5.1"), &here).unwrap_err();
        assert_eq!(none.nearest, ["Python 3.9", "Python 3.10", "Python 3.11"]);
    }

    #[test]
    fn what_is_unknown_names_its_neighbours() {
        let here = machine("aarch64", "3.11", "", "");
        let error = Matrix::builtin().advise(&torch("2.7"), &here).unwrap_err();
        assert_eq!(error.nearest[0], "2.7.1");
        assert!(Matrix::builtin().advise(&torch("99.0"), &here).is_err());
    }

    #[test]
    fn a_wheel_without_a_documented_cann_is_no_missing_wheel() {
        let here = machine("x86_64", "3.11", "", "");
        let error = Matrix::builtin().advise(&torch("2.9.1"), &here).unwrap_err();
        assert!(error.reason.en.contains("contains no CANN for torch_npu 2.9.1"), "{error:?}");
    }

    #[test]
    fn a_plugin_brings_its_own_stack() {
        let wish = RequestedVersions {
            vllm_ascend: Some(Parsed("0.18.0".parse().unwrap())),
            ..RequestedVersions::default()
        };
        let here = machine("aarch64", "3.11", "", "");
        let advice = Matrix::builtin().advise(&wish, &here).unwrap();
        assert_eq!((advice.cann.as_str(), advice.torch_npu.as_str()), ("8.5.1", "2.9.0"));
        assert!(advice.commands.iter().any(|command| command.ends_with("vllm-ascend==0.18.0")));
    }

    #[test]
    fn every_recommended_pair_can_be_advised() {
        let here = Machine { interpreter: "python3".to_owned(), ..Machine::default() };
        for row in &Matrix::builtin().torch_npu {
            if let (Level::Recommended, Some(cann)) = (row.level, &row.cann) {
                let wish = RequestedVersions {
                    torch_npu: Some(row.version.clone()),
                    cann: Some(cann.clone()),
                    ..RequestedVersions::default()
                };
                assert_eq!(Matrix::builtin().advise(&wish, &here).unwrap().level, "recommended");
            }
        }
    }
}
