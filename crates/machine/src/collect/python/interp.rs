//! Determines the interpreter that would run the workload, and the location of its packages,
//! without executing anything.

use super::{Options, pyenv};
use crate::elf::Object;
use crate::sysroot::{ReadError, Sysroot};
use facts::FileKind;
use facts::{Interpreter, Process, Unusable};

/// Directories outside `PATH` that contain interpreters, in order: CANN images build Python into
/// `/usr/local/python<version>`, and conda has default paths.
const WELL_KNOWN: &[&str] =
    &["/opt/conda", "/opt/miniconda3", "/opt/anaconda3", "/usr/local", "/usr"];

/// Returns `X.Y` if the text is a version, `X.Y` or `X.Y.Z`, and not an interpreter.
pub fn python_version(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| part.parse::<u16>().is_ok();
    (matches!(parts.len(), 2 | 3) && parts.iter().all(is_number))
        .then(|| format!("{}.{}", parts[0], parts[1]))
}

/// The chosen interpreter, and a requested one that is missing: the source of the request, and the
/// path.
pub(super) type Choice = (Option<Interpreter>, Option<(String, String)>);

/// Chooses the interpreter in this order: the one named by the user, the one of the process, the
/// activated environment, the first on `PATH`, the default locations.
pub(super) fn choose(sysroot: &Sysroot, options: &Options) -> Choice {
    let mut missing = None;
    if let Some(named) = &options.python {
        let found = named_path(sysroot, named).and_then(|path| at(sysroot, &path, "--python"));
        let missing = found.is_none().then(|| ("--python".to_owned(), named.clone()));
        // Any interpreter other than the named one would give wrong answers.
        return (found, missing);
    }
    if let Some(path) = &sysroot.process().python {
        let path = venv_of_process(sysroot, path).unwrap_or_else(|| path.clone());
        match named_path(sysroot, &path).and_then(|path| at(sysroot, &path, "process")) {
            Some(found) => return (Some(found), None),
            None => missing = Some(("process".to_owned(), path)),
        }
    }
    let first = on_path(sysroot);
    // The target of a script is unknown, so an activated environment is the better guess.
    let started = first.as_deref().filter(|path| !is_script(sysroot, path));
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        let Some(prefix) = sysroot.env().non_empty(name) else { continue };
        match in_prefix(sysroot, prefix, name) {
            // The shell starts the first interpreter on PATH, regardless of remaining variables of
            // an activation.
            Some(found) if started.is_none_or(|path| is_of(sysroot, &found, path)) => {
                return (Some(found), missing);
            }
            Some(_) => {}
            None => {
                missing.get_or_insert_with(|| (name.to_owned(), prefix.to_owned()));
            }
        }
    }
    let on_path = first.and_then(|path| at(sysroot, &path, "PATH"));
    let found = on_path.or_else(|| {
        // A copied tree may contain an environment without its binary, but one with a binary is
        // preferred: Debian has /usr/local/lib/python3.11 without any Python in /usr/local.
        let prefixes = well_known(sysroot);
        let complete = prefixes.iter().filter(|prefix| binary_in(sysroot, prefix).is_some());
        complete.chain(&prefixes).find_map(|prefix| in_prefix(sysroot, prefix, "well-known"))
    });
    (found, missing)
}

/// Returns whether a file is a script, which names the program that runs it.
fn is_script(sysroot: &Sysroot, path: &str) -> bool {
    let mut head = [0_u8; 2];
    sysroot.open(path).is_ok_and(|file| file.read_at(&mut head, 0).is_ok() && head == *b"#!")
}

/// Returns whether a path is that of this environment's interpreter.
fn is_of(sysroot: &Sysroot, interpreter: &Interpreter, path: &str) -> bool {
    let dir = |path: &str| {
        let (dir, _) = path.rsplit_once('/')?;
        Some(sysroot.real(dir).unwrap_or_else(|_| dir.to_owned()))
    };
    dir(path).is_some_and(|of| dir(&format!("{}/bin/python3", interpreter.prefix)) == Some(of))
}

