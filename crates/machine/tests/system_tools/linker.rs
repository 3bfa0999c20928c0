//! Compares the static dynamic linker with the real one: random layouts of libraries built by the C
//! compiler, loaded in trace mode by the `ld.so` of this machine.
//!
//! `LINKER_LAYOUTS=500 cargo test -p ascend-doctor-machine --test system_tools` tries more of them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test builds what is examined, and may fail"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use facts::Host;
use machine::collect::{Options, collect};
use machine::link::Loader;
use machine::sysroot::Sysroot;

const NAMES: &[&str] = &["liba.so", "libb.so", "libc1.so", "libd.so.1"];
const DIRS: &[&str] = &["one", "two", "three", "four", "lib64", "lib/x86_64-linux-gnu", "x86_64"];
const BELOW: &[&str] = &[
    "glibc-hwcaps/x86-64-v2",
    "glibc-hwcaps/x86-64-v3",
    "glibc-hwcaps/x86-64-v4",
    "tls",
    "x86_64",
    "tls/x86_64",
    "haswell",
];

/// SplitMix64, so that a layout can be reproduced from its number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) % sides as u64).unwrap()
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }
}

struct Bench {
    dir: PathBuf,
}

impl Bench {
    fn cc(&self, args: &[String]) {
        let output = Command::new("cc").current_dir(&self.dir).args(args).output();
        let output = output.expect("cannot start cc: install a C compiler");
        assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Links an object that needs others by name only.
    fn link(&self, out: &Path, shared: bool, soname: Option<&str>, needs: &[&str], path: &Search) {
        let mut args: Vec<String> = ["-nostdlib", "-nostartfiles", "-Wl,--no-as-needed"]
            .iter()
            .chain(&["-Wl,--unresolved-symbols=ignore-all", "-Lstubs", "-no-pie"])
            .map(|arg| (*arg).to_owned())
            .filter(|arg| !(shared && arg == "-no-pie"))
            .collect();
        args.extend(["-o".to_owned(), out.display().to_string(), "empty.o".to_owned()]);
        args.extend(shared.then(|| "-shared".to_owned()));
        args.extend(soname.map(|name| format!("-Wl,-soname,{name}")));
        args.extend(needs.iter().map(|name| format!("-l:{name}")));
        let tags = if path.run { "--enable-new-dtags" } else { "--disable-new-dtags" };
        args.push(format!("-Wl,{tags}"));
        if let Some(text) = &path.text {
            args.push(format!("-Wl,-rpath,{text}"));
        }
        fs::create_dir_all(out.parent().unwrap()).unwrap();
        self.cc(&args);
    }

    fn search(&self, dice: &mut Dice, often: usize) -> Search {
        let text = (!dice.one_in(often)).then(|| self.list(dice, ':'));
        Search { text, run: dice.one_in(2) }
    }

    /// A list of directories in one of the possible notations.
    fn list(&self, dice: &mut Dice, separator: char) -> String {
        let mut out = String::new();
        for index in 0..=dice.roll(5) {
            if index > 0 {
                out.push(separator);
            }
            let dir = dice.of(DIRS);
            let here = self.dir.display();
            match dice.roll(10) {
                0 => write!(out, "$ORIGIN/../{dir}"),
                1 => write!(out, "${{ORIGIN}}"),
                2 => write!(out, "{here}/$LIB"),
                3 => write!(out, "{here}/$PLATFORM/"),
                4 => write!(out, "/nonexistent/{dir}"),
                5 => write!(out, "{here}/./{dir}//"),
                8 => write!(out, "{dir}"),
                6 if index > 0 => Ok(()),
                _ => write!(out, "{here}/{dir}"),
            }
            .unwrap();
        }
        out
    }
}

struct Search {
    text: Option<String>,
    run: bool,
}

/// Creates one layout: the program and its environment.
fn lay_out(bench: &Bench, dice: &mut Dice) -> Vec<(&'static str, String)> {
    let bin = bench.dir.join("bin");
    let mut needs: BTreeSet<&str> = (0..=dice.roll(3)).map(|_| dice.of(NAMES)).collect();
    needs.insert(NAMES[0]);
    let needs: Vec<&str> = needs.into_iter().collect();
    bench.link(&bin.join("main"), false, None, &needs, &bench.search(dice, 4));
    for (at, name) in NAMES.iter().enumerate() {
        let later = &NAMES[at + 1..];
        let mut needs: BTreeSet<&str> = BTreeSet::new();
        for _ in 0..dice.roll(3) {
            needs.extend((!later.is_empty()).then(|| dice.of(later)));
        }
        let needs: Vec<&str> = needs.into_iter().collect();
        let soname = match dice.roll(4) {
            0 => None,
            1 => Some(dice.of(NAMES)),
            _ => Some(*name),
        };
        let made = bench.dir.join("made").join(name);
        bench.link(&made, true, soname, &needs, &bench.search(dice, 3));
        for _ in 0..2 + dice.roll(4) {
            let mut at = bench.dir.join(dice.of(DIRS));
            if dice.one_in(3) {
                at = at.join(dice.of(BELOW));
            }
            fs::create_dir_all(&at).unwrap();
            let mut bytes = fs::read(&made).unwrap();
            match dice.roll(8) {
                // `e_machine`: the value of the other architecture.
                0 => bytes[18] ^= 0x3e ^ 0xb7,
                // `EI_CLASS`: 32 bit.
                1 => bytes[4] = 1,
                _ => {}
            }
            let path = at.join(name);
            if dice.one_in(8) && !path.exists() {
                std::os::unix::fs::symlink(&made, &path).unwrap();
            } else if !path.is_symlink() {
                fs::write(path, bytes).unwrap();
            }
        }
    }
    let mut env = Vec::new();
    if !dice.one_in(3) {
        let separator = if dice.one_in(4) { ';' } else { ':' };
        env.push(("LD_LIBRARY_PATH", bench.list(dice, separator)));
    }
    if dice.one_in(3) {
        let path = bench.dir.join(dice.of(DIRS)).join(dice.of(NAMES));
        let separator = if dice.one_in(2) { ' ' } else { ':' };
        let first = if dice.one_in(2) { dice.of(NAMES) } else { "libmissing.so" };
        env.push(("LD_PRELOAD", format!("{first}{separator}{}", path.display())));
    }
    env
}

/// Name and file of all loaded objects, in order; and the names that are missing.
type Loaded = (Vec<(String, String)>, BTreeSet<String>);

fn real(path: &str) -> String {
    fs::canonicalize(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn really(bench: &Bench, env: &[(&str, String)]) -> Loaded {
    let output = Command::new(bench.dir.join("bin/main"))
        .current_dir(&bench.dir)
        .env_clear()
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .envs(env.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (mut found, mut missing) = (Vec::new(), BTreeSet::new());
    for line in text.lines().map(str::trim) {
        let (name, path) = match line.split_once(" => ") {
            Some((name, path)) => (name, path),
            None => (line.split(' ').next().unwrap(), line),
        };
        if path == "not found" {
            missing.insert(name.to_owned());
        } else if !name.contains("linux-vdso") && !name.contains("ld-linux") {
            let path = path.rsplit_once(" (").unwrap().0;
            found.push((name.to_owned(), real(path)));
        }
    }
    (found, missing)
}

fn ours(bench: &Bench, host: &Host, env: &[(&str, String)]) -> Loaded {
    let mut sysroot = Sysroot::live();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    sysroot.set_env("test", env);
    let machine = machine::elf::machine_code(std::env::consts::ARCH).unwrap();
    let mut loader = Loader::new(&sysroot, machine, Vec::new());
    loader.set_processor(host.glibc.as_deref(), host.cpu.as_ref());
    loader.set_program(&bench.dir.join("bin/main").display().to_string()).unwrap();
    let found = loader.program().iter().skip(1);
    let found = found.map(|member| (member.name.clone(), member.library.real.clone())).collect();
    (found, loader.missing().iter().map(|missing| missing.name.clone()).collect())
}

#[test]
fn random_layouts_are_resolved_as_by_the_real_linker() {
    let count = std::env::var("LINKER_LAYOUTS").ok().and_then(|text| text.parse().ok());
    let first = std::env::var("LINKER_FIRST").ok().and_then(|text| text.parse().ok());
    let (first, count): (u64, u64) = (first.unwrap_or(0), count.unwrap_or(24));
    let facts = collect(&Sysroot::live(), &Options::default());
    let (mut wrong, mut loaded, mut missing) = (Vec::new(), 0, 0);
    let made = tempfile::tempdir().unwrap();
    let stubs = Bench { dir: made.path().canonicalize().unwrap() };
    fs::write(stubs.dir.join("empty.c"), "void _start(void) {}\n").unwrap();
    stubs.cc(&["-c", "-fPIC", "empty.c"].map(str::to_owned));
    for name in NAMES {
        let none = Search { text: None, run: false };
        stubs.link(&stubs.dir.join("stubs").join(name), true, Some(name), &[], &none);
    }
    for seed in first..first + count {
        let dir = tempfile::tempdir().unwrap();
        let bench = Bench { dir: dir.path().canonicalize().unwrap() };
        for name in ["empty.o", "stubs"] {
            std::os::unix::fs::symlink(stubs.dir.join(name), bench.dir.join(name)).unwrap();
        }
        let env = lay_out(&bench, &mut Dice(seed));
        // For empty and relative entries.
        std::env::set_current_dir(&bench.dir).unwrap();
        let (theirs, ours) = (really(&bench, &env), ours(&bench, &facts.host, &env));
        loaded += theirs.0.len();
        missing += theirs.1.len();
        if theirs != ours {
            let here = bench.dir.display().to_string();
            let text = format!("layout {seed}: {env:?}\n  ld.so {theirs:?}\n  ours  {ours:?}");
            wrong.push(text.replace(&here, ""));
            if std::env::var_os("LINKER_KEEP").is_some() {
                eprintln!("layout {seed} is kept in {}", dir.keep().display());
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
    assert!(loaded as u64 > count && missing > 0, "{loaded} found, {missing} missing");
}
