//! Output files: modes, links, pipes, locations without write access, and the remains after a
//! signal.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files and stops at the first surprise"
)]

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::text::flat;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ascend-doctor");
const NOBODY: u32 = 65_534;

/// Runs `script` in a shell, in which `$A` is the program.
fn shell(dir: &Path, script: &str) -> (i32, String, String) {
    let output = sh(dir, script).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn sh(dir: &Path, script: &str) -> Command {
    let mut command = Command::new("bash");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("A", PROGRAM);
    command.current_dir(dir).args(["-c", script]);
    command
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

fn until(mut there: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !there() {
        assert!(Instant::now() < end, "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn new_files_obey_the_umask_and_others_keep_their_mode() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    for (umask, wanted) in [("077", 0o600), ("022", 0o644), ("027", 0o640)] {
        let script = format!(
            "umask {umask}; rm -f n.txt c.json r.html m.prom b.tgz; C='check --sysroot machine'; \
             $A $C -o n.txt; $A $C --json -o c.json; $A report c.json -o r.html; \
             $A $C --metrics-file m.prom; $A bundle --sysroot machine -o b.tgz"
        );
        shell(dir.path(), &script);
        for name in ["n.txt", "c.json", "r.html", "m.prom", "b.tgz"] {
            assert_eq!(mode(&dir.path().join(name)), wanted, "{name} with umask {umask}");
        }
    }
    let file = dir.path().join("n.txt");
    for kept in [0o600, 0o664] {
        std::fs::set_permissions(&file, Permissions::from_mode(kept)).unwrap();
        shell(dir.path(), "umask 022; $A check --sysroot machine -o n.txt");
        assert_eq!(mode(&file), kept);
    }
    // A recording contains copies of files that may be readable only by their owner.
    shell(dir.path(), "umask 022; $A check --sysroot machine --record rec/inner");
    assert_eq!(mode(&dir.path().join("rec/inner")), 0o700);
}

#[test]
fn the_journal_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("a.py");
    std::fs::write(&source, "import torch\nx = torch.zeros(1).cuda()\n").unwrap();
    std::fs::set_permissions(&source, Permissions::from_mode(0o600)).unwrap();
    let (code, _, err) = shell(dir.path(), "umask 022; $A convert -r a.py");
    assert!(code < 2, "{err}");
    let mut seen = 0;
    for entry in walkdir::WalkDir::new(dir.path().join(".ascend-doctor")) {
        let entry = entry.unwrap();
        let wanted = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(entry.path()), wanted, "{}", entry.path().display());
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
    assert_eq!(mode(&source), 0o600);
}

/// Runs a script as `nobody`, so that permissions have an effect. Root runs a copy of the program
/// in `dir`, because `nobody` may not have access to the build directory.
fn as_nobody(dir: &Path, script: &str) -> (i32, String) {
    let mut command = sh(dir, script);
    if rustix::process::geteuid().is_root() {
        let program = dir.join("ascend-doctor");
        if !program.exists() {
            // By a child process: a file that is open for writing cannot be executed (ETXTBSY).
            assert!(Command::new("cp").arg(PROGRAM).arg(&program).status().unwrap().success());
        }
        command.env("A", &program);
        for entry in walkdir::WalkDir::new(dir) {
            std::os::unix::fs::lchown(entry.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), err)
}

#[test]
fn what_may_not_be_written_is_refused() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("ro"), "kept").unwrap();
    std::fs::set_permissions(at("ro"), Permissions::from_mode(0o444)).unwrap();
    std::fs::create_dir(at("od")).unwrap();
    std::fs::write(at("od/f"), "old").unwrap();
    std::fs::set_permissions(at("od"), Permissions::from_mode(0o555)).unwrap();
    let check = |more: &str| as_nobody(dir.path(), &format!("$A check --sysroot machine {more}"));
    let (code, err) = check("-o ro");
    assert!(code == 2 && err.contains("cannot write `ro`: Permission denied"), "{err}");
    assert_eq!(std::fs::read_to_string(at("ro")).unwrap(), "kept");
    // A file of the user is written in place if its directory allows no new file.
    let (code, err) = check("-o od/f");
    assert_eq!(code, 0, "{err}");
    assert!(std::fs::read_to_string(at("od/f")).unwrap().contains("ascend-doctor check"));
    // Others may read this one during the write.
    let (code, err) = check("--metrics-file od/f");
    assert!(code == 2 && err.contains("renaming a new file"), "{err}");
    assert!(err.contains("cannot create a file in `od`"), "{err}");
    let (code, err) = check("-o od/new");
    assert!(code == 2 && err.contains("cannot create a file in `od`"), "{err}");
    let (code, err) = as_nobody(dir.path(), "TMPDIR=$PWD/od $A bundle --sysroot machine -o b.tgz");
    assert!(code == 2 && err.contains("/od`; set TMPDIR"), "{err}");
    std::fs::set_permissions(at("od"), Permissions::from_mode(0o755)).unwrap();
}

/// Reported in the bundle and on standard error.
#[test]
fn logs_that_may_not_be_read_are_told() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    let log = dir.path().join("home/ascend/log/debug");
    std::fs::create_dir_all(&log).unwrap();
    std::fs::write(log.join("plog-1_2.log"), "a line\n").unwrap();
    std::fs::set_permissions(&log, Permissions::from_mode(0o000)).unwrap();
    let script = "HOME=$PWD/home $A bundle --no-npu-smi --no-hash -o b.tgz >&2";
    let (code, said) = as_nobody(dir.path(), script);
    assert_eq!(code, 0, "{said}");
    let said = flat(&said);
    assert!(said.contains("log/debug` may contain logs and is not included"), "{said}");
    assert!(said.contains("1 file or directory was skipped"), "{said}");
    std::fs::set_permissions(&log, Permissions::from_mode(0o755)).unwrap();
}

