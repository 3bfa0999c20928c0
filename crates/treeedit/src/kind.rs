//! The kinds of files that `convert` reads, detected by name or else by the first line.

use serde::Serialize;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, clap::ValueEnum)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[clap(rename_all = "lower")]
pub enum FileKind {
    /// Python sources (`.py`, `.pyi`, scripts with a Python shebang).
    Python,
    /// Jupyter notebooks.
    Notebook,
    /// Shell scripts.
    Shell,
    /// YAML, JSON, TOML and INI configurations.
    Config,
    /// Requirement files: requirements*.txt, pyproject.toml, environment.yml, setup.cfg.
    Requirements,
    /// Dockerfiles, compose files and Kubernetes manifests.
    Container,
    /// CMake files, CUDA and C++ sources: reported, never rewritten.
    Native,
    /// Rust sources and Cargo.toml.
    Rust,
    /// Markdown, Makefiles, `.env` and gin files: listed in the ledger, never rewritten.
    Text,
}

impl FileKind {
    /// All kinds, in the order of lists.
    pub const ALL: &'static [Self] = &[
        Self::Python,
        Self::Notebook,
        Self::Shell,
        Self::Config,
        Self::Requirements,
        Self::Container,
        Self::Native,
        Self::Rust,
        Self::Text,
    ];

    /// The kind for a file name; `None` for files that are not read, or only recognized by their
    /// first line (see [`FileKind::of_first_line`]).
    pub fn of_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let (stem, extension) = lower.rsplit_once('.').unwrap_or((lower.as_str(), ""));
        if lower.starts_with("dockerfile")
            || lower.starts_with("containerfile")
            || extension == "dockerfile"
            || stem.starts_with("docker-compose")
            || stem == "compose"
        {
            return Some(Self::Container);
        }
        if (lower.contains("requirement") || lower.contains("constraint"))
            && matches!(extension, "txt" | "in")
            || matches!(
                lower.as_str(),
                "pyproject.toml" | "setup.cfg" | "pipfile" | "environment.yml" | "environment.yaml"
            )
            || matches!(extension, "yml" | "yaml")
                && (stem.starts_with("environment") || stem.starts_with("conda"))
        {
            return Some(Self::Requirements);
        }
        if lower == "cargo.toml" {
            return Some(Self::Rust);
        }
        Some(match extension {
            "py" | "pyi" | "pyw" => Self::Python,
            "ipynb" => Self::Notebook,
            "sh" | "bash" | "zsh" | "ksh" | "slurm" | "sbatch" => Self::Shell,
            "yaml" | "yml" | "json" | "jsonc" | "toml" | "ini" | "cfg" => Self::Config,
            "cu" | "cuh" | "cpp" | "cc" | "cxx" | "c" | "h" | "hpp" | "hh" | "cmake" => {
                Self::Native
            }
            "txt" if lower == "cmakelists.txt" => Self::Native,
            "rs" => Self::Rust,
            "md" | "markdown" | "mdx" | "rst" | "mk" | "gin" | "env" | "pbs" => Self::Text,
            _ if lower.starts_with(".env") || is_makefile(&lower) => Self::Text,
            _ => return None,
        })
    }

    /// The kind for a `#!` line.
    pub fn of_first_line(line: &[u8]) -> Option<Self> {
        let line = line.strip_prefix(b"#!")?;
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        let first = words.next()?.rsplit('/').next()?;
        let program = if first == "env" {
            words.find(|word| !word.starts_with('-') && !word.contains('='))?.rsplit('/').next()?
        } else {
            first
        };
        if program.starts_with("python") || program.starts_with("pypy") {
            Some(Self::Python)
        } else if matches!(program, "sh" | "bash" | "zsh" | "ksh" | "dash") {
            Some(Self::Shell)
        } else {
            None
        }
    }
}

fn is_makefile(name: &str) -> bool {
    name.starts_with("makefile") || name == "gnumakefile"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_kind() {
        for (name, kind) in [
            ("train.py", Some(FileKind::Python)),
            ("Dockerfile.gpu", Some(FileKind::Container)),
            ("docker-compose.yml", Some(FileKind::Container)),
            ("requirements-dev.txt", Some(FileKind::Requirements)),
            ("environment.yml", Some(FileKind::Requirements)),
            ("pyproject.toml", Some(FileKind::Requirements)),
            ("ds_config.json", Some(FileKind::Config)),
            ("CMakeLists.txt", Some(FileKind::Native)),
            ("nms_kernel.cu", Some(FileKind::Native)),
            ("Cargo.toml", Some(FileKind::Rust)),
            ("notes.txt", None),
            ("README.md", Some(FileKind::Text)),
            (".env.example", Some(FileKind::Text)),
            ("GNUmakefile", Some(FileKind::Text)),
        ] {
            assert_eq!(FileKind::of_name(name), kind, "{name}");
        }
    }

    #[test]
    fn the_first_line_says_the_kind() {
        assert_eq!(FileKind::of_first_line(b"#!/usr/bin/env python3"), Some(FileKind::Python));
        assert_eq!(
            FileKind::of_first_line(b"#!/usr/bin/env -S A=1 bash -e"),
            Some(FileKind::Shell)
        );
        assert_eq!(FileKind::of_first_line(b"#!/usr/bin/perl"), None);
        assert_eq!(FileKind::of_first_line(b"import torch"), None);
    }
}
