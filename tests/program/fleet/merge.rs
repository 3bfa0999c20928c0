//! Compared values, missing hosts, and the resulting exit status.

use serde_json::{Value, json};

use super::site::{found, merge, now, put, report, reports, run, title, written};
use crate::support::unprivileged::{Place, give, mode};

#[test]
fn a_healthy_cluster_is_clean() {
    let (code, merged) = merge(&reports(12, |_, _| ()), &["--fail-on", "warning"]);
    assert_eq!(found(&merged), [""; 0]);
    assert_eq!(code, 0);
    assert_eq!(merged["schema"], "ascend-doctor/fleet/2");
    assert_eq!(merged["fleet"]["hosts"], 12);
    let cann = &merged["fleet"]["groups"][0]["components"]["cann"];
    assert_eq!(cann["majority"], "8.3.RC1");
    assert_eq!(cann["values"][0]["hosts"], json!(["node[001-012]"]));
    // A single machine has nothing to compare, which is not a fault.
    assert_eq!(merge(&reports(1, |_, _| ()), &[]).0, 0);
}

#[test]
fn hosts_that_stand_out() {
    let all = reports(12, |number, report| {
        let print = &mut report["fingerprint"];
        match number {
            3 => print["driver"] = json!("24.1.rc2"),
            5 | 6 => print["cann"] = json!("8.1.RC1"),
            7 => print["elf_hash"] = json!("ab".repeat(32)),
            8 => print["nnal"] = Value::Null,
            9 => print["env_hash"] = json!("cd".repeat(32)),
            _ => {}
        }
    });
    let (code, merged) = merge(&all, &[]);
    assert_eq!(
        found(&merged),
        [
            "FLEET-BINARY/differs",
            "FLEET-VERSION/differs",
            "FLEET-VERSION/differs",
            "FLEET-VERSION/differs"
        ]
    );
    assert_eq!(code, 1, "hosts are not alike");
    let text = merged.to_string();
    for said in [
        "driver is 24.1.rc2 on 1 of 12 hosts, 25.3.rc1 elsewhere: node003",
        "CANN is 8.1.RC1 on 2 of 12 hosts, 8.3.RC1 elsewhere: node[005-006]",
        "NNAL is absent on 1 of 12 hosts",
        "12 台主机中有 1 台的NNAL为 未安装",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(title(&merged, "FLEET-BINARY").ends_with(": node007"));
}

#[test]
fn without_a_majority_nobody_is_blamed() {
    let all = reports(4, |number, report| {
        if number > 2 {
            report["fingerprint"]["cann"] = json!("8.1.RC1");
        }
    });
    assert_eq!(found(&merge(&all, &[]).1), ["FLEET-VERSION/split"]);
}

#[test]
fn groups_are_compared_within() {
    let all = reports(8, |number, report| {
        if number > 4 {
            report["fingerprint"]["chip"] = json!("310p");
            report["fingerprint"]["driver"] = json!("25.2.0");
        }
    });
    assert_eq!(found(&merge(&all, &[]).1), ["FLEET-VERSION/split"; 2]);
    let (_, merged) = merge(&all, &["--group-by", "soc"]);
    assert_eq!(found(&merged), [""; 0]);
    assert_eq!(merged["fleet"]["groups"][0]["name"], "310p");
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts");
    std::fs::write(&hosts, "[train]\nnode[001-004]\n[infer]\nnode[005:008]\n").unwrap();
    let hosts = hosts.to_str().unwrap();
    let (code, merged) = merge(&all, &["--group-by", "role", "--expect", hosts]);
    assert_eq!((code, found(&merged)), (0, Vec::new()));
    assert_eq!(merged["fleet"]["groups"][1]["name"], "train");
    assert_eq!(run(&["fleet", "merge", "--group-by", "role", "-"]).0, 2);
}

#[test]
fn addresses_are_compared_across_hosts() {
    let all = reports(9, |number, report| {
        let hccn = &mut report["facts"]["net"]["hccn"];
        match number {
            4 => hccn["addresses"]["2"] = json!("10.20.5.1"),
            6 => hccn["addresses"]["0"] = json!("10.99.0.1"),
            7 => hccn["netmasks"]["1"] = json!("255.255.255.0"),
            8 => {
                hccn["addresses"]["0"] = json!("10.98.0.1");
                hccn["gateways"] = json!({ "0": "10.98.0.254" });
            }
            _ => {}
        }
    });
    let (code, merged) = merge(&all, &[]);
    assert_eq!(
        found(&merged),
        ["FLEET-ADDRESS/duplicate", "FLEET-SUBNET/mask", "FLEET-SUBNET/network"]
    );
    assert_eq!(code, 1, "an address twice is an error");
    let shared = title(&merged, "FLEET-ADDRESS");
    assert!(shared.starts_with("node[004-005] share") && shared.contains("10.20.5.1"), "{shared}");
    let text = merged.to_string();
    assert!(text.contains("node006 (1): devices are outside"), "a gateway leads elsewhere: {text}");
}

#[test]
fn networks_of_racks_and_copied_addresses_are_no_errors() {
    // Each rack has a separate network, with routes outside of hccn.conf.
    let racks = reports(9, |number, report| {
        for device in 0..8 {
            let own = format!("10.{}.{number}.{device}", number % 3);
            report["facts"]["net"]["hccn"]["addresses"][device.to_string()] = json!(own);
        }
    });
    assert_eq!(found(&merge(&racks, &[]).1), [""; 0]);
    // Machines for independent jobs, configured by one script.
    let copied = reports(6, |_, report| {
        report["facts"]["net"]["hccn"]["addresses"] = json!({ "0": "192.168.100.100" });
    });
    let (code, merged) = merge(&copied, &[]);
    assert_eq!((code, found(&merged)), (0, vec!["FLEET-ADDRESS/copied".to_owned()]));
    // Two containers of one machine share one device.
    let containers = reports(2, |number, report| {
        if number == 2 {
            report["host"]["boot"] = json!(format!("{:015x}b", 1));
            report["facts"]["net"]["hccn"] = self::report(1)["facts"]["net"]["hccn"].clone();
        }
    });
    assert_eq!(found(&merge(&containers, &[]).1), [""; 0]);
}

#[test]
fn rank_tables_are_held_against_all_devices() {
    let device = |host: u32, d: u32| {
        json!({ "server": format!("10.0.0.{host}"), "device_id": d,
                "device_ip": format!("10.20.{host}.{}", d + 1), "rank": 8 * (host - 1) + d })
    };
    let table = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut devices: Vec<Value> =
            (1..=3).flat_map(|host| (0..8).map(move |d| device(host, d))).collect();
        change(&mut devices);
        json!({ "path": "/job/ranks.json", "variable": "RANK_TABLE_FILE", "version": "1.0",
                "devices": devices, "error": null })
    };
    let with = |of: &dyn Fn(u32) -> Value| {
        let all = reports(4, |number, report| report["facts"]["net"]["ranktable"] = of(number));
        found(&merge(&all, &[]).1)
    };
    assert_eq!(with(&|_| table(&|_| ())), [""; 0]);
    let other = |number: u32| {
        if number == 2 { table(&|devices| devices.truncate(16)) } else { table(&|_| ()) }
    };
    assert_eq!(with(&other), ["FLEET-RANKTABLE/differs"]);
    let strange = |_| table(&|devices| devices[3]["device_ip"] = json!("10.20.77.1"));
    assert_eq!(with(&strange), ["FLEET-RANKTABLE/unknown"]);
    let moved = |_| table(&|devices| devices[3]["device_id"] = json!(5));
    assert_eq!(with(&moved), ["FLEET-RANKTABLE/moved"]);
}

