//! Converts the values of the file to conditions.

use std::str::FromStr as _;

use pep440_rs::VersionSpecifiers;
use serde::Deserialize;
use toml::{Table, Value};

use base::chip::ChipFamily;
use base::report::Severity;
use base::text::{Text, escape_line};
use data::{Fault, faults};
use facts::normalize_name;

use super::expectation::{Condition, FileCondition, MountCondition, Subject, UNLIMITED};
use super::judge::family;
use super::range::{Order, Range};

/// A message of a site, in one language or both.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Message {
    Same(String),
    Both { en: String, zh: String },
}

impl From<Message> for Text {
    fn from(message: Message) -> Self {
        match message {
            Message::Same(text) => Text::same(text),
            Message::Both { en, zh } => Text::new(en, zh),
        }
    }
}

/// Severity and message of an entry, or of all entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    pub(super) severity: Option<Severity>,
    pub(super) message: Option<Text>,
}

impl Words {
    /// Removes `level` and `message` from a table.
    pub(super) fn take(table: &mut Table) -> Result<Self, Fault> {
        let mut words = Self::default();
        if let Some(level) = table.remove("level") {
            words.severity = Some(match level.as_str() {
                Some("error") => Severity::Error,
                Some("warning") => Severity::Warning,
                Some("info") => Severity::Info,
                _ => return Err(bad("level", &level, "error, warning, info")),
            });
        }
        if let Some(message) = table.remove("message") {
            let read = Message::deserialize(message.clone());
            let forms = "\"…\", { en = \"…\", zh = \"…\" }";
            words.message = Some(read.map_err(|_| bad("message", &message, forms))?.into());
        }
        Ok(words)
    }
}

fn bad(name: &str, value: &Value, forms: &str) -> Fault {
    let value = escape_line(&value.to_string()).into_owned();
    faults::ExpectValue { name, value, forms }.fault()
}

/// The expectations of one entry: several if it lists names.
pub(super) type Read = Vec<(Subject, Condition, Words)>;

/// Reads an entry.
pub(super) fn read_entry(group: Option<&str>, name: &str, value: Value) -> Result<Read, Fault> {
    let (value, words) = split_words(value)?;
    let one = |subject: Subject, condition: Result<Condition, Fault>| {
        Ok(vec![(subject, condition?, words.clone())])
    };
    match group {
        None => match name {
            "npus" => one(Subject::Npus, amount(name, &value, false)),
            "dies" => one(Subject::Dies, amount(name, &value, false)),
            "chip" => one(Subject::Chip, chips(name, &value)),
            "os" => one(Subject::Os, texts(name, &value)),
            "driver" => one(Subject::Driver, range(name, &value, Order::Dotted)),
            "firmware" => one(Subject::Firmware, range(name, &value, Order::Dotted)),
            "kernel" => one(Subject::Kernel, range(name, &value, Order::Dotted)),
            "cann" => one(Subject::Cann, range(name, &value, Order::Cann)),
            _ => Err(unknown(
                name,
                "npus, dies, chip, driver, firmware, cann, os, kernel, level, message, packages, \
                 env, files, mounts, limits, network",
            )),
        },
        Some("packages") => one(Subject::Package(normalize_name(name)), package(name, &value)),
        Some("env") => one(Subject::Env(name.to_owned()), variable(name, &value)),
        Some("files") => one(Subject::File(absolute(name)?), file(name, &value)),
        Some("mounts") => one(Subject::Mount(absolute(name)?), mount(name, &value)),
        Some("limits") => match name {
            "shm" => one(Subject::Shm, amount(name, &value, true)),
            "hugepages" => one(Subject::Hugepages, amount(name, &value, true)),
            "transparent-hugepages" => one(Subject::TransparentHugepages, texts(name, &value)),
            "cpu-governor" => one(Subject::CpuGovernor, texts(name, &value)),
            "nofile" | "nproc" | "memlock" | "stack" | "core" | "as" | "fsize" | "data" | "cpu"
            | "sigpending" | "msgqueue" => {
                one(Subject::Limit(name.to_owned()), amount(name, &value, true))
            }
            _ => Err(unknown(
                name,
                "nofile, nproc, memlock, stack, core, as, fsize, data, cpu, sigpending, msgqueue, \
                 shm, hugepages, transparent-hugepages, cpu-governor",
            )),
        },
        _ => network(name, &value, &words),
    }
}

