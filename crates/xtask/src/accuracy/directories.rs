//! Log directories of jobs with 8 and 64 ranks, one of which failed: every layout of the launchers,
//! with every kind of visible or invisible failure of a rank.
//!
//! A result is right if the kind of the first cause and the reported rank are right.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use serde_json::json;

use super::measurement::Measurement;
use super::probe::Probe;
use super::random::Random;

/// The layout of the logs of a job in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// `node0/log/debug/plog/plog-PID_TIME.log`, one for each process.
    Plogs,
    /// `logs/rank_3.log`.
    Ranks,
    /// One file, with `[rank3]: ` before each line.
    Interleaved,
    /// `none_x/attempt_0/3/stderr.log`, as torchrun writes them.
    Torchrun,
    /// One file of JSON lines for each pod of 8 ranks.
    Pods,
    /// `msrun_log/worker_3.log`.
    Msrun,
}

const LAYOUTS: [(Layout, &str); 6] = [
    (Layout::Plogs, "plogs"),
    (Layout::Ranks, "ranks"),
    (Layout::Interleaved, "interleaved"),
    (Layout::Torchrun, "torchrun"),
    (Layout::Pods, "pods"),
    (Layout::Msrun, "msrun"),
];

/// The failure of the rank at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// An AI Core exception. The others wait for the rank half an hour later.
    Device,
    /// Its log ends without an error. The others wait.
    Silent,
    /// It has no log. The others get no connection.
    Absent,
    /// The device memory is exhausted. torchrun ends the others.
    Memory,
}

impl Fault {
    /// Returns words that identify the right causes.
    fn causes(self) -> &'static [&'static str] {
        match self {
            Self::Device => &["aicore."],
            Self::Silent => &["hccl.notify_wait_timeout", "hccl.slow_rank"],
            Self::Absent => &["hccl.socket_timeout", "hccl.cluster_negotiation_timeout"],
            Self::Memory => &["memory.device_oom"],
        }
    }
}

const FAULTS: [(Fault, &str); 4] = [
    (Fault::Device, "device"),
    (Fault::Silent, "silent"),
    (Fault::Absent, "absent"),
    (Fault::Memory, "memory"),
];

/// An additional property of the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Plain,
    /// The clocks of the first machine differ by up to 400 s.
    Skewed,
    /// Older lines are in separate compressed files.
    Rotated,
    /// There is also a healthy job with the same number of ranks.
    TwoJobs,
    /// The job was started earlier, and that run ended successfully.
    Restarted,
}

const TURNS: [Turn; 5] = [Turn::Plain, Turn::Skewed, Turn::Rotated, Turn::TwoJobs, Turn::Restarted];

/// Whether lines identify their rank in addition to prefixes and file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Stated,
    Unstated,
}

/// A directory and its root cause.
struct Sample {
    name: String,
    layout: Layout,
    fault: Fault,
    turn: Turn,
    words: Words,
    size: u32,
    at_fault: u32,
    skews: Vec<f64>,
}

/// Lines with the second in which each was written.
type Lines = Vec<(f64, String)>;

/// Measures the directories: with ranks in many lines, and with ranks in few lines.
pub(super) fn measure(probe: &Probe, seed: u64) -> Result<Vec<Measurement>> {
    [
        (Words::Stated, "directories of logs"),
        (Words::Unstated, "directories of logs that say little of ranks"),
    ]
    .into_iter()
    .map(|(words, name)| {
        let samples = draw(words, seed);
        let results: Vec<Option<String>> =
            samples.par_iter().map(|sample| judge(probe, sample)).collect::<Result<_>>()?;
        Ok(Measurement::of(name, results))
    })
    .collect()
}

