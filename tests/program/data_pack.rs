//! Data packs: a valid one replaces the tables, an invalid one ends the run before any of it is
//! used.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;
use data::data_pack::write;
use minisign::KeyPair;
use serde_json::Value;
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr as _;

type Parts = Vec<(String, Vec<u8>)>;

/// The built-in tables; reading all of them takes a while in unoptimized programs.
static PARTS: LazyLock<Parts> = LazyLock::new(data::built_in_parts);
/// A pack of the built-in tables.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| write(&PARTS, data::as_of(), "0.1.0").unwrap());

/// A directory with the public key `site.pub` of a new key pair.
struct Site {
    dir: TempDir,
    keys: KeyPair,
}

/// Result of a run: exit status, standard output, standard error.
type Run = (i32, String, String);

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keys = KeyPair::generate_unencrypted_keypair().unwrap();
        let public = keys.pk.to_box().unwrap().into_string();
        std::fs::write(dir.path().join("site.pub"), public).unwrap();
        Self { dir, keys }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes `x.data` with its signature.
    fn signed(&self, bytes: &[u8]) {
        self.write("x.data", bytes);
        let signature = minisign::sign(None, &self.keys.sk, bytes, None, None).unwrap();
        self.write("x.data.minisig", signature.into_string());
    }

    fn program(&self) -> Command {
        let mut program = Command::cargo_bin("ascend-doctor").unwrap();
        program.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000").current_dir(self.dir.path());
        program
    }

    fn run(&self, args: &[&str]) -> Run {
        result(self.program().args(args))
    }

    /// Runs `explain 507035` with `x.data` and the key.
    fn explain(&self, more: &[&str]) -> Run {
        let args = ["explain", "507035", "--data-pack", "x.data", "--data-key", "site.pub"];
        self.run(&[&args, more].concat())
    }

    /// Requires that `bytes`, with a valid signature, are refused for this reason.
    fn refuses(&self, bytes: &[u8], reason: &str) {
        self.signed(bytes);
        assert_refused(&self.explain(&[]), reason);
    }
}

