//! Checks of the family `net`: the configuration that devices need to reach those of other
//! machines.

use data::{
    Outcome, RawFinding, Reason,
    findings::{dev_pci, drv_present, net_hccn, net_ifname, net_ranktable, net_tool},
    ui,
};
use std::collections::BTreeMap;
use std::net::IpAddr;

use super::chip;
use super::profile::Profile;
use super::{Check, Context, Family};
use base::chip::ChipFamily;
use base::report::{Evidence, Severity};
use facts::RankTable;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Network, net_hccn::ID, hccn),
    Check::new(Family::Network, net_tool::ID, tool),
    Check::new(Family::Network, net_ranktable::ID, rank_table),
    Check::new(Family::Network, net_ifname::ID, interface_names),
];

/// The severity of a fault of the parameter plane, which only jobs on several machines need.
fn severity(ctx: &Context<'_>) -> Severity {
    if ctx.profile.needs_device_network() { Severity::Error } else { Severity::Info }
}

/// Returns whether the devices have network ports that `hccn.conf` configures: those of 310P have
/// none, and 950 is connected over UB.
fn has_roce(ctx: &Context<'_>) -> bool {
    let chips = chip::chips(ctx.facts);
    let roce = [ChipFamily::A910, ChipFamily::A910B, ChipFamily::A3];
    chips.is_empty() || chips.iter().any(|chip| roce.contains(&chip.family))
}

fn hccn(ctx: &Context<'_>) -> Outcome {
    let wanted = ctx.profile.needs_device_network();
    let ids = ctx.facts.devices.davinci_ids();
    if !has_roce(ctx) {
        return Outcome::NotApplicable(Reason::OtherChip);
    }
    let Some(conf) = &ctx.facts.net.hccn else {
        if !wanted {
            return Outcome::NotApplicable(Reason::OtherProfile);
        }
        let denied = ctx.facts.problems.iter().find(|problem| problem.path == "/etc/hccn.conf");
        if let Some(problem) = denied {
            return Outcome::Blocked(Reason::Unreadable { what: problem.path.clone() });
        }
        let inside = ctx.facts.host.container.is_inside();
        let found = if inside { net_hccn::NotMounted.error() } else { net_hccn::Absent.error() };
        // Without an NPU there is no device that needs an address.
        let found = found.because(&[dev_pci::ID]);
        return vec![
            found.evidence(Evidence::file("/etc/hccn.conf").says(ui::SEEN_MISSING.text())),
        ]
        .into();
    };
    let mut out = Vec::new();
    let (path, severity) = (&conf.path, severity(ctx));
    for (line, text) in &conf.bad_lines {
        let found = net_hccn::BadLine { line, path, text }.warning();
        out.push(found.evidence(Evidence::file(&conf.path).line(*line).value(text)));
    }
    let mut owners: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (device, address) in &conf.addresses {
        if address.parse::<IpAddr>().is_err() {
            let found = net_hccn::BadAddress { address, device, path }.at(severity);
            let value = format!("address_{device}={address}");
            out.push(found.evidence(conf.place(*device).value(value)));
        } else {
            owners.entry(address).or_default().push(*device);
        }
    }
    for (address, devices) in owners.iter().filter(|(_, devices)| devices.len() > 1) {
        let names: Vec<String> = devices.iter().map(u32::to_string).collect();
        let names = names.join(", ");
        let mut found = net_hccn::Duplicate { path, address, devices: names }.at(severity);
        for device in devices.iter().take(8) {
            let value = format!("address_{device}={address}");
            found = found.evidence(conf.place(*device).value(value));
        }
        out.push(found);
    }
    // A container sees the complete file but only its own devices, renumbered.
    let inside = ctx.facts.host.container.is_inside();
    let lacking: Vec<String> =
        ids.iter().filter(|id| !conf.addresses.contains_key(id)).map(u32::to_string).collect();
    if !lacking.is_empty() && wanted && !inside {
        let (devices, first) = (lacking.join(", "), &lacking[0]);
        let found = net_hccn::Lacking { devices, first, path }.at(severity);
        out.push(found.evidence(Evidence::file(&conf.path).says(ui::SEEN_NO_ADDRESS.text())));
    }
    out.into()
}

