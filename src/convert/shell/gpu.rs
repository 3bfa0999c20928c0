//! GPU-specific requirements of a script: NVIDIA programs, images, packages, and the options and
//! directives of schedulers.

use std::ops::Range;

use super::super::requirements;
use super::super::rules::{Match, Place, Rules};
use super::programs::{CUDA_TOOLS, base_name};
use super::reader::Reader;
use super::word::Word;

impl Reader<'_, '_, '_> {
    /// Programs and options that exist for GPUs only.
    pub(super) fn nvidia(&mut self, words: &[Word], name: &str) {
        let rules = Rules::builtin();
        for word in &words[1..] {
            if base_name(&word.text) == "nvidia-smi" {
                let place = self.at(&word.range);
                self.planner.flag(rules.site(Place::ShellNvidiaSmi), place, None);
            }
        }
        let first = self.at(&words[0].range);
        if matches!(name, "module" | "ml" | "spack") {
            let of_cuda = ["cuda", "cudnn", "nccl", "nvhpc", "CUDA", "cuDNN", "NCCL"];
            for word in &words[1..] {
                if of_cuda.iter().any(|name| word.text.starts_with(name)) {
                    let place = self.at(&word.range);
                    let rule = rules.site(Place::ShellCudaTool);
                    self.planner.flag(rule, place, Some(word.text.clone()));
                }
            }
        }
        if name == "nvidia-smi" {
            self.planner.flag(rules.site(Place::ShellNvidiaSmi), first.clone(), None);
        } else if CUDA_TOOLS.contains(&name) {
            self.planner.flag(
                rules.site(Place::ShellCudaTool),
                first.clone(),
                Some(name.to_owned()),
            );
        }
        if matches!(
            name,
            "docker" | "podman" | "srun" | "sbatch" | "singularity" | "apptainer" | "enroot"
        ) {
            for word in &words[1..] {
                let image =
                    word.text.rsplit_once('=').map_or(word.text.as_str(), |(_, image)| image);
                let image = image.trim_start_matches("docker://");
                if image.starts_with("nvcr.io/") || image.starts_with("nvidia/cuda") {
                    let place = self.at(&word.range);
                    let rule = rules.site(Place::CiCudaImage);
                    self.planner.flag(rule, place, Some(image.to_owned()));
                }
            }
        }
        for (at, word) in words.iter().enumerate().skip(1) {
            let option = word.text.split('=').next().unwrap_or_default();
            let value = word.text.split_once('=').map(|(_, value)| value);
            let value = value.or_else(|| words.get(at + 1).map(|word| word.text.as_str()));
            let site = match (name, option) {
                ("docker" | "podman" | "nvidia-docker", "--gpus") => Place::DockerRunGpus,
                ("docker" | "podman", "--runtime") if value == Some("nvidia") => {
                    Place::DockerRunGpus
                }
                ("srun" | "sbatch" | "salloc", option) if of_slurm(option, value) => {
                    Place::SlurmGres
                }
                _ => continue,
            };
            let place = self.at(&word.range);
            self.planner.flag(rules.site(site), place, Some(word.text.clone()));
        }
    }

    /// `pip install`, `conda install`.
    pub(super) fn installs(&mut self, words: &[Word]) {
        if let Some(word) = words.iter().find(|word| word.text.contains("--cuda_ext"))
            && let Some(rule) = Rules::builtin().find(Match::Library, "apex")
        {
            let place = self.at(&word.range);
            self.planner.flag(rule, place, Some("--cuda_ext".to_owned()));
        }
        let system = ["apt", "apt-get", "yum", "dnf", "microdnf", "zypper", "apk"];
        if let Some(at) = words.iter().position(|word| system.contains(&base_name(&word.text)))
            && words[at..].iter().any(|word| matches!(word.text.as_str(), "install" | "add"))
        {
            let of_cuda = ["cuda-", "libcudnn", "libnccl", "libcublas", "libnvinfer", "nvidia-"];
            for word in &words[at + 1..] {
                if of_cuda.iter().any(|name| word.text.starts_with(name)) {
                    let rule = Rules::builtin().site(Place::RequirementsCudaPackage);
                    let place = self.at(&word.range);
                    self.planner.flag(rule, place, Some(word.text.clone()));
                }
            }
            return;
        }
        let Some(installer) = words.iter().position(|word| {
            let name = base_name(&word.text);
            matches!(name, "pip" | "pip3" | "conda" | "mamba" | "micromamba")
                || name.strip_prefix("pip3.").is_some_and(|v| v.bytes().all(|b| b.is_ascii_digit()))
        }) else {
            return;
        };
        let conda = !base_name(&words[installer].text).starts_with("pip");
        let Some(install) = words[installer..].iter().position(|word| {
            matches!(word.text.as_str(), "install" | "create" | "download" | "wheel")
        }) else {
            return;
        };
        let arguments: Vec<_> = words[installer + install + 1..]
            .iter()
            .filter(|word| word.plain().is_some())
            .filter_map(|word| {
                let range = word.source(&(0..word.text.len()))?;
                Some((self.at(&range), word.range.end + self.offset))
            })
            .collect();
        requirements::arguments(self.planner, &arguments, conda);
    }

    /// `#SBATCH --gres=gpu:8`.
    pub(super) fn directive(&mut self, comment: &Range<usize>) {
        let text = &self.text[comment.clone()];
        let Some(rest) = text.strip_prefix("#SBATCH") else { return };
        let mut words = rest.split_ascii_whitespace();
        while let Some(word) = words.next() {
            if word.starts_with('#') {
                break;
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, words.clone().next()),
            };
            if of_slurm(option, value) {
                let rule = Rules::builtin().site(Place::SlurmGres);
                let place = self.at(&(comment.start..comment.start + text.trim_end().len()));
                self.planner.flag(rule, place, Some(rest.trim().to_owned()));
                break;
            }
        }
    }
}

/// Whether an option of SLURM requests GPUs.
fn of_slurm(option: &str, value: Option<&str>) -> bool {
    match option {
        "--gres" => value.is_some_and(|value| value.split(',').any(|part| part.starts_with("gpu"))),
        "--gpus" | "-G" | "--gpus-per-node" | "--gpus-per-task" | "--gpus-per-socket"
        | "--cpus-per-gpu" | "--mem-per-gpu" => true,
        _ => false,
    }
}
