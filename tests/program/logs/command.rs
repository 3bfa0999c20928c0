//! The command on logs: its output and its exit status.

use assert_cmd::Command;
use serde_json::Value;

const BUFFER: &str = "[rank3]: [ERROR] 2026-09-16-11:00:43 (PID:1035, Device:3, RankID:3) ERR00100 PTA call acl api failed.\n\
    HCCL_BUFFSIZE is too SMALL, maxBs = 512, h = 7168, NEEDED_HCCL_BUFFSIZE = 609MB, HCCL_BUFFSIZE=200MB.\n";

pub(super) fn doctor(args: &[&str], input: &(impl AsRef<[u8]> + ?Sized)) -> (String, String, i32) {
    let mut command = Command::cargo_bin("ascend-doctor").unwrap();
    command.arg("translate-error").args(["--lang", "en"]).args(args).write_stdin(input.as_ref());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn the_fix_has_the_value_that_the_log_asks_for() {
    let (out, _, status) = doctor(&["-"], BUFFER);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("export HCCL_BUFFSIZE=609"), "{out}");
    assert!(out.contains("HCCL_BUFFSIZE too small"), "{out}");
    let (out, _, status) =
        doctor(&["RuntimeError: NPU out of memory. Tried to allocate 2 GiB"], "");
    assert_eq!(status, 1, "{out}");
    let (out, _, status) = doctor(&["-"], "all is well\n");
    assert_eq!(status, 3, "{out}");
}

/// Only a consequence names the kernel: the finding keeps it, and no step asks for it.
#[test]
fn what_a_consequence_names_is_kept_and_not_asked_for() {
    let kernel = "[rank3]: [ERROR] RUNTIME(1035,python):2026-09-16-11:00:43.200 Aicore kernel execute \
        failed, device_id=2, stream_id=2, task_id=3, fault kernel_name=GatherV3_abc, fault kernel \
        info ext=none\n";
    let memory = "[rank3]: NPU function error: UCE ERROR, error code is 507053\n";
    let (out, _, status) = doctor(&["-"], &format!("{memory}{kernel}"));
    assert_eq!(status, 1, "{out}");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("also causes aicore.kernel_exception ("), "{out}");
    assert!(out.contains("op=GatherV3_abc, ranks=3)"), "{out}");
    let (json, _, _) = doctor(&["--json", "-"], &format!("{memory}{kernel}"));
    let report: Value = serde_json::from_str(&json).unwrap();
    let consequence = &report["findings"][0]["consequences"][0];
    assert_eq!(consequence["values"]["op"], "GatherV3_abc", "{consequence}");
    let asks = |input: &str| doctor(&["-"], input).0.contains("Find the kernel name");
    assert!(!asks(kernel));
    assert!(asks("[rank3]: RuntimeError: ACL stream synchronize failed, error code:507015\n"));
}

#[test]
fn a_warning_before_or_after_an_error_changes_neither_first_cause_nor_status() {
    let warning = "[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator \
        'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall \
        back to run on the CPU.\n";
    let first = |input: &str| {
        let (out, _, status) = doctor(&["--json", "-"], input);
        let report: Value = serde_json::from_str(&out).unwrap();
        (report["findings"][0]["id"].as_str().unwrap().to_owned(), status)
    };
    for code in ["107002", "207001", "507014", "507015", "507018", "507035", "507046", "507057"] {
        let error =
            format!("[rank0]: RuntimeError: ACL stream synchronize failed, error code:{code}\n");
        let alone = first(&error);
        assert_eq!(alone.1, 1, "{code}");
        assert_eq!(first(&format!("{warning}{error}")), alone, "{code}");
        assert_eq!(first(&format!("{error}{warning}")), alone, "{code}");
    }
}

#[test]
fn compressed_standard_input_is_read_as_such_a_file() {
    let packed = |bytes: &[u8]| {
        let level = flate2::Compression::default();
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), level);
        std::io::Write::write_all(&mut packer, bytes).unwrap();
        packer.finish().unwrap()
    };
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(BUFFER.len() as u64);
    archive.append_data(&mut header, "logs/rank3.log", BUFFER.as_bytes()).unwrap();
    let archive = archive.into_inner().unwrap();
    for input in [packed(BUFFER.as_bytes()), packed(&archive), archive] {
        let (out, _, status) = doctor(&["-"], &input);
        assert!(status == 1 && out.contains("HCCL_BUFFSIZE too small"), "{out}");
    }
    // Damaged input, and input that cannot be streamed, is reported.
    let (out, err, status) = doctor(&["-"], &packed(BUFFER.as_bytes())[..40]);
    assert!(status != 0 && (out + &err).contains("`-` is damaged"), "{err}");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.log", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, BUFFER.as_bytes()).unwrap();
    let (_, err, status) = doctor(&["-"], &zip.finish().unwrap().into_inner());
    assert!(status == 2 && err.contains("read from a file and not from a pipe"), "{err}");
}

