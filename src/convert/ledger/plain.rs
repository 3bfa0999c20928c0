//! Tokens in files other than Python and notebooks, explained line by line.

use std::ops::Range;
use std::path::Path;

use foldhash::HashSet;
use treeedit::kind::FileKind;

use super::blocker::Blocker;
use super::claims::{Planned, manual, planned};
use super::comments::comments;
use super::entry::{Claim, Class, Definition, DefinitionKind, Reason, Wanted};
use super::text_lines::TextLines;
use super::tokens::{Token, is_bare};
use super::wording;
use crate::rules::{Place, Rule, Rules};
use crate::site::{Decision, FilePlan};

/// Configuration keys whose values are text for people.
const WORDS: &[&str] = &[
    "description",
    "desc",
    "summary",
    "title",
    "name",
    "keywords",
    "classifiers",
    "help",
    "message",
    "license",
    "author",
    "authors",
    "label",
    "labels",
    "homepage",
    "url",
];

/// Commands of scripts that print their arguments.
const PRINTS: &[&str] =
    &["echo", "printf", "@echo", "message(", "log", "info", "warn", "error", "RUN echo"];

/// A file of one of these kinds.
pub(super) struct PlainFile<'a> {
    pub kind: FileKind,
    pub name: &'a str,
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub plan: &'a FilePlan,
    pub written: bool,
}

