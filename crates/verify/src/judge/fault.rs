//! What a fault of a step is, and what is known of its code.

use super::super::parent::ChildResult;
use super::super::protocol::{DataError, DataLocation, Fault, Pattern, RetryResult, Stage};
use super::{DeviceFinding, format_devices};
use base::report::{Evidence, Finding, FixStep, Severity};
use base::text::Text;
use data::{
    RawFinding, Reason,
    findings::{verify_load, verify_runtime},
    sentence,
};
use errcodes::{self, Match};

/// "No memory": somebody else has it; that is no fault of the device.
const NO_MEMORY: i32 = 207_001;
/// Families of codes that functions of ACL return.
const FAMILIES: [&str; 6] = ["acl_rt", "acl_api", "acl_ge", "aclnn", "aclrtc", "acl_doc"];
/// How many blocks or ranks are named.
const NAMED: usize = 16;

/// A code, and whose it is: the same number means different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// Of the runtime and the operators.
    Runtime(i32),
    /// Of HCCL.
    Hccl(i32),
}

/// What a fault on a stage is.
pub(super) fn judge_fault(
    stage: Stage,
    fault: &Fault,
    ran: &ChildResult,
    reasons: &mut Vec<Reason>,
) -> DeviceFinding {
    let id = stage.finding_id();
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
        Fault::BrokenLibrary { library, error } => verify_load::Broken { library }
            .error()
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
        // Nobody there is what `no_device` says, whichever function says it.
        Fault::Call { function, code: 207_004, .. } if stage == Stage::Runtime => {
            reasons.push(Reason::VerifyNoDevice);
            verify_runtime::NoDevice.warning().evidence(Evidence::command(function).value("207004"))
        }
        Fault::Call { function, code: NO_MEMORY, message } if stage >= Stage::Memory => {
            reasons.push(Reason::VerifyMemoryFull { what: format_devices(&[device]) });
            code = Some(Code::Runtime(NO_MEMORY));
            RawFinding::warning(id, "full")
                .arg("function", function)
                .evidence(runtime_message(function, message.as_ref()))
        }
        // What the compiler says is the whole of it.
        Fault::Call { function, code: number, message } if function == "aclrtcCompileProg" => {
            let known = look_up_code(Code::Runtime(*number)).map(|known| known.row.symbol);
            let symbol = known.map_or_else(String::new, |symbol| format!(" {symbol}"));
            RawFinding::error(id, "compile")
                .arg("code", format!("{number}{symbol}"))
                .evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Call { function, code: number, message } => {
            code = Some(Code::Runtime(*number));
            call_failure(id, function, *number, code)
                .evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Hccl { function, code: number, message } => {
            code = Some(Code::Hccl(*number));
            call_failure(id, function, *number, code)
                .evidence(runtime_message(function, message.as_ref()))
        }
        Fault::Null { function, message } => RawFinding::error(id, "null")
            .arg("function", function)
            .evidence(runtime_message(function, message.as_ref())),
        Fault::Wrong(wrong) => judge_data_error(id, wrong),
        Fault::Stripes { data, blocks, again, of } => {
            let message = if again.is_empty() { "stripes_once" } else { "stripes" };
            let second = [("blocks", format_numbers(again))];
            RawFinding::error(id, message)
                .arg("blocks", format_numbers(blocks))
                .arg("count", of.to_string())
                .evidence(describe_data_error(data))
                .evidence(
                    Evidence::command(&data.operation).says(sentence("verify_stripes", &second)),
                )
        }
        Fault::Sum { data, from } => {
            let message = if from.is_empty() { "sum" } else { "sum_from" };
            let mut found = RawFinding::error(id, message)
                .arg("operation", &data.operation)
                .arg("wrong", data.found.wrong.to_string())
                .arg("total", data.found.total.to_string());
            if !from.is_empty() {
                found = found.arg("ranks", format_numbers(from));
            }
            found.evidence(describe_data_error(data))
        }
    };
    if stage == Stage::Kernel && found.id == id && found.severity == Severity::Error {
        // The compiler, the loader or the device: nothing here decides it.
        reasons.push(Reason::VerifyUndecided { what: format_devices(&[device]) });
        found.severity = Severity::Warning;
    }
    DeviceFinding { found, device, code, child: ran.name.clone() }
}

/// A call that failed.
fn call_failure(id: &'static str, function: &str, number: i32, code: Option<Code>) -> RawFinding {
    let symbol = code.and_then(look_up_code).map(|known| known.row.symbol);
    RawFinding::error(id, "call")
        .arg("function", function)
        .arg("code", number.to_string())
        .arg("symbol", symbol.filter(|symbol| !symbol.is_empty()).unwrap_or("?".to_owned()))
}

/// Numbers, the first of them at least.
fn format_numbers(numbers: &[u32]) -> String {
    let shown: Vec<String> = numbers.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = if numbers.len() > NAMED { ", …" } else { "" };
    if shown.is_empty() { "-".to_owned() } else { format!("{}{rest}", shown.join(", ")) }
}

fn judge_data_error(id: &'static str, wrong: &DataError) -> RawFinding {
    let message = match (wrong.what, wrong.again, wrong.found.pattern) {
        (DataLocation::Guard, ..) => "guard",
        (DataLocation::Input, ..) => "input",
        (DataLocation::Tolerance, ..) => "tolerance",
        (_, RetryResult::Right, _) => "intermittent",
        (_, _, Pattern::Unwritten) => "unwritten",
        _ => "wrong",
    };
    let severity =
        if wrong.what == DataLocation::Tolerance { Severity::Warning } else { Severity::Error };
    RawFinding::new(id, message, severity)
        .arg("operation", &wrong.operation)
        .arg("wrong", wrong.found.wrong.to_string())
        .arg("total", wrong.found.total.to_string())
        .evidence(describe_data_error(wrong))
}

/// What was wrong, and in which way.
fn describe_data_error(wrong: &DataError) -> Evidence {
    Evidence::command(&wrong.operation).says(sentence(
        match wrong.again {
            RetryResult::Same => "verify_wrong_same",
            RetryResult::Different => "verify_wrong_different",
            RetryResult::Right => "verify_wrong_right",
            RetryResult::NotTried => "verify_wrong_once",
        },
        &[
            ("pattern", wrong.found.pattern.as_str().to_owned()),
            ("first", wrong.found.first.to_string()),
            ("last", wrong.found.last.to_string()),
            ("expected", wrong.found.expected.clone()),
            ("got", wrong.found.got.clone()),
        ],
    ))
}

/// What the runtime said, as evidence.
fn runtime_message(function: &str, message: Option<&String>) -> Evidence {
    Evidence::command(function).value_if(message)
}

/// What a code means that a function returned.
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

/// Says what the error table says about the code.
pub(super) fn translate(finding: &mut Finding, known: &Match) {
    let Some(cause) = known.cause else {
        if !known.row.message.is_empty() {
            finding.cause = Text::same(&known.row.message);
        }
        return;
    };
    finding.cause = cause.text.clone();
    finding.fix.extend(
        cause
            .steps
            .iter()
            .map(|step| FixStep { text: Text::new(&step.en, &step.zh), run: step.run.clone() }),
    );
    finding.refs.extend(cause.sources.iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Catalog;

    /// The musl build says of itself what it cannot do, in both languages, and blames no device.
    #[test]
    fn a_static_program_gives_no_verdict_and_says_why() {
        let ran = ChildResult::new("first".to_owned(), None);
        let mut reasons = Vec::new();
        let item = judge_fault(Stage::Load, &Fault::Static, &ran, &mut reasons);
        assert_eq!(
            reasons.iter().map(|reason| reason.key()).collect::<Vec<_>>(),
            ["verify_static"]
        );
        let finding = Catalog::builtin().resolve(item.found);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.title.en.contains("musl") && finding.title.en.contains("cannot load"));
        assert!(finding.title.zh.contains("musl") && finding.title.zh.contains("无法加载"));
        assert!(finding.fix.iter().any(|step| step.text.en.contains("glibc")));
    }
}