/// Other interpreters that have their own `torch_npu`, for the hint that the wrong environment is
/// active.
pub(super) fn others(sysroot: &Sysroot, chosen: Option<&Interpreter>) -> Vec<Interpreter> {
    let mut prefixes = well_known(sysroot);
    let home = sysroot.home();
    let condas = ["miniconda3", "anaconda3", "miniforge3"];
    prefixes.extend(home.iter().flat_map(|home| condas.map(|conda| format!("{home}/{conda}"))));
    let environments: Vec<String> = prefixes
        .iter()
        .flat_map(|prefix| {
            let dir = format!("{prefix}/envs");
            let names = sysroot.list(&dir).unwrap_or_default();
            names.into_iter().map(move |name| format!("{dir}/{name}"))
        })
        .collect();
    prefixes.extend(environments);
    // Activated environments that are not the first on PATH.
    let activated = ["VIRTUAL_ENV", "CONDA_PREFIX"].map(|name| sysroot.env().non_empty(name));
    prefixes.extend(activated.into_iter().flatten().map(str::to_owned));
    let mut found: Vec<Interpreter> = prefixes
        .iter()
        .filter_map(|prefix| in_prefix(sysroot, prefix, "well-known"))
        .filter(|other| chosen.is_none_or(|chosen| chosen.prefix != other.prefix))
        .filter(|other| {
            super::site::own_dirs(sysroot, other)
                .iter()
                .any(|dir| sysroot.is_dir(&format!("{dir}/torch_npu")))
        })
        .collect();
    found.sort_by(|a, b| a.prefix.cmp(&b.prefix));
    found.dedup_by(|a, b| a.prefix == b.prefix);
    found
}

/// The absolute path of an interpreter in the forms that users give: a path, a directory with an
/// environment in it, or a command.
fn named_path(sysroot: &Sysroot, named: &str) -> Option<String> {
    let of_version = python_version(named).map(|version| format!("python{version}"));
    let named = of_version.as_deref().unwrap_or(named);
    let path = if named.starts_with('/') {
        named.to_owned()
    } else if named.contains('/') {
        format!("{}/{named}", sysroot.process().cwd.as_deref()?.trim_end_matches('/'))
    } else {
        path_dirs(sysroot).map(|dir| format!("{dir}/{named}")).find(|path| sysroot.is_file(path))?
    };
    if sysroot.is_dir(&path) { binary_in(sysroot, &path) } else { Some(path) }
}

/// Finds the virtual environment of a process. `/proc/<pid>/exe` is the base interpreter even in a
/// virtual environment, so the name under which the process was started, its environment, or a
/// loaded module identifies it.
fn venv_of_process(sysroot: &Sysroot, exe: &str) -> Option<String> {
    let process: &Process = sysroot.process();
    process.pid?;
    let real = sysroot.real(exe).ok()?;
    let activated = sysroot.env().non_empty("VIRTUAL_ENV").map(str::to_owned);
    let loaded = process.mapped.iter().filter_map(|file| {
        let at = file.path.find("/lib/python").or_else(|| file.path.find("/lib64/python"))?;
        Some(file.path[..at].to_owned())
    });
    // As in Python itself: `pyvenv.cfg` in the parent of the directory of the name, before any link
    // is followed.
    let started = process.argv0.as_deref().and_then(|name| named_path(sysroot, name));
    let started = started.and_then(|path| {
        let (bin, _) = path.rsplit_once('/')?;
        Some(bin.rsplit_once('/')?.0.to_owned())
    });
    started
        .into_iter()
        .chain(activated)
        .chain(loaded)
        .filter(|prefix| sysroot.is_file(&format!("{prefix}/pyvenv.cfg")))
        .filter_map(|prefix| binary_in(sysroot, &prefix))
        .find(|binary| sysroot.real(binary).is_ok_and(|path| path == real))
}

