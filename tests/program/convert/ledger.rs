//! The ledger: every mention of CUDA in exactly one class, counted by an independent method.

use std::collections::BTreeMap;

use serde_json::Value;

use super::trees::Tree;

/// The words counted anywhere, in any case.
const WORDS: &[&str] = &["cuda", "nccl", "nvidia", "cudnn", "cublas", "gpu", "tensorrt", "triton"];

/// A tree with each class and kind of file, and no unexplained mention.
const EXPLAINED: &[(&str, &str)] = &[
    (
        "train.py",
        "'''Trains on a GPU.'''\nimport torch\n\n# needs cuda\nuse_gpu = True\n\n\
         def run(num_gpus=1):\n    print('no CUDA here')\n    return num_gpus if use_gpu else 0\n\n\
         x = torch.zeros(1, device='cuda')\nrun(num_gpus=2)\n",
    ),
    (
        "dispatch.py",
        "def f(d):\n    if d == 'cuda':\n        return 1\n    elif d == 'npu':\n        return 2\n",
    ),
    ("run.sh", "# one gpu\nGPUS=$1\nexport CUDA_VISIBLE_DEVICES=$GPUS\necho \"GPUs: $GPUS\"\n"),
    ("README.md", "Install NVIDIA drivers.\n\n```\npython train.py --device cuda\n```\n"),
    ("conf.yaml", "# cuda\nnum_gpus: 2\n"),
    ("Makefile", "# gpu\nall:\n\techo GPU\n"),
];

