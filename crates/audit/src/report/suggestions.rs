//! `--suggest`: fused operators that the release and the chip support, with changes of the source.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use base::report::{Evidence, Report, Table};
use base::text::Text;
use data::{Catalog, RawFinding, findings::ops_fuse, ui};

use super::input::AuditedInput;
use super::members::{SuggestionMember, SuggestionMembers};
use crate::environment::TargetEnvironment;
use crate::ops::table_text;
use crate::place::Place;
use crate::python;
use crate::source_notes::Suggestion;

/// The maximum number of places of one pattern in a finding.
const MOST_PLACES: usize = 8;

/// Adds the possible fusions to a report.
///
/// Returns the sources that the written-out suggestions change.
pub(super) fn suggest(
    report: &mut Report,
    read: &[AuditedInput],
    against: TargetEnvironment<'_>,
) -> Vec<ChangedSource> {
    let mut by_rule: BTreeMap<&'static str, Vec<(&Suggestion, &str)>> = BTreeMap::new();
    for (suggestion, path) in read.iter().flat_map(|input| &input.model.suggestions) {
        by_rule.entry(suggestion.rule).or_default().push((suggestion, path));
    }
    let mut rows = Vec::new();
    let mut all = Vec::new();
    let mut edits: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
    for (rule, places) in by_rule {
        let Some((operator, first)) = operator(rule, against) else { continue };
        let Some(mut found) = fusion(rule, operator, places.len()) else { continue };
        for (suggestion, path) in places.iter().take(MOST_PLACES) {
            found = found.evidence(Evidence::file(*path).line(suggestion.line));
        }
        report.findings.push(Catalog::builtin().resolve(found));
        for (suggestion, path) in places {
            let place = format!("{path}:{}", suggestion.line);
            // The replacement uses the first operator of the pattern.
            let after = suggestion.after.as_ref().filter(|_| first);
            all.push(SuggestionMember {
                pattern: rule,
                operator,
                place: Place::Line(path.into(), suggestion.line),
                before: &suggestion.before,
                after: after.map(String::as_str),
            });
            if let Some(after) = after {
                edits.entry(path).or_default().push(Edit {
                    range: suggestion.range.clone(),
                    text: after.clone(),
                    before: suggestion.before.clone(),
                });
                let cells = [&place, &suggestion.before, after];
                rows.push(cells.map(|cell| Text::same(cell.clone())).to_vec());
            }
        }
    }
    if !rows.is_empty() {
        report.tables.push(Table {
            title: ui::OPS_TABLE_CHANGES.text(),
            head: [ui::OPS_HEAD_PLACE, ui::OPS_HEAD_BEFORE, ui::OPS_HEAD_AFTER]
                .map(ui::Label::text)
                .to_vec(),
            rows,
        });
    }
    let imports: BTreeMap<&str, usize> = read
        .iter()
        .flat_map(|input| &input.model.imports)
        .map(|(path, at)| (path.as_str(), *at))
        .collect();
    report.add_members(&SuggestionMembers { suggestions: all });
    let changed = edits.into_iter();
    changed
        .filter_map(|(path, edits)| changed_source(path, edits, imports.get(path).copied()))
        .collect()
}

/// A source before and after the suggested changes.
pub struct ChangedSource {
    /// The path in a diff.
    pub name: String,
    /// The text that was read.
    pub before: String,
    /// The text with the changes.
    pub after: String,
}

/// A change of a source: a byte range of its text and the replacement.
struct Edit {
    range: Range<usize>,
    text: String,
    before: String,
}

/// Applies the changes of one source. Returns `None` for a notebook, whose lines are JSON strings,
/// and for a file that has changed since it was read.
fn changed_source(
    path: &str,
    mut edits: Vec<Edit>,
    import_at: Option<usize>,
) -> Option<ChangedSource> {
    if path.ends_with(".ipynb") {
        return None;
    }
    let before = python::text_of(Path::new(path)).ok()?;
    if let Some(at) = import_at
        && edits.iter().any(|edit| edit.text.contains("torch_npu."))
    {
        let line = "import torch_npu\n".to_owned();
        edits.push(Edit { range: at..at, text: line, before: String::new() });
    }
    // Of nested expressions, only the outer one is changed.
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let mut after = String::with_capacity(before.len());
    let mut done = 0;
    for edit in edits {
        if edit.range.start < done {
            continue;
        }
        if before.get(edit.range.clone()) != Some(&edit.before) {
            return None;
        }
        after.push_str(&before[done..edit.range.start]);
        after.push_str(&edit.text);
        done = edit.range.end;
    }
    after.push_str(&before[done..]);
    let name = path.trim_start_matches("./").to_owned();
    Some(ChangedSource { name, before, after })
}