fn path_dirs(sysroot: &Sysroot) -> impl Iterator<Item = String> {
    let dirs = sysroot.env().list("PATH").into_iter().map(str::to_owned).collect::<Vec<_>>();
    dirs.into_iter()
        .filter(|dir| dir.starts_with('/'))
        .map(|dir| dir.trim_end_matches('/').to_owned())
}

fn on_path(sysroot: &Sysroot) -> Option<String> {
    path_dirs(sysroot).find_map(|dir| {
        if pyenv::is_shims(sysroot, &dir) {
            return pyenv::behind(sysroot, &dir);
        }
        [format!("{dir}/python3"), format!("{dir}/python")]
            .into_iter()
            .find(|path| sysroot.is_file(path))
    })
}

/// Prefixes that may contain an interpreter, those of CANN images first.
fn well_known(sysroot: &Sysroot) -> Vec<String> {
    let mut images: Vec<String> = sysroot
        .list("/usr/local")
        .unwrap_or_default()
        .into_iter()
        .filter(|name| name.starts_with("python3"))
        .map(|name| format!("/usr/local/{name}"))
        .collect();
    images.sort_by_key(|prefix| std::cmp::Reverse(version_key(prefix)));
    images.extend(WELL_KNOWN.iter().map(|&prefix| prefix.to_owned()));
    images
}

/// The interpreter of an environment, whether or not its binary exists.
fn in_prefix(sysroot: &Sysroot, prefix: &str, chosen_by: &str) -> Option<Interpreter> {
    let prefix = match prefix.trim_end_matches('/') {
        "" => "/",
        prefix => prefix,
    };
    let binary = binary_in(sysroot, prefix).unwrap_or_else(|| format!("{prefix}/bin/python3"));
    at(sysroot, &binary, chosen_by)
}

/// `bin/python3` of a prefix: a file, or at least a link.
fn binary_in(sysroot: &Sysroot, prefix: &str) -> Option<String> {
    let prefix = prefix.trim_end_matches('/');
    ["python3", "python"]
        .map(|name| format!("{prefix}/bin/{name}"))
        .into_iter()
        .find(|path| sysroot.lstat(path).is_ok())
        .or_else(|| {
            let names = sysroot.list(&format!("{prefix}/bin")).ok()?;
            let name = names.into_iter().find(|name| minor_version(name, "python").is_some())?;
            Some(format!("{prefix}/bin/{name}"))
        })
}

/// The known facts about the interpreter at `path`. `None` if neither the interpreter nor its
/// library directory exists. A copied tree may contain the packages without the binary.
pub(super) fn at(sysroot: &Sysroot, path: &str, chosen_by: &str) -> Option<Interpreter> {
    let real = sysroot.real(path);
    let dangling = match &real {
        Err(ReadError::NotFound)
            if sysroot.lstat(path).is_ok_and(|stat| stat.kind == FileKind::Link) =>
        {
            sysroot.read_link(path).ok()
        }
        _ => None,
    };
    let is_file = sysroot.is_file(path);
    let real = real.unwrap_or_else(|_| path.to_owned());
    let mut found = Interpreter {
        path: path.to_owned(),
        real: real.clone(),
        chosen_by: chosen_by.to_owned(),
        dangling,
        ..Interpreter::default()
    };
    let prefix_of = |path: &str| super::parent(super::parent(path)).to_owned();
    let by_path = prefix_of(path);
    if let Some(text) = [&by_path, super::parent(path)]
        .iter()
        .find_map(|dir| sysroot.read_text_if_exists(&format!("{dir}/pyvenv.cfg")))
    {
        let config = super::pyvenv::parse(&text);
        "venv".clone_into(&mut found.kind);
        found.prefix = by_path;
        found.system_site = config.system_site;
        found.version = config.version;
        found.base_prefix = config.home.as_deref().map(|home| base_prefix(sysroot, home));
    } else {
        let by_real = prefix_of(&real);
        found.prefix = if lib_versions(sysroot, &by_real).is_empty()
            && !lib_versions(sysroot, &by_path).is_empty()
        {
            by_path
        } else {
            by_real
        };
        let conda = sysroot.is_dir(&format!("{}/conda-meta", found.prefix));
        (if conda { "conda" } else { "system" }).clone_into(&mut found.kind);
    }
    let libraries = lib_versions(sysroot, &found.prefix);
    // The prefix of `/nonexist` would be `/`, and most machines have a Python there.
    let may_be_left_out = super::parent(path).ends_with("/bin") && !libraries.is_empty();
    if !is_file && !may_be_left_out && found.dangling.is_none() {
        return None;
    }
    found.unusable = unusable(sysroot, path);
    found.version = version(sysroot, &found, &libraries);
    if found.unusable.is_none() && has_no_home(sysroot, &found) {
        found.unusable = Some(Unusable::NoHome);
    }
    found.arch = is_file.then(|| elf_machine(sysroot, &real)).flatten();
    Some(found)
}

