//! Results of `translate-error` for single codes, in logs and as arguments.

use errcodes::log::{Filter, Input, diagnose, read};
use errcodes::{families, note, rows};
use machine::sysroot::Sysroot;
use serde_json::Value;

use super::command::doctor;

/// Harmless lines of torchrun and torch_npu.
const HARMLESS: [&str; 2] = [
    "[W socket.cpp:464] [c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign requested address).\n",
    "[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator 'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall back to run on the CPU.\n",
];

fn failure(code: &str) -> String {
    format!(
        "Traceback (most recent call last):\n  File \"train.py\", line 8, in <module>\n    \
         loss.backward()\nRuntimeError: call:torch_npu/csrc/a.cpp:121 NPU function error: call, \
         error code is {code}\n[ERROR] 2026-06-10-10:11:12 (PID:4711, Device:0, RankID:0) ERR00100 \
         PTA call acl api failed\n"
    )
}

#[test]
fn each_code_of_acl_that_reports_a_failure_is_its_own_first_finding() {
    let directory = tempfile::tempdir().unwrap();
    let mut count = 0;
    for family in
        families().iter().filter(|one| ["acl_rt", "acl_api", "acl_ge"].contains(&&*one.id))
    {
        for row in rows(family).iter().filter(|row| row.code.len() == 6) {
            if note(&family.id, &row.code).is_some_and(|note| note.status) {
                continue;
            }
            count += 1;
            for (at, before) in ["", HARMLESS[0], HARMLESS[1]].iter().enumerate() {
                let path = directory.path().join(format!("{}-{at}.log", row.code));
                std::fs::write(&path, format!("{before}{}", failure(&row.code))).unwrap();
                let path = path.display().to_string();
                let input = Input::Path { shown: path.clone(), path };
                let files = ascend_doctor::MachineFiles(&Sysroot::live());
                let found = diagnose(read(vec![input], &files), &Filter::default());
                let rule = &found.causes[0].evidence[0].rule;
                assert!(rule.ends_with(&format!(":{}", row.code)), "{}: {rule}", row.code);
                let report =
                    errcodes::log::report(&found, "x", errcodes::log::ReportOptions::default());
                assert_eq!(
                    report.findings[0].severity,
                    base::report::Severity::Error,
                    "{}",
                    row.code
                );
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn the_words_of_a_log_select_the_remedy() {
    let steps = |input: &str| -> Vec<String> {
        let (out, _, _) = doctor(&["--json", "-"], input);
        let report: Value = serde_json::from_str(&out).unwrap();
        let steps = report["findings"][0]["fix"].as_array().unwrap().iter();
        steps.map(|step| step["run"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let copy = "[ERROR] RUNTIME(7,python):2026-06-10-10:11:12.105.031 [device_error_proc.cc:1]7 \
        ProcessSdmaErrorInfo: there is an sdma error, copy_d2d, length=4096, error code is 507013\n";
    assert_eq!(steps(copy)[0], "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:False");
    let other = "RuntimeError: ACL stream synchronize failed, error code:507013\n";
    assert!(!steps(other).contains(&steps(copy)[0]));
}

#[test]
fn a_status_is_an_answer_and_no_fault() {
    let (out, _, status) = doctor(&["507004"], "");
    assert_eq!(status, 0);
    assert!(out.contains("a status, not a fault") && out.contains("Steps"), "{out}");
    let (out, _, _) = doctor(&["--json", "507004"], "");
    let item: Value = serde_json::from_str(&out).unwrap();
    assert!(item.to_string().contains(r#""status":true"#), "{out}");
    let (out, _, _) = doctor(&["507899"], "");
    assert!(out.contains("drvRetCode=") && !out.contains("No explanation"), "{out}");
}

#[test]
fn faults_of_the_host_and_of_services_have_causes() {
    for (line, cause, status) in [
        (
            "kernel: watchdog: BUG: soft lockup - CPU#1 stuck for 34s! [kworker/1:3:3315742]",
            "host.cpu_lockup",
            1,
        ),
        (
            "kernel: nf_conntrack: nf_conntrack: table full, dropping packet",
            "host.conntrack_full",
            1,
        ),
        (
            "kernel: EXT4-fs error (device sdb): ext4_lookup:1441: inode #4014082",
            "host.filesystem_error",
            1,
        ),
        (
            "[2024-11-05 12:00:00.123456] [11] [1] [MS] [1] [ERROR] : [MIE03E400006] [HttpServer] connections reach the limit.",
            "service.overload",
            1,
        ),
        ("systemd[1]: Time has been changed", "host.clock_changed", 3),
    ] {
        let (out, _, found) = doctor(&["--json", "-"], &format!("Jun 10 10:11:12 node-3 {line}\n"));
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["findings"][0]["id"], cause, "{line}: {out}");
        assert_eq!(found, status, "{line}");
    }
    let corrected = "Feb  5 15:41:33 hostname kernel: pcieport 10003:00:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer\n";
    let (out, _, status) = doctor(&["--json", "-"], corrected);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert!(status == 3 && report["findings"].as_array().unwrap().is_empty(), "{out}");
}
