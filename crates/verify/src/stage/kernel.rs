//! Stage 4: a bundled kernel, compiled on this machine, adds on every Vector Core.
//!
//! Unlike the installed operators, it shows which core computed a wrong number, and that compiler,
//! loader and launch work together. A failed call may be caused by any of these; wrong numbers are
//! errors, as in all stages.

use std::ffi::CStr;
use std::path::Path;

use super::{GUARD, GUARD_SIZE, Probe, compare_retry, data_fault, describe_error};
use crate::cache;
use crate::protocol::{
    CoreKind, DataError, DataLocation, Dtype, Event, Fault, Level, RetryResult, Stage,
};
use crate::reporter::{Measurements, StageAborted, StepResult};
use crate::soc::compiler_arch;
use crate::vendor::{Buffer, Kernel};
use base::chip::ChipFamily;
use probe_numbers::{Exact, POISON, SEEDS, addition, elements};

/// The source of the kernel for the compiler.
const SOURCE: &str = include_str!("../kernel/probe_add.asc");
/// The name of its entry.
const ENTRY: &CStr = c"ascend_doctor_probe_add";
/// The name of the program: the compiler derives the language from its extension.
const PROGRAM: &CStr = c"ascend_doctor_probe_add.asc";
/// Elements that one block adds: `TILE * TILES` of the source.
const STRIPE: usize = 8192;
/// More cores than any chip has; a larger number is invalid.
const MAX_CORES: u32 = 4096;
/// Restricts a kernel to Vector Cores, up to 9.0.
const TASK_TYPE: &str = "    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);\n";
/// The qualifiers of its entry for these versions, and the replacement in 9.1 for them and the line
/// above.
const QUALIFIERS: [&str; 2] = ["__global__ __aicore__ void", "__global__ __vector__ void"];

/// The source with the entry in one form: the one that all versions from 8.3 on accept, or the one
/// introduced in 9.1.
fn source(vector: bool) -> String {
    if !vector {
        return SOURCE.to_owned();
    }
    SOURCE.replace(TASK_TYPE, "").replace(QUALIFIERS[0], QUALIFIERS[1])
}

/// Runs the stage.
pub fn run_kernel(probe: &Probe<'_>) -> Result<(), StageAborted> {
    let arch = compiler_arch(ChipFamily::from_soc(&probe.soc));
    let mut ready = None;
    probe.reporter.run_step(Stage::Kernel, "compile and load", || {
        let lacks = probe.vendor.missing_kernel_functions();
        let Some(arch) = arch else { return Ok(StepResult::NotSupported(probe.soc.clone())) };
        if !lacks.is_empty() {
            return Ok(StepResult::NotSupported(lacks.join(", ")));
        }
        let cores = match probe.vector_cores {
            Some(cores) => cores,
            None => probe.vendor.vector_cores(probe.order.device.unwrap_or_default())?,
        };
        if cores == 0 || cores > MAX_CORES {
            return Ok(StepResult::NotSupported(format!("aclGetDeviceCapability: {cores} cores")));
        }
        let (kernel, cached) = match load_or_compile(probe, arch) {
            Err(Fault::Call { code, .. }) if code != 0 && lacks_compiler_parts() => {
                return Ok(StepResult::NotSupported("libasrtc.so: -".to_owned()));
            }
            loaded => loaded?,
        };
        probe.reporter.write_event(&Event::Kernel { arch: arch.to_owned(), cores, cached });
        ready = Some((kernel, cores));
        Ok(StepResult::Passed(Measurements::default()))
    })?;
    let Some((kernel, cores)) = ready else { return Ok(()) };
    let rounds = if probe.order.level == Level::Quick { 1 } else { 4 };
    let step = format!("own kernel, int32 on {cores} cores");
    probe.reporter.run_step(Stage::Kernel, &step, || {
        let mut milliseconds = 0.0;
        for round in 0..rounds {
            milliseconds += run_add(probe, &kernel, cores, SEEDS[0] + round, &step)?;
        }
        probe.vendor.unload_kernel(kernel)?;
        probe.reporter.write_event(&Event::Coverage {
            operation: step.clone(),
            cores: CoreKind::Vector,
            blocks: cores,
            seen: true,
        });
        Ok(StepResult::Passed(Measurements {
            device_ms: Some(milliseconds),
            ..Measurements::default()
        }))
    })
}

/// "The program does not compile."
const COMPILATION: i32 = 176_003;

/// Whether the run-time compiler is installed without the parts that it loads.
fn lacks_compiler_parts() -> bool {
    cache::has_compiler_parts() == Some(false)
}

/// A kernel, from the cache or compiled, and whether it is from the cache.
fn load_or_compile(probe: &Probe<'_>, arch: &str) -> Result<(Kernel, bool), Fault> {
    let option = format!("--npu-arch={arch}");
    let dir = probe.order.cache.as_deref().map(Path::new);
    let version = probe.vendor.cann_version().ok().flatten().unwrap_or_default();
    let key = cache::cache_key(&[SOURCE, &option, &version]);
    if let Some(dir) = dir
        && let Some(binary) = cache::read(dir, &key)
    {
        if let Ok(kernel) = probe.vendor.load_kernel(&binary, ENTRY) {
            return Ok((kernel, true));
        }
        // The file may be the cause: try once more with a new one.
        cache::remove(dir, &key);
    }
    let text = |text: &str| {
        std::ffi::CString::new(text).expect("the source and the option have no zero in them")
    };
    let compile = |vector| probe.vendor.compile(&text(&source(vector)), PROGRAM, &text(&option));
    // A compiler may accept the other form. If it rejects both, the first rejection is reported.
    let binary = match compile(false) {
        Err(refusal @ Fault::Call { code: COMPILATION, .. }) => {
            compile(true).map_err(|_| refusal)?
        }
        compiled => compiled?,
    };
    let kernel = probe.vendor.load_kernel(&binary, ENTRY)?;
    if let Some(dir) = dir
        && let Err(error) = cache::write(dir, &key, &binary)
    {
        let (path, error) = (dir.display().to_string(), error.to_string());
        probe.reporter.write_event(&Event::CacheUnusable { path, error });
    }
    Ok((kernel, false))
}

