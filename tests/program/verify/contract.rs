//! Processes, formats and options of `verify`.

use std::process::Stdio;

use super::simulator::{Installation, NEW, OLD, VERSIONS, doctor, verify};

#[test]
fn a_clean_run_says_what_it_proves() {
    for installation in [&*OLD, &*NEW] {
        let said = verify(installation.path(), &[], &[("ASCSIM_DEVICES", "2")]);
        assert_eq!((said.status, said.found()), (Some(0), vec![]));
        assert_eq!(said.report["summary"]["passed"], 8);
        assert_eq!(said.report["devices"].as_array().unwrap().len(), 2);
        let stages = said.report["devices"][0]["stages"].as_array().unwrap();
        assert!(stages.iter().all(|stage| stage["outcome"]["outcome"] == "passed"), "{stages:?}");
    }
}

/// A simulation is rejected by default, and if it is allowed, the output is clearly marked.
#[test]
fn a_simulation_is_no_hardware() {
    let mut command = doctor(OLD.path());
    let refused = command.env_remove("ASCEND_DOCTOR_ALLOW_SIM").arg("verify").output().unwrap();
    let text = String::from_utf8(refused.stdout).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{text}");
    assert!(text.contains("libascendcl.so is a simulation"), "{text}");
    for format in ["text", "json", "junit", "sarif", "markdown", "html"] {
        for fault in ["", "kernel:flip"] {
            let args = ["verify", "--rung", "compute", "--dtype", "int32", "--format", format];
            let output = doctor(OLD.path()).env("ASCSIM_FAULT", fault).args(args).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("SIMULATED"), "{format} {fault}: {text}");
        }
    }
}

#[test]
fn lines_of_json_come_as_stages_end() {
    let args = ["verify", "--format", "jsonl", "--rung", "2"];
    let output = doctor(OLD.path()).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (report, stages) = lines.split_last().unwrap();
    assert_eq!(report["schema"], "ascend-doctor/verify/2");
    assert!(stages.len() > 5);
    let schema = |text| jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    let of_stage = schema(include_str!("../../../docs/schema/verify-stage-1.schema.json"));
    let of_report = schema(include_str!("../../../docs/schema/report-2.schema.json"));
    assert!(of_report.is_valid(report), "{:?}", of_report.iter_errors(report).next());
    let failing = doctor(OLD.path()).args(args).env("ASCSIM_FAULT", "aclrtMemcpy:flip").output();
    let failing = String::from_utf8(failing.unwrap().stdout).unwrap();
    let failing: Vec<serde_json::Value> = failing
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["event"] == "stage")
        .collect();
    assert!(failing.iter().any(|stage| stage["outcome"]["fault"]["fault"] == "wrong"));
    for stage in stages.iter().chain(&failing) {
        assert!(of_stage.is_valid(stage), "{:?}", of_stage.iter_errors(stage).next());
    }
}

/// Eight devices, one of which computes wrong results: only that one is named.
#[test]
fn the_bad_device_is_named() {
    let variables = [("ASCSIM_DEVICES", "8"), ("ASCSIM_FAULT", "kernel#5:flip")];
    let said = verify(OLD.path(), &["--rung", "compute", "--dtype", "fp16"], &variables);
    assert_eq!(said.found(), ["VERIFY-COMPUTE wrong"]);
    let title = said.title(0);
    assert!(title.contains("NPU 5 (0000:c6:00.0): 1 of 196608 elements wrong"), "{title}");
    // A fault common to several devices is one finding.
    let variables = [("ASCSIM_DEVICES", "4"), ("ASCSIM_FAULT", "aclrtSetDevice:ret=507033")];
    let said = verify(OLD.path(), &["--rung", "runtime"], &variables);
    assert_eq!(said.found(), ["VERIFY-RUNTIME call"]);
    let title = said.title(0);
    assert!(title.contains("NPU 0, 1, 2, 3: `aclrtSetDevice`"), "{title}");
    assert!(title.contains("ACL_ERROR_RT_DEV_SETUP_ERROR"), "{title}");
    let text = said.report.to_string();
    assert!(text.contains("[ERROR] RUNTIME"), "the log of the process is quoted: {text}");
}

#[test]
fn chips_that_cannot_are_left_alone() {
    for (soc, passed, left) in [
        ("Ascend310P3", 3, 8),
        ("Ascend910B", 6, 5),
        ("Ascend910A", 6, 5),
        ("Ascend910B3", 11, 0),
        ("Ascend950PR_9589", 11, 0),
        // An unknown chip: operations that the library refuses are skipped.
        ("Ascend310Q1", 7, 4),
    ] {
        let said = verify(OLD.path(), &["--rung", "compute"], &[("ASCSIM_SOC", soc)]);
        assert_eq!((said.status, said.found()), (Some(0), vec![]), "{soc}");
        let count = |outcome: &str| {
            let stages = said.report["devices"][0]["stages"].as_array().unwrap();
            let of = |stage: &&serde_json::Value| {
                stage["rung"] == "compute" && stage["outcome"]["outcome"] == outcome
            };
            stages.iter().filter(of).count()
        };
        assert_eq!((count("passed"), count("not_supported")), (passed, left), "{soc}");
    }
    let said = verify(OLD.path(), &[], &[("ASCSIM_SOC", "Ascend310B4")]);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    let compute = &said.report["checks"][3];
    assert_eq!(
        (&compute["id"], &compute["state"]),
        (&"VERIFY-COMPUTE".into(), &"not_applicable".into())
    );
}

