//! `translate-error`: looks up error codes, and diagnoses logs.

mod codes;
mod logs;

use data::{OrFault as _, faults};
use std::path::Path;

use super::argument_file::read_argument;
use super::output::Output;
use crate::cli::TranslateErrorArgs;
use base::report::ExitStatus;

/// Maximum size of the file of `--data`, in bytes.
const DATA_LIMIT: u64 = 16 << 20;
const SCHEMA: &str = include_str!("../../../docs/schema/codes-1.schema.json");

pub(super) fn run(args: &TranslateErrorArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.schema {
        output.only_json("translate-error --schema")?;
        output.write(|out, _| out.write_all(SCHEMA.as_bytes()))?;
        return Ok(ExitStatus::Clean);
    }
    if let Some(file) = &args.data {
        overlay_error_tables(file)?;
    }
    if let Some(family) = &args.list_codes {
        return codes::list(family, output);
    }
    if !args.search.is_empty() {
        return codes::search(&args.search.join(" "), output);
    }
    if logs::are_logs(args)? {
        return logs::run(args, output);
    }
    codes::run(&args.inputs, args.explain, output)
}

/// Overlays the tables with the rows of the `--data` file. The error for an invalid file names the
/// line.
pub(super) fn overlay_error_tables(file: &Path) -> anyhow::Result<()> {
    let shown = file.display().to_string();
    let bytes = read_argument(file, DATA_LIMIT)?;
    let text =
        std::str::from_utf8(&bytes).or_fault(|| faults::DataNotUtf8 { path: &shown }.fault())?;
    errcodes::install(text).map_err(|error| super::error_message::in_line(&shown, &error).into())
}
