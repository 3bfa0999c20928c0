//! Modules that may do input and output, with the lints that forbid it elsewhere.
//!
//! `clippy.toml` lists the forbidden functions. A module that needs one has an `expect` with its
//! reason, and a row in [`CRATES`]: each new exception is reviewed here.
#![expect(clippy::disallowed_methods, reason = "reads the sources of this project")]
#![expect(clippy::unwrap_used, reason = "an unreadable source is a failure")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::workspace::{self, home};

/// A directory of sources, and its modules whose program code may expect a lint of [`LINTS`]: the
/// start of their path, and the resources that they access.
struct Sources {
    dir: &'static str,
    exceptions: &'static [(&'static str, &'static str)],
}

/// The sources of all crates of the program.
const CRATES: &[Sources] = &[
    Sources { dir: "crates/acl-abi/src", exceptions: &[] },
    Sources { dir: "crates/probe-numbers/src", exceptions: &[] },
    Sources { dir: "crates/line-filter/src", exceptions: &[] },
    Sources { dir: "crates/base/src", exceptions: &[] },
    Sources {
        dir: "crates/guard/src",
        exceptions: &[("", "writes, programs and threads: the layer that the others use")],
    },
    Sources {
        dir: "data/src",
        exceptions: &[("packed.rs", "the tables in the source tree, in debug builds")],
    },
    Sources { dir: "crates/facts/src", exceptions: &[] },
    Sources { dir: "crates/pasted/src", exceptions: &[] },
    Sources { dir: "crates/triage/src", exceptions: &[] },
    Sources { dir: "crates/rules/src", exceptions: &[] },
    Sources { dir: "crates/web/src", exceptions: &[] },
    Sources { dir: "src/explain", exceptions: &[] },
    Sources { dir: "crates/machine/src", exceptions: &[("sysroot/", "the examined machine")] },
    Sources { dir: "crates/pysyntax/src", exceptions: &[] },
    Sources {
        dir: "crates/treeedit/src",
        exceptions: &[("", "source files of the user: the whole crate reads and replaces them")],
    },
    Sources { dir: "src/errcodes", exceptions: &[] },
    Sources { dir: "src/checks", exceptions: &[] },
    Sources { dir: "crates/render/src", exceptions: &[] },
    Sources { dir: "crates/fleet/src", exceptions: &[] },
    Sources { dir: "src/convert", exceptions: &[("copy.rs", "the output directory of the user")] },
    Sources {
        dir: "crates/audit/src",
        exceptions: &[("python/files.rs", "source files of the user and their imports")],
    },
    Sources {
        dir: "crates/verify/src",
        exceptions: &[
            ("cache.rs", "compiled kernels, in the cache directory of the user"),
            ("child.rs", "the pipe to the parent process"),
            ("parent/", "child processes and their temporary files"),
            ("plog.rs", "the log directory of child processes"),
        ],
    },
    Sources {
        dir: "src",
        exceptions: &[
            ("main.rs", "standard error, for errors that end the run"),
            ("cmd/", "files named by the user, standard output, the choice of the machine"),
        ],
    },
];

/// Workspace members that are not part of the program: developer tools, simulated libraries, and
/// the attacker of tests.
const NO_PART: [&str; 4] = ["crates/refresh", "crates/xtask", "crates/race", "crates/simulator/"];

/// The modules that may be unsafe: one gives the functions that the offline page calls their names,
/// and has no unsafe block; the other calls libraries that are opened at run time.
const UNSAFE: [&str; 2] = ["crates/web/src/memory.rs", "crates/verify/src/vendor/mod.rs"];

/// The lints that enforce the boundaries.
const LINTS: [&str; 5] =
    ["disallowed_methods", "print_stdout", "print_stderr", "dbg_macro", "clippy::exit"];

/// Rust sources below a directory of [`CRATES`], without those of crates nested in it.
fn sources(dir: &str) -> Vec<PathBuf> {
    let nested = |path: &Path| {
        let path = path.strip_prefix(home()).unwrap();
        CRATES.iter().any(|other| other.dir != dir && path == Path::new(other.dir))
    };
    walkdir::WalkDir::new(home().join(dir))
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| !nested(entry.path()))
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn only_listed_modules_do_input_and_output() {
    let mut unlisted = Vec::new();
    let mut unused = Vec::new();
    for Sources { dir, exceptions } in CRATES {
        let root = home().join(dir);
        let files = sources(dir);
        assert!(!files.is_empty(), "{dir} has no sources");
        let mut used = BTreeSet::new();
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            if !expects_a_lint(&text) || is_test_module(&root, &path) {
                continue;
            }
            let relative = path.strip_prefix(&root).unwrap().to_str().unwrap();
            match exceptions.iter().find(|(start, _)| relative.starts_with(start)) {
                Some((start, _)) => _ = used.insert(*start),
                None => unlisted.push(format!("{dir}/{relative}")),
            }
        }
        let rows = exceptions.iter().filter(|(start, _)| !used.contains(start));
        unused.extend(rows.map(|(start, _)| format!("{dir}/{start}")));
    }
    assert!(unlisted.is_empty(), "these modules have no row in CRATES: {unlisted:?}");
    assert!(unused.is_empty(), "these rows of CRATES match no module: {unused:?}");
}

