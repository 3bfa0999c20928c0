//! Device IPs, from the hccn.conf of all hosts.

use data::{
    Outcome, RawFinding, Reason,
    findings::{fleet_address, fleet_subnet},
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use super::{Context, Group, format_hosts, hosts_evidence};
use base::report::Evidence;

/// Maximum number of named addresses.
const NAMED: usize = 20;

/// The devices of a group: host, machine, device, address, mask, gateway.
struct Device<'a> {
    host: &'a str,
    /// The identity of the machine: two containers of one machine see the same devices.
    machine: &'a str,
    number: u32,
    address: &'a str,
    mask: Option<&'a str>,
    gateway: bool,
}

fn list_devices<'a>(group: &Group<'a>) -> impl Iterator<Item = Device<'a>> {
    group.hosts.iter().flat_map(|&(name, host)| {
        let machine = host.boot().unwrap_or(name);
        let said = host.check.iter().flat_map(|said| &said.addresses);
        said.map(move |(number, address, mask, gateway)| Device {
            host: name,
            machine,
            number: *number,
            address,
            mask: mask.as_deref(),
            gateway: *gateway,
        })
    })
}

/// Finds addresses that several machines have.
pub(super) fn find_duplicates(ctx: &Context<'_>) -> Outcome {
    let mut out = Vec::new();
    let mut looked = false;
    for group in ctx.groups {
        let mut owners: BTreeMap<&str, Vec<Device<'_>>> = BTreeMap::new();
        let mut machines: BTreeSet<&str> = BTreeSet::new();
        for device in list_devices(group) {
            machines.insert(device.machine);
            owners.entry(device.address).or_default().push(device);
        }
        looked |= machines.len() > 1;
        owners.retain(|_, devices| {
            let first = devices.first().map(|device| device.machine);
            devices.iter().any(|device| Some(device.machine) != first)
        });
        if owners.is_empty() {
            continue;
        }
        let hosts: BTreeSet<&str> = owners.values().flatten().map(|device| device.host).collect();
        // If most machines have no unique address, the addresses were not meant for one common
        // network: each machine was set up for its own jobs.
        let own: BTreeSet<&str> = list_devices(group)
            .filter(|device| !owners.contains_key(device.address))
            .map(|device| device.machine)
            .collect();
        let copied = machines.len() > 2 && own.len() * 2 < machines.len();
        let address = owners.keys().next().copied().unwrap_or_default();
        let (group, hosts) = (group.suffix(), format_hosts(hosts.iter().copied()));
        let mut found = if copied {
            fleet_address::Copied { address, group, hosts }.warning()
        } else {
            fleet_address::Duplicate { address, addresses: owners.len(), group, hosts }.error()
        };
        for (address, devices) in owners.iter().take(NAMED) {
            let mut numbers: Vec<u32> = devices.iter().map(|device| device.number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let numbers: Vec<String> =
                numbers.iter().map(|number| format!("address_{number}={address}")).collect();
            let hosts = devices.iter().map(|device| device.host);
            found = found.evidence(hosts_evidence(hosts).value(numbers.join(", ")));
        }
        out.push(found);
    }
    if looked { out.into() } else { Outcome::NotApplicable(Reason::FleetNoAddresses) }
}

/// The network of a device, if its address and mask are complete and of version 4.
fn network_of(device: &Device<'_>) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let address: Ipv4Addr = device.address.parse().ok()?;
    let mask: Ipv4Addr = device.mask?.parse().ok()?;
    let bits = u32::from(mask);
    (bits.leading_ones() + bits.trailing_zeros() == 32 || bits == u32::MAX)
        .then(|| (Ipv4Addr::from(u32::from(address) & bits), mask))
}

/// Finds devices whose network or mask differs from that of the same device on most hosts. If hosts
/// have a gateway, or there is no common network, networks are routed and nothing is reported.
pub(super) fn check_networks(ctx: &Context<'_>) -> Outcome {
    let mut out = Vec::new();
    let mut looked = false;
    for group in ctx.groups {
        let mut numbers: BTreeMap<u32, Vec<Device<'_>>> = BTreeMap::new();
        for device in list_devices(group) {
            numbers.entry(device.number).or_default().push(device);
        }
        let mut masks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut elsewhere: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let (mut usual_mask, mut usual_network) = (None, None);
        for (number, devices) in &numbers {
            let known: Vec<_> =
                devices.iter().filter_map(|device| Some((device, network_of(device)?))).collect();
            if known.len() < 3 {
                continue;
            }
            looked = true;
            let Some(mask) = find_majority(known.iter().map(|(_, (_, mask))| *mask)) else {
                continue;
            };
            let network = find_majority(known.iter().map(|(_, (network, _))| *network));
            for (device, (own, own_mask)) in &known {
                let value =
                    || format!("address_{number}={} netmask_{number}={own_mask}", device.address);
                if *own_mask != mask {
                    usual_mask = Some(mask);
                    masks.entry(device.host).or_default().push(value());
                } else if let Some(network) = network
                    && *own != network
                    && !device.gateway
                {
                    usual_network = Some(format!("{network}/{}", u32::from(mask).leading_ones()));
                    elsewhere.entry(device.host).or_default().push(value());
                }
            }
        }
        if let Some(usual) = usual_mask {
            let (group, hosts) = (group.suffix(), format_hosts(masks.keys().copied()));
            let found = fleet_subnet::Mask { count: masks.len(), group, hosts, usual }.warning();
            out.push(add_evidence(found, &masks));
        }
        if let Some(usual) = usual_network {
            let (group, hosts) = (group.suffix(), format_hosts(elsewhere.keys().copied()));
            let count = elsewhere.len();
            let found = fleet_subnet::Network { count, group, hosts, usual }.warning();
            out.push(add_evidence(found, &elsewhere));
        }
    }
    if looked { out.into() } else { Outcome::NotApplicable(Reason::FleetNoAddresses) }
}

/// The value of at least two thirds.
fn find_majority<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    let mut total = 0;
    for value in values {
        *counts.entry(value).or_default() += 1;
        total += 1;
    }
    let (value, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count * 3 >= total * 2).then_some(value)
}

fn add_evidence(mut found: RawFinding, hosts: &BTreeMap<&str, Vec<String>>) -> RawFinding {
    for (host, values) in hosts.iter().take(NAMED) {
        found = found.evidence(Evidence::host(*host).value(values.join(", ")));
    }
    found
}