#[test]
fn logs_are_kept_where_the_user_says() {
    let dir = Installation::empty();
    let place = dir.path().join("a/b");
    let args = ["--rung", "runtime", "--keep-logs", place.to_str().unwrap()];
    let said = verify(OLD.path(), &args, &[("ASCSIM_FAULT", "aclrtSetDevice:ret=507033")]);
    assert_eq!(said.status, Some(1));
    assert!(place.join("device-0/debug/plog").read_dir().unwrap().count() == 1);
    // An impossible directory: wrong usage, before any process is started.
    let args = ["verify", "--keep-logs", "/proc/nowhere/x"];
    let output = doctor(OLD.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/proc/nowhere/x"));
    // Without a directory for temporary files, all tests still run.
    let said = verify(OLD.path(), &["--rung", "runtime"], &[("TMPDIR", "/proc/nowhere")]);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
}

#[test]
fn wrong_usage_is_refused() {
    for args in [
        &["verify", "--device", "-1"][..],
        &["verify", "--device", "x"],
        &["verify", "--rung", "9"],
        &["verify", "--dtype", "int4"],
        &["verify", "--call-timeout", "0"],
        &["verify", "--call-timeout", "nan"],
        &["verify", "--floor", "h2d"],
        &["verify", "--floor", "up=3"],
        &["verify", "--floor", "h2d=-1"],
        &["verify", "--baseline", "/nowhere/x"],
        &["verify", "--json", "--format", "text"],
        &["verify-child", "{}"],
        &["verify-child", "not json"],
    ] {
        let output = doctor(OLD.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

/// Only `verify` may start a child: a valid order from elsewhere is rejected.
#[test]
fn a_child_wants_its_parent() {
    let order = r#"{"device":0,"rungs":["load"],"dtypes":[],"level":"quick","speed":false,"silence_ms":1000,"allow_simulated":true,"parent":1}"#;
    let output =
        doctor(OLD.path()).args(["verify-child", order]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// The higher level: large products, random numbers, speeds.
#[test]
fn the_standard_level_is_clean_and_finds_what_it_should() {
    let args = ["--level", "standard"];
    let said = verify(OLD.path(), &args, &[]);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    let stages = said.report["devices"][0]["stages"].as_array().unwrap();
    let speeds = stages.iter().filter(|stage| stage["gb_per_s"].is_number()).count();
    assert_eq!((stages.len(), speeds), (33, 3));
    // For each type, the fourth kernel is the large product (bfloat16 has none), the next two use
    // random numbers.
    for (dtype, fault, found) in [
        ("fp16", "kernel@4+:flip", "VERIFY-COMPUTE wrong"),
        ("fp32", "kernel@4+:flipmsb", "VERIFY-COMPUTE wrong"),
        ("fp16", "kernel@5+:flipmsb", "VERIFY-COMPUTE wrong"),
        ("bf16", "kernel@4+:nan", "VERIFY-COMPUTE wrong"),
        ("fp16", "kernel@6+:ret=507015", "VERIFY-COMPUTE call"),
    ] {
        let compute = ["--level", "standard", "--rung", "compute", "--dtype", dtype];
        let said = verify(OLD.path(), &compute, &[("ASCSIM_FAULT", fault)]);
        assert_eq!(said.found(), [found], "{fault} {dtype}");
    }
}

#[test]
fn slow_copies_are_found_where_a_speed_was_asked_for() {
    let slow = [("ASCSIM_H2D_MBPS", "500")];
    let floor = |least: &str, variables: &[(&str, &str)]| {
        verify(OLD.path(), &["--rung", "memory", "--floor", least], variables)
    };
    let said = floor("h2d=0.6", &slow);
    assert_eq!((said.status, said.found()), (Some(1), vec!["VERIFY-SPEED floor".to_owned()]));
    assert!(said.title(0).contains("host to device: 0."), "{}", said.title(0));
    assert_eq!(floor("h2d=0.1,d2h=0.01,d2d=0.01", &slow).found(), Vec::<String>::new());
    // A report is the baseline of a later one.
    let dir = Installation::empty();
    let path = dir.path().join("before.json");
    // Slow enough that a busy machine does not matter.
    let rate = [("ASCSIM_H2D_MBPS", "150"), ("ASCSIM_D2H_MBPS", "150"), ("ASCSIM_D2D_MBPS", "150")];
    let before = verify(OLD.path(), &["--rung", "memory", "--level", "standard"], &rate);
    std::fs::write(&path, before.report.to_string()).unwrap();
    let args = ["--rung", "memory", "--baseline", path.to_str().unwrap()];
    let slower = [("ASCSIM_D2H_MBPS", "75")];
    let said = verify(OLD.path(), &args, &slower);
    assert_eq!((said.status, said.found()), (Some(0), vec!["VERIFY-SPEED baseline".to_owned()]));
    assert!(said.title(0).contains("device to host"), "{}", said.title(0));
    for wrong in ["{}", "no json", "[1]"] {
        std::fs::write(&path, wrong).unwrap();
        let output = doctor(OLD.path()).arg("verify").args(&args[2..]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

/// Every version gives the same results for healthy devices, and skips stages that the version does
/// not support.
#[test]
fn every_version_is_climbed_as_far_as_it_goes() {
    for version in &VERSIONS[1..] {
        let libraries = Installation::version(version);
        let variables = [("ASCSIM_DEVICES", "2"), ("ASCSIM_CANN", *version)];
        let args = ["--rung", "memory,compute,kernel,fabric", "--dtype", "fp16"];
        let said = verify(libraries.path(), &args, &variables);
        assert_eq!((said.status, said.found()), (Some(0), vec![]), "{version}");
        let checks = said.report["checks"].as_array().unwrap();
        let verdict =
            |id: &str| checks.iter().find(|row| row["id"] == id).unwrap()["state"].clone();
        // The run-time compiler exists from 8.3 on.
        let kernel = if *version >= "8.3.RC1" { "passed" } else { "not_applicable" };
        for (id, expected) in [
            ("VERIFY-LOAD", "passed"),
            ("VERIFY-RUNTIME", "passed"),
            ("VERIFY-MEMORY", "passed"),
            ("VERIFY-COMPUTE", "passed"),
            ("VERIFY-KERNEL", kernel),
            ("VERIFY-FABRIC", "passed"),
        ] {
            assert_eq!(verdict(id), expected, "{version} {id}");
        }
        // A fault is detected in each of them.
        let faulty = [variables[0], variables[1], ("ASCSIM_FAULT", "kernel#1:flip")];
        let args = ["--rung", "compute", "--dtype", "int32"];
        let said = verify(libraries.path(), &args, &faulty);
        assert_eq!(said.found(), ["VERIFY-COMPUTE wrong"], "{version}");
    }
    // An older version is reported as such.
    let said = verify(Installation::version("6.0.1").path(), &[], &[]);
    assert_eq!((said.status, said.found()), (Some(1), vec!["VERIFY-LOAD symbols".to_owned()]));
}

/// An installed CANN outside the environment is found, and set only for the children.
#[test]
fn cann_is_found_where_it_is_installed() {
    let home = Installation::empty();
    let toolkit = home.path().join("Ascend/ascend-toolkit");
    let root = toolkit.join("8.1.RC1");
    std::fs::create_dir_all(root.join("lib64")).unwrap();
    let arch = std::env::consts::ARCH;
    std::fs::create_dir_all(root.join(format!("{arch}-linux"))).unwrap();
    let info = format!("package_name=Ascend-cann-toolkit\nversion=8.1.RC1\narch={arch}\n");
    let place = format!("{arch}-linux/ascend_toolkit_install.info");
    std::fs::write(root.join(place), info).unwrap();
    std::os::unix::fs::symlink("8.1.RC1", toolkit.join("latest")).unwrap();
    for name in ["libascendcl.so", "libnnopbase.so", "libopapi.so"] {
        std::fs::copy(OLD.path().join(name), root.join("lib64").join(name)).unwrap();
    }
    let nowhere = Installation::empty();
    let run = |args: &[&str]| {
        let mut command = doctor(nowhere.path());
        let output = command.env("HOME", home.path()).args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = run(&["verify"]);
    assert_eq!(status, Some(0), "{text}");
    let flat = text.split_whitespace().collect::<String>();
    assert!(flat.contains(&format!("`{}`wasfound", root.display())), "{text}");
    let (status, text) = run(&["verify", "--format", "jsonl"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(!text.contains("no_library"), "what was not found at first is no stage: {text}");
    // An environment named by the user is used unchanged.
    let env = home.path().join("env");
    std::fs::write(&env, format!("LD_LIBRARY_PATH={}\n", OLD.path().display())).unwrap();
    let (status, text) = run(&["verify", "--env-file", env.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{text}");
    assert!(!text.contains("was found"), "{text}");
    std::fs::write(&env, "LD_LIBRARY_PATH=/nowhere\n").unwrap();
    let (status, text) = run(&["verify", "--env-file", env.to_str().unwrap(), "--format", "jsonl"]);
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("no_library"), "{text}");
}
