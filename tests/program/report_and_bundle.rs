//! Output for other users: pages (`report`) and support bundles (`bundle`).
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::support::text::flat;

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    let output = program.env_clear().current_dir(dir).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The members of a bundle by name, without those without content.
fn members(bundle: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = std::fs::File::open(bundle).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut members = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        if entry.header().entry_type().is_file() {
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            members.insert(name, content);
        }
    }
    members
}

#[test]
fn reports_of_several_runs_are_one_page() {
    let dir = crate::support::recipe::beside("f09-not-in-group");
    let file = |name: &str| dir.path().join(name);
    let check = ["check", "--sysroot", "machine", "--json", "-o", "check.json"];
    assert_eq!(run(dir.path(), &check).0, 1);
    std::fs::write(file("ops.txt"), "aten::add.Tensor\naten::nonsense_op\n").unwrap();
    let audit = ["audit-ops", "ops.txt", "--torch-npu", "2.7.1", "--json", "-o", "audit.json"];
    let (code, _, err) = run(dir.path(), &audit);
    assert!(code != 2, "{err}");
    run(dir.path(), &["translate-error", "507035", "--json", "-o", "code.json"]);
    run(dir.path(), &["translate-error", "error code is 507035 in x", "--json", "-o", "log.json"]);
    let all = ["report", "check.json", "audit.json", "code.json", "log.json", "-o", "page.html"];
    let (code, _, err) = run(dir.path(), &all);
    assert_eq!(code, 0, "{err}");
    let page = std::fs::read_to_string(file("page.html")).unwrap();
    for part in
        ["DEV-ACCESS", "nonsense_op", "507035", "usermod", "class=\"stack\"", "设备", "check.json"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("class=\"report ").count(), 4, "a section for each");
    assert!(!page.contains("<script"));
    // From standard input, with Chinese first.
    let json = std::fs::read(file("check.json")).unwrap();
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    let output = program.env_clear().args(["report", "-", "--lang", "zh"]).write_stdin(json);
    let shown = String::from_utf8(output.output().unwrap().stdout).unwrap();
    assert!(shown.contains("<html lang=\"zh-CN\">") && shown.contains("id=\"lang-zh\" checked"));
}

#[test]
fn what_is_no_report_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("empty.json", ""),
        ("other.json", "{\"a\": 1}"),
        ("log.txt", "[ERROR] x"),
        ("facts.json", "{\"schema\": \"ascend-doctor/facts/1\"}"),
        ("cut.tar.gz", "\u{1f}"),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
        let (code, out, err) = run(dir.path(), &["report", name]);
        assert!(code == 2 && out.is_empty() && err.contains(name), "{name}: {err}");
    }
    std::fs::write(dir.path().join("broken.tar.gz"), b"\x1f\x8b\x08\x00broken").unwrap();
    assert_eq!(run(dir.path(), &["report", "broken.tar.gz"]).0, 2);
    assert_eq!(run(dir.path(), &["report", "--format", "text", "other.json"]).0, 2);
    assert_eq!(run(dir.path(), &["report"]).0, 2);
}

#[test]
fn what_is_compressed_is_told_from_what_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let packed = |text: &[u8]| {
        let level = flate2::Compression::default();
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), level);
        std::io::Write::write_all(&mut packer, text).unwrap();
        packer.finish().unwrap()
    };
    let log = packed(&b"a line of a log\n".repeat(1000));
    for (name, bytes, wanted) in [
        ("train.log.gz", &log[..], "not an ascend-doctor bundle"),
        ("empty.gz", &packed(b"")[..], "not an ascend-doctor bundle"),
        ("cut.gz", &log[..12], "compressed file is damaged"),
    ] {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let (code, _, err) = run(dir.path(), &["report", name]);
        assert!(code == 2 && err.contains(name) && err.contains(wanted), "{name}: {err}");
    }
}

