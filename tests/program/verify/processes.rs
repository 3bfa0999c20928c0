//! Children that hang, print, survive a kill, or leave others behind.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::simulator::{Installation, OLD, doctor, verify};

/// The arguments of a run that ends soon after a child hangs.
const SHORT: [&str; 5] = ["verify", "--format", "json", "--call-timeout", "1.5"];

fn maps(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default()
}

/// The child of `verify` that has loaded the vendor's library.
fn worker(doctor: &Child) -> u32 {
    let of_process = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut children = pids.filter(|pid| of_process(*pid) == Some(doctor.id()));
        if let Some(found) = children.find(|pid| maps(*pid).contains("libascendcl.so")) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no child loaded the library");
}

/// Processes with this mark in their environment: those that a run started, in any state.
fn alive(mark: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let marked = |pid: &u32| {
        let variables = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        memchr::memmem::find(&variables, mark.as_bytes()).is_some()
    };
    pids.filter(marked).collect()
}

/// Waits until there are none, because a signal takes a moment.
fn nobody_is_left(mark: &str) {
    let start = Instant::now();
    while !alive(mark).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "{:?} are left", alive(mark));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// While a child hangs, no library of the vendor is in the parent, and afterwards no process
/// remains.
#[test]
fn the_parent_loads_nothing_and_leaves_nobody() {
    let mut child = doctor(OLD.path())
        .args(SHORT)
        .env("ASCSIM_FAULT", "aclrtCreateStream:hang")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let worker = worker(&child);
    let parent = maps(child.id());
    let libraries = std::fs::read_dir(OLD.path()).unwrap().flatten();
    for library in libraries.map(|entry| entry.file_name().into_string().unwrap()) {
        assert!(!parent.contains(&library), "{parent}");
    }
    assert!(parent.contains("ascend-doctor"), "{parent}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(maps(worker).is_empty(), "process {worker} is still there");
}

/// A hang is reported within its limit and half a second.
#[test]
fn a_hang_is_reported_in_time() {
    let quick = verify(OLD.path(), &["--rung", "runtime"], &[]).took;
    let args = ["--rung", "runtime", "--call-timeout", "1"];
    let said = verify(OLD.path(), &args, &[("ASCSIM_FAULT", "aclrtCreateStream:hang")]);
    assert_eq!(said.found(), ["VERIFY-HANG silent"]);
    assert!(said.title(0).contains("`aclrtCreateStream`"), "{}", said.title(0));
    let over = said.took.saturating_sub(Duration::from_secs(1)).saturating_sub(quick);
    assert!(over < Duration::from_millis(500), "{:?} with {quick:?} for the rest", said.took);
}

/// A process that survives SIGKILL, with everything that it has open: it is reported, and the run
/// does not wait for it.
#[test]
#[ignore = "needs the right to trace processes"]
fn a_process_that_stays_is_said_to_stay() {
    let mark = "ASCSIM_MARK=stays";
    let start = Instant::now();
    let mut run = doctor(OLD.path())
        .args(["verify", "--format", "json", "--call-timeout", "1"])
        .envs([("ASCSIM_FAULT", "aclInit:hang"), ("ASCSIM_MARK", "stays")])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let worker = worker(&run);
    let held = sim_core::hold::Held::seize(worker);
    let held = held.unwrap_or_else(|error| {
        run.kill().unwrap();
        run.wait().unwrap();
        panic!("tracing is refused: {error}")
    });
    let output = run.wait_with_output().unwrap();
    let took = start.elapsed();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report}");
    let found = &report["findings"][0];
    // The state shows that no driver holds it, so the report does not blame one.
    assert_eq!((&found["id"], &found["message"]), (&"VERIFY-HANG".into(), &"held".into()));
    let title = found["title"]["en"].as_str().unwrap();
    assert!(title.contains(&worker.to_string()) && title.contains("`aclInit`"), "{title}");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{report}");
    assert!(took < Duration::from_secs(8), "{took:?} with limits of 1 s and 2 s");
    assert_eq!(alive(mark), [worker], "it stays, and nobody else");
    drop(held);
    nobody_is_left(mark);
}

/// A process that leaves session, group and parent is still ended, and named.
#[test]
fn daemons_are_ended() {
    for (fault, found, status) in [
        ("aclInit:daemon", None, 0),
        ("aclrtSetDevice:daemon;aclrtGetMemInfo:segv", Some("VERIFY-CRASH signal"), 1),
        ("aclrtSetDevice:daemon;aclrtCreateStream:hang", Some("VERIFY-HANG silent"), 1),
    ] {
        let variables =
            [("ASCSIM_FAULT", fault), ("ASCSIM_MARK", "daemons"), ("ASCSIM_DEVICES", "2")];
        let said = verify(OLD.path(), &["--rung", "runtime", "--call-timeout", "1"], &variables);
        assert_eq!(alive("ASCSIM_MARK=daemons"), [0; 0], "{fault}");
        assert_eq!((said.status, said.found().first().map(String::as_str)), (Some(status), found));
        let notes = said.report["notes"].to_string();
        assert!(notes.contains("left processes behind"), "{fault}: {notes}");
    }
    let said = verify(OLD.path(), &["--rung", "runtime"], &[]);
    assert!(!said.report["notes"].to_string().contains("left processes behind"));
}

