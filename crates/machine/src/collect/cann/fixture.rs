//! Healthy installations on disk, for tests that remove parts of them.
#![expect(clippy::disallowed_methods, reason = "builds trees on disk")]
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "only tests call it")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::install::LIBRARIES;

/// Writes a file below `root`, with its directories.
pub fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a symbolic link below `root`.
pub fn link(root: &Path, path: &str, target: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

/// Removes a file or directory below `root`.
pub fn remove(root: &Path, path: &str) {
    let path = root.join(path.trim_start_matches('/'));
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

fn content(root: &Path, dir: &str, soc: &str) {
    for library in LIBRARIES.iter().chain(&["libruntime.so"]) {
        write(root, &format!("{dir}/aarch64-linux/lib64/{library}"), "\u{7f}ELF");
    }
    link(root, &format!("{dir}/lib64"), "aarch64-linux/lib64");
    for module in ["te", "tbe"] {
        write(root, &format!("{dir}/python/site-packages/{module}/__init__.py"), "");
    }
    let kernels = "opp/built-in/op_impl/ai_core/tbe/kernel";
    write(root, &format!("{dir}/{kernels}/{soc}/add/add.o"), "");
    write(root, &format!("{dir}/bin/bishengir"), "");
}

/// Creates an installation with the layout of CANN up to 8.3, including `latest`.
pub fn old_layout(root: &Path, base: &str, version: &str) {
    let dir = format!("{base}/ascend-toolkit/{version}");
    let info = format!("package_name=Ascend-cann-toolkit\nversion={version}\narch=aarch64\n");
    write(root, &format!("{dir}/aarch64-linux/ascend_toolkit_install.info"), &info);
    content(root, &dir, "ascend910b");
    let latest = format!("{base}/ascend-toolkit/latest");
    for part in ["compiler", "runtime", "opp", "toolkit", "hccl", "opp_kernel"] {
        let text = format!(
            "Version=7.7.0.1.238\nversion_dir={version}\nrequired_package_runtime_version=\"7.7\"\n\
             required_package_opp_kernel_version=\">=7.6, <=7.7\"\n"
        );
        write(root, &format!("{dir}/{part}/version.info"), &text);
        write(root, &format!("{dir}/{part}/ascend_install.info"), "USERNAME=root\n");
        link(root, &format!("{latest}/{part}"), &format!("../{version}/{part}"));
    }
    link(root, &format!("{dir}/ops"), "opp");
    write(root, &format!("{latest}/version.cfg"), "# version: 1.0\n");
    for library in LIBRARIES.iter().chain(&["libruntime.so"]) {
        link(
            root,
            &format!("{latest}/aarch64-linux/lib64/{library}"),
            &format!("../../../{version}/aarch64-linux/lib64/{library}"),
        );
    }
    link(root, &format!("{latest}/lib64"), "aarch64-linux/lib64");
    for part in ["python", "bin"] {
        link(root, &format!("{latest}/{part}"), &format!("../{version}/{part}"));
    }
    write(root, &format!("{base}/ascend-toolkit/set_env.sh"), "");
}

/// Creates an installation with the layout of CANN 8.5 and later.
pub fn new_layout(root: &Path, base: &str, version: &str) {
    let dir = format!("{base}/cann-{version}");
    let info = format!("package_name=Ascend-cann-toolkit\nversion={version}\narch=aarch64\n");
    write(root, &format!("{dir}/aarch64-linux/ascend_toolkit_install.info"), &info);
    let ops = format!("package_name=Ascend-cann-910b-ops\nversion={version}\n");
    write(root, &format!("{dir}/aarch64-linux/ascend_ops_install.info"), &ops);
    content(root, &dir, "ascend910b");
    for part in ["runtime", "ge-executor"] {
        let text = format!("Version={version}\nversion_dir={version}\n");
        let text = format!("{text}required_package_runtime_version=\">=8.5\"\n");
        write(root, &format!("{dir}/share/info/{part}/version.info"), &text);
    }
    write(root, &format!("{dir}/opp/version.info"), "Version=8.5.0.2.220\nversion_dir=8.5.0\n");
    write(root, &format!("{dir}/set_env.sh"), "");
    link(root, &format!("{base}/cann"), &format!("cann-{version}"));
    link(root, &format!("{base}/ascend-toolkit/latest"), &format!("../cann-{version}"));
}

/// The variables that `set_env.sh` of this root sets.
pub fn variables(home: &str) -> Vec<(&'static str, String)> {
    vec![
        ("ASCEND_HOME_PATH", home.to_owned()),
        ("ASCEND_TOOLKIT_HOME", home.to_owned()),
        ("ASCEND_OPP_PATH", format!("{home}/opp")),
        ("ASCEND_AICPU_PATH", home.to_owned()),
        ("TOOLCHAIN_HOME", format!("{home}/toolkit")),
        ("LD_LIBRARY_PATH", format!("{home}/lib64:{home}/lib64/plugin/opskernel:")),
        (
            "PYTHONPATH",
            format!("{home}/python/site-packages:{home}/opp/built-in/op_impl/ai_core/tbe:"),
        ),
        ("PATH", format!("{home}/bin:/usr/bin")),
    ]
}
