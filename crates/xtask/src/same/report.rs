//! The report: a line and a short diff for each differing case, then totals.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::compare::Change;
use super::judge::{Outcome, Verdict};

/// The maximum length of the shown part of a line.
const LINE: usize = 160;
/// Text shown before the first difference of two long lines.
const LEAD: usize = 40;

/// Bounds of the report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The maximum number of lines in the diff of one case.
    pub(crate) lines: usize,
    /// The maximum number of cases with a diff.
    pub(crate) diffs: usize,
}

/// Writes one line for each case that is not equal, with a diff if it is not explained.
///
/// Cases with the same changed lines share one diff, because a change of one text affects hundreds
/// of cases.
pub(crate) fn describe_differences(outcomes: &[Outcome], bounds: Bounds) -> String {
    let mut report = String::new();
    let mut shown: HashMap<Vec<&str>, &str> = HashMap::new();
    for outcome in outcomes {
        let name = &outcome.name;
        let label = match &outcome.verdict {
            Verdict::Equal => continue,
            Verdict::Explained(reasons) => {
                let _ = writeln!(report, "explained  {name}: {}", reasons.join("; "));
                continue;
            }
            Verdict::TimedOut => {
                let _ = writeln!(report, "timed out  {name}");
                continue;
            }
            Verdict::Different => "different",
            Verdict::Unstable => "unstable",
        };
        let key: Vec<&str> = outcome.changes.iter().flat_map(Change::changed_lines).collect();
        if let Some(first) = shown.get(&key) {
            let _ = writeln!(report, "{label:9}  {name}: same changed lines as {first}");
        } else if shown.len() < bounds.diffs {
            let _ = writeln!(report, "{label:9}  {name}");
            report.push_str(&describe_changes(outcome, bounds.lines));
            shown.insert(key, name);
        } else {
            let _ = writeln!(report, "{label:9}  {name}: {} changed lines", key.len());
        }
    }
    report
}

fn describe_changes(outcome: &Outcome, limit: usize) -> String {
    let mut text = String::new();
    let total: usize = outcome.changes.iter().map(|change| change.lines.len()).sum();
    let mut left = limit;
    for change in &outcome.changes {
        if left == 0 {
            break;
        }
        let _ = writeln!(text, "    {}", change.part);
        let count = change.lines.len().min(left);
        left -= count;
        for (index, line) in change.lines[..count].iter().enumerate() {
            let partner = find_partner(&change.lines, index);
            let _ = writeln!(text, "      {}", shorten(line, partner));
        }
    }
    if total > limit {
        let _ = writeln!(text, "    … {} more lines", total - limit);
    }
    text
}

/// Returns the line that a removed line became, or the reverse, if the two are adjacent.
fn find_partner(lines: &[String], index: usize) -> Option<&str> {
    let line = &lines[index];
    let partner = if line.starts_with('-') { index.checked_add(1) } else { index.checked_sub(1) };
    let partner = lines.get(partner?)?;
    let pair = (line.starts_with('-') && partner.starts_with('+'))
        || (line.starts_with('+') && partner.starts_with('-'));
    pair.then_some(partner.as_str())
}

/// Escapes control characters, and shortens a long line to the part that differs.
fn shorten(line: &str, partner: Option<&str>) -> String {
    let chars: Vec<char> = line.chars().collect();
    let mut start = 1.min(chars.len());
    if chars.len() > LINE
        && let Some(partner) = partner
    {
        let equal = chars[1..].iter().copied().zip(partner.chars().skip(1));
        let same = equal.take_while(|(one, other)| one == other).count();
        start += same.saturating_sub(LEAD);
    }
    let end = (start + LINE).min(chars.len());
    let mut text: String = chars[..1.min(chars.len())].iter().collect();
    if start > 1 {
        text.push('…');
    }
    for &char in &chars[start.min(end)..end] {
        if char.is_control() { text.extend(char.escape_default()) } else { text.push(char) }
    }
    if end < chars.len() {
        text.push('…');
    }
    text
}

/// Writes the complete diff of each case that is not equal to a file in `dir`.
pub(crate) fn write_diffs(outcomes: &[Outcome], dir: &Path) -> Result<()> {
    let cannot = || format!("cannot write diffs to `{}`", dir.display());
    std::fs::create_dir_all(dir).with_context(cannot)?;
    for outcome in outcomes.iter().filter(|outcome| !outcome.changes.is_empty()) {
        let mut text = String::new();
        for change in &outcome.changes {
            let _ = writeln!(text, "--- {0} (old)\n+++ {0} (new)", change.part);
            for line in &change.lines {
                let _ = writeln!(text, "{line}");
            }
        }
        let name = outcome.name.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        std::fs::write(dir.join(format!("{name}.diff")), text).with_context(cannot)?;
    }
    Ok(())
}

/// Facts about a run in addition to the outcomes of its cases.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Inputs that a program changed.
    pub(crate) changed_inputs: Vec<String>,
    /// Inputs that were not available.
    pub(crate) unexamined: Vec<String>,
    /// Intended differences that explained no line.
    pub(crate) unused: Vec<String>,
    pub(crate) took: Duration,
}

/// Counts by verdict.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    cases: usize,
    equal: usize,
    explained: usize,
    pub(crate) unexplained: usize,
    unstable: usize,
    timed_out: usize,
    took: Duration,
}

