//! Expectations of a site for its machines: `[expect]`, `--expect-from`, `--baseline`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::machine::Spec;
use crate::support::recipe;

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    let output = command.env_clear().current_dir(dir).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn check(dir: &Path, expect: &str, more: &[&str]) -> (i32, Value, String) {
    std::fs::write(dir.join("site.toml"), expect).unwrap();
    let args = ["check", "--sysroot", "machine", "--config", "site.toml", "--json"];
    let (code, text, errors) = run(dir, &[&args[..], more].concat());
    (code, serde_json::from_str(&text).unwrap_or_default(), errors)
}

/// Severity, ID and English title of the findings of the site.
fn found(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().into_iter().flatten();
    let own = findings.filter(|finding| text(&finding["id"]).starts_with("SITE-"));
    own.map(|one| {
        let (level, id, title) =
            (text(&one["severity"]), text(&one["id"]), text(&one["title"]["en"]));
        format!("{level} {id} {title}")
    })
    .collect()
}

fn link(report: &Value) -> String {
    let links = report["coverage"].as_array().unwrap();
    let link = links.iter().find(|link| link["id"] == "site");
    link.map_or("none", |link| link["state"].as_str().unwrap()).to_owned()
}

/// Each expectation with a value that matches, and one that does not.
#[test]
fn each_expectation_holds_or_is_told() {
    let dir = recipe::beside("ok-host-910b");
    let machine = dir.path().join("machine");
    let put = |path: &str, text: &str| {
        let path = machine.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "proc/self/limits",
        "Max open files            1024                 524288               files\n",
    );
    put("proc/1/mountinfo", "36 35 98:0 / / rw - ext4 /dev/vda rw\n");
    put(
        "proc/self/mountinfo",
        "36 35 98:0 / / rw - ext4 /dev/vda rw\n37 36 0:9 / /data rw,noatime - nfs4 s:/d rw\n",
    );
    put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("sys/class/net/bond0/operstate", "down\n");
    put("sys/class/net/eth9/operstate", "up\n");
    put("etc/resolv.conf", "nameserver 10.0.0.2\n");
    put("etc/hosts", "10.0.0.7 node7\n");
    put("opt/site/a.conf", "x");
    let hash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    for (group, holds, fails, title) in [
        ("", "npus = 8", "npus = 16", "SITE-HARDWARE Number of NPUs: 8 (expected 16)"),
        (
            "",
            "dies = { min = 8 }",
            "dies = { min = 9 }",
            "SITE-HARDWARE Number of dies: 8 (expected at least 9)",
        ),
        (
            "",
            "chip = \"A2\"",
            "chip = [\"310P\", \"A3\"]",
            "SITE-HARDWARE Chip: Ascend 910B (Atlas A2) (expected `310P` / `A3`)",
        ),
        (
            "",
            "driver = \">=25.2.0, <26\"",
            "driver = \">=25.3.0\"",
            "SITE-VERSION Driver: `25.3.rc1` (expected `>=25.3.0`)",
        ),
        (
            "",
            "firmware = \">=7.7\"",
            "firmware = \"7.7\"",
            "SITE-VERSION Firmware: `7.8.0.2.212` (expected `7.7`)",
        ),
        (
            "",
            "cann = \"8.3.rc1\"",
            "cann = \">=8.5\"",
            "SITE-VERSION CANN: `8.3.RC1` (expected `>=8.5`)",
        ),
        (
            "",
            "os = [\"openEuler\", \"ubuntu 22.04\"]",
            "os = \"Ubuntu 22.0\"",
            "SITE-VERSION Operating system: Ubuntu 22.04.5 LTS (expected `Ubuntu 22.0`)",
        ),
        (
            ".packages",
            "torch_npu = \"~=2.7.1\"",
            "torch-npu = \"2.7.1.post1\"",
            "SITE-PACKAGE torch-npu: `2.7.1` (expected `==2.7.1.post1`)",
        ),
        (
            ".packages",
            "vllm-ascend = false",
            "vllm-ascend = true",
            "SITE-PACKAGE vllm-ascend: absent (expected present)",
        ),
        (
            ".env",
            "HCCL_ALGO = false",
            "HCCL_ALGO = { min = 3 }",
            "SITE-ENV HCCL_ALGO: not set (expected at least 3)",
        ),
        (
            ".files",
            "\"/opt/site/a.conf\" = true",
            "\"/opt/site/a.conf\" = false",
            "SITE-FILE /opt/site/a.conf: present (expected absent)",
        ),
        (
            ".files",
            "\"/opt/site/a.conf\" = { sha256 = \"HASH\" }",
            "\"/opt/site/a.conf\" = { type = \"directory\" }",
            "SITE-FILE /opt/site/a.conf: a regular file (expected directory)",
        ),
        (
            ".mounts",
            "\"/data\" = { type = \"nfs4\", options = [\"noatime\"] }",
            "\"/data\" = \"lustre\"",
            "SITE-MOUNT Mount /data: nfs4 (rw,noatime,rw) (expected lustre)",
        ),
        (
            ".limits",
            "nofile = 1000",
            "nofile = 65536",
            "SITE-LIMIT Limit nofile: 1024 (expected at least 65536)",
        ),
        (
            ".limits",
            "shm = \"32GiB\"",
            "shm = \"1TiB\"",
            "SITE-LIMIT Size of /dev/shm: 64 GiB (expected at least 1 TiB)",
        ),
        (
            ".limits",
            "transparent-hugepages = \"madvise\"",
            "transparent-hugepages = \"always\"",
            "SITE-LIMIT Transparent huge pages: `madvise` (expected `always`)",
        ),
        (
            ".limits",
            "cpu-governor = \"performance\"",
            "cpu-governor = \"schedutil\"",
            "SITE-LIMIT CPU governor: performance (expected `schedutil`)",
        ),
        (
            ".network",
            "interfaces = \"eth9\"",
            "interfaces = [\"eth9\", \"bond0\"]",
            "SITE-NETWORK Interface bond0: `down` (expected up)",
        ),
        (
            ".network",
            "nameservers = \"10.0.0.2\"",
            "nameservers = \"10.0.0.3\"",
            "SITE-NETWORK Name server 10.0.0.3: absent (expected present)",
        ),
        (
            ".network",
            "hosts = \"node7\"",
            "hosts = \"node8\"",
            "SITE-NETWORK Host node8 in /etc/hosts: absent (expected present)",
        ),
    ] {
        let holds = format!("[expect{group}]\n{}\n", holds.replace("HASH", hash));
        let (code, report, errors) = check(dir.path(), &holds, &[]);
        assert_eq!((code, found(&report)), (0, vec![]), "{holds} {errors}");
        assert_eq!(link(&report), "shown", "{holds}");
        let (code, report, errors) = check(dir.path(), &format!("[expect{group}]\n{fails}\n"), &[]);
        assert_eq!((code, found(&report)), (1, vec![format!("error {title}")]), "{fails} {errors}");
        assert_eq!((link(&report).as_str(), &report["verdict"]), ("contradicted", &"fail".into()));
    }
}

