//! Selects the MindSpore and CANN to install.

use pep440_rs::Version;
use serde::Serialize;

use super::advice::{NoAdvice, lacks_build, list_versions, shown};
use super::install::{cann_packages, environment};
use super::rows::minor;
use super::{Level, Machine, Matrix, MindSpore, RequestedVersions};
use crate::{Component, InstallStep, OfficialPair, PackageIndex, ui};
use base::text::{Text, shell_quote};
use base::version::CannVersion;

/// MindSpore with a compatible CANN, and the commands to install them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MindSporeAdvice {
    /// MindSpore.
    pub mindspore: String,
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

/// Returns whether a document or the wheel itself lists the pair as compatible.
fn accepts(row: &MindSpore, cann: &CannVersion) -> bool {
    let documented = row.cann.as_ref().is_some_and(|listed| listed.line() == cann.line());
    // The wheel lists versions of the compiler, whose numbers differ from CANN before 8.5.
    let listed = || row.cann_internal.iter().any(|listed| minor(listed) == cann.line());
    documented || (cann.line() >= (8, 5) && listed())
}

/// Returns the supported Python versions if the Python of this machine is not one of them,
/// according to the wheels or else the documents.
fn lacks_python(row: &MindSpore, machine: &Machine) -> Option<Vec<String>> {
    let wanted = machine.python.as_ref()?;
    if !row.python.is_empty() {
        let known = row.python.iter().map(|python| format!("Python {python}"));
        return (!row.python.contains(wanted)).then(|| known.collect());
    }
    // `3.8-3.10` or `3.9`
    let range = row.python_documented.as_ref()?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let fits = (minor(first)..=minor(last)).contains(&minor(wanted));
    (!fits).then(|| vec![format!("Python {range}")])
}

impl Matrix {
    /// Returns the MindSpore versions of the table that name a release (`2.7.0`, not `2.7`).
    pub fn mindspore_versions(&self) -> impl Iterator<Item = Version> {
        let releases = self.mindspore.iter().filter(|row| row.version.matches('.').count() >= 2);
        releases.filter_map(|row| row.version.parse().ok())
    }

    /// Returns the advice for a requested MindSpore.
    ///
    /// # Errors
    ///
    /// Returns the reason if no CANN is known for it, or no wheel fits the machine.
    pub fn advise_mindspore(
        &self,
        version: &Version,
        wish: &RequestedVersions,
        machine: &Machine,
    ) -> Result<MindSporeAdvice, NoAdvice> {
        let text = version.to_string();
        let row = self.mindspore(&text).ok_or_else(|| {
            let known = self.mindspore.iter().map(|row| row.version.clone());
            NoAdvice::new(
                ui::CompatUnknownMindspore { version }.text(),
                list_versions(&text, known),
            )
        })?;
        let nearest = lacks_build("mindspore", &text, machine);
        if let Some(nearest) = nearest.or_else(|| lacks_python(row, machine)) {
            let wanted = shown(machine);
            let reason = ui::CompatNoMindsporeBuild { version, wanted }.text();
            return Err(NoAdvice::new(reason, nearest));
        }
        let documented = row.cann.as_ref().map(|cann| cann.0);
        let cann = match &wish.cann {
            Some(wanted) if accepts(row, wanted) => wanted.0,
            Some(cann) => {
                let reason = ui::CompatNoMindsporePair { cann, version }.text();
                let known = documented.into_iter().map(|cann| format!("CANN {cann}"));
                return Err(NoAdvice::new(reason, known.collect()));
            }
            None => {
                let here = machine.cann.as_ref().map(|cann| cann.0);
                let here = here.filter(|cann| accepts(row, cann));
                let listed = || {
                    let known = self.cann.iter().map(|row| row.version.0);
                    known.filter(|cann| accepts(row, cann)).max()
                };
                here.or(documented).or_else(listed).ok_or_else(|| {
                    NoAdvice::new(ui::CompatNoMindsporeCann { version }.text(), Vec::new())
                })?
            }
        };
        Ok(self.write_out_mindspore(version, row, cann, machine))
    }

