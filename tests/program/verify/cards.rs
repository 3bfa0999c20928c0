//! Physical cards: every finding names the card, and not only its device ID in the process.

use super::simulator::{Installation, RTC, verdict, verify};

const COMPUTE: [&str; 4] = ["--rung", "compute", "--dtype", "int32"];

/// Regression test: with `ASCEND_RT_VISIBLE_DEVICES=5,6` a fault of card 5 was reported as NPU 0.
#[test]
fn a_fault_is_that_of_the_physical_card() {
    let libraries = Installation::old().with_dcmi();
    let variables = [
        ("ASCSIM_DEVICES", "8"),
        ("ASCEND_RT_VISIBLE_DEVICES", "5,6"),
        ("ASCSIM_FAULT", "kernel#0:flip"),
    ];
    let said = verify(libraries.path(), &COMPUTE, &variables);
    assert_eq!(said.found(), ["VERIFY-COMPUTE wrong"]);
    let name = "NPU 5 (0000:c6:00.0, SN SIM000005, device 0):";
    assert!(said.title(0).contains(name), "{}", said.title(0));
    let card = &said.report["identities"][0];
    for (member, value) in [
        ("device", 0.into()),
        ("visible", "5".into()),
        ("logic", 5.into()),
        ("physical", 5.into()),
        ("pci", "0000:c6:00.0".into()),
        ("serial", "SIM000005".into()),
        ("chip_name", "910B3".into()),
        ("board", 0x34.into()),
        ("driver", "25.2.0".into()),
    ] {
        let value: serde_json::Value = value;
        assert_eq!(card[member], value, "{member}");
    }
    assert_eq!(card["unmatched"].as_array().unwrap().len(), 0);
}

/// In a container, the driver counts the devices that were passed in.
#[test]
fn a_container_has_physical_numbers_too() {
    let libraries = Installation::old().with_dcmi();
    let variables = [("ASCSIM_PHYSICAL", "3,7"), ("ASCSIM_FAULT", "kernel#1:flip")];
    let said = verify(libraries.path(), &COMPUTE, &variables);
    let name = "NPU 7 (0000:c8:00.0, SN SIM000007, device 1):";
    assert!(said.title(0).contains(name), "{}", said.title(0));
    // The suggested command contains the number of the card.
    let wrong = [variables[0], ("ASCSIM_FAULT", "aclrtMemcpyAsync#1:flip")];
    let said = verify(libraries.path(), &["--rung", "memory"], &wrong);
    let run = &said.report["findings"][0]["fix"][0]["run"];
    assert_eq!(run, "npu-smi info -t ecc -i 1");
}

/// The available functions depend on the version: each older one uses another method.
#[test]
fn older_versions_match_by_other_ways() {
    let by_user = ["aclrtGetPhyDevIdByUserDevId"];
    let pci = ["aclrtDeviceGetPCIBusId"];
    let logic = ["aclrtGetLogicDevIdByUserDevId", "aclrtGetPhyDevIdByLogicDevId"];
    let list = [("ASCSIM_DEVICES", "8"), ("ASCEND_RT_VISIBLE_DEVICES", "5,6")];
    for (hidden, dcmi, physical, address) in [
        (vec![], false, Some(5), true),
        (pci.to_vec(), false, Some(5), false),
        ([&pci[..], &by_user].concat(), false, Some(5), false),
        ([&pci[..], &by_user].concat(), true, Some(5), true),
        // Nothing from the runtime: the list identifies the device of the driver, and DCMI the
        // card.
        ([&pci[..], &by_user, &logic].concat(), true, Some(5), true),
        ([&pci[..], &by_user, &logic].concat(), false, None, false),
    ] {
        let mut libraries = Installation::old();
        if dcmi {
            libraries = libraries.with_dcmi();
        }
        libraries.hide_in_copy("libascendcl.so", &hidden);
        let faulty = [list[0], list[1], ("ASCSIM_FAULT", "kernel#0:flip")];
        let said = verify(libraries.path(), &COMPUTE, &faulty);
        let card = &said.report["identities"][0];
        assert_eq!(card["physical"].as_i64(), physical, "{hidden:?} {dcmi}");
        assert_eq!(card["pci"].is_string(), address, "{hidden:?} {dcmi}: {card}");
        let named = if physical.is_some() { "NPU 5" } else { "device 0:" };
        assert!(said.title(0).contains(named), "{hidden:?} {dcmi}: {}", said.title(0));
        assert!(!said.title(0).contains("NPU 0"), "{}", said.title(0));
        // Missing values are reported.
        let gaps = card["unmatched"].as_array().unwrap();
        let notes = said.report["notes"].to_string();
        assert_eq!(gaps.is_empty(), !notes.contains("not found:"), "{card} {notes}");
    }
}