/// The reason why `path` cannot be started. A file that cannot be read may still be executable.
fn unusable(sysroot: &Sysroot, path: &str) -> Option<Unusable> {
    if !sysroot.is_file(path) {
        // A file below an unreadable directory is not known to be absent.
        let absent = matches!(sysroot.real(path), Err(ReadError::NotFound)) || sysroot.is_dir(path);
        return absent.then_some(Unusable::Absent);
    }
    let mut head = [0_u8; 4];
    let read = sysroot.open(path).ok()?.read_at(&mut head, 0).ok()?;
    let is_program = head[..read].starts_with(b"#!") || head[..read] == *b"\x7fELF";
    (!is_program).then_some(Unusable::NotAProgram)
}

/// Returns whether `PYTHONHOME` points to a directory without a standard library for this Python:
/// `prefix[:exec_prefix]`, with `lib/pythonX.Y/os.py` or `lib/pythonXY.zip` in the first (CPython's
/// `Modules/getpath.py`).
fn has_no_home(sysroot: &Sysroot, found: &Interpreter) -> bool {
    // A wrapper may set or clear the variable.
    let Some(home) =
        sysroot.env().non_empty("PYTHONHOME").filter(|_| !is_script(sysroot, &found.real))
    else {
        return false;
    };
    let home = home.split(':').next().unwrap_or(home).trim_end_matches('/');
    let numbers = found.version.as_deref().map(|version| version.split('.').collect::<Vec<_>>());
    let Some([major, minor, ..]) = numbers.as_deref() else { return false };
    if !home.starts_with('/') {
        return false;
    }
    let places = [
        format!("{home}/lib/python{major}.{minor}/os.py"),
        format!("{home}/lib64/python{major}.{minor}/os.py"),
        format!("{home}/lib/python{major}{minor}.zip"),
    ];
    // An unreadable directory may contain it.
    places.iter().all(|path| matches!(sysroot.real(path), Err(ReadError::NotFound)))
}

/// Returns whether a file can be a Python: by its name, or else by the files next to it or its
/// libraries. It is not run.
pub(super) fn may_be_python(sysroot: &Sysroot, found: &Interpreter) -> bool {
    let named = |path: &str| {
        let name = super::base_name(path).to_ascii_lowercase();
        name.contains("python") || name.starts_with("pypy")
    };
    // The copied tree may not contain it.
    if named(&found.path) || named(&found.real) || !sysroot.is_file(&found.real) {
        return true;
    }
    let Ok(file) = sysroot.open(&found.real) else { return true };
    let Ok(object) = Object::read(&file) else { return false };
    let main = |name: &str| matches!(object.defines(&file, name), Ok(Some(true)));
    object.dynamic.needed.iter().any(|library| library.starts_with("libpython"))
        || main("Py_BytesMain")
        || main("Py_Main")
}

