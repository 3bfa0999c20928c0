//! Reports of `check` and `verify` from many hosts: common findings, outliers, missing hosts, and
//! faults that only a comparison shows.
//!
//! Must not touch: files, clocks, the network. The caller passes bytes, streams and the time.
//!
//! ```text
//! bytes -> documents, stream -> split -> record -> Fleet -> rules -> Report
//! ```
//!
//! A report is read once and reduced to a [`Record`] of the compared values, so that ten thousand
//! of them take little memory.

mod areas;
mod component;
mod documents;
mod expect;
mod fleet_reports;
mod hostlist;
mod members;
mod proof;
mod query;
mod record;
mod report;
mod rules;
mod split;
mod stream;

pub use documents::{DocumentResult, read_documents};
pub use expect::Expected;
pub use fleet_reports::{Fleet, Host, UnreadInput};
pub use hostlist::{expand, format_ranges, format_shortened};
pub use members::FleetMembers;
pub use query::{QUERY_KEYS, QueryKey, query};
pub use record::{
    ComponentValue, Npu, Ranks, Record, RejectReason, ReportedFinding, SiteJudge, SiteJudgement,
};
pub use report::report;
pub use stream::{UnrelatedLines, read_stream};

/// The property by which hosts are grouped if they differ on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GroupBy {
    /// Chip family.
    Soc,
    /// Role in the file of expected hosts.
    Role,
}

/// Options of the comparison.
#[derive(Debug, Default)]
pub struct Options {
    /// The property that forms groups of compared hosts; all hosts are one group without it.
    pub group_by: Option<GroupBy>,
    /// The expected hosts.
    pub expected: Option<Expected>,
    /// The moment of the comparison: seconds since 1970, UTC.
    pub now: Option<i64>,
}
