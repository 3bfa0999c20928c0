//! Tests with invented machines: libraries that are missing, and libraries that must not be
//! reported as missing.
#![expect(clippy::disallowed_methods, reason = "the tests build the trees that are examined")]

use std::path::Path;

use super::*;
use crate::elf_writer::ElfBuilder;
use facts::{CannInstall, ElfDefect, Interpreter, Nnal};

const SITE: &str = "/opt/py/lib/python3.11/site-packages";
const CANN: &str = "/usr/local/Ascend/cann-8.5.0";
const NNAL: &str = "/usr/local/Ascend/nnal/atb/8.5.0";

/// An aarch64 machine with torch, torch_npu, CANN, NNAL and the driver, and no system libraries.
struct Machine {
    dir: tempfile::TempDir,
    facts: Facts,
}

fn arm() -> ElfBuilder {
    ElfBuilder::aarch64()
}

impl Machine {
    fn new(library_path: Option<&str>) -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap(), facts: Facts::default() };
        if let Some(path) = library_path {
            let env = format!(r#"{{"LD_LIBRARY_PATH": "{path}"}}"#);
            std::fs::write(machine.dir.path().join(".env.json"), env).unwrap();
        }
        machine.stack()
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path.trim_start_matches('/'))
    }

    fn put(&self, path: &str, builder: &ElfBuilder) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, builder.build()).unwrap();
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    fn stack(mut self) -> Self {
        let check = TORCH_CHECK_FAIL[1];
        self.put("/opt/py/bin/python3.11", &arm().define(["PyObject_Call"]).needed(["libc.so.6"]));
        self.put(
            &format!("{SITE}/torch/lib/libc10.so"),
            &arm()
                .soname("libc10.so")
                .define([check, "_ZN3c106Device3strEv"])
                .needed(["libm.so.6"]),
        );
        self.put(&format!("{SITE}/torch/lib/libtorch_cpu.so"), &arm().needed(["libcudart.so.12"]));
        self.put(
            &format!("{SITE}/torch/_C.cpython-311-aarch64-linux-gnu.so"),
            &arm().rpath("$ORIGIN/lib").needed(["libc10.so", "libtorch_cpu.so"]),
        );
        self.put(
            &format!("{SITE}/torch_npu/_C.cpython-311-aarch64-linux-gnu.so"),
            &arm().rpath("$ORIGIN/lib").needed(["libtorch_npu.so", "libc.so.6"]),
        );
        self.put(
            &format!("{SITE}/torch_npu/lib/libtorch_npu.so"),
            &arm()
                .soname("libtorch_npu.so")
                .needed(["libc10.so", "libascendcl.so", "libhccl.so", "libstdc++.so.6"])
                .undefined([check, "aclrtMalloc", "HcclSend", "PyObject_Call", "std_thing"])
                .undefined_weak(["aclrtMallocPhysical"])
                .undefined_versioned("memcpy", "libc.so.6", "GLIBC_2.28"),
        );
        self.put(
            &format!("{SITE}/torch_npu/lib/libop_plugin_atb.so"),
            &arm()
                .rpath("$ORIGIN")
                .needed(["libtorch_npu.so", "libatb.so"])
                .undefined(["_ZN3atb1fEv"]),
        );
        self.put(
            &format!("{CANN}/lib64/libascendcl.so"),
            &arm().define(["aclrtMalloc"]).needed(["libascend_hal.so"]),
        );
        self.put(&format!("{CANN}/lib64/libhccl.so"), &arm().define(["HcclSend"]));
        self.put(&format!("{NNAL}/atb/cxx_abi_1/lib/libatb.so"), &arm().define(["_ZN3atb1fEv"]));
        self.put("/usr/local/Ascend/driver/lib64/driver/libascend_hal.so", &arm());

        let facts = &mut self.facts;
        facts.host.arch = Some("aarch64".to_owned());
        facts.python.site_dirs = vec![SITE.to_owned()];
        facts.python.interpreter = Some(Interpreter {
            real: "/opt/py/bin/python3.11".to_owned(),
            prefix: "/opt/py".to_owned(),
            ..Interpreter::default()
        });
        for name in ["torch", "torch_npu"] {
            facts.python.torch.dirs.insert(name.to_owned(), format!("{SITE}/{name}"));
        }
        facts.cann.installs = vec![CannInstall { path: CANN.to_owned(), ..CannInstall::default() }];
        let atb = format!("{NNAL}/atb/cxx_abi_1/lib/libatb.so");
        facts.cann.nnal =
            vec![Nnal { path: NNAL.to_owned(), abis: [(1, atb)].into(), ..Nnal::default() }];
        self
    }

    fn link(&mut self) -> Link {
        let sysroot = Sysroot::tree(self.dir.path()).unwrap();
        self.facts.env = sysroot.env().clone();
        collect(&sysroot, &self.facts)
    }
}