/// The prefix of the interpreter that a virtual environment was created from; `home` is the
/// directory of its binary, which may be a link farm such as `/usr/local/bin`.
fn base_prefix(sysroot: &Sysroot, home: &str) -> String {
    let plain = super::parent(home).to_owned();
    if !lib_versions(sysroot, &plain).is_empty() {
        return plain;
    }
    match sysroot.real(&format!("{}/python3", home.trim_end_matches('/'))) {
        Ok(real) => super::parent(super::parent(&real)).to_owned(),
        Err(_) => plain,
    }
}

/// `X.Y.Z` if a source has it, else `X.Y`.
fn version(sysroot: &Sysroot, found: &Interpreter, libraries: &[String]) -> Option<String> {
    let by_name = [&found.real, &found.path]
        .iter()
        .find_map(|path| minor_version(super::base_name(path), "python"));
    if let Some(version) = &found.version {
        // `pyvenv.cfg` has the version at creation. After an upgrade of the system, the link points
        // to another Python, which has its own package directory.
        let program = by_name.filter(|_| found.unusable.is_none());
        return Some(match program {
            Some(minor) if python_version(version).is_some_and(|said| said != minor) => minor,
            _ => version.clone(),
        });
    }
    let minor = match (by_name, libraries) {
        (Some(minor), _) => minor,
        (None, [only]) => only.clone(),
        // The newest library directory that contains a standard library.
        (None, several) => several
            .iter()
            .rev()
            .find(|minor| sysroot.is_file(&format!("{}/lib/python{minor}/os.py", found.prefix)))
            .or(several.last())?
            .clone(),
    };
    let full = conda_version(sysroot, found).or_else(|| {
        // `/usr/local/python3.11.13`, as in CANN images.
        super::base_name(&found.prefix).strip_prefix("python").map(str::to_owned)
    });
    Some(full.filter(|full| full.starts_with(&format!("{minor}."))).unwrap_or(minor))
}

/// The version in the name of `conda-meta/python-<version>-<build>.json`.
fn conda_version(sysroot: &Sysroot, found: &Interpreter) -> Option<String> {
    if found.kind != "conda" {
        return None;
    }
    sysroot.list(&format!("{}/conda-meta", found.prefix)).ok()?.iter().find_map(|name| {
        let version = name.strip_prefix("python-")?.split('-').next()?;
        version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
    })
}

/// The versions `X.Y` for which the prefix has a library directory, in ascending order.
pub(super) fn lib_versions(sysroot: &Sysroot, prefix: &str) -> Vec<String> {
    let prefix = prefix.trim_end_matches('/');
    let mut versions: Vec<String> = ["lib", "lib64"]
        .iter()
        .flat_map(|lib| sysroot.list(&format!("{prefix}/{lib}")).unwrap_or_default())
        .filter_map(|name| minor_version(&name, "python"))
        .collect();
    versions.sort_by_key(|version| version_key(version));
    versions.dedup();
    versions
}

/// `X.Y` of a name such as `python3.11` (nothing may follow).
fn minor_version(name: &str, before: &str) -> Option<String> {
    let rest = name.strip_prefix(before)?;
    let (major, minor) = rest.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits(major) && digits(minor)).then(|| rest.to_owned())
}

/// The numbers in a name, for sorting names of versions.
fn version_key(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// The architecture in an ELF header, in the form of `uname -m`.
fn elf_machine(sysroot: &Sysroot, path: &str) -> Option<String> {
    let mut header = [0_u8; 20];
    let file = sysroot.open(path).ok()?;
    if file.read_at(&mut header, 0).ok()? < header.len() || !header.starts_with(b"\x7fELF") {
        return None;
    }
    let bytes = [header[18], header[19]];
    let machine =
        if header[5] == 2 { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    Some(crate::elf::machine_name(machine))
}
