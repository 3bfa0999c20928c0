//! Damaged or malicious inputs: each has its message and its exit status, as text and as JSON, and
//! none makes the program allocate memory for claimed sizes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{export, json_of, text, zip};

/// Requires status 2 and one line for an unreadable input, in every format.
fn refused(path: &Path, says: &str) {
    let path = path.to_str().unwrap();
    let (status, shown, error) = text(&["--torch-npu", "2.9.0", path]);
    assert!(status == 2 && error.contains(says) && shown.is_empty(), "{path}: {status} {error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let (status, shown, error) = text(&["--format", "json", "--torch-npu", "2.9.0", path]);
    assert!(status == 2 && error.contains(says) && shown.is_empty(), "{path}: {status} {error}");
}

fn file(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The offset of each record of a zip with this signature.
fn records(bytes: &[u8], signature: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(bytes, signature).collect()
}

/// An archive with one entry, which unpacks to `size` spaces.
fn bomb(dir: &Path, entry: &str, size: usize) -> PathBuf {
    let path = dir.join("bomb.pt2");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    zip.start_file(entry, zip::write::SimpleFileOptions::default()).unwrap();
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..size >> 20 {
        zip.write_all(&spaces).unwrap();
    }
    zip.finish().unwrap();
    path
}

/// Two bytes of JSON are an input of a node, for which a parser would keep fifty times as much.
#[test]
fn a_graph_of_countless_values_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dense.pt2");
    let inputs = "{},".repeat(2_100_000);
    let graph = format!(
        r#"{{"graph_module":{{"graph":{{"nodes":[{{"target":"x","inputs":[{inputs}{{}}]}}]}}}}}}"#
    );
    zip(&path, &[("m/models/model.json", graph.as_bytes())]);
    refused(&path, "exceeds the limit of 4000000 values");
}

/// A shape as long as the header must not be stored completely.
#[test]
fn a_shape_of_countless_sides_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    let header = |sides: &str| {
        format!(r#"{{"a":{{"dtype":"BF16","shape":[{sides}],"data_offsets":[0,2]}}}}"#)
    };
    let ones = "1,".repeat(1 << 20);
    for (sides, fits) in [(format!("{ones}1"), true), (format!("{ones}3"), false)] {
        let header = header(&sides);
        let length = (header.len() as u64).to_le_bytes();
        let bytes = [&length[..], header.as_bytes(), &[0; 2]].concat();
        let path = file(dir.path(), "m.safetensors", &bytes);
        if fits {
            let (status, report) = json_of(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
            assert_eq!((status, &report["inputs"][0]["dtypes"]["bfloat16"]), (3, &1.into()));
        } else {
            refused(&path, "has 2 bytes, which do not match its shape [1, 1, 1");
        }
    }
}

#[test]
fn zip_bombs_are_not_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    for entry in ["m/models/model.json", "m/code/__torch__.py"] {
        let path = bomb(dir.path(), entry, 257 << 20);
        refused(&path, "exceeds the limit of 268435456 bytes");
        // The same archive with a small claimed size.
        let mut bytes = std::fs::read(&path).unwrap();
        for at in records(&bytes, b"PK\x01\x02") {
            bytes[at + 24..at + 28].copy_from_slice(&100_u32.to_le_bytes());
        }
        for at in records(&bytes, b"PK\x03\x04") {
            bytes[at + 22..at + 26].copy_from_slice(&100_u32.to_le_bytes());
        }
        refused(&file(dir.path(), "liar.pt2", &bytes), "cannot be unpacked");
    }
}

#[test]
fn broken_archives_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor"]);
    let bytes = std::fs::read(&model).unwrap();
    for length in [bytes.len() / 2, bytes.len() - 10, 30] {
        refused(&file(dir.path(), "cut.pt2", &bytes[..length]), "may be incomplete");
    }
    let mut locked = bytes.clone();
    for at in records(&bytes, b"PK\x01\x02") {
        locked[at + 8] |= 1;
    }
    for at in records(&bytes, b"PK\x03\x04") {
        locked[at + 6] |= 1;
    }
    refused(&file(dir.path(), "locked.pt2", &locked), "encrypted");
    // The content decides, not the name.
    let renamed = file(dir.path(), "model.onnx", &bytes);
    let (status, report) = json_of(&["--torch-npu", "2.9.0", renamed.to_str().unwrap()]);
    assert_eq!((status, report["inputs"][0]["format"].as_str()), (0, Some("export")));
}

/// Sizes and offsets of 64 bits, as in archives of more than four gigabytes.
#[test]
fn large_zips_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor"]);
    let mut old = zip::ZipArchive::new(std::fs::File::open(&model).unwrap()).unwrap();
    let path = dir.path().join("large.pt2");
    let mut new = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    for at in 0..old.len() {
        let mut entry = old.by_index(at).unwrap();
        let options = zip::write::SimpleFileOptions::default().large_file(true);
        new.start_file(entry.name().unwrap().into_owned(), options).unwrap();
        std::io::copy(&mut entry, &mut new).unwrap();
    }
    new.finish().unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!(report["inputs"][0]["operators"][0]["op"], "aten::add.Tensor");
    assert_eq!(status, 0);
}