/// A package of a crate contains only the files below its manifest: `cargo install` of a crate that
/// includes another file fails.
#[test]
fn sources_include_files_of_their_crate_only() {
    let includes = regex::Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let mut outside = Vec::new();
    let mut count = 0;
    for Sources { dir, .. } in CRATES {
        let root = home().join(dir);
        let manifest = root.ancestors().find(|dir| dir.join("Cargo.toml").is_file()).unwrap();
        for path in sources(dir).into_iter().filter(|path| !is_test_module(&root, path)) {
            let text = std::fs::read_to_string(&path).unwrap();
            // Tests at the end of a module are not built from a package.
            let program = text.split("#[cfg(test)]").next().unwrap();
            for include in includes.captures_iter(program) {
                count += 1;
                let file = path.parent().unwrap().join(&include[1]).canonicalize().unwrap();
                if !file.starts_with(manifest.canonicalize().unwrap()) {
                    outside.push(format!("{}: {}", path.display(), &include[1]));
                }
            }
        }
    }
    assert!(count > 2, "{count}");
    assert!(outside.is_empty(), "{outside:#?}");
}

#[test]
fn two_modules_are_unsafe() {
    let files = CRATES.iter().flat_map(|sources_of| sources(sources_of.dir));
    let exceptions: Vec<String> = files
        .filter(|path| std::fs::read_to_string(path).unwrap().contains("unsafe_code"))
        .map(|path| path.strip_prefix(home()).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(exceptions, UNSAFE, "Cargo.toml denies `unsafe`; only {UNSAFE:?} may expect it");
    let names = std::fs::read_to_string(home().join(UNSAFE[0])).unwrap();
    assert!(!names.contains("unsafe {") && !names.contains("unsafe fn"), "{}", UNSAFE[0]);
}

/// A crate without the lints of the workspace would have no boundaries.
#[test]
fn every_crate_has_the_lints() {
    for member in workspace::members() {
        if NO_PART.iter().any(|start| member.starts_with(start)) {
            continue;
        }
        let listed = CRATES.iter().any(|sources_of| {
            sources_of.dir == member || sources_of.dir == format!("{member}/src")
        });
        assert!(listed, "{member} has no row in CRATES");
        let manifest = workspace::manifest(&member);
        let lints = manifest["lints"].as_table().unwrap();
        // Crates without input and output that forbid `unsafe` completely have separate lints.
        let forbids = |lints: &toml::Table| {
            lints.get("rust").and_then(|rust| rust.get("unsafe_code"))
                == Some(&toml::Value::String("forbid".to_owned()))
        };
        let inherited = lints.get("workspace") == Some(&toml::Value::Boolean(true));
        assert!(inherited || forbids(lints), "{member} does not inherit the workspace lints");
    }
}

/// Whether an `allow` or `expect` of a boundary lint precedes the tests of a file.
fn expects_a_lint(text: &str) -> bool {
    let program = text.split("#[cfg(test)]").next().unwrap_or_default();
    program.split('#').any(|part| {
        let part = part.trim_start_matches('!');
        let exception = part.starts_with("[allow(")
            || part.starts_with("[expect(")
            || part.starts_with("[warn(")
            || part.starts_with("[cfg_attr(");
        let attribute = part.split(']').next().unwrap_or_default();
        exception && (LINTS.iter().any(|lint| attribute.contains(lint)))
    })
}

/// Whether a file, or the directory of modules that contains it, is compiled only for tests.
fn is_test_module(root: &Path, path: &Path) -> bool {
    // Test programs of a crate whose sources are next to its manifest.
    if path.parent() == Some(&root.join("tests")) && root.join("Cargo.toml").is_file() {
        return true;
    }
    let is_mod = path.file_name().unwrap() == "mod.rs";
    let path = if is_mod { path.parent().unwrap() } else { path };
    if path == root {
        return false;
    }
    let name = path.file_stem().unwrap().to_str().unwrap();
    let dir = path.parent().unwrap();
    let parents = [dir.join("mod.rs"), dir.join("lib.rs"), dir.with_extension("rs")];
    let Some(parent) = parents.into_iter().find(|file| file.is_file()) else { return false };
    let text = std::fs::read_to_string(&parent).unwrap();
    let tested = |attributes: &str| {
        ["", "pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .any(|public| text.contains(&format!("{attributes}\n{public}mod {name};")))
    };
    tested("#[cfg(test)]")
        || tested("#[cfg(any(test, feature = \"fixtures\"))]")
        || (dir != root && is_test_module(root, &parent))
}

#[test]
fn exceptions_are_found_in_every_notation() {
    for exception in [
        "#![expect(clippy::disallowed_methods, reason = \"r\")]",
        "#[expect(\n    clippy::too_long,\n    clippy::print_stdout,\n)]\nfn f() {}",
        "#[cfg_attr(unix, allow(clippy::disallowed_methods))]",
    ] {
        assert!(expects_a_lint(exception), "{exception}");
    }
    assert!(!expects_a_lint(
        "fn f() {}\n#[cfg(test)]\nmod tests {\n #![expect(clippy::print_stdout)]"
    ));
}
