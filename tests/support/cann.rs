//! CANN toolkit, ops package, NNAL, in both layouts, and the effects of `set_env.sh`.

use super::elf::{ElfBuilder, Machine};
use super::machine::Spec;
use super::tree::Tree;
use super::versions::{CANN, CHIPS, Cann, find, numbers};

/// `acl*` functions in every release of the fixtures.
const ACL: &[&str] = &[
    "aclInit",
    "aclFinalize",
    "aclrtSetDevice",
    "aclrtGetDeviceCount",
    "aclrtMalloc",
    "aclrtFree",
    "aclrtMemcpyAsync",
    "aclrtCreateStream",
    "aclrtSynchronizeStream",
    "aclrtGetSocName",
];

/// Functions of later releases: name and the first release of the fixtures that has it. (The names
/// are real; the releases are not facts.)
pub const LATER: &[(&str, &str)] = &[
    ("aclrtMallocPhysical", "8.0.0"),
    ("aclrtGetStreamAttribute", "8.1.RC1"),
    ("aclmdlRICaptureBegin", "8.2.RC1"),
    ("aclrtPointerGetAttributes", "8.5.0"),
    ("aclrtMallocHostWithCfg", "8.5.0"),
    ("aclrtIpcMemGetExportKey", "9.0.0"),
];

/// Functions that a `torch_npu` of this generation leaves undefined: those of the oldest compatible
/// CANN.
pub fn wanted(oldest: &str) -> Vec<String> {
    let since = numbers(oldest);
    ACL.iter()
        .map(|name| (*name).to_owned())
        .chain(
            LATER
                .iter()
                .filter(|(_, first)| numbers(first) <= since)
                .map(|(name, _)| (*name).to_owned()),
        )
        .collect()
}

/// `HcclXxx` functions.
pub const HCCL: &[&str] = &["HcclCommInitClusterInfo", "HcclAllReduce", "HcclGetRootInfo"];

/// The functions of `libatb.so` that `libop_plugin_atb.so` leaves undefined, as mangled names; none
/// of them takes a `std::string`.
pub const ATB: &[&str] = &[
    "_ZN3atb13CreateContextEPPNS_7ContextE",
    "_ZN3atb15CreateOperationINS_5infer19PagedAttentionParamEEEiRKT_PPNS_9OperationE",
    "_ZN3atb15CreateOperationINS_5infer18SelfAttentionParamEEEiRKT_PPNS_9OperationE",
    "_ZN3atb15CreateOperationINS_5infer20ReshapeAndCacheParamEEEiRKT_PPNS_9OperationE",
];

/// A function that ATB has from 8.1 on, named in the report vllm-ascend#117.
pub const ATB_LATER: &str =
    "_ZN3atb15CreateOperationINS_5infer14GroupTopkParamEEEiRKT_PPNS_9OperationE";

/// The paths of an installed toolkit.
#[derive(Debug, Clone)]
pub struct Install {
    /// Root of the installation.
    pub root: String,
    /// The path in users' settings: the link that does not change with updates.
    pub home: String,
    /// The parent directory of `nnal` and the other packages.
    pub prefix: String,
}

