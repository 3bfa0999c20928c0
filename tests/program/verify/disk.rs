//! No space on the disk: for the compiled kernel, the logs, the temporary directory, the report.

use std::path::Path;
use std::process::{Command, Output};

use super::simulator::{Installation, RTC, doctor};

/// Runs `ascend-doctor` after commands in `sh`.
fn after(script: &str, args: &[&str], place: &Path) -> Output {
    let product = doctor(RTC.path());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, product.get_program().to_str().unwrap()]).args(args);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("PLACE", place);
    let variables = product.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(variables).output().unwrap()
}

fn report(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("no report ({error}): {}", String::from_utf8_lossy(&output.stderr))
    })
}

const KERNEL: [&str; 5] = ["verify", "--format", "json", "--rung", "kernel"];

/// Every growing file fails, as on a full disk: the kernel runs, and is not stored.
#[test]
fn no_file_can_grow() {
    let place = Installation::empty();
    // With the signal ignored, the write returns an error.
    let script = "trap '' XFSZ; ulimit -f 0; XDG_CACHE_HOME=$PLACE exec \"$0\" \"$@\"";
    let output = after(script, &KERNEL, place.path());
    let report = report(&output);
    assert_eq!(output.status.code(), Some(0), "{report}");
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report}");
    assert_eq!(findings[0]["id"], "VERIFY-CACHE");
    assert!(findings[0]["evidence"].to_string().contains("File too large"), "{report}");
    let kernels = place.path().join("ascend-doctor/kernels");
    assert_eq!(kernels.read_dir().unwrap().count(), 0, "nothing half is left");
    // For a failure, only the log is lost.
    let script =
        "trap '' XFSZ; ulimit -f 0; ASCSIM_FAULT=aclrtSetDevice:ret=507033 exec \"$0\" \"$@\"";
    let output = after(script, &["verify", "--format", "json"], place.path());
    let report = self::report(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["findings"][0]["id"], "VERIFY-RUNTIME");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{report}");
}

/// A disk without space for data, and one without inodes: a separate tmpfs.
#[test]
#[ignore = "needs the right to mount in a namespace"]
fn a_full_disk_costs_what_is_written_and_nothing_else() {
    let place = Installation::empty();
    let own = |options: &str, then: &str| {
        format!("mount -t tmpfs -o {options} none \"$PLACE\" || exit 99; {then} exec \"$0\" \"$@\"")
    };
    let full =
        "cat /dev/zero >\"$PLACE/filler\" 2>/dev/null; export XDG_CACHE_HOME=$PLACE TMPDIR=$PLACE;";
    let in_namespace = |script: &str, args: &[&str]| {
        let script = format!("exec unshare -rm /bin/sh -c '{script}' \"$0\" \"$@\"");
        after(&script, args, place.path())
    };
    let mounts = in_namespace(&own("size=4k", "").replace("exec \"$0\" \"$@\"", "true"), &[]);
    let why = String::from_utf8_lossy(&mounts.stderr).into_owned();
    assert!(mounts.status.success(), "mounting a tmpfs in a namespace is refused: {why}");
    // The cache and the logs.
    let output = in_namespace(&own("size=16k", full), &KERNEL);
    let report = report(&output);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["findings"][0]["id"], "VERIFY-CACHE");
    let evidence = report["findings"][0]["evidence"].to_string();
    assert!(evidence.contains("No space left on device"), "{report}");
    // Not even a directory can be created.
    let output = in_namespace(&own("nr_inodes=1", full), &KERNEL);
    let report = self::report(&output);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report["findings"][0]["id"], "VERIFY-CACHE", "{report}");
    assert!(report["notes"].to_string().contains("no writable place for"), "{report}");
    // A directory for logs requested by the user: wrong usage, before any process is started.
    let logs = place.path().join("logs");
    let args = ["verify", "--keep-logs", logs.to_str().unwrap()];
    let output = in_namespace(&own("nr_inodes=1", ""), &args);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("No space left on device"), "{errors}");
    // The report itself.
    let file = place.path().join("report.json");
    let args = ["verify", "--rung", "load", "--format", "json", "--output", file.to_str().unwrap()];
    let output = in_namespace(&own("size=16k", full), &args);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("No space left on device"), "{errors}");
}

/// The same for the other end of a pipe.
#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let output =
        after("exec \"$0\" \"$@\" >/dev/full", &["verify", "--rung", "load"], Path::new("/"));
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("No space left on device"), "{errors}");
}
