//! `completions` and `man`: describe the command line for shells and for `man`.

use std::collections::BTreeSet;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use data::{OrFault as _, faults};

use super::audit_ops::target::known_releases;
use super::output_file::{ReplaceMode, replace};
use super::standard_streams::print;
use crate::cli::{CompletionsArgs, ManArgs};
use audit::ops::Tables;
use base::report::ExitStatus;
use base::text::{Lang, escape_line, nearest};
use convert::rules::Rules;
use data::{Catalog, Matrix};

/// The command name of the program.
const NAME: &str = "ascend-doctor";

/// Writes the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs, lang: Lang) -> anyhow::Result<ExitStatus> {
    let script = script(args.shell, lang);
    print(|_, out| out.write_all(&script)).or_fault(|| faults::FailedToWriteCompletions.fault())?;
    Ok(ExitStatus::Clean)
}

/// The completions of a shell.
fn script(shell: Shell, lang: Lang) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_known_values(command(lang)), NAME, &mut script);
    if shell == Shell::Bash {
        // clap_complete 4.6.11 spells a name with a hyphen in two ways, so that no option of a
        // subcommand would be found. tests/program/cli_conventions.rs lets bash complete one.
        let text = String::from_utf8_lossy(&script);
        script = text.replace("ascend__subcmd__doctor", "ascend__doctor").into_bytes();
    }
    script
}

/// Adds the values in the tables: IDs, rules, chips and versions.
fn with_known_values(command: Command) -> Command {
    let known = known_values();
    command.mut_subcommands(|sub| {
        let name = sub.get_name().to_owned();
        sub.mut_args(|arg| {
            let place = known.iter().find(|(subs, id, _)| {
                arg.get_id() == *id && (subs.is_empty() || subs.contains(&name.as_str()))
            });
            match place {
                Some((_, _, values)) => {
                    arg.value_parser(PossibleValuesParser::new(values.iter().cloned()))
                }
                None => arg,
            }
        })
    })
}

/// Subcommands (all if empty), an argument, and its known values.
type KnownValues = (&'static [&'static str], &'static str, Vec<String>);

fn known_values() -> Vec<KnownValues> {
    let catalog = Catalog::builtin();
    let families = || {
        catalog
            .families()
            .filter(|family| !family.entries.is_empty())
            .map(|f| f.family.to_uppercase())
    };
    let rules = Rules::builtin().rules.iter().map(|rule| rule.id.to_owned());
    let explained = catalog.entries().map(|entry| entry.id.clone()).chain(families()).chain(rules);
    let checked = checks::all().map(|check| check.id.to_string());
    let checked: Vec<String> = checked.chain(families()).collect();
    let matrix = Matrix::builtin();
    let texts = |versions: &mut dyn Iterator<Item = String>| -> Vec<String> {
        let all: BTreeSet<String> = versions.collect();
        all.into_iter().collect()
    };
    let releases = known_releases(Tables::get());
    let releases = texts(&mut releases.iter().map(ToString::to_string));
    vec![
        (&["explain"], "names", explained.collect()),
        (&["check"], "query", fleet::QUERY_KEYS.iter().map(|key| key.name.to_owned()).collect()),
        (&["check"], "only", checked.clone()),
        (&["check"], "skip", checked),
        (&["audit-ops", "compat"], "soc", base::chip_name::NAMES.map(str::to_owned).to_vec()),
        (&["audit-ops"], "torch_npu", releases.clone()),
        (&["convert"], "target", releases),
        (&[], "torch", texts(&mut matrix.torch_versions().map(|version| version.to_string()))),
        (&[], "torch_npu", texts(&mut matrix.torch_npu_versions().map(|v| v.to_string()))),
        (&[], "cann", texts(&mut matrix.cann_versions().map(|version| version.to_string()))),
        (&[], "vllm_ascend", texts(&mut matrix.vllm_ascend_versions().map(|v| v.to_string()))),
    ]
}

