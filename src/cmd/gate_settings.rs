//! Lists the options and settings that can change the exit status of a run.

use std::path::Path;

use crate::cli::{Cli, Command};
use base::report::GateSetting;

/// Returns the options of the command line that change the exit status, as the user writes them.
/// Call it before the settings fill in options.
pub(super) fn of_options(cli: &Cli) -> Vec<GateSetting> {
    let mut gate = Vec::new();
    let mut value = |option: &str, value: Option<String>| {
        gate.extend(value.map(|value| GateSetting::option(option, Some(value))));
    };
    let path = |path: &Option<std::path::PathBuf>| path.as_deref().map(shown);
    value("--fail-on", cli.output.fail_on.map(|level| level.as_str().to_owned()));
    value("--on-inconclusive", cli.output.on_inconclusive.map(|policy| policy.as_str().to_owned()));
    value("--data-pack", path(&cli.output.data_pack));
    match &cli.command {
        Some(Command::Check(args)) => {
            let list = |ids: &[String]| (!ids.is_empty()).then(|| ids.join(","));
            value("--only", list(&args.only));
            value("--skip", list(&args.skip));
            value("--matrix", path(&args.matrix));
            value("--manifest", path(&args.manifest));
            if args.require_npu {
                gate.push(GateSetting::option("--require-npu", None));
            }
        }
        Some(Command::Compat(args)) => value("--matrix", path(&args.matrix)),
        Some(Command::TranslateError(args)) => value("--data", path(&args.data)),
        _ => {}
    }
    gate
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