/// Splits a table into `level` and `message`, and the rest.
fn split_words(value: Value) -> Result<(Value, Words), Fault> {
    let Value::Table(mut table) = value else { return Ok((value, Words::default())) };
    let words = Words::take(&mut table)?;
    // `is` is the plain value of an entry that also has a level or a message.
    let value = match table.remove("is") {
        Some(plain) if table.is_empty() => plain,
        Some(plain) => {
            table.insert("is".to_owned(), plain);
            Value::Table(table)
        }
        None => Value::Table(table),
    };
    Ok((value, words))
}

fn unknown(name: &str, list: &str) -> Fault {
    faults::ExpectUnknown { list, name: escape_line(name).into_owned() }.fault()
}

fn absolute(path: &str) -> Result<String, Fault> {
    let forms = "\"/…\"";
    let plain = path.starts_with('/') && !path.split('/').any(|part| part == "..");
    plain.then(|| path.to_owned()).ok_or_else(|| bad(path, &Value::String(path.to_owned()), forms))
}

/// A number, or `{ min, max }`. A plain number is exact, or a minimum if more is better.
fn amount(name: &str, value: &Value, at_least: bool) -> Result<Condition, Fault> {
    const FORMS: &str = "8, \"64GiB\", \"unlimited\", { min = 8 }, { max = 8 }";
    let fail = || bad(name, value, FORMS);
    if let Value::Table(table) = value {
        let only = table.keys().all(|key| key == "min" || key == "max");
        if !only || table.is_empty() {
            return Err(fail());
        }
        let bound = |key: &str, default: u64| {
            table.get(key).map_or(Some(default), quantity).ok_or_else(fail)
        };
        return Ok(Condition::Amount(bound("min", 0)?, bound("max", UNLIMITED)?));
    }
    let exact = quantity(value).ok_or_else(fail)?;
    Ok(Condition::Amount(exact, if at_least { UNLIMITED } else { exact }))
}

