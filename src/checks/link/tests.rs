//! Tests of the checks with handwritten facts.

use crate::{Context, Profile};
use base::report::Severity;
use data::{Outcome, RawFinding, findings::cann_env};
use facts::{
    CannInstall, Dist, ElfDefect, Facts, LinkedObject, MissingLibrary, MissingVersion, Nnal,
    ResolvedLibrary, UndefinedSymbol,
};

const CANN: &str = "/usr/local/Ascend/cann-8.5.0";
const ATB: &str = "/usr/local/Ascend/nnal/atb/8.5.0/atb/cxx_abi_1/lib/libatb.so";

/// A healthy machine, as the collector would describe it.
fn healthy() -> Facts {
    let mut facts = Facts { source: "live".to_owned(), ..Facts::default() };
    facts.host.arch = Some("aarch64".to_owned());
    facts.host.glibc = Some("2.34".to_owned());
    facts.env.known = true;
    for name in ["torch", "torch_npu"] {
        facts.python.torch.dirs.insert(name.to_owned(), format!("/s/{name}"));
    }
    facts.cann.installs = vec![CannInstall {
        path: CANN.to_owned(),
        version: Some("8.5.0".to_owned()),
        set_env: Some(format!("{CANN}/set_env.sh")),
        ..CannInstall::default()
    }];
    facts.cann.nnal = vec![Nnal {
        path: "/usr/local/Ascend/nnal/atb/8.5.0".to_owned(),
        version: Some("8.5.0".to_owned()),
        abis: [(1, ATB.to_owned())].into(),
        ..Nnal::default()
    }];
    let link = &mut facts.link;
    link.env_known = true;
    link.torch_abi = Some(1);
    let object = |path: &str, owner: &str, needed: &[&str]| LinkedObject {
        path: path.to_owned(),
        owner: owner.to_owned(),
        arch: Some("aarch64".to_owned()),
        needed: needed.iter().map(|name| (*name).to_owned()).collect(),
        cxx11_abi: Some(1),
        max_versions: [("GLIBC".to_owned(), "2.28".to_owned())].into(),
        ..LinkedObject::default()
    };
    link.objects = vec![
        object("/s/torch_npu/lib/libtorch_npu.so", "torch-npu", &["libc10.so", "libhccl.so"]),
        LinkedObject {
            lazy: true,
            ..object("/s/torch_npu/lib/libop_plugin_atb.so", "torch-npu", &["libatb.so"])
        },
        object(&format!("{CANN}/lib64/libhccl.so"), "cann", &[]),
    ];
    for (name, path) in [
        ("libascend_hal.so", "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so"),
        ("libatb.so", ATB),
        ("libc.so.6", "/lib64/libc.so.6"),
        ("libstdc++.so.6", "/lib64/libstdc++.so.6"),
    ] {
        let path = path.to_owned();
        let found = ResolvedLibrary { real: path.clone(), path, via: "LD_LIBRARY_PATH".to_owned() };
        link.probes.insert(name.to_owned(), Some(found));
    }
    facts.driver.libraries.insert(
        "libascend_hal.so".to_owned(),
        "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so".to_owned(),
    );
    facts
}

fn missing(name: &str, class: &str, elsewhere: &[&str]) -> MissingLibrary {
    MissingLibrary {
        name: name.to_owned(),
        class: class.to_owned(),
        needed_by: "/s/torch_npu/lib/libtorch_npu.so".to_owned(),
        elsewhere: elsewhere.iter().map(|path| (*path).to_owned()).collect(),
        skipped: Vec::new(),
    }
}

fn symbol(name: &str, class: &str) -> UndefinedSymbol {
    UndefinedSymbol { name: name.to_owned(), class: class.to_owned(), expected_in: None }
}

/// All findings of this group.
fn judge(facts: &Facts) -> Vec<RawFinding> {
    let ctx = Context::of(facts, Profile::General);
    super::CHECKS
        .iter()
        .flat_map(|check| match (check.run)(&ctx) {
            Outcome::Found(found) => found,
            _ => Vec::new(),
        })
        .collect()
}

/// ID, message and severity of all findings.
fn lines(facts: &Facts) -> Vec<String> {
    judge(facts)
        .iter()
        .map(|found| format!("{} {} {}", found.id, found.message, found.severity.as_str()))
        .collect()
}

fn vllm_ascend() -> Dist {
    Dist { name: "vllm-ascend".to_owned(), version: "0.11.0".to_owned(), ..Dist::default() }
}

#[test]
fn a_healthy_machine_passes() {
    assert!(judge(&healthy()).is_empty());
    let mut facts = healthy();
    facts.link.env_known = false;
    assert!(judge(&facts).is_empty());
    assert!(judge(&Facts::default()).is_empty());
}

