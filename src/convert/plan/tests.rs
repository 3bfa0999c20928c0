#![expect(clippy::disallowed_methods, reason = "builds the tree that is planned")]

use std::sync::Arc;

use super::*;
use treeedit::walk::{Root, Scope, walk};

fn planned(files: &[(&str, &[u8])], options: &Options) -> Plan {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let scope = Scope {
        roots: vec![dir.path().to_owned()],
        launch: Vec::new(),
        exclude: Vec::new(),
        kinds: FileKind::ALL.to_vec(),
        ignore_files: true,
        linked_files: false,
        max_size: 1 << 20,
    };
    plan(&walk(&scope).unwrap().files, options, &Progress::default())
}

#[test]
fn a_template_is_no_broken_file() {
    let files: [(&str, &[u8]); 3] = [
        ("{{x}}.py", b"import {{ cookiecutter.name }}\nx = 'cuda'\n"),
        ("a.toml", b"[a]\n{% if gpu %}\ndevice = 'cuda'\n{% endif %}\n"),
        ("b.py", b"print 'cuda'\n"),
    ];
    let plan = planned(&files, &Options::default());
    let problems: Vec<_> = plan.files.iter().filter_map(|file| file.problem.clone()).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    let templates = problems.iter().filter(|one| matches!(one, FileProblem::Template { .. }));
    assert_eq!(templates.count(), 2, "{problems:?}");
}

#[test]
fn a_file_that_is_no_python_does_not_keep_the_others() {
    let files: [(&str, &[u8]); 4] = [
        ("a.py", b"import torch\nx = torch.zeros(1, device='cuda')\r\n"),
        ("b.py", b"print 'cuda'\n"),
        ("c.py", b"# caf\xe9 cuda\n"),
        ("d.py", b"x = 1\n"),
    ];
    let plan = planned(&files, &Options::default());
    assert_eq!(plan.read, 4);
    let [a, b, c] = plan.files.as_slice() else { panic!("{:?}", plan.files) };
    assert_eq!(
        a.after.as_deref(),
        Some(&b"import torch\nimport torch_npu\nx = torch.zeros(1, device='npu')\r\n"[..])
    );
    assert!(matches!(b.problem, Some(FileProblem::Syntax { line: 1, .. })));
    assert!(matches!(c.problem, Some(FileProblem::Undecodable(_))));
    assert!(b.after.is_none() && c.after.is_none());
}

#[test]
fn empty_native_file_with_mark_is_marked_once() {
    let file = SourceFile {
        path: "a.cu".into(),
        relative: "a.cu".into(),
        root: Arc::new(Root::new(".", "/", true)),
        kind: FileKind::Native,
        size: 0,
        launch: false,
    };
    let options = Options { mark: true, ..Options::default() };
    let planned = |bytes: &[u8]| {
        plan_bytes(&file, bytes.to_vec(), &options, &Project::default()).expect("a flagged file")
    };
    let first = planned(b"");
    assert_eq!(first.problem, None);
    let marked = first.after.expect("a file with a mark");
    let text = std::str::from_utf8(&marked).unwrap();
    assert!(text.starts_with("// ascend-doctor: CV0547 native-port: "), "{text}");
    assert_eq!(text.find('\n'), Some(text.len() - 1), "{text}");
    let second = planned(&marked);
    assert_eq!((second.problem, second.after), (None, None));
}
