//! Sources that `convert` reads: any bytes, as any kind of file.
#![no_main]

use std::path::PathBuf;
use std::sync::Arc;

use ascend_doctor::convert::kind::FileKind;
use ascend_doctor::convert::options::Options;
use ascend_doctor::convert::plan::{FileProblem, plan_bytes};
use ascend_doctor::convert::python::Project;
use ascend_doctor::convert::walk::{Root, SourceFile};
use libfuzzer_sys::fuzz_target;

/// A file name of each kind.
const NAMES: &[(FileKind, &str)] = &[
    (FileKind::Python, "a.py"),
    (FileKind::Notebook, "a.ipynb"),
    (FileKind::Shell, "a.sh"),
    (FileKind::Config, "a.yaml"),
    (FileKind::Config, "a.json"),
    (FileKind::Config, "a.toml"),
    (FileKind::Requirements, "requirements.txt"),
    (FileKind::Requirements, "pyproject.toml"),
    (FileKind::Container, "Dockerfile"),
    (FileKind::Native, "a.cu"),
    (FileKind::Native, "CMakeLists.txt"),
    (FileKind::Rust, "a.rs"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    // Every other input is Python: that is what there is most of.
    let (kind, name) = NAMES[if first & 1 == 0 { 0 } else { usize::from(first >> 1) % NAMES.len() }];
    let root = Root { dir: PathBuf::from("."), real: PathBuf::from("/"), whole: true };
    let file = SourceFile {
        path: PathBuf::from(name),
        relative: PathBuf::from(name),
        root: Arc::new(root),
        kind,
        size: body.len() as u64,
        launch: first & 0x40 != 0,
    };
    let options = Options {
        messages: first & 0x10 != 0,
        mark: first & 0x20 != 0,
        ..Options::default()
    };
    let planned = plan_bytes(&file, body.to_vec(), &options, &Project::default());
    if let Some(planned) = planned {
        // The planner's own check of its output never finds anything.
        if let Some(FileProblem::SelfCheck(why)) = &planned.problem {
            panic!("{name}: {why}\n{}", String::from_utf8_lossy(body));
        }
        assert!(planned.after.as_ref() != Some(&planned.before));
    }
});
