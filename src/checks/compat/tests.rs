use data::{Outcome, RawFinding};
use std::collections::BTreeMap;

use super::*;
use crate::Profile;
use facts::{InfoFile, Interpreter};

/// The facts of a machine with one CANN, one driver and some packages, without files.
fn machine(cann: &str, driver: &str, packages: &[(&str, &str)]) -> Facts {
    let mut facts = Facts::default();
    facts.host.arch = Some("aarch64".to_owned());
    if !cann.is_empty() {
        facts.cann.installs.push(CannInstall {
            path: format!("/usr/local/Ascend/cann-{cann}"),
            kind: "toolkit".to_owned(),
            version: Some(cann.to_owned()),
            ..CannInstall::default()
        });
    }
    if !driver.is_empty() {
        facts.driver.version = Some(InfoFile {
            path: "/usr/local/Ascend/driver/version.info".to_owned(),
            fields: BTreeMap::from([("Version".to_owned(), driver.to_owned())]),
            ..InfoFile::default()
        });
    }
    facts.python.interpreter = Some(Interpreter {
        path: "/usr/bin/python3".to_owned(),
        version: Some("3.11.9".to_owned()),
        ..Interpreter::default()
    });
    for (name, version) in packages {
        facts.python.dists.push(Dist {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            path: format!("/site/{name}-{version}.dist-info"),
            ..Dist::default()
        });
    }
    facts
}

fn run(id: &str, facts: &Facts) -> Outcome {
    let check = CHECKS.iter().find(|check| check.id.as_str() == id).unwrap();
    (check.run)(&Context::of(facts, Profile::General))
}

