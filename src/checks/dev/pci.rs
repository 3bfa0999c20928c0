//! NPUs on the PCI bus, and their device nodes.

use crate::{Context, Profile, goal, npu};
use base::chip::ChipFamily;
use base::report::{Evidence, Severity};
use data::{
    Outcome, RawFinding, Reason,
    findings::{dev_count, dev_manager, dev_pci, drv_present, host_modules},
    ui,
};
use facts::Facts;

const BUS: &str = "/sys/bus/pci/devices";

/// DEV-PCI: whether there is an NPU, and whether its type is known.
pub(super) fn bus(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if npu::visible(facts) {
        let functions = facts.devices.pci.as_deref().unwrap_or_default();
        let unknown = functions.iter().find(|f| ChipFamily::from_pci(&f.device).is_none());
        return match unknown {
            Some(function) => vec![
                dev_pci::UnknownId { address: &function.address, id: &function.device }
                    .info()
                    .evidence(
                        Evidence::file(format!("{BUS}/{}/device", function.address))
                            .value(&function.device),
                    ),
            ]
            .into(),
            None => Outcome::Passed,
        };
    }
    let wanted = npu::wanted(ctx);
    if npu::has_driver(facts) {
        // The absence of a device is known only if devices are listed.
        if !facts.devices.dev_listed || (facts.devices.pci.is_none() && !npu::in_container(facts)) {
            return Outcome::NotChecked(Reason::DevicesUnknown);
        }
        let severity = if goal::needs_devices(ctx) { Severity::Error } else { Severity::Warning };
        if npu::in_container(facts) {
            let found = dev_pci::DriverOnlyContainer.at(severity);
            return vec![found.evidence(no_nodes())].into();
        }
        let found = dev_pci::DriverOnly.at(severity);
        return vec![found.evidence(no_functions()).evidence(no_nodes())].into();
    }
    if wanted {
        let found = if npu::in_container(facts) {
            dev_pci::AbsentContainer.error()
        } else {
            dev_pci::Absent.error()
        };
        return vec![absent(facts, found)].into();
    }
    if npu::has_stack(facts) && ctx.profile != Profile::Build {
        if !facts.devices.dev_listed {
            return Outcome::NotChecked(Reason::DevicesUnknown);
        }
        return vec![absent(facts, dev_pci::StackOnly.info())].into();
    }
    Outcome::NotApplicable(Reason::NoNpu)
}

fn no_functions() -> Evidence {
    Evidence::file(BUS).value("vendor 0x19e5, device 0xd…: 0")
}

fn no_nodes() -> Evidence {
    Evidence::file("/dev/davinci*").value("0")
}

fn absent(facts: &Facts, found: RawFinding) -> RawFinding {
    let found = if facts.devices.pci.is_some() && !npu::in_container(facts) {
        found.evidence(no_functions())
    } else {
        found
    };
    let found = if facts.devices.dev_listed { found.evidence(no_nodes()) } else { found };
    found.evidence(Evidence::file(facts.driver.home()).says(ui::SEEN_MISSING.text()))
}

/// DEV-COUNT: each NPU on the bus has its `/dev/davinciN`; a container has at least one.
pub(super) fn count(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !npu::visible(facts) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    let ids = facts.devices.davinci_ids();
    if !facts.devices.dev_listed && ids.is_empty() {
        return Outcome::NotChecked(Reason::DevicesUnknown);
    }
    if npu::in_container(facts) {
        // Only the manager was passed to the container, so no NPU can be opened.
        let found = ids.is_empty().then(|| {
            dev_count::ContainerNone
                .error()
                .evidence(Evidence::file("/dev/davinci_manager"))
                .evidence(no_nodes())
        });
        return found.into_iter().collect::<Vec<_>>().into();
    }
    if facts.devices.pci.is_none() {
        return Outcome::NotChecked(Reason::NotHere { what: BUS.into() });
    }
    let on_bus = facts.devices.pci_count();
    // More nodes than functions are not a fault: one function of a Duo card holds two chips.
    if ids.len() >= on_bus {
        return Outcome::Passed;
    }
    let nodes: Vec<String> = ids.iter().map(|id| format!("/dev/davinci{id}")).collect();
    let addresses: Vec<&str> =
        facts.devices.pci.iter().flatten().map(|function| function.address.as_str()).collect();
    let found = if ids.is_empty() {
        dev_count::None { pci: on_bus }.error()
    } else {
        dev_count::Fewer { nodes: ids.len(), pci: on_bus }.error()
    };
    vec![
        found
            .evidence(Evidence::file(BUS).value(npu::listed(addresses)))
            .evidence(
                Evidence::file("/dev/davinci*")
                    .value(npu::listed(nodes.iter().map(String::as_str))),
            )
            .because(&[drv_present::ID, host_modules::ID, dev_manager::ID]),
    ]
    .into()
}
