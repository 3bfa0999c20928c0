//! Clocks: the time of a report against the time at which it arrived.

use super::{Context, format_hosts};
use base::report::Evidence;
use data::{Outcome, RawFinding, Reason, findings::fleet_clock};

/// Tolerated clock offset, in seconds: well below the five minutes after which munge and Kerberos
/// refuse credentials, and above the delay of a slow answer.
const TOLERANCE: i64 = 60;
/// Maximum number of named hosts.
const NAMED: usize = 20;

pub(super) fn check_clock(ctx: &Context<'_>) -> Outcome {
    if ctx.fleet.hosts.is_empty() {
        return Outcome::NotApplicable(Reason::FleetNoHosts);
    }
    let times = ctx.fleet.hosts.iter().flat_map(|(name, host)| {
        host.all().map(move |said| (name.as_str(), said.taken, said.arrived))
    });
    let mut ahead: Vec<(&str, i64)> = Vec::new();
    let mut delays: Vec<(&str, i64)> = Vec::new();
    let mut looked = false;
    for (name, taken, arrived) in times {
        let Some(taken) = taken else { continue };
        // A report cannot arrive before it is written. If it seems to, its clock is ahead of the
        // local clock, or of the one that set the time of the file.
        let earliest = [arrived, ctx.options.now].into_iter().flatten().min();
        let Some(earliest) = earliest else { continue };
        looked = true;
        let early = taken.saturating_sub(earliest);
        if early > TOLERANCE {
            ahead.push((name, early));
        } else if let Some(arrived) = arrived {
            delays.push((name, arrived.saturating_sub(taken)));
        }
    }
    if !looked {
        return Outcome::NotChecked(Reason::FleetNoTime);
    }
    let mut out = Vec::new();
    out.extend(clock_finding(&ahead, |count, hosts, seconds| {
        fleet_clock::Ahead { count, hosts, seconds }.warning()
    }));
    // If most reports arrived as soon as they were written, a report that seems to have taken long
    // has a clock that is behind. Reports that were copied later give no information about clocks.
    let prompt = delays.iter().filter(|(_, delay)| (-TOLERANCE..=TOLERANCE).contains(delay));
    if prompt.count() * 3 >= delays.len() * 2 && delays.len() >= 3 {
        delays.retain(|(_, delay)| *delay > TOLERANCE);
        out.extend(clock_finding(&delays, |count, hosts, seconds| {
            fleet_clock::Behind { count, hosts, seconds }.warning()
        }));
    }
    out.into()
}

fn clock_finding(
    hosts: &[(&str, i64)],
    message: fn(usize, String, i64) -> RawFinding,
) -> Option<RawFinding> {
    let most = hosts.iter().map(|(_, seconds)| *seconds).max()?;
    let names = format_hosts(hosts.iter().map(|(name, _)| *name));
    let mut found = message(hosts.len(), names, most);
    for (name, seconds) in hosts.iter().take(NAMED) {
        found = found.evidence(Evidence::host(*name).value(format!("{seconds} s")));
    }
    Some(found)
}