/// The example of the page is valid: it is read, and each of its entries is evaluated.
#[test]
fn the_example_of_the_page_is_read() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/gate.md")).unwrap();
    let (_, block) = page.split_once("<!-- gate: expect -->\n```toml\n").unwrap();
    let (example, _) = block.split_once("```").unwrap();
    let dir = recipe::beside("ok-host-910b");
    let (code, report, errors) = check(dir.path(), example, &["--only", "site"]);
    assert_eq!((code, errors.as_str()), (1, ""));
    let families = ["VERSION", "MOUNT", "LIMIT", "NETWORK", "ENV", "FILE", "PACKAGE", "HARDWARE"];
    let checks = report["checks"].as_array().unwrap();
    for family in families {
        let id = format!("SITE-{family}");
        let row = checks.iter().find(|row| row["id"] == *id).unwrap();
        assert_ne!(row["state"], "not_applicable", "{id}");
    }
}

/// An unknown value is neither a pass nor a finding.
#[test]
fn what_is_not_known_is_inconclusive() {
    let dir = recipe::beside("ok-host-910b");
    for expect in [
        "[expect.limits]\nnofile = 1\n",
        "[expect.limits]\ncpu-governor = \"performance\"\n",
        "[expect.network]\ndefault-route = true\n",
        "[expect.mounts]\n\"/data\" = false\n",
        "[expect.files]\n\"/etc/os-release\" = { mode = \"0644\" }\n",
        "[expect]\nchip = \"910B3\"\n",
        // A warning does not hide that the other value is unknown.
        "[expect.limits]\nnofile = 1\nshm = { is = \"1TiB\", level = \"warning\" }\n",
    ] {
        let (code, report, errors) = check(dir.path(), expect, &[]);
        assert_eq!((code, link(&report).as_str()), (3, "not_examined"), "{expect} {errors}");
    }
    // Without expectations, the report does not mention them.
    let (code, report, _) = check(dir.path(), "", &[]);
    assert_eq!((code, link(&report).as_str()), (0, "none"));
    assert!(!report.to_string().contains("SITE-"));
}

