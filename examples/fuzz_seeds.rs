//! Writes first inputs for the fuzz targets: files of machines that the tests build.
//! Used by `scripts/fuzz.sh`.
#![expect(clippy::disallowed_methods, reason = "a tool for developers")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use support::elf::{ElfBuilder, HashStyle};
use support::machine::Spec;
use support::tree::Entry;

const NPU_SMI: &str = "\
| npu-smi 25.2.0                   Version: 25.2.0                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 0     910B4-1             | OK            | 93.0        39                0    / 0             |
| 0     0                   | 0000:C1:00.0  | 0           0    / 0          27547/ 65536         |
Compatibility                  : OK
dcmi module initialize failed. ret is -8005
";

fn main() -> anyhow::Result<()> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "fuzz/corpus".to_owned());
    let mut seeds: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    let new = Spec {
        arch: "x86_64".to_owned(),
        cann: "9.0.0".to_owned(),
        driver: "26.0.rc1".to_owned(),
        torch_npu: "2.9.0.post2".to_owned(),
        ..Spec::default()
    };
    for tree in [Spec::default().build(), new.build()] {
        for (path, entry) in &tree.entries {
            let Entry::File(bytes) = entry else { continue };
            let target = match path.rsplit('/').next().unwrap_or_default() {
                "RECORD" => "record",
                "METADATA" | "WHEEL" | "entry_points.txt" => "metadata",
                name if name.ends_with(".info") => "versions",
                name if name.contains(".so") => "elf",
                _ => continue,
            };
            seeds.entry(target).or_default().push(bytes.to_vec());
        }
    }
    let odd = ElfBuilder::x86_64().hash(HashStyle::Sysv).no_sections().define(["a", "b"]);
    seeds.entry("elf").or_default().push(odd.undefined(["c"]).build());
    seeds.entry("npu_smi").or_default().push(NPU_SMI.into());
    let url = r#"{"dir_info": {"editable": true}, "url": "file:///src/a%20b"}"#;
    seeds.entry("metadata").or_default().push(url.into());
    let texts = ["https://user:secret@host/simple, x", "\u{1b}[31mred\u{202e}\0", "昇腾\r\n"];
    seeds.insert("text", texts.iter().map(|text| text.as_bytes().to_vec()).collect());
    // The first byte says the kind of file; the examples of the rules are the rest.
    let examples = ascend_doctor::convert::rules::Rules::builtin().rules.iter();
    for example in examples.filter_map(|rule| rule.example.as_ref()) {
        let kind = match example.file.as_deref() {
            None => 0u8,
            Some(name) if name.ends_with(".ipynb") => 3,
            Some(name) if name.ends_with(".sh") => 5,
            Some(name) if name.ends_with(".txt") => 13,
            Some(name) if name.ends_with(".rs") => 23,
            Some(_) => 7,
        };
        let text = format!("import torch, os\n{}", example.before);
        let body = if kind == 0 { text.as_bytes() } else { example.before.as_bytes() };
        seeds.entry("convert").or_default().push([&[kind], body].concat());
    }
    for (target, files) in seeds {
        let dir = Path::new(&dir).join(target);
        std::fs::create_dir_all(&dir)?;
        for bytes in files {
            let name = ascend_doctor::hash::Sha256::of(&bytes).hex();
            std::fs::write(dir.join(&name[..16]), bytes)?;
        }
    }
    Ok(())
}