fn all() -> String {
    format!("{CANN}/lib64:{NNAL}/atb/cxx_abi_1/lib:/usr/local/Ascend/driver/lib64/driver")
}

fn object<'a>(link: &'a Link, name: &str) -> &'a LinkedObject {
    link.objects.iter().find(|object| object.path.ends_with(name)).unwrap()
}

fn missing(link: &Link, name: &str) -> Vec<String> {
    object(link, name).missing.iter().map(|missing| missing.name.clone()).collect()
}

#[test]
fn nothing_is_wrong_with_a_healthy_machine() {
    for path in [Some(all()), None] {
        let mut machine = Machine::new(path.as_deref());
        let link = machine.link();
        assert_eq!(link.env_known, path.is_some());
        assert!(link.objects.len() >= 5, "{:?}", link.objects);
        for object in &link.objects {
            assert!(object.defect.is_none() && object.missing.is_empty(), "{object:?}");
            assert!(object.undefined.is_empty() && object.versions.is_empty(), "{object:?}");
        }
        assert_eq!(link.not_in_copy, ["libc.so.6", "libstdc++.so.6"]);
        assert_eq!(link.torch_abi, Some(1));
        assert_eq!(object(&link, "libtorch_npu.so").cxx11_abi, Some(1));
        assert_eq!(object(&link, "libtorch_npu.so").max_versions["GLIBC"], "2.28");
        assert!(link.probe("libatb.so").is_some() && link.probe("libdcmi.so").is_none());
        let atb = object(&link, "libop_plugin_atb.so");
        assert!(atb.lazy && !object(&link, "libtorch_npu.so").lazy);
    }
}

#[test]
fn without_set_env_the_libraries_are_elsewhere() {
    let mut machine = Machine::new(Some("/nowhere"));
    let link = machine.link();
    assert_eq!(missing(&link, "libtorch_npu.so"), ["libascendcl.so", "libhccl.so"]);
    let npu = object(&link, "libtorch_npu.so");
    assert_eq!(npu.missing[0].elsewhere, [format!("{CANN}/lib64/libascendcl.so")]);
    assert_eq!(npu.missing[0].class, "cann");
    assert!(npu.undefined.is_empty(), "the libraries that would define them are missing");
    let atb = missing(&link, "libop_plugin_atb.so");
    assert_eq!(atb, ["libatb.so", "libascendcl.so", "libhccl.so"]);
}

#[test]
fn a_missing_symbol_is_reported_with_its_owner() {
    let mut machine = Machine::new(Some(&all()));
    machine.put(&format!("{CANN}/lib64/libascendcl.so"), &arm().define(["other"]));
    let check = TORCH_CHECK_FAIL[0];
    machine.put(&format!("{SITE}/torch/lib/libc10.so"), &arm().define([check]));
    let link = machine.link();
    let found: Vec<_> = object(&link, "libtorch_npu.so")
        .undefined
        .iter()
        .map(|symbol| (symbol.name.as_str(), symbol.class.as_str(), symbol.expected_in.clone()))
        .collect();
    let home = |path: &str| Some(path.to_owned());
    assert_eq!(
        found,
        [
            (TORCH_CHECK_FAIL[1], "torch", home(&format!("{SITE}/torch/lib/libc10.so"))),
            ("aclrtMalloc", "cann", home(&format!("{CANN}/lib64/libascendcl.so"))),
        ],
        "`std_thing` may come from libstdc++, which the tree lacks"
    );
    assert_eq!(link.torch_abi, Some(0));
}

