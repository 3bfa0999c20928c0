//! Inspects and runs the packages built by `scripts/package.py`, which calls this with the
//! directory in `ASCEND_DOCTOR_PACKAGES`.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "unpacks files and runs them")]
#![expect(clippy::print_stderr, reason = "says what was not tested")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::read::GzDecoder;
use machine::elf::Object;

/// The oldest supported C library, minor version of 2.
const GLIBC: u32 = 17;
/// The maximum size of the program, in bytes: docs/performance.md lists measured sizes.
const SIZE: u64 = 23_000_000;

/// Returns the directory with the packages.
fn packages() -> PathBuf {
    let dir = std::env::var_os("ASCEND_DOCTOR_PACKAGES");
    dir.expect("set ASCEND_DOCTOR_PACKAGES, or run scripts/package.py, which does").into()
}

/// The files of the packages whose names end with `ending`.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| name(path).ends_with(ending)).collect();
    found.sort();
    found
}

/// Whether the packages were built only to test the process, with debug information.
fn fast() -> bool {
    std::env::var_os("ASCEND_DOCTOR_PACKAGES_FAST").is_some()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A program unpacked from a tarball, with its tree.
struct Unpacked {
    dir: tempfile::TempDir,
    arch: &'static str,
    musl: bool,
}

impl Unpacked {
    fn of(tarball: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = std::fs::File::open(tarball).unwrap();
        tar::Archive::new(GzDecoder::new(file)).unpack(dir.path()).unwrap();
        let name = name(tarball);
        let arch = if name.contains("aarch64") { "aarch64" } else { "x86_64" };
        Self { dir, arch, musl: name.contains("musl") }
    }

    fn top(&self) -> PathBuf {
        std::fs::read_dir(self.dir.path()).unwrap().next().unwrap().unwrap().path()
    }

    fn program(&self) -> PathBuf {
        self.top().join("ascend-doctor")
    }

    /// Runs the program, in qemu if it is for another processor; without qemu, prints a message and
    /// returns `None`.
    fn run(&self, args: &[&OsStr]) -> Option<Output> {
        run(&self.program(), self.arch, args)
    }
}

fn run(program: &Path, arch: &str, args: &[&OsStr]) -> Option<Output> {
    let mut command = if arch == std::env::consts::ARCH {
        Command::new(program)
    } else {
        let names = [format!("qemu-{arch}-static"), format!("qemu-{arch}")];
        let there = |name: &String| Command::new(name).arg("--version").output().is_ok();
        let qemu = std::env::var("ASCEND_DOCTOR_QEMU").ok();
        let Some(qemu) = qemu.or_else(|| names.into_iter().find(there)) else {
            eprintln!("not tested: without qemu-{arch} its program cannot be run here");
            return None;
        };
        let mut command = Command::new(qemu);
        command.arg(program);
        command
    };
    let libraries = std::env::var_os("QEMU_LD_PREFIX");
    command.env_clear().envs(libraries.map(|dir| ("QEMU_LD_PREFIX", dir)));
    Some(command.args(args).output().unwrap())
}

/// Runs the program with text arguments.
fn say(unpacked: &Unpacked, args: &[&str]) -> Option<(i32, String)> {
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    let Output { status, stdout, stderr } = unpacked.run(&args)?;
    let text = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
    Some((status.code().unwrap_or(-1), text))
}

/// Requirements on the machine: nothing newer than in CentOS 7.
#[test]
fn programs_need_an_old_c_library_and_nothing_else() {
    let dir = packages();
    for tarball in files(&dir, ".tar.gz") {
        let unpacked = Unpacked::of(&tarball);
        let bytes = std::fs::read(unpacked.program()).unwrap();
        let object = match Object::read(&bytes.as_slice()) {
            Ok(object) => object,
            // A statically linked program needs no library, and may not even have a dynamic
            // section.
            Err(error) => {
                let why = format!("{error:?}");
                assert!(unpacked.musl && why.contains("no dynamic section"), "{why}");
                continue;
            }
        };
        assert_eq!(object.arch(), unpacked.arch);
        let needed: BTreeSet<&str> = object.dynamic.needed.iter().map(String::as_str).collect();
        if unpacked.musl {
            assert!(needed.is_empty(), "{}: {needed:?}", tarball.display());
            continue;
        }
        let of_glibc = |name: &&str| {
            let stem = name.split('.').next().unwrap();
            ["libc", "libm", "libdl", "libpthread", "librt", "libutil"].contains(&stem)
                || stem.starts_with("ld-linux")
        };
        let others: Vec<&&str> = needed.iter().filter(|name| !of_glibc(name)).collect();
        assert!(others.is_empty(), "{}: {others:?}", tarball.display());
        let versions = object.dynamic.version_needs.iter().flat_map(|(_, versions)| versions);
        let minor = |version: &String| {
            version.strip_prefix("GLIBC_2.")?.split('.').next()?.parse::<u32>().ok()
        };
        let newest = versions.map(|version| minor(version).unwrap_or(u32::MAX)).max();
        assert!(newest.is_some_and(|minor| minor <= GLIBC), "{}: {newest:?}", tarball.display());
    }
}

#[test]
fn programs_are_small() {
    let dir = packages();
    if fast() {
        eprintln!("not tested: the size of programs that were built without optimising");
        return;
    }
    for tarball in files(&dir, ".tar.gz") {
        let size = Unpacked::of(&tarball).program().metadata().unwrap().len();
        assert!(size <= SIZE, "{}: {size} bytes", tarball.display());
    }
}

/// The results are equal on each processor and with each C library.
#[test]
fn programs_check_machines_and_translate_codes() {
    let dir = packages();
    for tarball in files(&dir, ".tar.gz") {
        let unpacked = Unpacked::of(&tarball);
        let Some((code, text)) = say(&unpacked, &["--version"]) else { continue };
        let libc = if unpacked.musl { "(musl)" } else { "(glibc)" };
        assert!(text.contains(unpacked.arch) && text.contains(libc), "{text}");
        assert_eq!(code, 0);

        let (code, text) = say(&unpacked, &["translate-error", "507035"]).unwrap();
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"), "{text}");

        for (recipe, findings) in [("f09-not-in-group", "DEV-ACCESS"), ("ok-host-910b", "0 errors")]
        {
            let machine = tempfile::tempdir().unwrap();
            let recipe = crate::support::recipe::all().remove(recipe).unwrap();
            recipe.build().write(machine.path());
            let path = machine.path().to_str().unwrap();
            let (code, text) =
                say(&unpacked, &["--lang", "en", "check", "--sysroot", path]).unwrap();
            assert_eq!(code, i32::from(recipe.expect.code), "{text}");
            assert!(text.contains(findings), "{text}");
        }
    }
}

/// The static program reports its limitation, so that the device is not considered broken; the
/// other one searches the libraries.
#[test]
fn verify_of_the_static_program_says_what_it_cannot() {
    let dir = packages();
    for tarball in files(&dir, ".tar.gz") {
        let unpacked = Unpacked::of(&tarball);
        // It starts itself again, which under qemu depends on the kernel.
        let registered = format!("/proc/sys/fs/binfmt_misc/qemu-{}", unpacked.arch);
        if unpacked.arch != std::env::consts::ARCH && !Path::new(&registered).exists() {
            eprintln!("not tested: verify of {}, without binfmt_misc", unpacked.arch);
            continue;
        }
        for (lang, words) in
            [("en", "cannot load the CANN libraries"), ("zh", "无法加载 CANN 动态库")]
        {
            let Some((code, text)) = say(&unpacked, &["--lang", lang, "verify"]) else { continue };
            // Lines are wrapped to fit a page.
            let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let plain = |text: &str| text.replace(' ', "");
            assert_eq!(plain(&text).contains(&plain(words)), unpacked.musl, "{text}");
            assert_eq!(code, 3, "{text}");
        }
    }
}

/// Pip accepts the wheel on its target machine, and the installed program runs.
#[test]
fn pip_installs_the_wheels() {
    let dir = packages();
    let scratch = tempfile::tempdir().unwrap();
    for wheel in files(&dir, ".whl") {
        let arch = if name(&wheel).contains("aarch64") { "aarch64" } else { "x86_64" };
        let venv = scratch.path().join(name(&wheel));
        let done = Command::new("python3").args(["-m", "venv"]).arg(&venv).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let mut pip = Command::new(venv.join("bin/pip"));
        pip.args(["install", "--no-index", "--no-deps", "--quiet"]);
        let musl = name(&wheel).contains("musllinux");
        let program = if arch == std::env::consts::ARCH && !musl {
            venv.join("bin/ascend-doctor")
        } else {
            let site = venv.join("other");
            let libc = if musl { "musllinux_1_1" } else { "manylinux2014" };
            let platform = format!("--platform={libc}_{arch}");
            pip.args(["--only-binary=:all:", &platform, "--target"]).arg(&site);
            site.join("bin/ascend-doctor")
        };
        let done = pip.arg(&wheel).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        if let Some(output) = run(&program, arch, &["--version".as_ref()]) {
            let text = String::from_utf8(output.stdout).unwrap();
            let version = format!("ascend-doctor {}\n", env!("CARGO_PKG_VERSION"));
            assert!(text.starts_with(&version), "{text}");
        }
    }
}

/// dpkg unpacks the packages, and they contain the files expected of a program.
#[test]
fn dpkg_unpacks_the_packages() {
    let dir = packages();
    for package in files(&dir, ".deb") {
        let arch = if name(&package).contains("arm64") { "aarch64" } else { "x86_64" };
        let root = tempfile::tempdir().unwrap();
        let about = Command::new("dpkg-deb").arg("--info").arg(&package).output();
        let Ok(about) = about else {
            eprintln!("not tested: dpkg-deb is not here");
            return;
        };
        let text = String::from_utf8(about.stdout).unwrap();
        assert!(about.status.success() && text.contains("Depends: libc6 (>= 2.17)"), "{text}");
        let unpack = Command::new("dpkg-deb").arg("-x").arg(&package).arg(root.path()).output();
        assert!(unpack.unwrap().status.success());
        for path in [
            "usr/share/man/man1/ascend-doctor.1.gz",
            "usr/share/man/man1/ascend-doctor-translate-error.1.gz",
            "usr/share/bash-completion/completions/ascend-doctor",
            "usr/share/zsh/vendor-completions/_ascend-doctor",
            "usr/share/fish/vendor_completions.d/ascend-doctor.fish",
            "usr/share/doc/ascend-doctor/copyright",
            "usr/share/doc/ascend-doctor/changelog.gz",
            "usr/share/doc/ascend-doctor/THIRD-PARTY.txt.gz",
        ] {
            let size = root.path().join(path).metadata().map(|meta| meta.len());
            assert!(size.as_ref().is_ok_and(|size| *size > 0), "{path}: {size:?}");
        }
        let program = root.path().join("usr/bin/ascend-doctor");
        if let Some(output) = run(&program, arch, &["--version".as_ref()]) {
            assert!(output.status.success());
        }
    }
}

/// One program per target, in all package formats.
#[test]
fn all_packages_of_a_target_carry_the_same_program() {
    let dir = packages();
    for tarball in files(&dir, ".tar.gz") {
        let unpacked = Unpacked::of(&tarball);
        let program = std::fs::read(unpacked.program()).unwrap();
        let libc = if unpacked.musl { "musllinux" } else { "manylinux" };
        let mut wheels = files(&dir, &format!("{}.whl", unpacked.arch));
        wheels.retain(|wheel| name(wheel).contains(libc));
        let wheel = wheels.remove(0);
        let mut wheel = zip::ZipArchive::new(std::fs::File::open(wheel).unwrap()).unwrap();
        let path =
            format!("ascend_doctor-{}.data/scripts/ascend-doctor", env!("CARGO_PKG_VERSION"));
        let mut carried = Vec::new();
        wheel.by_name(&path).unwrap().read_to_end(&mut carried).unwrap();
        assert!(carried == program, "{path} differs from {}", tarball.display());
    }
}

/// The packages contain no data of the build machine.
#[test]
fn programs_do_not_tell_where_they_were_built() {
    let dir = packages();
    if fast() {
        eprintln!("not tested: what programs tell debuggers of where they were built");
        return;
    }
    let tells_nothing = |content: &[u8], name: &str| {
        for place in [env!("CARGO_MANIFEST_DIR"), "/.cargo/registry"] {
            let found = memchr::memmem::find(content, place.as_bytes());
            assert_eq!(found, None, "{name} has `{place}`");
        }
    };
    for tarball in files(&dir, ".tar.gz") {
        let program = std::fs::read(Unpacked::of(&tarball).program()).unwrap();
        tells_nothing(&program, &tarball.display().to_string());
    }
    // Also the files that the wheel builder adds.
    for path in files(&dir, ".whl") {
        let mut wheel = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
        for index in 0..wheel.len() {
            let mut member = wheel.by_index(index).unwrap();
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut member, &mut content).unwrap();
            tells_nothing(&content, &format!("{}!{index}", path.display()));
        }
    }
}