#[test]
fn hostile_lengths_and_depths_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let huge = b"\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abc";
    refused(&file(dir.path(), "long.onnx", huge), "more than its enclosing part has left");
    // Graphs nested in graphs: those that are read give no verdict for the rest.
    let field = |number: u8, content: &[u8]| {
        let mut bytes = vec![number << 3 | 2];
        let mut length = content.len();
        while length >= 0x80 {
            bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        bytes.push(u8::try_from(length).unwrap());
        bytes.extend(content);
        bytes
    };
    let mut graph = Vec::new();
    for _ in 0..2_000 {
        let attribute = field(5, &field(6, &graph));
        graph = field(1, &[field(4, b"If"), attribute].concat());
    }
    let model = [b"\x08\x08".to_vec(), field(8, b"\x10\x11"), field(7, &graph)].concat();
    let deep = file(dir.path(), "deep.onnx", &model);
    let (status, report) = json_of(&["--torch-npu", "2.9.0", deep.to_str().unwrap()]);
    assert_eq!((status, &report["inputs"][0]["notes"][0]), (3, &"too_deep".into()));
    let brackets = "[".repeat(1 << 20);
    refused(&file(dir.path(), "deep.py", format!("x = {brackets}").as_bytes()), "nested deeper");
    let nested = format!("{{\"graph_module\": {brackets}");
    let path = dir.path().join("deep.pt2");
    zip(&path, &[("m/models/model.json", nested.as_bytes())]);
    refused(&path, "not an exported program");
    let nested = format!("{{\"traceEvents\": [{{\"args\": {brackets}");
    refused(&file(dir.path(), "deep.json", nested.as_bytes()), "valid JSON");
}

/// JSON may have any size, but its strings may not.
#[test]
fn long_strings_of_json_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let long = "a".repeat(17 << 20);
    let json = format!("{{\"traceEvents\": [{{\"name\": \"{long}\"}}]}}");
    refused(&file(dir.path(), "long.json", json.as_bytes()), "a trace string exceeds the limit");
    let event = "{\"ph\":\"X\",\"name\":\"aten::mm\",\"dur\":1,\"tid\":[1,{\"a\":2}]},";
    let json = format!("[{}{{}}]", event.repeat(200_000));
    let path = file(dir.path(), "large.json", json.as_bytes());
    let (status, report) = json_of(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!((status, &report["inputs"][0]["operators"][0]["count"]), (0, &200_000.into()));
}

/// A truncated file is not accepted as complete, nor as another format.
#[test]
fn damaged_tensors_and_empty_files_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let header = br#"{"a":{"dtype":"F32","shape":[25],"data_offsets":[0,100]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    let cut = file(dir.path(), "cut.safetensors", &[&length[..], header, &[0; 2]].concat());
    refused(&cut, "`a` ends at byte 100, but the data has only 2 bytes");
    let absurd = [&[0xff; 8][..], header].concat();
    refused(&file(dir.path(), "absurd.safetensors", &absurd), "the format allows 100000000");
    refused(&file(dir.path(), "zeros.safetensors", &[0; 5000]), "begins with 4096 zeros");
    let empty = file(dir.path(), "empty.pt", b"");
    refused(&empty, "the file is empty");
    let (_, _, error) = text(&["--lang", "zh", "--torch-npu", "2.9.0", cut.to_str().unwrap()]);
    assert!(error.contains("张量 `a` 结束于数据的第 100 字节"), "{error}");
    // Two entries with the same name: the reader decides which one counts.
    let names = ["m/models/a.json", "m/models/b.json"];
    let path = dir.path().join("twice.pt2");
    zip(&path, &[(names[0], b"{}"), (names[1], b"{}")]);
    let mut bytes = std::fs::read(&path).unwrap();
    for at in records(&bytes, names[1].as_bytes()) {
        bytes[at..at + names[0].len()].copy_from_slice(names[0].as_bytes());
    }
    refused(&file(dir.path(), "twice.pt2", &bytes), "several entries with the same name");
    // In a directory, an empty file is reported only if its name is that of a model.
    let tree = dir.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    file(&tree, "ops.txt", b"aten::add.Tensor\n");
    file(&tree, "py.typed", b"");
    let (status, report) = json_of(&["--torch-npu", "2.9.0", tree.to_str().unwrap()]);
    assert_eq!((status, report["findings"].as_array().unwrap().len()), (0, 0));
    file(&tree, "weights.pt", b"");
    let (status, report) = json_of(&["--torch-npu", "2.9.0", tree.to_str().unwrap()]);
    assert_eq!((status, &report["findings"][0]["message"]), (3, &"damaged".into()));
}

#[test]
fn pickles_are_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let pickle = b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00id\x85R.";
    refused(&file(dir.path(), "evil.pkl", pickle), "never unpickled");
    let path = dir.path().join("evil.pt");
    zip(&path, &[("m/data.pkl", pickle)]);
    refused(&path, "of posix.system");
}

/// A missing directory of packages would look like one without results.
#[test]
fn packages_are_where_they_are_said_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let source = file(dir.path(), "m.py", b"import torch\ntorch.add(1, 2)\n");
    let source = source.to_str().unwrap();
    for site in ["/nonexistent", source] {
        let (status, _, error) = text(&["--follow-imports", "--site", site, source]);
        assert!(status == 2 && error.contains(site) && error.contains("--site"), "{error}");
    }
    let site = dir.path().to_str().unwrap();
    assert_ne!(text(&["--follow-imports", "--site", site, source]).0, 2);
    // Nothing would be looked up there.
    let (status, _, error) = text(&["--site", site, source]);
    assert!(status == 2 && error.contains("--follow-imports"), "{error}");
}

#[test]
fn a_list_that_is_too_long_is_called_one() {
    let dir = tempfile::tempdir().unwrap();
    let list = file(dir.path(), "ops.txt", "aten::add\n".repeat(1_700_000).as_bytes());
    refused(&list, "the list exceeds the limit of 16777216 bytes");
    let other = file(dir.path(), "words.txt", "no operator\n".repeat(1_500_000).as_bytes());
    refused(&other, "unknown format; known formats");
}