#[test]
fn quiet_says_why_there_is_no_verdict() {
    let (out, _, status) = doctor(&["-q", "-"], "all is well\n");
    assert_eq!(status, 3);
    assert!(out.contains("no known error in 1 line"), "{out}");
    // A missing file gives no verdict.
    let (out, err, status) = doctor(&["-q", "nowhere.log"], "");
    assert_eq!((out.as_str(), status), ("", 2));
    assert!(err.contains("nowhere.log"), "{err}");
}

#[test]
fn json_holds_the_diagnosis() {
    let (out, _, status) = doctor(&["--json", "-"], BUFFER);
    let json: Value = serde_json::from_str(&out).unwrap();
    let first = &json["diagnosis"]["causes"][0];
    assert_eq!(status, 1);
    assert_eq!(first["cause"], "hccl.buffsize_too_small", "{out}");
    assert_eq!(first["values"]["need"], "609");
    assert_eq!(first["evidence"][0]["line"], 2);
}

#[test]
fn following_passes_the_log_on_unchanged() {
    let log = format!("step 1\r\x1b[31mstep 2\x1b[0m\n{BUFFER}\u{fffd}no end");
    for args in [&["--follow"][..], &["--follow", "-"]] {
        let (out, err, status) = doctor(args, &log);
        assert_eq!(out, log);
        assert!(err.contains("HCCL_BUFFSIZE too small"), "{err}");
        assert_eq!(status, 1);
    }
    let (out, err, status) = doctor(&["--follow", "train.log"], &log);
    assert_eq!((out.as_str(), status), ("", 2));
    assert!(err.contains("not `train.log`"), "{err}");
}

#[test]
fn a_redacted_report_names_no_machine() {
    let log = "File \"/home/li/work/train.py\", line 3\n\
        [ERROR] HCCL(1,p):2025-11-21-01:20:01.624.966 [a.cc:1] [1]listen on ip[192.168.2.199] and specific port[16666] fail at /home/li/x\n";
    let (out, _, _) = doctor(&["--anonymize", "--json", "-"], log);
    assert!(out.contains("hccl.port_in_use"), "{out}");
    assert!(!out.contains("192.168") && !out.contains("/home/li"), "{out}");
}

#[test]
fn a_pipe_that_the_shell_opens_is_read() {
    let program = assert_cmd::cargo::cargo_bin!("ascend-doctor");
    let script = "\"$0\" translate-error --lang en <(printf '%s' \"$1\")";
    let mut shell = std::process::Command::new("bash");
    let output = shell.args(["-c", script]).arg(program).arg(BUFFER).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{out}");
    assert!(out.contains("export HCCL_BUFFSIZE=609"), "{out}");
}

#[test]
fn a_line_without_a_time_is_of_the_time_of_its_file() {
    let log = "[ERROR] HCCL(1,p):2025-11-21-01:20:01.624.966 [a.cc:1] [1]x\n\
        RuntimeError: NPU out of memory. Tried to allocate 2 GiB\n";
    let (out, _, status) = doctor(&["-"], log);
    assert_eq!(status, 1, "{out}");
    for range in [["--since", "2030-01-01"], ["--until", "2020-01-01"]] {
        let (out, _, status) = doctor(&[range[0], range[1], "-"], log);
        assert_eq!(status, 3, "{out}");
    }
    let (_, err, status) = doctor(&["--since", "2026-01-02", "--until", "2025-01-01", "-"], log);
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("is before"), "{err}");
}

#[test]
fn what_a_good_run_shows_too_is_hardly_the_cause() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.log");
    std::fs::write(&good, "WARNING x: symbol lookup error: libfoo.so: undefined symbol: bar\n")
        .unwrap();
    let bad =
        "symbol lookup error: libfoo.so: undefined symbol: bar\nRuntimeError: NPU out of memory\n";
    let (out, _, _) =
        doctor(&["--good-log", good.to_str().unwrap(), "--why-not", "--json", "-"], bad);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["diagnosis"]["causes"][0]["cause"], "memory.device_oom", "{out}");
    assert_eq!(json["diagnosis"]["rejected"][0]["why"], "in_baseline", "{out}");
}

#[test]
fn codes_and_logs_are_not_mixed() {
    let (_, err, status) = doctor(&["507035", "-"], "x\n");
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("--as"), "{err}");
}

/// Such a run is slow, but does not fail for this reason. The end mark shows whether it ended well.
#[test]
fn operators_on_the_cpu_alone_are_a_warning() {
    let slow = "[W compiler_depend.ts:51] Warning: CAUTION: The operator 'aten::mode' is not currently supported on the NPU backend and will fall back to run on the CPU.\n";
    let (out, _, status) = doctor(&["-"], slow);
    assert!(status == 3 && out.contains("warning[op.not_supported_on_npu]"), "{out}");
    assert!(out.contains("aten::mode"), "{out}");
    let ended = format!("{slow}{{'train_runtime': 12.3, 'epoch': 3.0}}\n");
    assert_eq!(doctor(&["-"], &ended).2, 0);
    let fails = format!(
        "{slow}NotImplementedError: Could not run 'aten::mode' with arguments from the 'NPU' backend.\n"
    );
    assert_eq!(doctor(&["-"], &fails).2, 1);
}