#[test]
fn reports_are_read_up_to_a_limit_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let large = std::fs::File::create(dir.path().join("large.json")).unwrap();
    large.set_len((32 << 20) + 1).unwrap();
    let (code, _, err) = run(dir.path(), &["report", "large.json"]);
    assert!(code == 2 && err.contains("exceeds the limit of 33554432 bytes"), "{err}");
    // All reports together also have a limit.
    let some = format!(
        "{{\"schema\":\"ascend-doctor/check/1\",\"command\":\"check\",\
        \"findings\":[],\"more\":\"{}\"}}",
        "x".repeat(23 << 20)
    );
    for name in ["a.json", "b.json", "c.json"] {
        std::fs::write(dir.path().join(name), &some).unwrap();
    }
    assert_eq!(run(dir.path(), &["report", "a.json", "b.json", "-o", "p.html"]).0, 0);
    let (code, _, err) = run(dir.path(), &["report", "a.json", "b.json", "c.json"]);
    assert!(code == 2 && err.contains("`c.json` exceed the limit of"), "{err}");
}

/// Secrets in every source of a bundle.
const PLANTED: [(&str, &str); 6] = [
    ("etc/pip.conf", "[global]\nindex-url = https://joe:Pl4nted1@mirror.example/simple\n"),
    ("root/.config/pip/pip.conf", "[global]\nindex-url = https://m.example/s?token=Pl4nted2\n"),
    ("root/ascend/log/debug/plog/plog-1_20260101.log", "HF_TOKEN=hf_Pl4nted3Pl4nted3Pl4nted3\n"),
    (
        "root/ascend/log/run/plog/plog-2.log",
        "Authorization: Bearer Pl4nted4Pl4nted4\nerror code is 507035\n",
    ),
    (
        "var/log/npu/slog/host.log",
        "-----BEGIN RSA PRIVATE KEY-----\nPl4nted5\n-----END RSA PRIVATE KEY-----\n",
    ),
    ("etc/environment", "PIP_INDEX_URL=https://u:Pl4nted6@h.example/\nPASSWORD=Pl4nted7\n"),
];

fn planted() -> tempfile::TempDir {
    let dir = crate::support::recipe::beside("ok-host-910b");
    for (path, text) in PLANTED {
        let path = dir.path().join("machine").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let env = dir.path().join("machine/.env.json");
    let mut vars: Value = serde_json::from_slice(&std::fs::read(&env).unwrap()).unwrap();
    vars["AWS_SECRET_ACCESS_KEY"] = "Pl4nted8".into();
    vars["PIP_INDEX_URL"] = "https://joe:Pl4nted9@m.example/".into();
    vars["HCCL_NOTE"] = "password=Pl4nted10".into();
    vars["HOME"] = "/root".into();
    std::fs::write(env, vars.to_string()).unwrap();
    std::fs::write(dir.path().join("train.log"), "2026 --api-key Pl4nted11x\nlast line\n").unwrap();
    dir
}

const BUNDLE: [&str; 7] =
    ["bundle", "--sysroot", "machine", "--add", "train.log", "-o", "b.tar.gz"];

#[test]
fn a_bundle_holds_what_is_needed_and_no_planted_secret() {
    let dir = planted();
    let (code, out, err) = run(dir.path(), &BUNDLE);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("b.tar.gz") && out.contains("Check the files"), "{out}");
    let all = members(&dir.path().join("b.tar.gz"));
    for (name, content) in &all {
        let text = String::from_utf8_lossy(content);
        assert!(!text.contains("Pl4nted"), "{name}: {text}");
    }
    let has = |end: &str| all.keys().find(|name| name.ends_with(end)).cloned();
    for name in ["check.json", "facts.json", "report.html", "README.txt", "machine/.env.json"] {
        assert!(has(name).is_some(), "{name} of {:?}", all.keys());
    }
    for name in ["plog-1_20260101.log", "plog-2.log", "host.log", "train.log"] {
        let name = has(name).unwrap();
        assert!(name.contains("/logs/"), "{name}");
    }
    let log = String::from_utf8(all[&has("train.log").unwrap()].clone()).unwrap();
    assert!(log.ends_with("last line\n") && log.contains("***"), "{log}");
}