/// Adds a toolkit with the ops of `chip` below `prefix`.
pub fn toolkit(tree: &mut Tree, spec: &Spec, version: &str, prefix: &str) -> Install {
    let cann = find(CANN, version, |cann| cann.version);
    let arch = spec.arch.as_str();
    let nnae = spec.package == "nnae";
    let (root, home) = if nnae {
        let (root, home) = (format!("{prefix}/nnae/{version}"), format!("{prefix}/nnae/latest"));
        tree.link(&home, &format!("./{version}"));
        tree.file(
            &format!("{prefix}/nnae/set_env.sh"),
            format!("export ASCEND_HOME_PATH={home}\n"),
        );
        (root, home)
    } else if cann.new_layout {
        let root = format!("{prefix}/cann-{version}");
        tree.link(&format!("{prefix}/cann"), &format!("cann-{version}"));
        tree.link(&format!("{prefix}/ascend-toolkit/latest"), &format!("../cann-{version}"));
        tree.file(&format!("{prefix}/ascend-toolkit/set_env.sh"), "# see cann/set_env.sh\n");
        (root.clone(), root)
    } else {
        let root = format!("{prefix}/ascend-toolkit/{version}");
        let home = format!("{prefix}/ascend-toolkit/latest");
        tree.link(&home, &format!("./{version}"));
        tree.file(
            &format!("{prefix}/ascend-toolkit/set_env.sh"),
            format!("export ASCEND_TOOLKIT_HOME={home}\n"),
        );
        (root, home)
    };
    tree.file(&format!("{root}/set_env.sh"), format!("export ASCEND_TOOLKIT_HOME={root}\n"));
    let inner = format!("{root}/{arch}-linux");
    for name in ["lib64", "include", "devlib"] {
        tree.link(&format!("{root}/{name}"), &format!("{arch}-linux/{name}"));
    }
    if arch == "aarch64" {
        tree.link(&format!("{root}/arm64-linux"), "aarch64-linux");
    }
    let info_path = if numbers(version)[0] >= 9 { root.clone() } else { inner.clone() };
    tree.file(
        &format!("{inner}/ascend_{}_install.info", spec.package),
        info(&format!("Ascend-cann-{}", spec.package), cann, arch, &info_path),
    );
    components(tree, cann, &root);
    libraries(tree, arch, version, &inner);
    // Parts that are only needed for compiling.
    let tools = ["toolkit/", "bin/", "tools/"];
    for dir in [
        "python/site-packages/te/__init__.py",
        "python/site-packages/tbe/__init__.py",
        "python/site-packages/hccl/__init__.py",
        "opp/built-in/op_impl/ai_core/tbe/impl/__init__.py",
        "toolkit/tools/tikicpulib/lib/cmake/tikicpulib-config.cmake",
        "bin/atc",
        "tools/ccec_compiler/bin/bisheng",
        "compiler/ccec_compiler/bin/ccec",
        "tools/profiler/bin/msprof",
        "tools/ascend_system_advisor/asys/asys",
        "tools/show_kernel_debug_data/show_kernel_debug_data",
        "tools/msobjdump/msobjdump",
        "tools/aml/lib64/plugin/.keep",
        "opp/vendors/config.ini",
    ] {
        if nnae && tools.iter().any(|tool| dir.starts_with(tool)) {
            continue;
        }
        let text = if dir.ends_with("config.ini") { "load_priority=\n" } else { "" };
        if !dir.ends_with("config.ini") {
            tree.file(&format!("{root}/{dir}"), text);
        }
    }
    ops(tree, cann, arch, &root, find(CHIPS, &spec.chip, |chip| chip.name).name);
    Install { root, home, prefix: prefix.to_owned() }
}

fn info(package: &str, cann: &Cann, arch: &str, path: &str) -> String {
    let list = cann.compatible.map(|list| format!("compatible_version={list}\n"));
    format!(
        "package_name={package}\nversion={}\ninnerversion={}\n{}arch={arch}\nos=linux\npath={path}\n",
        cann.version,
        cann.inner,
        list.unwrap_or_default()
    )
}

/// `version.info` of the components, with the ranges that they require of each other.
fn components(tree: &mut Tree, cann: &Cann, root: &str) {
    let at = numbers(cann.component);
    let major = format!("{}.{}", at[0], at[1]);
    for name in ["compiler", "runtime", "opp", "toolkit", "hccl", "opp_kernel", "fwkplugin"] {
        let mut text = format!(
            "Version={}\nversion_dir={}\ntimestamp=20250724_194044950\n",
            cann.component, cann.version
        );
        match name {
            "toolkit" => text.push_str(&format!(
                "required_package_amct_acl_version=\"{major}\"\nrequired_package_compiler_version=\"{major}\"\nrequired_package_hccl_version=\"{major}\"\nrequired_package_opp_version=\"{major}\"\nrequired_package_opp_kernel_version=\">=7.0, <={major}\"\nrequired_package_runtime_version=\"{major}\"\n"
            )),
            "opp" => text.push_str(&format!("required_package_amct_acl_version=\"{major}\"\n")),
            _ => {}
        }
        tree.file(&format!("{root}/{name}/version.info"), text);
    }
}

