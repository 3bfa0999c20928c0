//! Network configuration of the devices.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::sysroot::{ReadError, Sysroot};
use facts::{Access, Facts, HccnConf, Net, RankDevice, RankTable};

/// Addresses of the devices' own network ports, written by hccn_tool.
const HCCN_CONF: &str = "/etc/hccn.conf";
/// Path at which ascend-docker-runtime mounts the rank table of the host.
const ROOT_INFO: &str = "/etc/hccl_rootinfo.json";
/// Variables that name a rank table.
const RANK_TABLES: &[&str] = &["RANK_TABLE_FILE", "RANKTABLEFILE"];
/// Maximum size of a rank table, in bytes. One device takes about 100 bytes; parsed, a hostile file
/// takes 16 times its size.
const RANK_TABLE_LIMIT: u64 = 4 << 20;
/// Maximum number of kept lines and devices.
const MAX_BAD_LINES: usize = 32;
const MAX_DEVICES: usize = 100_000;

pub(super) fn collect(sysroot: &Sysroot, facts: &mut Facts) {
    let tools = [
        format!("{}/tools/hccn_tool", facts.driver.home()),
        "/usr/local/bin/hccn_tool".to_owned(),
        "/usr/local/sbin/hccn_tool".to_owned(),
        "/usr/bin/hccn_tool".to_owned(),
    ];
    let hccn_tool = tools.into_iter().find(|path| sysroot.is_file(path));
    facts.net = Net {
        hccn: sysroot.read_text_if_exists(HCCN_CONF).map(|text| parse_hccn(HCCN_CONF, &text)),
        hccn_tool_usable: hccn_tool.as_deref().and_then(|tool| may_execute(sysroot, tool)),
        hccn_tool,
        ranktable: rank_table(sysroot),
    };
}

fn may_execute(sysroot: &Sysroot, path: &str) -> Option<bool> {
    let stat = sysroot.stat(path).ok().filter(|stat| stat.owner_known)?;
    if stat.mode & 0o111 == 0 {
        return Some(false);
    }
    sysroot.process().may(Access::Search, stat.mode, stat.uid, stat.gid)
}

/// Reads `address_0=…`, `netmask_0=…` and `gateway_0=…`; other keys (`netdetect_0`, …) are valid
/// and skipped.
fn parse_hccn(path: &str, text: &str) -> HccnConf {
    let mut conf = HccnConf { path: path.to_owned(), ..HccnConf::default() };
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let known = line.split_once('=').is_some_and(|(key, value)| {
            let value = value.trim().to_owned();
            let device = |prefix: &str| key.trim().strip_prefix(prefix)?.parse::<u32>().ok();
            if let Some(device) = device("address_") {
                conf.addresses.insert(device, value);
                conf.lines.insert(key.trim().to_owned(), number);
            } else if let Some(device) = device("netmask_") {
                conf.netmasks.insert(device, value);
            } else if let Some(device) = device("gateway_") {
                conf.gateways.insert(device, value);
            }
            !key.trim().is_empty()
        });
        if !known && conf.bad_lines.len() < MAX_BAD_LINES {
            conf.bad_lines.push((number, line.chars().take(120).collect()));
        }
    }
    conf
}

fn rank_table(sysroot: &Sysroot) -> Option<RankTable> {
    let env = sysroot.env();
    let named = RANK_TABLES.iter().find_map(|name| Some((*name, env.non_empty(name)?)));
    let (variable, path) = match named {
        Some(named) => named,
        None if sysroot.exists(ROOT_INFO) => ("", ROOT_INFO),
        None => return None,
    };
    let mut table = match sysroot.read(path, RANK_TABLE_LIMIT) {
        Ok(bytes) => parse_rank_table(&bytes),
        Err(ReadError::Partial) => return None,
        Err(error) => unreadable(error.to_string(), None),
    };
    path.clone_into(&mut table.path);
    variable.clone_into(&mut table.variable);
    Some(table)
}

/// Reads the devices of the formats 1.0 and 1.2 (`server_list`), 2.0 (`rank_list`), and of the
/// older one without a version (`group_list`).
fn parse_rank_table(bytes: &[u8]) -> RankTable {
    let json: Value = match serde_json::from_slice(bytes) {
        Ok(json) => json,
        Err(error) => {
            let line = u32::try_from(error.line()).ok().filter(|&line| line > 0);
            return unreadable(error.to_string(), line);
        }
    };
    if !json.is_object() {
        return unreadable("not a JSON object".to_owned(), None);
    }
    let mut table = RankTable {
        version: json.get("version").and_then(text),
        status: json.get("status").and_then(text),
        ..RankTable::default()
    };
    for server in array(&json, "server_list") {
        let id = server.get("server_id").and_then(text).unwrap_or_default();
        for device in array(server, "device") {
            push(&mut table, device, &id);
        }
    }
    for group in array(&json, "group_list") {
        for instance in array(group, "instance_list") {
            let id = instance.get("server_id").and_then(text).unwrap_or_default();
            for device in array(instance, "devices") {
                push(&mut table, device, &id);
            }
        }
    }
    for rank in array(&json, "rank_list") {
        push(&mut table, rank, "");
    }
    find_lines(&mut table, bytes);
    table
}

