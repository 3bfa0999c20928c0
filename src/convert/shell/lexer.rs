//! Words and commands of a POSIX or bash script, with the byte ranges of their text.
//!
//! Exact where it matters for editing: quotes, escapes, line continuations, comments, here
//! documents and nested substitutions. Anything between the words (`if`, `;`, `|`, `)`) only ends a
//! command.

use std::ops::Range;

use super::word::Word;
use crate::syntax::UnparsableText;

/// Deeper nesting is rejected.
const MAX_DEPTH: usize = 64;

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
    /// The words, including redirections.
    pub(super) words: Vec<Word>,
    /// For the elements of `NAME=(…)`, the name.
    pub(super) array: Option<String>,
}

/// A parsed script.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    /// The commands, including those of substitutions.
    pub(super) commands: Vec<Command>,
    /// Comments, with the `#`.
    pub(super) comments: Vec<Range<usize>>,
    /// Here documents.
    pub(super) documents: Vec<HereDoc>,
    /// Functions, with the index of the command in which their body begins.
    pub(super) functions: Vec<(String, usize)>,
}

/// Where a list of commands ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Parenthesis,
    Backquote,
}

/// The text being parsed, and the state of the parser.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) script: Script,
    /// Delimiters of here documents that begin at the next line.
    waiting: Vec<(String, bool, bool, usize)>,
    /// There is no `))` between the current place and this one. Without this bound, a line of
    /// parentheses would be searched to its end for each of them.
    open_until: usize,
}

/// Parses a script.
pub(super) fn read(text: &str) -> Result<Script, UnparsableText> {
    let (script, waiting) = (Script::default(), Vec::new());
    let mut lexer = Lexer { text, at: 0, depth: 0, script, waiting, open_until: 0 };
    lexer.commands(End::Text, None)?;
    Ok(lexer.script)
}

impl<'a> Lexer<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn deeper(&mut self) -> Result<(), UnparsableText> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(UnparsableText { at: self.at }) } else { Ok(()) }
    }

    /// Reserves the place of a command, so that those of its substitutions come after it.
    pub(super) fn begin(&mut self, array: Option<&str>) -> usize {
        let command = Command { words: Vec::new(), array: array.map(str::to_owned) };
        self.script.commands.push(command);
        self.script.commands.len() - 1
    }

    pub(super) fn commands(&mut self, end: End, array: Option<&str>) -> Result<(), UnparsableText> {
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
                    Err(UnparsableText { at: opened })
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
                // `((x << 2))` contains no here document.
                '(' if let Some(length) = self.arithmetic_command() => self.at += length,
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
                    // The body begins after the `)`, which also ends a command.
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

    /// Length of a backslash with the following line end.
    pub(super) fn continuation(&self) -> Option<usize> {
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
    fn arithmetic_command(&mut self) -> Option<usize> {
        let rest = self.rest();
        if !rest.starts_with("((") || self.at < self.open_until {
            return None;
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let close = line.find("))");
        if close.is_none() {
            self.open_until = self.at + line.len();
        }
        close.map(|at| at + 2)
    }

    fn redirection(&mut self, command: usize) -> Result<(), UnparsableText> {
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
