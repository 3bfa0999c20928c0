//! Texts of issues: descriptions that contain versions, logs and output of programs.

/// Minimum number of facts in a text without Markdown to classify it as an issue.
const FACTS: usize = 3;

/// Whether a text was written for other people, unlike a log.
pub(super) fn is_issue(text: &str) -> bool {
    let has_line = |starts: &[&str]| {
        text.lines().any(|line| starts.iter().any(|start| line.trim_start().starts_with(start)))
    };
    let markdown = has_line(&["```", "### ", "## ", "<details", "- [ ]", "- [x]", "**"]);
    // Pages with headings but without facts or failures are documentation.
    let facts = || pasted::read(text).facts.len();
    if markdown {
        return facts() > 0 || errcodes::log::states_cause(text);
    }
    facts() >= FACTS
}
