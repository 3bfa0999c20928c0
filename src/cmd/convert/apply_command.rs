//! The command that applies a preview in place.

use clap::ValueEnum;

use crate::cli::ConvertArgs;
use base::text::shell_quote;
use convert::options::Import;
use convert::outcome::argument;

/// Returns the command with the options that affect the changes. Lists follow `-r`.
pub(super) fn apply_command(args: &ConvertArgs) -> String {
    let mut words = vec!["ascend-doctor convert -r".to_owned()];
    words.extend(args.selected().iter().map(|path| argument(&path.display().to_string())));
    for launch in &args.launch {
        words.push(format!("-l {}", argument(&launch.display().to_string())));
    }
    for exclude in &args.exclude {
        words.push(format!("-e {}", argument(exclude)));
    }
    let list = |option: &str, values: Vec<String>| {
        (!values.is_empty()).then(|| format!("{option} {}", shell_quote(&values.join(","))))
    };
    words.extend(list("--kind", names(&args.kind)));
    words.extend(list("--no-kind", names(&args.no_kind)));
    words.extend(list("--only", args.only_rules.clone()));
    words.extend(list("--skip", args.skip_rules.clone()));
    words.extend(list("--also", names(&args.also)));
    words.extend(list("--target", args.target.clone()));
    if args.import != Import::default() {
        words.extend(list("--import", names(&[args.import])));
    }
    if args.max_size != 32 {
        words.push(format!("--max-size {}", args.max_size));
    }
    let flags =
        [(args.no_ignore, "--no-ignore"), (args.transfer, "--transfer"), (args.mark, "--mark")];
    words.extend(flags.iter().filter(|(given, _)| *given).map(|(_, flag)| (*flag).to_owned()));
    words.join(" ")
}

fn names<T: ValueEnum>(values: &[T]) -> Vec<String> {
    let shown = values.iter().filter_map(ValueEnum::to_possible_value);
    shown.map(|value| value.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser as _;

    fn applied(args: &[&str]) -> String {
        let all = ["ascend-doctor", "convert"].iter().chain(args);
        match Cli::try_parse_from(all).unwrap().command {
            Some(Command::Convert(args)) => apply_command(&args),
            _ => panic!("another command"),
        }
    }

    #[test]
    fn options_stay() {
        assert_eq!(applied(&["a b", "c"]), "ascend-doctor convert -r 'a b' c");
        assert_eq!(
            applied(&[
                "p",
                "-e",
                "x",
                "y",
                "--only",
                "CV0269",
                "--only",
                "CV0334",
                "--kind",
                "python",
                "--target",
                "2.7.1",
                "--mark",
                "--import",
                "each",
                "--dry-run",
            ]),
            "ascend-doctor convert -r p -e x -e y --kind python --only CV0269,CV0334 \
             --target 2.7.1 --import each --mark"
        );
        assert_eq!(applied(&["./-x"]), "ascend-doctor convert -r ./-x");
    }
}
