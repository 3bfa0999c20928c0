#![expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]
use data::{Outcome, RawFinding, findings::cann_home};
use std::path::Path;

use super::*;
use crate::Profile;
use base::report::Severity;
use facts::{Dist, Facts, NodeOwner, PciFunction};
use machine::collect::cann::fixture::{link, new_layout, old_layout, remove, variables, write};
use machine::collect::{self, Options};
use machine::sysroot::Sysroot;

const BASE: &str = "/usr/local/Ascend";
const NEW: &str = "/usr/local/Ascend/cann-8.5.0";
const LATEST: &str = "/usr/local/Ascend/ascend-toolkit/latest";

/// The facts of a tree, on a machine with 910B cards and `torch_npu`.
fn facts(root: &Path, env: &[(&'static str, String)]) -> Facts {
    let map: std::collections::BTreeMap<_, _> = env.iter().cloned().collect();
    write(root, ".env.json", &serde_json::to_string(&map).unwrap());
    write(root, ".process.json", r#"{"uid": 0, "arch": "aarch64"}"#);
    let sysroot = Sysroot::tree(root).unwrap();
    let mut facts = collect::collect(&sysroot, &Options::default());
    facts.python.dists.push(Dist { name: "torch-npu".to_owned(), ..Dist::default() });
    facts.devices.pci = Some(vec![PciFunction {
        address: "0000:c1:00.0".to_owned(),
        device: "0xd802".to_owned(),
        subsystem_device: None,
        class: None,
        driver: None,
    }]);
    facts
}

fn findings(facts: &Facts, profile: Profile) -> Vec<RawFinding> {
    let ctx = Context::of(facts, profile);
    let found = CHECKS.iter().flat_map(|check| match (check.run)(&ctx) {
        Outcome::Found(found) => found,
        _ => Vec::new(),
    });
    found.collect()
}

fn keys(found: &[RawFinding]) -> Vec<(&'static str, &'static str, Severity)> {
    found.iter().map(|found| (found.id.as_str(), found.message, found.severity)).collect()
}

fn of(root: &Path, env: &[(&'static str, String)]) -> Vec<(&'static str, &'static str, Severity)> {
    keys(&findings(&facts(root, env), Profile::General))
}

#[test]
fn healthy_machines_have_no_findings() {
    for profile in [Profile::General, Profile::Inference, Profile::Train, Profile::MultiNode] {
        let dir = tempfile::tempdir().unwrap();
        old_layout(dir.path(), BASE, "8.1.RC1");
        assert_eq!(findings(&facts(dir.path(), &variables(LATEST)), profile), []);
        let dir = tempfile::tempdir().unwrap();
        new_layout(dir.path(), BASE, "8.5.0");
        assert_eq!(findings(&facts(dir.path(), &variables(NEW)), profile), []);
    }
}

#[test]
fn both_names_of_one_installation_are_no_mixture() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    let mut env = variables(NEW);
    for (_, value) in env.iter_mut().filter(|(name, _)| name.ends_with("PATH")) {
        if value.contains(':') {
            *value = format!("{value}{LATEST}/lib64");
        }
    }
    env.push(("ASCEND_TOOLKIT_LATEST_HOME", LATEST.to_owned()));
    assert_eq!(of(dir.path(), &env), []);
}

#[test]
fn several_installations_on_disk_are_fine() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), BASE, "8.1.RC1");
    new_layout(dir.path(), "/root", "8.5.0");
    assert_eq!(of(dir.path(), &variables(LATEST)), []);
}

#[test]
fn a_machine_without_anything_gets_no_findings() {
    let facts = Facts::default();
    assert_eq!(findings(&facts, Profile::General), []);
    assert_eq!(findings(&facts, Profile::Node), []);
    let found = findings(&facts, Profile::Inference);
    assert_eq!(keys(&found), [("CANN-FOUND", "required", Severity::Error)]);
}

#[test]
fn an_unset_environment_is_one_finding() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), BASE, "8.1.RC1");
    let found = findings(&facts(dir.path(), &[]), Profile::General);
    assert_eq!(keys(&found), [("CANN-ENV", "not_sourced", Severity::Error)]);
    assert_eq!(found[0].args["set_env"], "/usr/local/Ascend/ascend-toolkit/set_env.sh");
}

