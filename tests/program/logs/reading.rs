//! Single logs as pasted by users: the line that names the cause.

use super::examined;

/// The causes of a log, the first one first.
fn causes(text: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.log");
    std::fs::write(&path, text).unwrap();
    examined(&path).causes.into_iter().map(|cause| cause.cause).collect()
}

fn first(text: &str) -> String {
    causes(text).into_iter().next().unwrap_or_default()
}

/// The report of torchrun: rank 1 fails with `code`, and rank 0 is killed half a minute later.
fn report(code: i32) -> String {
    let entry = |number, rank, time, code, says: &str| {
        format!(
            "[{number}]:\n  time      : 2026-09-07_13:{time}\n  host      : localhost\n  \
             rank      : {rank} (local_rank: {rank})\n  exitcode  : {code} (pid: 1469{rank})\n  \
             error_file: <N/A>\n  traceback : {says}\n"
        )
    };
    let line = "------------------------------------------------------------\n";
    format!(
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \ntrain.py FAILED\n\
         {line}Failures:\n{}{line}Root Cause (first observed failure):\n{}",
        entry(1, 0, "03:29", -9, "Signal 9 (SIGKILL) received by PID 14690"),
        entry(0, 1, "02:58", code, "To enable traceback see: https://pytorch.org/docs"),
    )
}

#[test]
fn ranks_that_the_launcher_kills_did_not_run_out_of_memory() {
    assert_eq!(first(&report(1)), "framework.worker_died");
    assert_eq!(first(&report(-9)), "memory.host_oom");
}

#[test]
fn a_code_says_more_than_the_words_beside_it() {
    let text = "RuntimeError: Ascend kernel runtime initialization failed, device id: 9.\n\
        ----\n- Framework Error Message:\n----\n\
        Call aclrtSetDevice failed, ret[107001]. Got device count[8] and device id[9]\n";
    assert_eq!(first(text), "runtime.device_id_invalid");
    let text = "ATC run failed, Please check the detail log\n\
        E10001: Value [-1] for parameter [Inputs] is invalid. Reason: set input_shape\n";
    assert_eq!(first(text), "model.converter_option_invalid");
}

#[test]
fn a_headline_does_not_win_by_standing_first() {
    let text = "MindSpore running check failed.\nAscend kernel runtime initialization failed.\n\n\
        ----\n- Ascend Error Message:\n----\nEE8888: Inner Error!\n        \
        rtStreamCreateWithFlags execute failed, reason=[feature not support][FUNC:F][FILE:a.cc]\n\
        Create stream failed, ret:207000\n";
    assert_eq!(first(text), "runtime.not_supported");
}

#[test]
fn faults_of_chips_are_read_from_cluster_management() {
    let event = |kind| {
        format!(
            "Warning   Occur  pod/x  device fault, nodeName:m, assertion:{kind}, cardID:2, \
            deviceID:0, faultCodes:8C084E00, faultLevelName:RestartBusiness\n"
        )
    };
    assert_eq!(first(&event("Occur")), "hw.device_event");
    assert_eq!(causes(&event("Recovery")), [""; 0]);
}

#[test]
fn a_crash_is_of_the_process_unless_a_library_was_being_loaded() {
    let crash = |frame: &str| {
        format!(
            "Fatal Python error: Segmentation fault\n\n\
            Current thread 0x0000ffff9b3c6020 (most recent call first):\n  File {frame}\n"
        )
    };
    assert_eq!(first(&crash("\"/x/train.py\", line 7 in f")), "framework.worker_died");
    let loading = "\"<frozen importlib._bootstrap_external>\", line 1176 in create_module";
    assert_eq!(first(&crash(loading)), "env.version_mismatch_abi");
}

#[test]
fn the_codes_of_samples_and_tools_become_causes() {
    for (text, cause) in [
        ("[ERROR] aclmdlExecute failed, ret = 507018", "aicpu.kernel_failed"),
        ("hi_mpi_vdec_create_chn failed, ret = 0xa0058010", "framework.context_null"),
        ("hi_mpi_vpc_resize failed, ret = a0078008", "runtime.not_supported"),
        (
            "[ERROR] GE(39,py):2021-11-18-01:09:39.548.671 [a.cc:6]39 F: ErrorNo: \
             1343242270(Prepare Graph infershape failed) [COMP][PRE_OPT]x",
            "op.infershape_failed",
        ),
    ] {
        assert_eq!(first(&format!("{text}\n")), cause, "{text}");
    }
}