fn libraries(tree: &mut Tree, arch: &str, version: &str, inner: &str) {
    let machine = Machine::of(arch);
    let add = |tree: &mut Tree, name: &str, needed: &[&str], symbols: Vec<String>| {
        let object = ElfBuilder::new(machine)
            .soname(name)
            .needed(needed)
            .needed(["libstdc++.so.6", "libc.so.6"])
            .require_versions("libc.so.6", ["GLIBC_2.17"])
            .require_versions("libstdc++.so.6", ["GLIBCXX_3.4"]);
        tree.file(&format!("{inner}/lib64/{name}"), object.define(symbols).build());
    };
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let runtime = &["libruntime.so", "libascendalog.so", "libc_sec.so"];
    add(tree, "libascendcl.so", runtime, wanted(version));
    add(tree, "libruntime.so", &["libascend_hal.so", "libascendalog.so"], names(&["rtSetDevice"]));
    add(tree, "libhccl.so", &["libruntime.so", "libascendcl.so"], names(HCCL));
    add(tree, "libacl_op_compiler.so", &["libge_runner.so"], names(&["aclopCompileAndExecute"]));
    add(
        tree,
        "libge_runner.so",
        &["libgraph.so"],
        names(&["_ZN2ge12GEInitializeERKNS_9AscendMapE"]),
    );
    add(tree, "libgraph.so", &["libascend_protobuf.so"], names(&["_ZN2ge5GraphC1EPKc"]));
    add(tree, "libascend_protobuf.so", &[], names(&["_ZN6google8protobuf7Message5ClearEv"]));
    add(tree, "libfmk_parser.so", &["libgraph.so"], names(&["aclgrphParseONNX"]));
    add(tree, "libacl_tdt_channel.so", &["libruntime.so"], names(&["acltdtCreateChannel"]));
    add(tree, "libopapi.so", &["libnnopbase.so"], names(&["aclnnAdd", "aclnnAddGetWorkspaceSize"]));
    add(tree, "libnnopbase.so", &["libruntime.so"], names(&["NnopbaseCreateExecutor"]));
    add(tree, "libc_sec.so", &[], names(&["memcpy_s"]));
    add(tree, "libascendalog.so", &[], names(&["DlogRecord"]));
    add(tree, "libmsprofiler.so", &["libruntime.so"], names(&["aclprofInit"]));
    tree.file(
        &format!("{inner}/lib64/plugin/opskernel/libaicpu_engine.so"),
        ElfBuilder::new(machine).soname("libaicpu_engine.so").needed(["libc.so.6"]).build(),
    );
    tree.dir(&format!("{inner}/lib64/plugin/nnengine"));
    tree.dir(&format!("{inner}/include/acl"));
    tree.file(
        &format!("{inner}/devlib/libascend_hal.so"),
        ElfBuilder::new(machine)
            .soname("libascend_hal.so")
            .needed(["libc.so.6"])
            .define(["drvGetDevNum", "halGetDeviceInfo", "drvDeviceOpen", "halMemAlloc"])
            .build(),
    );
}

/// Adds the ops (kernels) package of a chip.
pub fn ops(tree: &mut Tree, cann: &Cann, arch: &str, root: &str, chip: &str) {
    let soc = find(CHIPS, chip, |row| row.name).kernels;
    let tbe = format!("{root}/opp/built-in/op_impl/ai_core/tbe");
    tree.file(&format!("{tbe}/kernel/{soc}/add/Add_0.o"), "kernel");
    tree.file(&format!("{tbe}/kernel/config/{soc}/add.json"), "{}");
    tree.file(
        &format!("{tbe}/op_tiling/lib/linux/{arch}/liboptiling.so"),
        ElfBuilder::new(Machine::of(arch)).soname("liboptiling.so").needed(["libc.so.6"]).build(),
    );
    let (file, package) = if cann.new_layout {
        ("ascend_ops_install.info".to_owned(), format!("Ascend-cann-{chip}-ops"))
    } else {
        (format!("ascend_kernels_{chip}_install.info"), format!("Ascend-cann-kernels-{chip}"))
    };
    tree.file(&format!("{root}/{arch}-linux/{file}"), info(&package, cann, arch, root));
}