#[test]
fn cann_on_disk_means_that_its_environment_is_missing() {
    let mut facts = healthy();
    let path = format!("{CANN}/lib64/libhccl.so");
    facts.link.objects[0].missing = vec![missing("libhccl.so", "cann", &[&path])];
    let found = judge(&facts);
    assert_eq!(lines(&facts), ["TNPU-LINK cann error"]);
    assert!(found[0].because.contains(&cann_env::ID));
    assert_eq!(found[0].args["set_env"], format!("{CANN}/set_env.sh"));
    // Without the environment, the path is unknown.
    facts.link.env_known = false;
    assert!(judge(&facts).is_empty());
}

#[test]
fn cann_that_is_nowhere_has_another_cause() {
    let mut facts = healthy();
    facts.link.objects[0].missing = vec![missing("libhccl.so", "cann", &[])];
    let found = judge(&facts);
    assert_eq!(found[0].message, "cann_lacks");
    assert!(!found[0].because.contains(&cann_env::ID));
    facts.cann.installs.clear();
    assert_eq!(judge(&facts)[0].because, ["CANN-FOUND"]);
}

#[test]
fn nnal_is_an_error_where_vllm_ascend_needs_it() {
    let mut facts = healthy();
    facts.link.objects[1].missing = vec![missing("libatb.so", "atb", &[ATB])];
    facts.link.probes.insert("libatb.so".to_owned(), None);
    assert_eq!(lines(&facts), ["NNAL-PRESENT not_sourced warning"]);
    facts.python.dists.push(vllm_ascend());
    assert_eq!(lines(&facts), ["NNAL-PRESENT not_sourced error"]);
    facts.cann.nnal.clear();
    facts.link.objects[1].missing[0].elsewhere.clear();
    assert_eq!(lines(&facts), ["NNAL-PRESENT missing error"]);
}

#[test]
fn a_wrong_abi_directory_alone_is_no_fault() {
    let mut facts = healthy();
    facts.link.torch_abi = Some(0);
    facts.link.objects.iter_mut().for_each(|object| object.cxx11_abi = Some(0));
    assert_eq!(lines(&facts), ["NNAL-ABI differs info"]);
    let name = "_ZN3Mki2DlC1ERKSs";
    facts.link.objects[1].undefined = vec![symbol(name, "atb")];
    assert_eq!(lines(&facts), ["NNAL-VERSION symbols error", "NNAL-ABI differs error"]);
    assert_eq!(judge(&facts)[0].because, ["NNAL-ABI"]);
}

#[test]
fn an_old_nnal_names_symbol_and_versions() {
    let mut facts = healthy();
    let name = "_ZN3atb15CreateOperationINS_5infer14GroupTopkParamEEEiRKT_PPNS_9OperationE";
    facts.link.objects[1].undefined = vec![symbol(name, "atb")];
    let found = judge(&facts);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].args["symbol"], name);
    assert_eq!(found[0].args["nnal"], "8.5.0");
    assert!(found[0].because.is_empty());
}

#[test]
fn symbols_are_told_by_their_owner() {
    let mut facts = healthy();
    facts.link.objects[0].undefined =
        vec![symbol("aclrtMallocPhysical", "cann"), symbol("_ZN3c106DeviceE", "torch")];
    assert_eq!(lines(&facts), ["TNPU-SYMBOLS torch error", "TNPU-SYMBOLS cann error"]);
    facts.link.objects[0].undefined = vec![symbol("weird", "other")];
    assert_eq!(judge(&facts)[0].severity, Severity::Warning);
}

#[test]
fn the_abi_of_torch_and_torch_npu_has_to_agree() {
    let mut facts = healthy();
    facts.link.objects[0].cxx11_abi = Some(0);
    assert_eq!(lines(&facts), ["TNPU-ABI differs error"]);
}