impl Counts {
    /// Counts outcomes.
    pub(crate) fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            counts.add(outcome);
        }
        counts
    }

    fn add(&mut self, outcome: &Outcome) {
        self.cases += 1;
        self.took += outcome.took;
        *match outcome.verdict {
            Verdict::Equal => &mut self.equal,
            Verdict::Explained(_) => &mut self.explained,
            Verdict::Different => &mut self.unexplained,
            Verdict::Unstable => &mut self.unstable,
            Verdict::TimedOut => &mut self.timed_out,
        } += 1;
    }

    fn row(&self, class: &str) -> String {
        let Self { cases, equal, explained, unexplained, unstable, timed_out, took } = self;
        let seconds = took.as_secs();
        format!(
            "{class:20} {cases:>7} {equal:>7} {explained:>10} {unexplained:>12} {unstable:>9} \
             {timed_out:>10} {seconds:>8}\n"
        )
    }
}

/// Writes the totals.
pub(crate) fn describe_totals(outcomes: &[Outcome], summary: &Summary) -> String {
    let mut classes: BTreeMap<&str, Counts> = BTreeMap::new();
    for outcome in outcomes {
        classes.entry(&outcome.class).or_default().add(outcome);
    }
    let mut text = format!(
        "{:20} {:>7} {:>7} {:>10} {:>12} {:>9} {:>10} {:>8}\n",
        "class", "cases", "equal", "explained", "unexplained", "unstable", "timed out", "seconds"
    );
    for (class, counts) in &classes {
        text.push_str(&counts.row(class));
    }
    text.push_str(&Counts::of(outcomes).row("all"));
    let name = |outcome: &Outcome| outcome.name.clone();
    let named = |verdict: &Verdict| -> Vec<String> {
        outcomes.iter().filter(|outcome| outcome.verdict == *verdict).map(name).collect()
    };
    let refused = outcomes.iter().filter(|outcome| outcome.refused).map(name).collect();
    for (title, entries) in [
        ("Inputs changed by a program; run the cases alone", summary.changed_inputs.clone()),
        ("Not examined", summary.unexamined.clone()),
        ("Not compared, unstable", named(&Verdict::Unstable)),
        ("Not compared, time limit exceeded by both programs", named(&Verdict::TimedOut)),
        ("Refused by both programs (exit status 2); check the command lines", refused),
        ("Intended differences that matched nothing", summary.unused.clone()),
    ] {
        if !entries.is_empty() {
            let _ = writeln!(text, "{title}: {}", entries.len());
            for entry in entries {
                let _ = writeln!(text, "  {entry}");
            }
        }
    }
    let _ = writeln!(text, "Time: {:.0} s", summary.took.as_secs_f64());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, verdict: Verdict, lines: &[&str]) -> Outcome {
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        let changes = if lines.is_empty() {
            Vec::new()
        } else {
            vec![Change { part: "stdout".to_owned(), lines }]
        };
        let class = name.split('/').next().unwrap().to_owned();
        Outcome {
            name: name.to_owned(),
            class,
            verdict,
            changes,
            refused: false,
            took: Duration::ZERO,
        }
    }

    const BOUNDS: Bounds = Bounds { lines: 3, diffs: 1 };

    #[test]
    fn diffs_are_bounded_and_not_repeated() {
        let lines = ["@@ -1 +1 @@", "-a", "+b", "-c", "+d"];
        let report = describe_differences(
            &[
                outcome("check/a", Verdict::Different, &lines),
                outcome("check/b", Verdict::Different, &lines),
                outcome("check/c", Verdict::Different, &["-x", "+y"]),
                outcome("man/d", Verdict::Explained(vec!["new pages".to_owned()]), &["+z"]),
                outcome("man/e", Verdict::Equal, &[]),
            ],
            BOUNDS,
        );
        assert_eq!(
            report,
            "different  check/a\n    stdout\n      @@ -1 +1 @@\n      -a\n      +b\n    \
             … 2 more lines\ndifferent  check/b: same changed lines as check/a\n\
             different  check/c: 2 changed lines\nexplained  man/d: new pages\n"
        );
    }

    #[test]
    fn long_lines_are_shortened_to_the_difference() {
        let (old, new) = (format!("-{}old", "x".repeat(500)), format!("+{}new", "x".repeat(500)));
        let lines = [old, new];
        let shown = shorten(&lines[0], find_partner(&lines, 0));
        assert_eq!(shown, format!("-…{}old", "x".repeat(LEAD)));
        assert_eq!(shorten("+a\r\u{1b}[1m", None), "+a\\r\\u{1b}[1m");
        assert_eq!(shorten(&"-".repeat(LINE + 2), None).chars().count(), LINE + 2);
    }

    #[test]
    fn totals_name_everything_that_was_not_compared() {
        let mut refused = outcome("check/r", Verdict::Equal, &[]);
        refused.refused = true;
        let summary = Summary {
            unexamined: vec!["logs: no --shared".to_owned()],
            unused: vec!["`man`: new pages".to_owned()],
            took: Duration::from_secs(3),
            changed_inputs: vec!["x/a.py".to_owned()],
        };
        let outcomes = [
            refused,
            outcome("check/a", Verdict::Different, &["-a"]),
            outcome("verify/u", Verdict::Unstable, &["-a"]),
        ];
        let text = describe_totals(&outcomes, &summary);
        for part in [
            "check                      2       1          0            1         0          0        0",
            "run the cases alone: 1\n  x/a.py",
            "Not examined: 1\n  logs: no --shared",
            "Not compared, unstable: 1\n  verify/u",
            "(exit status 2); check the command lines: 1\n  check/r",
            "matched nothing: 1\n  `man`: new pages",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(Counts::of(&outcomes).unexplained, 1);
    }
}