/// Adds NNAL (ATB); `version` is that of its package.
pub fn nnal(tree: &mut Tree, arch: &str, version: &str, prefix: &str) -> String {
    let root = format!("{prefix}/nnal/atb/{version}");
    tree.link(&format!("{prefix}/nnal/atb/latest"), version);
    tree.file(&format!("{prefix}/nnal/atb/set_env.sh"), "# picks cxx_abi by torch\n");
    tree.file(&format!("{root}/atb/set_env.sh"), "# picks cxx_abi by torch\n");
    let platform =
        if numbers(version)[0] >= 9 { String::new() } else { format!("    Platform : {arch}\n") };
    tree.file(
        &format!("{root}/version.info"),
        format!(
            "    Ascend-cann-atb : {version}\n    Ascend-cann-atb Version : {version}.B150\n{platform}    branch : br_release_cann_{version}_20251226\n    commit id : f10dc20391d8af04c3f8024aca0e0dfa94d2a0a5\n"
        ),
    );
    for abi in [0, 1] {
        let lib = format!("{root}/atb/cxx_abi_{abi}/lib");
        let mut symbols: Vec<&str> = ATB.to_vec();
        if numbers(version) >= numbers("8.1.RC1") {
            symbols.push(ATB_LATER);
        }
        let string = if abi == 0 {
            "_ZN6AsdOps16GetOperationByNameERKSs"
        } else {
            "_ZN6AsdOps16GetOperationByNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
        };
        symbols.push(string);
        let machine = Machine::of(arch);
        tree.file(
            &format!("{lib}/libatb.so"),
            ElfBuilder::new(machine)
                .soname("libatb.so")
                .needed([
                    "libasdops.so",
                    "libascendcl.so",
                    "libhccl.so",
                    "libstdc++.so.6",
                    "libc.so.6",
                ])
                .define(symbols)
                .build(),
        );
        tree.file(
            &format!("{lib}/libasdops.so"),
            ElfBuilder::new(machine)
                .soname("libasdops.so")
                .needed(["libc.so.6"])
                .define([string])
                .build(),
        );
        tree.dir(&format!("{root}/atb/cxx_abi_{abi}/bin"));
        tree.dir(&format!("{root}/atb/cxx_abi_{abi}/examples"));
        tree.dir(&format!("{root}/atb/cxx_abi_{abi}/tests/atbopstest"));
    }
    root
}

/// The effect of sourcing `set_env.sh` in a shell (facts: `set_env_cann-9.x.vars.json` and the
/// image variables of older releases). `driver` is whether it finds the driver.
pub fn source_set_env(tree: &mut Tree, arch: &str, home: &str, driver: bool) {
    let below =
        |names: &[&str]| names.iter().map(|name| format!("{home}/{name}")).collect::<Vec<_>>();
    let mut libraries = below(&[
        "lib64",
        "lib64/plugin/opskernel",
        "lib64/plugin/nnengine",
        &format!("opp/built-in/op_impl/ai_core/tbe/op_tiling/lib/linux/{arch}"),
        "tools/aml/lib64",
        "tools/aml/lib64/plugin",
    ]);
    if driver {
        let base = "/usr/local/Ascend/driver/lib64";
        libraries.extend([base.to_owned(), format!("{base}/common"), format!("{base}/driver")]);
    } else {
        libraries.extend(below(&["devlib"]));
    }
    tree.prepend_env("LD_LIBRARY_PATH", &libraries);
    tree.prepend_env(
        "PYTHONPATH",
        &below(&["python/site-packages", "opp/built-in/op_impl/ai_core/tbe"]),
    );
    tree.prepend_env("PATH", &below(&["bin", "tools/ccec_compiler/bin"]));
    tree.set_env("ASCEND_TOOLKIT_HOME", home);
    tree.set_env("ASCEND_HOME_PATH", home);
    tree.set_env("ASCEND_AICPU_PATH", home);
    tree.set_env("ASCEND_OPP_PATH", &format!("{home}/opp"));
    tree.set_env("TOOLCHAIN_HOME", &format!("{home}/toolkit"));
}

