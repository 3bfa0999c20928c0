//! Stage 4: the logic of the kernel on the host, and the stage with the simulator.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::simulator::{Installation, NEW, OLD, RTC, Said, verify};

const SOURCE: &str = include_str!("../../../crates/verify/src/kernel/probe_add.asc");

/// A mistake in the kernel, and the exit status of the test driver that detects it.
const MISTAKES: [(&str, &str, i32); 14] = [
    ("AscendC::GetBlockIdx()", "0", 1),
    (" * TILE * TILES;", " * TILE;", 1),
    ("tile < TILES", "tile + 1 < TILES", 1),
    ("oneGm[tile * TILE]", "oneGm[0]", 1),
    ("outGm[tile * TILE]", "outGm[tile]", 1),
    ("AscendC::Add(out, one, other, TILE)", "AscendC::Add(out, one, one, TILE)", 1),
    ("tile < TILES", "tile <= TILES", 3),
    ("oneQueue.EnQue(one);", "", 3),
    ("outQueue.EnQue(out);", "", 3),
    ("oneQueue.FreeTensor(one);", "", 3),
    ("outQueue.FreeTensor(out);", "", 3),
    ("TILE = 1024", "TILE = 1023", 3),
    ("TILE = 1024", "TILE = 65536", 3),
    ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);", "", 4),
];

/// The source for the vendor's compiler adds correctly in every block, as far as a host can test
/// it, and mistakes in it would be detected.
#[test]
#[ignore = "needs g++"]
fn the_kernel_adds_on_the_host() {
    let wrong = MISTAKES.iter().map(|(from, to, seen)| {
        assert!(SOURCE.contains(from), "{from}");
        (SOURCE.replacen(from, to, 1), *seen, format!("{from} -> {to}"))
    });
    let right = (SOURCE.to_owned(), 0, "as it is".to_owned());
    let kernels: Vec<_> = std::iter::once(right).chain(wrong).collect();
    let dir = tempfile::Builder::new().prefix("kernel-").tempdir().unwrap();
    let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/verify/kernel_shim");
    let (mut list, mut rows) = (String::new(), String::new());
    for (at, (source, ..)) in kernels.iter().enumerate() {
        std::fs::write(dir.path().join(format!("{at}.asc")), source).unwrap();
        list.push_str(&format!(
            "#define ascend_doctor_probe_add kernel_{at}\nnamespace n{at} {{\n\
             #include \"{at}.asc\"\n}}\n#undef ascend_doctor_probe_add\n"
        ));
        rows.push_str(&format!("{{n{at}::kernel_{at}, n{at}::TILE * n{at}::TILES}},\n"));
    }
    list.push_str(&format!(
        "struct Candidate {{ void (*entry)(GM_ADDR, GM_ADDR, GM_ADDR); uint64_t stripe; }};\n\
         const Candidate candidates[] = {{\n{rows}}};\n"
    ));
    std::fs::write(dir.path().join("kernels.inc"), list).unwrap();
    let program = dir.path().join("probe");
    let mut command = Command::new("g++");
    command.args(["-std=c++17", "-Wall", "-I"]).arg(dir.path()).arg("-I").arg(&shim);
    let compiled = command.arg(shim.join("driver.cpp")).arg("-o").arg(&program).output();
    let compiled = compiled.expect("cannot start g++");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    for (at, (_, seen, what)) in kernels.iter().enumerate() {
        let ran = Command::new(&program).arg(at.to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(*seen), "{what}: {said}");
    }
}

/// Runs only this stage, with these libraries and variables.
fn kernel(libraries: &Path, variables: &[(&str, &str)]) -> Said {
    verify(libraries, &["--rung", "kernel"], variables)
}

fn verdict<'a>(said: &'a Said, id: &str) -> &'a str {
    let checks = said.report["checks"].as_array().unwrap();
    let row = checks.iter().find(|row| row["id"] == id).unwrap();
    row["state"].as_str().unwrap()
}

fn told(said: &Said) -> &serde_json::Value {
    said.told("devices", 0, "kernel")[0]
}

