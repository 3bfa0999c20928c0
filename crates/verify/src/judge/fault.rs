//! Evaluates the fault of a step, and looks up its code.

use super::super::parent::ChildResult;
use super::super::protocol::{DataError, DataLocation, Fault, Pattern, RetryResult, Stage};
use super::severity::assign_severity;
use super::{DeviceFinding, JudgeContext};
use base::report::{Evidence, Finding, Severity};
use base::text::{Later, Text};
use data::{
    RawFinding, Reason, VerifyLimits,
    findings::{
        verify_compute, verify_fabric, verify_kernel, verify_load, verify_memory, verify_runtime,
        verify_stress,
    },
    ui,
};
use errcodes::{self, Match, Step};
use probe_numbers::Difference;

/// "No memory": other processes use it, which is not a fault of the device.
const NO_MEMORY: i32 = 207_001;
/// "The path of the operator packages is not found."
const NO_OPERATORS: i32 = 561_107;
/// Families of codes that functions of ACL return.
const FAMILIES: [&str; 6] = ["acl_rt", "acl_api", "acl_ge", "aclnn", "aclrtc", "acl_doc"];
/// The maximum number of blocks or ranks named.
const NAMED: usize = 16;

/// A code and its owner: the same number has different meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// Of the runtime and the operators.
    Runtime(i32),
    /// Of HCCL.
    Hccl(i32),
}

/// A message that several stages have, as a finding of the stage. The devices are set later. A
/// stage that never has this fault uses the message of another one.
macro_rules! of_stage {
    ($stage:expr, $severity:expr, $name:ident $values:tt:
     $($stages:pat => $module:ident),+ $(,)?) => {
        match $stage {
            $($stages => $module::$name $values.at($severity),)+
        }
    };
}

