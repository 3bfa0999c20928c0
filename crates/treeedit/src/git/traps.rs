//! Repositories whose configuration starts a program. Each trap must fire with plain git and must
//! not fire in our queries, with every git of the machine: those in the `PATH`, in the usual
//! directories, and those that `ASCEND_DOCTOR_GITS` lists (see `scripts/build_old_git.sh`).

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::*;

/// A repository that starts a program.
struct Trap {
    name: &'static str,
    /// Settings; `RUN` is the program that leaves a mark.
    settings: &'static [(&'static str, &'static str)],
    /// Files, below the work tree.
    files: &'static [(&'static str, &'static str)],
    /// Commands of plain git that fire it.
    fire: &'static [&'static [&'static str]],
}

const FILTERED: &[(&str, &str)] = &[(".gitattributes", "*.py filter=evil\n")];
const CHANGED: &[(&str, &str)] = &[(".gitattributes", "*.py filter=evil\n"), ("a.py", "changed\n")];
const COMPARED: &[(&str, &str)] = &[(".gitattributes", "*.py diff=evil\n"), ("a.py", "changed\n")];
const COMMIT: &[&str] =
    &["-c", "user.name=n", "-c", "user.email=e@x", "commit", "--allow-empty", "-m", "x"];

const TRAPS: &[Trap] = &[
    Trap {
        name: "core.fsmonitor",
        settings: &[("core.fsmonitor", "RUN")],
        files: &[],
        fire: &[&["status"]],
    },
    Trap {
        name: "include.path",
        settings: &[("include.path", "../included")],
        files: &[("included", "[core]\n\tfsmonitor = \"RUN\"\n")],
        fire: &[&["status"]],
    },
    Trap {
        name: "includeIf",
        settings: &[("includeIf.gitdir:/.path", "../included")],
        files: &[("included", "[core]\n\tfsmonitor = \"RUN\"\n")],
        fire: &[&["status"]],
    },
    Trap {
        name: "filter.clean",
        settings: &[("filter.evil.clean", "RUN"), ("filter.evil.required", "true")],
        files: CHANGED,
        fire: &[&["status"], &["add", "a.py"]],
    },
    Trap {
        name: "filter.smudge",
        settings: &[("filter.evil.smudge", "RUN")],
        files: FILTERED,
        fire: &[&["rm", "-q", "--cached", "a.py"], &["checkout", "-f", "HEAD", "--", "a.py"]],
    },
    Trap {
        name: "filter.process",
        settings: &[("filter.evil.process", "RUN")],
        files: CHANGED,
        fire: &[&["status"], &["add", "a.py"]],
    },
    Trap {
        name: "core.hooksPath",
        settings: &[("core.hooksPath", "hooks")],
        files: &[("hooks/pre-commit", "#!/bin/sh\nRUN\n")],
        fire: &[COMMIT],
    },
    Trap {
        name: "hooks",
        settings: &[],
        files: &[
            (".git/hooks/post-index-change", "#!/bin/sh\nRUN\n"),
            (".git/hooks/pre-commit", "#!/bin/sh\nRUN\n"),
        ],
        fire: &[&["add", "a.py"], COMMIT],
    },
    Trap {
        name: "diff.external",
        settings: &[("diff.external", "RUN")],
        files: &[("a.py", "changed\n")],
        fire: &[&["diff"]],
    },
    Trap {
        name: "diff.textconv",
        settings: &[("diff.evil.textconv", "RUN")],
        files: COMPARED,
        fire: &[&["diff"]],
    },
    Trap {
        name: "diff.command",
        settings: &[("diff.evil.command", "RUN")],
        files: COMPARED,
        fire: &[&["diff"]],
    },
    Trap {
        name: "core.sshCommand",
        settings: &[("core.sshCommand", "RUN")],
        files: &[],
        fire: &[&["fetch", "ssh://localhost/none"]],
    },
    Trap {
        name: "core.editor",
        settings: &[("core.editor", "RUN")],
        files: &[],
        fire: &[&["-c", "user.name=n", "-c", "user.email=e@x", "commit", "--allow-empty"]],
    },
    Trap {
        name: "credential.helper",
        settings: &[("credential.helper", "!RUN")],
        files: &[],
        fire: &[&["credential", "fill"]],
    },
    Trap {
        name: "core.askPass",
        settings: &[("core.askPass", "RUN")],
        files: &[],
        fire: &[&["credential", "fill"]],
    },
    Trap {
        name: "alias",
        settings: &[("alias.st", "!RUN"), ("alias.status", "!RUN")],
        files: &[],
        fire: &[&["st"]],
    },
    Trap {
        name: "gpg.program",
        settings: &[("gpg.program", "RUN"), ("commit.gpgSign", "true")],
        files: &[],
        fire: &[COMMIT],
    },
    Trap {
        name: "remote.uploadpack",
        settings: &[("remote.evil.url", "."), ("remote.evil.uploadpack", "RUN")],
        files: &[],
        fire: &[&["fetch", "evil"]],
    },
    Trap {
        name: "ext protocol",
        settings: &[("protocol.ext.allow", "always"), ("remote.evil.url", "ext::RUN")],
        files: &[],
        fire: &[&["fetch", "evil"]],
    },
    Trap {
        name: "core.gitProxy",
        settings: &[("core.gitProxy", "RUN")],
        files: &[],
        fire: &[&["fetch", "git://localhost/none"]],
    },
];

/// All programs called git that can be found, by version.
fn gits() -> BTreeMap<String, PathBuf> {
    let more = std::env::var_os("ASCEND_DOCTOR_GITS").unwrap_or_default();
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/bin", "/usr/local/bin", "/opt/git/bin"].map(PathBuf::from);
    let dirs = std::env::split_paths(&dirs).chain(usual).map(|dir| dir.join("git"));
    let found = std::env::split_paths(&more).chain(dirs).filter(|git| git.is_file());
    found
        .filter_map(|git| {
            let output = Command::new(&git).arg("--version").output().ok()?;
            Some((String::from_utf8(output.stdout).ok()?.trim().to_owned(), git))
        })
        .collect()
}

fn plain(git: &Path, top: &Path, args: &[&str]) -> bool {
    let mut command = Command::new(git);
    // A pipe as input, which `credential fill` reads.
    command.arg("-C").arg(top).args(args).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.env_remove("GIT_ASKPASS").env_remove("SSH_ASKPASS").env_remove("GIT_EDITOR");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", top).env("GIT_TERMINAL_PROMPT", "0");
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let _ = std::io::Write::write_all(&mut input, b"protocol=https\nhost=localhost\n\n");
    drop(input);
    child.wait().unwrap().success()
}

/// A repository with two committed files, and next to it a program that leaves a mark.
fn repository(git: &Path) -> (tempfile::TempDir, PathBuf, PathBuf, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (top, program, mark) = (base.join("top"), base.join("run"), base.join("mark"));
    std::fs::create_dir(&top).unwrap();
    let script = format!("#!/bin/sh\necho fired >>'{}'\n", mark.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(top.join("d")).unwrap();
    for name in ["a.py", "b.py", "d/c.py"] {
        std::fs::write(top.join(name), "1\n").unwrap();
    }
    assert!(plain(git, &top, &["init", "-q"]));
    assert!(plain(git, &top, &["add", "."]));
    assert!(plain(git, &top, COMMIT));
    (dir, top, program, mark)
}

fn lay(trap: &Trap, git: &Path, top: &Path, program: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let program = program.to_str().unwrap();
    for (name, content) in trap.files {
        let path = top.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content.replace("RUN", program)).unwrap();
        if content.starts_with("#!") {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    for (name, value) in trap.settings {
        assert!(plain(git, top, &["config", name, &value.replace("RUN", program)]), "{name}");
    }
}

#[test]
fn no_trap_of_a_repository_fires() {
    let gits = gits();
    assert!(!gits.is_empty(), "git is not installed");
    let mut silent: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (version, git) in &gits {
        for trap in TRAPS {
            let (_dir, top, program, mark) = repository(git);
            lay(trap, git, &top, &program);
            let said = changed_by(git, &top, Duration::from_mins(1));
            assert!(!mark.exists(), "{version}: {} fired", trap.name);
            let changed: Vec<PathBuf> = said.unwrap_or_else(|why| {
                panic!("{version}: {}: {}", trap.name, why.en);
            });
            let is_changed = trap.files.iter().any(|(name, _)| *name == "a.py");
            assert_eq!(changed.contains(&top.join("a.py")), is_changed, "{version}: {}", trap.name);
            for command in trap.fire {
                plain(git, &top, command);
            }
            if !mark.exists() {
                silent.entry(trap.name).or_default().push(version);
            }
        }
    }
    println!("{} traps with {:?}; did not fire: {silent:?}", TRAPS.len(), gits.keys());
    // A trap that fires with no git would prove nothing.
    for (name, versions) in silent {
        assert!(versions.len() < gits.len(), "{name} fires with no version of git");
    }
}

/// A partial clone fetches missing objects from the location in its configuration, possibly with a
/// program.
#[test]
fn a_partial_clone_fetches_nothing() {
    let mut fired = Vec::new();
    let gits = gits();
    for (version, git) in &gits {
        let (_dir, top, program, mark) = repository(git);
        let program = program.to_str().unwrap();
        for (name, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "evil"),
            ("remote.evil.promisor", "true"),
            ("remote.evil.url", &format!("ext::{program}")),
            ("protocol.ext.allow", "always"),
        ] {
            assert!(plain(git, &top, &["config", name, value]));
        }
        // The tree of the last commit is missing, and the index does not have it either.
        std::fs::write(top.join("a.py"), "staged\n").unwrap();
        assert!(plain(git, &top, &["add", "a.py"]));
        let tree =
            Command::new(git).arg("-C").arg(&top).args(["rev-parse", "HEAD^{tree}"]).output();
        let tree = String::from_utf8(tree.unwrap().stdout).unwrap();
        let (first, rest) = tree.trim().split_at(2);
        std::fs::remove_file(top.join(".git/objects").join(first).join(rest)).unwrap();
        let said = changed_by(git, &top, Duration::from_mins(1));
        assert!(said.is_err() && !mark.exists(), "{version}: {said:?}");
        plain(git, &top, &["status"]);
        if mark.exists() {
            fired.push(version);
        }
    }
    println!("a partial clone runs its program with {fired:?} of {:?}", gits.keys());
    assert!(!fired.is_empty(), "the trap fires with no version of git");
}

/// The index, the branch and the objects may belong to another user, and the directory may be any.
#[test]
fn a_forged_directory_of_git_runs_nothing() {
    for (version, git) in gits() {
        for (head, forged) in [("ref: ../../outside\n", true), ("ref: refs/heads/none\n", false)] {
            let (_dir, top, _, mark) = repository(&git);
            std::fs::write(top.join(".git/HEAD"), head).unwrap();
            let said = changed_by(&git, &top, Duration::from_mins(1));
            assert_eq!(said.is_err(), forged, "{version} {head} {said:?}");
            assert!(!mark.exists());
        }
        let (dir, top, _, _) = repository(&git);
        let empty = dir.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        std::fs::write(empty.join(".git"), "gitdir: /etc\n").unwrap();
        assert!(changed_by(&git, &empty, Duration::from_mins(1)).is_err());
        std::fs::write(empty.join(".git"), format!("gitdir: {}/.git\n", top.display())).unwrap();
        let gone = changed_by(&git, &empty, Duration::from_mins(1)).unwrap();
        assert_eq!(gone.len(), 3, "{version}");
    }
}
