//! The first byte of an input of the target `convert`, which selects the kind of file and the
//! options. The target reads it, `examples/fuzz_seeds.rs` writes it.

/// A file name of each kind of file that `convert` reads, and of each syntax.
pub(crate) const NAMES: &[&str] = &[
    "a.py",
    "a.ipynb",
    "a.sh",
    "a.yaml",
    "a.json",
    "a.toml",
    "requirements.txt",
    "pyproject.toml",
    "environment.yml",
    "setup.cfg",
    "Dockerfile",
    "docker-compose.yml",
    "a.cu",
    "a.cpp",
    "CMakeLists.txt",
    "a.rs",
    "Cargo.toml",
];

/// The file name for a first byte. Every other input is Python, which is the most common kind.
#[allow(dead_code, reason = "what writes the seeds needs only the other direction")]
pub(crate) fn name(first: u8) -> &'static str {
    if first & 1 == 0 { NAMES[0] } else { NAMES[usize::from(first >> 1) % NAMES.len()] }
}

/// A first byte for a file of this name, or for one that is read in the same way.
#[allow(dead_code, reason = "the target needs only the other direction")]
pub(crate) fn first(file: &str) -> u8 {
    let end = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let alike = |name: &str| name.starts_with("a.") && end(name) == end(file);
    let exact = NAMES.iter().position(|name| *name == file);
    match exact.or_else(|| NAMES.iter().position(|name| alike(name))) {
        None | Some(0) => 0,
        Some(at) => u8::try_from(at * 2 + 1).unwrap_or(0),
    }
}
