//! `--mark`: comments above the places that need manual work, in files that are not Python and
//! support comments.

use std::collections::BTreeSet;
use std::ops::Range;

use super::joined_lines::continued;
use super::mark_comment::{is_marked, words};
use super::rules::Rules;
use super::site::{Decision, Planner};
use super::{config, container, shell};
use treeedit::kind::FileKind;

/// Adds the comments to the plan of a file of this kind and name (without directories).
pub(super) fn mark(planner: &mut Planner<'_>, kind: FileKind, name: &str) {
    let Some((sign, held)) = comments(planner.text, kind, &name.to_ascii_lowercase()) else {
        return;
    };
    let text = planner.text;
    let mut wanted: BTreeSet<(usize, &'static str)> = BTreeSet::new();
    for site in planner.sites().iter().filter(|site| site.decision == Decision::Flagged) {
        wanted.insert((free_line(text, site.range.start, &held), site.rule.id));
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    for (line, id) in wanted {
        let Some(rule) = Rules::builtin().by_id(id) else { continue };
        if !is_marked(text, line, sign, id) {
            let indent: String =
                text[line..].chars().take_while(|&c| c == ' ' || c == '\t').collect();
            planner.edit(line..line, format!("{indent}{sign} {}{eol}", words(rule)));
        }
    }
}

/// The comment sign of a file, and the spans over several lines that cannot contain comments.
/// `None` if the format has no comments (JSON), or writes them differently (notebooks, whose Python
/// cells are marked as Python).
fn comments(text: &str, kind: FileKind, name: &str) -> Option<(&'static str, Vec<Range<usize>>)> {
    let sign = comment_sign(kind, name)?;
    let is = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match kind {
        FileKind::Shell => Some((sign, shell::spans(text))),
        FileKind::Config | FileKind::Requirements | FileKind::Container
            if is(&[".yml", ".yaml"]) =>
        {
            Some((sign, config::spans(text)))
        }
        FileKind::Container => Some((sign, container::spans(text))),
        FileKind::Native | FileKind::Rust if sign == "#" => Some((sign, Vec::new())),
        _ => Some((sign, continued(text))),
    }
}

/// The comment sign of a file; `None` if the format has no comments or the file is Python.
pub(super) fn comment_sign(kind: FileKind, name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let is = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match kind {
        FileKind::Python | FileKind::Notebook | FileKind::Text => None,
        _ if is(&[".json", ".jsonc"]) => None,
        FileKind::Native if name != "cmakelists.txt" && !is(&[".cmake"]) => Some("//"),
        FileKind::Rust if !is(&[".toml"]) => Some("//"),
        _ => Some("#"),
    }
}

/// The start of the line of `at`, or of the first line above it that can contain a comment.
fn free_line(text: &str, at: usize, held: &[Range<usize>]) -> usize {
    let mut line = line_start(text, at);
    // Spans may be nested.
    while let Some(span) = held.iter().find(|span| span.start < line && line < span.end) {
        line = line_start(text, span.start);
    }
    line
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::apply;
    use crate::mark_comment::MARK;
    use crate::options::Options;
    use crate::requirements;

    fn marked(name: &str, text: &str) -> String {
        let options = Options { mark: true, ..Options::default() };
        let plan = |text: &str| {
            let mut planner = Planner::of(text, &options, None);
            let kind = FileKind::of_name(name).unwrap();
            match kind {
                FileKind::Shell => shell::plan(&mut planner).unwrap(),
                FileKind::Container => container::plan(&mut planner, name).unwrap(),
                FileKind::Requirements => requirements::plan(&mut planner, name),
                _ => config::plan(&mut planner, name).unwrap(),
            }
            mark(&mut planner, kind, name);
            planner.finish()
        };
        let out = apply(text, &plan(text).edits);
        assert_eq!(plan(&out).edits, [], "a second run marks again\n{out}");
        // Shortens the long texts of the marks.
        let short = |line: &str| match line.find(MARK) {
            Some(at) => line[..at + MARK.len() + 6].to_owned(),
            None => line.to_owned(),
        };
        out.lines().map(short).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn marks_stand_where_comments_can() {
        for (name, before, after) in [
            (
                "a.sh",
                "if x; then\n  nvidia-smi\nfi",
                "if x; then\n  # ascend-doctor: CV0520\n  nvidia-smi\nfi",
            ),
            ("a.sh", "a \\\n b $(nvidia-smi)", "# ascend-doctor: CV0520\na \\\n b $(nvidia-smi)"),
            ("a.sh", "X=\"1\n$(nvidia-smi)\"", "# ascend-doctor: CV0520\nX=\"1\n$(nvidia-smi)\""),
            ("a.sh", "bash <<E\nnvidia-smi\nE", "# ascend-doctor: CV0520\nbash <<E\nnvidia-smi\nE"),
            (
                "Dockerfile",
                "FROM a\nRUN b \\\n  && nvidia-smi",
                "FROM a\n# ascend-doctor: CV0520\nRUN b \\\n  && nvidia-smi",
            ),
            (
                "c.yml",
                "a:\n  run: |\n    nvidia-smi\n",
                "a:\n  # ascend-doctor: CV0520\n  run: |\n    nvidia-smi",
            ),
            (
                "c.toml",
                "[a]\naccelerator = 'gpu'",
                "[a]\n# ascend-doctor: CV0524\naccelerator = 'gpu'",
            ),
            ("c.json", "{\"accelerator\": \"gpu\"}", "{\"accelerator\": \"gpu\"}"),
            (
                "requirements.txt",
                "a\ncupy-cuda12x==1",
                "a\n# ascend-doctor: CV0486\ncupy-cuda12x==1",
            ),
        ] {
            assert_eq!(marked(name, before), after, "{name}");
        }
    }
}
