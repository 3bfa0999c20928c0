//! The changes that a run makes, and its exit status.

use serde_json::Value;

use super::trees::{AFTER, BEFORE, Tree};

const FORMATS: [&str; 9] =
    ["text", "json", "sarif", "markdown", "junit", "html", "concise", "gcc", "github"];

const BOTH: &str = "import torch\nx = torch.zeros(1, device='cuda')\nimport os\n\
                    n = os.environ['CUDA_VISIBLE_DEVICES']\n";

#[test]
fn several_files_are_left_out() {
    let files = [("a.py", BEFORE), ("b.py", BEFORE), ("c.py", BEFORE), ("d.py", BEFORE)];
    for args in [
        &["-e", "a.py", "b.py"][..],
        &["-e", "a.py", "-e", "b.py"],
        &["-e", "a.py,b.py"],
        &["--exclude", "a.py", "project/b.py"],
    ] {
        let tree = Tree::new(&files);
        tree.convert(args).ended(0).said("2 files written in place");
        for (name, text) in [("a.py", BEFORE), ("b.py", BEFORE), ("c.py", AFTER), ("d.py", AFTER)] {
            assert_eq!(tree.read(name), text, "{args:?} {name}");
        }
    }
}

#[test]
fn every_format_lists_the_written_files_and_how_to_undo() {
    for format in FORMATS {
        let tree = Tree::new(&[("a.py", BEFORE), ("sub/b.py", BEFORE), ("c.py", "x = 1\n")]);
        let before = tree.content();
        let run = tree.convert(&["--format", format]).ended(0);
        let flat = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["project/a.py", "project/sub/b.py", "convert -r project --undo"] {
            assert!(flat.contains(words), "{format}: {words}\n{}", run.stdout);
        }
        assert!(!flat.contains("c.py"), "{format}");
        tree.convert(&["--undo"]).ended(0);
        assert_eq!(tree.content(), before);
    }
}

#[test]
fn formats_without_room_list_the_files_on_standard_error() {
    for format in ["line", "openmetrics"] {
        let tree = Tree::new(&[("a.py", BEFORE), ("c.py", "x = 1\n")]);
        let run = tree.convert(&["--format", format]).ended(0);
        assert!(run.stderr.starts_with("project/a.py\n"), "{format}: {}", run.stderr);
        assert!(run.stderr.contains("convert -r project --undo"), "{format}: {}", run.stderr);
    }
}

#[test]
fn a_preview_states_how_to_apply_it() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE)]);
    let before = tree.content();
    let run = tree.run(&["project", "-e", "b.py", "--skip", "CV0403", "--json"]).ended(0);
    assert_eq!(tree.content(), before);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let command = json["apply"].as_str().unwrap();
    assert_eq!(command, "ascend-doctor convert -r project -e b.py --skip CV0403");
    tree.run(&["project"]).ended(0).said("convert -r project").said("preview");
    let args: Vec<&str> = command.split(' ').skip(2).collect();
    tree.run(&args).ended(0);
    assert_eq!((tree.read("a.py"), tree.read("b.py")), (AFTER.to_owned(), BEFORE.to_owned()));
    // Nothing to apply.
    let run = tree.run(&["project/a.py", "--json"]).ended(0);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(json.get("apply").is_none(), "{}", run.stdout);
}