/// Whether interrupts are ignored by the process that runs the tests, as for background jobs of a
/// shell: `verify` inherits that, and continues.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (2 - 1) & 1 == 1
}

/// Ending `verify` ends its children.
#[test]
fn children_go_with_their_parent() {
    let interrupted = (!interrupts_are_ignored()).then_some(("INT", "interrupted"));
    let others = [("TERM", "ended"), ("KILL", "killed")];
    for (signal, mark) in interrupted.into_iter().chain(others) {
        let mut run = doctor(OLD.path())
            .args(["verify", "--call-timeout", "60"])
            .envs([("ASCSIM_FAULT", "aclrtSetDevice:hang"), ("ASCSIM_MARK", mark)])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        worker(&run);
        let sent = std::process::Command::new("kill")
            .args([format!("-{signal}"), run.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        assert_eq!(run.wait().unwrap().code(), None, "{signal}");
        nobody_is_left(&format!("ASCSIM_MARK={mark}"));
    }
}

/// Output is attributed to the function that printed it, even with fast calls.
#[test]
fn chatter_has_the_name_of_its_function() {
    let parts = |fault: &str| -> Vec<(String, String)> {
        let args = ["--rung", "compute", "--dtype", "int32"];
        let said = verify(OLD.path(), &args, &[("ASCSIM_FAULT", fault)]);
        assert_eq!((said.status, said.found()), (Some(0), vec!["VERIFY-CHATTER wrote".to_owned()]));
        let evidence = said.report["findings"][0]["evidence"].as_array().unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        evidence.iter().map(|seen| (text(&seen["source"]), seen.to_string())).collect()
    };
    for function in ["aclrtGetVersion", "aclrtGetSocName", "aclrtMalloc@1", "aclnnAdd@1"] {
        for action in ["say=40", "print=40", "say=300000", "print=300000"] {
            let fault = format!("{function}:{action}");
            let name = function.split('@').next().unwrap();
            let seen = parts(&fault);
            assert_eq!(seen.len(), 1, "{fault}: {seen:?}");
            assert!(seen[0].0.starts_with(&format!("{name} ")), "{fault}: {seen:?}");
            let (kind, bytes) = action.split_once('=').unwrap();
            let bytes: u64 = bytes.parse().unwrap();
            let bytes = if kind == "say" { 2 * bytes } else { bytes };
            assert!(seen[0].1.contains(&format!("{bytes} bytes")), "{fault}: {seen:?}");
        }
    }
    // Several functions have separate entries.
    let seen = parts("aclrtGetMemInfo@1:say=10;aclrtCreateStream:print=20;aclnnAdd:say=30");
    let names: Vec<&str> =
        seen.iter().map(|(source, _)| source.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["aclrtGetMemInfo", "aclrtCreateStream", "aclnnAdd"]);
    // The output of a crash is listed with the crash.
    let fault = [("ASCSIM_FAULT", "aclnnAdd:print=40;aclnnAdd:segv")];
    let said = verify(OLD.path(), &["--rung", "compute", "--dtype", "int32"], &fault);
    assert_eq!(said.found(), ["VERIFY-CRASH signal"]);
    assert!(said.report.to_string().contains("simulated chatter"));
}

/// A terminal shows progress; a file does not.
#[test]
fn progress_is_shown_on_a_terminal() {
    use std::io::Read as _;
    let place = Installation::empty();
    let file = std::fs::File::create(place.path().join("errors")).unwrap();
    let variables = [("ASCSIM_FAULT", "kernel@1:sleep=1500"), ("TERM", "xterm")];
    let run = |errors: Stdio| {
        let mut command = doctor(OLD.path());
        command.args(["verify", "--rung", "compute", "--dtype", "int32"]).envs(variables);
        let status = command.stdout(Stdio::null()).stderr(errors).status().unwrap();
        assert_eq!(status.code(), Some(0));
    };
    run(file.into());
    assert_eq!(std::fs::read_to_string(place.path().join("errors")).unwrap(), "");
    let master = rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let slave = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap());
    run(slave.unwrap().into());
    let mut shown = Vec::new();
    // When no process has the terminal open, reading it fails behind the written text.
    let _ = std::fs::File::from(master).read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("NPU 0: aclnnAdd int32"), "{shown:?}");
}
