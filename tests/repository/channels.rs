//! The files that other tools read match the output of scripts/package.py.
#![expect(clippy::disallowed_methods, reason = "runs Python")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::process::Command;

use super::workspace::{home, manifest, text};

/// The targets and archive names of scripts/package.py.
fn archives(version: &str) -> Vec<(String, String)> {
    let code = "import package, sys\n\
                for target in package.TARGETS:\n    print(target.triple, target.archive(sys.argv[1]))";
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", home().join("scripts")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.args(["-c", code, version]).output().expect("cannot start python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let pairs = lines.lines().map(|line| line.split_once(' ').unwrap());
    pairs.map(|(triple, name)| (triple.to_owned(), name.to_owned())).collect()
}

/// Fills a template of `cargo binstall`.
fn fill(template: &str, triple: &str, version: &str) -> String {
    let (arch, libc) = (triple.split('-').next().unwrap(), triple.rsplit('-').next().unwrap());
    let values = [
        ("{ repo }", "REPO"),
        ("{ name }", "ascend-doctor"),
        ("{ bin }", "ascend-doctor"),
        ("{ version }", version),
        ("{ target-arch }", arch),
        ("{ target-libc }", libc),
    ];
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
}

#[test]
fn binstall_finds_the_archives() {
    let version = env!("CARGO_PKG_VERSION");
    let metadata = manifest(".")["package"]["metadata"]["binstall"].clone();
    let of = |key: &str| metadata[key].as_str().unwrap();
    assert_eq!(of("pkg-fmt"), "tgz");
    let archives = archives(version);
    assert_eq!(archives.len(), 4);
    for (triple, name) in archives {
        let url = fill(of("pkg-url"), &triple, version);
        assert_eq!(url, format!("REPO/releases/download/v{version}/{name}.tar.gz"));
        assert_eq!(fill(of("bin-dir"), &triple, version), format!("{name}/ascend-doctor"));
    }
}

/// A release changes one version, and these files contain it.
#[test]
fn files_of_other_tools_name_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    for (path, line) in [
        ("CITATION.cff", format!("version: {version}")),
        ("deploy/kubernetes/kustomization.yaml", format!("newTag: {version}")),
        (
            "deploy/kubernetes/daemonset.yaml",
            format!("registry.example.org/ascend-doctor:{version}"),
        ),
        ("deploy/kubernetes/job.yaml", format!("registry.example.org/ascend-doctor:{version}")),
        ("docs/gate.md", format!("OWNER/ascend-doctor@v{version}")),
    ] {
        assert!(text(path).contains(&line), "{path} does not contain `{line}`");
    }
}