#[test]
fn the_manifest_names_everything_with_size_and_hash() {
    let dir = planted();
    let (_, json, _) = run(dir.path(), &[&BUNDLE[..], &["--json"]].concat());
    let said: Value = serde_json::from_str(&json).unwrap();
    let all = members(&dir.path().join("b.tar.gz"));
    let manifest: Value =
        serde_json::from_slice(&all["ascend-doctor-bundle/MANIFEST.json"]).unwrap();
    assert_eq!(manifest["entries"], said["entries"]);
    assert_eq!(manifest["schema"], "ascend-doctor/bundle/1");
    assert!(manifest["redaction"]["taken_out"].as_u64().unwrap() >= 5);
    let entries = manifest["entries"].as_array().unwrap();
    assert_eq!(entries.len() + 1, all.len(), "all but the manifest itself");
    for entry in entries {
        let name = format!("ascend-doctor-bundle/{}", entry["path"].as_str().unwrap());
        let content = &all[&name];
        assert_eq!(entry["size"].as_u64().unwrap(), content.len() as u64, "{name}");
        if let Some(hash) = entry["sha256"].as_str() {
            let found = base::hash::Sha256::of(content).hex();
            assert_eq!(hash, found, "{name}");
        }
    }
}

#[test]
fn a_bundle_is_read_elsewhere() {
    let dir = planted();
    assert_eq!(run(dir.path(), &BUNDLE).0, 0);
    let findings = |args: &[&str]| {
        let (code, out, err) = run(dir.path(), args);
        assert!(code != 2, "{args:?}: {err}");
        let json: Value = serde_json::from_str(&out).unwrap();
        let ids = json["findings"].as_array().unwrap().iter();
        ids.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let here = findings(&["check", "--sysroot", "machine", "--json"]);
    assert_eq!(findings(&["check", "--facts", "b.tar.gz", "--json"]), here);
    let status = std::process::Command::new("tar")
        .current_dir(dir.path())
        .args(["xzf", "b.tar.gz"])
        .status()
        .unwrap();
    assert!(status.success());
    let there = findings(&["check", "--sysroot", "ascend-doctor-bundle/machine", "--json"]);
    assert_eq!(there, here);

    let (code, page, err) = run(dir.path(), &["report", "b.tar.gz"]);
    assert!(code == 0 && page.contains("node-910b"), "{err}");
    let (code, out, _) = run(dir.path(), &["translate-error", "b.tar.gz", "--json"]);
    assert!(out.contains("507035") && code != 2, "{out}");
    assert!(!out.contains("/machine/"), "only the logs are logs: {out}");
    // Not every archive is a bundle.
    std::fs::write(dir.path().join("no.tar.gz"), b"\x1f\x8b").unwrap();
    assert_eq!(run(dir.path(), &["check", "--facts", "no.tar.gz"]).0, 2);
}

#[test]
fn limits_and_levels_hold() {
    let dir = planted();
    let long =
        format!("first line\n{}last line\n", "x".repeat(99).repeat(3).add("\n").repeat(20_000));
    std::fs::write(dir.path().join("train.log"), &long).unwrap();
    let more = [&BUNDLE[..], &["--limit", "1", "--redact", "hosts"]].concat();
    assert_eq!(run(dir.path(), &more).0, 0);
    let all = members(&dir.path().join("b.tar.gz"));
    let logs: Vec<_> = all.iter().filter(|(name, _)| name.contains("/logs/")).collect();
    let sum: usize = logs.iter().map(|(_, content)| content.len()).sum();
    assert!(sum <= 1 << 20, "{sum}");
    let (_, log) = logs.iter().find(|(name, _)| name.ends_with("train.log")).unwrap();
    assert!(log.ends_with(b"last line\n") && log.starts_with(b"xxx"), "whole lines");
    let manifest: Value =
        serde_json::from_slice(&all["ascend-doctor-bundle/MANIFEST.json"]).unwrap();
    let cut = manifest["entries"].as_array().unwrap().iter();
    let cut = cut.filter(|entry| entry["end_of"].as_u64() == Some(long.len() as u64)).count();
    assert_eq!(cut, 1);
    for (name, content) in &all {
        assert!(!String::from_utf8_lossy(content).contains("node-910b"), "{name}");
    }
    // A bundle never replaces another one by default.
    assert_eq!(run(dir.path(), &["bundle", "--sysroot", "machine"]).0, 0);
    let (code, _, err) = run(dir.path(), &["bundle", "--sysroot", "machine"]);
    assert!(code == 2 && err.contains("--output"), "{err}");
    // An unwritable output is reported before the machine is examined.
    let (code, _, err) = run(dir.path(), &["bundle", "--sysroot", "nowhere", "-o", "no/b.tar.gz"]);
    assert!(code == 2 && err.contains("cannot write `no/b.tar.gz`"), "{err}");
}

/// With `--redact hosts`, names are removed everywhere, including the names of the members.
#[test]
fn no_name_of_a_person_or_a_host_is_left() {
    let dir = planted();
    let at = |path: &str| dir.path().join("machine").join(path);
    let passwd = "root:x:0:0:root:/root:/bin/bash\nHwHiAiUser:x:1001:1001::/home/HwHiAiUser:/bin/sh\n\
        meili:x:1000:1000:Mei Tan,,,:/data/meili:/bin/bash\nzh:x:1002:1002::/data/zh:/bin/sh\n";
    std::fs::write(at("etc/passwd"), passwd).unwrap();
    std::fs::write(at("etc/group"), "HwHiAiUser:x:1001:meili,zh\nzh:x:1002:\n").unwrap();
    std::fs::write(at("etc/hostname"), "vm\n").unwrap();
    std::fs::write(at("etc/hosts"), "10.0.0.5 gpu-five\n").unwrap();
    let change = |name: &str, changes: &[(&str, Value)]| {
        let file = at(name);
        let text = std::fs::read(&file).unwrap_or_else(|_| b"{}".to_vec());
        let mut json: Value = serde_json::from_slice(&text).unwrap();
        for (key, value) in changes {
            json[*key] = value.clone();
        }
        std::fs::write(file, json.to_string()).unwrap();
    };
    change(".env.json", &[("HOME", "/data/meili".into())]);
    let process = [("uid", 1000.into()), ("gid", 1000.into()), ("hostname", "vm".into())];
    change(".process.json", &process);
    for (user, file) in [("meili", "a.log"), ("meili", "b.log")] {
        let log = at(&format!("data/{user}/ascend/log/{file}"));
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        let text = format!(
            "opened /data/{user}/x as meili for Mei Tan\nto node-17.example.com and gpu-five\n\
             user=zh on host=vm: vm.max_map_count\nerror code is 507035 in torch.nn.functional\n"
        );
        std::fs::write(log, text).unwrap();
    }
    let (code, out, err) =
        run(dir.path(), &[&BUNDLE[..], &["--redact", "hosts", "--json"]].concat());
    assert_eq!(code, 0, "{err}");
    let all = members(&dir.path().join("b.tar.gz"));
    for (name, content) in &all {
        let text = format!("{name}\n{}", String::from_utf8_lossy(content));
        for gone in ["meili", "Mei Tan", "node-17", "gpu-five", "zh:x", "\"vm\"", "user=zh", "=vm"]
        {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
    }
    assert!(!out.contains("meili"), "{out}");
    let log = &all["ascend-doctor-bundle/logs/data/***/ascend/log/a.log"];
    let log = String::from_utf8_lossy(log);
    for kept in ["vm.max_map_count", "507035 in torch.nn.functional", "opened /data/***/x as ***"] {
        assert!(log.contains(kept), "{kept}: {log}");
    }
    let passwd = String::from_utf8_lossy(&all["ascend-doctor-bundle/machine/etc/passwd"]);
    assert!(passwd.contains("HwHiAiUser:x:1001") && passwd.contains("**:x:1002:1002"), "{passwd}");
    // It is still a valid bundle.
    assert_ne!(run(dir.path(), &["check", "--facts", "b.tar.gz"]).0, 2);
    assert_eq!(run(dir.path(), &["report", "b.tar.gz"]).0, 0);
}

#[test]
fn what_is_named_is_in_it_or_is_told() {
    let dir = planted();
    let at = |name: &str| dir.path().join(name);
    let bundle = |more: &[&str]| {
        let args = ["bundle", "--sysroot", "machine", "-o", "b.tar.gz"];
        let (code, out, err) = run(dir.path(), &[&args[..], more].concat());
        let made = at("b.tar.gz");
        let all = if made.exists() { members(&made) } else { BTreeMap::new() };
        (code, out, err, all)
    };
    let log = |all: &BTreeMap<String, Vec<u8>>, end: &str| {
        all.iter()
            .find(|(name, _)| name.contains("/logs/") && name.ends_with(end))
            .map(|(_, text)| String::from_utf8_lossy(text).into_owned())
    };
    // With a misspelled name, no bundle is written.
    let (code, _, err, all) = bundle(&["--add", "trian.log"]);
    assert!(code == 2 && err.contains("trian.log") && all.is_empty(), "{err}");

    // Compressed logs and logs with NUL bytes are included, without the secrets.
    let mut packer = flate2::write::GzEncoder::new(
        std::fs::File::create(at("old.log.gz")).unwrap(),
        flate2::Compression::default(),
    );
    std::io::Write::write_all(&mut packer, b"--api-key Pl4nted12x\nold line\n").unwrap();
    packer.finish().unwrap();
    std::fs::write(at("cut.log"), [&[0; 5000][..], b"new line\n"].concat()).unwrap();
    let wide: Vec<u8> = "--api-key Pl4nted13x\r\n".bytes().flat_map(|byte| [byte, 0]).collect();
    std::fs::write(at("wide.log"), wide).unwrap();
    let (code, out, _, all) =
        bundle(&["--add", "old.log.gz", "--add", "cut.log", "--add", "wide.log", "--json"]);
    assert_eq!(code, 0, "{out}");
    assert!(log(&all, "old.log.gz.txt").unwrap().ends_with("old line\n"));
    assert_eq!(log(&all, "cut.log").unwrap(), "new line\n");
    for (name, content) in &all {
        assert!(!String::from_utf8_lossy(content).contains("Pl4nted"), "{name}");
    }
    let manifest: Value = serde_json::from_str(&out).unwrap();
    let entry = |end: &str| {
        let entries = manifest["entries"].as_array().unwrap().iter();
        entries.clone().find(|entry| entry["path"].as_str().unwrap().ends_with(end)).unwrap()
    };
    assert_eq!(entry("old.log.gz.txt")["unpacked"], true);
    assert_eq!(entry("cut.log")["nul_bytes"], 5000);

    // A file that cannot be included is named with its reason, and the run is not a success; the
    // bundle exists.
    std::fs::write(at("core"), b"\x7fELF\x02\x01\x01\0\x03\0\x3e").unwrap();
    std::fs::create_dir(at("none")).unwrap();
    let (code, out, _, all) = bundle(&["--add", "core", "--add", "none", "--add", "train.log"]);
    assert_eq!(code, 3, "{out}");
    assert!(
        flat(&out).contains("core` was requested but is not included: not a text file"),
        "{out}"
    );
    assert!(flat(&out).contains("contains no file"), "{out}");
    assert!(log(&all, "train.log").is_some());
    let (_, out, _, _) = bundle(&["--add", "core", "--lang", "zh"]);
    assert!(out.contains("未收入：不是文本"), "{out}");
}

#[test]
fn what_cannot_be_read_is_missed_by_who_named_it() {
    let dir = planted();
    let at = |name: &str| dir.path().join(name);
    let bundle = |more: &[&str]| {
        let args = ["bundle", "--sysroot", "machine", "-o", "b.tar.gz"];
        run(dir.path(), &[&args[..], more].concat())
    };
    let (code, out, _) = bundle(&["--add", "train.log"]);
    assert!(code == 0 && !flat(&out).contains("skipped"), "{out}");

    // A directory adds its content, except entries without content.
    std::fs::create_dir_all(at("logs/deep")).unwrap();
    std::fs::write(at("logs/deep/a.log"), "a line\n").unwrap();
    std::os::unix::fs::symlink("deep/a.log", at("logs/latest.log")).unwrap();
    let (code, out, _) = bundle(&["--add", "logs"]);
    assert!(code == 0 && flat(&out).contains("1 file or directory was skipped"), "{out}");
    std::fs::write(at("logs/deep/b.log.zst"), b"\x28\xb5\x2f\xfd\0\x01\x02\x03\x04").unwrap();
    std::fs::write(at("logs/deep/c.log.gz"), b"\x1f\x8b\x08\0cut").unwrap();
    let (code, out, _) = bundle(&["--add", "logs"]);
    assert_eq!(code, 3, "{out}");
    assert!(
        flat(&out).contains("b.log.zst` was requested but is not included: not a text file"),
        "{out}"
    );
    assert!(
        flat(&out).contains("c.log.gz` was requested but is not included: the compressed file"),
        "{out}"
    );
    for number in 10..40 {
        std::fs::write(at("logs/deep").join(format!("{number}.log")), b"\x1f\x8b\x08").unwrap();
    }
    let (_, out, _) = bundle(&["--add", "logs"]);
    assert_eq!(flat(&out).matches("was requested").count(), 10, "{out}");
    assert!(flat(&out).contains("22 more"), "{out}");

    // A problem with automatically collected logs is reported, and is not a failure.
    std::fs::write(at("machine/root/ascend/log/bad.log.gz"), b"\x1f\x8b\x08").unwrap();
    let (code, out, _) = bundle(&["--add", "train.log"]);
    assert!(
        code == 0 && flat(&out).contains("log/bad.log.gz` may contain logs and is not included"),
        "{out}"
    );
    let (code, out, _) = bundle(&["--add", "train.log", "--limit", "0"]);
    assert!(
        code == 3 && !flat(&out).contains("may contain logs"),
        "the limit does what it is for: {out}"
    );
}

#[test]
fn a_bundle_goes_to_standard_output() {
    let dir = planted();
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    let args = ["bundle", "--sysroot", "machine", "--output", "-"];
    let output = program.env_clear().current_dir(dir.path()).args(args).output().unwrap();
    assert!(output.status.success());
    std::fs::write(dir.path().join("b.tar.gz"), &output.stdout).unwrap();
    assert!(members(&dir.path().join("b.tar.gz")).len() > 5);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("standard output") && said.contains("Check the files"), "{said}");
    assert!(!dir.path().join("-").exists());
}

use std::ops::Add as _;

/// Logs in archives are in the bundle, redacted; no member leads out of it.
#[test]
fn bundle_takes_logs_from_archives() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("root/etc")).unwrap();
    std::fs::create_dir(dir.path().join("logs")).unwrap();
    let secret = "token=ghp_0123456789abcdefghijABCDEFGHIJ012345\n[ERROR] 507035\n";
    std::fs::write(dir.path().join("logs/train.log"), secret).unwrap();
    let script = "tar czf a.tar.gz logs && python3 -c \"\
        import zipfile; z = zipfile.ZipFile('b.zip', 'w'); \
        z.writestr('../../worker.log', '[ERROR] EI0006\\n'); z.close()\"";
    let shell = |line: &str| {
        let mut shell = std::process::Command::new("bash");
        shell.current_dir(dir.path()).args(["-c", line]).output().unwrap()
    };
    let made = shell(script);
    assert!(made.status.success(), "{made:?}");
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    let line = "bundle --sysroot root --no-npu-smi --add a.tar.gz --add b.zip -o case.tgz";
    let output = program.current_dir(dir.path()).args(line.split(' ')).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let names = String::from_utf8(shell("tar tzf case.tgz").stdout).unwrap();
    assert!(names.contains("train.log") && names.contains("worker.log"), "{names}");
    assert!(!names.contains(".."), "{names}");
    let text = shell("tar xzf case.tgz -O --wildcards '*train.log'").stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("507035") && !text.contains("ghp_0123"), "{text}");
}
