use super::*;

fn causes(line: &str) -> Vec<String> {
    examine(line.as_bytes(), b"").hits.into_iter().map(|hit| hit.cause).collect()
}

#[test]
fn the_most_specific_reading_of_words_wins() {
    assert_eq!(
        causes("ImportError: libascend_hal.so: cannot open shared object file: No such file"),
        ["env.driver_lib_missing"]
    );
    assert_eq!(
        causes("ImportError: libfoo.so.3: cannot open shared object file: No such file"),
        ["env.lib_path_missing"]
    );
}

#[test]
fn advice_and_information_state_nothing() {
    let advice = "        Solution: 1. Check whether the TLS config \"tls\" is invalid.";
    assert_eq!(causes(advice), [""; 0]);
    let event = "[EVENT] GE(1,py):2025-05-12-20:55:44.705.025 [a.cc:1]1 F:EI0006: EE9999: x";
    assert_eq!(causes(event), [""; 0]);
    let info = "[INFO] HCCL(1,py):2025-05-12-20:55:44.705.025 [a.cc:1]1 HcclCommInit \
        ranks[8], rank[3], deviceLogicId[3]";
    assert_eq!(causes(info), ["hccl.identity"]);
}

#[test]
fn words_of_a_registered_message_are_not_read_otherwise() {
    let general = "op.unsupported_attr_or_shape".to_owned();
    let found = causes("EL0014: The operation is unsupported.");
    assert!(found.iter().all(|cause| cause == "runtime.not_supported"), "{found:?}");
    assert!(causes("The operation is unsupported.").contains(&general));
    // The words in the place of an argument are more specific than the message.
    let line = "EZ9999: Tensor self not implemented for DT_DOUBLE";
    assert!(causes(line).contains(&general), "{line}");
}

#[test]
fn what_the_launcher_raises_says_only_that_a_process_failed() {
    for line in [
        "ray.train.base_trainer.TrainingFailedError: The Ray Train run failed.",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 15",
        "torch.multiprocessing.spawn.ProcessRaisedException: ",
        "ray.exceptions.RayTaskError(ValueError): ray::train()",
        "subprocess.CalledProcessError: Command '['/usr/bin/python3', 'train.py']' returned \
            non-zero exit status 1.",
    ] {
        assert_eq!(causes(line), ["framework.worker_died"], "{line}");
    }
    let line = "subprocess.CalledProcessError: Command 'lspci' returned non-zero exit status 1.";
    // Without a traceback, the owner of the command is unknown.
    assert_eq!(causes(line), ["framework.program_error"]);
    assert_eq!(causes("RuntimeError: Traceback (most recent call last):"), [""; 0]);
}

#[test]
fn equal_versions_are_no_mismatch() {
    let line = |have: &str| format!("torch-npu 2.7.1 requires torch 2.7.1; found torch {have}");
    assert_eq!(causes(&line("2.7.1+cpu.")), [""; 0]);
    assert_eq!(causes(&line("2.8.0")), ["env.version_mismatch_torch"]);
}

#[test]
fn parts_that_frameworks_do_without_are_no_failure() {
    for line in [
        "/x/torchvision/io/image.py:13: UserWarning: Failed to load image Python extension: \
            'libc10_cuda.so: cannot open shared object file: No such file or directory'",
        "'NoneType' object has no attribute 'cadam32bit_grad_fp32'",
        "import error: No module named 'triton'",
        "WARNING 11-25 09:12:33 _custom_ops.py:19] Failed to import from vllm._C with \
            ImportError('libcudart.so.12: cannot open shared object file: No such file')",
    ] {
        assert_eq!(causes(line), [""; 0], "{line}");
    }
}

#[test]
fn a_place_in_the_source_is_no_value() {
    assert_eq!(strip_location(b"[FUNC:GetError][FILE:stream.cc]"), b"");
    assert_eq!(strip_location(b"MatMul[FUNC:GetError]"), b"MatMul[FUNC:GetError]");
}

#[test]
fn values_of_a_text_are_kept() {
    let line = "HCCL_BUFFSIZE is too SMALL, maxBs = 512, NEEDED_HCCL_BUFFSIZE = 609MB, \
        HCCL_BUFFSIZE=200MB.";
    let hits = examine(line.as_bytes(), b"").hits;
    assert_eq!(hits[0].cause, "hccl.buffsize_too_small");
}