impl PlainFile<'_> {
    /// Explains the tokens of the file.
    pub(super) fn explain(&self) -> (Vec<Claim>, Vec<Definition>) {
        let lines = TextLines::of(self.text);
        let comments = comments(self.kind, self.name, self.text);
        let definitions = self.definitions(&lines);
        let variables: HashSet<&str> = definitions.iter().map(|one| one.name.as_str()).collect();
        let whole = self.whole_file();
        let mut next = 0;
        let planned = planned(self.tokens, self.plan, self.written);
        let claims = self.tokens.iter().zip(planned).map(|(token, planned)| {
            let range = token.range();
            while comments.get(next).is_some_and(|comment| comment.end <= range.start) {
                next += 1;
            }
            let is_comment = comments.get(next).is_some_and(|comment| comment.start < range.end);
            let line = lines.line(range.start);
            if let Planned::Changed(rule) = planned {
                return Claim::Is(Class::Changed { rule });
            }
            if is_comment {
                return Claim::Is(Class::kept(Reason::Comment, line));
            }
            if let Some(class) = planned.class() {
                return Claim::Is(class);
            }
            if self.is_document() {
                return Claim::Is(Class::kept(Reason::Prose, line));
            }
            if let Some(rule) = self.flagged_line(line).or(whole) {
                return Claim::Is(manual(rule));
            }
            self.code(&lines, &range, &variables)
        });
        (claims.collect(), definitions)
    }

    /// Whether the file is text for readers, such as Markdown.
    fn is_document(&self) -> bool {
        let ending = Path::new(self.name).extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| {
            ["md", "markdown", "rst", "mdx"].iter().any(|one| ending.eq_ignore_ascii_case(one))
        })
    }

    /// The worst reported rule of a native source: such a source is rewritten as a whole.
    fn whole_file(&self) -> Option<&'static Rule> {
        if !matches!(self.kind, FileKind::Native | FileKind::Rust) {
            return None;
        }
        let flagged = self.plan.sites.iter().filter(|site| site.decision == Decision::Flagged);
        flagged.map(|site| site.rule).min_by_key(|rule| (Blocker::of(rule), rule.id))
    }

    fn flagged_line(&self, line: u32) -> Option<&'static Rule> {
        let sites = &self.plan.sites;
        let first = sites.partition_point(|site| site.line < line);
        let same = sites[first..].iter().take_while(|site| site.line == line);
        same.filter(|site| site.decision == Decision::Flagged).map(|site| site.rule).next()
    }

    /// A token in code, or in the value of a configuration.
    fn code(
        &self,
        lines: &TextLines<'_>,
        range: &Range<usize>,
        variables: &HashSet<&str>,
    ) -> Claim {
        let number = lines.line(range.start);
        let (line, column) = lines.around(range.start);
        let place = column..(column + range.len()).min(line.len());
        if wording::is_address(line, &place) {
            return Claim::Is(Class::kept(Reason::Address, number));
        }
        let trimmed = line.trim_start();
        if self.kind == FileKind::Native
            && ["#if", "#elif"].iter().any(|sign| trimmed.starts_with(sign))
        {
            return Claim::Is(Class::kept(Reason::BuildGuard, number));
        }
        if self.kind == FileKind::Native && line[..column].contains("<< \"") {
            return Claim::Is(Class::kept(Reason::Prose, number));
        }
        let scripted = matches!(
            self.kind,
            FileKind::Shell | FileKind::Container | FileKind::Native | FileKind::Text
        );
        if scripted && PRINTS.iter().any(|print| trimmed.starts_with(print)) && !line.contains("$(")
        {
            return Claim::Is(Class::kept(Reason::Prose, number));
        }
        if let Some((key, value_at)) = key(line)
            && matches!(self.kind, FileKind::Config | FileKind::Requirements | FileKind::Container)
        {
            if column < value_at {
                let bare = is_bare(key) && !key.eq_ignore_ascii_case("gpu");
                // A longer name is a key, regardless of the program that reads it.
                return if bare {
                    Claim::Open
                } else {
                    let key_of_table = Class::kept(Reason::TableKey, number);
                    Claim::OwnOr(key.replace('-', "_"), Wanted::Code, key_of_table)
                };
            }
            if WORDS.contains(&key) || wording::is_sentence(&line[value_at..]) {
                return Claim::Is(Class::kept(Reason::Prose, number));
            }
        } else if matches!(self.kind, FileKind::Config)
            && (wording::is_sentence(line) || wording::is_long_text(line))
        {
            return Claim::Is(Class::kept(Reason::Prose, number));
        }
        if line.contains("docker run") && line[column..].starts_with("gpus") {
            return Claim::Is(manual(Rules::builtin().site(Place::DockerRunGpus)));
        }
        if let Some(option) = wording::option(line, &place) {
            return Claim::Own(option, Wanted::Member);
        }
        let name = wording::identifier(line, &place);
        if variables.contains(name) {
            return Claim::Own(name.to_owned(), Wanted::Variable);
        }
        match wording::path(line, &place) {
            Some(path) if path.len() > name.len() => Claim::Own(path.to_owned(), Wanted::Path),
            _ if is_bare(name) => Claim::Open,
            _ => Claim::Own(name.to_owned(), Wanted::Any),
        }
    }

    /// Variables of scripts, keys of configurations, macros of native sources.
    fn definitions(&self, lines: &TextLines<'_>) -> Vec<Definition> {
        let mut found = Vec::new();
        for token in self.tokens {
            let range = token.range();
            let (line, column) = lines.around(range.start);
            let number = lines.line(range.start);
            let name = match self.kind {
                FileKind::Shell | FileKind::Container | FileKind::Text => {
                    assigned(line, column).or_else(|| case_of_option(line))
                }
                FileKind::Config | FileKind::Requirements => {
                    key(line).filter(|(_, value_at)| column < *value_at).map(|(key, _)| key)
                }
                FileKind::Native => native(line, column),
                _ => None,
            };
            if let Some(name) = name {
                let kind = match self.kind {
                    FileKind::Config | FileKind::Requirements => DefinitionKind::Setting,
                    _ if case_of_option(line).is_some() => DefinitionKind::Member,
                    _ => DefinitionKind::Name,
                };
                found.push(Definition { name: name.replace('-', "_"), kind, line: number });
            }
        }
        found
    }
}

/// The key of a line of YAML, TOML, INI or JSON, and where its value begins.
fn key(line: &str) -> Option<(&str, usize)> {
    let trimmed = line.trim_start().trim_start_matches("- ").trim_start_matches(['{', ',', ' ']);
    let offset = line.len() - trimmed.len();
    let end = trimmed.find([':', '='])?;
    let key = trimmed[..end].trim().trim_matches(['"', '\'']);
    let named = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    named.then_some((key, offset + end + 1))
}

/// The option that a branch of a script handles: `--use-cuda)`.
fn case_of_option(line: &str) -> Option<&str> {
    let pattern = line.trim().split(')').next().filter(|_| line.contains(')'))?;
    let option = pattern.split('|').find(|one| one.trim().starts_with("--"))?;
    Some(option.trim().trim_start_matches('-'))
}

