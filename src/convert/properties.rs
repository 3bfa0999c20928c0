//! Properties of all kinds of files and trees: a file that parsed still parses, only planned ranges
//! change, a second run changes nothing, and undo restores every byte.
#![expect(clippy::disallowed_methods, reason = "tests write trees and read what became of them")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::edit_reversal::reversed;
use super::encoding::{apply, differs_only_in};
use super::options::{Import, Options};
use super::plan::{PlannedFile, plan, plan_bytes};
use super::python::Project;
use super::python::properties::program;
use base::progress::Progress;
use treeedit::commit::{Change, Refusal, commit};
use treeedit::journal::Journals;
use treeedit::kind::FileKind;
use treeedit::undo::undo;
use treeedit::walk::{Root, Scope, SourceFile, walk};

/// Building blocks for files of each name. A file is a sequence of some of them.
const PIECES: &[(&str, &[&str])] = &[
    (
        "a.yaml",
        &[
            "device: cuda:0\n",
            "backend: nccl # cuda\n",
            "env:\n  CUDA_VISIBLE_DEVICES: '0, 1'\n",
            "trainer: {accelerator: gpu, \"device\": \"cuda\"}\n",
            "list:\n  - cpu\n  - cuda\n",
            "text: |\n  device: cuda\n",
            "name: cuda",
            "\r\n",
        ],
    ),
    (
        "a.json",
        &[
            "{\"device\": \"cuda:0\"}",
            "[{\"env\": {\"CUDA_VISIBLE_DEVICES\": \"0, 1\"}, \"x\": [1, null]}]",
            "{\"backend\": \"nccl\", \"s\": \"\\u4e2d \\\"cuda\\\"\"}",
            "{\"device\": \"\\u0063uda\", \"a\": {\"device_type\": \"gpu\"}}",
            "\n",
            " ",
        ],
    ),
    (
        "a.toml",
        &[
            "device = \"cuda\" # cuda\n",
            "[a]\nbackend = 'nccl'\n",
            "[b.env]\nCUDA_VISIBLE_DEVICES = \"0, 1\"\n",
            "[c]\nx = {device = \"cuda:1\", y = [\"cuda\"]}\n",
            "[d]\ns = '''\ndevice = \"cuda\"\n'''\n",
        ],
    ),
    (
        "pyproject.toml",
        &[
            "[project]\ndependencies = [\"torch==2.7.1\", 'onnxruntime-gpu']\n",
            "[project.optional-dependencies]\ngpu = [\"torch==2.1.0+cu118\",\n  \"cupy-cuda12x\"]\n",
            "[tool.x]\ndevice = \"cuda\"\n",
        ],
    ),
    (
        "requirements.txt",
        &[
            "torch==2.1.0+cu118\n",
            "onnxruntime-gpu>=1.16 ; python_version > '3.8'\n",
            "--extra-index-url https://example.org/whl/cu118\n",
            "# torch\r\n",
            "torch\\\n ==2.7.1\n",
            "xformers",
        ],
    ),
    (
        "a.sh",
        &[
            "export CUDA_VISIBLE_DEVICES=0,1\n",
            "NCCL_DEBUG=INFO python a.py --device \"${1:-cuda}\" \\\n  --backend=nccl\n",
            "pip install torch==2.1.0+cu118\n",
            "cat <<E\nexport CUDA_VISIBLE_DEVICES=0\nE\n",
            "D=cuda\nif [ \"$D\" = cuda ]; then :; fi\n",
            "# cuda\n",
        ],
    ),
    (
        "Dockerfile",
        &[
            "FROM nvidia/cuda:12.1.0-base\n",
            "ENV CUDA_VISIBLE_DEVICES=0 \\\n  X=cuda\n",
            "RUN pip install torch==2.1.0+cu118 && python a.py --device cuda\n",
            "CMD [\"python\", \"a.py\", \"--device\", \"cuda\"]\n",
        ],
    ),
    (
        "a.rs",
        &[
            "use ort::{CUDAExecutionProvider, Session};\n",
            "use ort::execution_providers::CUDAExecutionProvider as E; // CUDA\n",
            "fn a() { let _ = [CUDAExecutionProvider::default().build()]; }\n",
            "fn b() -> tch::Device { tch::Device::Cuda(0) }\n",
            "const C: &str = r#\"CUDAExecutionProvider\"#;\n",
        ],
    ),
    (
        "Cargo.toml",
        &[
            "[dependencies]\nort = { version = \"2\", features = [\"cuda\"] }\n",
            "[features]\ngpu = [\"ort/cuda\"] # cuda\n",
            "[dependencies.candle-core]\nversion = \"0.6\"\nfeatures = ['cuda']\n",
        ],
    ),
    (
        "a.cu",
        &[
            "#include <cuda_runtime.h>\n",
            "__global__ void f(float* a) { a[0] = 1; }\n",
            "void g() { f<<<1, 2>>>(0); cudaMalloc(0, 1); }\n",
        ],
    ),
];