/// The state of the cards is listed with the results, and a counter that rose has a stage.
#[test]
fn counters_are_named_with_their_stage() {
    let libraries = Installation::rtc().with_dcmi();
    let state = Installation::empty();
    let place = state.path().to_str().unwrap();
    let variables = [("ASCSIM_DEVICES", "2"), ("ASCSIM_STATE", place)];
    let said = verify(libraries.path(), &["--rung", "memory,compute"], &variables);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert_eq!(verdict(&said, "VERIFY-HEALTH"), "passed");
    let samples = said.report["health"].as_array().unwrap();
    assert!(samples.len() >= 4, "before and after, for both cards: {samples:?}");
    assert_eq!(samples[1]["temperature_c"], 41);
    assert_eq!(samples[1]["power_w"], 90.1);
    // One stage takes long enough for readings during it.
    for (function, stage) in [("aclrtMemcpyAsync", "memory"), ("kernel", "compute")] {
        let fault =
            format!("{function}@2#1:ecc=3;{function}@1#1:sleep=900;{function}@3#1:sleep=900");
        let faulty = [&variables[..], &[("ASCSIM_FAULT", fault.as_str())]].concat();
        let rungs = format!("memory,{stage}");
        let said = verify(libraries.path(), &["--rung", &rungs], &faulty);
        assert_eq!((said.status, said.found()), (Some(0), vec!["VERIFY-HEALTH single".to_owned()]));
        let title = said.title(0);
        assert!(title.contains("NPU 1 (0000:c2:00.0, SN SIM000001):"), "{title}");
        assert!(title.contains(&format!("(ECC) during {stage}")), "{title}");
    }
    // A driver that refuses queries leaves gaps, and one that crashes ends no test.
    let refused = [&variables[..], &[("ASCSIM_DCMI", "temperature,label,pci,ecc")]].concat();
    let said = verify(libraries.path(), &["--rung", "memory"], &refused);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert!(said.report["health"][0]["temperature_c"].is_null());
    for fault in ["dcmi_init:ret=-8005", "dcmi_init:segv", "dcmi_get_card_list:hang"] {
        let broken = [&variables[..], &[("ASCSIM_FAULT", fault)]].concat();
        let said = verify(libraries.path(), &["--rung", "memory"], &broken);
        assert_eq!((said.status, said.found()), (Some(0), vec![]), "{fault}");
        assert!(said.report["notes"].to_string().contains("health was not read"), "{fault}");
    }
}

/// The coverage of cores follows from the numbers that the runtime reports.
#[test]
fn coverage_is_stated() {
    for (soc, cube, vector) in
        [("Ascend910B3", "20", "40"), ("Ascend950PR_9589", "32", "64"), ("Ascend910B1", "24", "48")]
    {
        let variables =
            [("ASCSIM_SOC", soc), ("ASCSIM_CUBE_CORES", cube), ("ASCSIM_CORES", vector)];
        let args = ["--rung", "compute,kernel", "--dtype", "fp16"];
        let said = verify(RTC.path(), &args, &variables);
        assert_eq!((said.status, said.found()), (Some(0), vec![]), "{soc}");
        let covered = said.told("devices", 0, "coverage");
        let blocks = |cores: &str, seen: bool| {
            let own = covered.iter().filter(|one| one["cores"] == cores && one["seen"] == seen);
            own.filter_map(|one| one["blocks"].as_u64()).max().unwrap()
        };
        assert!(blocks("cube", false) >= cube.parse().unwrap(), "{soc}: {covered:?}");
        assert!(blocks("vector", false) >= vector.parse().unwrap(), "{soc}: {covered:?}");
        assert_eq!(blocks("vector", true), vector.parse::<u64>().unwrap(), "{soc}");
    }
    // Without the number of cores, the work is enough for every known chip.
    let libraries = Installation::old();
    libraries.hide_in_copy("libascendcl.so", &["aclGetDeviceCapability", "aclrtGetDeviceInfo"]);
    let said = verify(libraries.path(), &["--rung", "compute", "--dtype", "fp16"], &[]);
    let covered = said.told("devices", 0, "coverage");
    assert!(covered.iter().all(|one| one["blocks"].as_u64() >= Some(36)), "{covered:?}");
}

/// Without DCMI, npu-smi is used: its table and its counters.
#[test]
fn npu_smi_tells_the_health_without_dcmi() {
    let bin = Installation::empty();
    let place = bin.path().to_str().unwrap();
    let table = include_str!("../../support/npu_smi_910b.txt");
    // The counter of card 1 rises once the tests have begun, after the first reading.
    let script = format!(
        "#!/bin/sh\nif [ \"$2\" = -t ]; then\n\
         echo \"HBM Single Bit Error Count : $(wc -l < {place}/asked)\"\n\
         [ \"$5\" = 1 ] && echo >> {place}/asked\n\
         echo 'HBM Double Bit Error Count : 0'\nexit\nfi\ncat <<'END'\n{table}\nEND\n"
    );
    let write = |text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        bin.write("asked", b"");
        bin.write("npu-smi", text.as_bytes());
        let path = bin.path().join("npu-smi");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    write(&script);
    let path = format!("{place}:/usr/bin:/bin");
    let variables = [("PATH", path.as_str()), ("ASCSIM_DEVICES", "2")];
    let said = verify(RTC.path(), &["--rung", "memory"], &variables);
    assert_eq!((said.status, said.found()), (Some(0), vec!["VERIFY-HEALTH single".to_owned()]));
    assert!(said.report.to_string().contains("npu-smi info -t ecc"));
    let sample = &said.report["health"][0];
    assert!(sample["power_w"].as_f64() > Some(1.0) && sample["temperature_c"].is_i64(), "{sample}");
    // Constant counters give no finding.
    write(&script.replace("echo >>", "true ||"));
    let said = verify(RTC.path(), &["--rung", "memory"], &variables);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert_eq!(verdict(&said, "VERIFY-HEALTH"), "passed");
    // Nor does a failing npu-smi.
    write("#!/bin/sh\necho 'dcmi module initialize failed. ret is -8005'\nexit 1\n");
    let said = verify(RTC.path(), &["--rung", "memory"], &variables);
    assert_eq!((said.status, said.found()), (Some(0), vec![]));
    assert!(said.report["notes"].to_string().contains("health was not read"));
}
