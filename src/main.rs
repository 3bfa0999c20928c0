//! The `ascend-doctor` program: parses, runs, turns the status into an exit code.
#![expect(clippy::disallowed_methods, reason = "says on standard error why nothing could be done")]

use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use base::report::ExitStatus;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(give_up));
    // A child of `verify` has one task; parsing all options takes longer than starting it.
    let mut lang = None;
    let result = match verify::child::read_order() {
        Some(order) => verify::child::run(&order).map(|never| match never {}),
        None => match ascend_doctor::parse() {
            Ok(mut cli) => {
                let result = ascend_doctor::run(&mut cli);
                lang = cli.output.lang;
                result
            }
            Err(error) => ascend_doctor::usage(&error),
        },
    };
    let status = match result {
        Ok(status) => status,
        // The reader of our output went away (`| head`): nothing is wrong with us.
        Err(error) if is_broken_pipe(&error) => ExitStatus::Clean,
        Err(error) => {
            let text = ascend_doctor::complaint(&error, lang);
            let _ = writeln!(anstream::stderr(), "{}", base::text::escape(&text));
            ExitStatus::Failure
        }
    };
    ExitCode::from(status.code())
}

/// Says that the program itself is at fault, and ends it with the status of a tool that could not
/// work: no caller has to know of another one.
#[expect(clippy::exit, reason = "there is nothing to return to")]
fn give_up(defect: &PanicHookInfo<'_>) {
    let text = format!(
        "error: a defect of ascend-doctor {}, please report it: {defect}",
        env!("CARGO_PKG_VERSION")
    );
    let _ = writeln!(anstream::stderr(), "{}", base::text::escape(&text));
    std::process::exit(i32::from(ExitStatus::Failure.code()));
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
