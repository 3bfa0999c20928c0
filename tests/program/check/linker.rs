//! The search for libraries on complete machines according to the facts: the file found, and the
//! rule that found it.

use serde_json::{Value, json};

use super::contract::run;
use crate::support::elf::ElfBuilder;
use crate::support::machine::Spec;
use crate::support::tree::Tree;

/// The object in `torch_npu` that needs the library.
const ASKER: &str = "torch_npu/lib/libasker.so";
const NAME: &str = "libprobe.so";

fn arm() -> ElfBuilder {
    ElfBuilder::aarch64()
}

/// A healthy machine with an additional library in `torch_npu`; returns its directory.
fn machine(asker: &ElfBuilder) -> (Tree, String) {
    let mut tree = Spec::default().build();
    let path = format!("{}/{ASKER}", tree.places["site"]);
    tree.file(&path, asker.build());
    tree.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
    tree.file("/etc/ld.so.conf.d/z.conf", "/from/conf\n");
    tree.prepend_env("LD_LIBRARY_PATH", &["/from/env".to_owned()]);
    let dir = path.rsplit_once('/').unwrap().0.to_owned();
    (tree, dir)
}

fn facts(tree: &Tree) -> Value {
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    let root = dir.path().to_str().unwrap();
    let (code, text, errors) = run(&["check", "--sysroot", root, "--facts-only"]);
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&text).unwrap()
}

/// `path by rule` of the library that the object needs.
fn found(tree: &Tree) -> String {
    let facts = facts(tree);
    let asker = format!("{}/{ASKER}", tree.places["site"]);
    let found = &facts["link"]["loads"][&asker][NAME];
    match found["path"].as_str() {
        Some(path) => format!("{path} by {}", found["via"].as_str().unwrap()),
        None => "nowhere".to_owned(),
    }
}

/// The same name in every location: each one is used when the earlier ones are gone.
#[test]
fn rpath_environment_conf_default() {
    let (mut tree, dir) = machine(&arm().rpath("$ORIGIN/near").needed([NAME]));
    let places = [
        (format!("{dir}/near"), "rpath"),
        ("/from/env".to_owned(), "LD_LIBRARY_PATH"),
        ("/from/conf".to_owned(), "ld.so.conf"),
        ("/lib".to_owned(), "default"),
    ];
    // `/lib` is a link, as on most machines.
    let file = |place: &str| match place {
        "/lib" => format!("/usr/lib/{NAME}"),
        place => format!("{place}/{NAME}"),
    };
    for (place, _) in &places {
        tree.file(&file(place), arm().build());
    }
    for (place, rule) in &places {
        assert_eq!(found(&tree), format!("{place}/{NAME} by {rule}"));
        tree.remove(&file(place));
    }
    assert_eq!(found(&tree), "nowhere");
}

#[test]
fn a_runpath_comes_after_the_environment_and_puts_rpath_out() {
    let (mut tree, dir) =
        machine(&arm().rpath("$ORIGIN/near").runpath("${ORIGIN}/run").needed([NAME]));
    let places = [
        ("/from/env".to_owned(), "LD_LIBRARY_PATH"),
        (format!("{dir}/run"), "runpath"),
        ("/from/conf".to_owned(), "ld.so.conf"),
    ];
    tree.file(&format!("{dir}/near/{NAME}"), arm().build());
    for (place, _) in &places {
        tree.file(&format!("{place}/{NAME}"), arm().build());
    }
    for (place, rule) in &places {
        assert_eq!(found(&tree), format!("{place}/{NAME} by {rule}"));
        tree.remove(&format!("{place}/{NAME}"));
    }
    assert_eq!(found(&tree), "nowhere", "the RPATH does not count");
}

#[test]
fn words_in_a_search_path() {
    let (mut tree, _) = machine(&arm().rpath("/w/$LIB:/p/$PLATFORM").needed([NAME]));
    tree.file(&format!("/p/aarch64/{NAME}"), arm().build());
    assert_eq!(found(&tree), format!("/p/aarch64/{NAME} by rpath"));
    // The distribution of the default machine is Ubuntu.
    tree.file(&format!("/w/lib64/{NAME}"), arm().build());
    assert_eq!(found(&tree), format!("/p/aarch64/{NAME} by rpath"));
    tree.file(&format!("/w/lib/aarch64-linux-gnu/{NAME}"), arm().build());
    assert_eq!(found(&tree), format!("/w/lib/aarch64-linux-gnu/{NAME} by rpath"));
}

