//! Rows of the registry: the ID, the family and the decision of a check, and the places whose
//! emptiness its findings depend on.

use data::{FindingId, Matrix, Outcome, findings::host_os};
use facts::Facts;

use super::profile::Profile;
use super::site::Expectations;

/// Input of a check.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Facts read from the machine.
    pub facts: &'a Facts,
    /// Compatible versions.
    pub matrix: &'a Matrix,
    /// Intended use of the machine.
    pub profile: Profile,
    /// Whether a missing NPU or stack is an error (`--require-npu`).
    pub require_npu: bool,
    /// Age of the tables in days.
    pub data_age: Option<u64>,
    /// The expectations of the site.
    pub site: Option<&'a Expectations>,
}

impl<'a> Context<'a> {
    /// A context with the built-in data.
    pub fn of(facts: &'a Facts, profile: Profile) -> Self {
        Self {
            facts,
            matrix: Matrix::builtin(),
            profile,
            require_npu: false,
            data_age: None,
            site: None,
        }
    }
}

/// A registered check: an ID of the catalog, its family, and the function that decides.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The ID of its findings.
    pub id: FindingId,
    /// The family, which is the first part of the ID.
    pub family: Family,
    /// The decision function.
    pub run: fn(&Context<'_>) -> Outcome,
    /// Places whose emptiness its findings may depend on, in addition to those in their evidence.
    pub(super) areas: &'static [Area],
    /// Whether missing access is a finding by itself, rather than a reason for an inconclusive
    /// result.
    pub(super) reports_access: bool,
}

impl Check {
    /// A check whose findings may depend on the emptiness of the places of its family.
    pub(super) const fn new(
        family: Family,
        id: FindingId,
        run: fn(&Context<'_>) -> Outcome,
    ) -> Self {
        Self { id, family, run, areas: family.areas(), reports_access: false }
    }

    /// Returns whether the check may depend on the file at `path`.
    pub(super) fn may_read(&self, path: &str) -> bool {
        let names_system = matches!(path, "/etc/os-release" | "/usr/lib/os-release");
        if names_system && !matches!(self.family, Family::Scan | Family::Site) {
            return self.id == host_os::ID;
        }
        self.family.may_read(path)
    }

    /// The check with different areas than those of its family.
    pub(super) const fn concludes_from(self, areas: &'static [Area]) -> Self {
        Self { areas, ..self }
    }

    /// Marks the check as one that reports missing access of the user who runs the program.
    pub(super) const fn reports_access(self) -> Self {
        Self { reports_access: true, ..self }
    }

    /// Returns whether `name`, in any case, is the id of the check or the prefix of its family.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.trim();
        self.id.as_str().eq_ignore_ascii_case(name)
            || self.family.prefix().eq_ignore_ascii_case(name)
    }
}

/// The first part of an id: checks about one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// CANN itself.
    Cann,
    /// Device nodes and the PCI bus.
    Device,
    /// The driver.
    Driver,
    /// Environment variables.
    Environment,
    /// The host and its system libraries.
    Host,
    /// MindSpore.
    MindSpore,
    /// Mooncake.
    Mooncake,
    /// The network between devices.
    Network,
    /// NNAL.
    Nnal,
    /// Running processes.
    Process,
    /// Python and its packages.
    Python,
    /// The scan itself.
    Scan,
    /// Expectations of the site.
    Site,
    /// PyTorch.
    Torch,
    /// torch_npu.
    TorchNpu,
    /// Triton.
    Triton,
    /// vLLM and vllm-ascend.
    Vllm,
}

impl Family {
    /// The prefix of its IDs.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Cann => "CANN",
            Self::Device => "DEV",
            Self::Driver => "DRV",
            Self::Environment => "ENV",
            Self::Host => "HOST",
            Self::MindSpore => "MS",
            Self::Mooncake => "MOONCAKE",
            Self::Network => "NET",
            Self::Nnal => "NNAL",
            Self::Process => "PROC",
            Self::Python => "PY",
            Self::Scan => "SCAN",
            Self::Site => "SITE",
            Self::Torch => "TORCH",
            Self::TorchNpu => "TNPU",
            Self::Triton => "TRITON",
            Self::Vllm => "VLLM",
        }
    }

    /// Returns whether checks of the family may depend on the file at `path`: false only for paths
    /// that clearly belong to other checks.
    fn may_read(self, path: &str) -> bool {
        if path == "/etc/hccn.conf" || path.ends_with("/hccn_tool") {
            return matches!(self, Self::Network | Self::Scan);
        }
        if path.contains("/site-packages") || path.contains("/dist-packages") {
            return !matches!(self, Self::Device | Self::Network);
        }
        if path.starts_with("/dev/") || path.starts_with("/sys/bus/pci/") {
            return !matches!(self, Self::Python | Self::Torch);
        }
        true
    }

    /// Places whose emptiness the findings of its checks may depend on.
    const fn areas(self) -> &'static [Area] {
        match self {
            Self::Cann => &[Area::Cann],
            Self::Nnal => &[Area::Nnal, Area::Libraries],
            Self::Driver => &[Area::Driver],
            Self::Python
            | Self::Torch
            | Self::TorchNpu
            | Self::Vllm
            | Self::MindSpore
            | Self::Triton => &[Area::Packages],
            Self::Device
            | Self::Environment
            | Self::Host
            | Self::Mooncake
            | Self::Network
            | Self::Process
            | Self::Scan
            | Self::Site => &[],
        }
    }
}

/// A place that a check searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Area {
    /// Any CANN.
    AnyCann,
    /// The CANN in use, or any installation if none is in use.
    Cann,
    /// NNAL.
    Nnal,
    /// The driver.
    Driver,
    /// All places that a dynamic linker would search.
    Libraries,
    /// The list of installed packages.
    Packages,
    /// The RECORD of torch_npu, which distinguishes a local build from a damaged wheel.
    Record,
}
