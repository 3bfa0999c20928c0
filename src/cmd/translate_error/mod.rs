//! `translate-error`: from an error code to what happened, where, why, and what to try.

mod codes;

use super::output::Output;
use crate::cli::TranslateErrorArgs;
use crate::report::ExitStatus;

const SCHEMA: &str = include_str!("../../../docs/schema/translate-error-1.schema.json");

pub(super) fn run(args: &TranslateErrorArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.schema {
        output.only_json("translate-error --schema")?;
        output.write(|out, _| out.write_all(SCHEMA.as_bytes()))?;
        return Ok(ExitStatus::Clean);
    }
    if let Some(family) = &args.list {
        return codes::list(family, output);
    }
    if !args.search.is_empty() {
        return codes::search(&args.search.join(" "), output);
    }
    codes::run(&args.inputs, args.explain, output)
}