#[test]
fn a_node_has_no_shell_of_a_workload() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), BASE, "8.1.RC1");
    let facts = facts(dir.path(), &[]);
    let said = |profile| findings(&facts, profile).iter().any(|found| found.id == "CANN-ENV");
    assert!(said(Profile::Inference) && !said(Profile::Node));
}

#[test]
fn what_sudo_leaves_is_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    let env: Vec<_> =
        variables(NEW).into_iter().filter(|(name, _)| *name != "LD_LIBRARY_PATH").collect();
    let found = findings(&facts(dir.path(), &env), Profile::General);
    assert_eq!(keys(&found), [("CANN-ENV", "incomplete", Severity::Error)]);
    assert_eq!(found[0].args["lacking"], "LD_LIBRARY_PATH");
}

#[test]
fn an_unknown_environment_is_not_judged() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    let mut facts = facts(dir.path(), &[]);
    facts.env.known = false;
    assert_eq!(findings(&facts, Profile::General), []);
    let ctx = Context::of(&facts, Profile::General);
    for check in
        CHECKS.iter().filter(|c| ["CANN-ENV", "CANN-HOME", "CANN-MIXED"].contains(&c.id.as_str()))
    {
        assert!(matches!((check.run)(&ctx), Outcome::NotChecked(_)), "{}", check.id);
    }
}

#[test]
fn a_removed_home_is_the_root_cause() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    let env = variables("/usr/local/Ascend/ascend-toolkit/8.1.RC1");
    let found = findings(&facts(dir.path(), &env), Profile::General);
    let home = found.iter().find(|found| found.id == "CANN-HOME").unwrap();
    assert_eq!((home.message, home.severity), ("missing", Severity::Error));
    assert_eq!(home.args["root"], NEW);
    assert!(
        found.iter().all(|f| f.id == "CANN-HOME" || f.because.contains(&cann_home::ID)),
        "{found:?}"
    );
}

#[test]
fn two_versions_in_the_variables_are_a_conflict() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), BASE, "8.1.RC1");
    new_layout(dir.path(), "/opt/env/Ascend", "8.5.0");
    let mut env = variables(LATEST);
    for (_, value) in env.iter_mut().filter(|(name, _)| *name == "LD_LIBRARY_PATH") {
        *value = format!("/opt/env/Ascend/cann-8.5.0/lib64:{value}");
    }
    assert_eq!(of(dir.path(), &env), [("CANN-MIXED", "conflict", Severity::Error)]);
    for (_, value) in env.iter_mut().filter(|(name, _)| *name == "LD_LIBRARY_PATH") {
        *value = format!("{LATEST}/lib64:{value}");
    }
    assert_eq!(of(dir.path(), &env), [("CANN-MIXED", "leftover", Severity::Warning)]);
}

#[test]
fn dangling_links_are_found() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    remove(dir.path(), LATEST);
    link(dir.path(), LATEST, "../cann-8.3.0");
    assert_eq!(of(dir.path(), &variables(NEW)), [("CANN-LINKS", "dangling", Severity::Warning)]);
    let found = findings(&facts(dir.path(), &variables(LATEST)), Profile::General);
    assert_eq!((found[0].id.as_str(), found[0].message), ("CANN-LINKS", "dangling_used"));
    assert!(found[1..].iter().all(|f| !f.because.is_empty()), "{found:?}");
}

