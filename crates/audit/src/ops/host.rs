//! Kernels of torch_npu that compute on the host.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::rows::rows;
use super::tables::Runs;

/// The releases, and how each overload runs in them.
type Kinds = (Vec<&'static str>, HashMap<&'static str, Runs<'static>>);

static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let text = data::text("ops/host.tsv");
    let releases = text.lines().find_map(|line| line.strip_prefix("# Releases: "));
    let rows = rows(text).map(|row| (row[0], Runs::new(row[1]))).collect();
    (releases.map_or_else(Vec::new, |line| line.split(' ').collect()), rows)
});

/// Returns whether the kernel of the overload always computes on the host, in this torch_npu
/// release or in the last earlier one with known sources.
pub fn always(overload: &str, release: &str) -> bool {
    let (releases, kinds) = &*KINDS;
    let Some(runs) = kinds.get(overload) else { return false };
    let at = releases.iter().rposition(|known| order(known) <= order(release));
    at.and_then(|at| runs.at(at)) == Some("always")
}

/// Returns the numbers of a release for comparison. A text that is not a torch_npu release (the
/// version of a wheel, `master`) counts as the newest.
fn order(release: &str) -> Vec<u32> {
    let numbers: Option<Vec<u32>> =
        release.split('.').map(|part| part.trim_start_matches("rc").parse().ok()).collect();
    match numbers {
        Some(numbers) if numbers.first().is_some_and(|first| *first >= 5) => numbers,
        _ => vec![u32::MAX],
    }
}