fn found(id: &str, facts: &Facts) -> Vec<RawFinding> {
    match run(id, facts) {
        Outcome::Found(found) | Outcome::FoundInPart(found, _) => {
            for one in &found {
                // Every placeholder of the texts has a value.
                let finding = data::Catalog::builtin().resolve(one.clone());
                for text in [&finding.title, &finding.cause] {
                    let left = base::text::placeholders(&text.en);
                    assert!(left.is_empty(), "{id} {}: {left:?}", one.message);
                }
                for step in &finding.fix {
                    let run = step.run.as_deref().unwrap_or_default();
                    let left: Vec<_> = [&step.text.en, run]
                        .iter()
                        .flat_map(|text| base::text::placeholders(text))
                        .collect();
                    assert!(left.is_empty(), "{id} {}: {left:?}", one.message);
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

fn messages(id: &str, facts: &Facts) -> Vec<(&'static str, Severity)> {
    found(id, facts).iter().map(|found| (found.message, found.severity)).collect()
}

#[test]
fn accepted_pairs_pass() {
    for (npu, cann) in [
        ("2.9.0", "8.5.0"),
        ("2.9.0", "8.5.2"),
        ("2.9.0", "8.3.RC1"),
        ("2.7.1", "8.3.RC2"),
        ("2.7.1.dev20250724", "8.2.RC1"),
        ("2.10.0", "9.0.0-beta.1"),
        ("2.7.1.post8", "9.1.0"),
    ] {
        assert_eq!(run("TNPU-MATRIX", &machine(cann, "", &[("torch-npu", npu)])), Outcome::Passed);
    }
}

#[test]
fn a_cann_below_the_window_is_an_error_with_a_remedy() {
    let facts = machine("8.3.RC1", "", &[("torch-npu", "2.7.1.post8")]);
    let found = found("TNPU-MATRIX", &facts);
    assert_eq!((found[0].message, found[0].severity), ("cann_too_old", Severity::Error));
    assert_eq!(found[0].args["other"], "2.7.1");
    assert_eq!(found[0].args["accepted"], "9.2.X, 9.1.X, 9.0.X, 8.5.X");
}

#[test]
fn gentle_verdicts_on_unusual_machines() {
    let cases = [
        ("2.6.0", "9.0.0", Some(("cann_too_new", Severity::Warning))),
        ("2.99.0", "9.1.0", Some(("newer", Severity::Info))),
        ("2.9.0", "9.3.0", Some(("newer_cann", Severity::Info))),
        ("2.7.1.post8+git123", "8.3.RC1", Some(("cann_too_old", Severity::Info))),
        ("2.7.1.post8", "8.3.RC1.alpha001", Some(("cann_too_old", Severity::Warning))),
        ("2.9.0rc1", "8.3.RC1", None),
    ];
    for (npu, cann, expected) in cases {
        let facts = machine(cann, "", &[("torch-npu", npu)]);
        let messages = messages("TNPU-MATRIX", &facts);
        assert_eq!(messages.first().copied(), expected, "{npu} on {cann}");
    }
    let unlisted = run("TNPU-MATRIX", &machine("8.3.RC1", "", &[("torch-npu", "2.9.0rc1")]));
    assert!(matches!(unlisted, Outcome::NotChecked(_)), "{unlisted:?}");
}

#[test]
fn drivers() {
    assert_eq!(run("DRV-CANN", &machine("8.5.1", "25.5.0", &[])), Outcome::Passed);
    assert_eq!(
        messages("DRV-CANN", &machine("9.0.0", "24.1.0", &[])),
        [("too_old", Severity::Error)]
    );
    assert_eq!(
        messages("DRV-CANN", &machine("9.1.0", "25.0.3", &[])),
        [("unverified", Severity::Warning)]
    );
    assert_eq!(
        messages("DRV-CANN", &machine("9.0.0-beta.1", "24.1.0", &[])),
        [("too_old", Severity::Warning)]
    );
    assert_eq!(
        messages("DRV-CANN", &machine("8.3.RC1", "27.0.0", &[])),
        [("newer_driver", Severity::Info)]
    );
}

#[test]
fn a_feature_that_the_driver_is_too_old_for() {
    let mut facts = machine("8.1.RC1", "24.1.0", &[]);
    facts.env.known = true;
    assert!(matches!(run("DRV-FEATURES", &facts), Outcome::NotApplicable(_)));
    let value = "expandable_segments:True, page_size:1g".to_owned();
    facts.env.vars.insert("PYTORCH_NPU_ALLOC_CONF".to_owned(), value);
    assert_eq!(messages("DRV-FEATURES", &facts), [("driver", Severity::Info)]);
    facts.driver.version.as_mut().unwrap().fields.insert("Version".into(), "25.0.rc1".into());
    assert_eq!(run("DRV-FEATURES", &facts), Outcome::Passed);
}

#[test]
fn vllm_pairs() {
    let on = |plugin, vllm| {
        messages("VLLM-PAIR", &machine("", "", &[("vllm-ascend", plugin), ("vllm", vllm)]))
    };
    assert_eq!(on("0.18.0", "0.18.0+empty"), []);
    assert_eq!(on("0.10.1rc1", "0.10.1.1"), []);
    assert_eq!(on("0.18.0", "0.17.0"), [("either", Severity::Error)]);
    assert_eq!(on("0.18.0", "0.18.7"), [("mismatch", Severity::Warning)]);
    assert_eq!(on("0.99.0", "0.1.0"), []);
    let facts = machine("", "", &[("vllm-ascend", "0.18.0"), ("vllm", "0.17.0")]);
    assert_eq!(found("VLLM-PAIR", &facts)[0].args["other"], "0.17.0rc1");
}

#[test]
fn the_stack_of_vllm_ascend() {
    let on = |cann, packages: &[(&str, &str)]| {
        let mut all = vec![("vllm-ascend", "0.18.0")];
        all.extend_from_slice(packages);
        if packages.iter().all(|(name, _)| *name != "triton-ascend") {
            all.push(("triton-ascend", "3.2.0"));
        }
        messages("VLLM-STACK", &machine(cann, "", &all))
    };
    assert_eq!(on("8.5.2", &[("torch-npu", "2.9.0"), ("triton-ascend", "3.2.0")]), []);
    let documented =
        [("torch-npu", "2.9.0.post1+git4c901a4"), ("triton-ascend", "3.2.0.dev20260322")];
    assert_eq!(on("8.5.1", &documented), []);
    assert_eq!(on("8.3.RC1", &[]), [("cann", Severity::Warning)]);
    assert_eq!(on("9.0.0", &[("torch-npu", "2.9.0")]), [("cann", Severity::Info)]);
    assert_eq!(on("9.0.0", &[("torch-npu", "2.6.0")])[0], ("cann", Severity::Warning));
    assert_eq!(on("8.5.1", &[("torch-npu", "2.9.0.post2")]), [("torch_npu", Severity::Info)]);
    assert_eq!(on("8.5.1", &[("torch-npu", "2.8.0")]), [("torch_npu", Severity::Error)]);
    assert_eq!(on("8.5.1", &[("torch-npu", "2.9.0rc1")]), [("torch_npu", Severity::Error)]);
    assert_eq!(on("8.5.1", &[("triton-ascend", "3.2.1")]), [("triton", Severity::Warning)]);
    let alone = machine("8.5.1", "", &[("vllm-ascend", "0.18.0")]);
    assert_eq!(messages("VLLM-STACK", &alone), [("no_triton", Severity::Warning)]);
    let mut old = machine("8.5.1", "", &[("vllm-ascend", "0.18.0"), ("triton-ascend", "3.2.0")]);
    old.python.interpreter.as_mut().unwrap().version = Some("3.12.1".to_owned());
    assert_eq!(messages("VLLM-STACK", &old), [("python", Severity::Warning)]);
}

#[test]
fn numpy_two() {
    let on = |cann, packages| messages("PY-NUMPY", &machine(cann, "", packages));
    assert_eq!(on("8.3.RC2", &[("numpy", "2.1.0")]), [("cann", Severity::Error)]);
    assert_eq!(on("8.5.0", &[("numpy", "2.1.0")]), [("cann", Severity::Warning)]);
    assert_eq!(on("9.0.0", &[("numpy", "2.1.0")]), []);
    assert_eq!(on("8.3.RC2", &[("numpy", "1.26.4")]), []);
    let both = on("9.0.0", &[("numpy", "2.1.0"), ("mindspore", "2.9.0")]);
    assert_eq!(both, [("mindspore", Severity::Warning)]);
}

#[test]
fn mindspore() {
    let mut facts = machine("8.1.RC1", "", &[("mindspore", "2.7.0")]);
    assert!(matches!(run("MS-CANN", &facts), Outcome::NotChecked(_)), "7.7 cannot be guessed");
    let compiler = |version: &str| InfoFile {
        path: "/c/version.info".to_owned(),
        fields: BTreeMap::from([("Version".to_owned(), version.to_owned())]),
        ..InfoFile::default()
    };
    facts.cann.installs[0].components.insert("compiler".to_owned(), compiler("7.7.0.1.238"));
    assert_eq!(run("MS-CANN", &facts), Outcome::Passed);
    facts.cann.installs[0].components.insert("compiler".to_owned(), compiler("8.3.0.1.200"));
    assert_eq!(messages("MS-CANN", &facts), [("not_listed", Severity::Warning)]);
    assert!(matches!(run("MS-CANN", &facts), Outcome::FoundInPart(..)));
    // MindSpore calls functions that an older CANN does not have.
    facts.cann.installs[0].components.insert("compiler".to_owned(), compiler("7.5.0.1.129"));
    assert_eq!(messages("MS-CANN", &facts), [("not_listed", Severity::Error)]);
    assert!(matches!(run("MS-CANN", &facts), Outcome::Found(_)));
    let other = machine("8.3.RC1", "", &[("mindspore", "2.4.10")]);
    assert_eq!(messages("MS-CANN", &other), [("other", Severity::Info)]);
}

/// The contents of `version.info` of a driver or a CANN.
fn info(fields: &[(&str, &str)]) -> InfoFile {
    let fields = fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    InfoFile {
        path: "/info/version.info".to_owned(),
        fields: fields.collect(),
        ..InfoFile::default()
    }
}

#[test]
fn driver_and_cann_say_themselves_what_they_accept() {
    let mut facts = machine("8.3.RC1", "27.0.0", &[]);
    let with = |facts: &mut Facts, list: &str| {
        facts.driver.version = Some(info(&[("Version", "27.0.0"), ("compatible_version", list)]));
        messages("DRV-CANN", facts)
    };
    assert_eq!(with(&mut facts, ""), [("newer_driver", Severity::Info)]);
    assert_eq!(with(&mut facts, "[V100R001C30]"), [("unverified", Severity::Warning)]);
    assert_eq!(with(&mut facts, "[V100R001C23]"), []);

    facts.driver.version = Some(info(&[("Innerversion", "V100R001C30SPC001B001")]));
    assert_eq!(messages("DRV-CANN", &facts), [("unverified", Severity::Warning)]);
    facts.cann.installs[0].info =
        Some(info(&[("compatible_version", "[V100R001C29],[V100R001C30]")]));
    assert_eq!(run("DRV-CANN", &facts), Outcome::Passed);
    facts.cann.installs[0].info = Some(info(&[("compatible_version", "")]));
    assert_eq!(messages("DRV-CANN", &facts), [("unverified", Severity::Warning)]);
    // No table contains this CANN, and its own list does not contain the driver.
    facts.cann.installs[0].version = Some("5.0.1".to_owned());
    facts.cann.installs[0].info = Some(info(&[("compatible_version", "[V100R001C29]")]));
    assert_eq!(messages("DRV-CANN", &facts), [("unlisted", Severity::Warning)]);
}

#[test]
fn a_driver_in_a_container_is_known_by_npu_smi_alone() {
    let mut facts = machine("9.0.0", "", &[]);
    assert!(matches!(run("DRV-CANN", &facts), Outcome::NotApplicable(_)));
    let smi = facts::NpuSmi { version: Some("24.1.0".to_owned()), ..Default::default() };
    facts.driver.npu_smi = Some(smi);
    assert_eq!(messages("DRV-CANN", &facts), [("too_old", Severity::Error)]);
}

#[test]
fn a_feature_that_other_chips_have_to_wait_for() {
    let on = |device: &str| {
        let mut facts = machine("8.1.RC1", "25.0.0", &[]);
        facts.env.known = true;
        let value = "pin_memory_expandable_segments:True".to_owned();
        facts.env.vars.insert("PYTORCH_NPU_ALLOC_CONF".to_owned(), value);
        facts.devices.pci = Some(vec![facts::PciFunction {
            address: "0000:01:00.0".to_owned(),
            device: format!("0x{device}"),
            subsystem_device: None,
            class: None,
            driver: None,
        }]);
        run("DRV-FEATURES", &facts)
    };
    assert!(matches!(on("d806"), Outcome::NotApplicable(_)), "the 950 has drivers of its own");
    for device in ["d802", "0000"] {
        let Outcome::Found(found) = on(device) else { panic!("{device}: {:?}", on(device)) };
        assert_eq!((found.len(), found[0].message), (1, "driver"));
        assert_eq!(found[0].args["needed"], "25.5.0");
    }
}

#[test]
fn a_feature_that_cann_is_too_old_for() {
    let mut facts = machine("8.0.0", "25.5.0", &[]);
    facts.env.known = true;
    let value = "page_size:1g".to_owned();
    facts.env.vars.insert("PYTORCH_NPU_ALLOC_CONF".to_owned(), value);
    assert_eq!(messages("DRV-FEATURES", &facts), [("cann", Severity::Info)]);
    facts.cann.installs[0].version = Some("8.1.RC1".to_owned());
    assert_eq!(run("DRV-FEATURES", &facts), Outcome::Passed);
    facts.env.known = false;
    assert!(matches!(run("DRV-FEATURES", &facts), Outcome::NotChecked(_)));
}

#[test]
fn the_compiler_of_a_newer_cann_has_its_number() {
    for (cann, known) in [("8.5.0", true), ("9.0.0", true), ("8.3.RC1", false)] {
        let facts = machine(cann, "", &[("mindspore", "2.7.0")]);
        let outcome = run("MS-CANN", &facts);
        assert_eq!(!matches!(outcome, Outcome::NotChecked(_)), known, "{cann}: {outcome:?}");
    }
}

#[test]
fn what_is_told_of_a_pair_of_vllm() {
    let of = |plugin, vllm| {
        found("VLLM-PAIR", &machine("", "", &[("vllm-ascend", plugin), ("vllm", vllm)]))
    };
    let plain = of("0.18.0", "0.17.0");
    assert_eq!(
        (plain[0].severity, plain[0].args["expected"].as_str()),
        (Severity::Error, "0.18.0")
    );
    assert_eq!(plain[0].args["python"], "/usr/bin/python3");
    assert_eq!(of("0.17.0rc1", "0.18.0")[0].args["other"], "0.18.0", "no candidate");
    // Local builds may contain changes of another release.
    assert_eq!(of("0.18.0", "0.17.0.dev3")[0].severity, Severity::Warning);
    assert_eq!(of("0.18.0+own", "0.17.0")[0].severity, Severity::Warning);
}

#[test]
fn builds_of_ones_own() {
    let own = |version: &str| is_development(&version.parse().unwrap());
    assert!(own("2.7.1.dev20250724") && own("2.7.1+git123"));
    assert!(!own("2.7.1") && !own("2.7.1rc1") && !own("2.7.1.post2"));
}
