//! Keys and images of compose files, Kubernetes manifests and CI workflows that require NVIDIA.

use std::ops::Range;

use super::rules::{Place, Rules};
use super::site::Planner;

/// Whether an image is built for CUDA: `nvidia/cuda:12.1.0-base`, `pytorch/pytorch:2.1-cuda12.1`.
pub(super) fn is_cuda_image(image: &str) -> bool {
    let image = image.to_ascii_lowercase();
    let (path, tag) = match image.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, tag),
        _ => (image.as_str(), ""),
    };
    path.split('/').any(|part| part == "nvidia" || part.contains("cuda"))
        || tag.contains("cuda")
        || tag.contains("cudnn")
        || tag.split(['-', '_', '.']).any(|part| {
            part == "gpu"
                || part.strip_prefix("cu").is_some_and(|version| {
                    version.len() >= 2 && version.bytes().all(|byte| byte.is_ascii_digit())
                })
        })
}

/// Reports a key of a manifest that requires NVIDIA.
pub(super) fn plan_entry(planner: &mut Planner<'_>, key: &Range<usize>, value: &Range<usize>) {
    let (name, text) = (&planner.text[key.clone()], &planner.text[value.clone()]);
    let site = match (name, text) {
        ("driver" | "runtime" | "runtimeClassName", "nvidia") | ("gpus", "all") => {
            Place::ComposeNvidia
        }
        (name, _) if name.starts_with("nvidia.com/") => Place::K8sNvidiaGpu,
        ("image" | "container" | "base_image" | "baseImage", image) if is_cuda_image(image) => {
            Place::CiCudaImage
        }
        ("options", text) if text.contains("--gpus") => Place::DockerRunGpus,
        _ => return,
    };
    let place = key.start.min(value.start)..value.end.max(key.end);
    planner.flag(Rules::builtin().site(site), place, Some(format!("{name}: {text}")));
}
