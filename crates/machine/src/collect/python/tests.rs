//! Tests of the collector with small trees.
#![expect(clippy::disallowed_methods, reason = "the tests build the trees that are examined")]

use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;
use facts::{Interpreter, ProblemKind, PthCode};

/// A tree on disk, built file by file.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(env: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        let env: std::collections::BTreeMap<_, _> = env.iter().copied().collect();
        tree.file("/.env.json", serde_json::to_string(&env).unwrap())
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
        self
    }

    fn link(self, path: &str, target: &str) -> Self {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(target, at).unwrap();
        self
    }

    fn dist(self, site: &str, name: &str, version: &str, more: &str) -> Self {
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}\nbody");
        self.file(&format!("{site}/{name}-{version}.dist-info/METADATA"), text)
    }

    fn read_with(&self, options: &Options) -> (Python, Vec<facts::Problem>) {
        let sysroot = Sysroot::tree(self.0.path()).unwrap();
        let python = collect(&sysroot, options);
        (python, sysroot.problems())
    }

    fn read(&self) -> Python {
        self.read_with(&Options { hash: true, ..Options::default() }).0
    }
}

fn interpreter(python: &Python) -> &Interpreter {
    python.interpreter.as_ref().expect("an interpreter is found")
}

/// The layout of CANN images: links in /usr/local/bin that point to /usr/local/python3.11.13.
fn cann_image() -> Tree {
    let site = "/usr/local/python3.11.13/lib/python3.11/site-packages";
    Tree::new(&[("PATH", "/usr/local/bin:/usr/bin")])
        .file(
            "/usr/local/python3.11.13/bin/python3.11",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\xb7\0",
        )
        .link("/usr/local/python3.11.13/bin/python3", "python3.11")
        .link("/usr/local/bin/python3", "/usr/local/python3.11.13/bin/python3")
        .dist(site, "torch", "2.7.1", "")
}

#[test]
fn the_interpreter_of_a_cann_image() {
    let python = cann_image().read();
    let found = interpreter(&python);
    assert_eq!(found.path, "/usr/local/bin/python3");
    assert_eq!(found.prefix, "/usr/local/python3.11.13");
    assert_eq!(found.version.as_deref(), Some("3.11.13"));
    assert_eq!(found.arch.as_deref(), Some("aarch64"));
    assert_eq!((found.kind.as_str(), found.chosen_by.as_str()), ("system", "PATH"));
    assert_eq!(python.dist("torch").unwrap().version, "2.7.1");
}

#[test]
fn the_option_wins_and_may_name_an_environment() {
    let tree = cann_image()
        .file("/w/venv/pyvenv.cfg", "home = /usr/local/python3.11.13/bin\nversion = 3.11.13\n")
        .link("/w/venv/bin/python3", "/usr/local/python3.11.13/bin/python3.11")
        .dist("/w/venv/lib/python3.11/site-packages", "torch", "2.9.0", "");
    let options = Options { python: Some("/w/venv".to_owned()), ..Options::default() };
    let (python, _) = tree.read_with(&options);
    assert_eq!(interpreter(&python).path, "/w/venv/bin/python3");
    assert_eq!(interpreter(&python).kind, "venv");
    assert_eq!(python.dist("torch").unwrap().version, "2.9.0");
    assert_eq!(python.all_dists("torch").count(), 1, "the base is not visible");
}

#[test]
fn a_missing_interpreter_that_was_named_is_not_replaced() {
    // The prefix of the second would be `/`, and most machines have a Python there.
    let merged = cann_image().link("/lib", "usr/lib").file("/usr/lib/python3.11/os.py", "");
    for name in ["/no/python", "/nonexist"] {
        let options = Options { python: Some(name.to_owned()), ..Options::default() };
        let (python, _) = merged.read_with(&options);
        assert_eq!(python.interpreter, None);
        assert_eq!(python.missing_interpreter, Some(("--python".to_owned(), name.to_owned())));
    }
}