fn draw(words: Words, seed: u64) -> Vec<Sample> {
    let mut random = Random::new(seed ^ words as u64);
    let mut samples = Vec::new();
    for (layout, of_layout) in LAYOUTS {
        for (fault, of_fault) in FAULTS {
            for size in [8_u32, 64] {
                let turn = TURNS[samples.len() % TURNS.len()];
                // If no line contains the number of ranks, a missing log of the last rank cannot be
                // detected.
                let last = u32::from(words == Words::Unstated);
                let at_fault = 1 + random.below_u32(size - 1 - last);
                let skew = |rank: u32, random: &mut Random| match turn {
                    Turn::Skewed if rank < 8 => f64::from(random.below_u32(800)) - 400.0,
                    _ => 0.0,
                };
                let skews = (0..size).map(|rank| skew(rank, &mut random)).collect();
                let name = format!("{of_layout}-{of_fault}-{size}-{turn:?}");
                samples.push(Sample { name, layout, fault, turn, words, size, at_fault, skews });
            }
        }
    }
    samples
}

fn judge(probe: &Probe, sample: &Sample) -> Result<Option<String>> {
    let dir = tempfile::tempdir()?;
    write(sample, dir.path())?;
    let path = dir.path().to_str().context("the path of a sample is not UTF-8")?;
    let report = match probe.json(&["translate-error", path, "--json"])? {
        Ok(report) => report,
        Err(error) => return Ok(Some(format!("{}: {error}", sample.name))),
    };
    let first = &report["diagnosis"]["causes"][0];
    let cause = first["cause"].as_str().unwrap_or_default();
    let right_cause = sample.fault.causes().iter().any(|known| cause.starts_with(known));
    let right_rank = first["culprit"]["ranks"] == json!([sample.at_fault]);
    let failed = report["gate"]["exit_status"] == json!(1);
    Ok((!(right_cause && right_rank && failed)).then(|| {
        format!(
            "{}: rank {}, got {cause} of ranks {}",
            sample.name, sample.at_fault, first["culprit"]["ranks"]
        )
    }))
}

/// When the fault occurs, and how long the others wait, in seconds.
const FAULT_AT: f64 = 600.0;
const PATIENCE: f64 = 1_836.0;

/// Formats `2026-06-10` and the time of day with milliseconds, at a second after 10 o'clock.
fn clock(second: f64, separator: char, fraction: char) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within one day")]
    let millis = (36_000_000.0 + second * 1_000.0) as u64;
    let (seconds, rest) = (millis / 1_000, millis % 1_000);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("2026-06-10{separator}{hour:02}:{minute:02}:{second:02}{fraction}{rest:03}")
}

impl Sample {
    fn pid(rank: u32) -> u32 {
        20_000 + rank * 7
    }