#[test]
fn findings_are_grouped_with_their_hosts() {
    let all = reports(70, |number, report| {
        if number <= 63 || number == 70 {
            let path = if number == 70 { "/dev/davinci7" } else { "/dev/davinci0" };
            report["findings"] = json!([{
                "id": "DEV-ACCESS", "message": "denied", "severity": "error",
                "title": { "en": format!("cannot open {path}"), "zh": format!("无权打开 {path}") },
                "cause": { "en": "c", "zh": "c" }, "evidence": [], "refs": [], "root_cause_of": [],
                "fix": [{ "text": { "en": "f", "zh": "f" }, "run": "id" }]
            }]);
        }
    });
    let (code, merged) = merge(&all, &[]);
    assert_eq!((code, found(&merged)), (1, vec!["DEV-ACCESS/denied".to_owned()]));
    let want = "node[001-063,070] (64 of 70): cannot open /dev/davinci0";
    assert_eq!(title(&merged, "DEV-ACCESS"), want);
    let evidence = &merged["findings"][0]["evidence"];
    assert_eq!(evidence[1]["source"], "node070");
    assert_eq!(evidence[1]["said"]["zh"], "无权打开 /dev/davinci7");
}

#[test]
fn who_is_silent_is_not_well() {
    let (dir, path) = written(&reports(4, |_, _| ()));
    let hosts = dir.path().join("hosts");
    std::fs::write(&hosts, "node[001-006] # two more than there are\n").unwrap();
    let (path, hosts) = (path.to_str().unwrap(), hosts.to_str().unwrap());
    let merge = |more: &[&str]| {
        let (code, text, _) = run(&[&["fleet", "merge", "--json", path], more].concat());
        (code, serde_json::from_str::<Value>(&text).unwrap())
    };
    assert_eq!(merge(&[]).0, 0);
    let (code, merged) = merge(&["--expect", hosts]);
    assert_eq!((code, found(&merged)), (3, vec!["FLEET-HOSTS/missing".to_owned()]));
    assert_eq!(merged["fleet"]["missing"], json!(["node[005-006]"]));
    // A damaged report also counts, and its host is not listed twice as missing.
    let broken = format!("{path}/node005.json");
    std::fs::write(&broken, "{\"schema\": \"ascend-doctor/check/1\", ").unwrap();
    let (code, merged) = merge(&["--expect", hosts]);
    assert_eq!(code, 3);
    assert_eq!(merged["fleet"]["missing"], json!(["node006"]));
    assert_eq!(merged["fleet"]["unreadable"][0]["source"], "node005");
    // Checks that a host could not run are passed on.
    let mut one = report(5);
    one["no_verdict"] = json!([{ "en": "time was lacking", "zh": "超时" }]);
    put(std::path::Path::new(path), "node005", &one);
    let (code, merged) = merge(&[]);
    assert_eq!(code, 3);
    let link = merged["coverage"].as_array().unwrap().iter().find(|link| link["id"] == "verdicts");
    assert_eq!(link.unwrap()["reason"]["en"], "node005: time was lacking");
    assert_eq!(merged["fleet"]["states"]["inconclusive"]["count"], 1);
}

