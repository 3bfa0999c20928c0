//! Measures the time of `audit-ops`, in one process: `cargo bench --bench audit [-- DIR…]`.
//!
//! For each directory of Python sources, it compares parsing with auditing. Parsing: finding and
//! reading its files, and parsing each, with the same walk, the same parser and the same threads
//! (`RAYON_NUM_THREADS`). Auditing: finding, reading, filtering, parsing, resolving, following,
//! evaluating. Auditing must take at most 1.5 times as long as parsing. Both are measured as
//! complete processes, alternately (the program, and this one started only to parse), and
//! repeatedly in one process. In addition, it measures parsing of texts in memory: all of them, and
//! those that name torch. Without an argument it creates a tree. Then it measures each reader of a
//! binary format, with a generated file. It prints times and asserts nothing about them, because
//! machines differ. `scripts/bench_audit.py` measures complete processes, with archives of ten
//! gigabytes.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark builds its tree and prints"
)]

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use audit::classify::classify;
use audit::environment::TargetEnvironment;
use audit::ops::dispatch::Shipped;
use audit::ops::{Tables, Target};
use audit::{self, Model, python};
use rayon::prelude::*;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use treeedit::walk;

#[path = "support/python_files.rs"]
mod python_files;

/// The allocator of the program, because it influences the measurements.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The flag that starts this program only to parse a directory.
const ONLY_PARSE: &str = "--only-parse";
const ROUNDS: usize = 11;
/// The number of files of the generated tree.
const FILES: usize = 2_000;
/// The number of operators of each generated model.
const OPERATORS: usize = 20_000;

fn main() {
    // Cargo adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, root] = &args[..]
        && flag == ONLY_PARSE
    {
        std::hint::black_box(parsed_tree(Path::new(root)));
        return;
    }
    let begin = Instant::now();
    let tables = Tables::get();
    report("reading the tables", begin.elapsed(), "once in a process");
    let begin = Instant::now();
    std::hint::black_box(python::of_source("import torch\ntorch.abs(1)\n", false, false).is_ok());
    report("the first source", begin.elapsed(), "once in a process");
    let built = tempfile::tempdir().unwrap();
    let mut roots: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    if roots.is_empty() {
        build(built.path());
        roots.push(built.path().to_owned());
    }
    for root in &roots {
        sources(root, tables);
    }
    if args.is_empty() {
        println!("\nmodels of {OPERATORS} operators, median (least) of {ROUNDS}, one thread");
        for (name, bytes) in models() {
            model(name, &bytes, tables);
        }
    }
}

fn sources(root: &Path, tables: &'static Tables) {
    let texts: Vec<String> = walkdir::WalkDir::new(root)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "py"))
        .map(|entry| String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned())
        .collect();
    let named: Vec<&String> = texts.iter().filter(|text| text.contains("torch")).collect();
    let megabytes = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| text.len() as f64).sum::<f64>() / 1e6
    };
    println!(
        "\n{}: {} Python files of {:.1} MB, {} of {:.1} MB name torch; {} threads, median (least) of {ROUNDS}",
        root.display(),
        texts.len(),
        megabytes(&mut texts.iter()),
        named.len(),
        megabytes(&mut named.iter().copied()),
        rayon::current_num_threads(),
    );
    let options = python::Options::default();
    let audited = || python::read(root, &options).unwrap();
    // Alternately, so that a busy moment affects all of them.
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(time(|| parsed_tree(root)));
        times[1].push(time(|| judged(&audited(), tables)));
        times[2].push(time(|| texts.par_iter().map(|text| parsed(text)).sum()));
        times[3].push(time(|| named.par_iter().map(|text| parsed(text)).sum()));
    }
    processes(root);
    let names = [
        "parsing the tree",
        "auditing the tree",
        "parsing all in memory",
        "parsing those in memory",
    ];
    let medians: Vec<(f64, f64)> =
        names.iter().zip(&mut times).map(|(name, times)| summary(name, times, "")).collect();
    let ratio = |at: usize| (medians[1].0 / medians[at].0, medians[1].1 / medians[at].1);
    for (at, name) in [(0, "auditing / parsing"), (2, "/ in memory"), (3, "/ those in memory")] {
        let (median, least) = ratio(at);
        println!("{name:>26}  {median:.2} ({least:.2})");
    }
}

/// Measures the complete command, and the process that only parses.
fn processes(root: &Path) {
    let run = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).arg(root).stdout(Stdio::null()).stderr(Stdio::null());
        usize::from(command.status().unwrap().code().is_some())
    };
    let this = std::env::current_exe().unwrap();
    let doctor = Path::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(time(|| run(&this, &[ONLY_PARSE])));
        times[1].push(time(|| run(doctor, &["audit-ops", "--no-config"])));
    }
    let [parsing, auditing] = &mut times;
    let parsing = summary("a process that parses", parsing, "");
    let auditing = summary("the whole command", auditing, "");
    let (median, least) = (auditing.0 / parsing.0, auditing.1 / parsing.1);
    println!("{:>26}  {median:.2} ({least:.2})", "auditing / parsing");
}

/// Finds, reads and parses all Python files of a directory in the same way as the audit.
fn parsed_tree(root: &Path) -> usize {
    let files = walk::walk(&python_files::below(root)).unwrap().files;
    let texts = files.par_iter().map(|file| std::fs::read(&file.path).unwrap());
    texts.map(|bytes| parsed(&String::from_utf8_lossy(&bytes))).sum()
}

/// Parses a text, and returns the number of errors and tokens.
fn parsed(text: &str) -> usize {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    std::hint::black_box(parsed.errors().len() + parsed.tokens().len())
}