#[test]
fn the_kernel_is_compiled_once() {
    let home = Installation::empty();
    let variables = [("HOME", home.path().to_str().unwrap()), ("ASCSIM_CORES", "40")];
    let first = kernel(RTC.path(), &variables);
    assert_eq!((first.status, first.found()), (Some(0), vec![]));
    assert_eq!(verdict(&first, "VERIFY-KERNEL"), "passed");
    assert_eq!((&told(&first)["cores"], &told(&first)["cached"]), (&40.into(), &false.into()));
    let compile_fails = [variables[0], ("ASCSIM_FAULT", "aclrtcCompileProg:ret=176003")];
    let second = kernel(RTC.path(), &compile_fails);
    assert_eq!((second.found(), &told(&second)["cached"]), (vec![], &true.into()));
    // Another source, chip or CANN gives another file.
    let other = [variables[0], ("ASCSIM_SOC", "Ascend950PR_9589")];
    assert_eq!(told(&kernel(RTC.path(), &other))["cached"], false);
    let other = [variables[0], ("ASCSIM_CANN", "9.1.0")];
    assert_eq!(told(&kernel(RTC.path(), &other))["cached"], false);
    // A damaged file, and one that does not load, are ignored.
    let dir = home.path().join(".cache/ascend-doctor/kernels");
    let files: Vec<_> = dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3);
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        std::fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
    }
    assert_eq!(told(&kernel(RTC.path(), &variables))["cached"], false);
    let refused = [variables[0], ("ASCSIM_FAULT", "aclrtBinaryLoadFromData@1:ret=107000")];
    let again = kernel(RTC.path(), &refused);
    assert_eq!((again.found(), &told(&again)["cached"]), (vec![], &false.into()));
    assert_eq!(told(&kernel(RTC.path(), &variables))["cached"], true);
}

/// An unwritable directory only costs time, and is reported.
#[test]
fn a_cache_that_cannot_be_used_is_said() {
    let home = Installation::empty();
    let others = home.path().join("others");
    std::fs::create_dir_all(others.join("ascend-doctor/kernels")).unwrap();
    let kernels = others.join("ascend-doctor/kernels");
    std::fs::set_permissions(&kernels, std::fs::Permissions::from_mode(0o777)).unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [Path::new("/proc/nowhere"), &others, &file] {
        let said = kernel(RTC.path(), &[("XDG_CACHE_HOME", place.to_str().unwrap())]);
        assert_eq!(
            (said.status, said.found()),
            (Some(0), vec!["VERIFY-CACHE unusable".to_owned()])
        );
        assert_eq!(verdict(&said, "VERIFY-KERNEL"), "passed");
    }
    // Without a home directory there is no cache, and nothing to report.
    let said = kernel(RTC.path(), &[]);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
}

/// Both launch interfaces, both loaders and both forms of the entry are used, depending on the
/// version.
#[test]
fn every_way_of_launching_works() {
    let list = [
        "aclrtKernelArgsInit",
        "aclrtKernelArgsAppend",
        "aclrtKernelArgsFinalize",
        "aclrtLaunchKernelWithConfig",
    ];
    let host = ["aclrtLaunchKernelWithHostArgs"];
    let configured = ["aclrtLaunchKernelV2"];
    let loader = ["aclrtBinaryLoadFromData"];
    for (hidden, launch) in [
        (vec![], "aclrtLaunchKernelWithConfig"),
        (list.to_vec(), "aclrtLaunchKernelWithHostArgs"),
        ([&list[..], &host].concat(), "aclrtLaunchKernelV2"),
        ([&list[..], &host, &configured].concat(), "aclrtLaunchKernel"),
        (loader.to_vec(), "aclrtLaunchKernelWithConfig"),
    ] {
        let libraries = Installation::rtc();
        libraries.remove("libacl_rt.so");
        libraries.copy("libascendcl.so", "libacl_rt.so");
        libraries.hide("libacl_rt.so", &hidden);
        let said = kernel(libraries.path(), &[]);
        assert_eq!((said.status, said.found()), (Some(0), vec![]), "{launch}");
        assert_eq!(verdict(&said, "VERIFY-KERNEL"), "passed", "{launch}");
        // Proves that this function is called.
        let fault = format!("{launch}:ret=507899");
        let said = kernel(libraries.path(), &[("ASCSIM_FAULT", &fault)]);
        assert_eq!(said.found(), ["VERIFY-KERNEL call"], "{launch}");
        assert!(said.title(0).contains(&format!("`{launch}`")), "{}", said.title(0));
    }
    for form in ["macro", "qualifier", ""] {
        let said = kernel(RTC.path(), &[("ASCSIM_ENTRY", form)]);
        assert_eq!((said.status, said.found()), (Some(0), vec![]), "{form}");
    }
    let said = kernel(RTC.path(), &[("ASCSIM_ENTRY", "macro"), ("ASCSIM_FAULT", "core#3:flip")]);
    assert_eq!(said.found(), ["VERIFY-KERNEL stripes"]);
}

