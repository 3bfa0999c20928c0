//! `convert` on the repository's own examples, on unusual files, on git work trees, and on the
//! repositories of `--repo`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{Inputs, OTHER_FORMATS, entries, explain, file_name, rotate};
use crate::process::Status;
use crate::same::case::{Case, Plan, arg_array, args};
use crate::same::observe;
use crate::workspace;

/// Variants that write nothing, so they need no copy of the tree.
const READING: [(&str, &str); 24] = [
    ("dry-run-en", "--dry-run --lang en"),
    ("dry-run-zh", "--dry-run --lang zh"),
    ("dry-run-json", "--dry-run --json"),
    ("dry-run-verbose", "--dry-run -v"),
    ("dry-run-color", "--dry-run --color always"),
    ("diff", "--diff"),
    ("diff-mark", "--diff --mark"),
    ("diff-messages", "--diff --also messages"),
    ("diff-import-each", "--diff --import each"),
    ("diff-import-entry", "--diff --import entry"),
    ("diff-import-none", "--diff --import none"),
    ("diff-exclude", "--diff --exclude *.sh"),
    ("diff-no-ignore", "--diff --no-ignore"),
    ("diff-2.1", "--diff --target torch_npu==2.1.0"),
    ("diff-2.6", "--diff --target torch_npu==2.6.0"),
    ("json-2.7.1", "--dry-run --json --target torch_npu==2.7.1"),
    ("check", "--check"),
    ("check-fail-on-never", "--check --fail-on never"),
    ("fail-on-warning", "--dry-run --fail-on warning"),
    ("report", "--dry-run --format html --output report.html"),
    ("kind-python", "--diff --kind python"),
    ("kind-shell-container", "--diff --kind shell,container"),
    ("no-kind-python", "--diff --no-kind python"),
    ("max-size", "--dry-run --max-size 1"),
];

/// Variants on a copy of a tree, whose results are compared byte by byte.
const WRITING: [(&str, &str); 3] = [
    ("in-place", ""),
    ("in-place-mark", "--mark --also messages --output report.json --json"),
    ("output", "--output-dir converted --json --output report.json"),
];

/// Additional variants for small trees.
const WRITING_MORE: [(&str, &str); 4] = [
    ("in-place-backup", "--backup -q"),
    ("in-place-verbose-zh", "-v --lang zh"),
    ("in-place-html", "--format html --output report.html"),
    ("output-text", "--output-dir converted"),
];

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let mut trees: Vec<(String, PathBuf)> = Vec::new();
    let examples = workspace::find_files(&inputs.root, "fixtures/convert/run/cases.toml");
    match examples.first().and_then(|path| path.parent()) {
        Some(dir) => {
            for path in entries(dir)?.into_iter().filter(|path| path.is_dir()) {
                trees.push((file_name(&path), path));
            }
        }
        None => plan.skip("convert: no directory `fixtures/convert/run`"),
    }
    trees.push((UNUSUAL.to_owned(), write_unusual_files(inputs)?));
    if let Some(rules) = write_rule_examples(plan, inputs)? {
        trees.push(("rule-examples".to_owned(), rules));
    }
    if inputs.repos.is_empty() {
        plan.skip("convert: no --repo");
    }
    for repo in &inputs.repos {
        // With git metadata, `convert` would depend on the state of the work tree, so the copy has
        // none.
        let name = format!("repo-{}", file_name(repo));
        let dir = inputs.subdir("repos")?.join(&name);
        observe::copy(repo, &dir)?;
        let git = dir.join(".git");
        if git.is_dir() {
            std::fs::remove_dir_all(git)?;
        }
        trees.push((name, dir));
    }
    for (number, (name, path)) in trees.iter().enumerate() {
        let check = inputs.old.run(
            &Case::new("probe"),
            &arg_array!["convert", "--root", path.display(), "--check"],
            &inputs.dir,
        )?;
        let tree = Tree { name, path, number, converts: check.status == Status::Exited(1) };
        tree.add(plan);
    }
    add_git(plan, inputs)?;
    add_refusals(plan);
    Ok(())
}

