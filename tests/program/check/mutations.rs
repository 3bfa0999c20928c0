//! A healthy machine with one file broken at a time: a finding has to name that file.

use std::path::Path;

use crate::support::machine::Spec;
use crate::support::scan::{Scan, scan};
use crate::support::tree::{Entry, Tree};

/// The changes of a file.
const WAYS: &[&str] = &["deleted", "halved", "emptied", "replaced"];

/// The relevant files, and the names that a finding may use for them: their path, or, if a finding
/// is about a package or an installation, one of these.
///
/// Omitted are files whose content no check depends on: the modules of other packages, `set_env.sh`
/// and programs (executed by others, never read), kernels and headers, `INSTALLER` and `REQUESTED`,
/// the C library's neighbors (libm, libpthread and the like, which export no version that torch_npu
/// requires), the second copy of ATB for the other ABI, and PCI attributes other than vendor,
/// device and class.
fn relevant(tree: &Tree) -> Vec<(String, Vec<String>)> {
    let site = &tree.places["site"];
    let cann = &tree.places["cann"];
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |path: String, names: &[&str]| {
        assert!(matches!(tree.entries.get(&path), Some(Entry::File(_))), "{path} is no file");
        let mut all: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        all.push(path.clone());
        files.push((path, all));
    };
    for path in tree.below(&format!("{site}/torch_npu")) {
        if tree.kind(path) == "file" {
            add(path.clone(), &[]);
        }
    }
    for name in ["METADATA", "RECORD", "WHEEL", "entry_points.txt"] {
        add(format!("{site}/torch_npu-2.7.1.dist-info/{name}"), &["torch_npu-2.7.1.dist-info"]);
    }
    for name in ["libc10.so", "libtorch.so", "libtorch_cpu.so", "libtorch_python.so"] {
        add(format!("{site}/torch/lib/{name}"), &[name]);
    }
    for name in [
        "libascendcl.so",
        "libhccl.so",
        "libge_runner.so",
        "libgraph.so",
        "libruntime.so",
        "libacl_op_compiler.so",
        "libacl_tdt_channel.so",
        "libascend_protobuf.so",
    ] {
        add(format!("{cann}/aarch64-linux/lib64/{name}"), &[name]);
    }
    add(format!("{cann}/aarch64-linux/ascend_toolkit_install.info"), &[cann]);
    add(format!("{cann}/aarch64-linux/ascend_kernels_910b_install.info"), &[]);
    let nnal = &tree.places["nnal"];
    add(format!("{nnal}/atb/cxx_abi_1/lib/libatb.so"), &["libatb.so"]);
    for name in ["lib64/driver/libascend_hal.so", "version.info"] {
        add(format!("/usr/local/Ascend/driver/{name}"), &["libascend_hal.so"]);
    }
    add("/etc/ascend_install.info".to_owned(), &[]);
    add("/etc/hccn.conf".to_owned(), &[]);
    add("/usr/local/Ascend/firmware/version.info".to_owned(), &[]);
    add("/usr/bin/python3.11".to_owned(), &["/root/venv"]);
    files
}

/// Mutations that leave a machine healthy, or that are undetectable.
fn harmless(path: &str, way: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    // Half of a line-based file may be a valid file with fewer lines.
    let lines = name.ends_with(".info") || name == "hccn.conf" || name == "METADATA";
    match (name, way) {
        // pip's own records, including RECORD: half of it lists half of the files, and the unlisted
        // ones are reported.
        _ if lines && way == "halved" => true,
        // Only machines that train together have it; the driver installs an empty one.
        ("hccn.conf", "deleted" | "emptied") => true,
        // The kernels themselves exist, and identify their chip.
        ("ascend_kernels_910b_install.info", "deleted") => true,
        // Without it, the driver's directory still provides its defaults; a container has none.
        ("ascend_install.info", "deleted") => true,
        // A machine whose firmware was delivered with its boards has no such package.
        ("version.info", "deleted") if path.contains("/firmware/") => true,
        // Python itself is not run, and an interpreter may be a wrapper script.
        ("python3.11", "halved" | "emptied" | "replaced") => true,
        _ => false,
    }
}

fn broken(bytes: &[u8], way: &str) -> Option<Vec<u8>> {
    match way {
        "deleted" => None,
        "halved" => Some(bytes[..bytes.len() / 2].to_vec()),
        "emptied" => Some(Vec::new()),
        _ => Some(b"\x00\xff garbage \x1b[31m, no line of it a field\n".repeat(3)),
    }
}

fn names(scan: &Scan, wanted: &[String]) -> bool {
    // Only findings and results, because the facts name every file.
    let said = format!("{}{}", scan.report["findings"], scan.report["checks"]);
    wanted.iter().any(|name| said.contains(name.as_str()))
}

#[test]
fn every_broken_file_is_named() {
    let tree = Spec::default().build();
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    let healthy = scan(dir.path(), &[]);
    assert_eq!(healthy.code, 0, "{}", healthy.lines());
    let (mut count, mut silent) = (0, Vec::new());
    for (path, wanted) in relevant(&tree) {
        let at = dir.path().join(path.trim_start_matches('/'));
        for way in WAYS.iter().filter(|way| !harmless(&path, way)) {
            let bytes = tree.bytes(&path);
            if bytes.is_empty() && *way != "deleted" && *way != "replaced" {
                continue;
            }
            put(&at, broken(bytes, way).as_deref());
            count += 1;
            let scan = scan(dir.path(), &[]);
            if !names(&scan, &wanted) {
                silent.push(format!("{way}: {path}\n{}", scan.lines()));
            }
            put(&at, Some(bytes));
        }
    }
    println!("{count} mutations, {} silent", silent.len());
    assert!(count >= 120, "{count} mutations only");
    assert!(silent.is_empty(), "{} of {count} are silent:\n{}", silent.len(), silent.join("\n"));
}

fn put(at: &Path, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => std::fs::write(at, bytes).unwrap(),
        None => std::fs::remove_file(at).unwrap(),
    }
}