fn model(name: &str, bytes: &[u8], tables: &'static Tables) {
    let read = || audit::read(&mut Cursor::new(bytes)).unwrap();
    let uses: u64 = read().uses.values().map(|used| used.count).sum();
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| time(|| judged(&read(), tables))).collect();
    let rate = bytes.len() as f64 / 1e6;
    summary(name, &mut times, &format!("{rate:.1} MB, {uses} uses"));
}

fn judged(model: &Model, tables: &'static Tables) -> usize {
    let target = Target::find(tables, "2.9.0").unwrap();
    let registered = &Shipped { tables, target: &target };
    let against = TargetEnvironment {
        registered,
        tables,
        target: &target,
        chip: None,
        cann: None,
        dtype: None,
    };
    classify(model, against).len()
}

fn time(work: impl FnOnce() -> usize) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(work());
    begin.elapsed()
}

/// Prints a row with median and minimum in milliseconds, and returns them.
fn summary(name: &str, times: &mut [Duration], remark: &str) -> (f64, f64) {
    times.sort_unstable();
    let (median, least) = (times[times.len() / 2], times[0]);
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    report(name, median, &format!("({:.1}) {remark}", milliseconds(least)));
    (milliseconds(median), milliseconds(least))
}

fn report(name: &str, time: Duration, remark: &str) {
    println!("{name:>26}  {:.1} ms {remark}", time.as_secs_f64() * 1e3);
}

/// Modules in a typical style, each slightly different.
fn build(root: &Path) {
    for number in 0..FILES {
        let mut text = String::from(
            "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n",
        );
        for class in 0..8 {
            let _ = write!(
                text,
                "\nclass Block{class}(nn.Module):\n    def __init__(self, dim: int, heads: int = 8):\n        super().__init__()\n        \
                 self.heads = heads\n        self.norm = nn.LayerNorm(dim)\n        self.qkv = nn.Linear(dim, dim * 3)\n        \
                 self.proj = nn.Linear(dim, dim)\n        self.scale = 1 / math.sqrt(dim // heads)\n\n    \
                 def forward(self, x: torch.Tensor, mask=None):\n        batch, length, dim = x.shape\n        \
                 q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)\n        \
                 q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))\n        \
                 scores = (q @ k.transpose(-2, -1)) * self.scale + {number}\n        if mask is not None:\n            \
                 scores = scores.masked_fill(mask[:, None] == 0, float('-inf'))\n        \
                 weights = F.softmax(scores, dim=-1)\n        out = (weights @ v).transpose(1, 2).reshape(batch, length, dim)\n        \
                 return x + self.proj(F.gelu(out))\n"
            );
        }
        let dir = root.join(format!("package{}", number % 40));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("__init__.py"), "").unwrap();
        std::fs::write(dir.join(format!("module{number}.py")), text).unwrap();
    }
}

/// A file for each reader.
fn models() -> Vec<(&'static str, Vec<u8>)> {
    let names = ["linear", "gelu", "mode", "add.Tensor", "transpose.int", "softmax.int"];
    let each = || (0..OPERATORS).map(|at| names[at % names.len()]);
    let nodes: Vec<serde_json::Value> = each()
        .map(|name| {
            let name = if name.contains('.') { name.to_owned() } else { format!("{name}.default") };
            serde_json::json!({"target": format!("torch.ops.aten.{name}"), "inputs": [], "outputs": [],
                "metadata": {"stack_trace": "File \"/net.py\", line 7, in forward\n    x"}})
        })
        .collect();
    let graph = serde_json::json!({"graph_module": {"graph": {"inputs": [], "outputs": [],
        "nodes": nodes, "tensor_values": {}}}, "torch_version": "2.9.0"});
    let export = zip(&[("model/models/model.json", graph.to_string().as_bytes())]);
    let mut code = String::from(
        "class Net(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  def forward(self: __torch__.Net, x: Tensor) -> Tensor:\n    v = x\n",
    );
    for (at, name) in each().enumerate() {
        let name = name.split('.').next().unwrap();
        let _ = writeln!(code, "    v{at} = torch.{name}(v)");
    }
    code.push_str("    return v\n");
    let script = zip(&[
        ("m/code/__torch__.py", code.as_bytes()),
        ("m/data.pkl", b"\x80\x02c__torch__\nNet\nq\x00)\x81."),
        ("m/version", b"3\n"),
    ]);
    let mut graph = Vec::new();
    for at in 0..OPERATORS {
        let kind: &[u8] = [&b"Gemm"[..], b"Relu", b"Softmax", b"Add"][at % 4];
        field(1, &field_of(4, kind), &mut graph);
    }
    let mut onnx = vec![0x08, 0x09];
    field(7, &graph, &mut onnx);
    let mut events = String::from("{\"traceEvents\": [");
    for (at, name) in each().enumerate() {
        let name = name.split('.').next().unwrap();
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            events,
            "{comma}{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::{name}\",\"pid\":1,\"tid\":1,\"ts\":{},\"dur\":5}}",
            at * 10
        );
    }
    events.push_str("]}");
    let list: String = each().fold(String::new(), |list, name| list + "aten::" + name + "\n");
    vec![
        ("torch.export", export),
        ("TorchScript", script),
        ("ONNX", onnx),
        ("trace", events.into_bytes()),
        ("list", list.into_bytes()),
    ]
}

fn field_of(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    field(number, content, &mut out);
    out
}

/// A field of bytes in a protobuf.
fn field(number: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(number << 3 | 2);
    let mut length = content.len();
    while length >= 0x80 {
        out.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).unwrap());
    out.extend_from_slice(content);
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
