//! The members of the JSON report that only `fleet merge` has.

use std::collections::BTreeMap;

use serde::Serialize;

use super::areas::AreaState;
use base::report::Severity;
use base::text::Text;

/// The comparison of the hosts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetMembers<'a> {
    /// The comparison.
    pub fleet: Comparison<'a>,
}

/// Common properties and differences of the hosts. Hosts are ranges such as `node[001-063]`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison<'a> {
    /// The number of hosts.
    pub hosts: usize,
    /// The property that forms groups: `soc` or `role`.
    pub group_by: Option<&'static str>,
    /// The groups.
    pub groups: Vec<GroupMember<'a>>,
    /// The hosts by the result of their reports.
    pub states: BTreeMap<&'static str, HostList>,
    /// Expected hosts without a report.
    pub missing: Vec<String>,
    /// Their number.
    pub missing_count: usize,
    /// Inputs that could not be read.
    pub unreadable: Vec<Unreadable<'a>>,
    /// The number of hosts with several reports of the same kind.
    pub replaced: usize,
    /// The findings of all hosts, each once.
    pub findings: Vec<FindingMember<'a>>,
    /// The result of each area of the checks on each host.
    #[serde(skip_serializing_if = "Matrix::is_empty")]
    pub matrix: Matrix,
}

/// The result of each area of the checks on each host, the worst first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The areas: families of findings of which any host has a check or a finding.
    pub areas: Vec<Area>,
    /// Hosts with equal results share a row.
    pub rows: Vec<MatrixRow>,
    /// The number of hosts in omitted rows.
    pub more_hosts: usize,
}

impl Matrix {
    /// Returns whether no host reported, and so there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// An area of the checks.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Area {
    /// Its family of findings, or `other`.
    pub id: &'static str,
    /// Its name.
    pub title: Text,
}

/// Hosts with equal results.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixRow {
    /// The hosts, as ranges.
    pub hosts: Vec<String>,
    /// The number of hosts.
    pub count: usize,
    /// The result of the host.
    pub result: AreaState,
    /// A result for each area, in the order of `areas`.
    pub cells: Vec<AreaState>,
}

/// Hosts that are compared with each other.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupMember<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number of its hosts.
    pub hosts: usize,
    /// The components with at least one known value.
    pub components: BTreeMap<&'static str, Spread>,
}

/// The values of a component.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// The value of most hosts; null if it is absent there, or if there is no such value.
    pub majority: Option<String>,
    /// Whether most hosts have the same value.
    pub has_majority: bool,
    /// The number of hosts whose value is known.
    pub known: usize,
    /// The values, the most frequent first.
    pub values: Vec<ValueMember>,
}

/// A value and the hosts that have it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueMember {
    /// The value; null if the component is absent.
    pub value: Option<String>,
    /// The number of hosts.
    pub count: usize,
    /// The hosts.
    pub hosts: Vec<String>,
}

/// Hosts and their number.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostList {
    /// The number of hosts.
    pub count: usize,
    /// The hosts.
    pub hosts: Vec<String>,
}

/// An input that could not be read.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unreadable<'a> {
    /// The file, or the host that a line came from.
    pub source: &'a str,
    /// The reason.
    pub why: &'a Text,
}

/// A finding and the hosts that report it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingMember<'a> {
    /// Its ID.
    pub id: &'a str,
    /// The message of that ID.
    pub message: &'a str,
    /// Its severity.
    pub severity: Severity,
    /// The number of hosts.
    pub count: usize,
    /// The hosts.
    pub hosts: Vec<String>,
    /// Its most frequent title.
    pub title: &'a Text,
}
