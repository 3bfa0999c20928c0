//! The only place where programs of the examined machine are run: live, by absolute path, with a
//! time limit and a limit on their output.

use std::time::Duration;

use guard::process::Program;

use super::sidecar::CommandOutput;

/// Maximum number of kept bytes of a command's output.
const MAX_OUTPUT: usize = 1 << 20;
/// Directories of libraries, in which `npu-smi` finds those of the driver in containers.
const LIBRARIES: &str = "LD_LIBRARY_PATH";
/// Installation directories, for scripts around `npu-smi`.
const INSTALLED: [&str; 2] = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"];

/// Runs `program` (an absolute path) with `args` and no input, in its own process group. After
/// `limit` the group is killed. Returns `None` if the program cannot be started.
pub(super) fn run(program: &str, args: &[&str], limit: Duration) -> Option<CommandOutput> {
    let mut program = Program::new(program)
        .args(args)
        .keep_directories(LIBRARIES)
        .limit(limit)
        .max_output(MAX_OUTPUT);
    for name in INSTALLED {
        program = program.keep(name);
    }
    let ended = program.run().ok()?;
    let mut text = ended.output;
    text.extend(ended.errors);
    Some(CommandOutput {
        status: ended.status.and_then(|status| status.code()),
        timed_out: ended.status.is_none(),
        text: String::from_utf8_lossy(&text).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_come_back() {
        let out = run("/bin/sh", &["-c", "echo a; exit 3"], Duration::from_secs(5)).unwrap();
        assert_eq!((out.status, out.text.as_str()), (Some(3), "a\n"));
    }

    #[test]
    fn a_silent_program_is_stopped() {
        let out = run("/bin/sh", &["-c", "sleep 60"], Duration::from_millis(50)).unwrap();
        assert!(out.timed_out && out.status.is_none());
    }

    #[test]
    fn a_missing_program_is_none() {
        assert!(run("/nonexistent/npu-smi", &[], Duration::from_secs(1)).is_none());
    }
}