/// Requires that a run ended with status 2 and this reason, and used no table for its output.
fn assert_refused((code, out, err): &Run, reason: &str) {
    assert_eq!((*code, out.as_str()), (2, ""), "{reason}: {err}");
    assert!(err.starts_with("error: cannot use the data pack `x.data`: "), "{err}");
    assert!(err.contains(reason), "{reason}: {err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

fn result(program: &mut Command) -> Run {
    let output = program.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The tables with a changed text in one of them.
fn changed(table: &str, from: &str, to: &str) -> Parts {
    assert_eq!(from.len(), to.len(), "the length is part of MessagePack");
    let mut parts = PARTS.clone();
    let content = &mut parts.iter_mut().find(|(name, _)| name == table).unwrap().1;
    let at = content.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    content[at..at + to.len()].copy_from_slice(to.as_bytes());
    parts
}

/// The parts of the good pack with another manifest.
fn with_manifest(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut lines = GOOD.splitn(3, |byte| *byte == b'\n');
    let magic = lines.next().unwrap();
    let mut manifest: Value = serde_json::from_slice(lines.next().unwrap()).unwrap();
    change(&mut manifest);
    let manifest = manifest.to_string().into_bytes();
    [magic, &manifest, lines.next().unwrap()].join(&b'\n')
}

#[test]
fn signed_pack_replaces_tables() {
    let site = Site::new();
    let parts = changed("errors/acl_rt.tsv", "vector core exception", "VECTOR CORE CHANGED!!");
    site.signed(&write(&parts, data::as_of(), "0.1.0").unwrap());
    assert!(site.run(&["explain", "507035"]).1.contains("vector core exception"));
    let (code, out, err) = site.explain(&[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("VECTOR CORE CHANGED!!"), "{out}");
    // By the environment, with the key as text.
    let key = site.keys.pk.to_base64();
    let mut program = site.program();
    program.env("ASCEND_DOCTOR_DATA_PACK", "x.data").env("ASCEND_DOCTOR_DATA_KEY", &key);
    assert!(result(program.args(["explain", "507035"])).1.contains("VECTOR CORE CHANGED!!"));
    // Empty variables count as unset.
    let mut program = site.program();
    program.env("ASCEND_DOCTOR_DATA_PACK", "").env("ASCEND_DOCTOR_DATA_KEY", "");
    assert!(result(program.args(["explain", "507035"])).1.contains("vector core exception"));
}

#[test]
fn signed_pack_changes_sentences_of_the_program() {
    let site = Site::new();
    let parts = changed("ui", "Data in use", "DATA in USE");
    site.signed(&write(&parts, data::as_of(), "0.1.0").unwrap());
    let args = ["data", "status", "--data-pack", "x.data", "--data-key", "site.pub"];
    let (code, out, err) = site.run(&args);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("DATA in USE\n"), "{out}");
}

#[test]
fn settings_name_pack_and_key() {
    let site = Site::new();
    let parts = changed("errors/acl_rt.tsv", "vector core exception", "VECTOR CORE CHANGED!!");
    site.signed(&write(&parts, data::as_of(), "0.1.0").unwrap());
    site.write("ascend-doctor.toml", "[data]\npack = \"x.data\"\nkey = \"site.pub\"\n");
    let (code, out, err) = site.run(&["explain", "507035"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("VECTOR CORE CHANGED!!"), "{out}");
    assert!(err.contains("`ascend-doctor.toml` in the working directory"), "{err}");
    let (_, out, err) = site.run(&["explain", "507035", "--no-config"]);
    assert!(out.contains("vector core exception") && err.is_empty(), "{out}{err}");
    std::fs::rename(site.path("ascend-doctor.toml"), site.path("site.toml")).unwrap();
    let (code, _, err) = site.run(&["explain", "507035", "--config", "site.toml"]);
    assert_eq!((code, err.as_str()), (0, ""));
}

/// A file in an untrusted working directory can neither disable the verification of signatures nor
/// set the key of a pack that the user names.
#[test]
fn settings_in_the_working_directory_do_not_weaken_the_check() {
    let site = Site::new();
    site.signed(&GOOD);
    site.write("ascend-doctor.toml", "[data]\npack = \"x.data\"\nunsigned = true\n");
    let (code, out, err) = site.run(&["explain", "507035"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("is accepted only in a file passed with `--config`"), "{err}");
    std::fs::rename(site.path("ascend-doctor.toml"), site.path("site.toml")).unwrap();
    let (code, _, err) = site.run(&["explain", "507035", "--config", "site.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("not verified"), "{err}");
    site.write("ascend-doctor.toml", "[data]\nkey = \"site.pub\"\n");
    let args = ["explain", "507035", "--data-pack", "x.data"];
    assert_refused(&site.run(&args), "no public key");
    let (code, ..) = site.run(&[&args[..], &["--config", "ascend-doctor.toml"]].concat());
    assert_eq!(code, 0);
}

#[test]
fn signature_is_required() {
    let site = Site::new();
    site.signed(&GOOD);
    let args = ["explain", "507035", "--data-pack", "x.data"];
    assert_refused(&site.run(&args), "no public key");
    let other = KeyPair::generate_unencrypted_keypair().unwrap().pk.to_base64();
    assert_refused(&site.run(&[&args[..], &["--data-key", &other]].concat()), "signed with key ");
    site.write("bad.pub", "untrusted comment: x\nRWxxxx\n");
    let run = site.run(&[&args[..], &["--data-key", "bad.pub"]].concat());
    assert_refused(&run, "not a minisign public key");
    site.write("x.data.minisig", "untrusted comment: x\nnothing\n");
    assert_refused(&site.explain(&[]), "not a minisign signature");
    std::fs::remove_file(site.path("x.data.minisig")).unwrap();
    assert_refused(&site.explain(&[]), "cannot read `x.data.minisig`");
    let (code, _, err) = site.run(&[&args[..], &["--data-unsigned"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("not verified"), "{err}");
    let (code, _, err) = site.run(&[&args[..], &["--data-unsigned", "-q"]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let (_, _, err) = site.run(&[&args[..], &["--lang", "zh"]].concat());
    assert!(err.contains("无法使用数据包 `x.data`：未指定公钥"), "{err}");
}

#[test]
fn damage_is_found_at_every_place() {
    let site = Site::new();
    site.signed(&GOOD);
    let size = GOOD.len();
    for at in [0, 18, 19, 30, 400, 20_000, size / 2, size - 1] {
        let mut bytes = GOOD.clone();
        bytes[at] ^= 1;
        site.write("x.data", &bytes);
        assert_refused(&site.explain(&[]), "the signature does not match");
        // Without a signature, the hashes detect it.
        let run = site.run(&["explain", "507035", "--data-pack", "x.data", "--data-unsigned"]);
        assert_eq!((run.0, run.1.as_str()), (2, ""), "byte {at}: {}", run.2);
    }
    for length in [0, 5, 21, 300, size / 2, size - 1] {
        site.write("x.data", &GOOD[..length]);
        assert_refused(&site.explain(&[]), "the signature does not match");
        let run = site.run(&["explain", "507035", "--data-pack", "x.data", "--data-unsigned"]);
        assert_eq!((run.0, run.1.as_str()), (2, ""), "{length} bytes: {}", run.2);
    }
    site.refuses(&[&GOOD[..], b"x"].concat(), "length differs");
    // The signature itself.
    site.signed(&GOOD);
    let signature = std::fs::read_to_string(site.path("x.data.minisig")).unwrap();
    let changed = signature.replace("timestamp:", "timestamp:9");
    assert_ne!(changed, signature);
    site.write("x.data.minisig", changed);
    assert_refused(&site.explain(&[]), "the signature does not match");
}

#[test]
fn foreign_future_and_older_packs_are_refused() {
    let site = Site::new();
    site.refuses(b"", "not an ascend-doctor data pack");
    site.refuses(b"PK\x03\x04 something else", "not an ascend-doctor data pack");
    let newer = [b"ascend-doctor-data 2\n", &GOOD[21..]].concat();
    site.refuses(&newer, "format 2 is newer than format 1");
    let number = "9".repeat(5000);
    let newer = [b"ascend-doctor-data ", number.as_bytes(), b"\n", &GOOD[21..]].concat();
    site.refuses(&newer, "is newer than format 1");
    site.refuses(&with_manifest(|manifest| manifest["format"] = 2.into()), "format 2 is newer");
    let program = with_manifest(|manifest| manifest["requires"] = "99.0.0".into());
    site.refuses(&program, "requires ascend-doctor 99.0.0 or newer");
    let older = changed("sources", data::as_of(), "2026-01-02");
    let older = write(&older, "2026-01-02", "0.1.0").unwrap();
    site.refuses(&older, "data of 2026-01-02 is older than the built-in data of");
    let (code, _, err) = site.explain(&["--data-older"]);
    assert_eq!(code, 0, "{err}");
    let date = with_manifest(|manifest| manifest["as_of"] = "2999-01-01".into());
    site.refuses(&date, "table `sources` is invalid: its date differs from the manifest");
    site.refuses(&with_manifest(|manifest| manifest["as_of"] = "soon".into()), "is not a date");
    site.refuses(&with_manifest(|manifest| manifest["more"] = 1.into()), "invalid manifest");
}

#[test]
fn parts_are_exactly_the_tables_of_the_program() {
    let site = Site::new();
    let mut parts = PARTS.clone();
    parts.push(("ops/unknown.tsv".to_owned(), b"x\n".to_vec()));
    let unknown = write(&parts, data::as_of(), "0.1.0").unwrap();
    site.refuses(&unknown, "unknown table `ops/unknown.tsv`");
    parts.pop();
    let (name, _) = parts.pop().unwrap();
    let missing = write(&parts, data::as_of(), "0.1.0").unwrap();
    site.refuses(&missing, &format!("table `{name}` is missing"));
    parts.push(parts[0].clone());
    let twice = write(&parts, data::as_of(), "0.1.0").unwrap();
    site.refuses(&twice, &format!("table `{}` occurs twice", parts[0].0));
}

#[test]
fn declared_sizes_are_bounded() {
    let site = Site::new();
    let size = |size: u64| with_manifest(|manifest| manifest["parts"][0]["size"] = size.into());
    site.refuses(&size(u64::MAX), "unpacked size exceeds the limit");
    site.refuses(&size(65 << 20), "unpacked size exceeds the limit");
    site.refuses(&size(60 << 20), "table `cann_errors` is damaged");
    site.refuses(&size(1), "table `cann_errors` is damaged");
    let packed = with_manifest(|manifest| manifest["parts"][0]["packed"] = u64::MAX.into());
    site.refuses(&packed, "length differs");
    let hash = with_manifest(|manifest| manifest["parts"][0]["sha256"] = "0".repeat(64).into());
    site.refuses(&hash, "table `cann_errors` is damaged");
    // 60 MB of zeros with a claimed size of one byte, and with the correct size.
    let mut parts = PARTS.clone();
    parts[0].1 = vec![0; 60 << 20];
    let bomb = write(&parts, data::as_of(), "0.1.0").unwrap();
    let declared = bomb.windows(8).position(|window| window == b"62914560").unwrap();
    let mut small = bomb.clone();
    small[declared..declared + 8].copy_from_slice(b"       1");
    site.refuses(&small, "table `cann_errors` is damaged");
    parts[0].1 = vec![0; 70 << 20];
    let bomb = write(&parts, data::as_of(), "0.1.0").unwrap();
    site.refuses(&bomb, "unpacked size exceeds the limit");
    let long = [b"ascend-doctor-data 1\n".to_vec(), vec![b' '; 2 << 20]].concat();
    site.refuses(&long, "manifest exceeds the limit");
    // Not read completely: the size is known in advance.
    let file = std::fs::File::create(site.path("x.data")).unwrap();
    file.set_len(10 << 30).unwrap();
    assert_refused(&site.explain(&[]), "exceeds the limit of 67108864 bytes");
}

#[test]
fn signed_but_malformed_tables_are_errors() {
    let site = Site::new();
    let with = |table: &str, content: &[u8]| {
        let mut parts = PARTS.clone();
        parts.iter_mut().find(|(name, _)| name == table).unwrap().1 = content.to_vec();
        write(&parts, data::as_of(), "0.1.0").unwrap()
    };
    site.refuses(&with("ui", b"\xc1"), "table `ui` is invalid");
    site.refuses(&with("ops/aten.tsv", b"only\n"), "table `ops/aten.tsv` is invalid");
    site.refuses(&with("ops/api.tsv", b"\xff"), "table `ops/api.tsv` is invalid");
    site.refuses(&with("known_wheels.tsv", b"f\tx\ty\tz\n"), "table `known_wheels.tsv` is invalid");
    // A pack of another version without a text of this one.
    let lacks = |table: &str, from: &str, to: &str| {
        write(&changed(table, from, to), data::as_of(), "0.1.0").unwrap()
    };
    site.refuses(&lacks("ui", "data_title", "data_other"), "`data_title` is missing");
    let other = lacks("findings/scan", "SCAN-FORMAT", "SCAN-OTHERS");
    site.refuses(&other, "SCAN-FORMAT is missing");
    let header = b"# source 0: x\ncode\tnonsense\n1\t2\n";
    site.refuses(&with("errors/acl_rt.tsv", header), "unknown column `nonsense`");
    let (code, out, _) = site.explain(&["--lang", "zh"]);
    assert_eq!((code, out.as_str()), (2, ""));
}

/// A file that is not regular is refused at once, including a pipe without a writer.
#[test]
fn pipes_and_devices_are_refused() {
    let site = Site::new();
    site.signed(&GOOD);
    for name in ["x.data", "x.data.minisig", "site.pub"] {
        let path = site.path(name);
        let kept = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
        assert_refused(&site.explain(&[]), &format!("cannot read `{name}`: not a regular file"));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_refused(&site.explain(&[]), &format!("cannot read `{name}`: not a regular file"));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_refused(&site.explain(&[]), &format!("cannot read `{name}`: not a regular file"));
        std::fs::remove_dir(&path).unwrap();
        site.write(name, kept);
    }
    assert_eq!(site.explain(&[]).0, 0);
}

#[test]
fn every_subcommand_uses_the_pack_except_those_without_tables() {
    let site = Site::new();
    site.write("x.data", b"damaged");
    site.write("x.py", "import torch\n");
    let with = ["--data-pack", "x.data", "--data-unsigned"];
    for args in [
        "check --sysroot .",
        "compat --torch 2.7.1",
        "convert -r x.py --dry-run",
        "audit-ops x.py",
        "translate-error 507035",
        "explain 507035",
        "manifest wheel-check .",
        "fleet merge .",
        "report x.py",
        "bundle --sysroot .",
        "verify",
        "data status",
        "--version",
        "check --version",
        "convert --version",
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let run = site.run(&[&words, &with[..]].concat());
        assert_refused(&run, "not an ascend-doctor data pack");
    }
    // They describe the command line and have no data options.
    for args in [&["man"][..], &["completions", "bash"], &["--help"]] {
        let (code, out, err) = site.run(args);
        assert!(code == 0 && !out.is_empty(), "{args:?}: {err}");
    }
}

#[test]
fn output_does_not_replace_the_pack() {
    let site = Site::new();
    site.signed(&GOOD);
    for name in ["x.data", "x.data.minisig", "site.pub"] {
        let (code, _, err) = site.explain(&["-o", name]);
        assert!(code == 2 && err.contains("would overwrite input"), "{name}: {err}");
    }
}

/// The `data` member of a JSON document.
fn data_member(out: &str) -> Value {
    let document: Value = serde_json::from_str(out).unwrap();
    document["data"].clone()
}

#[test]
fn reports_name_the_data_and_its_age() {
    let site = Site::new();
    std::fs::create_dir(site.path("root")).unwrap();
    site.signed(&GOOD);
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/schema/report-2.schema.json")).unwrap();
    let schema = serde_json::json!({ "$ref": "#/$defs/DataInUse", "$defs": schema["$defs"] });
    let schema = jsonschema::validator_for(&schema).unwrap();
    let id = format!("{:016X}", u64::from_le_bytes(site.keys.pk.keynum().try_into().unwrap()));
    let hash = base::hash::Sha256::of(&GOOD).hex();
    for args in [
        "check --sysroot root",
        "compat --sysroot root --torch 2.7.1",
        "translate-error 507035",
        "explain 507035",
        "data status",
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let run = |more: &[&str], now: &str| {
            let mut program = site.program();
            program.env("ASCEND_DOCTOR_NOW", now).args(&words).args(more).arg("--json");
            let (code, out, err) = result(&mut program);
            assert!(code == 0 || code == 3, "{args}: {err}");
            data_member(&out)
        };
        // 2026-11-23 and 121 days later.
        let built_in = run(&[], "1795392000");
        schema.validate(&built_in).unwrap();
        assert_eq!(built_in["origin"], "builtin", "{args}");
        assert_eq!(built_in["as_of"], data::as_of());
        let old = run(&[], "1805846400");
        let (young, old) = (built_in["age_days"].as_u64(), old["age_days"].as_u64());
        assert!(old > young, "{young:?} {old:?}");
        let pack = run(&["--data-pack", "x.data", "--data-key", "site.pub"], "1795392000");
        schema.validate(&pack).unwrap();
        assert_eq!(pack["origin"], "pack", "{args}");
        assert_eq!(pack["sha256"], hash.as_str());
        assert_eq!(pack["signed_by"], id.as_str());
        let pack = run(&["--data-pack", "x.data", "--data-unsigned"], "1795392000");
        assert_eq!(pack["signed_by"], Value::Null);
    }
    let args = ["--version", "--data-pack", "x.data", "--data-key", "site.pub"];
    let (code, out, err) = site.run(&args);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&format!("(data pack signed with key {id}, ")), "{out}");
    let args =
        ["check", "--sysroot", "root", "-v", "--data-pack", "x.data", "--data-key", "site.pub"];
    let (_, out, _) = site.run(&args);
    assert!(out.contains(&id), "{out}");
}

#[test]
fn old_data_is_a_finding_that_fails_nothing() {
    let site = Site::new();
    std::fs::create_dir(site.path("root")).unwrap();
    let check = |now: &str, lang: &str| {
        let mut program = site.program();
        program.env("ASCEND_DOCTOR_NOW", now);
        let args = ["check", "--sysroot", "root", "--fail-on", "warning", "--lang", lang];
        result(program.args(args))
    };
    let day = |day: &str| -> i64 {
        let (year, rest) = day.split_at(4);
        let (month, day) = (&rest[1..3], &rest[4..6]);
        let number = |text: &str| text.parse::<i64>().unwrap();
        // Days of the civil calendar since 1970.
        let (year, month, day) = (number(year), number(month), number(day));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
    };
    let now = |days: i64| ((day(data::as_of()) + days) * 86_400).to_string();
    let young = check(&now(120), "en");
    assert!(!young.1.contains("SCAN-DATA"), "{}", young.1);
    let old = check(&now(121), "en");
    assert!(old.1.contains("SCAN-DATA") && old.1.contains("121 days old"), "{}", old.1);
    assert_eq!(young.0, old.0);
    assert!(check(&now(121), "zh").1.contains("距今已 121 天"));
}

#[test]
fn status_lists_every_table() {
    let site = Site::new();
    let (code, out, _) = site.run(&["data", "status", "--json"]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&out).unwrap();
    let tables = document["data_tables"].as_array().unwrap();
    assert!(tables.len() > 100, "{}", tables.len());
    let row = |file: &str| tables.iter().find(|row| row["file"] == file).unwrap();
    assert_eq!(row("known_wheels.tsv")["owner"], "machine");
    assert!(row("ops/aten.tsv")["rows"].as_u64() > Some(3000));
    assert!(row("ui.toml")["bytes"].as_u64() > Some(10_000) && row("ui.toml")["rows"].is_null());
    let newest = &row("compat_matrix.toml")["newest"];
    assert!(newest["commit"].is_string() && newest["date"].is_string(), "{newest}");
    for (lang, word) in [("en", "manually"), ("zh", "人工编写")] {
        let (code, out, _) = site.run(&["data", "status", "--lang", lang]);
        assert!(code == 0 && out.contains(word) && out.contains("compat_matrix.toml"), "{out}");
        assert!(!out.contains(".overlay."), "an overlay is no table: {out}");
        for line in out.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
    }
}

/// `cargo xtask pack` runs this example.
#[test]
fn written_pack_equals_the_built_in_tables() {
    let bytes = data::data_pack::write_built_in(env!("CARGO_PKG_VERSION")).unwrap();
    let site = Site::new();
    site.signed(&bytes);
    let plain = site.run(&["explain", "507035", "CV0017", "CANN-HOME"]);
    let args = ["explain", "507035", "CV0017", "CANN-HOME", "--data-pack", "x.data"];
    let packed = site.run(&[&args[..], &["--data-key", "site.pub"]].concat());
    assert_eq!(plain, packed);
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/write_pack.rs").is_file());
}