    fn ranks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.size).filter(|rank| self.fault != Fault::Absent || *rank != self.at_fault)
    }

    /// Returns the rank that a waiting rank names as silent: only its neighbors name the one at
    /// fault.
    fn peer(&self, rank: u32) -> u32 {
        if rank.abs_diff(self.at_fault) < 2 { self.at_fault } else { (rank + 1) % self.size }
    }

    /// Returns the lines of a rank. The job has no fault if `fault` is `None`.
    fn lines(&self, rank: u32, fault: Option<Fault>) -> Lines {
        let skew = self.skews[rank as usize];
        let shifted =
            |lines: Lines| lines.into_iter().map(|(at, line)| (at + skew, line)).collect();
        shifted(match self.layout {
            Layout::Plogs => self.plog(rank, fault, skew),
            _ => self.output(rank, fault, skew),
        })
    }

    fn plog(&self, rank: u32, fault: Option<Fault>, skew: f64) -> Lines {
        let (pid, device, size) = (Self::pid(rank), rank % 8, self.size);
        let mut all = Lines::new();
        let mut add = |level: &str, module: &str, at: f64, place: &str, text: String| {
            let time = clock(at + skew, '-', '.');
            let line =
                format!("[{level}] {module}({pid},python3):{time}.000 [{place}]{} {text}", pid + 1);
            all.push((at, line));
        };
        if self.words == Words::Stated {
            add(
                "INFO",
                "HCCL",
                2.0,
                "hccl_communicator.cc:455",
                format!(
                    "[HcclCommunicator][Init]identifier[10.20.0.10%eth0_60000_0], rankSize[{size}], rankId[{rank}], devicePhyId[{device}]"
                ),
            );
        }
        add(
            "EVENT",
            "HCCL",
            3.0,
            "hccl_communicator.cc:512",
            format!(
                "InitCommRootInfo success, rankNum[{size}], rank[{rank}], server[10.20.0.10%eth0], logicDevId[{device}]"
            ),
        );
        for step in 0..4_u32 {
            add(
                "EVENT",
                "RUNTIME",
                f64::from(20 + step * 60),
                "stream.cc:201",
                format!("Stream {step} created on device {device}"),
            );
        }
        match fault {
            Some(Fault::Device) if rank == self.at_fault => {
                add(
                    "ERROR",
                    "RUNTIME",
                    FAULT_AT,
                    "device_error_proc.cc:1400",
                    format!(
                        "ProcessStarsCoreErrorInfo:The error from device(chipId:{device}, dieId:0), serial number is 12, there is an aicore error exception, core id is 7, error code = 0x800000, dump info: pc start: 0x124080000000, current: 0x124080000250, vec error info: 0, mte error info: 0x6000000, ifu error info: 0, ccu error info: 0, cube error info: 0, biu error info: 0, aic error mask: 0x6500020bd000288."
                    ),
                );
                add(
                    "ERROR",
                    "RUNTIME",
                    FAULT_AT,
                    "api_error.cc:3456",
                    "rtStreamSynchronize:stream sync failed, retCode=507015".to_owned(),
                );
            }
            Some(Fault::Memory) if rank == self.at_fault => {
                add(
                    "ERROR",
                    "RUNTIME",
                    FAULT_AT,
                    "npu_driver.cc:1033",
                    format!(
                        "DevMemAllocOnline:[drv api] halMemAlloc failed: device_id={device}, size=2147483648, drvRetCode=6"
                    ),
                );
                add(
                    "ERROR",
                    "ASCENDCL",
                    FAULT_AT,
                    "memory.cpp:66",
                    "aclrtMalloc:alloc device memory failed, runtime result = 207001".to_owned(),
                );
            }
            Some(Fault::Device | Fault::Silent) if rank != self.at_fault => {
                let at = FAULT_AT + PATIENCE;
                let place = "task_exception_handler.cc:912";
                let group = "[TaskExceptionHandler][Callback]Task";
                add(
                    "ERROR",
                    "HCCL",
                    at,
                    place,
                    format!(
                        "{group} from HCCL run failed. base information is streamID:[5], taskID[{}], tag[AllReduce_10.20.0.10%eth0_60000_0], AlgType(level 0-1-2):[fullmesh-ring-ring].",
                        900 + rank
                    ),
                );
                add(
                    "ERROR",
                    "HCCL",
                    at,
                    place,
                    format!(
                        "{group} run failed, para information is notify id:[0x0000000{}], stage:[ffffffff], remote rank:[{}].",
                        rank % 10,
                        self.peer(rank)
                    ),
                );
                add(
                    "ERROR",
                    "HCCL",
                    at,
                    place,
                    format!(
                        "{group} run failed, groupRank information is group:[10.20.0.10%eth0_60000_0], user define information[], rankSize[{size}], rankId[{rank}]."
                    ),
                );
            }
            Some(Fault::Absent) => {
                let text = if rank == 0 {
                    format!(
                        "[Get][Connections]topo exchange server get socket timeout! timeout[120 s], connected rank num[{}], expected rank num[{size}]",
                        size - 1
                    )
                } else {
                    "[Connect]topo exchange agent get socket timeout! timeout[120]".to_owned()
                };
                add("ERROR", "HCCL", 122.0, "topoinfo_exchange_agent.cc:251", text);
                add("ERROR", "HCCL", 122.1, "op_base.cc:1110", "[Init][CommRootInfo]errNo[0x0000000005010009] HcclCommInitRootInfo failed, timeout".to_owned());
            }
            _ => {}
        }
        all
    }

    fn output(&self, rank: u32, fault: Option<Fault>, skew: f64) -> Lines {
        let (pid, device, size) = (Self::pid(rank), rank % 8, self.size);
        let stated = self.words == Words::Stated;
        let mut all = Lines::new();
        let info = |at: f64| format!("{} - INFO -", clock(at + skew, ' ', ','));
        all.push((
            1.0,
            if stated {
                format!(
                    "{} start training, world size {size}, rank {rank}, local rank {device}",
                    info(1.0)
                )
            } else {
                format!("{} loading the tokenizer from /data/model", info(1.0))
            },
        ));
        let steps = if fault == Some(Fault::Absent) { 0 } else { 9 };
        for step in 1..=steps {
            if rank == self.at_fault && fault == Some(Fault::Silent) && step == 9 {
                break;
            }
            let at = f64::from(step * 60);
            let whose = if stated { format!("[Rank {rank}] ") } else { String::new() };
            all.push((at, format!("{} {whose}iteration {}/1000 | elapsed time per iteration (ms): 6012.4 | loss: 3.{:02}", info(at), step * 10, 99 - step)));
        }
        let traceback = "Traceback (most recent call last):\n  File \"train.py\", line 210, in <module>\n    main()\n";
        let tail = |at: f64, code: &str| {
            let time = clock(at + skew, '-', '.');
            format!("[ERROR] {} (PID:{pid}, Device:{device}, RankID:{rank}) {code}", &time[..19])
        };
        let report = |at: f64, code: &str| {
            format!("{code}: [PID: {pid}] {}.000", clock(at + skew, '-', '.'))
        };
        match fault {
            Some(Fault::Device) if rank == self.at_fault => {
                all.push((FAULT_AT, format!("{traceback}RuntimeError: ACL stream synchronize failed, error code:507015\n{}\nEZ9999: Inner Error!\n{} The error from device(chipId:{device}, dieId:0), serial number is 12, there is an aicore error exception, core id is 7, error code = 0x800000, mte error info: 0x6000000[FUNC:ProcessStarsCoreErrorInfo][FILE:device_error_proc.cc][LINE:1400]", tail(FAULT_AT, "ERR00100 PTA call acl api failed"), report(FAULT_AT, "EZ9999"))));
            }
            Some(Fault::Memory) if rank == self.at_fault => {
                all.push((FAULT_AT, format!("{traceback}RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU {device}; 60.96 GiB total capacity; 57.10 GiB already allocated; 57.10 GiB current active; 1.20 GiB free; 58.00 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.\n{}", tail(FAULT_AT, "ERR00006 PTA memory error"))));
            }
            Some(Fault::Device | Fault::Silent) if rank != self.at_fault => {
                let at = FAULT_AT + PATIENCE;
                let peer = self.peer(rank);
                all.push((at, format!("{traceback}RuntimeError: ACL stream synchronize failed, error code:507048\n{}\n{} The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank [{peer}]. base information: [streamID:[5], taskID[{}], tag[AllReduce_10.20.0.10%eth0_60000_0], AlgType(level 0-1-2):[fullmesh-ring-ring].]. task information:[notify id:[0x0000000000000005], stage:[ffffffff], remote rank:[{peer}].]", tail(at, "ERR00100 PTA call acl api failed"), report(at, "EI0002"), 900 + rank)));
            }
            Some(Fault::Absent) => {
                all.push((122.0, format!("{traceback}RuntimeError: [ERROR] HCCL error in: ProcessGroupHCCL.cpp:64. \n{} Getting socket times out. Reason: Remote Rank did not send the data in time. Please check the reason for the rank being stuck\n{}", report(122.0, "EI0006"), tail(122.0, "ERR02200 DIST call hccl api failed."))));
            }
            _ => {}
        }
        all
    }
}