#[test]
fn an_interrupted_upgrade_shows_in_latest() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), BASE, "8.1.RC1");
    for part in ["opp", "runtime", "compiler"] {
        let path = format!("{BASE}/ascend-toolkit/8.0.0/{part}/version.info");
        write(dir.path(), &path, "Version=7.6.0.1.1\nversion_dir=8.0.0\n");
    }
    remove(dir.path(), &format!("{LATEST}/opp"));
    link(dir.path(), &format!("{LATEST}/opp"), "../8.0.0/opp");
    let found = findings(&facts(dir.path(), &variables(LATEST)), Profile::General);
    let links: Vec<_> = found.iter().filter(|found| found.id == "CANN-LINKS").collect();
    assert_eq!(links.len(), 1, "{found:?}");
    assert_eq!(links[0].args["path"], format!("{LATEST}/opp"));
}

/// Returns whether a finding or problem names the file.
fn is_named(facts: &Facts, path: &str) -> bool {
    let real = path.replace("/lib64/", "/aarch64-linux/lib64/");
    let same = |text: &str| text.contains(path) || text.contains(&real);
    findings(facts, Profile::General).iter().any(|found| {
        found.evidence.iter().any(|evidence| same(&evidence.source))
            || found.args.values().any(|v| same(v))
    }) || facts.problems.iter().any(|problem| same(&problem.path))
}

#[test]
fn every_deleted_file_is_named() {
    let files = [
        "aarch64-linux/lib64/libascendcl.so",
        "aarch64-linux/lib64/libhccl.so",
        "aarch64-linux/lib64/libge_runner.so",
        "aarch64-linux/lib64/libgraph.so",
        "aarch64-linux/lib64/libacl_op_compiler.so",
        "aarch64-linux/lib64/libacl_tdt_channel.so",
        "aarch64-linux/lib64/libascend_protobuf.so",
        "aarch64-linux/lib64/libfmk_parser.so",
        "opp/built-in/op_impl/ai_core/tbe/kernel/ascend910b",
        "set_env.sh",
    ];
    for file in files {
        let dir = tempfile::tempdir().unwrap();
        new_layout(dir.path(), BASE, "8.5.0");
        let path = format!("{NEW}/{file}");
        remove(dir.path(), &path);
        let facts = facts(dir.path(), &variables(NEW));
        let part = path.trim_end_matches("/ascend910b").replace("aarch64-linux/lib64", "lib64");
        assert!(is_named(&facts, &part), "{file}: {:?}", findings(&facts, Profile::General));
    }
    for part in ["compiler", "runtime", "opp", "toolkit", "hccl", "opp_kernel"] {
        let dir = tempfile::tempdir().unwrap();
        old_layout(dir.path(), BASE, "8.1.RC1");
        let path = format!("{BASE}/ascend-toolkit/8.1.RC1/{part}/version.info");
        remove(dir.path(), &path);
        assert!(is_named(&facts(dir.path(), &variables(LATEST)), &path), "{part}");
    }
}

#[test]
fn every_truncated_or_replaced_text_file_is_named() {
    let files = [
        ("aarch64-linux/ascend_toolkit_install.info", "version=8.3.RC1\narch=aarch64\n"),
        ("aarch64-linux/ascend_toolkit_install.info", "version=8.5.0\narch=x86_64\n"),
        ("aarch64-linux/ascend_toolkit_install.info", "package_name=Ascend-cann-toolkit\n"),
        ("aarch64-linux/ascend_toolkit_install.info", ""),
        ("aarch64-linux/ascend_ops_install.info", "package_name=x-ops\nversion=8.1.RC1\n"),
        ("aarch64-linux/ascend_ops_install.info", ""),
        ("share/info/runtime/version.info", "Version=8.1.0.0.1\n"),
        ("share/info/runtime/version.info", "version_dir=8.5.0\n"),
        ("share/info/runtime/version.info", ""),
        ("opp/version.info", "\u{0}\u{1}"),
    ];
    for (file, text) in files {
        let dir = tempfile::tempdir().unwrap();
        new_layout(dir.path(), BASE, "8.5.0");
        let path = format!("{NEW}/{file}");
        write(dir.path(), &path, text);
        let facts = facts(dir.path(), &variables(NEW));
        assert!(
            is_named(&facts, &path),
            "{file} {text:?}: {:?}",
            findings(&facts, Profile::General)
        );
    }
}

