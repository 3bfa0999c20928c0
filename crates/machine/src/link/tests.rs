//! Tests the search order of `ld.so(8)` on trees of invented libraries, and compares it with the
//! real linker.
#![expect(clippy::disallowed_methods, reason = "the tests build the trees that are examined")]

use std::path::Path;

use super::*;
use crate::elf_writer::ElfBuilder;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(env: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".env.json"), env).unwrap();
        Self(dir)
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn lib(&self, path: &str, builder: &ElfBuilder) {
        self.put(path, builder.build());
    }

    fn root(&self) -> Sysroot {
        Sysroot::tree(self.0.path()).unwrap()
    }
}

fn arm() -> ElfBuilder {
    ElfBuilder::aarch64()
}

/// Name, path and origin of every member except the object itself.
fn loaded(closure: &Closure) -> Vec<String> {
    closure
        .members
        .iter()
        .skip(1)
        .map(|member| format!("{} {} {}", member.name, member.found.path, member.found.via))
        .collect()
}

#[test]
fn the_order_is_rpath_env_runpath_conf_default() {
    let tree = Tree::new(r#"{"LD_LIBRARY_PATH": "/env"}"#);
    tree.put("/etc/ld.so.conf", "/conf\n");
    let everywhere = ["/r", "/env", "/conf", "/usr/lib64"];
    for dir in everywhere {
        tree.lib(&format!("{dir}/libx.so"), &arm());
    }
    tree.lib("/app/rpath.so", &arm().rpath("/r").needed(["libx.so"]));
    tree.lib("/app/runpath.so", &arm().rpath("/r").runpath("/r").needed(["libx.so"]));
    tree.lib("/app/only_run.so", &arm().runpath("/run").needed(["liby.so"]));
    tree.lib("/run/liby.so", &arm());
    tree.lib("/conf/liby.so", &arm());
    let root = tree.root();
    let loader = Loader::new(&root, 183, Vec::new());
    let of = |path| loaded(&loader.closure(path).unwrap());
    assert_eq!(of("/app/rpath.so"), ["libx.so /r/libx.so rpath"]);
    assert_eq!(of("/app/runpath.so"), ["libx.so /env/libx.so LD_LIBRARY_PATH"]);
    assert_eq!(of("/app/only_run.so"), ["liby.so /run/liby.so runpath"]);
    std::fs::remove_file(tree.0.path().join("env/libx.so")).unwrap();
    std::fs::remove_file(tree.0.path().join("r/libx.so")).unwrap();
    let loader = Loader::new(&root, 183, Vec::new());
    let of = |path| loaded(&loader.closure(path).unwrap());
    assert_eq!(of("/app/rpath.so"), ["libx.so /conf/libx.so ld.so.conf"]);
    std::fs::remove_file(tree.0.path().join("conf/libx.so")).unwrap();
    let loader = Loader::new(&root, 183, Vec::new());
    let of = |path| loaded(&loader.closure(path).unwrap());
    assert_eq!(of("/app/rpath.so"), ["libx.so /usr/lib64/libx.so default"]);
}

#[test]
fn rpath_is_inherited_and_runpath_is_not() {
    let tree = Tree::new("{}");
    tree.lib("/a/top.so", &arm().rpath("$ORIGIN/lib").needed(["mid.so"]));
    tree.lib("/a/lib/mid.so", &arm().needed(["leaf.so"]));
    tree.lib("/a/lib/leaf.so", &arm());
    tree.lib("/b/top.so", &arm().runpath("$ORIGIN/lib").needed(["mid.so"]));
    tree.lib("/b/lib/mid.so", &arm().needed(["leaf.so"]));
    tree.lib("/b/lib/leaf.so", &arm());
    let root = tree.root();
    let loader = Loader::new(&root, 183, Vec::new());
    assert!(loader.closure("/a/top.so").unwrap().missing.is_empty());
    let closure = loader.closure("/b/top.so").unwrap();
    assert_eq!(closure.missing[0].name, "leaf.so");
    assert_eq!(closure.missing[0].needed_by, "/b/lib/mid.so");
}

#[test]
fn foreign_files_are_passed_over_and_broken_ones_are_not() {
    let tree = Tree::new(r#"{"LD_LIBRARY_PATH": "/one:/two"}"#);
    tree.lib("/one/libx.so", &ElfBuilder::x86_64());
    tree.lib("/two/libx.so", &arm());
    tree.put("/one/libz.so", b"\x7fELF");
    tree.lib("/two/libz.so", &arm());
    tree.lib("/one/libq.so", &ElfBuilder::x86_64());
    tree.lib("/app/a.so", &arm().needed(["libx.so", "libz.so", "libq.so"]));
    let root = tree.root();
    let loader = Loader::new(&root, 183, Vec::new());
    let closure = loader.closure("/app/a.so").unwrap();
    assert_eq!(closure.get("libx.so").unwrap().found.path, "/two/libx.so");
    let broken = closure.get("libz.so").unwrap();
    assert!(matches!(broken.defect(), Some(ElfDefect::Truncated { .. })));
    assert_eq!(closure.missing[0].skipped, ["/one/libq.so"]);
}

#[test]
fn what_is_loaded_is_found_by_soname() {
    let tree = Tree::new("{}");
    tree.lib("/torch/lib/libc10.so", &arm().soname("libc10.so").needed(["libgomp-1234.so.1"]));
    tree.lib("/torch.libs/libgomp-1234.so.1", &arm());
    tree.lib("/torch/_C.so", &arm().rpath("/torch/lib:/torch.libs").needed(["libc10.so"]));
    tree.lib("/npu/_C.so", &arm().needed(["libc10.so", "libother.so"]));
    let root = tree.root();
    let mut loader = Loader::new(&root, 183, Vec::new());
    loader.preload("/torch/_C.so").unwrap();
    let closure = loader.closure("/npu/_C.so").unwrap();
    assert_eq!(closure.members.len(), 3);
    assert_eq!(closure.missing.len(), 1);
}

#[test]
fn circles_of_dependencies_end() {
    let tree = Tree::new(r#"{"LD_LIBRARY_PATH": "/l"}"#);
    tree.lib("/l/a.so", &arm().needed(["b.so"]));
    tree.lib("/l/b.so", &arm().needed(["a.so", "b.so"]));
    let root = tree.root();
    let loader = Loader::new(&root, 183, Vec::new());
    assert_eq!(loader.closure("/l/a.so").unwrap().members.len(), 2);
}

/// The real linker finds the same files for real programs.
#[test]
#[cfg(target_env = "gnu")]
fn agrees_with_the_real_linker() {
    // The test binary exists on every machine.
    let own = std::env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let programs = [own, "/bin/bash", "/usr/bin/python3", "/usr/bin/gdb", "/usr/bin/git"];
    let mut compared = 0;
    for program in programs.into_iter().filter(|path| Path::new(path).exists()) {
        let output = std::process::Command::new("ldd").arg(program).output();
        let output = output.expect("cannot start ldd");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let root = Sysroot::live();
        let machine = crate::elf::machine_code(std::env::consts::ARCH).unwrap();
        let loader = Loader::new(&root, machine, Vec::new());
        let closure = loader.closure(program).unwrap();
        for line in text.lines().filter(|line| line.contains(" => /")) {
            let mut words = line.split_whitespace();
            let (name, path) = (words.next().unwrap(), words.nth(1).unwrap());
            let ours = &closure.get(name).unwrap_or_else(|| panic!("{program}: {name}")).found;
            assert_eq!(ours.real, root.real(path).unwrap(), "{program}: {name}");
            compared += 1;
        }
        assert!(closure.missing.is_empty(), "{program}: {:?}", closure.missing);
    }
    assert!(compared > 0, "ldd lists no library of {own}");
}
