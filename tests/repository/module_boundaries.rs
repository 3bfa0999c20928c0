//! Which modules may pass the wall of `clippy.toml`: a new door is a decision, made here.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test, and reads the sources of this project"
)]

use std::path::Path;

/// The only modules whose program code may expect a lint of the wall.
const DOORS: [(&str, &str); 9] = [
    ("main.rs", "says on standard error why nothing could be done"),
    ("cmd/", "files that the user named, standard output, the choice of the examined machine"),
    ("audit/python/files.rs", "the user's own sources, and what they import"),
    ("convert/", "the user's own source files"),
    ("sysroot/", "the examined machine"),
    ("verify/cache.rs", "compiled kernels, in the cache directory of the user"),
    ("verify/child.rs", "the pipe to its parent"),
    ("verify/parent/", "this program itself, started as a child, and what it leaves behind"),
    ("verify/plog.rs", "a directory for the logs of children"),
];

/// The one module that may be unsafe: it calls libraries that are opened at run time.
const UNSAFE: &str = "verify/vendor/mod.rs";

/// The lints that are a wall.
const WALLS: [&str; 5] =
    ["disallowed_methods", "print_stdout", "print_stderr", "dbg_macro", "clippy::exit"];

#[test]
fn only_the_modules_with_doors_pass() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut doors = Vec::new();
    for entry in walkdir::WalkDir::new(&src).sort_by_file_name() {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(&src).unwrap().to_str().unwrap();
        if !path.ends_with(".rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        if opens_a_door(&text) && !is_test_module(&src, path) {
            doors.push(path.to_owned());
        }
    }
    assert!(doors.iter().any(|path| path == "sysroot/mod.rs"), "the test sees nothing: {doors:?}");
    doors.retain(|path| !DOORS.iter().any(|(door, _)| path.starts_with(door)));
    assert!(doors.is_empty(), "these have no door through the wall: {doors:?}");
}

#[test]
fn one_module_is_unsafe() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut exceptions = Vec::new();
    for entry in walkdir::WalkDir::new(&src).sort_by_file_name() {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(&src).unwrap().to_str().unwrap();
        if path.ends_with(".rs")
            && std::fs::read_to_string(entry.path()).unwrap().contains("unsafe_code")
        {
            exceptions.push(path.to_owned());
        }
    }
    assert_eq!(exceptions, [UNSAFE], "`unsafe` is denied by Cargo.toml, and excepted here alone");
}

/// Whether an `allow` or `expect` of a wall stands before the tests of a file.
fn opens_a_door(text: &str) -> bool {
    let program = text.split("#[cfg(test)]").next().unwrap_or_default();
    program.split('#').any(|part| {
        let part = part.trim_start_matches('!');
        let exception = part.starts_with("[allow(")
            || part.starts_with("[expect(")
            || part.starts_with("[warn(")
            || part.starts_with("[cfg_attr(");
        let attribute = part.split(']').next().unwrap_or_default();
        exception && (WALLS.iter().any(|wall| attribute.contains(wall)))
    })
}

/// Whether the parent compiles the module of this file for tests alone.
fn is_test_module(src: &Path, path: &str) -> bool {
    let path = Path::new(path);
    let name = path.file_stem().unwrap().to_str().unwrap();
    let dir = src.join(path.parent().unwrap());
    let parent = ["mod.rs", "lib.rs"].into_iter().find_map(|file| {
        let file = if file == "mod.rs" && !dir.join(file).is_file() {
            dir.with_extension("rs")
        } else {
            dir.join(file)
        };
        std::fs::read_to_string(file).ok()
    });
    parent.is_some_and(|text| {
        ["", "pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .any(|public| text.contains(&format!("#[cfg(test)]\n{public}mod {name};")))
    })
}

#[test]
fn an_exception_is_seen_however_it_is_written() {
    for door in [
        "#![expect(clippy::disallowed_methods, reason = \"r\")]",
        "#[expect(\n    clippy::too_long,\n    clippy::print_stdout,\n)]\nfn f() {}",
        "#[cfg_attr(unix, allow(clippy::disallowed_methods))]",
    ] {
        assert!(opens_a_door(door), "{door}");
    }
    assert!(!opens_a_door(
        "fn f() {}\n#[cfg(test)]\nmod tests {\n #![expect(clippy::print_stdout)]"
    ));
}