#[test]
fn the_bill_of_materials_names_what_is_linked() {
    let dir = packages();
    let [bill] = files(&dir, ".cdx.json").try_into().unwrap();
    let bill: serde_json::Value = serde_json::from_slice(&std::fs::read(bill).unwrap()).unwrap();
    let of = |scope: &str| -> Vec<&str> {
        let components = bill["components"].as_array().unwrap().iter();
        let chosen = components.filter(|component| component["scope"] == scope);
        chosen.map(|component| component["name"].as_str().unwrap()).collect()
    };
    let (linked, excluded) = (of("required"), of("excluded"));
    for name in ["clap", "libmimalloc-sys", "ruff_python_parser", "line-filter"] {
        assert!(linked.contains(&name), "{name}");
    }
    assert!(excluded.contains(&"serde_derive") && excluded.contains(&"cc"), "{excluded:?}");
    assert!(!linked.iter().chain(&excluded).any(|name| name.starts_with("sim-")));
    let terms = std::fs::read_to_string(dir.join("THIRD-PARTY.txt")).unwrap();
    for name in &linked {
        let own = name.starts_with("ascend-doctor-")
            || ["acl-abi", "line-filter", "probe-numbers"].contains(name);
        assert!(own || terms.contains(&format!("\n{name} ")), "{name}");
    }
}
