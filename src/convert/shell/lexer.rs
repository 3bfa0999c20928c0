//! Words and commands of a POSIX or bash script, with the byte ranges of what they say.
//!
//! Exact where it matters for editing: quotes, escapes, line continuations, comments, here
//! documents and nested substitutions. What stands between the words (`if`, `;`, `|`, `)`) only
//! ends a command.

use std::ops::Range;

use crate::convert::syntax::Unreadable;

/// Nesting beyond this is refused.
const MAX_DEPTH: usize = 64;

/// The placeholder of an expansion in [`Word::text`].
pub(super) const EXPANSION: char = '\0';

/// `$NAME` or `${NAME…}`.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    /// Range of the name.
    pub(super) name: Range<usize>,
    /// Whether it stands in double quotes.
    pub(super) quoted: bool,
    /// The default of `${NAME:-default}` and its relatives.
    pub(super) default: Option<Box<Word>>,
}

/// A stretch of [`Word::text`] that is the same in the source.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    text: usize,
    source: usize,
    len: usize,
    quoted: bool,
}

/// A word: what it says after quotes are removed, and where that stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    /// The whole word in the source, with its quotes.
    pub(super) range: Range<usize>,
    /// Its text without quotes and escapes; [`EXPANSION`] for each expansion.
    pub(super) text: String,
    /// Its variables, in order.
    pub(super) variables: Vec<Variable>,
    stretches: Vec<Stretch>,
}

impl Word {
    /// Range in the source of a part of the text, if it stands there in one piece.
    pub(super) fn source(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let at = self.stretches.partition_point(|stretch| stretch.text <= part.start);
        let stretch = self.stretches.get(at.checked_sub(1)?)?;
        let offset = part.start - stretch.text;
        (offset + part.len() <= stretch.len)
            .then(|| stretch.source + offset..stretch.source + offset + part.len())
    }

    /// Whether all of a part of the text stands without quotes.
    pub(super) fn unquoted(&self, part: &Range<usize>) -> bool {
        self.stretches
            .iter()
            .filter(|s| s.text < part.end && part.start < s.text + s.len)
            .all(|stretch| !stretch.quoted)
    }

    /// The text, unless there is an expansion in it.
    pub(super) fn plain(&self) -> Option<&str> {
        (!self.text.contains(EXPANSION)).then_some(self.text.as_str())
    }

    /// Name and value of `NAME=value`, as parts of the text; with `+=` the value only adds.
    pub(super) fn assignment(&self) -> Option<(Range<usize>, Range<usize>, bool)> {
        let equals = self.text.find('=')?;
        let adds = self.text[..equals].ends_with('+');
        let end = equals - usize::from(adds);
        let name = &self.text[..end];
        is_name(name).then(|| (0..end, equals + 1..self.text.len(), adds))
    }

    fn push(&mut self, text: &str, source: usize, quoted: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(last) = self.stretches.last_mut()
            && last.source + last.len == source
            && last.text + last.len == self.text.len()
            && last.quoted == quoted
        {
            last.len += text.len();
        } else {
            let stretch = Stretch { text: self.text.len(), source, len: text.len(), quoted };
            self.stretches.push(stretch);
        }
        self.text.push_str(text);
    }

    fn expansion(&mut self) {
        self.text.push(EXPANSION);
    }
}

/// Whether a text is a name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A here document.
#[derive(Debug, Clone)]
pub(super) struct HereDoc {
    /// Its lines.
    pub(super) body: Range<usize>,
    /// Whether the shell expands nothing in it.
    pub(super) literal: bool,
    /// Index of the command that reads it.
    pub(super) command: usize,
}

/// Words up to the end of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    /// The words, redirections among them.
    pub(super) words: Vec<Word>,
    /// For the elements of `NAME=(…)`, the name.
    pub(super) array: Option<String>,
}

/// A script taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    /// The commands, those of substitutions among them.
    pub(super) commands: Vec<Command>,
    /// Comments, with the `#`.
    pub(super) comments: Vec<Range<usize>>,
    /// Here documents.
    pub(super) documents: Vec<HereDoc>,
    /// Functions, with the index of the command that their body begins in.
    pub(super) functions: Vec<(String, usize)>,
}

/// Where a list of commands ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Text,
    Parenthesis,
    Backquote,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    script: Script,
    /// Delimiters of here documents that begin at the next line.
    waiting: Vec<(String, bool, bool, usize)>,
}