#[test]
fn old_runtimes_are_named_with_both_versions() {
    let mut facts = healthy();
    let version = |version: &str, library: &str, highest: &str| MissingVersion {
        version: version.to_owned(),
        needed_by: "/s/torch_npu/lib/libtensorpipe.so".to_owned(),
        library: library.to_owned(),
        found: format!("/lib64/{library}"),
        highest: Some(highest.to_owned()),
    };
    facts.link.objects[0].versions = vec![
        version("GLIBC_2.9", "libc.so.6", "GLIBC_2.5"),
        version("GLIBC_2.28", "libc.so.6", "GLIBC_2.5"),
        version("GLIBCXX_3.4.22", "libstdc++.so.6", "GLIBCXX_3.4.19"),
    ];
    let found = judge(&facts);
    assert_eq!(lines(&facts), ["HOST-GLIBC old error", "HOST-STDCXX old error"]);
    assert_eq!((found[0].args["need"].as_str(), found[0].args["have"].as_str()), ("2.28", "2.5"));
    // Older wheels exist for torch_npu, and sources for vllm-ascend.
    let of_package = |facts: &mut Facts, name: &str, version: &str| {
        let mut owner = crate::testing::dist(name, version);
        "/s".clone_into(&mut owner.site_dir);
        facts.python.dists = vec![owner];
        let file = format!("/s/{}/lib/libx.so", name.replace('-', "_"));
        facts.link.objects[0].versions[1].needed_by = file;
        lines(facts)[0].clone()
    };
    assert_eq!(of_package(&mut facts, "torch-npu", "2.6.0"), "HOST-GLIBC old_torch error");
    assert_eq!(of_package(&mut facts, "vllm-ascend", "0.18.0"), "HOST-GLIBC old_package error");
    assert_eq!(of_package(&mut facts, "triton-ascend", "3.2.0"), "HOST-GLIBC old error");
    // A copy without the library, whose version is known from its name.
    let mut facts = healthy();
    facts.link.probes.insert("libc.so.6".to_owned(), None);
    facts.host.glibc = Some("2.17".to_owned());
    assert_eq!(lines(&facts), ["HOST-GLIBC old error"]);
}

#[test]
fn files_are_named() {
    let mut facts = healthy();
    facts.python.dists = vec![crate::testing::dist("torch-npu", "2.6.0")];
    facts.link.objects[0].defect = Some(ElfDefect::Truncated { size: 10, expected: 20 });
    facts.link.objects[2].defect = Some(ElfDefect::Empty);
    assert_eq!(lines(&facts), ["TNPU-ELF product error", "TNPU-ELF package error"]);
    assert!(judge(&facts)[1].args["path"].contains("libtorch_npu.so"));
    let arch = ElfDefect::Arch { have: "x86_64".to_owned(), want: "aarch64".to_owned() };
    facts = healthy();
    facts.link.objects[0].defect = Some(arch);
    assert_eq!(lines(&facts), ["HOST-ARCH library error"]);
}

#[test]
fn names_without_contents_are_a_copy_and_not_a_fault() {
    let mut facts = healthy();
    facts.source = "/copy".to_owned();
    facts.link.objects[2].defect = Some(ElfDefect::Empty);
    let mut other = facts.link.objects[2].clone();
    other.owner = "driver".to_owned();
    facts.link.objects.push(other);
    assert!(judge(&facts).is_empty());
    facts.source = "live".to_owned();
    assert_eq!(lines(&facts).len(), 2);
}

#[test]
fn the_stub_is_only_wrong_before_a_driver() {
    let mut facts = healthy();
    let stub = ResolvedLibrary {
        path: format!("{CANN}/devlib/libascend_hal.so"),
        real: format!("{CANN}/devlib/libascend_hal.so"),
        via: "LD_LIBRARY_PATH".to_owned(),
    };
    facts.link.probes.insert("libascend_hal.so".to_owned(), Some(stub));
    assert_eq!(lines(&facts), ["DRV-STUB first error"]);
    facts.driver.libraries.clear();
    assert!(judge(&facts).is_empty());
}

#[test]
fn an_image_without_a_driver_is_no_error() {
    let mut facts = healthy();
    facts.link.objects[0].missing = vec![missing("libascend_hal.so", "driver", &[])];
    facts.link.probes.insert("libascend_hal.so".to_owned(), None);
    assert_eq!(lines(&facts), ["DRV-LIBS missing info"]);
    let real = "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so";
    facts.link.objects[0].missing = vec![missing("libascend_hal.so", "driver", &[real])];
    assert_eq!(lines(&facts), ["DRV-LIBS not_on_path error"]);
}

#[test]
fn copies_of_libgomp_depend_on_glibc() {
    let mut facts = healthy();
    facts.link.libgomp =
        vec!["/s/torch.libs/libgomp-1.so".to_owned(), "/usr/lib64/libgomp.so.1".to_owned()];
    assert_eq!(lines(&facts), ["HOST-LIBGOMP several info"]);
    facts.host.glibc = Some("2.28".to_owned());
    assert_eq!(lines(&facts), ["HOST-LIBGOMP several warning"]);
    facts.env.vars.insert("LD_PRELOAD".to_owned(), "/usr/lib64/libgomp.so.1".to_owned());
    assert!(judge(&facts).is_empty());
}
