//! Inputs of `audit-ops`: files of every kind, the entries of PyTorch's archives (whose checksums a
//! fuzzer does not guess), registration files, and the code of libraries.
#![no_main]

use std::io::{Cursor, Write as _};

use libfuzzer_sys::fuzz_target;

use audit::Model;
use audit::classify::classify;
use audit::environment::TargetEnvironment;
use audit::ops::dispatch::Shipped;
use audit::ops::installed::{Kernels, native_functions};
use audit::ops::{Tables, Target};
use machine::elf::find_plt_strings;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    match first & 7 {
        0 => {
            checked(&mut Cursor::new(body));
        }
        1 => archive(&[("m/code/__torch__.py", body), ("m/data.pkl", b"c__torch__\nNet\n.")]),
        2 => archive(&[("m/models/model.json", body)]),
        3 => archive(&[("m/data.pkl", body)]),
        4 => {
            let text = String::from_utf8_lossy(body);
            let mut kernels = Kernels::default();
            if kernels.add(&text, first & 8 != 0).is_ok() {
                let both = kernels.aten.keys().find(|name| kernels.custom.contains(*name));
                assert!(both.is_none(), "{both:?} is of PyTorch and of torch_npu");
                assert!(kernels.aten.values().all(|flags| !flags.is_empty()));
            }
        }
        5 => {
            let _ = native_functions(&String::from_utf8_lossy(body));
        }
        _ => {
            if let Ok(strings) = find_plt_strings(&body, "_Z") {
                let total: usize = strings.iter().map(String::len).sum();
                assert!(total <= 64 << 20, "{total} bytes of strings from {}", body.len());
            }
        }
    }
});

fn archive(entries: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        zip.start_file(*name, stored).expect("a vector takes everything");
        zip.write_all(content).expect("a vector takes everything");
    }
    let mut file = zip.finish().expect("a vector takes everything");
    file.set_position(0);
    checked(&mut file);
}

/// Invariants of any input: the result is bounded, and can be evaluated.
fn checked(file: &mut Cursor<impl AsRef<[u8]>>) -> Option<Model> {
    let mut file = Cursor::new(file.get_ref().as_ref());
    let model = audit::read(&mut file).ok()?;
    assert!(model.uses.len() <= 20_000);
    for (op, used) in &model.uses {
        assert!(op.to_string().len() <= 8192 && used.places.len() <= 5, "{op}");
        assert!(used.inside <= used.count && used.types.len() <= 64, "{op}");
    }
    let tables = Tables::get();
    let target = Target::newest(tables).expect("there are tables");
    let registered = &Shipped { tables, target: &target };
    let against = TargetEnvironment {
        registered,
        tables,
        target: &target,
        chip: None,
        cann: None,
        dtype: None,
    };
    let judged = classify(&model, against);
    assert!(judged.len() <= model.uses.len());
    Some(model)
}