/// The file belongs to another user if root runs the test, and otherwise to another group of the
/// user, if there is one.
#[test]
fn an_existing_file_keeps_its_owner_and_group() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    let file = dir.path().join("f");
    std::fs::write(&file, "old").unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    } else {
        let groups = rustix::process::getgroups().unwrap();
        let other = groups.into_iter().find(|group| *group != rustix::process::getegid());
        chown(&file, None, other.map(rustix::process::Gid::as_raw)).unwrap();
    }
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let state = || {
        let meta = file.metadata().unwrap();
        (meta.uid(), meta.gid(), meta.mode())
    };
    let before = state();
    shell(dir.path(), "$A check --sysroot machine -o f");
    assert_eq!(state(), before);
    assert!(file.metadata().unwrap().len() > 10);
}

#[test]
fn pipes_devices_and_links_are_written_to() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    let check = "$A check --sysroot machine";
    let (_, report, _) = shell(dir.path(), check);
    assert!(report.contains("ascend-doctor check"));
    for script in [
        format!("{check} -o /dev/stdout | cat"),
        format!("{check} -o >(cat > got); while ! [ -s got ]; do sleep .02; done; cat got"),
        format!("echo > log; {check} -o /dev/stdout >> log; sed 1d log"),
    ] {
        let (_, out, err) = shell(dir.path(), &script);
        assert_eq!(out, report, "{script}: {err}");
    }
    assert_eq!(shell(dir.path(), &format!("{check} -o /dev/full")).0, 2);
    symlink("target", dir.path().join("link")).unwrap();
    for _ in 0..2 {
        shell(dir.path(), &format!("{check} -o link"));
        assert_eq!(std::fs::read_link(dir.path().join("link")).unwrap(), Path::new("target"));
        assert_eq!(std::fs::read_to_string(dir.path().join("target")).unwrap(), report);
    }
    std::fs::write(dir.path().join("a.py"), "import torch\nx = torch.zeros(1).cuda()\n").unwrap();
    let (code, out, err) =
        shell(dir.path(), "$A convert -r a.py --output /dev/stdout --json | cat; exit $PIPESTATUS");
    assert!(code != 2 && out.contains("ascend-doctor/convert/"), "{err}");
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("d")).unwrap();
    let source = "import torch\nx = torch.zeros(1).cuda()\n";
    std::fs::write(dir.path().join("a.py"), source).unwrap();
    let (code, _, err) = shell(dir.path(), "$A convert -r a.py --output d");
    assert!(code == 2 && err.contains("cannot write `d`"), "{err}");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.py")).unwrap(), source);
}

/// Starts a bundle that has read the machine and waits for a reader of its output.
fn waiting(dir: &Path, before: &str) -> Child {
    std::fs::create_dir_all(dir.join("t")).unwrap();
    let script = format!("{before} exec $A bundle --sysroot machine -o pipe");
    let script = format!("[ -p pipe ] || mkfifo pipe; {script}");
    // A caller that ignores signals (`nohup`, a background job) passes that on, and no shell can
    // undo it.
    let reset = "import os, signal, sys\n\
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):\n    \
        signal.signal(number, signal.SIG_DFL)\n\
        os.execvp(sys.argv[1], sys.argv[1:])";
    let mut command = Command::new("python3");
    command.args(["-c", reset, "bash", "-c", &script]).current_dir(dir);
    command.env_clear().env("A", PROGRAM).env("TMPDIR", dir.join("t"));
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("cannot start python3");
    until(|| staged(dir).is_some_and(|stage| stage.join("machine/.process.json").exists()));
    child
}

fn staged(dir: &Path) -> Option<std::path::PathBuf> {
    Some(dir.join("t").read_dir().unwrap().next()?.unwrap().path())
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_signal_leaves_nothing_of_a_bundle_and_nobody_else_reads_it_before() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut child = waiting(dir.path(), "umask 000;");
        assert_eq!(mode(&staged(dir.path()).unwrap()), 0o700);
        send(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        assert_eq!(staged(dir.path()), None, "{signal:?}");
    }
}

#[test]
fn what_is_to_be_ignored_is() {
    let dir = crate::support::recipe::beside("ok-no-npu");
    let mut child = waiting(dir.path(), "trap '' HUP;");
    send(&child, Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none() && staged(dir.path()).is_some());
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(staged(dir.path()), None);
}