/// Returns the message of a pattern.
fn fusion(rule: &str, op: &str, count: usize) -> Option<RawFinding> {
    macro_rules! messages {
        ($($rule:literal => $name:ident,)+) => {
            match rule {
                $($rule => Some(ops_fuse::$name { count, op }.info()),)+
                _ => None,
            }
        };
    }
    messages! {
        "add_rms_norm" => AddRmsNorm,
        "all_gather_mm" => AllGatherMm,
        "attention" => Attention,
        "bi_lstm" => BiLstm,
        "clip_grad_norm" => ClipGradNorm,
        "color_jitter" => ColorJitter,
        "confusion_transpose" => ConfusionTranspose,
        "cross_entropy" => CrossEntropy,
        "deform_conv" => DeformConv,
        "drop_path" => DropPath,
        "fast_gelu" => FastGelu,
        "ffn" => Ffn,
        "format_cast" => FormatCast,
        "fused_adadelta" => FusedAdadelta,
        "fused_adam" => FusedAdam,
        "fused_adamw" => FusedAdamw,
        "fused_lamb" => FusedLamb,
        "fused_rmsprop" => FusedRmsprop,
        "fused_sgd" => FusedSgd,
        "geglu" => Geglu,
        "group_norm_silu" => GroupNormSilu,
        "grouped_matmul" => GroupedMatmul,
        "interpolate_linear" => InterpolateLinear,
        "mm_all_reduce" => MmAllReduce,
        "mm_reduce_scatter" => MmReduceScatter,
        "moe_gating" => MoeGating,
        "nms" => Nms,
        "rms_norm" => RmsNorm,
        "roi_align" => RoiAlign,
        "rotary" => Rotary,
        "rotary_both" => RotaryBoth,
        "scaled_masked_softmax" => ScaledMaskedSoftmax,
        "swiglu" => Swiglu,
        "top_k_top_p" => TopKTopP,
    }
}

/// Returns the operator for a pattern if the release has it and its documentation lists the chip,
/// and whether it is the first operator of the pattern.
fn operator(rule: &str, against: TargetEnvironment<'_>) -> Option<(&'static str, bool)> {
    let rows = table_text("fusions").lines().filter(|line| !line.starts_with('#'));
    // A pattern may have several rows. The first available operator counts.
    rows.filter_map(|line| {
        let mut cells = line.split('\t');
        (cells.next() == Some(rule)).then(|| (cells.next(), cells.next()))
    })
    .enumerate()
    .find_map(|(at, (operator, chips))| {
        let (operator, chips) = (operator?, chips?);
        let of_chip = match against.chip {
            // This pattern matters on specific chips only, so it is not suggested for an unknown
            // chip.
            None => rule != "format_cast",
            Some(chip) => chips == "-" || chips.split(' ').any(|one| one == chip.as_str()),
        };
        (of_chip && is_there(operator, against)).then_some((operator, at == 0))
    })
}

/// Returns whether the release has an operator. Python classes exist in all releases.
fn is_there(operator: &str, against: TargetEnvironment<'_>) -> bool {
    let column = against.target.column;
    match operator.split_once("::") {
        Some(("npu", name)) => {
            let names = against.tables.custom_overloads(name);
            names.iter().any(|name| {
                against.tables.custom(name).is_some_and(|runs| runs.at(column).is_some())
            })
        }
        Some((_, name)) => {
            against.tables.kernel(name).is_some_and(|runs| runs.at(column).is_some())
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::dispatch::Shipped;
    use crate::ops::{Tables, Target};
    use base::chip::ChipFamily;

    #[test]
    fn suggests_only_operators_of_release_and_chip() {
        let tables = Tables::get();
        let of = |rule, version: &str, chip| {
            let target = Target::find(tables, version).unwrap();
            let shipped = Shipped { tables, target: &target };
            let registered = &shipped;
            let against = TargetEnvironment {
                registered,
                tables,
                target: &target,
                chip,
                cann: None,
                dtype: None,
            };
            operator(rule, against)
        };
        assert_eq!(of("rms_norm", "2.9.0", None), Some(("npu::npu_rms_norm", true)));
        assert_eq!(of("swiglu", "2.9.0", Some(ChipFamily::A310P)), None);
        assert_eq!(of("swiglu", "2.9.0", Some(ChipFamily::A910B)), Some(("npu::npu_swiglu", true)));
        assert_eq!(
            of("group_norm_silu", "2.9.0", Some(ChipFamily::A3)),
            Some(("npu::npu_group_norm_swish", false))
        );
        assert_eq!(of("format_cast", "2.9.0", None), None);
        assert!(of("format_cast", "2.9.0", Some(ChipFamily::A310P)).is_some());
        assert_eq!(of("swiglu", "2.1.0-5.0.0", None), None);
        assert_eq!(of("no_such", "2.9.0", None), None);
    }
}