/// A table that could not be read, and the line of the error.
fn unreadable(error: String, line: Option<u32>) -> RankTable {
    let lines = line.map(|line| ("error".to_owned(), line)).into_iter().collect();
    RankTable { error: Some(error), lines, ..RankTable::default() }
}

/// Adds the lines of values that a report may name. The parser keeps no positions, so the text is
/// scanned again, from string to string.
fn find_lines(table: &mut RankTable, json: &[u8]) {
    let mut addresses: BTreeMap<&[u8], VecDeque<u32>> = BTreeMap::new();
    let mut strings = Strings { rest: json, line: 1 };
    let mut key: &[u8] = b"";
    while let Some((string, line)) = strings.next() {
        match key {
            b"version" | b"status" => {
                let key = String::from_utf8_lossy(key).into_owned();
                table.lines.entry(key).or_insert(line);
            }
            b"device_ip" => addresses.entry(string).or_default().push_back(line),
            _ => {}
        }
        let is_key = strings.rest.trim_ascii_start().first() == Some(&b':');
        key = if is_key { string } else { b"" };
    }
    for device in &mut table.devices {
        let ip = device.device_ip.as_deref().unwrap_or_default();
        device.line = addresses.get_mut(ip.as_bytes()).and_then(VecDeque::pop_front);
    }
}

/// The strings of a JSON text with their lines, without quotes and with their escapes.
struct Strings<'a> {
    rest: &'a [u8],
    line: u32,
}

impl<'a> Iterator for Strings<'a> {
    type Item = (&'a [u8], u32);

    fn next(&mut self) -> Option<Self::Item> {
        let open = self.rest.iter().position(|&byte| byte == b'"')?;
        let before = self.rest[..open].split(|&byte| byte == b'\n').count() - 1;
        self.line = self.line.saturating_add(u32::try_from(before).unwrap_or(u32::MAX));
        let inner = &self.rest[open + 1..];
        let mut escaped = false;
        let close = inner.iter().position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        self.rest = &inner[close + 1..];
        Some((&inner[..close], self.line))
    }
}

fn push(table: &mut RankTable, device: &Value, server: &str) {
    if table.devices.len() >= MAX_DEVICES {
        return;
    }
    let number = |key: &str| device.get(key).and_then(text)?.parse().ok();
    table.devices.push(RankDevice {
        server: server.to_owned(),
        device_id: number("device_id"),
        device_ip: device.get("device_ip").and_then(text).filter(|ip| !ip.is_empty()),
        rank: number("rank_id"),
        line: None,
    });
}

fn array<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A string, or a number as a string: tables contain both.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hccn_conf_is_read() {
        let text = "address_0=192.168.10.10\nnetmask_0=255.255.255.0\ngateway_0=1.1.1.1\nx\n# c\n";
        let conf = parse_hccn("/etc/hccn.conf", text);
        assert_eq!(conf.addresses[&0], "192.168.10.10");
        assert_eq!(conf.netmasks[&0], "255.255.255.0");
        assert_eq!(conf.gateways[&0], "1.1.1.1");
        assert_eq!(conf.bad_lines, [(4, "x".to_owned())]);
    }

    #[test]
    fn both_rank_table_formats_are_read() {
        let old = br#"{"version":"1.0","status":"completed","server_list":[{"server_id":"10.0.0.1",
            "device":[{"device_id":"0","device_ip":"192.1.27.6","rank_id":"0"}]}]}"#;
        let table = parse_rank_table(old);
        assert_eq!(table.version.as_deref(), Some("1.0"));
        assert_eq!(table.devices[0].device_ip.as_deref(), Some("192.1.27.6"));
        assert_eq!(table.devices[0].server, "10.0.0.1");
        let new = br#"{"version":"2.0","rank_list":[{"rank_id":3,"device_id":1}]}"#;
        let table = parse_rank_table(new);
        assert_eq!((table.devices[0].rank, table.devices[0].device_id), (Some(3), Some(1)));
        assert!(parse_rank_table(b"[]").error.is_some());
        let cut = parse_rank_table(b"{\n\"version\":");
        assert!(cut.error.is_some());
        assert_eq!(cut.lines["error"], 2);
    }

    #[test]
    fn rank_table_entries_have_line_numbers() {
        let text = b"{\n \"status\": \"completed\", \"a\\\"b\": 1,\n \"version\":\n \"1.0\",\n\
            \"server_list\": [{\"device\": [{\"device_ip\": \"1.1.1.1\"},\n\
            {\"device_id\": \"1\"},\n{\"device_ip\":\"1.1.1.1\"}]}]}";
        let table = parse_rank_table(text);
        assert_eq!((table.lines["status"], table.lines["version"]), (2, 4));
        let lines: Vec<Option<u32>> = table.devices.iter().map(|device| device.line).collect();
        assert_eq!(lines, [Some(5), None, Some(7)]);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = parse_rank_table(text.as_bytes());
            parse_hccn("x", &text);
        }
    }
}
