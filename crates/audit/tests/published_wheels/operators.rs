//! The operator tables against what they were made of: every overload of every wheel whose
//! dispatcher was read, and every registration of every release.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, and reads the facts beside the project"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use audit::ops::dispatch::{Registrations as _, Shipped};
use audit::ops::documents::Documents;
use audit::ops::tables::Origin;
use audit::ops::{Match, Tables, Target};
use serde_json::Value;

/// The fact tables, where they lie beside the project.
fn facts(name: &str) -> Option<Value> {
    let home = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let places = [home.join("../shared/facts"), home.join("../../shared/facts")];
    let Some(file) = places.iter().map(|place| place.join(name)).find(|file| file.is_file()) else {
        println!("skipped: ../shared/facts/{name} is not here");
        return None;
    };
    Some(serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
}

/// Each overload of each wheel is chosen for as the dispatcher of that wheel chose.
#[test]
fn classes_are_those_of_the_dispatcher() {
    let Some(truth) = facts("ops_truth_wheels.json") else { return };
    let tables = Tables::get();
    let mut pairs = 0;
    for (wheel, row) in truth["wheels"].as_object().unwrap() {
        let target = Target::find(tables, wheel).unwrap();
        assert_eq!(target.how, Match::Wheel, "{wheel}");
        let shipped = Shipped { tables, target: &target };
        let mut wrong = Vec::new();
        for (overload, letter) in row["classes"].as_object().unwrap() {
            let class = shipped.class(overload).map(|class| class.letter().to_string());
            if class.as_deref() != letter.as_str() {
                wrong.push((overload, class, letter));
            }
            pairs += 1;
        }
        assert!(wrong.is_empty(), "{wheel}: {wrong:?}");
    }
    assert!(pairs > 20_000, "{pairs}");
}

/// Each release has the registrations of its sources, and no other.
#[test]
fn kernels_are_those_of_the_sources() {
    let Some(facts) = facts("ops_npu_kernels.json") else { return };
    let tables = Tables::get();
    let keys: Vec<&str> =
        facts["columns"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut checked = 0;
    for (at, column) in tables.columns.iter().enumerate() {
        if column.origin == Origin::Wheel {
            continue;
        }
        let key = format!("{}|{}", column.torch, column.release);
        let index = keys.iter().position(|known| *known == key).unwrap();
        for (overload, cells) in facts["rows"].as_object().unwrap() {
            let cell = cells[index].as_str().unwrap_or_default();
            // What is registered for sparse or quantized tensors alone is no kernel for others.
            let there = cell.contains(['N', 'L', 'T']) && !cell.contains('Q');
            let kernel = tables.kernel(overload).and_then(|runs| runs.at(at));
            assert_eq!(kernel.is_some(), there, "{overload} in {key}: {cell}, {kernel:?}");
            checked += 1;
        }
    }
    assert!(checked > 100_000, "{checked}");
}

/// The sample models, where they lie beside the project.
fn samples() -> Option<PathBuf> {
    let home = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let places = [home.join("../shared/samples/ops"), home.join("../../shared/samples/ops")];
    let found = places.into_iter().find(|place| place.is_dir());
    if found.is_none() {
        println!("skipped: ../shared/samples/ops is not here");
    }
    found
}

/// What PyTorch itself says a sample uses: operator and count. What is Python's own work is no
/// operator.
fn expected(row: &Value) -> BTreeMap<String, u64> {
    let ops = row["ops"].as_object().unwrap();
    let counts = ops.iter().filter(|(name, _)| !name.starts_with('<'));
    counts.map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect()
}

/// Overloads that only numbers, strings and lists have, and the number of dimensions, which never
/// reaches a device: PyTorch leaves it out in some graphs and not in others.
fn is_host(name: &str, tables: &Tables) -> bool {
    if name == "aten::dim" {
        return true;
    }
    let Some(rest) = name.strip_prefix("aten::") else { return name.starts_with("prim::") };
    tables.native(rest, tables.torch.len() - 1).is_none() && tables.kernel(rest).is_none()
}

/// Every sample of every version of PyTorch has exactly the operators that PyTorch says.
#[test]
fn operators_of_models_are_those_of_pytorch() {
    let Some(samples) = samples() else { return };
    let tables = Tables::get();
    let mut files = BTreeMap::new();
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&samples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("ground_truth") {
            continue;
        }
        let truth: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for (file, row) in
            truth.as_object().unwrap().values().flat_map(|m| m["files"].as_object().unwrap())
        {
            let path = samples.join(file);
            if row.get("ops").is_none() || !path.is_file() {
                continue;
            }
            let kind = row["kind"].as_str().unwrap().to_owned();
            let mut source = std::fs::File::open(&path).unwrap();
            let model = match audit::read(&mut source) {
                Ok(model) => model,
                Err(error) => {
                    wrong.push(format!("{file}: {error}"));
                    continue;
                }
            };
            let script = model.format == audit::Format::Torchscript;
            let mut found = BTreeMap::new();
            for (op, used) in &model.uses {
                let name = match model.format {
                    audit::Format::Onnx if op.namespace == "onnx" => op.name.clone(),
                    _ => op.to_string(),
                };
                *found.entry(name).or_default() += used.count;
            }
            let mut wanted = BTreeMap::new();
            for (name, count) in expected(row) {
                // TorchScript does not name overloads.
                if script && is_host(&name, tables) {
                    continue;
                }
                let name = if let Some(name) = name.strip_prefix("with_effects") {
                    format!("higher_order::with_effects{name}")
                } else {
                    name
                };
                let name = if script { name.split('.').next().unwrap().to_owned() } else { name };
                *wanted.entry(name).or_default() += count;
            }
            *files.entry(kind).or_insert(0) += 1;
            for name in found.keys().chain(wanted.keys()).collect::<BTreeSet<_>>() {
                let (is, should): (Option<&u64>, Option<&u64>) =
                    (found.get(name), wanted.get(name));
                let both = match model.format {
                    // An operator inside one of the same name counts once; PyTorch's summary does
                    // so only where it is the only one in there.
                    audit::Format::Trace => is.is_some() && is <= should,
                    _ => is == should,
                };
                if !both {
                    wrong.push(format!("{file}: {name} is {is:?}, should be {should:?}"));
                }
            }
        }
    }
    println!("{files:?}");
    assert!(wrong.is_empty(), "{} of {files:?}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(files.values().sum::<u32>() > 80, "{files:?}");
}

/// Each API of each list of the documents is as they have it: supported or not, its data types as
/// the facts took them apart, and its chips.
#[test]
fn documents_are_those_of_the_lists() {
    let releases = [
        ("2.6.0", "7.3.0"),
        ("2.7.1", "26.0.0"),
        ("2.8.0", "26.0.0"),
        ("2.9.0", "26.1.0"),
        ("2.10.0", "26.1.0"),
        ("2.12.0", "master"),
        ("2.13.0", "master"),
    ];
    for (torch, release) in releases {
        let Some(list) = facts(&format!("ops_api_docs_{torch}_{release}.json")) else { return };
        let documents = Documents::of(torch, release).unwrap();
        assert_eq!(documents.name, format!("{torch}-{release}"));
        let mut by_name: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for row in list.as_array().unwrap().iter().filter(|row| row["status"] != "?") {
            let name = row["api"].as_str().unwrap();
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let name = name[..end.unwrap_or(name.len())].trim_end_matches('.');
            let name = match name {
                _ if name.starts_with("torch") => name.to_owned(),
                _ if name.starts_with("Tensor.") => format!("torch.{name}"),
                // Of a class without its module.
                _ if name.contains('.') => continue,
                _ => format!("torch.Tensor.{name}"),
            };
            by_name.entry(name).or_default().push(row);
        }
        let (mut no, mut typed, mut chips) = (0, 0, 0);
        for (name, rows) in by_name.iter().filter(|(_, rows)| rows.len() == 1) {
            let (row, said) = (rows[0], documents.support(name));
            if row["status"] == "no" {
                assert!(said.is_some_and(|said| !said.supported), "{name}");
                no += 1;
                continue;
            }
            assert!(said.is_none_or(|said| said.supported), "{name}");
            // Of several sentences the facts take types out of all of them, also where it is an index or a
            // result that has one.
            let note = row["note"].as_str().unwrap_or_default();
            let plain = !note.contains("<br>") && !note.contains('\n') && !note.starts_with('-');
            let by_case = said.is_some_and(|said| !said.limits.is_empty());
            if let (Some(types), true) = (row["dtypes"].as_object(), plain && !by_case) {
                if types.keys().any(|name| name.starts_with('!')) || note.contains("fp8") {
                    continue;
                }
                let said = said.unwrap_or_else(|| panic!("{name}: {row}"));
                for (argument, types) in types {
                    let of = said.types.iter().find(|(known, _)| known == argument);
                    let ours: BTreeSet<&str> = of.unwrap().1.iter().copied().collect();
                    let theirs: BTreeSet<&str> =
                        types.as_array().unwrap().iter().filter_map(Value::as_str).collect();
                    assert_eq!(ours, theirs, "{name} {argument}: {row}");
                    typed += 1;
                }
            }
            if let Some(there) = row["hw"].as_object() {
                let missing = there.iter().filter(|(_, there)| **there == false);
                let missing: BTreeSet<&str> = missing.map(|(chip, _)| chip.as_str()).collect();
                let ours: BTreeSet<&str> =
                    said.into_iter().flat_map(|said| &said.missing).copied().collect();
                assert_eq!(ours, missing, "{name}: {row}");
                chips += missing.len();
            }
        }
        println!(
            "{torch}-{release}: {no} not supported, {typed} with types, {chips} without a chip"
        );
        assert!(no > 150 && typed > 1_000, "{torch}-{release}");
    }
}
