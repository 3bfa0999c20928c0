//! The faults, class by class.

use crate::verify::simulator::Installation;

/// A fault, and the expected result.
pub(super) struct Case {
    pub(super) class: &'static str,
    /// Separate libraries, for faults in the libraries.
    pub(super) libraries: Option<Installation>,
    /// Whether all parts of CANN are present.
    pub(super) complete: bool,
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) args: Vec<String>,
    /// `ID message` of the first finding; `None` if there must be no finding.
    pub(super) found: Option<String>,
    pub(super) status: i32,
}

/// Functions with the stage that calls them first.
const FUNCTIONS: [(&str, &str); 29] = [
    ("aclInit", "runtime"),
    ("aclrtGetVersion", "runtime"),
    ("aclrtGetDeviceCount", "runtime"),
    ("aclFinalize", "runtime"),
    ("aclrtSetDevice", "runtime"),
    ("aclrtGetSocName", "runtime"),
    ("aclrtGetMemInfo", "runtime"),
    ("aclrtCreateStream", "runtime"),
    ("aclrtCreateEventWithFlag", "runtime"),
    ("aclrtRecordEvent", "runtime"),
    ("aclrtSynchronizeStreamWithTimeout", "runtime"),
    ("aclrtEventElapsedTime", "runtime"),
    ("aclrtDestroyEvent", "runtime"),
    ("aclrtDestroyStream", "runtime"),
    ("aclrtResetDevice", "runtime"),
    ("aclrtMalloc", "memory"),
    ("aclrtMemcpy", "memory"),
    ("aclrtMemcpyAsync", "memory"),
    ("aclrtFree", "memory"),
    ("aclCreateTensor", "compute"),
    ("aclDestroyTensor", "compute"),
    ("aclCreateScalar", "compute"),
    ("aclDestroyScalar", "compute"),
    ("aclnnAddGetWorkspaceSize", "compute"),
    ("aclnnAdd", "compute"),
    ("aclnnMatmulGetWorkspaceSize", "compute"),
    ("aclnnMatmul", "compute"),
    ("kernel", "compute"),
    ("aclGetRecentErrMsg", "runtime"),
];

/// Corruptions of data.
const DAMAGE: [&str; 9] =
    ["flip", "flipmsb", "nan", "zero", "tail", "scale", "stale", "stripe", "swap"];

fn id(rung: &str) -> String {
    format!("VERIFY-{}", rung.to_uppercase())
}

fn case(class: &'static str, fault: String, rung: &str, found: Option<String>) -> Case {
    Case {
        class,
        libraries: None,
        complete: false,
        variables: vec![("ASCSIM_FAULT", fault)],
        args: vec!["--rung".to_owned(), rung.to_owned()],
        status: i32::from(found.is_some()),
        found,
    }
}

impl Case {
    /// With only one element type: the tests of the others are irrelevant.
    fn of(mut self, dtype: &str) -> Self {
        self.args.extend(["--dtype".to_owned(), dtype.to_owned()]);
        self
    }