fn write(sample: &Sample, dir: &Path) -> Result<()> {
    let lines = |fault: Option<Fault>, shift: f64| -> BTreeMap<u32, Lines> {
        let all = sample.ranks().map(|rank| {
            let lines = sample.lines(rank, fault).into_iter();
            (rank, lines.map(|(at, line)| (at + shift, line)).collect())
        });
        all.collect()
    };
    if sample.turn == Turn::TwoJobs {
        place(sample, &dir.join("job_b"), &lines(None, 0.0), 0)?;
    }
    let restarted = sample.turn == Turn::Restarted && sample.layout == Layout::Torchrun;
    if restarted {
        place(sample, dir, &lines(None, 0.0), 0)?;
    }
    place(sample, dir, &lines(Some(sample.fault), 0.0), u32::from(restarted))
}

/// Writes the lines of a job.
fn place(sample: &Sample, dir: &Path, job: &BTreeMap<u32, Lines>, attempt: u32) -> Result<()> {
    let rotated = sample.turn == Turn::Rotated;
    match sample.layout {
        Layout::Plogs => {
            for (rank, lines) in job {
                let folder = dir.join(format!("node{}/log/debug/plog", rank / 8));
                let file =
                    |time: &str| folder.join(format!("plog-{}_{time}.log", Sample::pid(*rank)));
                let (older, newer) = lines.split_at(if rotated { lines.len().min(3) } else { 0 });
                if rotated {
                    save(&file("20260610100001000"), &text(older), false)?;
                }
                save(&file("20260610100900000"), &text(newer), false)?;
            }
        }
        Layout::Ranks => {
            for (rank, lines) in job {
                let path = dir.join(format!("logs/rank_{rank}.log"));
                let (older, newer) = lines.split_at(if rotated { lines.len().min(5) } else { 0 });
                if rotated {
                    save(&path.with_extension("log.1.gz"), &text(older), true)?;
                }
                save(&path, &text(newer), false)?;
            }
        }
        Layout::Interleaved => save(&dir.join("train.log"), &interleaved(job.iter()), false)?,
        Layout::Torchrun => {
            for (rank, lines) in job {
                // Each of several machines has its own directories.
                let (host, slot) = match sample.words {
                    Words::Stated => (String::new(), *rank),
                    Words::Unstated => (format!("host{}/", rank / 8), rank % 8),
                };
                let folder = dir.join(format!("{host}none_ab12cd/attempt_{attempt}/{slot}"));
                save(&folder.join("stderr.log"), &text(lines), false)?;
                save(&folder.join("stdout.log"), "", false)?;
            }
        }
        Layout::Pods => {
            for pod in 0..sample.size.div_ceil(8) {
                let lines = interleaved(job.iter().filter(|(rank, _)| **rank / 8 == pod));
                let mut all = String::new();
                for line in lines.lines() {
                    let entry = json!({ "log": format!("{line}\n"), "stream": "stderr", "time": "2026-06-10T11:00:00.000000000Z" });
                    writeln!(all, "{entry}")?;
                }
                save(&dir.join(format!("pods/train-worker-{pod}/0.log")), &all, false)?;
            }
        }
        Layout::Msrun => {
            for (rank, lines) in job {
                let name = match sample.words {
                    Words::Stated => format!("msrun_log/worker_{rank}.log"),
                    Words::Unstated => format!("out/{rank:03}.txt"),
                };
                save(&dir.join(name), &text(lines), false)?;
            }
        }
    }
    Ok(())
}

