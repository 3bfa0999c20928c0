//! Texts of issues: descriptions with versions, logs and output of programs in between.

/// The fewest facts of a text that is taken for an issue without Markdown.
const FACTS: usize = 3;

/// Whether a text is one that somebody wrote for others to read, rather than a log.
pub(super) fn is_issue(text: &str) -> bool {
    let has_line = |starts: &[&str]| {
        text.lines().any(|line| starts.iter().any(|start| line.trim_start().starts_with(start)))
    };
    let markdown = has_line(&["```", "### ", "## ", "<details", "- [ ]", "- [x]", "**"]);
    // Headings of a page without any fact or failure are documentation.
    let facts = || pasted::read(text).facts.len();
    if markdown {
        return facts() > 0 || errcodes::log::states_cause(text);
    }
    facts() >= FACTS
}