/// The macro, function or variable that a line of C++ defines at `column`.
fn native(line: &str, column: usize) -> Option<&str> {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = line.as_bytes();
    let before = bytes[..column].iter().rev().take_while(|byte| inside(byte)).count();
    let after = bytes[column..].iter().take_while(|byte| inside(byte)).count();
    let (from, to) = (column - before, column + after);
    let (head, rest) = (line[..from].trim_end(), line[to..].trim_start());
    let is_type = head.ends_with(|c: char| c.is_alphanumeric() || "_&*>".contains(c));
    let returned = head.ends_with("return") || head.contains(['(', '=', '"', '{']);
    let is_class = head.ends_with("class") || head.ends_with("struct");
    let defines = head.trim_start() == "#define"
        || is_class && (rest.starts_with('{') || rest.starts_with(':') || rest.is_empty())
        || is_type && !returned && (rest.starts_with('(') || rest.starts_with("= "));
    defines.then_some(&line[from..to])
}

/// The variable that a line of a script assigns at `column`.
fn assigned(line: &str, column: usize) -> Option<&str> {
    let start = line.get(..column)?;
    let from = start
        .bytes()
        .rev()
        .take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
        .count();
    let rest = &line[column - from..];
    let length =
        rest.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    let (name, behind) = rest.split_at(length);
    let before = line[..column - from].trim_end();
    let fresh = before.is_empty()
        || ["export", "local", "readonly", "declare", "ARG", "ENV", "for", "&&", ";", "then", "do"]
            .iter()
            .any(|word| before.ends_with(word));
    let behind = behind.trim_start_matches([':', '?', '+']);
    let sets = behind.starts_with('=') && !behind.starts_with("==")
        || behind.starts_with("()")
        || before.ends_with("for") && behind.starts_with(" in ")
        || before.ends_with("ARG") && behind.is_empty()
        // A Makefile allows spaces.
        || before.is_empty() && behind.trim_start().trim_start_matches([':', '?', '+']).starts_with('=');
    (fresh && sets).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tokens;

    fn claims(name: &str, text: &str) -> Vec<Claim> {
        let (tokens, _) = tokens::find(text, 99);
        let plan = FilePlan::default();
        let kind = FileKind::of_name(name).unwrap();
        PlainFile { kind, name, text, tokens: &tokens, plan: &plan, written: true }.explain().0
    }

    fn reason(claim: &Claim) -> Option<Reason> {
        match claim {
            Claim::Is(Class::Kept { reason, .. }) => Some(*reason),
            _ => None,
        }
    }

    #[test]
    fn scripts() {
        let found = claims("a.sh", "GPUS=$1 # gpus\nrun $GPUS --gpu-ids 0 gpu\necho no GPU\n");
        assert_eq!(found[0], Claim::Own("GPUS".into(), Wanted::Variable));
        assert_eq!(reason(&found[1]), Some(Reason::Comment));
        assert_eq!(found[2], Claim::Own("GPUS".into(), Wanted::Variable));
        assert_eq!(found[3], Claim::Own("gpu_ids".into(), Wanted::Member));
        assert_eq!(found[4], Claim::Open, "a value that is a device stays open");
        assert_eq!(reason(&found[5]), Some(Reason::Prose));
    }

    #[test]
    fn configurations() {
        let found = claims("a.yaml", "n_gpus: 4\ndescription: gpu\ndevice: gpu\ncuda: true\n");
        let key = Class::kept(Reason::TableKey, 1);
        assert_eq!(found[0], Claim::OwnOr("n_gpus".into(), Wanted::Code, key));
        assert_eq!(reason(&found[1]), Some(Reason::Prose));
        assert_eq!(found[2..], [Claim::Open, Claim::Open]);
    }

    #[test]
    fn documents_are_prose() {
        let found = claims("README.md", "```\npython train.py --device cuda\n```\n");
        assert_eq!(reason(&found[0]), Some(Reason::Prose));
    }

    #[test]
    fn names_at_the_ends_of_lines_do_not_panic() {
        for text in [
            "gpu",
            "=gpu",
            "中gpu中=1",
            "for gpu",
            "gpu:",
            "{\"gpu\"",
            "#define gpu",
            "- gpu",
            "\tgpu =",
        ] {
            for name in
                ["a.sh", "a.yaml", "a.cu", "Dockerfile", "Makefile", "requirements.txt", "a.rs"]
            {
                claims(name, text);
            }
        }
    }
}