#[test]
fn levels_messages_and_skips_are_those_of_the_site() {
    let dir = recipe::beside("ok-host-910b");
    let expect = "[expect]\nlevel = \"warning\"\nmessage = { en = \"ask ops\", zh = \"联系运维\" }\n\
                  npus = 16\n[expect.packages]\ntorch = { is = \"2.9.0\", level = \"error\", message = \"no\" }\n";
    let (code, report, _) = check(dir.path(), expect, &[]);
    assert_eq!(code, 1);
    let of = |id: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["id"] == id).unwrap().clone()
    };
    let (hardware, package) = (of("SITE-HARDWARE"), of("SITE-PACKAGE"));
    assert_eq!(
        (&hardware["severity"], &hardware["cause"]["zh"]),
        (&"warning".into(), &"站点说明：联系运维".into())
    );
    assert_eq!(
        (&package["severity"], &package["cause"]["en"]),
        (&"error".into(), &"Site note: no".into())
    );
    assert!(package["evidence"].to_string().contains("site.toml:6"), "{package}");
    // A known deviation, with an end date.
    let skip =
        "[[skip]]\nid = \"SITE-HARDWARE\"\nreason = \"one card is away\"\nuntil = 2099-01-31\n";
    let (code, report, _) = check(dir.path(), &format!("{skip}[expect]\nnpus = 16\n"), &[]);
    assert_eq!((code, link(&report).as_str()), (0, "waived"));
    let (code, report, _) = check(dir.path(), "[expect]\nnpus = 16\n", &["--skip", "site"]);
    assert_eq!((code, link(&report).as_str()), (0, "waived"));
}

#[test]
fn mistakes_are_named_with_their_line() {
    let dir = recipe::beside("ok-host-910b");
    for (expect, line, word) in [
        ("[expect]\n", 1, "no entry"),
        ("[expect]\n[expect.env]\n", 1, "no entry"),
        ("[expect]\nmessage = \"x\"\n", 1, "no entry"),
        ("lang = \"en\"\n[expect]\nnpus = 8\ndrivers = \"1\"\n", 4, "`drivers`"),
        ("[expect]\nenv = 3\n", 2, "`env`"),
        ("expect = 3\n", 1, "`expect`"),
        ("[expect.env]\nHOME_TOKEN = true\n", 2, "`HOME_TOKEN`"),
        ("[expect.env]\n\nFOO = true\n", 3, "`FOO`"),
    ] {
        let (code, _, errors) = check(dir.path(), expect, &[]);
        assert_eq!(code, 2, "{expect}");
        assert!(errors.contains(&format!("site.toml:{line}")) && errors.contains(word), "{errors}");
    }
}

