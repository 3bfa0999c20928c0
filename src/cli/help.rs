//! The command line in full: the shared options of every subcommand, and the help screens.

use clap::{Args as _, Command, CommandFactory as _};

use super::{Cli, OutputArgs};

/// The heading of the shared options.
const SHARED: &str = "Shared options";
/// Subcommands that write no report, and have no options for one.
const WITHOUT_REPORT: [&str; 3] = ["completions", "man", "verify-child"];
/// Shared options that `-h` shows; `--help` shows all.
const SHORT: [&str; 3] = ["json", "output", "help"];
/// The width of help texts, in columns.
const WIDTH: usize = 80;

/// How much a help screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// `-h`: one screen.
    Short,
    /// `--help`: everything.
    Long,
}

/// Returns the command line with all options, without the parts that only help screens need.
pub fn command() -> Command {
    let plan = ["torch", "torch_npu", "cann", "vllm_ascend"];
    let whole = Cli::command().mut_subcommand("check", |check| {
        check.mut_args(|arg| {
            if plan.contains(&arg.get_id().as_str()) {
                arg.requires("list_compat").hide_short_help(true)
            } else {
                arg
            }
        })
    });
    whole.mut_subcommands(share)
}

/// Adds the shared options to a subcommand, or to its subcommands.
fn share(command: Command) -> Command {
    if command.has_subcommands() {
        command.mut_subcommands(share)
    } else if WITHOUT_REPORT.contains(&command.get_name()) {
        command
    } else {
        // Adding the options of a type replaces the description by that of the type.
        let about = command.get_about().cloned().unwrap_or_default();
        OutputArgs::augment_args(command).about(about).long_about(None)
    }
}

/// Adds what help screens show: examples first, shared options last.
pub fn with_help(mut command: Command, detail: Detail) -> Command {
    command.build();
    describe(command, detail, &mut Vec::new())
}

fn describe(command: Command, detail: Detail, path: &mut Vec<String>) -> Command {
    let command = command.mut_subcommands(|sub| {
        path.push(sub.get_name().to_owned());
        let sub = describe(sub, detail, path);
        path.pop();
        sub
    });
    let name = path.join(" ");
    let shares = command.get_arguments().any(|arg| arg.get_help_heading() == Some(SHARED));
    let mut command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        let arg = if shares && ["help", "version"].contains(&id) {
            arg.help_heading(SHARED)
        } else {
            arg
        };
        let id = arg.get_id().as_str();
        let arg = match id {
            "help" => arg.help("Print a summary (-h) or all options (--help)"),
            _ => arg,
        };
        if detail == Detail::Long {
            return arg;
        }
        let rare =
            arg.get_help_heading() == Some(SHARED) && !SHORT.contains(&arg.get_id().as_str());
        let rare = rare || arg.is_hide_short_help_set();
        arg.hide_possible_values(true).hide_env(true).hide_short_help(rare)
    });
    command = command.help_template(
        "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}",
    );
    let examples = examples(&name);
    if !examples.is_empty() {
        let count = if detail == Detail::Short { 2 } else { examples.len() };
        let lines = examples.iter().take(count).map(|line| format!("  {}", wrap(line)));
        let text = format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"));
        command = command.before_help(text.clone()).before_long_help(text);
    }
    if detail == Detail::Short && shares && !name.is_empty() {
        command = command.after_help(format!("All options: ascend-doctor {name} --help"));
    }
    command
}

/// Breaks a command between words, with a backslash at the end of each line but the last.
fn wrap(command: &str) -> String {
    let mut lines = vec![String::new()];
    for word in command.split(' ') {
        // Two columns of indent, and two for ` \`.
        let indent = if lines.len() == 1 { 2 } else { 6 };
        let last = lines.last_mut().map(std::mem::take).unwrap_or_default();
        let joined = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
        if !last.is_empty() && joined.chars().count() + indent + 2 > WIDTH {
            lines.pop();
            lines.extend([last, word.to_owned()]);
        } else {
            lines.pop();
            lines.push(joined);
        }
    }
    lines.join(" \\\n      ")
}