/// Takes a script apart.
pub(super) fn read(text: &str) -> Result<Script, Unreadable> {
    let mut lexer = Lexer { text, at: 0, depth: 0, script: Script::default(), waiting: Vec::new() };
    lexer.commands(End::Text, None)?;
    Ok(lexer.script)
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn deeper(&mut self) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Unreadable { at: self.at }) } else { Ok(()) }
    }

    /// Reserves the place of a command, so that those of its substitutions come after it.
    fn begin(&mut self, array: Option<&str>) -> usize {
        let command = Command { words: Vec::new(), array: array.map(str::to_owned) };
        self.script.commands.push(command);
        self.script.commands.len() - 1
    }

    fn commands(&mut self, end: End, array: Option<&str>) -> Result<(), Unreadable> {
        self.deeper()?;
        let opened = self.at;
        let mut current = self.begin(array);
        let mut inner = 0usize;
        loop {
            let Some(c) = self.peek() else {
                return if end == End::Text {
                    self.depth -= 1;
                    Ok(())
                } else {
                    Err(Unreadable { at: opened })
                };
            };
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.continuation().is_some() => {
                    self.at += self.continuation().unwrap_or(1);
                }
                '\n' => {
                    self.at += 1;
                    self.read_documents();
                    if array.is_none() {
                        current = self.begin(None);
                    }
                }
                '#' => {
                    let len = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.script.comments.push(self.at..self.at + len);
                    self.at += len;
                }
                '`' if end == End::Backquote => {
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(());
                }
                ')' if end == End::Parenthesis && inner == 0 => {
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(());
                }
                // In `((x << 2))` nothing is a here document.
                '(' if self.arithmetic_command().is_some() => {
                    self.at += self.arithmetic_command().unwrap_or(1);
                }
                '(' | ')' | ';' | '&' | '|' => {
                    inner = match c {
                        '(' => inner + 1,
                        ')' => inner.saturating_sub(1),
                        _ => inner,
                    };
                    let defines = c == '(' && self.rest()[1..].trim_start().starts_with(')');
                    let name = defines.then(|| self.script.commands[current].words.last());
                    let name = name.flatten().and_then(Word::plain).map(str::to_owned);
                    self.at += 1;
                    current = self.begin(None);
                    // The body begins behind the `)`, which ends a command too.
                    self.script.functions.extend(name.map(|name| (name, current + 1)));
                }
                '<' | '>' => self.redirection(current)?,
                _ => {
                    let word = self.word(end)?;
                    self.script.commands[current].words.push(word);
                }
            }
        }
    }

    /// Length of a backslash with the line end behind it.
    fn continuation(&self) -> Option<usize> {
        let rest = self.rest();
        if rest.starts_with("\\\n") {
            Some(2)
        } else if rest.starts_with("\\\r\n") {
            Some(3)
        } else {
            None
        }
    }

    /// Length of `((…))` within a line.
    fn arithmetic_command(&self) -> Option<usize> {
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        line.starts_with("((").then(|| line.find("))"))?.map(|at| at + 2)
    }

    fn redirection(&mut self, command: usize) -> Result<(), Unreadable> {
        let rest = self.rest();
        if rest.starts_with("<<<") {
            self.at += 3;
        } else if rest.starts_with("<<") {
            let tabs = rest.starts_with("<<-");
            self.at += if tabs { 3 } else { 2 };
            while matches!(self.peek(), Some(' ' | '\t')) {
                self.at += 1;
            }
            if matches!(self.peek(), Some('\n' | '\r') | None) {
                return Ok(());
            }
            let start = self.at;
            let delimiter = self.word(End::Text)?;
            if self.at == start {
                self.at += self.peek().map_or(0, char::len_utf8);
                return Ok(());
            }
            let literal = self.text[delimiter.range.clone()].contains(['\'', '"', '\\']);
            self.waiting.push((delimiter.text, tabs, literal, command));
        } else {
            self.at += 1;
            if matches!(self.peek(), Some('&' | '|' | '>')) {
                self.at += 1;
            }
        }
        Ok(())
    }

    /// The bodies of the here documents that begin at this line.
    fn read_documents(&mut self) {
        for (delimiter, tabs, literal, command) in std::mem::take(&mut self.waiting) {
            let start = self.at;
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    self.script.documents.push(HereDoc { body: start..self.at, literal, command });
                    break;
                }
                let len = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let line = rest[..len].trim_end_matches(['\n', '\r']);
                let line = if tabs { line.trim_start_matches('\t') } else { line };
                if line == delimiter {
                    self.script.documents.push(HereDoc { body: start..self.at, literal, command });
                    self.at += len;
                    break;
                }
                self.at += len;
            }
        }
    }

    fn word(&mut self, end: End) -> Result<Word, Unreadable> {
        let start = self.at;
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | ')' | '<' | '>' => break,
                '(' => {
                    let array = word.text.strip_suffix('=').map(|name| name.trim_end_matches('+'));
                    let Some(name) = array.filter(|name| is_name(name)).map(str::to_owned) else {
                        break;
                    };
                    self.at += 1;
                    self.commands(End::Parenthesis, Some(&name))?;
                    word.expansion();
                }
                '`' if end == End::Backquote => break,
                '\\' => {
                    if let Some(len) = self.continuation() {
                        self.at += len;
                    } else {
                        self.escape(&mut word, false);
                    }
                }
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word, end)?,
                '$' | '`' => self.dollar(&mut word, false, end)?,
                _ => {
                    word.push(&self.rest()[..c.len_utf8()], self.at, false);
                    self.at += c.len_utf8();
                }
            }
        }
        word.range = start..self.at;
        Ok(word)
    }

    /// A backslash and the character behind it.
    fn escape(&mut self, word: &mut Word, quoted: bool) {
        self.at += 1;
        if let Some(c) = self.peek() {
            word.push(&self.rest()[..c.len_utf8()], self.at, quoted);
            self.at += c.len_utf8();
        }
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        let start = self.at + 1;
        let Some(len) = self.text[start..].find('\'') else {
            return Err(Unreadable { at: self.at });
        };
        word.push(&self.text[start..start + len], start, true);
        self.at = start + len + 1;
        Ok(())
    }

    fn double(&mut self, word: &mut Word, end: End) -> Result<(), Unreadable> {
        let opened = self.at;
        self.at += 1;
        loop {
            let Some(c) = self.peek() else { return Err(Unreadable { at: opened }) };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    if let Some(len) = self.continuation() {
                        self.at += len;
                        // The words on both sides stay apart for those who split the text.
                        word.text.push(' ');
                    } else if matches!(
                        self.rest()[1..].chars().next(),
                        Some('"' | '\\' | '$' | '`')
                    ) {
                        self.escape(word, true);
                    } else {
                        word.push("\\", self.at, true);
                        self.at += 1;
                    }
                }
                '$' | '`' => self.dollar(word, true, end)?,
                _ => {
                    word.push(&self.rest()[..c.len_utf8()], self.at, true);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// What begins with `$` or a backquote.
    fn dollar(&mut self, word: &mut Word, quoted: bool, end: End) -> Result<(), Unreadable> {
        if self.rest().starts_with('`') {
            if end == End::Backquote {
                return Err(Unreadable { at: self.at });
            }
            self.at += 1;
            word.expansion();
            return self.commands(End::Backquote, None);
        }
        let rest = self.rest();
        let after = &rest[1..];
        if after.starts_with("((") {
            self.at += 3;
            word.expansion();
            self.arithmetic(word, quoted, end)
        } else if after.starts_with('(') {
            self.at += 2;
            word.expansion();
            self.commands(End::Parenthesis, None)
        } else if after.starts_with('{') {
            self.at += 2;
            self.braces(word, quoted, end)
        } else if after.starts_with('\'') && !quoted {
            self.at += 1;
            self.ansi(word)
        } else {
            let len = after
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(after.len());
            self.at += 1;
            // `$12` is `$1` with a 2 behind it.
            let digit = after.starts_with(|c: char| c.is_ascii_digit());
            let len = if digit { 1 } else { len };
            if digit || len > 0 && is_name(&after[..len]) {
                let name = self.at..self.at + len;
                word.variables.push(Variable { name, quoted, default: None });
                word.expansion();
                self.at += len;
            } else if matches!(after.chars().next(), Some('@' | '*' | '#' | '?' | '-' | '$' | '!'))
            {
                word.expansion();
                self.at += 1;
            } else if !after.starts_with('"') {
                word.push("$", self.at - 1, quoted);
            }
            Ok(())
        }
    }

    /// `$'…'`, in which a quote can be escaped; its text counts as unknown.
    fn ansi(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        let opened = self.at;
        self.at += 1;
        word.expansion();
        loop {
            match self.peek() {
                None => return Err(Unreadable { at: opened }),
                Some('\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                Some(c) => self.at += c.len_utf8(),
            }
        }
    }

    fn arithmetic(&mut self, word: &mut Word, quoted: bool, end: End) -> Result<(), Unreadable> {
        let opened = self.at;
        self.deeper()?;
        let mut open = 2usize;
        let mut inside = Word::default();
        while open > 0 {
            let Some(c) = self.peek() else { return Err(Unreadable { at: opened }) };
            match c {
                '$' | '`' => {
                    self.dollar(&mut inside, quoted, end)?;
                    continue;
                }
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        word.variables.append(&mut inside.variables);
        self.depth -= 1;
        Ok(())
    }

    /// Behind `${`, up to the `}`.
    fn braces(&mut self, word: &mut Word, quoted: bool, end: End) -> Result<(), Unreadable> {
        let opened = self.at;
        self.deeper()?;
        word.expansion();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['#', '!']));
        let len = rest[sign..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len() - sign);
        let name = self.at + sign..self.at + sign + len;
        self.at = name.end;
        let mut colon = false;
        if self.rest().starts_with(':') {
            colon = true;
            self.at += 1;
        }
        let defaults = self.rest().starts_with(['-', '=', '+']);
        if defaults {
            self.at += 1;
        } else if colon {
            self.at -= 1;
        }
        let start = self.at;
        let mut operand = Word::default();
        loop {
            let Some(c) = self.peek() else { return Err(Unreadable { at: opened }) };
            match c {
                '}' => break,
                '\\' => match self.continuation() {
                    Some(len) => self.at += len,
                    None => self.escape(&mut operand, quoted),
                },
                '\'' if !quoted => self.single(&mut operand)?,
                '"' => self.double(&mut operand, end)?,
                '$' | '`' => self.dollar(&mut operand, quoted, end)?,
                _ => {
                    operand.push(&self.rest()[..c.len_utf8()], self.at, quoted);
                    self.at += c.len_utf8();
                }
            }
        }
        operand.range = start..self.at;
        self.at += 1;
        self.depth -= 1;
        let text = &self.text[name.clone()];
        let positional = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if defaults || positional || is_name(text) {
            let default = defaults.then(|| Box::new(operand.clone()));
            word.variables.push(Variable { name, quoted, default });
        }
        // Variables inside the operand are uses of their own.
        word.variables.append(&mut operand.variables);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let script = read(text).unwrap();
        let commands = script.commands.iter().filter(|command| !command.words.is_empty());
        commands
            .map(|command| command.words.iter().map(|word| word.text.clone()).collect())
            .collect()
    }

    #[test]
    fn words_lose_quotes_and_continuations() {
        assert_eq!(
            words("A='x y' python \\\n  \"a $B\"c --d=e\\ f # g\nh;i|j && k"),
            [
                vec!["A=x y", "python", "a \0c", "--d=e f"],
                vec!["h"],
                vec!["i"],
                vec!["j"],
                vec!["k"]
            ]
        );
    }

    #[test]
    fn here_documents_comments_and_quotes_hold_no_words() {
        let text = "cat <<EOF > f\nit's cuda\nEOF\ncat <<-'X'\n\t$Y\n\tX\necho done # don't\n";
        let script = read(text).unwrap();
        let bodies: Vec<_> = script.documents.iter().map(|d| &text[d.body.clone()]).collect();
        assert_eq!(bodies, ["it's cuda\n", "\t$Y\n"]);
        assert!(!script.documents[0].literal && script.documents[1].literal);
        assert_eq!(words(text)[2], ["echo", "done"]);
    }

    #[test]
    fn substitutions_are_commands_of_their_own() {
        let all = words("N=$(nvidia-smi -L | wc -l) x \"`nvidia-smi`\" ${A:-b c} A=(1 \"2\")");
        assert!(all.contains(&vec!["nvidia-smi".to_owned(), "-L".to_owned()]));
        assert!(all.contains(&vec!["nvidia-smi".to_owned()]));
        assert!(all.contains(&vec!["1".to_owned(), "2".to_owned()]));
    }

    #[test]
    fn parts_are_found_in_the_source() {
        let text = "x --device=\"cuda:0\" y";
        let script = read(text).unwrap();
        let word = &script.commands[0].words[1];
        assert_eq!(word.text, "--device=cuda:0");
        assert_eq!(&text[word.source(&(9..15)).unwrap()], "cuda:0");
        assert_eq!(word.source(&(7..12)), None);
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        assert_eq!(read("echo 'a").unwrap_err().at, 5);
        assert!(read("echo \"a").is_err());
        assert!(read(&"$(".repeat(100_000)).is_err());
        assert!(read(&"${a:-".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[ \\n\\\\'\"$(){}`<#=:;&|a-c-]{0,60}|\\PC{0,30}") {
            if let Ok(script) = read(&text) {
                for word in script.commands.iter().flat_map(|command| &command.words) {
                    prop_assert!(text.get(word.range.clone()).is_some());
                    for at in 0..word.text.len() {
                        if let Some(range) = word.source(&(at..at + 1)) {
                            prop_assert_eq!(text.as_bytes()[range.start], word.text.as_bytes()[at]);
                        }
                    }
                }
            }
        }
    }
}