/// Adds once, or twice if the result was wrong. Returns the time.
fn run_add(
    probe: &Probe<'_>,
    kernel: &Kernel,
    cores: u32,
    seed: u64,
    operation: &str,
) -> Result<f64, Fault> {
    let vendor = probe.vendor;
    let Exact { one, other, result } = addition(Dtype::Int32, cores as usize * STRIPE, seed);
    let memory = [
        vendor.allocate(one.len())?,
        vendor.allocate(other.len())?,
        vendor.allocate(result.len() + GUARD_SIZE)?,
    ];
    vendor.upload(&memory[0], &one)?;
    vendor.upload(&memory[1], &other)?;
    let (milliseconds, got) = run_once(probe, kernel, cores, &memory)?;
    let (sums, behind) = got.split_at(result.len());
    if let Some(found) = elements(Dtype::Int32, &result, sums) {
        let (_, second) = run_once(probe, kernel, cores, &memory)?;
        let second = &second[..result.len()];
        let tried = compare_retry(sums, second, &result);
        let data = describe_error(operation, DataLocation::Result, found, tried);
        return Err(find_faulty_blocks(data, &result, sums, second, cores));
    }
    if let Some(found) = elements(Dtype::Int32, &[GUARD; GUARD_SIZE], behind) {
        return Err(data_fault(operation, DataLocation::Guard, found, RetryResult::Same));
    }
    for (buffer, sent) in [(&memory[0], &one), (&memory[1], &other)] {
        let mut back = vec![POISON; sent.len()];
        vendor.download(buffer, &mut back)?;
        if let Some(found) = elements(Dtype::Int32, sent, &back) {
            return Err(data_fault(operation, DataLocation::Input, found, RetryResult::Same));
        }
    }
    memory.into_iter().try_for_each(|buffer| vendor.free(buffer))?;
    Ok(milliseconds)
}

/// The blocks with wrong results.
fn find_faulty_blocks(
    data: DataError,
    right: &[u8],
    first: &[u8],
    second: &[u8],
    of: u32,
) -> Fault {
    let width = STRIPE * Dtype::Int32.width();
    let wrong = |got: &[u8]| -> Vec<u32> {
        let pairs = right.chunks_exact(width).zip(got.chunks_exact(width));
        (0..).zip(pairs).filter_map(|(block, (a, b))| (a != b).then_some(block)).collect()
    };
    Fault::Stripes { data: Box::new(data), blocks: wrong(first), again: wrong(second), of }
}

/// Poisons the output, runs the kernel, and reads the output with its guard.
fn run_once(
    probe: &Probe<'_>,
    kernel: &Kernel,
    cores: u32,
    [one, other, out]: &[Buffer; 3],
) -> Result<(f64, Vec<u8>), Fault> {
    let mut blank = vec![POISON; out.size() - GUARD_SIZE];
    blank.resize(out.size(), GUARD);
    probe.vendor.upload(out, &blank)?;
    let milliseconds = probe.measure_time(|| {
        probe.vendor.launch_kernel(kernel, cores, &[one, other, out], probe.stream)
    })?;
    let mut got = vec![!POISON; out.size()];
    probe.vendor.download(out, &mut got)?;
    Ok((milliseconds, got))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Pattern;

    /// The host uses the sizes in the source, and looks for its entry.
    #[test]
    fn host_and_kernel_agree() {
        let number = |name: &str| -> usize {
            let text = SOURCE.split(&format!("{name} = ")).nth(1).unwrap();
            text.split(';').next().unwrap().parse().unwrap()
        };
        assert_eq!(number("TILE") * number("TILES"), STRIPE);
        assert_eq!(number("TILE") * 4 % 32, 0, "memory is moved by 32 bytes");
        assert!(SOURCE.contains(&format!(" {}(GM_ADDR one", ENTRY.to_str().unwrap())));
        assert!(!SOURCE.contains('\0') && SOURCE.is_ascii());
        // Each form has one of the two ways to restrict the kernel to Vector Cores.
        let [old, new] = [source(false), source(true)];
        assert!(old.contains(TASK_TYPE) && old.contains(QUALIFIERS[0]));
        assert!(!new.contains("KERNEL_TASK_TYPE") && !new.contains(QUALIFIERS[0]));
        assert!(new.contains(&format!("{} {}(", QUALIFIERS[1], ENTRY.to_str().unwrap())));
    }

    #[test]
    fn a_wrong_core_is_named() {
        let right = addition(Dtype::Int32, 5 * STRIPE, 1).result;
        let mut got = right.clone();
        got[3 * STRIPE * 4 + 17] ^= 1;
        let mut second = got.clone();
        second[4] ^= 1;
        let found = elements(Dtype::Int32, &right, &got).unwrap();
        let data = describe_error("add", DataLocation::Result, found, RetryResult::Different);
        assert_eq!((data.found.pattern, data.found.wrong), (Pattern::Single, 1));
        let fault = find_faulty_blocks(data, &right, &got, &second, 5);
        let Fault::Stripes { blocks, again, of, .. } = fault else { panic!() };
        assert_eq!((blocks, again, of), (vec![3], vec![0, 3], 5));
    }
}
