#![expect(clippy::disallowed_methods, reason = "builds trees on disk")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;
use crate::facts::{CannInstall, Facts};

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn link(root: &Path, path: &str, target: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

/// An installation as CANN up to 8.3 lays it out, `latest` included.
fn old_layout(root: &Path, base: &str, version: &str) {
    let dir = format!("{base}/ascend-toolkit/{version}");
    let info = format!("package_name=Ascend-cann-toolkit\nversion={version}\narch=aarch64\n");
    write(root, &format!("{dir}/aarch64-linux/ascend_toolkit_install.info"), &info);
    for part in ["compiler", "runtime", "opp", "toolkit", "hccl"] {
        let text = format!("Version=7.7.0.1.238\nversion_dir={version}\n");
        write(root, &format!("{dir}/{part}/version.info"), &text);
        link(
            root,
            &format!("{base}/ascend-toolkit/latest/{part}"),
            &format!("../{version}/{part}"),
        );
    }
    write(root, &format!("{dir}/aarch64-linux/lib64/libascendcl.so"), "");
    link(root, &format!("{dir}/lib64"), "aarch64-linux/lib64");
    link(root, &format!("{dir}/ops"), "opp");
    let latest = format!("{base}/ascend-toolkit/latest");
    write(root, &format!("{latest}/version.cfg"), "# version: 1.0\n");
    link(
        root,
        &format!("{latest}/aarch64-linux/lib64/libascendcl.so"),
        &format!("../../../{version}/aarch64-linux/lib64/libascendcl.so"),
    );
    link(root, &format!("{latest}/lib64"), "aarch64-linux/lib64");
    write(root, &format!("{base}/ascend-toolkit/set_env.sh"), "");
}

/// As CANN from 8.5 on.
fn new_layout(root: &Path, base: &str, version: &str) {
    let dir = format!("{base}/cann-{version}");
    let info = format!("package_name=Ascend-cann-toolkit\nversion={version}\narch=aarch64\n");
    write(root, &format!("{dir}/aarch64-linux/ascend_toolkit_install.info"), &info);
    let ops = format!("package_name=Ascend-cann-910b-ops\nversion={version}\n");
    write(root, &format!("{dir}/aarch64-linux/ascend_ops_install.info"), &ops);
    write(root, &format!("{dir}/share/info/runtime/version.info"), "Version=8.5.0.2.220\n");
    write(root, &format!("{dir}/opp/version.info"), "Version=8.5.0.2.220\nversion_dir=8.5.0\n");
    write(
        root,
        &format!("{dir}/{}/ascend910b/add/x.o", "opp/built-in/op_impl/ai_core/tbe/kernel"),
        "",
    );
    write(root, &format!("{dir}/lib64/libascendcl.so"), "");
    write(root, &format!("{dir}/set_env.sh"), "");
    link(root, &format!("{base}/cann"), &format!("cann-{version}"));
    link(root, &format!("{base}/ascend-toolkit/latest"), &format!("../cann-{version}"));
}

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
    assert_eq!(install.components.len(), 5, "{:?}", install.components.keys());
    assert!(install.libraries["libascendcl.so"].is_some());
    assert!(install.libraries["libhccl.so"].is_none());
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
    assert_eq!(
        only(&facts(dir.path(), &[])).version_source,
        "/usr/local/Ascend/cann-8.5.0/opp/version.info"
    );
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