    fn write_out_mindspore(
        &self,
        version: &Version,
        row: &MindSpore,
        cann: CannVersion,
        machine: &Machine,
    ) -> MindSporeAdvice {
        let cann_installed = machine.cann.as_ref().is_some_and(|here| here.0 == cann);
        let is_documented = row.cann.as_ref().is_some_and(|listed| listed.0 == cann);
        let recommended = is_documented && row.level == Level::Recommended;
        let mut reasons = vec![if is_documented {
            ui::CompatMindsporeDocumented { cann, version }.text()
        } else {
            ui::CompatMindsporeWheel { cann, version }.text()
        }];
        if let Some(here) = machine.cann.as_ref().filter(|_| !cann_installed) {
            reasons.push(ui::CompatOtherCann { cann, here }.text());
        }
        reasons.extend(self.driver_reason(machine, &cann));
        let mut steps = Vec::new();
        if !cann_installed {
            steps.extend(cann_packages(&cann, machine, false));
        }
        steps.extend(environment(&cann, machine, cann_installed, false));
        let package = format!("mindspore=={version}");
        let (python, arch) = (machine.python.as_deref(), machine.arch.as_deref());
        let gap = PackageIndex::builtin().gap(&package, python, arch);
        // MindSpore publishes wheels that are not on the index on its own site.
        let wanted = if gap.is_some_and(|gap| gap.options.is_empty()) {
            reasons.push(ui::CompatDownloadMindspore { version }.text());
            format!("./mindspore-{version}-*.whl")
        } else {
            package
        };
        let options = gap.map_or("", |gap| gap.options);
        let numpy = row.numpy.as_ref().map(|spec| format!("numpy{}", spec.0));
        let numpy = numpy
            .map_or_else(String::new, |spec| shell_quote(&spec.replace(", ", ",")).into_owned());
        let python = &machine.interpreter;
        steps.push(InstallStep::pip(Component::Mindspore, python, &wanted, &numpy, options));
        reasons.extend(gap.map(super::install::explain_gap));
        let mut sources = vec![row.source.clone()];
        sources.extend(gap.map(|gap| gap.source.to_owned()));
        MindSporeAdvice {
            mindspore: version.to_string(),
            cann: cann.to_string(),
            cann_installed,
            level: if recommended { "recommended" } else { "compatible" },
            commands: steps.iter().map(|step| step.run.clone()).collect(),
            steps,
            reasons,
            sources,
            index: gap.into_iter().cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Parsed;

    fn advise(version: &str, cann: &str, python: &str) -> Result<String, String> {
        let wish = RequestedVersions {
            cann: cann.parse().ok().map(Parsed),
            ..RequestedVersions::default()
        };
        let machine = Machine {
            arch: Some("aarch64".to_owned()),
            python: Some(python.to_owned()),
            interpreter: "python3".to_owned(),
            ..Machine::default()
        };
        let given = Matrix::builtin().advise_mindspore(&version.parse().unwrap(), &wish, &machine);
        match given {
            Ok(advice) => Ok(format!("{} {}", advice.cann, advice.commands.last().unwrap())),
            Err(none) => Err(none.nearest.join(", ")),
        }
    }

    #[test]
    fn the_documented_cann_or_one_that_the_wheel_accepts() {
        let install = "python3 -m pip install mindspore==2.7.0 'numpy>=1.20.0,<2.0.0'";
        assert_eq!(advise("2.7.0", "", "3.11"), Ok(format!("8.2.RC1 {install}")));
        assert!(advise("2.9.0", "8.5.0", "3.11").unwrap().starts_with("8.5.0 "));
        assert!(advise("2.8.0", "", "3.11").unwrap().starts_with("8.5."));
        assert_eq!(advise("2.7.0", "9.1.0", "3.11"), Err("CANN 8.2.RC1".to_owned()));
    }

    #[test]
    fn a_python_without_a_wheel_is_refused() {
        assert!(advise("2.7.0", "", "3.13").unwrap_err().contains("Python 3.11"));
        assert_eq!(advise("2.3.2", "", "3.13"), Err("Python 3.8-3.10".to_owned()));
        assert!(advise("2.3.2", "", "3.9").unwrap().ends_with("./mindspore-2.3.2-*.whl"));
    }
}