/// Returns the examples of a subcommand, the two of `-h` first.
fn examples(name: &str) -> &'static [&'static str] {
    match name {
        "" => &["ascend-doctor check", "ascend-doctor translate-error train.log"],
        "check" => &[
            "ascend-doctor check",
            "ascend-doctor check --profile train --require-npu --fail-on warning",
            "ascend-doctor check --sysroot /host --json -o check.json",
            "ascend-doctor check --facts facts.json --only CANN,DRV",
        ],
        "convert" => &[
            "ascend-doctor convert ./yolov5 --diff",
            "ascend-doctor convert -r ./yolov5 -l ./yolov5/train.py",
            "ascend-doctor convert ./yolov5 --target 2.7 --output-dir ./yolov5-npu",
            "ascend-doctor convert -r ./yolov5 --undo",
        ],
        "verify" => &[
            "ascend-doctor verify",
            "ascend-doctor verify --device 0,3 --rung compute --dtype fp16",
            "ascend-doctor verify --format jsonl > verify.jsonl",
        ],
        "audit-ops" => &[
            "ascend-doctor audit-ops model.pt2",
            "ascend-doctor audit-ops --torch-npu 2.7 --soc 910b3 model.pt model.onnx",
            "ascend-doctor audit-ops --installed=torch_npu-2.9.0.post2-cp311-cp311-linux_aarch64.whl model.pt2",
            "ascend-doctor audit-ops --suggest src/",
            "ascend-doctor audit-ops --all-versions trace_view.json",
            "ascend-doctor audit-ops --fail-on unsupported model.pt2",
        ],
        "translate-error" => &[
            "ascend-doctor translate-error 507035 EI0006 ERR02200 -8005",
            "ascend-doctor translate-error ~/ascend/log train.log logs.tar.gz",
            "ascend-doctor translate-error ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
            "ascend-doctor translate-error 'errcode:(0x800000, 0x4000, 0)' 0x80E01801",
            "ascend-doctor translate-error --explain 507015",
            "ascend-doctor translate-error --search heartbeat lost",
            "python train.py 2>&1 | ascend-doctor translate-error --follow",
        ],
        "explain" => &[
            "ascend-doctor explain CANN-HOME",
            "ascend-doctor explain DEV-ACCESS --report check.json",
            "ascend-doctor explain 507035 EI0006 ERR00100 -8005 0x7110001",
            "ascend-doctor explain ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
        ],
        "compat" => &[
            "ascend-doctor compat",
            "ascend-doctor compat --torch 2.7 --python 3.11",
            "ascend-doctor compat --cann 8.3 --arch aarch64",
        ],
        "manifest" => &[
            "ascend-doctor manifest create torch_npu-2.7.1-cp311-cp311-linux_aarch64.whl",
            "ascend-doctor manifest wheel-check wheels/",
        ],
        "manifest create" => &[
            "ascend-doctor manifest create torch_npu.whl -o torch_npu.json",
            "ascend-doctor manifest create /opt/venv/lib/python3.11/site-packages",
        ],
        "manifest wheel-check" => &[
            "ascend-doctor manifest wheel-check wheels/",
            "ascend-doctor manifest wheel-check torch_npu.whl --json",
        ],
        "fleet" => &[
            "ascend-doctor fleet merge reports/ --expect hosts.txt",
            "ascend-doctor fleet merge reports/ --format html -o fleet.html",
        ],
        "fleet merge" => &[
            "ascend-doctor fleet merge reports/ --expect hosts.txt",
            "srun --label ascend-doctor check --json | ascend-doctor fleet merge -",
            "pdsh -w node[001-064] ascend-doctor check --json | ascend-doctor fleet merge -",
            "ascend-doctor fleet merge reports/ --group-by soc --format html -o fleet.html",
        ],
        "report" => &[
            "ascend-doctor report check.json -o report.html",
            "ascend-doctor report check.json verify.json audit.json -o report.html",
            "ascend-doctor check --json | ascend-doctor report - -o report.html",
        ],
        "bundle" => &[
            "ascend-doctor bundle",
            "ascend-doctor bundle --add train.log --add logs.tar.gz -o case-112.tar.gz",
            "ascend-doctor bundle --redact hosts --limit 4",
            "ssh node7 ascend-doctor bundle -o - > node7.tar.gz",
            "ascend-doctor check --facts case-112.tar.gz",
            "ascend-doctor report case-112.tar.gz -o case-112.html",
        ],
        "data" => &["ascend-doctor data status", "ascend-doctor data status --json"],
        "data status" => &[
            "ascend-doctor data status",
            "ascend-doctor data status --data-pack ascend-doctor.data --data-key site.pub --json",
        ],
        "completions" => &[
            "ascend-doctor completions bash > /etc/bash_completion.d/ascend-doctor",
            "ascend-doctor completions zsh > ~/.zfunc/_ascend-doctor",
            "ascend-doctor completions fish > ~/.config/fish/completions/ascend-doctor.fish",
        ],
        "man" => &[
            "ascend-doctor man check | man -l -",
            "ascend-doctor man --output-dir /usr/local/share/man/man1",
        ],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_continue_after_a_backslash() {
        let word = "x".repeat(30);
        let text = wrap(&format!("{word} {word} {word} b"));
        assert_eq!(text, format!("{word} {word} \\\n      {word} b"));
        assert_eq!(wrap("a b"), "a b");
    }
}
