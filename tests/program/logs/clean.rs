//! Logs of runs without a failure: nothing may be reported.

use std::fmt::Write as _;
use std::path::Path;

use errcodes::log::{Limits, Role, scan};

use super::examined;

/// Numbers that look like codes, addresses and process ids; equal for equal seeds.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        // Xorshift: good enough to vary digits.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number in the form of a code.
    fn code(&mut self) -> u64 {
        const SHAPES: [u64; 12] = [
            507_035,
            507_015,
            107_002,
            207_001,
            500_002,
            561_003,
            161_002,
            507_046,
            117_571_606,
            9_999,
            507_899,
            145_000,
        ];
        let index = usize::try_from(self.below(SHAPES.len() as u64)).unwrap();
        SHAPES[index]
    }
}

/// About `size` bytes of the log of a healthy training run: plogs with INFO and EVENT lines that
/// list codes, loss lines, progress bars, hex dumps, tables.
fn healthy(size: usize, seed: u64) -> String {
    let mut noise = Noise(seed);
    let mut log = String::with_capacity(size + 512);
    let mut step = 0_u64;
    while log.len() < size {
        step += 1;
        let (code, pid, address) = (noise.code(), 100_000 + noise.below(600_000), noise.next());
        let stamp = format!(
            "2026-06-10-{:02}:{:02}:{:02}.{:03}.{:03}",
            noise.below(24),
            noise.below(60),
            noise.below(60),
            noise.below(1_000),
            noise.below(1_000)
        );
        let _ = match noise.below(16) {
            0 => writeln!(
                log,
                "[INFO] RUNTIME({code},python3):{stamp} [task.cc:{code}]{pid} Submit:stream_id={code}, task_id={pid}, addr=0x{address:x}"
            ),
            1 => writeln!(
                log,
                "[EVENT] GE({pid},python):{stamp} [error_manager.cc:83]{code} Init:EE9999 EI0006 EZ1001: 686 codes loaded"
            ),
            2 => writeln!(
                log,
                "[INFO] HCCL({pid},python):{stamp} [hccl_comm.cc:77] [{code}][TaskExecStage]hcclRet -> 0, retCode=0, ret[0]"
            ),
            3 => writeln!(
                log,
                "iteration {step}/{code} | loss: {}.{code} | grad norm: 0.{pid} | elapsed time per iteration (ms): {code}.1",
                noise.below(9)
            ),
            4 => writeln!(
                log,
                "{:3}%|####      | {step}/{code} [00:12<01:{:02}, {code}it/s]",
                noise.below(100),
                noise.below(60)
            ),
            5 => writeln!(
                log,
                "{address:016x}: {:032x} {:08X} E{:05}",
                u128::from(noise.next()),
                noise.below(u64::from(u32::MAX)),
                noise.below(100_000)
            ),
            6 => writeln!(
                log,
                "root      {pid}  {code}  0 10:12 ?        00:00:01 python train.py --seed {code} --port {}",
                noise.below(65_536)
            ),
            7 => writeln!(
                log,
                "| {}     910B3               | OK            | 95.{}        41                0    / 0             |",
                noise.below(8),
                noise.below(10)
            ),
            8 => writeln!(
                log,
                "INFO 06-10 10:11:12 [metrics.py:{code}] Avg prompt throughput: {code}.0 tokens/s, Running: {} reqs",
                noise.below(300)
            ),
            9 => writeln!(
                log,
                "[W610 17:20:44.{address} compiler_depend.ts:{code}] Warning: AutoNonVariableTypeMode is deprecated (function operator())"
            ),
            10 => writeln!(
                log,
                "saved checkpoint iter_{step:07}/mp_rank_{:02}_{code} to /data/ckpt/{address:x}",
                noise.below(8)
            ),
            11 => writeln!(
                log,
                "[INFO] DRV({pid},python):{stamp} [devmm.c:{code}]{pid} size={code}, va=0x{address:x}, devid=0, ret=0"
            ),
            12 => writeln!(
                log,
                "UserWarning: the default value of argument {code} will change in version 2.{}",
                noise.below(9)
            ),
            13 => writeln!(
                log,
                "tensor([[{code}, {pid}], [-{code}, {}]], device='npu:0', dtype=torch.int32)",
                noise.next()
            ),
            14 => writeln!(
                log,
                "[INFO] TDT({pid},python):{stamp} [tsd.cc:{code}]{pid} open device {} ok, cost {code} us, 0 error(s)",
                noise.below(8)
            ),
            _ => writeln!(
                log,
                "(Worker_TP{} pid={pid}) INFO 06-10 10:11:12 [worker.py:{code}] KV cache: {code} tokens, E10001 = 0x{address:X}",
                noise.below(8)
            ),
        };
    }
    log
}

/// The generated amount: 100 MB with `ASCEND_DOCTOR_CLEAN_MB=100`, less in an ordinary run.
fn megabytes() -> usize {
    let asked = std::env::var("ASCEND_DOCTOR_CLEAN_MB").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(4)
}

#[test]
fn nothing_is_reported_from_healthy_logs() {
    for part in 0..megabytes() {
        let log = healthy(1 << 20, 0x9e37_79b9_7f4a_7c15 ^ (part as u64 + 1));
        let report = scan("clean", &mut log.as_bytes(), Limits::default());
        let found: Vec<(&str, &str)> = report
            .records
            .iter()
            .map(|record| (record.hit.rule.as_str(), record.hit.text.as_str()))
            .collect();
        assert!(found.is_empty(), "{found:#?}");
        assert!(report.lines > 5_000 && report.fallbacks.is_empty());
    }
}

/// Messages of healthy frameworks at their start: parts that are missing or not supported on NPUs,
/// and their replacements.
#[test]
fn warnings_of_runs_that_go_on_are_no_cause() {
    for log in ["serving.log", "training.log"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs/healthy");
        let found = examined(&folder.join(log));
        let causes: Vec<_> = found
            .causes
            .iter()
            .flat_map(|cause| cause.evidence.iter().map(|line| (&cause.cause, &line.text)))
            .collect();
        assert!(causes.is_empty(), "{log}: {causes:#?}");
    }
}

/// Lines of healthy programs that share words with failures.
#[test]
fn no_healthy_line_has_a_cause() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/errors/healthy.txt");
    let lines = std::fs::read_to_string(file).expect("the file is a part of this project");
    for line in lines.lines() {
        let report = scan("clean", &mut line.as_bytes(), Limits::default());
        let told: Vec<&str> = report
            .records
            .iter()
            .filter(|record| record.hit.role != Role::Context)
            .map(|record| record.hit.rule.as_str())
            .collect();
        assert!(told.is_empty(), "{told:?} in {line}");
    }
}