fn tool(ctx: &Context<'_>) -> Outcome {
    let net = &ctx.facts.net;
    let home = ctx.facts.driver.home();
    match (&net.hccn_tool, net.hccn_tool_usable) {
        (Some(path), Some(false)) => {
            let severity = severity(ctx).min(Severity::Warning);
            let found = net_tool::NotExecutable { path }.at(severity);
            vec![found.evidence(Evidence::file(path).says(ui::SEEN_NOT_EXECUTABLE.text()))].into()
        }
        (Some(_), _) => Outcome::Passed,
        (None, _) if !ctx.profile.needs_device_network() => {
            Outcome::NotApplicable(Reason::OtherProfile)
        }
        (None, _) if !has_roce(ctx) => Outcome::NotApplicable(Reason::OtherChip),
        (None, _) => {
            let path = format!("{home}/tools/hccn_tool");
            let found = net_tool::Absent { path: &path }.warning();
            vec![
                found
                    .evidence(Evidence::file(&path).says(ui::SEEN_MISSING.text()))
                    .because(&[drv_present::ID, dev_pci::ID]),
            ]
            .into()
        }
    }
}

/// The version of rank tables that a chip's HCCL reads: 1.0 for 910 and A2, 1.2 for A3, 2.0 for
/// 950. A3 also reads 1.0. Source: gpustack/runtime#27, which quotes ascend-operator.
fn fits(version: &str, family: ChipFamily) -> bool {
    match family {
        ChipFamily::A950 => version == "2.0",
        _ => version != "2.0",
    }
}

fn rank_table(ctx: &Context<'_>) -> Outcome {
    let Some(table) = &ctx.facts.net.ranktable else {
        return Outcome::NotApplicable(Reason::NoRanktable);
    };
    let grave = severity(ctx).max(Severity::Warning);
    let named = if table.variable.is_empty() { "/etc/hccl_rootinfo.json" } else { &table.variable };
    let evidence = || match table.variable.as_str() {
        "" => Evidence::file(&table.path),
        variable => Evidence::env(variable).value(&table.path),
    };
    let path = &table.path;
    if let Some(error) = &table.error {
        let found = net_ranktable::Unreadable { error, named, path }.at(grave).evidence(evidence());
        return vec![found.evidence(table.place("error").value(error))].into();
    }
    let mut out = Vec::new();
    if let (Some(version), Some(chip)) = (&table.version, chip::chip(ctx.facts))
        && !fits(version, chip.family)
    {
        let value = format!("version {version}");
        let found = net_ranktable::Version { path, named, version, chip: chip.family.label() };
        let found = found.at(grave).evidence(evidence());
        out.push(found.evidence(table.place("version").value(value)).evidence(chip.evidence));
    }
    if let Some(status) = table.status.as_deref().filter(|status| *status != "completed") {
        let found = net_ranktable::Status { named, path, status }.at(grave).evidence(evidence());
        out.push(found.evidence(table.place("status").value(format!("status {status}"))));
    }
    let mut owners: BTreeMap<&str, Vec<Option<u32>>> = BTreeMap::new();
    for device in &table.devices {
        let Some(ip) = device.device_ip.as_deref() else { continue };
        owners.entry(ip).or_default().push(device.line);
        if ip.parse::<IpAddr>().is_err() {
            let found = net_ranktable::BadAddress { path, named, address: ip }
                .at(grave)
                .evidence(evidence());
            out.push(found.evidence(address(table, device.line, ip)));
        }
    }
    for (ip, lines) in owners.iter().filter(|(_, lines)| lines.len() > 1).take(8) {
        let found =
            net_ranktable::Duplicate { path, named, address: ip }.at(grave).evidence(evidence());
        let places = lines.iter().take(8).map(|line| address(table, *line, ip));
        out.push(places.fold(found, RawFinding::evidence));
    }
    out.extend(stale(ctx));
    out.into()
}

