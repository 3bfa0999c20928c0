//! Text of one comment of `--mark`, and the test whether a line already has it. Used for Python and
//! all other kinds of files.

use super::rules::Rule;

/// Prefix of every mark, after the comment sign and before the rule.
pub(super) const MARK: &str = "ascend-doctor: ";

/// Returns the text of a mark on one line: the rule, and its advice or note.
pub(super) fn words(rule: &Rule) -> String {
    let text = rule.text().advice.or(rule.text().note);
    let said =
        text.map_or_else(|| rule.name.to_owned(), |text| format!("{}: {}", rule.name, text.en));
    format!("{MARK}{} {}", rule.id, said.replace(['\n', '\r'], " "))
}

/// Returns whether the comments directly above the line that begins at `line`, or that begin there,
/// contain a mark of this rule.
pub(super) fn is_marked(text: &str, line: usize, sign: &str, id: &str) -> bool {
    let is_comment = |line: &&str| line.trim_start().starts_with(sign);
    let above = text[..line].strip_suffix('\r').unwrap_or(&text[..line]);
    let above = lines(above).rev().take_while(is_comment);
    let here = lines(&text[line..]).take_while(is_comment);
    above.chain(here).any(|comment| comment.contains(MARK) && comment.contains(id))
}

/// Returns the lines as Python counts them: a lone carriage return ends one too.
fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().flat_map(|line| line.split('\r'))
}