/// Writes a manual page, or all pages into a directory.
pub(super) fn man(args: &ManArgs, lang: Lang) -> anyhow::Result<ExitStatus> {
    let pages = pages(lang)?;
    if let Some(dir) = &args.output_dir {
        guard::named::open_or_create_dir(dir, 0o777)
            .or_fault(|| faults::CannotMakeDirectory { path: dir.display() }.fault())?;
        for (name, page) in &pages {
            let path = dir.join(format!("{name}.1"));
            replace(&path, ReplaceMode::RenameOrWrite, |out| out.write_all(page))
                .or_fault(|| faults::CannotWrite { path: path.display() }.fault())?;
        }
        return Ok(ExitStatus::Clean);
    }
    let wanted = std::iter::once(NAME).chain(args.words.iter().map(String::as_str));
    let wanted = wanted.collect::<Vec<_>>().join("-");
    let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) else {
        let asked = args.words.join(" ");
        let names = pages.iter().filter_map(|(name, _)| Some(plain(name)?.to_owned()));
        let near = nearest(&asked.replace(' ', "-"), names, 1);
        let name = escape_line(&asked).into_owned();
        return Err(match near.first() {
            Some(near) => {
                faults::NoSuchSubcommandHint { name, why: faults::DidYouMean { near }.fault() }
                    .fault()
            }
            None => faults::NoSuchSubcommand { name }.fault(),
        }
        .into());
    };
    print(|_, out| out.write_all(page)).or_fault(|| faults::FailedToWritePage.fault())?;
    Ok(ExitStatus::Clean)
}

/// `check` of `ascend-doctor-check`.
fn plain(page: &str) -> Option<&str> {
    page.strip_prefix(NAME)?.strip_prefix('-')
}

/// The command line without subcommands for internal use.
fn command(lang: Lang) -> Command {
    let whole = crate::cli::described(crate::cli::command(), lang);
    let shown: Vec<Command> =
        whole.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned().collect();
    let mut bare = Command::new(NAME).version(env!("CARGO_PKG_VERSION")).propagate_version(true);
    if let Some(about) = whole.get_about() {
        bare = bare.about(about.clone());
    }
    if let Some(after) = whole.get_after_help() {
        bare = bare.after_help(after.clone());
    }
    let own =
        whole.get_arguments().filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()));
    let own: Vec<clap::Arg> = own.cloned().collect();
    bare.args(own).subcommands(shown.into_iter().filter(|sub| sub.get_name() != "help"))
}

/// All pages by the name of their command: `ascend-doctor-manifest-create`.
fn pages(lang: Lang) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut whole = command(lang).disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    let mut todo = vec![whole];
    while let Some(command) = todo.pop() {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        pages.push((name.to_owned(), page));
        todo.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned());
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_a_page_and_the_inner_one_has_none() {
        let pages = pages(Lang::En).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for sub in crate::cli::command().get_subcommands() {
            let name = format!("{NAME}-{}", sub.get_name());
            assert_eq!(names.contains(&name.as_str()), !sub.is_hide_set(), "{name} in {names:?}");
        }
        assert!(names.contains(&"ascend-doctor-manifest-wheel-check"), "{names:?}");
        for (name, page) in &pages {
            let page = String::from_utf8(page.clone()).unwrap();
            assert!(page.contains(".TH") && !page.contains("verify-child"), "{name}: {page}");
        }
    }

    #[test]
    fn completions_know_subcommands_options_and_values() {
        for shell in <Shell as clap::ValueEnum>::value_variants() {
            let script = String::from_utf8(script(*shell, Lang::En)).unwrap();
            // Only these shells receive the values.
            let values = matches!(shell.to_string().as_str(), "bash" | "fish" | "zsh");
            let words = ["translate-error", "require-npu", "fail-on", "junit"];
            for word in &words[..if values { 4 } else { 3 }] {
                assert!(script.contains(word), "{shell} lacks {word}");
            }
            assert!(!script.contains("verify-child"), "{shell}");
        }
    }
}