/// A number, a size such as `64GiB`, or `unlimited`.
fn quantity(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_integer() {
        return u64::try_from(number).ok();
    }
    let text = value.as_str()?.trim();
    if text == "unlimited" {
        return Some(UNLIMITED);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A condition for one text or several.
fn texts(name: &str, value: &Value) -> Result<Condition, Fault> {
    let all = match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(list) if !list.is_empty() => {
            list.iter().map(|one| one.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    };
    all.map(Condition::OneOf).ok_or_else(|| bad(name, value, "\"…\", [\"…\", \"…\"]"))
}

/// A condition for known chips or generations. An unknown name would fail on every machine.
fn chips(name: &str, value: &Value) -> Result<Condition, Fault> {
    let condition = texts(name, value)?;
    let is_known = |name: &String| family(name).or_else(|| ChipFamily::from_soc(name)).is_some();
    match &condition {
        Condition::OneOf(names) if names.iter().all(is_known) => Ok(condition),
        _ => Err(bad(name, value, "\"910B3\", \"A2\", \"A3\", \"310P\"")),
    }
}

fn range(name: &str, value: &Value, order: Order) -> Result<Condition, Fault> {
    let forms = match order {
        Order::Cann => "\"8.3.RC1\", \">=8.2, <9.1\"",
        Order::Dotted => "\"25.2.0\", \">=25.0.rc1, <26\"",
    };
    let read = value.as_str().and_then(|text| Some((Range::parse(text, order)?, text)));
    let (range, text) = read.ok_or_else(|| bad(name, value, forms))?;
    Ok(Condition::Range(range, text.to_owned()))
}

fn package(name: &str, value: &Value) -> Result<Condition, Fault> {
    let specifiers = |text: &str| {
        let plain = text.starts_with(|c: char| c.is_ascii_digit());
        let text = if plain { format!("=={text}") } else { text.to_owned() };
        VersionSpecifiers::from_str(&text).ok().filter(|list| !list.is_empty())
    };
    match value {
        Value::Boolean(true) => Some(Condition::Present),
        Value::Boolean(false) => Some(Condition::Absent),
        Value::String(text) => specifiers(text).map(Condition::Specifiers),
        _ => None,
    }
    .ok_or_else(|| bad(name, value, "\"==2.7.1\", \">=2.7,<2.8\", true, false"))
}

fn variable(name: &str, value: &Value) -> Result<Condition, Fault> {
    let fail = || bad(name, value, "\"…\", true, false, { contains = \"…\" }, { min = 600 }");
    match value {
        Value::Boolean(true) => Ok(Condition::Present),
        Value::Boolean(false) => Ok(Condition::Absent),
        Value::String(_) | Value::Array(_) => texts(name, value).map_err(|_| fail()),
        Value::Integer(number) => Ok(Condition::OneOf(vec![number.to_string()])),
        Value::Table(table) => match table.get("contains") {
            Some(Value::String(part)) if table.len() == 1 && !part.is_empty() => {
                Ok(Condition::Contains(part.clone()))
            }
            Some(_) => Err(fail()),
            None => amount(name, value, false).map_err(|_| fail()),
        },
        _ => Err(fail()),
    }
}

fn file(name: &str, value: &Value) -> Result<Condition, Fault> {
    let fail = || {
        let forms = "true, false, { mode = \"0644\", uid = 0, gid = 0, sha256 = \"…\", \
                     type = \"file\" }";
        bad(name, value, forms)
    };
    let table = match value {
        Value::Boolean(true) => return Ok(Condition::Present),
        Value::Boolean(false) => return Ok(Condition::Absent),
        Value::Table(table) => table,
        _ => return Err(fail()),
    };
    let mut condition = FileCondition::default();
    for (key, value) in table {
        let number = || value.as_integer().and_then(|number| u32::try_from(number).ok());
        let known = match key.as_str() {
            "exists" => match value.as_bool() {
                Some(true) => true,
                Some(false) if table.len() == 1 => return Ok(Condition::Absent),
                _ => false,
            },
            "mode" => {
                let mode = value.as_str().and_then(|text| u32::from_str_radix(text, 8).ok());
                condition.mode = mode.filter(|mode| *mode <= 0o7777);
                condition.mode.is_some()
            }
            "uid" => {
                condition.uid = number();
                condition.uid.is_some()
            }
            "gid" => {
                condition.gid = number();
                condition.gid.is_some()
            }
            "sha256" => {
                let hash = value.as_str().map(str::to_ascii_lowercase);
                let is_hash = |text: &String| {
                    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
                };
                condition.sha256 = hash.filter(is_hash);
                condition.sha256.is_some()
            }
            "type" => {
                condition.directory = match value.as_str() {
                    Some("file") => Some(false),
                    Some("directory") => Some(true),
                    _ => None,
                };
                condition.directory.is_some()
            }
            _ => false,
        };
        if !known {
            return Err(fail());
        }
    }
    Ok(Condition::File(condition))
}

fn mount(name: &str, value: &Value) -> Result<Condition, Fault> {
    let fail =
        || bad(name, value, "true, false, \"nfs4\", { type = \"nfs4\", options = [\"rw\"] }");
    match value {
        Value::Boolean(true) => Ok(Condition::Present),
        Value::Boolean(false) => Ok(Condition::Absent),
        Value::String(fstype) => Ok(Condition::Mount(MountCondition {
            fstype: Some(fstype.clone()),
            options: Vec::new(),
        })),
        Value::Table(table) => {
            let mut condition = MountCondition::default();
            for (key, value) in table {
                match (key.as_str(), value) {
                    ("type", Value::String(fstype)) => condition.fstype = Some(fstype.clone()),
                    ("options", Value::Array(_)) => match texts(key, value) {
                        Ok(Condition::OneOf(options)) => condition.options = options,
                        _ => return Err(fail()),
                    },
                    _ => return Err(fail()),
                }
            }
            Ok(Condition::Mount(condition))
        }
        _ => Err(fail()),
    }
}

fn network(name: &str, value: &Value, words: &Words) -> Result<Read, Fault> {
    let subject: fn(String) -> Subject = match name {
        "default-route" => {
            let condition = match value {
                Value::Boolean(true) => Condition::Present,
                Value::Boolean(false) => Condition::Absent,
                _ => return Err(bad(name, value, "true, false")),
            };
            return Ok(vec![(Subject::DefaultRoute, condition, words.clone())]);
        }
        "interfaces" => Subject::Interface,
        "nameservers" => Subject::Nameserver,
        "hosts" => Subject::Host,
        _ => return Err(unknown(name, "interfaces, default-route, nameservers, hosts")),
    };
    let Condition::OneOf(names) = texts(name, value)? else {
        return Err(bad(name, value, "[\"…\"]"));
    };
    Ok(names.into_iter().map(|name| (subject(name), Condition::Present, words.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(group: Option<&str>, line: &str) -> Result<Read, Fault> {
        let table: Table = toml::from_str(line).unwrap();
        let (name, value) = table.into_iter().next().unwrap();
        read_entry(group, &name, value)
    }

    #[test]
    fn values_have_several_forms() {
        let amount = |line: &str| match read(Some("limits"), line).unwrap().remove(0).1 {
            Condition::Amount(min, max) => (min, max),
            other => panic!("{other:?}"),
        };
        assert_eq!(amount("nofile = 1024"), (1024, UNLIMITED));
        assert_eq!(amount("nofile = { min = 1, max = \"2k\" }"), (1, 2048));
        assert_eq!(amount("shm = \"64GiB\""), (64 << 30, UNLIMITED));
        assert_eq!(amount("memlock = \"unlimited\""), (UNLIMITED, UNLIMITED));
        let exact = read(None, "npus = 8").unwrap().remove(0).1;
        assert_eq!(exact, Condition::Amount(8, 8));
        let own = read(Some("packages"), "Torch_NPU = { is = \"2.7.1\", level = \"info\" }");
        let (subject, condition, words) = own.unwrap().remove(0);
        assert_eq!(subject, Subject::Package("torch-npu".to_owned()));
        assert!(matches!(condition, Condition::Specifiers(_)));
        assert_eq!(words.severity, Some(Severity::Info));
        assert_eq!(read(Some("network"), "hosts = [\"a\", \"b\"]").unwrap().len(), 2);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (group, line) in [
            (None, "npus = \"many\""),
            (None, "npus = -1"),
            (None, "npus = { most = 8 }"),
            (None, "nnpus = 8"),
            (None, "chip = \"A7\""),
            (None, "chip = []"),
            (None, "cann = \">=\""),
            (None, "driver = 25"),
            (None, "driver = { is = \"25.2.0\", max = 3 }"),
            (Some("packages"), "torch = \"=>2\""),
            (Some("packages"), "torch = 2"),
            (Some("env"), "A = { contains = \"\" }"),
            (Some("env"), "A = { contains = \"x\", min = 3 }"),
            (Some("files"), "a = true"),
            (Some("files"), "\"/a/../b\" = true"),
            (Some("files"), "\"/a\" = { mode = \"0999\" }"),
            (Some("files"), "\"/a\" = { sha256 = \"abc\" }"),
            (Some("files"), "\"/a\" = { exists = false, mode = \"0644\" }"),
            (Some("mounts"), "\"/a\" = { kind = \"nfs\" }"),
            (Some("limits"), "nofiles = 8"),
            (Some("limits"), "nofile = \"99999999999TiB\""),
            (Some("network"), "default-route = \"yes\""),
            (Some("network"), "gateway = \"10.0.0.1\""),
            (None, "npus = { is = 8, level = \"fatal\" }"),
            (None, "npus = { is = 8, message = 3 }"),
        ] {
            assert!(read(group, line).is_err(), "{group:?} {line}");
        }
    }
}
