//! Reads logs and reports their diagnosis.
#![expect(
    clippy::disallowed_methods,
    reason = "reads standard input and finds the files that the user named"
)]

use data::{OrFault as _, faults};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use crate::cli::{InputKind, TranslateErrorArgs};
use crate::cmd::log_files::MachineFiles;
use crate::cmd::machine::this_machine;
use crate::cmd::output::Output;
use crate::cmd::standard_streams::print_to_stderr;
use crate::cmd::{finish, finish_on_stderr};
use base::report::ExitStatus;
use base::text::{Text, escape_line};
use errcodes::log::{
    self, Filter, Follower, Input, Problem, ProblemKind, Reading, ReportOptions, Time, diagnose,
    redact, redact_text,
};
use explain::lookup::{DESCRIPTION, describe_suggestions};

/// Size of one read from a pipe, in bytes.
const PIECE: usize = 64 << 10;
/// Number of bytes at the start of a stream that identify compression: one block of tar.
const HEAD: usize = 512;

/// Returns whether the inputs are logs: files, texts of several words, or `-`.
pub(super) fn are_logs(args: &TranslateErrorArgs) -> anyhow::Result<bool> {
    let logs = match args.kind {
        Some(InputKind::Code) => false,
        Some(InputKind::Text | InputKind::File) => true,
        None => {
            let logs = args.inputs.iter().filter(|input| is_log(input)).count();
            anyhow::ensure!(logs == 0 || logs == args.inputs.len(), faults::CodesOrLogs.fault());
            logs > 0
        }
    };
    Ok(logs || args.follow)
}

fn is_log(input: &str) -> bool {
    if input == "-" {
        return true;
    }
    if errcodes::answer(input).is_known() {
        return false;
    }
    if Path::new(input).symlink_metadata().is_ok() || has_log_extension(input) {
        return true;
    }
    // A code in a few words is looked up, unless the words state more than the code.
    if !errcodes::find_codes(input).is_empty() {
        return input.contains(char::is_whitespace) && log::states_cause(input);
    }
    input.contains(['/', '\n', ' '])
}

