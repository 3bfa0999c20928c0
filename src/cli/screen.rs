//! Help screens: from a subcommand to text of at most 80 columns.
//!
//! `clap` measures Chinese by characters, breaks lines at blanks only and has English headings, so
//! that the screens are laid out here, as `clap` lays them out in English.

use clap::{Arg, Command};
use unicode_width::UnicodeWidthStr as _;

use super::examples::examples;
use super::help::{Detail, SHARED, usage};
use base::text::Lang;
use data::{help, ui};
use render::{wrap, wrap_command, wrap_hanging};

/// The width of help texts, in columns.
const WIDTH: usize = 80;
/// Shared options that `-h` shows; `--help` shows all.
const SHORT: [&str; 3] = ["json", "output", "help"];
/// Examples that `-h` shows; `--help` shows all.
const FEW: usize = 2;
/// Indentation of the texts of `--help`.
const INDENT: usize = 10;

/// Returns the help screen of a subcommand with this name below the program.
pub(super) fn render(command: &mut Command, name: &str, detail: Detail, lang: Lang) -> String {
    let line = usage(&command.render_usage().to_string(), lang);
    let view = View { detail, lang };
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut parts = vec![wrap(&about, WIDTH).join("\n")];
    let count = if detail == Detail::Short { FEW } else { usize::MAX };
    let examples: Vec<&str> = examples(name).iter().copied().take(count).collect();
    if !examples.is_empty() {
        parts.push(list_examples(&examples, lang));
    }
    parts.push(indent_rest(wrap_hanging(&line, WIDTH, 4), 4).join("\n"));
    parts.extend(view.sections(command));
    let shares = command.get_arguments().any(|arg| arg.get_help_heading() == Some(SHARED));
    if detail == Detail::Short && shares && !name.is_empty() {
        parts.push(ui::HelpAll { name }.text().get(lang).to_owned());
    } else {
        let long = command.get_after_long_help().filter(|_| detail == Detail::Long);
        let after = long.or(command.get_after_help()).map(ToString::to_string);
        let lines = |text: String| -> Vec<String> {
            text.lines().flat_map(|line| wrap(line, WIDTH)).collect()
        };
        parts.extend(after.map(|text| lines(text).join("\n")));
    }
    parts.join("\n\n") + "\n"
}

/// Returns the examples below their heading.
pub(super) fn list_examples(examples: &[&str], lang: Lang) -> String {
    let lines = examples.iter().flat_map(|line| wrap_command(line, WIDTH, 2));
    // The continued lines of a command have their indentation.
    let lines = lines.map(|line| if line.starts_with(' ') { line } else { format!("  {line}") });
    format!("{}\n{}", ui::HELP_EXAMPLES.get(lang), lines.collect::<Vec<_>>().join("\n"))
}

fn indent_rest(lines: Vec<String>, columns: usize) -> Vec<String> {
    let pad = |(number, line)| match number {
        0 => line,
        _ => format!("{}{line}", " ".repeat(columns)),
    };
    lines.into_iter().enumerate().map(pad).collect()
}

#[derive(Clone, Copy)]
struct View {
    detail: Detail,
    lang: Lang,
}

/// A subcommand, an argument or a value, its text, and a note that stays on one line.
struct Row {
    label: String,
    text: String,
    note: Option<String>,
}

impl Row {
    fn new(label: &str, text: String) -> Self {
        Self { label: label.to_owned(), text, note: None }
    }

    /// The lines of the text, with the note behind the last one or below it.
    fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = wrap(&self.text, width);
        if let Some(note) = &self.note {
            match lines.last_mut() {
                Some(last) if last.width() + 1 + note.width() <= width => {
                    last.push(' ');
                    last.push_str(note);
                }
                _ => lines.push(note.clone()),
            }
        }
        lines
    }
}

impl View {
    /// Subcommands, arguments and options below their headings, the shared options last.
    fn sections(self, command: &Command) -> Vec<String> {
        let mut sections = Vec::new();
        let subs = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let about = |sub: &Command| sub.get_about().map(ToString::to_string).unwrap_or_default();
        let subs: Vec<Row> = subs.map(|sub| Row::new(sub.get_name(), about(sub))).collect();
        sections.extend(Self::table(&ui::HELP_COMMANDS.get(self.lang), &subs));
        let shown: Vec<&Arg> = command.get_arguments().filter(|arg| self.shows(arg)).collect();
        let mut headings: Vec<Option<&str>> = Vec::new();
        for arg in &shown {
            let heading = arg.get_help_heading();
            if !headings.contains(&heading) {
                headings.push(heading);
            }
        }
        headings.sort_by_key(|heading| (*heading == Some(SHARED), heading.is_some()));
        for heading in headings {
            let of_heading = |arg: &&&Arg| arg.get_help_heading() == heading;
            let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
                shown.iter().filter(of_heading).copied().partition(|arg| arg.is_positional());
            let title = match heading {
                Some(heading) => format!(
                    "{}{}",
                    help::translate(heading, self.lang),
                    ui::HELP_COLON.get(self.lang)
                ),
                None => ui::HELP_OPTIONS.get(self.lang),
            };
            sections.extend(self.arguments(&ui::HELP_ARGUMENTS.get(self.lang), &positional));
            sections.extend(self.arguments(&title, &options));
        }
        sections
    }

