//! Hostile arguments, paths and times: each gives a clear result, in bounded time and memory.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::contract::{program, run};
use crate::support::elf::ElfBuilder;
use crate::support::machine::Spec;
use crate::support::python::Dist;
use crate::support::tree::Tree;
use crate::support::unprivileged::{Place, mode};

/// The memory limit of a run: address space, in KiB. The largest limit of a file is 256 MiB.
const MEMORY: &str = "3000000";

fn written(tree: &Tree) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    dir
}

fn healthy() -> tempfile::TempDir {
    written(&Spec::default().build())
}

fn at(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// A run under limits of memory and time: exit status, output, standard error.
fn limited(args: &[&str]) -> (i32, String, String) {
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec timeout 60 \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_ascend-doctor"))
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (out, errors) = (text(output.stdout), text(output.stderr));
    assert!(start.elapsed() < Duration::from_secs(50), "{args:?} took {:?}", start.elapsed());
    assert!(!errors.contains("panicked"), "{args:?}: {errors}");
    (output.status.code().unwrap_or(-1), out, errors)
}

/// An unprivileged user examines a copy of a healthy machine. If the tests run as root, the program
/// runs as another user.
#[test]
fn places_that_may_not_be_read() {
    let dir = healthy();
    mode(dir.path(), 0o755);
    let place = Place::new();
    let check = |root: &Path| {
        let mut command = place.program();
        command.args(["check", "--sysroot"]).arg(root);
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, text, errors) = check(dir.path());
    assert_eq!(code, 0, "readable for all: {text}{errors}");

    let version = at(dir.path(), "/usr/local/Ascend/driver/version.info");
    mode(&version, 0o000);
    let (code, text, errors) = check(dir.path());
    mode(&version, 0o644);
    assert!(text.contains("/usr/local/Ascend/driver/version.info"), "{text}{errors}");
    assert!(code == 3 || code == 1, "a file that cannot be read is no success: {code}\n{text}");

    let ascend = at(dir.path(), "/usr/local/Ascend");
    mode(&ascend, 0o000);
    let (code, text, errors) = check(dir.path());
    mode(&ascend, 0o755);
    assert_eq!(code, 3, "a directory that cannot be read is no verdict\n{text}{errors}");
    // One closed directory is one finding, and its content is not reported as missing.
    assert_eq!(text.matches("[SCAN-READ]").count(), 1, "{text}");
    assert!(text.contains("enter `/usr/local/Ascend`"), "{text}");
    assert!(!text.contains("error["), "{text}");

    mode(dir.path(), 0o000);
    let (code, _, errors) = check(dir.path());
    mode(dir.path(), 0o700);
    assert_eq!(code, 2, "{errors}");
    let root = dir.path().display().to_string();
    assert!(errors.contains("ermission denied") && errors.contains(&root), "{errors}");
}

/// Invalid files for every option that takes one: status 2, and the message names the file and the
/// expected kind.
#[test]
fn files_of_options_that_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let machine = healthy();
    let root = machine.path().to_str().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_map = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let mut files = vec![
        put("empty", b""),
        put("binary", &(0..=255_u8).cycle().take(70_000).collect::<Vec<u8>>()),
        put("deep", deep.as_bytes()),
        put("deep-map", deep_map.as_bytes()),
        put("types", b"{\"schema\": 7, \"tool\": [], \"host\": \"x\"}"),
        put("list", b"[1, 2, 3]"),
        put("latin", b"name = \"caf\xe9\"\n\xff\xfe"),
        put("twice", b"{\"schema\": \"a\", \"schema\": \"b\", \"A\": 1, \"A\": 2}"),
        put("toml", b"a = 1\na = 2\n[[unknown]]\nx = 1\n"),
        dir.path().join("missing").to_str().unwrap().to_owned(),
        dir.path().to_str().unwrap().to_owned(),
    ];
    let sparse = dir.path().join("sparse");
    std::fs::File::create(&sparse).unwrap().set_len(1 << 30).unwrap();
    files.push(sparse.to_str().unwrap().to_owned());
    let pipe = dir.path().join("pipe");
    let rights = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rights).unwrap();
    files.push(pipe.to_str().unwrap().to_owned());

    let options: &[(&[&str], &[&str])] = &[
        (&["check", "--facts"], &["facts"]),
        (&["check", "--sysroot", root, "--matrix"], &["matrix"]),
        (&["check", "--sysroot", root, "--manifest"], &["manifest"]),
        (&["check", "--sysroot", root, "--env-file"], &["environment"]),
    ];
    let mut wrong = Vec::new();
    for (args, expected) in options {
        for file in &files {
            let name = file.rsplit('/').next().unwrap();
            // An empty file is an empty environment, and an empty overlay changes nothing; a pipe
            // without a writer is empty.
            let empty =
                matches!(name, "empty" | "pipe") && matches!(expected[0], "environment" | "matrix");
            let (code, _, errors) = limited(&[args, &[file.as_str()][..]].concat());
            let says = errors.contains(file.as_str())
                && (expected.iter().any(|word| errors.contains(word))
                    || ["No such file", "directory", "regular file", "pipe", "large", "exceeds"]
                        .iter()
                        .any(|word| errors.contains(word)));
            if !empty && (code != 2 || !says || errors.len() > 2_000) {
                let errors: String = errors.chars().take(400).collect();
                wrong.push(format!("{} {name}: status {code}: {errors}", expected[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files appear and disappear while they are read, as during an upgrade.
#[test]
fn files_that_vanish_meanwhile() {
    let dir = healthy();
    let root = dir.path().to_path_buf();
    let stop = AtomicBool::new(false);
    let site = at(&root, &Spec::default().build().places["site"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let driver = at(&root, "/usr/local/Ascend/driver");
            let npu = site.join("torch_npu");
            while !stop.load(Ordering::Relaxed) {
                for path in [&driver, &npu] {
                    let away = path.with_extension("away");
                    let _ = std::fs::rename(path, &away);
                    std::thread::sleep(Duration::from_millis(3));
                    let _ = std::fs::rename(&away, path);
                }
                let file = driver.join("version.info");
                if let Ok(text) = std::fs::read(&file) {
                    let _ = std::fs::remove_file(&file);
                    let _ = std::fs::write(&file, &text[..text.len() / 2]);
                    let _ = std::fs::write(&file, text);
                }
            }
        });
        let mut wrong = Vec::new();
        for round in 0..50 {
            let (code, _, errors) = run(&["check", "--sysroot", root.to_str().unwrap()]);
            if !(0..=3).contains(&code) || errors.contains("panicked") {
                wrong.push(format!("round {round}: status {code}: {errors}"));
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn output_that_cannot_be_written() {
    let dir = healthy();
    let root = dir.path().to_str().unwrap();
    for format in ["text", "json", "junit", "sarif", "markdown"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = program()
            .args(["--format", format, "check", "--sysroot", root])
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{format}: {errors}");
        assert!(errors.contains("No space left"), "{format}: {errors}");
    }
    let (code, _, errors) = run(&["--output", "/no/such/report", "check", "--sysroot", root]);
    assert_eq!((code, errors.matches("/no/such").count()), (2, 1), "{errors}");
    let (code, _, errors) = run(&["--output", "/dev/full", "check", "--sysroot", root]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("/dev/full") && errors.contains("No space left"), "{errors}");

    // A reader that closes its pipe early is not an error of the program.
    let mut child = program()
        .args(["--format", "json", "check", "--sysroot", root])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::with_capacity(16, child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(line.starts_with('{'), "{line}");
}

/// A full disk, simulated by a limit on the size of files.
#[test]
fn a_recording_that_does_not_fit() {
    let dir = healthy();
    let copy = tempfile::tempdir().unwrap();
    let into = copy.path().join("recording");
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_ascend-doctor"))
        .args(["check", "--sysroot"])
        .arg(dir.path())
        .arg("--record")
        .arg(&into)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("recording") && !errors.contains("panicked"), "{errors}");
}

/// 500 libraries with random changed bytes, or cut at a random position.
#[test]
fn mutated_libraries() {
    let good = ElfBuilder::aarch64()
        .soname("libx.so")
        .needed(["libc10.so", "libascendcl.so", "libc.so.6"])
        .rpath("$ORIGIN/lib")
        .define(["_ZN5c10_npu14current_deviceEv", "x"])
        .undefined(["aclInit", "_ZN3c106Device3strEv"])
        .undefined_versioned("memcpy", "libc.so.6", "GLIBC_2.17")
        .require_versions("libstdc++.so.6", ["GLIBCXX_3.4.22"])
        .provide_versions(["X_1", "X_2"])
        .build();
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let start = Instant::now();
    for round in 0..20 {
        let mut tree = Tree::default();
        let site = "/usr/lib/python3/dist-packages";
        let mut dist = Dist::new("torch_npu", "2.7.1")
            .file("torch_npu/__init__.py", "")
            .file("torch_npu/version.py", "__version__ = '2.7.1'\n");
        for index in 0..25 {
            let mut bytes = good.clone();
            if next(3) == 0 {
                bytes.truncate(next(bytes.len()));
            }
            for _ in 0..next(6) {
                // Most of the relevant data is in the headers and the dynamic section.
                let end = if next(2) == 0 { bytes.len().min(512) } else { bytes.len() };
                if end > 0 {
                    let at = next(end);
                    bytes[at] = [0, 1, 0x7f, 0x80, 0xff, u8::try_from(next(256)).unwrap()][next(6)];
                }
            }
            dist = dist.file(&format!("torch_npu/lib/libx{index}.so"), bytes);
        }
        dist.write(&mut tree, site);
        let dir = written(&tree);
        std::fs::write(dir.path().join(".process.json"), r#"{"arch": "aarch64"}"#).unwrap();
        let (code, text, errors) = limited(&["check", "--sysroot", dir.path().to_str().unwrap()]);
        assert!((0..=3).contains(&code), "round {round}: {code}\n{errors}");
        assert!(text.contains("torch_npu"), "round {round}: the libraries were not looked at");
    }
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
}

/// A wheel with a small file that unpacks to a huge one.
#[test]
fn a_wheel_that_is_a_bomb() {
    let dir = tempfile::tempdir().unwrap();
    let wheel = dir.path().join("torch_npu-2.7.1-cp311-cp311-manylinux_2_28_aarch64.whl");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&wheel).unwrap());
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for name in ["torch_npu-2.7.1.dist-info/METADATA", "torch_npu-2.7.1.dist-info/RECORD"] {
        zip.start_file(name, options).unwrap();
        let block = vec![b'a'; 1 << 20];
        for _ in 0..1024 {
            zip.write_all(&block).unwrap();
        }
    }
    zip.finish().unwrap();
    let (code, _, errors) = limited(&["manifest", "wheel-check", wheel.to_str().unwrap()]);
    assert!((1..=3).contains(&code), "{code}: {errors}");
}

/// Text of the machine, from any source, must not control a terminal.
#[test]
fn nothing_steers_the_terminal() {
    let evil = "\u{1b}[31mX\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{2066}\r\u{8}\u{7f}";
    let base = Spec { vllm_ascend: String::new(), ..Spec::default() }.build();
    let texts: Vec<String> = base
        .entries
        .keys()
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap();
            ["METADATA", "entry_points.txt", "RECORD", "pip.conf", "version.py", "os-release"]
                .contains(&name)
                || [".info", ".conf", ".cfg", ".json"].iter().any(|end| name.ends_with(end))
                || path.starts_with("/proc/")
        })
        .cloned()
        .collect();
    assert!(texts.len() > 10, "{texts:?}");
    let bad = |c: char| {
        (c.is_control() && c != '\n')
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    let mut wrong = Vec::new();
    for pass in 0..3 {
        let mut tree = base.clone();
        for path in &texts {
            let Some(text) = std::str::from_utf8(tree.bytes(path)).ok().map(str::to_owned) else {
                continue;
            };
            let text = match pass {
                // After every separator, in place of the value, and in names.
                0 => text.replace(['=', ':'], &format!("={evil}")),
                1 => text.lines().fold(String::new(), |out, line| out + line + evil + "\n"),
                _ => text.replace("Version", evil).replace("version", evil),
            };
            tree.file(path, text);
        }
        for name in ["ASCEND_HOME_PATH", "LD_LIBRARY_PATH", "HCCL_IF_IP", "VLLM_PLUGINS", "PATH"] {
            tree.set_env(name, &format!("/x{evil}:{evil}"));
        }
        tree.file(&format!("/usr/local/Ascend/ascend-toolkit/{}", evil.replace('/', "")), "x");
        let smi = format!(
            "| npu-smi {evil} Version: 25.2.0{evil} |\n| 0     910B4{evil} | OK{evil} | 93.0 39 0 / 0 |\n\
             | 0 | 0000:C1:00.0{evil} | 0 0 / 0 3394 / 65536 |\nDrvMngGetConsoleLogLevel failed {evil}\n"
        );
        tree.commands.insert("/usr/local/bin/npu-smi info".to_owned(), smi);
        let dir = written(&tree);
        for format in ["text", "json", "junit", "sarif", "markdown"] {
            let root = dir.path().to_str().unwrap();
            let (code, text, errors) = run(&["-v", "--format", format, "check", "--sysroot", root]);
            assert!(code <= 1, "{errors}");
            for (stream, text) in [("output", &text), ("errors", &errors)] {
                if let Some(found) = text.lines().find(|line| line.contains(bad)) {
                    wrong.push(format!("pass {pass} {format} {stream}: {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