#[test]
fn a_healthy_machine_gives_the_expectations_for_others() {
    let dir = recipe::beside("ok-host-910b");
    let path = dir.path();
    let (_, report, _) = run(path, &["check", "--sysroot", "machine", "--json"]);
    std::fs::write(path.join("good.json"), report).unwrap();
    let (code, text, errors) = run(path, &["check", "--expect-from", "good.json"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(text.contains("npus = 8\n") && text.contains("torch = \"==2.7.1\""), "{text}");
    let (code, report, _) = check(path, &text, &[]);
    assert_eq!((code, link(&report).as_str()), (0, "shown"), "{:?}", found(&report));
    // One device less: every other check passes.
    std::fs::remove_dir_all(path.join("machine")).unwrap();
    Spec { npus: 7, ..Spec::default() }.build().write(&path.join("machine"));
    let (code, report, _) = check(path, "[expect]\nnpus = 8\n", &[]);
    assert_eq!((code, found(&report).len()), (1, 1), "{report}");
    assert_eq!(check(path, "", &[]).0, 0);
    // A failing machine cannot be the reference, and neither can another document.
    let bad = recipe::beside("f09-not-in-group");
    let (_, report, _) = run(bad.path(), &["check", "--sysroot", "machine", "--json"]);
    std::fs::write(bad.path().join("bad.json"), report).unwrap();
    std::fs::write(bad.path().join("other.json"), "{}").unwrap();
    for name in ["bad.json", "other.json", "absent.json"] {
        let (code, text, errors) = run(bad.path(), &["check", "--expect-from", name]);
        assert_eq!((code, text.as_str()), (2, ""));
        assert!(errors.contains(name), "{errors}");
    }
}

/// One file applies to all hosts of a cluster, whatever the settings of their own checks.
#[test]
fn a_fleet_is_judged_by_one_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(dir.path().join("reports")).unwrap();
    for (name, npus) in [("n1", 8), ("n2", 8), ("n3", 7)] {
        let machine = dir.path().join(name);
        Spec { npus, hccn: false, ..Spec::default() }.build().write(&machine);
        let sysroot = machine.to_str().unwrap();
        let (_, report, _) =
            run(dir.path(), &["check", "--sysroot", sysroot, "--host", name, "--json"]);
        std::fs::write(dir.path().join(format!("reports/{name}.json")), report).unwrap();
    }
    let merge = |expect: &str| {
        std::fs::write(dir.path().join("site.toml"), expect).unwrap();
        let args = ["fleet", "merge", "reports", "--config", "site.toml", "--json"];
        let (code, text, errors) = run(dir.path(), &args);
        (code, serde_json::from_str::<Value>(&text).unwrap_or_else(|_| panic!("{errors}")))
    };
    let (code, report) = merge("[expect]\nnpus = 8\n");
    assert_eq!((code, &report["verdict"]), (1, &"fail".into()));
    let text = report["findings"].to_string();
    assert!(text.contains("Number of NPUs: 7 (expected 8)") && text.contains("n3"), "{text}");
    assert!(!text.contains("Number of NPUs: 8"), "{text}");
    assert_eq!(merge("[expect]\nnpus = { min = 7 }\n").0, merge("").0);
    // Values missing in the reports decide nothing.
    std::fs::remove_file(dir.path().join("reports/n3.json")).unwrap();
    assert_eq!(merge("").0, 0);
    let (code, report) = merge("[expect.limits]\nnofile = 1\n");
    assert_eq!((code, &report["verdict"]), (3, &"inconclusive".into()), "{}", report["findings"]);
}

#[test]
fn two_states_of_a_host_are_compared() {
    let dir = recipe::beside("ok-host-910b");
    let path = dir.path();
    let args = ["check", "--sysroot", "machine", "--json"];
    let (_, before, _) = run(path, &args);
    std::fs::write(path.join("before.json"), &before).unwrap();
    let compared = [&args[..], &["--baseline", "before.json"]].concat();
    let (code, text, _) = run(path, &compared);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, report["baseline"]["changes"].as_array().unwrap().len()), (0, 0), "{text}");
    // An upgrade of only torch.
    let metadata =
        path.join("machine/root/venv/lib/python3.11/site-packages/torch-2.7.1.dist-info/METADATA");
    let old = std::fs::read_to_string(&metadata).unwrap();
    std::fs::write(&metadata, old.replace("Version: 2.7.1", "Version: 2.8.0")).unwrap();
    let version = path.join("machine/root/venv/lib/python3.11/site-packages/torch/version.py");
    let old = std::fs::read_to_string(&version).unwrap();
    std::fs::write(&version, old.replace("2.7.1", "2.8.0")).unwrap();
    // pip rewrites RECORD; without one, nothing is compared with it, which is reported.
    std::fs::remove_file(metadata.with_file_name("RECORD")).unwrap();
    let (code, text, _) = run(path, &compared);
    let report: Value = serde_json::from_str(&text).unwrap();
    let change = &report["baseline"]["changes"][0];
    assert_eq!((code, &change["what"], &change["effect"]), (1, &"torch".into(), &"matters".into()));
    assert_eq!((&change["before"], &change["now"]), (&"2.7.1".into(), &"2.8.0".into()));
    assert!(change["findings"].to_string().contains("TORCH-VERSION"), "{change}");
    assert!(report["baseline"]["new"].to_string().contains("TORCH-VERSION"));
    let text = ["check", "--sysroot", "machine", "--baseline", "before.json"];
    let (_, text, _) = run(path, &text);
    assert!(
        text.contains("2.7.1 → 2.8.0") && text.contains("New findings: TORCH-VERSION"),
        "{text}"
    );
    let (code, _, errors) = run(path, &["check", "--baseline", "absent.json"]);
    assert!(code == 2 && errors.contains("absent.json"), "{errors}");
}