fn text(lines: &[(f64, String)]) -> String {
    lines.iter().fold(String::new(), |all, (_, line)| all + line + "\n")
}

/// Returns the lines of several ranks by time, with the prefix of torchrun.
fn interleaved<'a>(job: impl Iterator<Item = (&'a u32, &'a Lines)>) -> String {
    let mut all: Vec<(f64, u32, &str)> = job
        .flat_map(|(rank, lines)| lines.iter().map(|(at, line)| (*at, *rank, line.as_str())))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut text = String::new();
    for (_, rank, entry) in all {
        for line in entry.lines() {
            let _ = writeln!(text, "[rank{rank}]: {line}");
        }
    }
    text
}

fn save(path: &PathBuf, text: &str, packed: bool) -> Result<()> {
    let folder = path.parent().context("a log lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    if !packed {
        return Ok(std::fs::write(path, text)?);
    }
    let file = std::fs::File::create(path)?;
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_48_directories_that_differ() {
        for words in [Words::Stated, Words::Unstated] {
            let samples = draw(words, 1);
            assert_eq!(samples.len(), 48);
            assert!(samples.iter().all(|sample| sample.at_fault < sample.size));
            for turn in TURNS {
                assert!(samples.iter().filter(|sample| sample.turn == turn).count() >= 9);
            }
        }
    }

    #[test]
    fn times_are_of_the_day() {
        assert_eq!(clock(0.0, '-', '.'), "2026-06-10-10:00:00.000");
        assert_eq!(clock(3_661.5, ' ', ','), "2026-06-10 11:01:01,500");
    }
}