#[test]
fn where_nothing_of_a_rank_is_left_there_is_no_verdict() {
    let log = "[rank1]:[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator \
        'aten::isin' is not currently supported on the NPU backend and will fall back to run on the CPU.\n";
    let (out, _, status) = doctor(&["--rank", "5", "-"], log);
    assert_eq!(status, 3, "{out}");
    assert!(!out.contains("aten::isin"), "{out}");
    let (out, _, status) = doctor(&["--rank", "1", "-"], log);
    assert!(out.contains("aten::isin"), "{out}");
    assert_eq!(status, 3, "the log has no end mark: {out}");
}

/// An E-code and its text are two pieces of evidence, on one line.
const BOTH: &str = "EI0006: Getting socket times out\n";

#[test]
fn a_line_is_shown_once_and_a_cause_told_once() {
    let (out, _, _) = doctor(&["--json", "-"], BOTH);
    let json: Value = serde_json::from_str(&out).unwrap();
    let first = &json["diagnosis"]["causes"][0];
    assert_eq!(first["cause"], "hccl.socket_timeout", "{out}");
    assert_eq!(
        (first["evidence"].as_array().unwrap().len(), first["count"].as_u64()),
        (1, Some(2))
    );
    let (_, err, _) = doctor(&["--follow", "--output", "/dev/null"], BOTH);
    assert_eq!(err.matches("(hccl.socket_timeout)").count(), 1, "{err}");
}

#[test]
fn why_there_is_no_cause_is_told() {
    let (out, _, status) = doctor(&["--rank", "7", "-"], BUFFER);
    assert_eq!(status, 3, "{out}");
    assert!(out.contains("`--rank`"), "{out}");
    let (out, _, status) = doctor(&["-"], "");
    assert_eq!(status, 3, "{out}");
    assert!(out.contains("No content"), "{out}");
}

#[test]
fn what_is_packed_is_passed_on_and_said_to_be_unread() {
    let log = "PK\u{3}\u{4}\n";
    let (out, err, status) = doctor(&["--follow"], log);
    assert_eq!(out, log);
    assert!(err.contains("`-` was not read; unpack it first: zip"), "{err}");
    assert_eq!(status, 3);
}

#[test]
fn hits_beyond_the_limit_are_counted() {
    let line = |n: u32| {
        format!("ImportError: libfoo{n}.so: cannot open shared object file: No such file\n")
    };
    let log: String = (0..100).map(line).collect();
    let (out, _, status) = doctor(&["--json", "-"], &log);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((json["diagnosis"]["read"]["not_kept"].as_u64(), status), (Some(76), 1), "{out}");
}

/// The library that reads the archive keeps the complete name of a member.
#[test]
fn a_name_of_megabytes_is_not_read() {
    let archive = |length: usize| {
        let mut archive = tar::Builder::new(Vec::new());
        for (kind, content) in [(b'L', "a".repeat(length)), (b'0', BUFFER.to_owned())] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::new(kind));
            header.set_size(content.len() as u64);
            header.set_cksum();
            archive.append_data(&mut header, "train.log", content.as_bytes()).unwrap();
        }
        archive.into_inner().unwrap()
    };
    let (out, _, status) = doctor(&["-"], &archive(3000));
    assert_eq!(status, 1, "{out}");
    let (out, _, status) = doctor(&["-"], &archive(2 << 20));
    assert!([2, 3].contains(&status) && out.len() < 10_000, "{status} {out}");
    // Consecutive large members are not names.
    let mut many = tar::Builder::new(Vec::new());
    for (name, content) in [("a.log", "x\n".repeat(1 << 20)), ("b.log", BUFFER.to_owned())] {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_cksum();
        many.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    let (out, _, status) = doctor(&["-"], &many.into_inner().unwrap());
    assert_eq!(status, 1, "{out}");
}

/// Pipes in a directory are not read: they may never have a writer.
#[test]
fn what_is_no_file_in_a_directory_is_told() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rank_0.log"), BUFFER).unwrap();
    let path = dir.path().display().to_string();
    let (out, _, _) = doctor(&[&path], "");
    assert!(!out.contains("skipped"), "{out}");
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("rank_1.log"), mode).unwrap();
    std::fs::create_dir(dir.path().join("old")).unwrap();
    std::os::unix::fs::symlink("old", dir.path().join("latest")).unwrap();
    let (out, _, status) = doctor(&[&path], "");
    assert_eq!(status, 1);
    assert!(out.contains("2 files that are not logs by name or type"), "{out}");
}

/// A pipe returns its content.
#[test]
fn what_is_packed_is_told_however_it_comes() {
    let script =
        "( printf '\\x1f'; sleep 0.3; printf '\\x8bx\\n' ) | \"$0\" translate-error --follow";
    let program = assert_cmd::cargo::cargo_bin!("ascend-doctor");
    let mut shell = std::process::Command::new("bash");
    let output = shell.args(["-c", script]).arg(program).output().unwrap();
    assert_eq!(output.stdout, b"\x1f\x8bx\n");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`-` was not read; unpack it first: gzip"), "{told}");
}