/// A missing compiler is not a fault.
#[test]
fn machines_without_the_compiler_are_left_alone() {
    let missing = Installation::rtc();
    missing.remove("libacl_rt.so");
    missing.copy("libascendcl.so", "libacl_rt.so");
    missing.hide("libacl_rt.so", &["aclrtBinaryLoadFromData", "aclrtBinaryLoad"]);
    for (libraries, soc) in [
        (OLD.path(), "Ascend910B3"),
        (NEW.path(), "Ascend910B3"),
        (missing.path(), "Ascend910B3"),
        (RTC.path(), "Ascend910A"),
        (RTC.path(), "Ascend910B"),
        (RTC.path(), "Ascend310P3"),
        (RTC.path(), "Ascend310Q1"),
    ] {
        let said = kernel(libraries, &[("ASCSIM_SOC", soc)]);
        // Nothing was computed, so nothing is proven.
        assert_eq!((said.status, said.found()), (Some(3), vec![]), "{soc}");
        assert_eq!(verdict(&said, "VERIFY-KERNEL"), "not_applicable", "{soc}");
        assert_eq!(verdict(&said, "VERIFY-CACHE"), "not_applicable", "{soc}");
    }
}

/// A failed call in this stage does not blame the device: it is a warning, and the result is
/// inconclusive. Wrong numbers do.
#[test]
fn a_failed_call_is_undecided() {
    for fault in ["core#7:flip", "core@8:flip"] {
        let said = kernel(RTC.path(), &[("ASCSIM_FAULT", fault)]);
        assert_eq!(said.status, Some(1), "{fault}");
        assert_eq!(said.report["findings"][0]["severity"], "error", "{fault}");
    }
    for fault in ["aclrtcCompileProg:ret=176003", "aclrtBinaryLoadFromData:ret=107000"] {
        let said = kernel(RTC.path(), &[("ASCSIM_FAULT", fault)]);
        assert_eq!(said.status, Some(3), "{fault}");
        assert_eq!(said.report["findings"][0]["severity"], "warning", "{fault}");
    }
    let said = kernel(RTC.path(), &[("ASCSIM_FAULT", "core#7:flip")]);
    assert!(said.title(0).contains("in block 7 of 40"), "{}", said.title(0));
    let said = kernel(RTC.path(), &[("ASCSIM_FAULT", "aclrtcCompileProg:ret=176003")]);
    let text = said.report.to_string();
    assert!(text.contains("a simulated failure of the compiler"), "the log is quoted: {text}");
    // Codes of the compiler are translated like those of the runtime.
    assert!(said.title(0).contains("176003 ACL_ERROR_RTC_COMPILATION"), "{}", said.title(0));
    let said = kernel(RTC.path(), &[("ASCSIM_FAULT", "aclrtcCreateProg:ret=276001")]);
    assert!(said.title(0).contains("276001 (ACL_ERROR_RTC_OUT_OF_MEMORY)"), "{}", said.title(0));
}
