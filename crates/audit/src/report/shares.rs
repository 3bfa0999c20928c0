//! The parts of a model by where they run: four shares that add up to the total.

use data::ui;
use serde::Serialize;

use base::text::Text;

use super::input::AuditedInput;
use crate::class::SupportClass;
use crate::classify::ClassifiedOperator;
use crate::kernel_limits::Limit;
use crate::model::Op;

/// The weight of the uses of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Microseconds of a trace.
    Time,
    /// Bytes of the input and output tensors.
    Bytes,
    /// Calls or places.
    Uses,
}

/// The four shares, in units of [`Weight`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shares {
    /// The unit of the shares.
    pub weight: Weight,
    /// The number of calls or places.
    pub uses: u64,
    /// Runs on the device.
    pub device: f64,
    /// Computed on the host, with copies where it falls back.
    pub host: f64,
    /// Raises an error.
    pub fails: f64,
    /// Unknown: not in the tables, or dependent on facts that are not in the input.
    pub unknown: f64,
}

/// One of the shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    Device,
    Host,
    Fails,
    Unknown,
}

/// Tensor properties that are read without a kernel.
const BOOKKEEPING: &[&str] = &[
    "size",
    "stride",
    "dim",
    "numel",
    "storage_offset",
    "is_contiguous",
    "is_floating_point",
    "is_complex",
    "is_same_size",
    "sym_size",
    "sym_stride",
    "sym_numel",
    "sym_storage_offset",
    "get_device",
    "result_type",
];

/// Returns whether the operator reads a tensor property without a kernel.
pub(super) fn is_bookkeeping(op: &Op) -> bool {
    op.namespace == "aten" && BOOKKEEPING.contains(&op.name.as_str())
}

/// Returns the share of an operator; `None` for one that is not part of the running model.
fn share_of(judged: &ClassifiedOperator) -> Option<Share> {
    if is_bookkeeping(&judged.op) {
        return None;
    }
    Some(match judged.class {
        SupportClass::Setup => return None,
        SupportClass::Native | SupportClass::Composed | SupportClass::AiCpu => Share::Device,
        // `mm` may be `mm.dtype`, but that needs an argument that few calls pass.
        SupportClass::Depends if judged.default_runs => Share::Device,
        // The recording is evidence of the fallback in that run.
        SupportClass::Host | SupportClass::Fallback | SupportClass::Observed => Share::Host,
        SupportClass::Unknown
        | SupportClass::PartlyKnown
        | SupportClass::Depends
        | SupportClass::Restricted => Share::Unknown,
        // An operator of the graph engine is compiled instead.
        SupportClass::NeedsCann
            if matches!(judged.limit, Some(Limit::Missing { graph: true, .. })) =>
        {
            Share::Unknown
        }
        SupportClass::NeedsCann | SupportClass::Unsupported => Share::Fails,
    })
}

#[expect(clippy::cast_precision_loss, reason = "shares are shown in percent")]
fn weigh(judged: &ClassifiedOperator, weight: Weight) -> f64 {
    match weight {
        Weight::Time => judged.used.micros.unwrap_or_default(),
        Weight::Bytes => judged.used.bytes as f64,
        Weight::Uses => judged.used.count as f64,
    }
}

impl Shares {
    /// Returns the shares of all inputs; `None` if no operator runs.
    pub(super) fn of(read: &[AuditedInput]) -> Option<Self> {
        let all: Vec<(&ClassifiedOperator, Share)> = read
            .iter()
            .flat_map(|input| &input.judged)
            .filter_map(|judged| Some((judged, share_of(judged)?)))
            .collect();
        // An operator without time or bytes would have no weight.
        let every =
            |weight| !all.is_empty() && all.iter().all(|(judged, _)| weigh(judged, weight) > 0.0);
        let weight = [Weight::Time, Weight::Bytes].into_iter().find(|weight| every(*weight));
        let weight = weight.unwrap_or(Weight::Uses);
        let mut shares = Self { weight, uses: 0, device: 0.0, host: 0.0, fails: 0.0, unknown: 0.0 };
        for (judged, share) in all {
            shares.uses += judged.used.count;
            *match share {
                Share::Device => &mut shares.device,
                Share::Host => &mut shares.host,
                Share::Fails => &mut shares.fails,
                Share::Unknown => &mut shares.unknown,
            } += weigh(judged, weight);
        }
        (shares.whole() > 0.0).then_some(shares)
    }

    fn whole(&self) -> f64 {
        self.device + self.host + self.fails + self.unknown
    }

    /// Returns the unknown part, 0 to 1.
    pub(super) fn unknown_part(&self) -> f64 {
        self.unknown / self.whole()
    }

    /// Describes the shares.
    pub(super) fn describe(&self) -> Text {
        let whole = self.whole();
        let percent = |part| percent(part, whole);
        let (device, host) = (percent(self.device), percent(self.host));
        let (fails, unknown) = (percent(self.fails), percent(self.unknown));
        match self.weight {
            Weight::Time => ui::OpsSharesTime { device, fails, host, unknown }.text(),
            Weight::Bytes => ui::OpsSharesBytes { device, fails, host, unknown }.text(),
            Weight::Uses => {
                ui::OpsSharesUses { device, fails, host, unknown, uses: self.uses }.text()
            }
        }
    }

    /// Names the unknown operators, the most used first.
    pub(super) fn name_unknown(read: &[AuditedInput], most: usize) -> String {
        let all = read.iter().flat_map(|input| &input.judged);
        let mut names: Vec<(u64, String)> = all
            .filter(|judged| share_of(judged) == Some(Share::Unknown))
            .map(|judged| (judged.used.count, judged.op.to_string()))
            .collect();
        names.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        names.dedup_by(|a, b| a.1 == b.1);
        let more = names.len() > most;
        let mut said: Vec<String> = names.into_iter().take(most).map(|(_, name)| name).collect();
        if more {
            said.push("…".to_owned());
        }
        said.join(", ")
    }
}

/// Formats a share in whole percent; 0 and 100 mean exactly none and all.
fn percent(part: f64, whole: f64) -> String {
    let exact = part / whole * 100.0;
    let shown =
        if part <= 0.0 || part >= whole { exact.round() } else { exact.round().clamp(1.0, 99.0) };
    format!("{shown} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_none_and_all_are_round() {
        assert_eq!(percent(0.0, 9.0), "0 %");
        assert_eq!(percent(0.001, 9.0), "1 %");
        assert_eq!(percent(8.999, 9.0), "99 %");
        assert_eq!(percent(9.0, 9.0), "100 %");
    }
}