/// The system's Python is next to `ls`, and must not be examined instead of it.
#[test]
fn another_program_is_no_python() {
    let usr = || Tree::new(&[]).file("/usr/lib/python3.11/os.py", "").link("/bin", "usr/bin");
    let tree = usr()
        .file("/usr/bin/ls", b"\x7fELF and more")
        .file("/usr/bin/pip", "#!/usr/bin/python3\n")
        .file("/usr/bin/python3.11", "")
        .file("/opt/env/bin/my-python", "#!/bin/sh\n")
        .link("/usr/bin/py", "python3.11");
    let read = |named: &str| {
        let options = Options { python: Some(named.to_owned()), ..Options::default() };
        tree.read_with(&options).0
    };
    for other in ["/bin/ls", "/usr/bin/pip"] {
        let python = read(other);
        assert_eq!((python.interpreter, python.not_python.as_deref()), (None, Some(other)));
        assert_eq!(python.missing_interpreter, None);
    }
    for good in ["/bin/python3.11", "/usr/bin/py", "/opt/env/bin/my-python"] {
        let python = read(good);
        assert!(python.interpreter.is_some() && python.not_python.is_none(), "{good}");
    }
}

#[test]
fn a_venv_sees_the_base_if_it_says_so() {
    let tree = Tree::new(&[("VIRTUAL_ENV", "/v"), ("HOME", "/root")])
        .file(
            "/v/pyvenv.cfg",
            "home = /opt/py/bin\ninclude-system-site-packages = true\nversion = 3.10.4\n",
        )
        .link("/v/bin/python", "/opt/py/bin/python3.10")
        .file("/opt/py/bin/python3.10", "")
        .dist("/v/lib/python3.10/site-packages", "a", "1", "")
        .dist("/root/.local/lib/python3.10/site-packages", "b", "1", "")
        .dist("/opt/py/lib/python3.10/site-packages", "c", "1", "")
        .link("/v/lib64", "lib");
    let python = tree.read();
    assert_eq!(
        python.site_dirs,
        [
            "/v/lib/python3.10/site-packages",
            "/root/.local/lib/python3.10/site-packages",
            "/opt/py/lib/python3.10/site-packages",
        ]
    );
    let names: Vec<&str> = python.dists.iter().map(|dist| dist.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn the_order_of_sys_path_on_debian() {
    let tree =
        Tree::new(&[("HOME", "/home/u"), ("PYTHONPATH", "/cann/python/site-packages:/gone")])
            .file("/usr/bin/python3.11", "")
            .link("/usr/bin/python3", "python3.11")
            .dist("/cann/python/site-packages", "te", "0.4.0", "")
            .dist("/home/u/.local/lib/python3.11/site-packages", "u", "1", "")
            .dist("/usr/local/lib/python3.11/dist-packages", "l", "1", "")
            .dist("/usr/lib/python3/dist-packages", "d", "1", "")
            .file("/usr/lib/python3/dist-packages/x-2.egg-info", "Name: x\nVersion: 2\n");
    let python = tree.read();
    let names: Vec<&str> = python.dists.iter().map(|dist| dist.name.as_str()).collect();
    assert_eq!(names, ["te", "u", "l", "d", "x"]);
}

#[test]
fn what_pip_installs_on_a_bare_debian() {
    let tree = Tree::new(&[])
        .file("/usr/bin/python3.10", "")
        .link("/usr/bin/python3", "python3.10")
        .dist("/usr/local/lib/python3.10/dist-packages", "l", "1", "");
    let python = tree.read();
    assert_eq!(interpreter(&python).prefix, "/usr");
    assert_eq!(python.dists.len(), 1);
}

#[test]
fn pth_files_add_directories_and_their_code_is_only_noted() {
    let site = "/opt/conda/lib/python3.9/site-packages";
    let tree = Tree::new(&[("CONDA_PREFIX", "/opt/conda")])
        .file("/opt/conda/bin/python3", "")
        .file("/opt/conda/conda-meta/python-3.9.18-h1.json", "{}")
        .file(&format!("{site}/a.pth"), "/w/src\nimport os\nnowhere\n")
        .file(
            &format!("{site}/__editable___vllm_finder.py"),
            "MAPPING = {'vllm': '/w/vllm/vllm'}\n",
        )
        .file("/w/vllm/vllm/__init__.py", "")
        .file("/w/src/p.egg-info/PKG-INFO", "Name: P_q\nVersion: 3\n");
    let python = tree.read();
    assert_eq!(interpreter(&python).kind, "conda");
    assert_eq!(interpreter(&python).version.as_deref(), Some("3.9.18"));
    let editable = python.dist("p-q").unwrap();
    assert_eq!(editable.site_dir, "/w/src");
    let place = editable.version_place();
    assert_eq!(place.source, "/w/src/p.egg-info/PKG-INFO");
    assert_eq!((place.line, place.value.as_deref()), (Some(2), Some("3")));
    let code =
        PthCode { path: format!("{site}/a.pth"), code: "import os".to_owned(), line: Some(2) };
    assert_eq!(python.pth_imports, [code]);
    assert_eq!(python.editable_packages["vllm"], "/w/vllm/vllm");
}

#[test]
fn a_dangling_venv_is_told() {
    let tree = Tree::new(&[("VIRTUAL_ENV", "/v")])
        .file("/v/pyvenv.cfg", "home = /usr/bin\nversion = 3.10.1\n")
        .link("/v/bin/python3", "/usr/bin/python3.10")
        .dist("/v/lib/python3.10/site-packages", "torch", "2.1.0", "");
    let python = tree.read();
    assert_eq!(interpreter(&python).dangling.as_deref(), Some("/usr/bin/python3.10"));
    assert_eq!(interpreter(&python).unusable, Some(facts::Unusable::Absent));
    assert_eq!(python.dists.len(), 1);
}

#[test]
fn a_home_needs_the_standard_library() {
    let tree = |home: &str| {
        Tree::new(&[("PYTHONHOME", home), ("PATH", "/usr/bin")])
            .file("/usr/bin/python3.11", "\x7fELF")
            .link("/usr/bin/python3", "python3.11")
            .file("/usr/lib/python3.11/os.py", "")
            .file("/opt/py/lib/python3.12/os.py", "")
    };
    let unusable = |home: &str| interpreter(&tree(home).read()).unusable;
    assert_eq!(unusable("/usr"), None);
    assert_eq!(unusable("/usr:/usr"), None);
    assert_eq!(unusable("relative"), None);
    assert_eq!(unusable("/opt/py"), Some(facts::Unusable::NoHome));
    assert_eq!(unusable("/nowhere"), Some(facts::Unusable::NoHome));
}

/// An upgrade of the system leaves `pyvenv.cfg` and the packages of the previous Python.
#[test]
fn the_program_decides_the_version_of_an_environment() {
    let tree = |target: &str| {
        Tree::new(&[("VIRTUAL_ENV", "/v")])
            .file("/v/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
            .file(&format!("/usr/bin/{target}"), "#!/bin/sh\n")
            .link("/usr/bin/python3", target)
            .link("/v/bin/python3", "/usr/bin/python3")
            .dist("/v/lib/python3.11/site-packages", "torch", "2.1.0", "")
    };
    let python = tree("python3.11").read();
    assert_eq!(interpreter(&python).version.as_deref(), Some("3.11.2"));
    assert!(python.dist("torch").is_some());
    let python = tree("python3.12").read();
    assert_eq!(interpreter(&python).version.as_deref(), Some("3.12"));
    assert!(python.dist("torch").is_none());
}

#[test]
fn an_environment_without_a_program_is_told() {
    let tree = Tree::new(&[("VIRTUAL_ENV", "/v")])
        .file("/v/pyvenv.cfg", "home = /usr/bin\nversion = 3.10.1\n")
        .dist("/v/lib/python3.10/site-packages", "torch", "2.1.0", "");
    assert_eq!(interpreter(&tree.read()).unusable, Some(facts::Unusable::Absent));
    let tree = tree.file("/v/bin/python3", "");
    assert_eq!(interpreter(&tree.read()).unusable, Some(facts::Unusable::NotAProgram));
    let tree = tree.file("/v/bin/python3", "#!/bin/sh\n");
    assert_eq!(interpreter(&tree.read()).unusable, None);
}

#[test]
fn broken_dist_infos_are_facts_and_problems() {
    let site = "/usr/local/python3.11.13/lib/python3.11/site-packages";
    let tree = cann_image()
        .file(&format!("{site}/empty-1.0.dist-info/INSTALLER"), "pip")
        .link(&format!("{site}/gone-2.0.dist-info"), "/nowhere")
        .file(&format!("{site}/numpy-1.26.dist-info/METADATA"), "Name: numpy\nVersion: 1.26\n")
        .file(
            &format!("{site}/numpy-1.26.dist-info/RECORD"),
            "numpy/a.py,,\nnumpy/b.py,,\nbad\n../../../bin/f2py,,\n",
        )
        .file(&format!("{site}/numpy/a.py"), "");
    std::fs::create_dir(tree.at(&format!("{site}/torch_npu-2.7.1.dist-info"))).unwrap();
    let (python, problems) = tree.read_with(&Options::default());
    let empty = python.dist("empty").unwrap();
    assert!(!empty.metadata_ok && empty.version == "1.0");
    assert!(!python.dist("torch-npu").unwrap().metadata_ok);
    let numpy = python.dist("numpy").unwrap();
    assert_eq!((numpy.listed_files, numpy.missing_files), (2, 1));
    assert_eq!(numpy.missing_sample, [format!("{site}/numpy/b.py")]);
    assert_eq!(numpy.top_level, ["numpy"]);
    let kinds: Vec<(ProblemKind, bool)> =
        problems.iter().map(|problem| (problem.kind, problem.path.contains("gone"))).collect();
    assert!(kinds.contains(&(ProblemKind::Malformed, false)), "{problems:?}");
    assert!(kinds.contains(&(ProblemKind::Unreadable, true)), "{problems:?}");
}

#[test]
fn names_that_are_not_utf8_are_problems() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = cann_image();
    let site = tree.at("/usr/local/python3.11.13/lib/python3.11/site-packages");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9-1.dist-info");
    std::fs::create_dir(Path::new(&site).join(name)).unwrap();
    let (python, problems) = tree.read_with(&Options::default());
    assert_eq!(python.dists.len(), 1);
    assert!(problems.iter().any(|problem| problem.kind == ProblemKind::Name));
}

#[test]
fn builds_of_the_stack() {
    let site = "/usr/local/python3.11.13/lib/python3.11/site-packages";
    let record = "triton/a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\
                  triton/b.py,,5\ntriton/backends/ascend/c.py,,1\n";
    let tree = cann_image()
        .file(&format!("{site}/torch/version.py"), "__version__ = '2.7.1+cpu'\ncuda: str = None\n")
        .file(&format!("{site}/vllm_ascend/_build_info.py"), "# c\n__device_type__ = 'A2'\n")
        .file(&format!("{site}/vllm/_C.abi3.so"), "")
        .dist(site, "triton_ascend", "3.2.0", "")
        .file(&format!("{site}/triton_ascend-3.2.0.dist-info/RECORD"), record)
        .dist(site, "triton", "3.4.0", "")
        .file(&format!("{site}/triton-3.4.0.dist-info/RECORD"), "triton/b.py,,7\n")
        .file(&format!("{site}/triton/a.py"), "")
        .file(&format!("{site}/triton/b.py"), "1234567")
        .file(&format!("{site}/mindspore/plugin/libmindspore_ascend.so.2"), "");
    let python = tree.read();
    assert_eq!(python.torch.cuda.as_deref(), Some(""));
    assert_eq!(python.torch.version_py.as_deref(), Some("2.7.1+cpu"));
    assert_eq!(python.vllm.build_info_lines["__device_type__"], 2);
    assert_eq!(python.vllm.build_info["__device_type__"], "A2");
    assert_eq!(python.vllm.extensions, [format!("{site}/vllm/_C.abi3.so")]);
    assert_eq!(python.vllm.triton_overwritten, [format!("{site}/triton/b.py")]);
    assert_eq!(python.vllm.triton_owners.len(), 2);
    assert_eq!(python.vllm.triton_has_ascend, Some(false));
    assert_eq!(python.mindspore.plugins.len(), 1);
}

#[test]
fn a_source_tree_in_the_working_directory_shadows() {
    let tree = cann_image()
        .file("/.process.json", r#"{"cwd": "/w/pytorch"}"#)
        .file("/w/pytorch/torch_npu/__init__.py", "")
        .file("/w/pytorch/vllm/README.md", "");
    let found = tree.read().shadows;
    assert_eq!(found, [("torch_npu".to_owned(), "/w/pytorch/torch_npu".to_owned())]);
}

#[test]
fn an_editable_source_tree_shadows_nothing() {
    let site = "/usr/local/python3.11.13/lib/python3.11/site-packages";
    let tree = cann_image()
        .file("/.process.json", r#"{"cwd": "/w/vllm"}"#)
        .dist(site, "vllm", "0.11.0+empty", "")
        .file(
            &format!("{site}/vllm-0.11.0+empty.dist-info/direct_url.json"),
            r#"{"dir_info": {"editable": true}, "url": "file:///w/vllm"}"#,
        )
        .file("/w/vllm/vllm/__init__.py", "");
    assert!(tree.read().shadows.is_empty());
}

#[test]
fn others_with_torch_npu_are_named() {
    let tree = cann_image()
        .file("/opt/conda/bin/python3.10", "")
        .file("/opt/conda/lib/python3.10/site-packages/torch_npu/__init__.py", "");
    let others = tree.read().others;
    let prefixes: Vec<&str> = others.iter().map(|other| other.prefix.as_str()).collect();
    assert_eq!(prefixes, ["/opt/conda"]);
}

/// A home with pyenv, in the `PATH` of its user.
fn pyenv(env: &[(&str, &str)]) -> Tree {
    let mut all = vec![("PATH", "/home/u/.pyenv/shims:/usr/bin")];
    all.extend(env);
    let mut tree = Tree::new(&all)
        .file("/.process.json", r#"{"cwd": "/home/u/work/deep"}"#)
        .file("/home/u/work/deep/main.py", "")
        .file("/home/u/.pyenv/shims/python3", "#!/usr/bin/env bash\n")
        .file("/home/u/.pyenv/version", "3.9.1\n")
        .file("/usr/bin/python3.10", "")
        .link("/usr/bin/python3", "python3.10");
    for version in ["3.9.1", "3.11.7", "3.11.13"] {
        let minor = version.rsplit_once('.').unwrap().0;
        let prefix = format!("/home/u/.pyenv/versions/{version}");
        tree = tree
            .file(&format!("{prefix}/bin/python{minor}"), "")
            .link(&format!("{prefix}/bin/python3"), &format!("python{minor}"))
            .dist(&format!("{prefix}/lib/python{minor}/site-packages"), "torch", "2.7.1", "");
    }
    tree
}

#[test]
fn a_shim_of_pyenv_is_looked_through() {
    let chosen = |tree: Tree| interpreter(&tree.read()).path.clone();
    let of = |version: &str| format!("/home/u/.pyenv/versions/{version}/bin/python3");
    assert_eq!(chosen(pyenv(&[])), of("3.9.1"));
    assert_eq!(pyenv(&[]).read().dist("torch").unwrap().version, "2.7.1");
    let local = "# of the project\n3.11.7\n3.9.1\n";
    assert_eq!(chosen(pyenv(&[]).file("/home/u/work/.python-version", local)), of("3.11.7"));
    // A shorter name selects the newest of its versions, and one that is not installed is skipped.
    assert_eq!(chosen(pyenv(&[("PYENV_VERSION", "3.8.2:3.11")])), of("3.11.13"));
    assert_eq!(chosen(pyenv(&[("PYENV_VERSION", "system")])), "/usr/bin/python3");
    assert_eq!(chosen(pyenv(&[("PYENV_VERSION", "../../x")])), "/usr/bin/python3");
}