/// Counts tokens without the program: the longest word at each position, from left to right.
fn count(text: &str, words: &[String]) -> usize {
    let text = text.to_ascii_lowercase();
    let goes_on = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let bytes = text.as_bytes();
    let (mut at, mut found) = (0, 0);
    while at < bytes.len() {
        let here = words.iter().filter(|word| bytes[at..].starts_with(word.as_bytes()));
        let Some(word) = here.max_by_key(|word| word.len()) else {
            at += 1;
            continue;
        };
        let alone = !goes_on(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !goes_on(bytes.get(at + word.len()));
        found += usize::from(alone || WORDS.contains(&word.as_str()));
        at += word.len();
    }
    found
}

fn ledger(tree: &Tree, status: i32) -> Value {
    tree.run(&["project", "--ledger", "ledger.json"]).ended(status);
    let text = std::fs::read(tree.around().join("ledger.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Asserts that the classes of each file add up to its tokens.
fn adds_up(tree: &Tree, ledger: &Value) {
    let words = ledger["tokens"].as_array().unwrap().iter();
    let words: Vec<String> =
        words.map(|word| word.as_str().unwrap().to_ascii_lowercase()).collect();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let mut all = 0;
    for file in ledger["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        let text = String::from_utf8(std::fs::read(tree.around().join(path)).unwrap()).unwrap();
        let counts = &file["counts"];
        let classes = ["changed", "manual", "kept", "unexplained"];
        let sum: usize = classes.iter().map(|class| number(&counts[class])).sum();
        assert_eq!(sum, count(&text, &words), "{path}: {counts}");
        assert_eq!(sum, number(&counts["tokens"]), "{path}");
        let lines: Vec<&str> = text.lines().collect();
        for entry in file["entries"].as_array().unwrap() {
            let line = lines[number(&entry["line"]) - 1].to_ascii_lowercase();
            assert!(line.contains(&entry["token"].as_str().unwrap().to_ascii_lowercase()));
        }
        all += sum;
    }
    assert_eq!(all, number(&ledger["counts"]["tokens"]));
}

/// Class and reason of each token of a file.
fn classes(ledger: &Value, path: &str) -> Vec<String> {
    let files = ledger["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == format!("project/{path}")).unwrap();
    let class = |entry: &Value| {
        let reason = entry.get("reason").unwrap_or(&entry["class"]);
        reason.as_str().unwrap().to_owned()
    };
    file["entries"].as_array().unwrap().iter().map(class).collect()
}

#[test]
fn every_mention_is_in_one_class_and_has_its_witness() {
    let tree = Tree::new(EXPLAINED);
    let ledger = ledger(&tree, 0);
    adds_up(&tree, &ledger);
    assert_eq!(ledger["counts"]["unexplained"], 0, "{ledger:#}");
    assert_eq!(
        classes(&ledger, "train.py"),
        [
            "prose", "comment", "own_name", "own_name", "prose", "own_name", "own_name", "changed",
            "own_name"
        ]
    );
    assert_eq!(classes(&ledger, "dispatch.py"), ["npu_sibling"]);
    assert_eq!(classes(&ledger, "README.md"), ["prose", "prose"]);
    // The evidence is a line that shows the reason.
    for file in ledger["files"].as_array().unwrap() {
        for entry in file["entries"].as_array().unwrap() {
            if entry["class"] == "kept" && entry["reason"] == "own_name" {
                let witness = &entry["witness"];
                let text =
                    std::fs::read_to_string(tree.around().join(witness["path"].as_str().unwrap()))
                        .unwrap();
                let line = usize::try_from(witness["line"].as_u64().unwrap()).unwrap();
                let line = text.lines().nth(line - 1).unwrap().to_ascii_lowercase();
                assert!(line.contains(entry["token"].as_str().unwrap()), "{entry}: {line}");
            }
        }
    }
}

#[test]
fn an_unexplained_mention_leaves_the_question_open_and_comes_first() {
    let mut files = EXPLAINED.to_vec();
    files.push(("planted.py", "import foo\ngpu_name = foo.load(kind='gpu')\nfoo.load(gpus=2)\n"));
    files.push(("a.yaml", "pool: gpu\n"));
    let tree = Tree::new(&files);
    let ledger = ledger(&tree, 3);
    adds_up(&tree, &ledger);
    assert_eq!(classes(&ledger, "planted.py"), ["own_name", "unexplained", "unexplained"]);
    assert_eq!(classes(&ledger, "a.yaml"), ["unexplained"]);
    let run = tree.run(&["project", "--format", "json"]).ended(3);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(report["ledger"]["unexplained"], 3);
    assert_eq!(report["findings"][0]["id"], "CONVERT-MENTION");
    let place = &report["findings"][0]["evidence"][0];
    assert!(place.to_string().contains("project/a.yaml"), "{place}");
    tree.run(&["project"]).ended(3).said("3 unexplained");
    tree.run(&["project", "--format", "html"]).ended(3).said("project/planted.py");
}

#[test]
fn manual_work_that_blocks_nothing_passes() {
    let tree = Tree::new(&[("run.sh", "export NCCL_DEBUG=INFO\n")]);
    let cosmetic = ledger(&tree, 0);
    assert_eq!(cosmetic["counts"]["by_blocker"]["cosmetic"], 1, "{cosmetic:#}");
    let tree = Tree::new(&[("a.py", "import cupy\n")]);
    let start = ledger(&tree, 1);
    assert_eq!(start["counts"]["by_blocker"]["start"], 1, "{start:#}");
}

#[test]
fn both_forms_list_the_same_tokens_and_hostile_names_stay_in_their_field() {
    let tree = Tree::new(EXPLAINED);
    tree.write("x\n\u{1b}[2J,\"gpu\".py", b"# gpu\n");
    let json = ledger(&tree, 0);
    tree.run(&["project", "--ledger", "ledger.csv"]).ended(0);
    let text = std::fs::read_to_string(tree.around().join("ledger.csv")).unwrap();
    assert!(!text.contains('\u{1b}'));
    let mut by_class: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let class = ["changed", "manual", "kept", "unexplained"]
            .into_iter()
            .find(|class| line.contains(&format!(",{class},")))
            .unwrap();
        *by_class.entry(class).or_default() += 1;
    }
    for (class, count) in by_class {
        assert_eq!(json["counts"][class], count, "{class}");
    }
    assert_eq!(u64::try_from(text.lines().count()).unwrap() - 1, json["counts"]["tokens"]);
}

#[test]
fn more_tokens_than_the_limit_are_counted_and_unexplained() {
    let tree = Tree::new(&[("many.py", &"# gpu gpu gpu gpu gpu gpu\n".repeat(10_000))]);
    let ledger = ledger(&tree, 3);
    assert_eq!(ledger["counts"]["tokens"], 60_000);
    assert_eq!(ledger["counts"]["kept"], 50_000);
    assert_eq!(ledger["files"][0]["beyond_limit"], 10_000);
}