/// Finds a table that has other addresses for this machine's devices than `hccn.conf`.
fn stale(ctx: &Context<'_>) -> Option<RawFinding> {
    let table = ctx.facts.net.ranktable.as_ref()?;
    let conf = ctx.facts.net.hccn.as_ref()?;
    let own: Vec<&str> = conf.addresses.values().map(String::as_str).collect();
    let listed: Vec<(&str, Option<u32>)> = table
        .devices
        .iter()
        .filter_map(|device| Some((device.device_ip.as_deref()?, device.line)))
        .collect();
    let (device, first_own) = conf.addresses.first_key_value()?;
    let &(first, line) = listed.first()?;
    // With one address in common, the table is for this machine. Otherwise it is outdated or for
    // other machines.
    if listed.iter().any(|(ip, _)| own.contains(ip)) {
        return None;
    }
    let severity =
        if ctx.profile.needs_device_network() { Severity::Error } else { Severity::Warning };
    let found =
        net_ranktable::Stale { conf: &conf.path, listed: first, own: first_own, path: &table.path }
            .at(severity)
            .evidence(address(table, line, first));
    Some(found.evidence(conf.place(*device).value(format!("address_{device}={first_own}"))))
}

/// An address in a rank table.
fn address(table: &RankTable, line: Option<u32>, ip: &str) -> Evidence {
    Evidence::file(&table.path).line_if(line).value(format!("device_ip {ip}"))
}

/// Variables that name interfaces of the host. HCCL accepts prefixes; `=` requires the whole name
/// and `^` selects all others. The other variables take whole names.
const IFNAMES: &[(&str, bool)] =
    &[("HCCL_SOCKET_IFNAME", true), ("GLOO_SOCKET_IFNAME", false), ("TP_SOCKET_IFNAME", false)];

fn interface_names(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    let set: Vec<(&str, bool, &str)> = IFNAMES
        .iter()
        .filter_map(|(name, prefixes)| Some((*name, *prefixes, env.non_empty(name)?)))
        .collect();
    if set.is_empty() {
        return Outcome::NotApplicable(Reason::NoIfname);
    }
    let Some(there) = &ctx.facts.host.interfaces else {
        return Outcome::NotChecked(Reason::Unreadable { what: "/sys/class/net".to_owned() });
    };
    // One wrong name is one cause, regardless of the number of variables.
    let mut wrong: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, prefixes, value) in set {
        if !matches(value, prefixes, there) {
            wrong.entry(value).or_default().push(name);
        }
    }
    // Ranks on one host may reach each other without it.
    let limit = if ctx.profile == Profile::MultiNode { Severity::Error } else { Severity::Warning };
    let found = wrong.into_iter().map(|(value, names)| {
        let evidence =
            |found: RawFinding, name: &&str| found.evidence(Evidence::env(*name).value(value));
        let found = net_ifname::Absent { names: names.join(", "), there: there.join(", "), value };
        let found = names.iter().fold(found.at(limit), evidence);
        found.evidence(Evidence::file("/sys/class/net").value(there.join(", ")))
    });
    found.collect::<Vec<_>>().into()
}