    fn shows(self, arg: &Arg) -> bool {
        if arg.is_hide_set() {
            return false;
        }
        let rare =
            arg.get_help_heading() == Some(SHARED) && !SHORT.contains(&arg.get_id().as_str());
        self.detail == Detail::Long || !(rare || arg.is_hide_short_help_set())
    }

    fn arguments(self, title: &str, args: &[&Arg]) -> Option<String> {
        if self.detail == Detail::Short {
            let row = |arg: &&Arg| Row {
                label: label(arg),
                text: arg.get_help().map(ToString::to_string).unwrap_or_default(),
                note: self.default_value(arg),
            };
            return Self::table(title, &args.iter().map(row).collect::<Vec<_>>());
        }
        let blocks: Vec<String> = args.iter().map(|arg| self.block(arg)).collect();
        (!blocks.is_empty()).then(|| format!("{title}\n{}", blocks.join("\n\n")))
    }

    /// Labels, and texts that wrap beside them.
    fn table(title: &str, rows: &[Row]) -> Option<String> {
        let lines = align(rows, 2);
        (!lines.is_empty()).then(|| format!("{title}\n{}", lines.join("\n")))
    }

    /// An argument with everything about it.
    fn block(self, arg: &Arg) -> String {
        let text = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string);
        let mut parts: Vec<String> = text.unwrap_or_default().split("\n\n").map(below).collect();
        parts.extend(self.values(arg));
        parts.extend(self.default_value(arg).map(|text| below(&text)));
        if let Some(name) = arg.get_env().filter(|_| !arg.is_hide_env_set()) {
            let name = name.to_string_lossy();
            parts.push(below(ui::HelpEnv { name: name.as_ref() }.text().get(self.lang)));
        }
        format!("  {}\n{}", label(arg), parts.join("\n\n"))
    }

    /// The possible values, one a line if they are explained.
    fn values(self, arg: &Arg) -> Option<String> {
        let values =
            if arg.get_action().takes_values() { arg.get_possible_values() } else { vec![] };
        let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).collect();
        if values.is_empty() || arg.is_hide_possible_values_set() {
            return None;
        }
        if values.iter().all(|value| value.get_help().is_none()) {
            let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            let list = names.join(&ui::HELP_COMMA.get(self.lang));
            return Some(below(ui::HelpValues { list }.text().get(self.lang)));
        }
        let text = |help: &dyn ToString| help::translate(&help.to_string(), self.lang);
        let rows: Vec<Row> = values
            .iter()
            .map(|value| {
                Row::new(
                    value.get_name(),
                    value.get_help().map(|help| text(help)).unwrap_or_default(),
                )
            })
            .collect();
        let title = below(ui::HELP_VALUES_TITLE.get(self.lang));
        Some(format!("{title}\n{}", align(&rows, INDENT + 2).join("\n")))
    }

    fn default_value(self, arg: &Arg) -> Option<String> {
        let values = arg.get_default_values();
        if values.is_empty() || arg.is_hide_default_value_set() || !arg.get_action().takes_values()
        {
            return None;
        }
        let values: Vec<_> = values.iter().map(|value| value.to_string_lossy()).collect();
        let value = values.join(" ");
        Some(ui::HelpDefault { value }.text().get(self.lang).to_owned())
    }
}

/// `-o, --output <FILE>`, with room for a short option where there is none.
fn label(arg: &Arg) -> String {
    if arg.is_positional() {
        return arg.to_string();
    }
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {arg}"),
        _ => format!("    {arg}"),
    }
}

/// A paragraph below an option.
fn below(text: impl AsRef<str>) -> String {
    let lines = wrap(text.as_ref(), WIDTH - INDENT);
    lines.iter().map(|line| format!("{:INDENT$}{line}", "")).collect::<Vec<_>>().join("\n")
}

/// Rows with texts that start in one column.
fn align(rows: &[Row], indent: usize) -> Vec<String> {
    let widest = rows.iter().map(|row| row.label.width()).max().unwrap_or(0);
    let start = indent + widest + 2;
    let mut lines = Vec::new();
    for row in rows {
        let (label, pad) = (&row.label, " ".repeat(widest - row.label.width()));
        for (number, line) in row.lines(WIDTH - start).iter().enumerate() {
            lines.push(if number == 0 {
                format!("{:indent$}{label}{pad}  {line}", "")
            } else {
                format!("{:start$}{line}", "")
            });
        }
    }
    lines
}
