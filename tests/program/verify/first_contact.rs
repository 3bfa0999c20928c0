//! Realistic installations: CANN of many versions and its driver, each with a missing part. The
//! result names the part.
//!
//! `cargo test --test program verify::first_contact -- --nocapture` prints the cases.

use super::simulator::{Installation, RTC, verdict, verify};

/// Versions with their runtime library and their libraries of operators.
const LAYOUTS: [(&str, &str, &[&str]); 6] = [
    ("8.1.RC1", "libascendcl.so", &["libopapi.so"]),
    ("8.2.RC1", "libascendcl.so", &["libopapi.so"]),
    ("8.3.RC1", "libascendcl.so", &["libopapi.so"]),
    ("8.5.0", "libacl_rt.so", &["libopapi_math.so", "libopapi_nn.so"]),
    ("9.0.0", "libacl_rt.so", &["libopapi_math.so", "libopapi_nn.so"]),
    ("9.1.0", "libacl_rt.so", &["libopapi_math.so", "libopapi_nn.so"]),
];

/// A missing dependency of a library, and the owner of that dependency.
const NEEDED: [(&str, &str, &str); 3] = [
    ("libdcmi.so", "VERIFY-LOAD driver", "Driver library libdcmi.so"),
    ("libslog.so", "VERIFY-LOAD part", "libslog.so, required by"),
    ("libz.so.9", "VERIFY-LOAD system", "System library libz.so.9"),
];