/// A closed directory of one machine hides only the reports of that machine.
#[test]
fn a_directory_that_is_closed_is_told_and_the_others_are_read() {
    let place = Place::new();
    let work = place.work();
    for (number, dir) in [(1, "open"), (2, "closed")] {
        std::fs::create_dir_all(work.join("r").join(dir)).unwrap();
        put(&work.join("r").join(dir), "node", &report(number));
    }
    give(&work);
    let closed = work.join("r/closed");
    mode(&closed, 0);
    let output = place.program().args(["fleet", "merge", "--json", "r"]).output().unwrap();
    mode(&closed, 0o755);
    let merged: Value = serde_json::from_slice(&output.stdout).unwrap();
    let unread = &merged["fleet"]["unreadable"][0];
    assert_eq!((output.status.code(), &unread["source"]), (Some(3), &json!("closed")));
    assert_eq!(
        unread["why"]["en"],
        "the directory of the file cannot be read: Permission denied (os error 13)",
        "{merged}"
    );
}

#[test]
fn wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    for args in [
        &["fleet", "merge"][..],
        &["fleet", "merge", path],
        &["fleet", "merge", "/nonexistent"],
        &["fleet", "merge", "-", "--expect", "/nonexistent"],
    ] {
        assert_eq!(run(args).0, 2, "{args:?}");
    }
    // Empty input is inconclusive.
    assert_eq!(run(&["fleet", "merge", "-"]).0, 3);
}

#[test]
fn the_newest_report_of_a_host_counts() {
    let (_dir, path) = written(&reports(3, |_, _| ()));
    let mut old = report(2);
    old["taken"] = json!(now() - 5000);
    old["fingerprint"]["cann"] = json!("7.0.0");
    put(&path, "another-of-node002", &old);
    let (code, text, _) = run(&["fleet", "merge", path.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Hosts with several reports of one kind (1): node002"), "{text}");
    assert!(!text.contains("7.0.0"), "{text}");
    // A `verify` report next to one of `check` is not a duplicate.
    let verify = json!({ "schema": "ascend-doctor/verify/1", "subject": "node002",
        "host": { "name": "node002" }, "devices": [{ "soc": "Ascend910B3" }],
        "findings": [{ "id": "VERIFY-COMPUTE", "message": "wrong", "severity": "error",
                       "title": { "en": "computes wrong numbers", "zh": "计算结果错误" } }] });
    put(&path, "verify-node002", &verify);
    let (code, text, _) = run(&["fleet", "merge", path.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(text.contains("node002 (1 of 3): computes wrong numbers"), "{text}");
    assert!(text.contains("kind (1)"), "{text}");
}