#[test]
fn rules_select_changes() {
    let tree = Tree::new(&[("a.py", BOTH)]);
    let run = tree.convert(&["--only", "environment", "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(tree.read("a.py"), BOTH.replace("CUDA_VISIBLE", "ASCEND_RT_VISIBLE"));
    assert_eq!(json["files"][0]["kept"][0]["why"], "selection");
    assert_eq!(json["files"][0]["kept"][0]["line"], 2);
    assert_ne!(json["verdict"], "pass");
    tree.convert(&["--undo"]).ended(0);
    tree.convert(&["--skip", "CV0403,CV0255"]);
    assert!(tree.read("a.py").contains("'npu'") && tree.read("a.py").contains("CUDA_VISIBLE"));
    for bad in [&["--only", "CV9999"][..], &["--skip", "nonsense"], &["--only", "\u{1b}[31m"]] {
        let run = tree.convert(bad).ended(2).said("unknown rule");
        assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    }
}

#[test]
fn comments_keep_lines_in_every_kind_of_file() {
    let tree = Tree::new(&[
        ("a.py", "import torch\nx = torch.zeros(1, device='cuda')  # ascend-doctor: keep\n"),
        (
            "run.sh",
            "export CUDA_VISIBLE_DEVICES=0 # ascend-doctor: keep\nexport CUDA_VISIBLE_DEVICES=1\n",
        ),
        ("c.yaml", "device: cuda  # ascend-doctor: keep\nother:\n  device: cuda\n"),
        ("requirements.txt", "onnxruntime-gpu  # ascend-doctor: keep\n"),
        ("Dockerfile", "FROM a\nENV NCCL_SOCKET_IFNAME=eth0 # ascend-doctor: keep\n"),
    ]);
    let run = tree.convert(&["--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(tree.read("a.py").matches("'cuda'").count(), 1);
    let script = tree.read("run.sh");
    assert!(script.contains("CUDA_VISIBLE_DEVICES=0") && script.contains("RT_VISIBLE_DEVICES=1"));
    assert!(tree.read("c.yaml").contains("device: cuda ") && tree.read("c.yaml").contains("npu"));
    assert!(tree.read("requirements.txt").contains("onnxruntime-gpu"));
    let finding = json["findings"].as_array().unwrap();
    let finding = finding.iter().find(|finding| finding["id"] == "CONVERT-KEEP").unwrap();
    let places = finding["evidence"].as_array().unwrap();
    let has = |file: &str, line: i64| {
        places.iter().any(|place| place["source"] == file && place["line"] == line)
    };
    for (file, line) in [("project/a.py", 2), ("project/run.sh", 1), ("project/c.yaml", 1)] {
        assert!(has(file, line), "{file}: {places:?}");
    }
    tree.convert(&["--json"]).said("\"written\"").ended(0);
}

#[test]
fn questions_need_a_terminal() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    tree.convert(&["--interactive"]).ended(2).said("needs a terminal");
    assert_eq!(tree.read("a.py"), BEFORE);
    for args in [&["project", "--interactive"][..], &["-r", "project", "--interactive", "--diff"]] {
        tree.run(args).ended(2);
    }
}

#[test]
fn the_versions_of_libraries_decide() {
    let source = "from ultralytics import YOLO\nYOLO('a.pt').train(device=0)\n";
    for (target, changes) in [("ultralytics==8.4.120", true), ("2.7.1,ultralytics==8.4.90", false)]
    {
        let tree = Tree::new(&[("a.py", source)]);
        let run = tree.convert(&["--target", target, "--diff"]);
        assert_eq!(run.stdout.contains("npu:0"), changes, "{target}: {}", run.stdout);
    }
    let tree = Tree::new(&[("a.py", source)]);
    tree.convert(&["--target", "numpy==1.0"]).ended(2).said("transformers");
    tree.convert(&["--target", "ultralytics==x"]).ended(2);
}

#[test]
fn pinned_versions_decide() {
    let source = "from ultralytics import YOLO\nYOLO('a.pt').train(device=0)\n";
    let pins = |text: &str| Tree::new(&[("a.py", source), ("requirements.txt", text)]);
    for (pin, args, changes) in [
        ("ultralytics==8.4.90\n", &["--diff"][..], false),
        ("ultralytics==8.4.190\n", &["--diff"], true),
        ("ultralytics==8.4.90\nultralytics==8.4.190\n", &["--diff"], true),
        ("ultralytics==8.4.90\n", &["--diff", "--target", "ultralytics==8.4.190"], true),
    ] {
        let run = pins(pin).convert(args);
        assert_eq!(run.stdout.contains("npu:0"), changes, "{pin} {args:?}: {}", run.stdout);
    }
}