    /// With this time limit for a call.
    fn within(mut self, seconds: &str) -> Self {
        self.args.extend(["--call-timeout".to_owned(), seconds.to_owned()]);
        self
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    calls(&mut cases);
    data(&mut cases);
    libraries(&mut cases);
    machines(&mut cases);
    leaks(&mut cases);
    harmless(&mut cases);
    kernels(&mut cases);
    fabric(&mut cases);
    cases
}

/// The bundled kernel: a failed call is undecided; wrong numbers and crashes are faults.
fn kernels(cases: &mut Vec<Case>) {
    let mut push = |class, fault: &str, found: &str, status| {
        let found = Some(found.to_owned());
        let case =
            Case { status, complete: true, ..case(class, fault.to_owned(), "kernel", found) };
        cases.push(case);
    };
    for (damage, message) in [
        ("flip", "stripes"),
        ("flipmsb", "stripes"),
        ("zero", "stripes"),
        ("stale", "stripes"),
        ("tail", "stripes"),
        ("swap", "stripes"),
    ] {
        for block in [0, 7, 39] {
            let found = format!("VERIFY-KERNEL {message}");
            push("own kernel, one core", &format!("core#{block}:{damage}"), &found, 1);
        }
        let once = format!("core@8:{damage}");
        push("own kernel, one core", &once, "VERIFY-KERNEL stripes_once", 1);
    }
    push("own kernel, one core", "core#39:over", "VERIFY-KERNEL guard", 1);
    push("own kernel, one core", "core#5:segv", "VERIFY-CRASH signal", 1);
    for function in [
        "core",
        "aclrtcCreateProg",
        "aclrtcGetBinDataSize",
        "aclrtcGetBinData",
        "aclrtcDestroyProg",
        "aclrtBinaryLoadFromData",
        "aclrtBinaryGetFunction",
        "aclrtKernelArgsInit",
        "aclrtKernelArgsAppend",
        "aclrtKernelArgsFinalize",
        "aclrtLaunchKernelWithConfig",
        "aclrtBinaryUnLoad",
    ] {
        push("own kernel, calls", &format!("{function}:ret=507899"), "VERIFY-KERNEL call", 3);
        push("own kernel, calls", &format!("{function}:abort"), "VERIFY-CRASH signal", 1);
    }
    let both = "aclrtGetDeviceInfo:ret=507899;aclGetDeviceCapability:ret=507899";
    push("own kernel, calls", both, "VERIFY-KERNEL call", 3);
    push("own kernel, calls", "aclrtGetDeviceInfo:abort", "VERIFY-CRASH signal", 1);
    push("own kernel, calls", "aclrtcGetBinData:flip", "VERIFY-KERNEL call", 3);
    push("own kernel, calls", "aclrtcCompileProg:ret=176003", "VERIFY-KERNEL compile", 3);
    push("own kernel, calls", "aclrtcCompileProg:segv", "VERIFY-CRASH signal", 1);
    push("own kernel, calls", "aclrtcCompileProg:exit=1", "VERIFY-CRASH exit", 1);
    push("own kernel, calls", "aclrtcCompileProg:hang", "VERIFY-HANG silent", 1);
    push("own kernel, calls", "core#3:hang", "VERIFY-KERNEL call", 3);
    for case in cases.iter_mut().rev().take(2) {
        case.args.extend(["--call-timeout".to_owned(), "1".to_owned()]);
    }
}

/// Faults between devices.
fn fabric(cases: &mut Vec<Case>) {
    let mut push = |class, fault: &str, found: &str| {
        let case = case(class, fault.to_owned(), "fabric", Some(found.to_owned())).within("4");
        let mut case = Case { complete: true, ..case };
        // Identifying a lost rank among waiting ones requires a third rank.
        let devices = if class == "a rank is lost" { "3" } else { "2" };
        case.variables.push(("ASCSIM_DEVICES", devices.to_owned()));
        // Ranks wait for a missing one for a shorter time than the parent waits for them.
        let lost = fault.starts_with("HcclComm");
        case.variables.extend(lost.then(|| ("ASCSIM_CONNECT_MS", "1500".to_owned())));
        cases.push(case);
    };
    for (damage, message) in [
        ("flip", "wrong"),
        ("flipmsb", "wrong"),
        ("zero", "wrong"),
        ("swap", "wrong"),
        ("stale", "unwritten"),
        ("tail", "unwritten"),
        ("over", "guard"),
        ("ret=507899", "call"),
    ] {
        let found = format!("VERIFY-FABRIC {message}");
        push("between devices", &format!("link#1-0:{damage}"), &found);
        if !["over", "ret=507899"].contains(&damage) {
            let once = format!("link@2:{damage}");
            push("between devices", &once, "VERIFY-FABRIC intermittent");
        }
    }
    for (fault, found) in [
        ("aclrtDeviceCanAccessPeer:ret=507899", "VERIFY-FABRIC call"),
        ("aclrtDeviceEnablePeerAccess:ret=107000", "VERIFY-FABRIC call"),
        ("aclrtDeviceEnablePeerAccess:segv", "VERIFY-CRASH signal"),
        ("link#0-1:hang", "VERIFY-HANG silent"),
    ] {
        push("between devices", fault, found);
    }
    for (fault, found) in [
        ("HcclGetRootInfo:ret=8", "VERIFY-FABRIC call"),
        ("HcclGetRootInfo:segv", "VERIFY-CRASH signal"),
        ("HcclCommInitRootInfo#2:segv", "VERIFY-CRASH signal"),
        ("HcclCommInitRootInfo#0:segv", "VERIFY-CRASH signal"),
        ("HcclCommInitRootInfo#2:exit=0", "VERIFY-CRASH exit"),
        ("HcclCommInitRootInfo#2:hang", "VERIFY-HANG silent"),
        ("HcclCommInitRootInfo#1:ret=4", "VERIFY-FABRIC call"),
        ("HcclCommInitRootInfo:ret=19", "VERIFY-FABRIC call"),
        ("HcclAllReduce#2:segv", "VERIFY-CRASH signal"),
        ("HcclAllReduce#2:hang", "VERIFY-HANG silent"),
        ("HcclAllReduce#2:ret=15", "VERIFY-FABRIC call"),
        ("HcclCommDestroy#1:segv", "VERIFY-CRASH signal"),
        ("HcclCommDestroy#1:ret=4", "VERIFY-FABRIC call"),
        ("part#2:hang", "VERIFY-FABRIC call"),
        ("part#2:ret=507899", "VERIFY-FABRIC call"),
    ] {
        push("a rank is lost", fault, found);
    }
    for damage in ["flip", "flipmsb", "zero", "stale", "tail", "swap"] {
        // Contributions are summed unchanged, so "not written" does not apply to them.
        if !["stale", "tail"].contains(&damage) {
            let message = if damage == "zero" { "sum_from" } else { "sum" };
            push("wrong sum", &format!("part#1:{damage}"), &format!("VERIFY-FABRIC {message}"));
        }
        push("wrong sum", &format!("sum#1:{damage}"), "VERIFY-FABRIC sum");
        push("wrong sum", &format!("sum@2#1:{damage}"), "VERIFY-FABRIC sum");
        push("wrong sum", &format!("sum@3#1:{damage}"), "VERIFY-FABRIC sum");
    }
    push("wrong sum", "sum#1:over", "VERIFY-FABRIC guard");
}

/// Every function fails, crashes, ends the process, or does not return.
fn calls(cases: &mut Vec<Case>) {
    for (function, rung) in FUNCTIONS {
        let pointer =
            ["aclrtGetSocName", "aclCreateTensor", "aclCreateScalar", "aclGetRecentErrMsg"]
                .contains(&function);
        // The text about a failure is queried only after one.
        let with = |fault: String| match function {
            "aclGetRecentErrMsg" => format!("aclrtSetDevice:ret=507033;{fault}"),
            _ => fault,
        };
        if !pointer {
            for code in [507_899, 107_000] {
                let found = Some(format!("{} call", id(rung)));
                let case = case("error code", format!("{function}:ret={code}"), rung, found);
                cases.push(case.of("fp16"));
            }
        } else if function.starts_with("aclCreate") {
            let found = Some(format!("{} null", id(rung)));
            cases.push(case("null handle", format!("{function}:null"), rung, found).of("fp16"));
        }
        for (class, action, message) in [
            ("crash", "segv", "VERIFY-CRASH signal"),
            ("abort", "abort", "VERIFY-CRASH signal"),
            ("early exit", "exit=0", "VERIFY-CRASH exit"),
            ("early exit", "exit=7", "VERIFY-CRASH exit"),
            ("hang", "hang", "VERIFY-HANG silent"),
        ] {
            let found = Some(message.to_owned());
            // The wait detects work that does not end, and returns before the parent's limit.
            let found = if (function, action) == ("kernel", "hang") {
                Some("VERIFY-COMPUTE call".to_owned())
            } else {
                found
            };
            let mut case =
                case(class, with(format!("{function}:{action}")), rung, found).of("fp16");
            if class == "hang" {
                case = case.within("0.8");
            }
            cases.push(case);
        }
    }
    for code in [507_014, 507_015, 507_035, 507_053, 507_054] {
        for at in [1, 2] {
            let found = Some("VERIFY-COMPUTE call".to_owned());
            let fault = format!("kernel@{at}:ret={code}");
            cases.push(case("async kernel code", fault, "compute", found).of("fp16"));
        }
    }
}

/// Every kind of corruption, in copies and in results.
fn data(cases: &mut Vec<Case>) {
    for damage in DAMAGE {
        let unwritten = ["tail", "stale"].contains(&damage);
        let message = if unwritten { "unwritten" } else { "wrong" };
        // The second copy of the stage writes the data that the third reads back.
        let found = Some("VERIFY-MEMORY wrong".to_owned());
        cases.push(case("copy to the device", format!("aclrtMemcpy@2:{damage}"), "memory", found));
        let found = Some("VERIFY-MEMORY intermittent".to_owned());
        cases.push(case(
            "copy from the device",
            format!("aclrtMemcpy@3:{damage}"),
            "memory",
            found,
        ));
        let found = Some(format!("VERIFY-MEMORY {message}"));
        cases.push(case(
            "copy from the device",
            format!("aclrtMemcpy@3+:{damage}"),
            "memory",
            found,
        ));
        let found = Some(format!("VERIFY-MEMORY {message}"));
        cases.push(case(
            "copy on the device",
            format!("aclrtMemcpyAsync:{damage}"),
            "memory",
            found,
        ));
        // For each type, the first kernel adds, and the second one multiplies.
        for (dtype, at) in [("int32", 1), ("fp16", 1), ("fp16", 2), ("fp32", 1), ("fp32", 2)]
            .into_iter()
            .chain([("bf16", 1), ("bf16", 2)])
        {
            let mut push = |class, fault: String, message: &str| {
                let found = Some(format!("VERIFY-COMPUTE {message}"));
                cases.push(case(class, fault, "compute", found).of(dtype));
            };
            push("wrong number once", format!("kernel@{at}:{damage}"), "intermittent");
            push("wrong number", format!("kernel@{at}+:{damage}"), message);
        }
    }
    for (fault, rung) in [
        ("aclrtMemcpy@2:over", "memory"),
        ("aclrtMemcpyAsync:over", "memory"),
        ("kernel@1:over", "compute"),
        ("kernel@2:over", "compute"),
        ("kernel:over", "compute"),
    ] {
        let found = Some(format!("{} guard", id(rung)));
        cases.push(case("out of bounds", fault.to_owned(), rung, found).of("bf16"));
    }
}

/// Missing or damaged libraries, or libraries of another version.
fn libraries(cases: &mut Vec<Case>) {
    let mut push = |class, libraries, rung: &str, message: &str, status| {
        let found = (!message.is_empty()).then(|| format!("VERIFY-LOAD {message}"));
        let args = vec!["--rung".to_owned(), rung.to_owned()];
        let variables = Vec::new();
        let libraries = Some(libraries);
        cases.push(Case { class, libraries, complete: false, variables, args, found, status });
    };
    let elf = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let mut foreign = elf.clone();
    foreign[18] = if foreign[18] == 183 { 62 } else { 183 };
    for name in ["libascendcl.so", "libnnopbase.so", "libopapi.so"] {
        let libraries = Installation::old();
        libraries.remove(name);
        push("missing library", libraries, "compute", "absent", 3);
        for bytes in [&b""[..], b"this is no library\n", &elf[..1000], &elf[..4096]] {
            let libraries = Installation::old();
            libraries.write(name, bytes);
            push("garbage library", libraries, "compute", "broken", 1);
        }
        let libraries = Installation::old();
        libraries.write(name, &foreign);
        push("foreign library", libraries, "compute", "foreign", 1);
    }
    for (function, rung) in FUNCTIONS {
        let library = match (function, rung) {
            ("kernel", _) => continue,
            (name, _) if name.starts_with("aclnn") => "libopapi.so",
            (_, "compute") => "libnnopbase.so",
            _ => "libascendcl.so",
        };
        let libraries = Installation::old();
        libraries.hide_in_copy(library, &[function]);
        push("missing symbol", libraries, "compute", "symbols", 1);
    }
    let libraries = Installation::old();
    libraries.hide_in_copy("libascendcl.so", &["aclGetDeviceCapability"]);
    push("older version", libraries, "compute", "", 0);
    push("newer version", Installation::new(), "compute", "", 0);
}

/// Machines without the requested device.
fn machines(cases: &mut Vec<Case>) {
    let mut push = |class,
                    variables: &[(&'static str, &str)],
                    args: &[&str],
                    found: &str,
                    status| {
        cases.push(Case {
            class,
            libraries: None,
            complete: false,
            variables: variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            found: (!found.is_empty()).then(|| found.to_owned()),
            status,
        });
    };
    let runtime = ["--rung", "runtime"];
    push("no device", &[("ASCSIM_DEVICES", "0")], &runtime, "VERIFY-RUNTIME no_device", 3);
    for (list, found) in [
        ("", "ENV-VISIBLE none"),
        ("9", "VERIFY-RUNTIME no_device"),
        ("x", "ENV-VISIBLE syntax"),
        ("-1", "ENV-VISIBLE syntax"),
        ("0x0", "ENV-VISIBLE syntax"),
        ("0,0", "ENV-VISIBLE duplicate"),
    ] {
        let list = [("ASCEND_RT_VISIBLE_DEVICES", list)];
        push("visible devices", &list, &runtime, found, 3);
    }
    let four = ("ASCSIM_DEVICES", "4");
    for (list, found, status) in [
        ("0", "", 0),
        ("0,3", "", 0),
        ("0,8,9", "ENV-VISIBLE cut", 1),
        ("0,1,9", "ENV-VISIBLE cut", 1),
        ("0,,1", "ENV-VISIBLE syntax", 1),
        ("0,0", "ENV-VISIBLE duplicate", 3),
        ("1,0", "ENV-VISIBLE order", 3),
    ] {
        let variables = [("ASCEND_RT_VISIBLE_DEVICES", list), four];
        push("visible devices", &variables, &runtime, found, status);
        let args = ["--rung", "runtime", "--device", "2"];
        let third = match found {
            "" => ("VERIFY-RUNTIME no_such_device", 3),
            found => (found, status),
        };
        push("visible devices", &variables, &args, third.0, third.1);
    }
    for device in ["1", "8", "65535"] {
        let args = ["--rung", "runtime", "--device", device];
        push("no such device", &[], &args, "VERIFY-RUNTIME no_such_device", 3);
    }
    let small = [("ASCSIM_HBM_MB", "2")];
    push("out of memory", &small, &["--rung", "memory"], "VERIFY-MEMORY full", 3);
    push(
        "out of memory",
        &[("ASCSIM_HBM_MB", "6")],
        &["--rung", "memory"],
        "VERIFY-MEMORY full",
        3,
    );
    push(
        "out of memory",
        &[("ASCSIM_HBM_MB", "0")],
        &["--rung", "compute"],
        "VERIFY-COMPUTE full",
        3,
    );
    for device in ["0", "3", "7"] {
        for (action, found) in [
            ("flip", "VERIFY-COMPUTE wrong"),
            ("segv", "VERIFY-CRASH signal"),
            ("ret=507015", "VERIFY-COMPUTE call"),
        ] {
            let fault = format!("kernel#{device}:{action}");
            let variables = [("ASCSIM_DEVICES", "8"), ("ASCSIM_FAULT", fault.as_str())];
            let args = ["--rung", "compute", "--dtype", "int32"];
            push("one bad device of 8", &variables, &args, found, 1);
        }
    }
}

/// Memory that is freed and stays allocated.
fn leaks(cases: &mut Vec<Case>) {
    let mut push = |fault: &str, leaks: bool| {
        let found = leaks.then(|| "VERIFY-MEMORY leak".to_owned());
        let case = case("device memory leaks", fault.to_owned(), "memory", found);
        cases.push(Case { status: 0, ..case });
    };
    push("aclrtFree:leak", true);
    push("aclrtFree@5+:leak", true);
    // Once, or at the end of the run: the loss may have another cause.
    push("aclrtFree@1:leak", false);
    push("aclrtFree@6:leak", false);
    push("aclrtFree@7+:leak", false);
}

/// Unusual behavior that is not a fault.
fn harmless(cases: &mut Vec<Case>) {
    let mut push = |fault: &str, found: Option<&str>| {
        let case = case("harmless", fault.to_owned(), "compute", found.map(str::to_owned));
        cases.push(Case { status: 0, ..case.of("int32").within("5") });
    };
    push("aclrtSetDevice:sleep=300", None);
    push("kernel@1:sleep=400", None);
    push("aclrtMemcpyAsync:sleep=200", None);
    push("aclrtGetSocName:null", None);
    push("aclInit:say=100", Some("VERIFY-CHATTER wrote"));
    push("aclnnAdd:say=1000000", Some("VERIFY-CHATTER wrote"));
}
