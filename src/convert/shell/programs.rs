//! The words of a command that are programs, and those that run the following program.

use super::lexer::Command;
use super::word::EXPANSION;
use crate::python::Project;

/// Commands whose options are known to have another meaning.
pub(super) const NOT_ASKED: &[&str] =
    &["[", "[[", "test", "git", "find", "wget", "curl", "rsync", "scp", "mount", "case", "for"];

/// Words before the name of a command.
pub(super) const KEYWORDS: &[&str] =
    &["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "command"];

/// Programs that run the program in their arguments.
pub(super) const WRAPPERS: &[&str] = &[
    "env",
    "nohup",
    "sudo",
    "srun",
    "mpirun",
    "mpiexec",
    "numactl",
    "taskset",
    "nice",
    "timeout",
    "stdbuf",
    "xargs",
    "docker",
    "podman",
    "singularity",
    "apptainer",
    "uv",
    "poetry",
    "pipenv",
    "pdm",
    "hatch",
    "conda",
    "mamba",
    "micromamba",
    "coverage",
    "kernprof",
    "eval",
    "bash",
    "sh",
    "gdb",
    "strace",
    "horovodrun",
    "pdsh",
    "kubectl",
    "flock",
    "setsid",
    "CMD",
    "ENTRYPOINT",
];

/// Programs of the CUDA toolkit and similar ones.
pub(super) const CUDA_TOOLS: &[&str] = &[
    "nvcc",
    "nvprof",
    "nsys",
    "ncu",
    "cuda-gdb",
    "cuda-memcheck",
    "compute-sanitizer",
    "nvitop",
    "gpustat",
    "nvidia-docker",
    "nvidia-ctk",
    "nvidia-container-cli",
    "dcgmi",
    "trtexec",
];

/// Programs that accept devices, or start a script of the tree.
const LAUNCHERS: &[&str] = &[
    "torchrun",
    "accelerate",
    "deepspeed",
    "ds",
    "ipython",
    "pytest",
    "hydra",
    "yolo",
    "lm_eval",
    "lm-eval",
    "swift",
    "whisper",
];

/// Index of the word that names the command.
pub(super) fn name_at(command: &Command) -> Option<usize> {
    command
        .words
        .iter()
        .position(|word| !KEYWORDS.contains(&word.text.as_str()) && word.assignment().is_none())
}

pub(super) fn first_word(command: &Command) -> Option<&str> {
    name_at(command).map(|at| command.words[at].text.as_str())
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a word is a program whose options this module knows: Python, its launchers, and
/// scripts.
pub(super) fn is_program(word: &str, project: Option<&Project>) -> bool {
    let name = base_name(word);
    let python = name
        .strip_prefix("python")
        .is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    python
        || LAUNCHERS.contains(&name)
        || project.is_some_and(|project| project.is_program(name))
        || is_script(name)
}

/// Whether a word names a script.
pub(super) fn is_script(word: &str) -> bool {
    [".py", ".sh"].iter().any(|ending| word.len() > ending.len() && word.ends_with(ending))
}

/// Index of the word that is the program of the following arguments.
pub(super) fn program(command: &Command, project: Option<&Project>) -> Option<usize> {
    let first = name_at(command)?;
    let word = &command.words[first];
    let name = base_name(&word.text);
    if is_program(&word.text, project) {
        return Some(first);
    }
    let variable = word.text.contains(EXPANSION);
    if !WRAPPERS.contains(&name) && !variable {
        return None;
    }
    let found = command.words[first..].iter().position(|word| is_program(&word.text, project));
    if let Some(at) = found {
        return Some(first + at);
    }
    // `$PYTHON main.py` is found above; `$LAUNCHER "$@" --device cuda` has no other evidence.
    variable.then_some(first)
}
