#![expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]
use std::fs;
use std::path::Path;

use super::fixture::{link, new_layout, old_layout, write};
use super::*;
use facts::{CannInstall, Facts};

fn facts(root: &Path, env: &[(&str, &str)]) -> Facts {
    let map: std::collections::BTreeMap<_, _> = env.iter().copied().collect();
    write(root, ".env.json", &serde_json::to_string(&map).unwrap());
    let sysroot = Sysroot::tree(root).unwrap();
    let mut facts = Facts::default();
    collect(&sysroot, &mut facts);
    facts.problems = sysroot.problems();
    facts
}

fn only(facts: &Facts) -> &CannInstall {
    assert_eq!(facts.cann.installs.len(), 1, "{:?}", facts.cann.installs);
    &facts.cann.installs[0]
}

#[test]
fn an_old_layout_is_one_installation() {
    let dir = tempfile::tempdir().unwrap();
    old_layout(dir.path(), "/usr/local/Ascend", "8.1.RC1");
    let latest = "/usr/local/Ascend/ascend-toolkit/latest";
    let facts = facts(
        dir.path(),
        &[
            ("ASCEND_HOME_PATH", latest),
            ("ASCEND_OPP_PATH", &format!("{latest}/opp")),
            ("LD_LIBRARY_PATH", &format!("{latest}/lib64:/usr/local/Ascend/driver/lib64:")),
        ],
    );
    let install = only(&facts);
    assert_eq!(install.path, "/usr/local/Ascend/ascend-toolkit/8.1.RC1");
    assert_eq!(install.version.as_deref(), Some("8.1.RC1"));
    assert_eq!((install.kind.as_str(), install.arch.as_deref()), ("toolkit", Some("aarch64")));
    assert_eq!(install.components.len(), 6, "{:?}", install.components.keys());
    assert!(install.libraries["libascendcl.so"].is_some());
    assert!(install.libraries["libhccl.so"].is_some());
    assert_eq!(install.set_env.as_deref(), Some("/usr/local/Ascend/ascend-toolkit/set_env.sh"));
    let of_cann = facts.cann.env_paths.iter().filter(|path| !path.entry.contains("driver"));
    for path in of_cann {
        assert_eq!(path.root.as_deref(), Some(install.path.as_str()), "{path:?}");
    }
    assert_eq!(facts.cann.selected(), Some(install));
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
}

#[test]
fn a_new_layout_is_one_installation() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), "/usr/local/Ascend", "8.5.0");
    let facts = facts(
        dir.path(),
        &[
            ("ASCEND_HOME_PATH", "/usr/local/Ascend/cann-8.5.0"),
            ("ASCEND_TOOLKIT_LATEST_HOME", "/usr/local/Ascend/ascend-toolkit/latest"),
        ],
    );
    let install = only(&facts);
    assert_eq!(install.path, "/usr/local/Ascend/cann-8.5.0");
    assert_eq!(install.kernel_socs, ["ascend910b"]);
    assert_eq!(install.ops.len(), 1);
    assert!(install.components.contains_key("runtime") && install.components.contains_key("opp"));
    let links: Vec<_> = facts.cann.links.iter().map(|link| link.path.as_str()).collect();
    assert_eq!(links, ["/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann"]);
    assert!(facts.cann.env_paths.iter().all(|path| path.root.as_ref() == Some(&install.path)));
}

#[test]
fn installations_elsewhere_are_found_by_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), "/opt/huawei", "8.5.0");
    let path = "/usr/bin:/opt/huawei/cann-8.5.0/lib64";
    let facts = facts(dir.path(), &[("LD_LIBRARY_PATH", path)]);
    assert_eq!(only(&facts).path, "/opt/huawei/cann-8.5.0");
    assert_eq!(facts.cann.env_paths.len(), 1);
}

#[test]
fn dangling_links_and_loops_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    link(dir.path(), "/usr/local/Ascend/ascend-toolkit/latest", "../cann-8.5.0");
    link(dir.path(), "/usr/local/Ascend/cann", "cann");
    let facts = facts(dir.path(), &[("ASCEND_HOME_PATH", "/usr/local/Ascend/cann-8.5.0")]);
    assert!(facts.cann.installs.is_empty());
    assert_eq!(facts.cann.links.len(), 2);
    assert!(facts.cann.links.iter().all(|link| link.real.is_none()));
    assert_eq!(facts.cann.env_paths[0].real, None);
}

#[test]
fn a_version_is_read_from_the_next_source() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), "/usr/local/Ascend", "8.5.0");
    let root = dir.path().join("usr/local/Ascend/cann-8.5.0");
    fs::remove_file(root.join("aarch64-linux/ascend_toolkit_install.info")).unwrap();
    let read = facts(dir.path(), &[]);
    let source = "/usr/local/Ascend/cann-8.5.0/share/info/runtime/version.info";
    assert_eq!(only(&read).version_source, source);
    fs::remove_dir_all(root.join("share/info")).unwrap();
    fs::remove_file(root.join("opp/version.info")).unwrap();
    let facts = facts(dir.path(), &[]);
    assert_eq!(only(&facts).version.as_deref(), Some("8.5.0"));
    assert_eq!(only(&facts).version_source, "/usr/local/Ascend/cann-8.5.0");
}

#[test]
fn directories_that_the_process_may_not_pass_are_named() {
    let dir = tempfile::tempdir().unwrap();
    new_layout(dir.path(), "/usr/local/Ascend", "8.5.0");
    let meta = r#"{"/usr/local/Ascend/cann-8.5.0": {"mode": "0750", "uid": 0, "gid": 0}}"#;
    write(dir.path(), ".rootmeta.json", meta);
    write(dir.path(), ".process.json", r#"{"uid": 1000, "gid": 1000, "caps": "none"}"#);
    let facts = facts(dir.path(), &[]);
    assert_eq!(only(&facts).unreadable, ["/usr/local/Ascend/cann-8.5.0"]);
}