/// Trees with more entries are converted only in the variants without a copy, and in few others.
const LARGE: usize = 30;

/// A tree to convert.
struct Tree<'a> {
    name: &'a str,
    path: &'a Path,
    /// Selects the variants of small trees.
    number: usize,
    /// Whether the tree contains code to convert, and therefore to undo.
    converts: bool,
}

impl Tree<'_> {
    fn add(&self, plan: &mut Plan) {
        let large = walkdir::WalkDir::new(self.path).into_iter().count() > LARGE;
        let share = |share: usize| if large { 1 } else { share };
        for (variant, flags) in rotate(&READING, self.number, share(3)) {
            plan.add(self.read(variant).flags(flags));
        }
        for format in rotate(&OTHER_FORMATS, self.number, share(3)) {
            plan.add(self.read(format).flags("--dry-run --format").flags(format));
        }
        for (variant, flags) in WRITING {
            plan.add(self.write(variant).flags(flags));
        }
        plan.add(self.undo(self.write("undo"), ""));
        if let Some(launch) = find_launch_file(self.path) {
            let below = |root: &str| format!("--launch {root}/{launch}");
            plan.add(self.write("launch").flags(&below("tree")));
            let below = below(&self.path.display().to_string());
            plan.add(self.read("launch-transfer").flags("--transfer --diff").flags(&below));
            plan.add(self.read("launch-entry").flags("--import entry --diff").flags(&below));
        }
        // Copies of large trees take most of the time of their cases.
        if large && self.name != UNUSUAL {
            return;
        }
        for (variant, flags) in rotate(&WRITING_MORE, self.number, share(2)) {
            plan.add(self.write(variant).flags(flags));
        }
        plan.add(self.write("twice").step(convert()));
        plan.add(self.undo(self.write("undo-zh").flags("--lang zh"), "--lang zh"));
        plan.add(self.undo(self.write("undo-backup").flags("--backup"), "-v"));
        let twice = self.undo(self.undo(self.write("undo-twice"), ""), "");
        plan.add(twice.refused());
    }

    /// Returns a case that reads the original tree.
    fn read(&self, variant: &str) -> Case {
        let case = Case::new(format!("convert/{}/{variant}", self.name));
        case.step(args!["convert", "--root", self.path.display()])
    }

    /// Returns a case that converts a copy.
    fn write(&self, variant: &str) -> Case {
        let case = Case::new(format!("convert/{}/{variant}", self.name));
        case.copy("tree", self.path).step(convert())
    }

    /// Appends an undo, which is rejected if nothing was converted.
    fn undo(&self, case: Case, flags: &str) -> Case {
        let case = case.step(args!["convert", "--root", "tree", "--undo"]).flags(flags);
        if self.converts { case } else { case.refused() }
    }
}

fn convert() -> Vec<String> {
    args!["convert", "--root", "tree"]
}

/// Returns the script that starts a program, relative to its tree.
fn find_launch_file(tree: &Path) -> Option<String> {
    ["train.py", "main.py", "a.py"].into_iter().find_map(|name| {
        let found = workspace::find_files(tree, name)
            .into_iter()
            .min_by_key(|path| (path.components().count(), path.clone()))?;
        Some(found.strip_prefix(tree).ok()?.to_string_lossy().into_owned())
    })
}

/// Name of the tree with unusual files.
const UNUSUAL: &str = "unusual-files";

/// Python source that `convert` changes and flags.
const SOURCE: &str = "import os\nimport torch\nimport torch.distributed as dist\n\n\n\
    def main():\n    dist.init_process_group('nccl')\n    device = torch.device('cuda:0')\n    \
    x = torch.zeros(3).cuda()\n    torch.cuda.empty_cache()\n    \
    torch.cuda.cudart().cudaProfilerStart()\n    print('cuda', x.to(device), \
    torch.load('a.pt'))\n\n\nif __name__ == '__main__':\n    main()\n";