/// Returns whether at least one interface is selected.
fn matches(value: &str, prefixes: bool, there: &[String]) -> bool {
    let (excluded, rest) = match value.strip_prefix('^') {
        Some(rest) if prefixes => (true, rest),
        _ => (false, value),
    };
    let (exact, rest) = match rest.strip_prefix('=') {
        Some(rest) if prefixes => (true, rest),
        _ => (!prefixes, rest),
    };
    let wanted: Vec<&str> =
        rest.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    there.iter().any(|name| {
        let hit =
            wanted.iter().any(|want| if exact { name == want } else { name.starts_with(want) });
        hit != excluded
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::{Facts, HccnConf, PciFunction, RankDevice, RankTable};

    fn machine(device: &str) -> Facts {
        let mut facts = Facts::default();
        facts.env.known = true;
        facts.devices.pci = Some(vec![PciFunction {
            address: "0000:c1:00.0".to_owned(),
            device: device.to_owned(),
            subsystem_device: None,
            class: None,
            driver: None,
        }]);
        facts
    }

    fn messages(facts: &Facts, profile: Profile) -> Vec<(&'static str, Severity)> {
        let ctx = Context::of(facts, profile);
        let found = CHECKS.iter().flat_map(|check| match (check.run)(&ctx) {
            Outcome::Found(found) => found,
            _ => Vec::new(),
        });
        found.map(|found| (found.message, found.severity)).collect()
    }

    fn conf(addresses: &[&str]) -> HccnConf {
        let addresses = (0..).zip(addresses.iter().map(|ip| (*ip).to_owned())).collect();
        HccnConf { path: "/etc/hccn.conf".to_owned(), addresses, ..HccnConf::default() }
    }

    #[test]
    fn the_device_network_matters_for_several_machines_only() {
        let facts = machine("0xd802");
        assert_eq!(messages(&facts, Profile::Train), []);
        let expected = [("absent", Severity::Error), ("absent", Severity::Warning)];
        assert_eq!(messages(&facts, Profile::MultiNode), expected);
        assert_eq!(messages(&machine("0xd806"), Profile::MultiNode), [], "950 has no RoCE ports");
    }

    #[test]
    fn addresses_are_unique_and_valid() {
        let mut facts = machine("0xd802");
        facts.net.hccn_tool = Some("/usr/bin/hccn_tool".to_owned());
        facts.net.hccn = Some(conf(&["10.0.0.1", "10.0.0.2"]));
        assert_eq!(messages(&facts, Profile::MultiNode), []);
        facts.net.hccn = Some(conf(&["10.0.0.1", "10.0.0.1", "10.0.0.300"]));
        let expected = [("bad_address", Severity::Error), ("duplicate", Severity::Error)];
        assert_eq!(messages(&facts, Profile::MultiNode), expected);
    }

    #[test]
    fn rank_tables_are_judged() {
        let mut facts = machine("0xd806");
        let device = RankDevice { device_ip: Some("10.0.0.9".to_owned()), ..RankDevice::default() };
        facts.net.ranktable = Some(RankTable {
            path: "/etc/hccl_rootinfo.json".to_owned(),
            version: Some("1.0".to_owned()),
            status: Some("completed".to_owned()),
            devices: vec![device],
            ..RankTable::default()
        });
        assert_eq!(messages(&facts, Profile::MultiNode), [("version", Severity::Error)]);
        assert_eq!(messages(&facts, Profile::General), [("version", Severity::Warning)]);
        facts.devices = machine("0xd802").devices;
        facts.net.hccn = Some(conf(&["10.0.0.1"]));
        assert_eq!(messages(&facts, Profile::Train), [("stale", Severity::Warning)]);
        facts.net.hccn = Some(conf(&["10.0.0.9"]));
        assert_eq!(messages(&facts, Profile::Train), []);
    }

    #[test]
    fn interface_names_follow_the_grammar_of_hccl() {
        let there = ["lo".to_owned(), "enp189s0f0".to_owned()];
        for (value, prefixes, expected) in [
            ("enp", true, true),
            ("eth,enp", true, true),
            ("=enp", true, false),
            ("=enp189s0f0", true, true),
            ("^enp", true, true),
            ("^lo,enp", true, false),
            ("^=lo", true, true),
            ("eth0", false, false),
            ("enp", false, false),
            ("enp189s0f0", false, true),
        ] {
            assert_eq!(matches(value, prefixes, &there), expected, "{value}");
        }
    }
}
