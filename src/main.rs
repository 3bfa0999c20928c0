//! The `ascend-doctor` program: parses the command line, runs it, and returns the exit status.
#![expect(
    clippy::disallowed_methods,
    reason = "writes errors to standard error, asks for the locale"
)]

use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::report::ExitStatus;
use base::text::Lang;
use signal_hook::consts::SIGABRT;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    guard::named::note_start();
    std::panic::set_hook(Box::new(report_panic));
    // A child of `verify` has one task; parsing all options takes longer than starting it.
    let mut lang = None;
    let result = if let Some(order) = verify::child::read_order() {
        verify::child::run(&order).map(|never| match never {})
    } else {
        exit_without_memory();
        match ascend_doctor::parse() {
            Ok(mut cli) => {
                let result = ascend_doctor::run(&mut cli);
                lang = cli.output.lang;
                result
            }
            Err(rejection) => ascend_doctor::answer_rejection(rejection),
        }
    };
    let status = match result {
        Ok(status) => status,
        // The reader of the output exited first (`| head`), which is not an error.
        Err(error) if is_broken_pipe(&error) => ExitStatus::Clean,
        Err(error) => {
            ascend_doctor::print_error(&error, lang);
            ExitStatus::Failure
        }
    };
    ExitCode::from(status.code())
}

/// Makes the program exit with the status of a failed run if it aborts, which is how Rust ends after
/// a denied allocation. Not used in a child of `verify`: there the vendor's code may abort, and the
/// parent must see that.
fn exit_without_memory() {
    let status = i32::from(ExitStatus::Failure.code());
    let always = Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, status, always);
}

/// Reports a panic as an internal error and exits with the status of a failed run, so that callers
/// need no further status.
#[expect(clippy::exit, reason = "there is nothing to return to")]
fn report_panic(defect: &PanicHookInfo<'_>) {
    // The tables with the messages may be the defect.
    let version = env!("CARGO_PKG_VERSION");
    let text = match Lang::from_locale(|name| std::env::var(name).ok()) {
        Lang::En => {
            format!("error: a defect of ascend-doctor {version}, please report it: {defect}")
        }
        Lang::Zh => format!("错误：ascend-doctor {version} 存在缺陷，请反馈：“{defect}”"),
    };
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