/// A library for another machine is skipped, whichever rule finds it.
#[test]
fn the_wrong_machine_is_passed_over() {
    let (mut tree, dir) = machine(&arm().rpath("$ORIGIN/near").needed([NAME]));
    tree.file(&format!("{dir}/near/{NAME}"), ElfBuilder::x86_64().build());
    tree.file(&format!("/from/env/{NAME}"), ElfBuilder::x86_64().build());
    tree.file(&format!("/from/conf/{NAME}"), arm().build());
    assert_eq!(found(&tree), format!("/from/conf/{NAME} by ld.so.conf"));
    tree.remove(&format!("/from/conf/{NAME}"));
    let facts = facts(&tree);
    let objects = facts["link"]["objects"].as_array().unwrap();
    let asker = objects.iter().find(|one| one["path"].as_str().unwrap().ends_with(ASKER)).unwrap();
    assert_eq!(asker["missing"][0]["name"], NAME);
    let skipped = [format!("{dir}/near/{NAME}"), format!("/from/env/{NAME}")];
    assert_eq!(asker["missing"][0]["skipped"], json!(skipped));
}

#[test]
fn what_is_loaded_already_answers_by_its_soname() {
    let (mut tree, dir) = machine(&arm().rpath("$ORIGIN/near").needed(["libother.so", NAME]));
    tree.file(&format!("{dir}/near/libother.so"), arm().soname(NAME).build());
    tree.file(&format!("{dir}/near/{NAME}"), arm().build());
    assert_eq!(found(&tree), format!("{dir}/near/libother.so by loaded"));
}

#[test]
fn preloaded_libraries_come_first() {
    let (mut tree, dir) = machine(&arm().rpath("$ORIGIN/near").needed([NAME]).undefined(["odd"]));
    tree.file(&format!("{dir}/near/{NAME}"), arm().build());
    let undefined = |tree: &Tree| {
        let facts = facts(tree);
        let objects = facts["link"]["objects"].as_array().unwrap().clone();
        let asker = objects.into_iter().find(|one| one["path"].as_str().unwrap().ends_with(ASKER));
        (asker.unwrap()["undefined_count"].clone(), facts["link"]["preload_refused"].clone())
    };
    assert_eq!(undefined(&tree), (json!(1), json!([])), "nobody defines it");
    tree.file("/pre/libfirst.so", arm().soname(NAME).define(["odd"]).build());
    tree.set_env("LD_PRELOAD", "/pre/libmissing.so /pre/libfirst.so");
    assert_eq!(undefined(&tree), (json!(0), json!(["/pre/libmissing.so"])));
    assert_eq!(found(&tree), "/pre/libfirst.so by loaded");
}

/// On x86_64 with a known processor, and with an unknown one.
#[test]
fn subdirectories_for_the_processor() {
    const V3: &str = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm \
                      movbe xsave";
    let x86 = ElfBuilder::x86_64;
    let mut tree = Spec { arch: "x86_64".to_owned(), ..Spec::default() }.build();
    let path = format!("{}/{ASKER}", tree.places["site"]);
    tree.file(&path, x86().needed([NAME]).build());
    tree.prepend_env("LD_LIBRARY_PATH", &["/one".to_owned(), "/two".to_owned()]);
    for dir in ["/one/glibc-hwcaps/x86-64-v3", "/one/glibc-hwcaps/x86-64-v4", "/two"] {
        tree.file(&format!("{dir}/{NAME}"), x86().build());
    }
    assert_eq!(found(&tree), format!("/two/{NAME} by LD_LIBRARY_PATH"), "unknown: the plain one");
    let mut known = tree.clone();
    known.file("/proc/cpuinfo", format!("vendor_id\t: AuthenticAMD\nflags\t\t: {V3}\n"));
    let v3 = format!("/one/glibc-hwcaps/x86-64-v3/{NAME} by LD_LIBRARY_PATH");
    assert_eq!(found(&known), v3);
    tree.remove(&format!("/two/{NAME}"));
    assert_eq!(found(&tree), v3, "it lies only there");
}