/// Writes files with unusual encodings, line ends, names and types.
fn write_unusual_files(inputs: &Inputs<'_>) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    let dir = inputs.subdir(UNUSUAL)?;
    std::fs::create_dir_all(dir.join("sub/__pycache__"))?;
    let write = |name: &[u8], content: &[u8]| -> Result<PathBuf> {
        let path = dir.join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(&path, content)?;
        Ok(path)
    };
    let source = SOURCE.as_bytes();
    write(b"a.py", source)?;
    write(b"sub/b.py", source)?;
    write(b"sub/__pycache__/skipped.py", source)?;
    write(b"crlf.py", SOURCE.replace('\n', "\r\n").as_bytes())?;
    write(b"bom.py", format!("\u{feff}{SOURCE}").as_bytes())?;
    write(b"gbk.py", &[b"# coding: gbk\n# \xc4\xe3\xba\xc3\n", source].concat())?;
    write(b"latin1.py", &[source, b"# caf\xe9\n"].concat())?;
    write(b"no-newline.py", SOURCE.trim_end().as_bytes())?;
    write(b"empty.py", b"")?;
    write(b"nul.py", &[source, b"\0\n"].concat())?;
    write(b"broken.py", b"import torch\ntorch.cuda.empty_cache(\n")?;
    write(b"caf\xe9.py", source)?;
    write(b"template.py", b"import torch\n{% if cuda %}\nx.cuda()\n{% endif %}\n")?;
    write(b"tabs.py", SOURCE.replace("    ", "\t").as_bytes())?;
    write(b".gitignore", b"ignored.py\n")?;
    write(b"ignored.py", source)?;
    let script =
        write(b"run", b"#!/usr/bin/env python3\nimport torch\ntorch.cuda.synchronize()\n")?;
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o751))?;
    write(
        b"run.sh",
        b"export CUDA_VISIBLE_DEVICES=0,1\nnvidia-smi\ntorchrun a.py --device cuda\n",
    )?;
    write(b"requirements.txt", b"torch==2.7.1+cu126\nflash-attn\nnumpy<2\n")?;
    write(b"Dockerfile", b"FROM nvidia/cuda:12.4.0-devel-ubuntu22.04\nRUN pip install torch\n")?;
    write(b"config.yaml", b"device: cuda\nbackend: nccl\nnote: on cuda\n")?;
    write(b"config.json", b"{\"device\": \"cuda:0\", \"list\": [1, 2]}\n")?;
    write(b"pyproject.toml", b"[project]\nname = 'x'\ndependencies = ['torch==2.6.0']\n")?;
    write(b"CMakeLists.txt", b"find_package(CUDAToolkit REQUIRED)\n")?;
    write(b"kernel.cu", b"__global__ void add(float *x) { x[threadIdx.x] += 1; }\n")?;
    write(b"main.rs", b"fn main() { let d = tch::Device::Cuda(0); }\n")?;
    let cell = "{\"cells\": [{\"cell_type\": \"code\", \"execution_count\": null, \"metadata\": {}, \
                \"outputs\": [], \"source\": [\"import torch\\n\", \"x = torch.ones(2).cuda()\"]}], \
                \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n";
    write(b"notebook.ipynb", cell.as_bytes())?;
    std::os::unix::fs::symlink("a.py", dir.join("link.py"))?;
    std::os::unix::fs::symlink("nowhere.py", dir.join("broken-link.py"))?;
    std::fs::hard_link(dir.join("tabs.py"), dir.join("second-name.py"))?;
    Ok(dir)
}

/// Imports that the examples of Python rules rely on.
const PRELUDE: &str = "import torch\nimport torch_npu\nimport torch.nn as nn\n\
    import torch.nn.functional as F\nimport torch.distributed as dist\nimport os\n";