/// A name with a text for it.
fn file() -> impl Strategy<Value = (String, String)> {
    let kinds: Vec<BoxedStrategy<(String, String)>> = PIECES
        .iter()
        .map(|&(name, pieces)| {
            prop::collection::vec(prop::sample::select(pieces), 0..6)
                .prop_map(move |parts| (name.to_owned(), parts.concat()))
                .boxed()
        })
        .chain([
            program().prop_map(|text| ("a.py".to_owned(), text)).boxed(),
            prop::collection::vec(program(), 1..3).prop_map(|cells| notebook(&cells)).boxed(),
        ])
        .collect();
    prop::strategy::Union::new(kinds)
}

fn notebook(cells: &[String]) -> (String, String) {
    let cells: Vec<serde_json::Value> = cells
        .iter()
        .map(|cell| {
            let lines: Vec<&str> = cell.split_inclusive('\n').collect();
            serde_json::json!({
                "cell_type": "code", "metadata": {}, "outputs": ["cuda"], "source": lines,
            })
        })
        .collect();
    let text = serde_json::json!({ "cells": cells, "metadata": {}, "nbformat": 4 });
    ("a.ipynb".to_owned(), text.to_string())
}

fn options() -> impl Strategy<Value = Options> {
    const IMPORT: &[Import] = &[Import::Need, Import::Each, Import::Entry, Import::None];
    (any::<[bool; 2]>(), prop::sample::select(IMPORT)).prop_map(|([messages, mark], import)| {
        Options { messages, mark, import, ..Options::default() }
    })
}

fn source(name: &str, text: &str, launch: bool) -> SourceFile {
    SourceFile {
        path: PathBuf::from(name),
        relative: PathBuf::from(name),
        root: Arc::new(Root::new(".", "/", true)),
        kind: FileKind::of_name(name).unwrap(),
        size: text.len() as u64,
        launch,
    }
}

fn planned(name: &str, text: &str, launch: bool, options: &Options) -> Option<PlannedFile> {
    let file = source(name, text, launch);
    plan_bytes(&file, text.as_bytes().to_vec(), options, &Project::default())
}

/// Whether a text is valid for its file name, according to a parser from outside this project.
fn parses(name: &str, text: &str) -> bool {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "json" | "ipynb" => serde_json::from_str::<serde_json::Value>(text).is_ok(),
        "toml" => toml::from_str::<toml::Value>(text).is_ok(),
        "rs" => syn::parse_file(text).is_ok(),
        "py" => ruff_python_parser::parse_module(text).is_ok(),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn of_files((name, text) in file(), launch: bool, options in options()) {
        let Some(file) = planned(&name, &text, launch, &options) else { return Ok(()) };
        let unsound = matches!(file.problem, Some(super::plan::FileProblem::SelfCheck(_)));
        prop_assert!(!unsound, "{:?}\n{name}:\n{text}", file.problem);
        for site in &file.plan.sites {
            prop_assert!(text.get(site.range.clone()).is_some());
        }
        let Some(after) = &file.after else { return Ok(()) };
        let out = std::str::from_utf8(after).unwrap();
        prop_assert!(differs_only_in(&text, out, &file.plan.edits), "{name}:\n{text}\n=>\n{out}");
        prop_assert_eq!(apply(out, &reversed(&text, &file.plan.edits)), text.as_str());
        prop_assert!(!parses(&name, &text) || parses(&name, out), "{name}:\n{text}\n=>\n{out}");
        let again = planned(&name, out, launch, &options).and_then(|file| file.after);
        prop_assert_eq!(again, None, "{}:\n{}\n=>\n{}", name, text, out);
    }
}

/// The files below a directory, without the journal.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap()))
        .filter(|(path, _)| !path.starts_with(dir.join(treeedit::journal::DIRECTORY)))
        .collect()
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn of_trees(files in prop::collection::vec(file(), 1..6), options in options()) {
        let dir = tempfile::tempdir().unwrap();
        for (number, (name, text)) in files.iter().enumerate() {
            let place = dir.path().join(number.to_string());
            std::fs::create_dir(&place).unwrap();
            std::fs::write(place.join(name), text).unwrap();
        }
        let before = content(dir.path());
        let scope = Scope {
            roots: vec![dir.path().to_owned()],
            launch: Vec::new(),
            exclude: Vec::new(),
            kinds: FileKind::ALL.to_vec(),
            ignore_files: true,
            linked_files: false,
            max_size: 1 << 20,
        };
        let planned = plan(&walk(&scope).unwrap().files, &options, &Progress::default());
        let changes: Vec<Change<'_>> = planned
            .files
            .iter()
            .filter_map(|file| {
                let after = file.after.as_deref()?;
                Some(Change { relative: &file.file.relative, before: &file.before, after })
            })
            .collect();
        let journals = Journals::open(dir.path()).unwrap();
        let mut committed = commit::<Refusal>(&journals, &changes, false, &|_| Ok(())).unwrap();
        drop(committed.finishing.take());
        prop_assert_eq!(committed.replaced, changes.len());
        let after = content(dir.path());
        let changed = before.iter().filter(|(path, bytes)| after[*path] != **bytes).count();
        prop_assert_eq!((changed, after.len()), (changes.len(), before.len()));
        let again = plan(&walk(&scope).unwrap().files, &options, &Progress::default());
        prop_assert!(again.files.iter().all(|file| file.after.is_none()));
        undo(&journals, false).unwrap();
        prop_assert_eq!(content(dir.path()), before);
    }
}