#[test]
fn what_loads_an_object_may_define_what_it_calls() {
    let mut machine = Machine::new(Some(&all()));
    let core = format!("{SITE}/torch_npu/dynamo/torchair/core");
    let inner = arm().undefined(["_ZN3tng5ErrorEv", "_ZN3tng5OtherEv"]);
    machine.put(&format!("{core}/_abi_compat.so"), &inner);
    let engine = arm().rpath("$ORIGIN").needed(["_abi_compat.so"]).define(["_ZN3tng5ErrorEv"]);
    machine.put(&format!("{core}/_torchair.so"), &engine);
    let link = machine.link();
    let inner = object(&link, "_abi_compat.so");
    let names: Vec<&str> = inner.undefined.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!((names, inner.undefined_count), (vec!["_ZN3tng5OtherEv"], 1));

    machine.remove(&format!("{core}/_torchair.so"));
    assert_eq!(object(&machine.link(), "_abi_compat.so").undefined_count, 2);
}

#[test]
fn versions_are_compared_where_the_library_is_there() {
    let mut machine = Machine::new(Some(&all()));
    let libc = arm().soname("libc.so.6").provide_versions(["GLIBC_2.9", "GLIBC_2.17"]);
    machine.put("/lib64/libc.so.6", &libc.define_versioned("memcpy", "GLIBC_2.17"));
    let link = machine.link();
    let versions = &object(&link, "libtorch_npu.so").versions;
    assert_eq!(versions.len(), 1);
    assert_eq!(versions[0].version, "GLIBC_2.28");
    assert_eq!(versions[0].highest.as_deref(), Some("GLIBC_2.17"));
    assert_eq!(versions[0].found, "/lib64/libc.so.6");
}

#[test]
fn broken_files_are_named() {
    let mut machine = Machine::new(Some(&all()));
    let path = format!("{CANN}/lib64/libhccl.so");
    let size = arm().define(["HcclSend"]).build().len();
    let file = std::fs::OpenOptions::new().write(true).open(machine.path(&path)).unwrap();
    file.set_len(size as u64 - 1).unwrap();
    machine.put(&format!("{SITE}/torch_npu/lib/libextra.so"), &ElfBuilder::x86_64());
    std::fs::write(machine.path(&format!("{SITE}/torch_npu/lib/libempty.so")), "").unwrap();
    let link = machine.link();
    let hccl = object(&link, "libhccl.so");
    assert!(matches!(hccl.defect, Some(ElfDefect::Truncated { .. })), "{hccl:?}");
    assert_eq!(hccl.owner, "cann");
    assert!(object(&link, "libtorch_npu.so").undefined.is_empty(), "its symbols are unknown");
    let foreign = ElfDefect::Arch { have: "x86_64".to_owned(), want: "aarch64".to_owned() };
    assert_eq!(object(&link, "libextra.so").defect, Some(foreign));
    assert_eq!(object(&link, "libempty.so").defect, Some(ElfDefect::Empty));
}

#[test]
fn the_driver_is_missed_through_cann() {
    let mut machine = Machine::new(Some(&all()));
    machine.remove("/usr/local/Ascend/driver/lib64/driver/libascend_hal.so");
    let link = machine.link();
    let npu = object(&link, "libtorch_npu.so");
    assert_eq!(npu.missing.len(), 1);
    assert_eq!(npu.missing[0].class, "driver");
    assert_eq!(npu.missing[0].needed_by, format!("{CANN}/lib64/libascendcl.so"));
    assert!(Path::new(&npu.path).is_absolute());
}