/// Writes the example of each rule to a file, and adds a case for each.
fn write_rule_examples(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<Option<PathBuf>> {
    let rules = explain::rule_ids(inputs);
    if rules.is_empty() {
        plan.skip("convert: examples of rules, as no rule was found in the work tree");
        return Ok(None);
    }
    let dir = inputs.subdir("rule-examples")?;
    for batch in rules.chunks(100) {
        let mut args = args!["explain", "--json"];
        args.extend(batch.iter().cloned());
        let answer = inputs.ask(&args)?;
        for item in answer["items"].as_array().into_iter().flatten() {
            let (rule, example) = (&item["rule"], &item["rule"]["example"]);
            let (Some(id), Some(before)) = (rule["id"].as_str(), example["before"].as_str()) else {
                continue;
            };
            let file = example["file"].as_str();
            let prelude = file.is_none() && example["prelude"] == true;
            let text = format!("{}{before}", if prelude { PRELUDE } else { "" });
            let name = format!("{id}/{}", file.unwrap_or("example.py"));
            let path = dir.join(&name);
            std::fs::create_dir_all(path.parent().context("an example without a directory")?)?;
            std::fs::write(&path, &text)?;
            let case = Case::new(format!("convert-rule/{id}")).file(&format!("tree/{name}"), text);
            // The results in place are compared once for all rules.
            plan.add(case.step(convert()).flags("--dry-run --json"));
        }
    }
    Ok(Some(dir))
}

/// Adds git work trees, in which `convert` refuses to overwrite uncommitted changes.
fn add_git(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let dir = inputs.subdir("git-tree")?;
    std::fs::write(dir.join("a.py"), SOURCE)?;
    std::fs::write(dir.join("b.py"), SOURCE)?;
    let git = |args: &[&str]| -> Result<()> {
        let mut command = Command::new("git");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = command.arg("-C").arg(&dir).args(args).output()?;
        ensure!(output.status.success(), "git {}", args.join(" "));
        Ok(())
    };
    let commit = ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x"];
    if let Err(error) = git(&["init", "-q"]).and_then(|()| git(&["add", "."])) {
        plan.skip(format!("convert in git work trees: {error:#}"));
        return Ok(());
    }
    git(&commit)?;
    for (state, content) in [("clean", None), ("changed", Some("import torch\nx.cuda()\n"))] {
        for (variant, flags) in [("in-place", ""), ("force", "--force"), ("zh", "--lang zh")] {
            let case = Case::new(format!("convert-git/{state}/{variant}")).copy("tree", &dir);
            let case = case.step(convert()).flags(flags);
            let refused = state == "changed" && variant != "force";
            let case = if refused { case.refused() } else { case };
            plan.add(match content {
                Some(content) => case.file("tree/a.py", content),
                None => case,
            });
        }
    }
    Ok(())
}

fn add_refusals(plan: &mut Plan) {
    for (name, flags) in [
        ("missing-root", "--root nowhere"),
        ("no-root", "--dry-run"),
        ("unknown-target", "--root tree --target torch_npu==9.9.9"),
        ("invalid-target", "--root tree --target torch==2.6.0"),
        ("unknown-kind", "--root tree --kind zebra"),
        ("output-inside-root", "--root tree --output-dir tree/out"),
        ("undo-without-run", "--root tree --undo"),
        ("launch-outside-root", "--root tree --launch other.py"),
        ("diff-and-check", "--root tree --diff --check"),
    ] {
        let case = Case::new(format!("convert/refused/{name}")).file("tree/a.py", SOURCE);
        let case = case.file("other.py", SOURCE).step(args!["convert"]).flags(flags);
        plan.add(case.refused());
    }
    let changed = Case::new("convert/refused/undo-after-change").file("tree/a.py", SOURCE);
    // The second run overwrites the result of the first one through its own output option.
    let changed = changed.step(convert()).step(args!["explain", "CV0001", "-o", "tree/a.py"]);
    let undo = || args!["convert", "--root", "tree", "--undo"];
    plan.add(changed.clone().step(undo()).refused());
    let mut forced = changed.step(undo()).flags("--force");
    forced.name = "convert/refused/undo-force".to_owned();
    plan.add(forced.refused());
}