/// Returns whether a word has the extension of a log, even if the file does not exist.
fn has_log_extension(input: &str) -> bool {
    let endings = ["log", "txt", "gz", "tar", "tgz", "zip", "zst", "xz"];
    let ending = Path::new(input).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Reads the logs and reports the first cause.
pub(super) fn run(args: &TranslateErrorArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let filter = Filter {
        ranks: args.rank.clone(),
        devices: args.device.clone(),
        since: args.since.as_deref().map(parse_time).transpose()?,
        until: args.until.as_deref().map(parse_time).transpose()?,
        baseline: read_baseline(&args.good_log)?,
    };
    anyhow::ensure!(
        !filter.has_empty_range(),
        faults::EmptyTimeRange {
            until: args.until.as_deref().unwrap_or_default(),
            since: args.since.as_deref().unwrap_or_default(),
        }
        .fault()
    );
    let mut reading = Reading::default();
    let stdin = args.inputs.iter().any(|input| input == "-") || args.inputs.is_empty();
    if args.follow {
        let other = args.inputs.iter().find(|input| *input != "-");
        anyhow::ensure!(
            other.is_none(),
            faults::FollowReadsStdin {
                input: escape_line(other.map_or("", String::as_str)).as_ref(),
            }
            .fault()
        );
        anyhow::ensure!(output.has_file() || output.is_text(), faults::FollowNeedsOutput.fault());
        follow(output, &mut reading)?;
    } else if stdin {
        log::read_stream("-", io::stdin().lock(), &mut reading);
    }
    let (pipes, others): (Vec<&String>, Vec<&String>) =
        args.inputs.iter().filter(|input| *input != "-").partition(|input| is_own_pipe(input));
    for input in pipes {
        let pipe = File::open(input)
            .or_fault(|| faults::CannotRead { path: escape_line(input).as_ref() }.fault())?;
        log::read_stream(input, pipe, &mut reading);
    }
    let files: Vec<Input> =
        others.into_iter().map(|input| to_input(input, args)).collect::<anyhow::Result<_>>()?;
    if !files.is_empty() {
        let sysroot = this_machine();
        let more = log::read(files, &MachineFiles(&sysroot));
        reading.files.extend(more.files);
        reading.problems.extend(more.problems);
        reading.left_out += more.left_out;
    }
    let mut diagnosis = diagnose(reading, &filter);
    // With `--follow`, the log was passed through.
    if !args.follow
        && let Some(why) = log::describe_unreadable(&diagnosis)
    {
        anyhow::bail!(faults::Plain { why }.fault());
    }
    let subject: Vec<&str> = args.inputs.iter().map(|input| first_line(input)).collect();
    let mut subject = if stdin && subject.is_empty() { "-".to_owned() } else { subject.join(" ") };
    if args.anonymize {
        redact(&mut diagnosis);
        subject = redact_text(&subject);
    }
    let shown =
        ReportOptions { top: args.top, all: args.all, why_not: args.why_not, lang: output.lang() };
    let mut report = log::report(&diagnosis, &subject, shown);
    let is_description = args.inputs.iter().all(|input| is_description(input));
    if diagnosis.causes.is_empty() && !args.follow && !stdin && is_description {
        report.notes.extend(describe_suggestions(&args.inputs.join(" ")));
    }
    if args.follow && !output.has_file() {
        return finish_on_stderr(report, output);
    }
    finish(report, output)
}

/// Returns whether an input is a few words rather than a file or a log.
fn is_description(input: &str) -> bool {
    input.len() <= DESCRIPTION && !input.contains('\n') && !Path::new(input).exists()
}

/// Returns whether an input is a pipe that a shell opened for this program: `<(zcat log.gz)`.
fn is_own_pipe(input: &str) -> bool {
    let fd = input.strip_prefix("/dev/fd/").or_else(|| input.strip_prefix("/proc/self/fd/"));
    fd.is_some_and(|fd| fd.bytes().all(|byte| byte.is_ascii_digit()))
        && std::fs::metadata(input).is_ok_and(|meta| meta.file_type().is_fifo())
}

fn first_line(input: &str) -> &str {
    input.lines().next().unwrap_or_default()
}

/// Returns a file if one of that name exists, else a text.
fn to_input(input: &str, args: &TranslateErrorArgs) -> anyhow::Result<Input> {
    let is_text = match args.kind {
        Some(InputKind::Text) => true,
        Some(InputKind::File) => false,
        _ => !Path::new(input).exists() && input.contains([' ', '\n']),
    };
    if is_text {
        return Ok(Input::Text(input.to_owned()));
    }
    let path = std::path::absolute(input)
        .or_fault(|| faults::NoPath { text: escape_line(input).as_ref() }.fault())?;
    let path = path.to_str().or_fault(|| faults::PathNotUtf8.fault())?.to_owned();
    Ok(Input::Path { shown: input.to_owned(), path })
}

/// Returns the signatures and codes in the logs of a successful run.
fn read_baseline(paths: &[std::path::PathBuf]) -> anyhow::Result<BTreeSet<String>> {
    if paths.is_empty() {
        return Ok(BTreeSet::new());
    }
    let inputs = paths.iter().map(|path| {
        let shown = path.display().to_string();
        let path = std::path::absolute(path)?
            .to_str()
            .or_fault(|| faults::PathNotUtf8.fault())?
            .to_owned();
        anyhow::Ok(Input::Path { shown, path })
    });
    let inputs: Vec<Input> = inputs.collect::<anyhow::Result<_>>()?;
    let reading = log::read(inputs, &MachineFiles(&this_machine()));
    if let Some(problem) = reading.problems.first() {
        let (path, why) = (&problem.name, &problem.detail);
        return Err(faults::BaselineUnread { path, why }.fault().into());
    }
    Ok(reading.into_rules())
}

/// Parses the value of `--since` or `--until`.
fn parse_time(text: &str) -> anyhow::Result<Time> {
    let time = Time::parse(text);
    Ok(time.or_fault(|| faults::NotATime { text: escape_line(text).as_ref() }.fault())?)
}

/// Copies standard input to standard output, and prints the causes in it to standard error.
fn follow(output: &Output, reading: &mut Reading) -> anyhow::Result<()> {
    let mut follower = Follower::new("-");
    let mut input = io::stdin().lock();
    let mut through = io::stdout().lock();
    let mut piece = vec![0; PIECE];
    let mut head = Vec::with_capacity(HEAD);
    loop {
        let count = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(faults::FailedToReadStdin.fault().because(error).into());
            }
        };
        through
            .write_all(&piece[..count])
            .and_then(|()| through.flush())
            .or_fault(|| faults::FailedToForwardLog.fault())?;
        head.extend_from_slice(&piece[..count.min(HEAD - head.len())]);
        for hit in follower.feed(&piece[..count]) {
            let title = errcodes::cause(&hit.cause).map(|cause| cause.title.get(output.lang()));
            let rank = hit.fields.rank.map_or_else(String::new, |rank| format!(" [rank {rank}]"));
            print_to_stderr(&format!(
                "ascend-doctor:{rank} {} ({})",
                title.unwrap_or(&hit.cause),
                hit.cause
            ));
        }
    }
    if let Some(packed) = log::detect_packer(&head) {
        reading.problems.push(Problem {
            name: "-".to_owned(),
            kind: ProblemKind::Unsupported,
            detail: Text::same(packed),
        });
    }
    reading.files.push(follower.finish());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_logs_are_distinguished() {
        for log in ["-", "/var/log/messages", "RuntimeError: error code is 507035", "Cargo.toml"] {
            assert!(is_log(log), "{log}");
        }
        for code in ["507035", "-8005", "EI0006", "errcode:(0x800000, 0x4000, 0)", "nonsense"] {
            assert!(!is_log(code), "{code}");
        }
    }
}