/// Evaluates a fault of a stage. `ranks` are the children whose numbers a fault may name.
pub(super) fn judge_fault(
    stage: Stage,
    fault: &Fault,
    ran: &ChildResult,
    ranks: &[ChildResult],
    around: &JudgeContext,
    reasons: &mut Vec<Reason>,
) -> DeviceFinding {
    let names = &around.names;
    let device = ran.device;
    let mut code = None;
    let mut found = match fault {
        Fault::Static => {
            reasons.push(Reason::VerifyStatic);
            verify_load::Static.warning()
        }
        Fault::NoLibrary { tried } => {
            reasons.push(Reason::VerifyNoLibrary { what: tried.join(", ") });
            verify_load::Absent { libraries: tried.join(", ") }.warning()
        }
        Fault::BrokenLibrary { library, error } => broken_library(library, error)
            .evidence(Evidence::command(format!("dlopen {library}")).value(error)),
        Fault::MissingSymbols { library, symbols } => {
            verify_load::Symbols { library, symbols: symbols.join(", ") }.error()
        }
        Fault::Simulated { library } => {
            reasons.push(Reason::VerifySimulated { what: library.to_owned() });
            verify_load::Simulated { library }.warning()
        }
        Fault::NoDevice => {
            reasons.push(Reason::VerifyNoDevice);
            verify_runtime::NoDevice.warning()
        }
        Fault::NoSuchDevice { device, count } => {
            reasons.push(Reason::VerifyNoSuchDevice { what: device.to_string() });
            verify_runtime::NoSuchDevice { count, device: device.to_string() }
                .warning()
                .evidence(Evidence::option("--device").value(device.to_string()))
        }
        // "No device" is the `no_device` finding, whichever function returns it.
        Fault::Call { function, code: 207_004, .. } if stage == Stage::Runtime => {
            reasons.push(Reason::VerifyNoDevice);
            verify_runtime::NoDevice.warning().evidence(Evidence::command(function).value("207004"))
        }
        Fault::Call { function, code: NO_MEMORY, message } if stage >= Stage::Memory => {
            reasons.push(Reason::VerifyMemoryFull { what: names.join(&[device]) });
            code = Some(Code::Runtime(NO_MEMORY));
            out_of_memory(stage, function).evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Call { function, code: number @ NO_OPERATORS, message } => {
            verify_compute::Environment { code: *number, function, r#where: Later }
                .error()
                .evidence(runtime_message(function, message.as_ref()))
        }
        // The compiler's message is the complete evidence.
        Fault::Call { function, code: number, message } if function == "aclrtcCompileProg" => {
            let known = look_up_code(Code::Runtime(*number)).map(|known| known.row.symbol);
            let symbol = known.map_or_else(String::new, |symbol| format!(" {symbol}"));
            verify_kernel::Compile { code: format!("{number}{symbol}"), r#where: Later }
                .error()
                .evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Call { function, code: number, message } => {
            code = Some(Code::Runtime(*number));
            call_failure(stage, function, *number, code)
                .evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Hccl { function, code: number, message } => {
            code = Some(Code::Hccl(*number));
            call_failure(stage, function, *number, code)
                .evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Null { function, message } => {
            null(stage, function).evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Wrong(wrong) => judge_data_error(stage, wrong, reasons, || names.join(&[device])),
        Fault::Stripes { data, blocks, again, of } => {
            let (count, blocks) = (of, format_numbers(blocks));
            let severity = assign_severity(&data.found);
            let found = if again.is_empty() {
                verify_kernel::StripesOnce { blocks, count, r#where: Later }.at(severity)
            } else {
                verify_kernel::Stripes { blocks, count, r#where: Later }.at(severity)
            };
            let second = ui::VerifyStripes { blocks: format_numbers(again) }.text();
            found
                .evidence(describe_data_error(data))
                .evidence(Evidence::command(&data.operation).says(second))
        }
        Fault::Sum { data, from } => {
            let (operation, wrong, total) = (&data.operation, data.found.wrong, data.found.total);
            let severity = assign_severity(&data.found);
            let found = if from.is_empty() {
                verify_fabric::Sum { operation, total, r#where: Later, wrong }.at(severity)
            } else {
                let ranks = format_ranks(from, ranks, around);
                verify_fabric::SumFrom { operation, ranks, total, r#where: Later, wrong }
                    .at(severity)
            };
            found.evidence(describe_data_error(data))
        }
    };
    let is_data = matches!(fault, Fault::Wrong(_) | Fault::Stripes { .. });
    if stage == Stage::Kernel
        && !is_data
        && found.id == verify_kernel::ID
        && found.severity == Severity::Error
    {
        // The cause is the compiler, the loader or the device; the data cannot decide.
        reasons.push(Reason::VerifyUndecided { what: names.join(&[device]) });
        found.severity = Severity::Warning;
    }
    DeviceFinding { found, device, code, child: ran.name.clone() }
}

/// A call that failed.
fn call_failure(stage: Stage, function: &str, code: i32, known: Option<Code>) -> RawFinding {
    let symbol = known.and_then(look_up_code).map(|known| known.row.symbol);
    let symbol = symbol.filter(|symbol| !symbol.is_empty()).unwrap_or("?".to_owned());
    of_stage!(stage, Severity::Error, Call { code, function, symbol, r#where: Later }:
        Stage::Load | Stage::Runtime => verify_runtime,
        Stage::Memory => verify_memory,
        Stage::Compute => verify_compute,
        Stage::Kernel => verify_kernel,
        Stage::Fabric => verify_fabric,
        Stage::Stress => verify_stress,
    )
}

/// A call that returned a null object.
fn null(stage: Stage, function: &str) -> RawFinding {
    of_stage!(stage, Severity::Error, Null { function, r#where: Later }:
        Stage::Load | Stage::Runtime => verify_runtime,
        Stage::Memory => verify_memory,
        Stage::Compute => verify_compute,
        Stage::Kernel => verify_kernel,
        Stage::Fabric => verify_fabric,
        Stage::Stress => verify_stress,
    )
}

/// A call that failed for lack of memory.
fn out_of_memory(stage: Stage, function: &str) -> RawFinding {
    of_stage!(stage, Severity::Warning, Full { function, r#where: Later }:
        Stage::Load | Stage::Runtime | Stage::Memory => verify_memory,
        Stage::Compute => verify_compute,
        Stage::Kernel => verify_kernel,
        Stage::Fabric => verify_fabric,
        Stage::Stress => verify_stress,
    )
}

/// The devices of ranks; the ranks if a device is unknown or too many are named.
fn format_ranks(from: &[u32], ranks: &[ChildResult], around: &JudgeContext) -> String {
    let device = |rank: &u32| Some(ranks.get(usize::try_from(*rank).ok()?)?.device);
    let devices: Option<Vec<Option<i32>>> = from.iter().map(device).collect();
    match devices.filter(|devices| devices.len() <= NAMED) {
        Some(devices) => around.names.join(&devices),
        None => format_numbers(from),
    }
}

/// Numbers; a long list is cut.
fn format_numbers(numbers: &[u32]) -> String {
    let shown: Vec<String> = numbers.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = if numbers.len() > NAMED { ", …" } else { "" };
    if shown.is_empty() { "-".to_owned() } else { format!("{}{rest}", shown.join(", ")) }
}

/// A library that the dynamic linker rejects. A missing dependency may belong to the driver, the
/// operating system or another part of CANN.
fn broken_library(library: &str, error: &str) -> RawFinding {
    let needed = error
        .split_once(": cannot open shared object file")
        .map(|(needed, _)| needed.rsplit('/').next().unwrap_or(needed).trim())
        .filter(|needed| *needed != library && needed.contains(".so"));
    let Some(needed) = needed else { return verify_load::Broken { library }.error() };
    let limits = VerifyLimits::builtin();
    if limits.driver_libraries.iter().any(|own| needed.starts_with(own.as_str())) {
        verify_load::Driver { library, needed }.error()
    } else if limits.system_prefixes.iter().any(|own| needed.starts_with(own.as_str())) {
        verify_load::System { library, needed }.error()
    } else {
        verify_load::Part { library, needed }.error()
    }
}

/// Wrong data in a stage. Messages of the fabric name no device, because the operation names it.
fn judge_data_error(
    stage: Stage,
    data: &DataError,
    reasons: &mut Vec<Reason>,
    device: impl Fn() -> String,
) -> RawFinding {
    let (operation, wrong, total) = (&data.operation, data.found.wrong, data.found.total);
    let severity = assign_severity(&data.found);
    macro_rules! here {
        ($name:ident, $($stages:pat => $module:ident),+ $(; $fabric:pat => Fabric)?) => {
            match stage {
                $($fabric => verify_fabric::$name { operation, total, wrong }.at(severity),)?
                $($stages => {
                    $module::$name { operation, total, r#where: Later, wrong }.at(severity)
                })+
            }
        };
    }
    let found = match (data.what, data.again, data.found.pattern) {
        (DataLocation::Guard, ..) => here!(Guard,
            Stage::Compute => verify_compute, Stage::Kernel => verify_kernel, _ => verify_memory;
            Stage::Fabric => Fabric),
        (DataLocation::Input, ..) => here!(Input,
            Stage::Kernel => verify_kernel, _ => verify_compute),
        _ if severity == Severity::Warning => {
            reasons.push(Reason::VerifyDoubtful { what: device() });
            verify_compute::Tolerance { operation, total, r#where: Later, wrong }.warning()
        }
        (_, RetryResult::Right, _) => here!(Intermittent,
            Stage::Memory => verify_memory, Stage::Stress => verify_stress, _ => verify_compute;
            Stage::Fabric => Fabric),
        (_, _, Pattern::Unwritten) => here!(Unwritten,
            Stage::Memory => verify_memory, Stage::Stress => verify_stress, _ => verify_compute;
            Stage::Fabric => Fabric),
        _ if stage == Stage::Memory => {
            verify_memory::Wrong { card: Later, operation, total, r#where: Later, wrong }
                .at(severity)
        }
        _ => here!(Wrong,
            Stage::Stress => verify_stress, _ => verify_compute;
            Stage::Fabric => Fabric),
    };
    found.evidence(describe_data_error(data))
}

/// The location and the kind of the difference.
fn describe_data_error(wrong: &DataError) -> Evidence {
    let Difference { first, last, expected, got, pattern, .. } = &wrong.found;
    let pattern = pattern.as_str();
    Evidence::command(&wrong.operation).says(match wrong.again {
        RetryResult::Same => ui::VerifyWrongSame { expected, first, got, last, pattern }.text(),
        RetryResult::Different => {
            ui::VerifyWrongDifferent { expected, first, got, last, pattern }.text()
        }
        RetryResult::Right => ui::VerifyWrongRight { expected, first, got, last, pattern }.text(),
        RetryResult::NotTried => ui::VerifyWrongOnce { expected, first, got, last, pattern }.text(),
    })
}

/// The message of the runtime, as evidence.
fn runtime_message(function: &str, message: Option<&String>) -> Evidence {
    Evidence::command(function).value_if(message)
}

/// Looks up the code that a function returned.
pub(super) fn look_up_code(code: Code) -> Option<Match> {
    let (number, families) = match code {
        Code::Runtime(number) => (number, &FAMILIES[..]),
        Code::Hccl(number) => (number, &["hccl"][..]),
    };
    let mut known = errcodes::look_up(&number.to_string());
    known.retain(|found| families.contains(&found.family.id.as_str()));
    let at = known.iter().position(|found| found.cause.is_some()).unwrap_or(0);
    (at < known.len()).then(|| known.swap_remove(at))
}

/// Adds the texts of the error table for the code.
pub(super) fn translate(finding: &mut Finding, known: &Match) {
    let Some(cause) = known.cause else {
        if !known.row.message.is_empty() {
            finding.cause = Text::same(&known.row.message);
        }
        return;
    };
    finding.cause = cause.text.clone();
    finding.fix.extend(cause.steps.iter().map(Step::fix_step));
    finding.refs.extend(cause.sources.iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Catalog;

    /// A missing library is attributed to its owner.
    #[test]
    fn missing_libraries_have_owners() {
        for (error, message) in [
            (
                "libascend_hal.so: cannot open shared object file: No such file or directory",
                "driver",
            ),
            ("libdcmi.so: cannot open shared object file: No such file or directory", "driver"),
            ("libstdc++.so.6: cannot open shared object file: No such file or directory", "system"),
            ("libge_common.so: cannot open shared object file: No such file or directory", "part"),
            ("/x/libacl_rt.so: file too short", "broken"),
            ("libascendcl.so: cannot open shared object file: Permission denied", "broken"),
        ] {
            assert_eq!(broken_library("libascendcl.so", error).message, message, "{error}");
        }
    }

    /// The musl build reports its limitation in both languages, and blames no device.
    #[test]
    fn a_static_program_gives_no_verdict_and_says_why() {
        let ran = ChildResult::new("first".to_owned(), None);
        let mut reasons = Vec::new();
        let item = judge_fault(
            Stage::Load,
            &Fault::Static,
            &ran,
            &[],
            &JudgeContext::default(),
            &mut reasons,
        );
        assert_eq!(reasons.iter().map(Reason::key).collect::<Vec<_>>(), ["verify_static"]);
        let finding = Catalog::builtin().resolve(item.found);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.title.en.contains("musl") && finding.title.en.contains("cannot load"));
        assert!(finding.title.zh.contains("musl") && finding.title.zh.contains("无法加载"));
        assert!(finding.fix.iter().any(|step| step.text.en.contains("glibc")));
    }
}