struct Case {
    name: String,
    libraries: Installation,
    variables: Vec<(&'static str, String)>,
    args: Vec<&'static str>,
    found: Vec<&'static str>,
    status: i32,
    /// The required text in titles and causes.
    says: String,
}

/// Makes a library need another one instead of the support library of the compiler, which has a
/// longer name.
fn need(libraries: &Installation, library: &str, needed: &str) {
    let path = libraries.path().join(library);
    let mut bytes = std::fs::read(&path).unwrap();
    let old = b"libgcc_s.so.1";
    let at = memchr::memmem::find(&bytes, old).unwrap_or_else(|| panic!("{library}"));
    bytes[at..at + old.len()].fill(0);
    bytes[at..at + needed.len()].copy_from_slice(needed.as_bytes());
    libraries.write(library, &bytes);
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let compute = vec!["--rung", "compute", "--dtype", "fp16"];
    for (version, runtime, operators) in LAYOUTS {
        let parts: Vec<&str> = [&[runtime, "libnnopbase.so"], operators].concat();
        for part in &parts {
            let libraries = Installation::version(version);
            libraries.remove(part);
            // Until 9.1, the runtime exists under both names.
            if *part == "libacl_rt.so" && libraries.path().join("libascendcl.so").exists() {
                libraries.remove("libascendcl.so");
            }
            cases.push(Case {
                name: format!("CANN {version} without {part}"),
                libraries,
                variables: vec![],
                args: compute.clone(),
                found: vec!["VERIFY-LOAD absent"],
                status: 3,
                says: (*part).to_owned(),
            });
        }
        for (needed, found, says) in NEEDED {
            let libraries = Installation::version(version);
            // Of the two names of the runtime, the old one is tried first.
            let first = if libraries.path().join("libascendcl.so").exists() {
                "libascendcl.so"
            } else {
                runtime
            };
            need(&libraries, first, needed);
            cases.push(Case {
                name: format!("CANN {version}, {first} needs {needed}"),
                libraries,
                variables: vec![],
                args: compute.clone(),
                found: vec![found],
                status: 1,
                says: says.to_owned(),
            });
        }
        cases.push(Case {
            name: format!("CANN {version}, LD_LIBRARY_PATH without ASCEND_OPP_PATH"),
            libraries: Installation::version(version),
            variables: vec![("ASCSIM_NEEDS_OPP", "1".to_owned())],
            args: compute.clone(),
            found: vec!["VERIFY-COMPUTE environment"],
            status: 1,
            says: "set_env.sh".to_owned(),
        });
        let opp = vec![
            ("ASCSIM_NEEDS_OPP", "1".to_owned()),
            ("ASCEND_OPP_PATH", "/usr/local/Ascend/ascend-toolkit/latest/opp".to_owned()),
        ];
        cases.push(Case {
            name: format!("CANN {version}, complete"),
            libraries: Installation::version(version),
            variables: opp,
            args: compute.clone(),
            found: vec![],
            status: 0,
            says: String::new(),
        });
    }
    for entry in ["macro", "qualifier"] {
        let libraries = Installation::rtc();
        libraries.remove_compiler_part();
        cases.push(Case {
            name: format!("libacl_rtc.so without the parts of the compiler ({entry})"),
            libraries,
            variables: vec![
                ("ASCSIM_RTC_PARTS", "0".to_owned()),
                ("ASCSIM_ENTRY", entry.to_owned()),
            ],
            args: vec!["--rung", "memory,kernel"],
            found: vec![],
            status: 0,
            says: String::new(),
        });
    }
    for (action, found) in [
        ("segv", "VERIFY-CRASH signal"),
        ("abort", "VERIFY-CRASH signal"),
        ("exit=3", "VERIFY-CRASH exit"),
        ("hang", "VERIFY-HANG silent"),
    ] {
        cases.push(Case {
            name: format!("aclFinalize while counting: {action}"),
            libraries: Installation::old(),
            variables: vec![("ASCSIM_FAULT", format!("aclFinalize#none:{action}"))],
            args: vec!["--rung", "memory", "--call-timeout", "2"],
            found: vec![found],
            status: 0,
            says: "aclFinalize".to_owned(),
        });
    }
    cases
}

#[test]
fn each_missing_part_is_named() {
    let cases = cases();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) =
                    cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let variables: Vec<(&str, &str)> = case
                        .variables
                        .iter()
                        .map(|(name, value)| (*name, value.as_str()))
                        .collect();
                    let said = verify(case.libraries.path(), &case.args, &variables);
                    let found = said.found();
                    let text = said.report["findings"].to_string();
                    if said.status != Some(case.status)
                        || found != case.found
                        || !text.contains(&case.says)
                    {
                        let (status, name) = (said.status, &case.name);
                        wrong.lock().unwrap().push(format!("{name}: {status:?} {found:?} {text}"));
                    }
                }
            });
        }
    });
    for case in &cases {
        println!("{}: {:?}, status {}", case.name, case.found, case.status);
    }
    println!("{} cases", cases.len());
    assert!(cases.len() >= 40);
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// A compiler without its parts is not applicable, and a crash in `aclFinalize` ends no test.
#[test]
fn what_cannot_run_leaves_the_rest_alone() {
    let libraries = Installation::rtc();
    libraries.remove_compiler_part();
    let args = ["--rung", "memory,kernel"];
    let said = verify(libraries.path(), &args, &[("ASCSIM_RTC_PARTS", "0")]);
    assert_eq!((said.status, verdict(&said, "VERIFY-KERNEL")), (Some(0), "not_applicable"));
    // With its parts, a rejection by the compiler is a finding.
    let said = verify(RTC.path(), &args, &[("ASCSIM_RTC_PARTS", "0")]);
    assert_eq!(said.found(), ["VERIFY-KERNEL compile"]);
    let crash = [("ASCSIM_FAULT", "aclFinalize#none:segv"), ("ASCSIM_DEVICES", "2")];
    let said = verify(RTC.path(), &["--rung", "memory"], &crash);
    assert_eq!((said.status, verdict(&said, "VERIFY-MEMORY")), (Some(0), "passed"));
    assert_eq!(said.report["devices"].as_array().unwrap().len(), 2);
    assert_eq!(said.report["findings"][0]["severity"], "warning");
}