/// The effect of the `ENV` lines of images of 8.5 and later: both the versioned root and `latest`.
pub fn image_env(tree: &mut Tree, install: &Install) {
    let latest = format!("{}/ascend-toolkit/latest", install.prefix);
    let driver = "/usr/local/Ascend/driver/lib64";
    tree.prepend_env(
        "LD_LIBRARY_PATH",
        &[driver.to_owned(), format!("{driver}/common/"), format!("{driver}/driver/")],
    );
    for home in [&install.home, &latest] {
        let below =
            |names: &[&str]| names.iter().map(|name| format!("{home}/{name}")).collect::<Vec<_>>();
        tree.prepend_env(
            "LD_LIBRARY_PATH",
            &below(&[
                "tools/aml/lib64",
                "tools/aml/lib64/plugin",
                "lib64",
                "lib64/plugin/opskernel",
                "lib64/plugin/nnengine",
                "opp/built-in/op_impl/ai_core/tbe/op_tiling",
            ]),
        );
        // `$PYTHONPATH` was empty before, so the image has a trailing colon.
        tree.prepend_env(
            "PYTHONPATH",
            &below(&["python/site-packages", "opp/built-in/op_impl/ai_core/tbe"]),
        );
        tree.prepend_env(
            "PATH",
            &below(&["bin", "compiler/ccec_compiler/bin", "tools/ccec_compiler/bin"]),
        );
    }
    for name in ["LD_LIBRARY_PATH", "PYTHONPATH"] {
        let value = format!("{}:", tree.env.as_ref().unwrap()[name]);
        tree.set_env(name, &value);
    }
    let home = install.home.clone();
    if home != latest {
        tree.set_env("ASCEND_TOOLKIT_LATEST_HOME", &latest);
    }
    tree.set_env("ASCEND_TOOLKIT_HOME", &home);
    tree.set_env("ASCEND_HOME_PATH", &home);
    tree.set_env("ASCEND_AICPU_PATH", &home);
    tree.set_env("ASCEND_OPP_PATH", &format!("{home}/opp"));
    tree.set_env("TOOLCHAIN_HOME", &format!("{home}/toolkit"));
}

/// The effect of `nnal/atb/set_env.sh`, or of the image.
pub fn source_nnal(tree: &mut Tree, prefix: &str, abi: u8) {
    let home = format!("{prefix}/nnal/atb/latest/atb/cxx_abi_{abi}");
    tree.prepend_env(
        "LD_LIBRARY_PATH",
        &[format!("{home}/lib"), format!("{home}/examples"), format!("{home}/tests/atbopstest")],
    );
    tree.prepend_env("PATH", &[format!("{home}/bin")]);
    tree.set_env("ATB_HOME_PATH", &home);
    for (name, value) in [
        ("ATB_STREAM_SYNC_EVERY_KERNEL_ENABLE", "0"),
        ("ATB_OPSRUNNER_KERNEL_CACHE_LOCAL_COUNT", "1"),
        ("ATB_OPSRUNNER_KERNEL_CACHE_GLOABL_COUNT", "5"),
        ("ATB_WORKSPACE_MEM_ALLOC_ALG_TYPE", "1"),
        ("ATB_SHARE_MEMORY_NAME_SUFFIX", ""),
        ("ATB_MATMUL_SHUFFLE_K_ENABLE", "1"),
        ("LCCL_DETERMINISTIC", "0"),
        ("LCCL_PARALLEL", "0"),
    ] {
        tree.set_env(name, value);
    }
}
