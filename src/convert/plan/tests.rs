use super::*;
use treeedit::walk::{Scope, walk};

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