#[test]
fn the_odd_component_is_named() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), BASE, "8.1.RC1");
    let path = format!("{BASE}/ascend-toolkit/8.1.RC1/runtime/version.info");
    write(dir.path(), &path, "Version=7.6.0.1.1\nversion_dir=8.0.0\n");
    let found = findings(&facts(dir.path(), &variables(LATEST)), Profile::General);
    assert_eq!(keys(&found), [("CANN-COMPONENTS", "refused", Severity::Error)]);
    assert_eq!(found[0].args["component"], "runtime");
    assert_eq!(found[0].evidence[0].source, path);
}

#[test]
fn operators_for_another_chip_are_found() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    let mut facts = facts(dir.path(), &variables(NEW));
    facts.devices.pci.as_mut().unwrap()[0].device = "0xd500".to_owned();
    let found = findings(&facts, Profile::General);
    assert_eq!(keys(&found), [("CANN-OPS-CHIP", "wrong", Severity::Error)]);
    assert_eq!(found[0].args["name"], "310p");
    let install = &mut facts.cann.installs[0];
    install.kernel_socs.push("ascend310p".to_owned());
    assert_eq!(findings(&facts, Profile::General), []);
    facts.cann.installs[0].kernel_socs = vec!["ascend777".to_owned()];
    assert_eq!(findings(&facts, Profile::General), []);
}

#[test]
fn a_toolkit_alone_is_enough_to_build() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    remove(dir.path(), &format!("{NEW}/opp/built-in"));
    remove(dir.path(), &format!("{NEW}/aarch64-linux/ascend_ops_install.info"));
    let mut facts = facts(dir.path(), &variables(NEW));
    let found = findings(&facts, Profile::Inference);
    assert_eq!(keys(&found), [("CANN-OPS", "absent", Severity::Error)]);
    assert_eq!(found[0].args["chip"], "910b");
    assert_eq!(keys(&findings(&facts, Profile::Build)), [("CANN-OPS", "absent", Severity::Info)]);
    facts.python.dists.clear();
    assert_eq!(keys(&findings(&facts, Profile::General)), [("CANN-OPS", "absent", Severity::Info)]);
}

#[test]
fn a_home_of_another_user_is_found() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    write(dir.path(), ".rootmeta.json", r#"{"/usr/local/Ascend": {"mode": "0750", "uid": 1000}}"#);
    let mut facts = facts(dir.path(), &variables(NEW));
    facts.process.uid = Some(1001);
    facts.cann.installs[0].unreadable = vec![BASE.to_owned()];
    let found = findings(&facts, Profile::General);
    assert_eq!(keys(&found), [("CANN-OWNER", "unreadable", Severity::Error)]);
    facts.cann.installs[0].unreadable.clear();
    facts.cann.installs[0].owner = Some(NodeOwner { mode: 0o777, uid: 0, gid: 0 });
    let found = findings(&facts, Profile::General);
    assert_eq!(keys(&found), [("CANN-OWNER", "writable", Severity::Warning)]);
}

#[test]
fn a_missing_vendor_is_found() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), BASE, "8.5.0");
    let config = format!("{NEW}/opp/vendors/config.ini");
    write(dir.path(), &config, "load_priority=one,two\n");
    write(dir.path(), &format!("{NEW}/opp/vendors/one/x"), "");
    let found = findings(&facts(dir.path(), &variables(NEW)), Profile::General);
    assert_eq!(keys(&found), [("CANN-CUSTOMOPP", "vendor", Severity::Warning)]);
    assert_eq!(found[0].args["name"], "two");
}
