//! Quotes, escapes and expansions: the parts of a word.

use super::lexer::{End, Lexer};
use super::word::{Variable, Word, is_name};
use crate::syntax::UnparsableText;

impl Lexer<'_> {
    /// Reads a word up to its end.
    pub(super) fn word(&mut self, end: End) -> Result<Word, UnparsableText> {
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

    /// A backslash and the next character.
    fn escape(&mut self, word: &mut Word, quoted: bool) {
        self.at += 1;
        if let Some(c) = self.peek() {
            word.push(&self.rest()[..c.len_utf8()], self.at, quoted);
            self.at += c.len_utf8();
        }
    }

    fn single(&mut self, word: &mut Word) -> Result<(), UnparsableText> {
        let start = self.at + 1;
        let Some(len) = self.text[start..].find('\'') else {
            return Err(UnparsableText { at: self.at });
        };
        word.push(&self.text[start..start + len], start, true);
        self.at = start + len + 1;
        Ok(())
    }

    fn double(&mut self, word: &mut Word, end: End) -> Result<(), UnparsableText> {
        let opened = self.at;
        self.at += 1;
        loop {
            let Some(c) = self.peek() else { return Err(UnparsableText { at: opened }) };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    if let Some(len) = self.continuation() {
                        self.at += len;
                        // The words on both sides stay separate when the text is split.
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

    /// An expansion that begins with `$` or a backquote.
    fn dollar(&mut self, word: &mut Word, quoted: bool, end: End) -> Result<(), UnparsableText> {
        if self.rest().starts_with('`') {
            if end == End::Backquote {
                return Err(UnparsableText { at: self.at });
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
            // `$12` is `$1` followed by a 2.
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
    fn ansi(&mut self, word: &mut Word) -> Result<(), UnparsableText> {
        let opened = self.at;
        self.at += 1;
        word.expansion();
        loop {
            match self.peek() {
                None => return Err(UnparsableText { at: opened }),
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

    fn arithmetic(
        &mut self,
        word: &mut Word,
        quoted: bool,
        end: End,
    ) -> Result<(), UnparsableText> {
        let opened = self.at;
        self.deeper()?;
        let mut open = 2usize;
        let mut inside = Word::default();
        while open > 0 {
            let Some(c) = self.peek() else { return Err(UnparsableText { at: opened }) };
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

    /// After `${`, up to the `}`.
    fn braces(&mut self, word: &mut Word, quoted: bool, end: End) -> Result<(), UnparsableText> {
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
            let Some(c) = self.peek() else { return Err(UnparsableText { at: opened }) };
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
        // Variables inside the operand are separate uses.
        word.variables.append(&mut operand.variables);
        Ok(())
    }
}
