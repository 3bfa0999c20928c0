//! The compared components of a host: their names, their places in a report, and the severity of a
//! difference.

use base::report::Severity;
use base::text::Text;
use data::ui;

/// The place of a component in a report.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// A member of `fingerprint`.
    Fingerprint(&'static str),
    /// The architecture of the host.
    Arch,
    /// Its operating system.
    Os,
    /// Its kernel.
    Kernel,
    /// The name of the chip in the runtime (`verify`).
    Soc,
    /// The version of this program.
    Tool,
    /// The compatibility matrix.
    Matrix,
}

/// A property that is equal on hosts that work together.
#[derive(Debug)]
pub(super) struct Component {
    /// The name in JSON.
    pub(super) key: &'static str,
    /// The name in a sentence: a key of `data/ui.toml`, or the name itself.
    label: Label,
    /// The place in a report.
    pub(super) from: Place,
    /// The severity of a difference between hosts.
    pub(super) severity: Severity,
    /// Whether a host without it differs from one with it.
    pub(super) absence: bool,
}

#[derive(Debug, Clone, Copy)]
enum Label {
    Name(&'static str),
    Words(ui::Label),
}

impl Component {
    /// Returns the name in a sentence.
    pub(super) fn label(&self) -> Text {
        match self.label {
            Label::Name(name) => Text::same(name),
            Label::Words(label) => label.text(),
        }
    }
}

const fn row(
    key: &'static str,
    label: Label,
    from: Place,
    severity: Severity,
    absence: bool,
) -> Component {
    Component { key, label, from, severity, absence }
}

/// The components, in the order of the report: from the hardware up.
pub(super) const COMPONENTS: &[Component] = {
    use Label::{Name, Words};
    use Place::{Arch, Fingerprint, Kernel, Matrix, Os, Soc, Tool};
    use Severity::{Info, Warning};
    &[
        row("chip", Words(ui::FLEET_CHIP), Fingerprint("chip"), Warning, false),
        row("soc", Name("SoC"), Soc, Warning, false),
        row("devices", Words(ui::FLEET_DEVICES), Fingerprint("devices"), Warning, false),
        row("driver", Words(ui::FLEET_DRIVER), Fingerprint("driver"), Warning, true),
        row("firmware", Words(ui::FLEET_FIRMWARE), Fingerprint("firmware"), Warning, true),
        row("cann", Name("CANN"), Fingerprint("cann"), Warning, true),
        row("nnal", Name("NNAL"), Fingerprint("nnal"), Warning, true),
        row("torch", Name("torch"), Fingerprint("torch"), Warning, true),
        row("torch_npu", Name("torch_npu"), Fingerprint("torch_npu"), Warning, true),
        row("vllm", Name("vllm"), Fingerprint("vllm"), Warning, true),
        row("vllm_ascend", Name("vllm-ascend"), Fingerprint("vllm_ascend"), Warning, true),
        row("mindspore", Name("MindSpore"), Fingerprint("mindspore"), Warning, true),
        row("triton_ascend", Name("triton-ascend"), Fingerprint("triton_ascend"), Warning, true),
        row("elf_hash", Words(ui::FLEET_FILES), Fingerprint("elf_hash"), Warning, false),
        row("python", Name("Python"), Fingerprint("python"), Info, true),
        row("arch", Words(ui::FLEET_ARCH), Arch, Info, false),
        row("os", Words(ui::FLEET_OS), Os, Info, false),
        row("kernel", Words(ui::FLEET_KERNEL), Kernel, Info, false),
        row("glibc", Name("glibc"), Fingerprint("glibc"), Info, false),
        row("env_hash", Words(ui::FLEET_ENVIRONMENT), Fingerprint("env_hash"), Info, false),
        row("tool", Name("ascend-doctor"), Tool, Info, false),
        row("matrix", Words(ui::FLEET_MATRIX), Matrix, Info, false),
    ]
};

/// Returns the index of a component in [`COMPONENTS`].
pub(super) fn find_component(key: &str) -> usize {
    COMPONENTS.iter().position(|component| component.key == key).unwrap_or(0)
}
