//! The commands that install the advised versions.

use pep440_rs::Version;

use super::{Machine, Matrix, TorchNpu, VllmAscend};
use crate::{Component, InstallStep, OfficialPair, PackageIndex, Verdict, ui};
use base::text::{Text, shell_quote};
use base::version::CannVersion;

impl Matrix {
    /// Returns the commands that install the packages of a CANN, including NNAL if `atb` is set.
    pub fn cann_steps(cann: &CannVersion, machine: &Machine, atb: bool) -> Vec<InstallStep> {
        cann_packages(cann, machine, atb)
    }

    /// Returns the pip commands for the packages, and adds the reasons for their options to
    /// `reasons`.
    pub(super) fn pip_commands(
        &self,
        npu: &TorchNpu,
        cann: &CannVersion,
        plugin: Option<&VllmAscend>,
        machine: &Machine,
        reasons: &mut Vec<Text>,
        gaps: &mut Vec<OfficialPair>,
    ) -> Vec<InstallStep> {
        let python = &machine.interpreter;
        let mut gap = |requirements: &str, reasons: &mut Vec<Text>| {
            let (python, arch) = (machine.python.as_deref(), machine.arch.as_deref());
            let found = PackageIndex::builtin().gap(requirements, python, arch)?;
            reasons.push(explain_gap(found));
            gaps.push(found.clone());
            Some(found)
        };
        let mut commands = Vec::new();
        if let Some(plugin) = plugin {
            if let Some(vllm) = plugin.vllm.first() {
                let wanted = format!("vllm=={vllm}");
                gap(&wanted, reasons);
                commands.push(InstallStep::pip(Component::Vllm, python, &wanted, "", ""));
            }
            let wanted = format!("vllm-ascend=={}", plugin.version);
            let options = gap(&wanted, reasons).map(|found| found.options);
            let options = options.unwrap_or_default();
            commands.push(InstallStep::pip(Component::VllmAscend, python, &wanted, "", options));
            reasons.push(ui::COMPAT_TORCH_LAST.text());
        }
        let index = match machine.arch.as_deref() {
            Some("x86_64") => {
                reasons.push(ui::COMPAT_CPU_INDEX.text());
                "--index-url https://download.pytorch.org/whl/cpu"
            }
            _ => "",
        };
        let torch = format!("torch=={}", npu.torch);
        commands.push(InstallStep::pip(Component::Torch, python, &torch, "", index));
        // The options are already part of the command for torch.
        gap(&format!("torch=={} torch_npu=={}", npu.torch, npu.version), reasons);
        let numpy = self
            .constraint_by_cann("numpy", cann)
            .filter(|row| row.spec.0.iter().next().is_some())
            .map(|row| format!("numpy{}", row.spec));
        if let Some(spec) = &numpy {
            reasons.push(ui::CompatNumpy { cann, spec }.text());
        }
        let numpy = numpy.unwrap_or_else(|| "numpy".to_owned());
        let wanted = if npu.wheels.is_empty() {
            reasons.push(ui::CompatDownload { version: &npu.version }.text());
            format!("./torch_npu-{}-*.whl", npu.version)
        } else {
            format!("torch_npu=={}", npu.version)
        };
        let more = format!("pyyaml setuptools {}", shell_quote(&numpy));
        commands.push(InstallStep::pip(Component::TorchNpu, python, &wanted, &more, ""));
        commands
    }
}

/// Returns why the default index is insufficient.
pub(super) fn explain_gap(gap: &OfficialPair) -> Text {
    let wanted = &gap.requirements;
    let what = gap.reason.split(": ").next().unwrap_or_default();
    let mut text = match gap.verdict {
        Verdict::Conflict => ui::CompatIndexConflict { wanted, what: &gap.reason }.text(),
        _ if gap.reason.ends_with(": source archive only") => {
            ui::CompatIndexSource { wanted, what }.text()
        }
        _ if gap.reason.ends_with(": no wheel") => ui::CompatIndexWheel { wanted, what }.text(),
        _ => ui::CompatIndexLacks { wanted, what }.text(),
    };
    if !gap.options.is_empty() {
        let more = ui::COMPAT_INDEX_OPTIONS.text();
        text.en = format!("{}. {}", text.en, more.en);
        text.zh = format!("{}。{}", text.zh, more.zh);
    }
    text
}

/// Returns whether it links ATB. Wheels do since 2.5.1 (measured).
pub(super) fn uses_atb(npu: &TorchNpu) -> bool {
    npu.torch.0 >= Version::new([2, 5, 1])
}

/// Returns whether CANN has the layout of 8.5, which moved to one directory per version and renamed
/// the kernels packages.
fn has_new_layout(cann: &CannVersion) -> bool {
    cann.line() >= (8, 5)
}

/// Returns the commands for the packages of a CANN. The names are those of the vendor's download
/// page: `Ascend-cann-kernels-910b` and `Atlas-A3-cann-kernels` up to 8.3, `Ascend-cann-910b-ops`
/// and `Ascend-cann-A3-ops` since 8.5.
pub(super) fn cann_packages(cann: &CannVersion, machine: &Machine, atb: bool) -> Vec<InstallStep> {
    let arch = machine.arch.as_deref().unwrap_or("<arch>");
    let chip = machine.chip.as_deref().unwrap_or("<chip>");
    let ops = match (has_new_layout(cann), chip) {
        (true, "a3") => "Ascend-cann-A3-ops".to_owned(),
        (true, chip) => format!("Ascend-cann-{chip}-ops"),
        (false, "a3") => "Atlas-A3-cann-kernels".to_owned(),
        (false, chip) => format!("Ascend-cann-kernels-{chip}"),
    };
    let install = |component, name: &str| {
        let file = format!("{name}_{cann}_linux-{arch}.run");
        InstallStep::new(component, format!("bash {} --install", shell_quote(&file)))
    };
    let mut steps =
        vec![install(Component::Toolkit, "Ascend-cann-toolkit"), install(Component::Ops, &ops)];
    if atb {
        // The NNAL installer requires the toolkit's environment.
        let source = format!("source {}", default_set_env(cann));
        steps.push(InstallStep::new(Component::Nnal, source));
        steps.push(install(Component::Nnal, "Ascend-cann-nnal"));
    }
    steps
}

fn default_set_env(cann: &CannVersion) -> &'static str {
    if has_new_layout(cann) {
        "/usr/local/Ascend/cann/set_env.sh"
    } else {
        "/usr/local/Ascend/ascend-toolkit/set_env.sh"
    }
}

/// Returns the scripts to source, in order.
pub(super) fn environment(
    cann: &CannVersion,
    machine: &Machine,
    installed: bool,
    atb: bool,
) -> Vec<InstallStep> {
    let toolkit = machine.set_env.as_deref().filter(|_| installed);
    let nnal = machine.nnal_set_env.as_deref().filter(|_| installed);
    let mut commands = Vec::new();
    if installed || !atb {
        let path = toolkit.unwrap_or_else(|| default_set_env(cann));
        let run = format!("source {}", shell_quote(path));
        commands.push(InstallStep { installs: None, run, again: None });
    }
    if atb {
        let path = nnal.unwrap_or("/usr/local/Ascend/nnal/atb/set_env.sh");
        let run = format!("source {}", shell_quote(path));
        commands.push(InstallStep { installs: None, run, again: None });
    }
    commands
}
