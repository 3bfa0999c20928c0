//! Values of options and configuration keys that name a device or a backend. Shared by shell
//! scripts, configurations and manifests: the key determines the role of its value, and only a
//! value that as a whole is a device or a backend is rewritten.

use std::fmt::Write as _;

/// The kind of value that a key or an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A device: `cuda`, `cuda:0`.
    Device,
    /// A backend of collective communication: `nccl`.
    Backend,
}

/// The result for a value in a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The new value.
    Write(String),
    /// It refers to a GPU, but the replacement needs manual work.
    Flag,
}

/// The role of the value of a key: `device`, `--dist-backend`, `+trainer.map_location`.
pub fn role(key: &str) -> Option<Role> {
    let key = key.trim_start_matches(['-', '+', '~']);
    let last = key.rsplit(['.', '/']).next()?;
    let last = last.to_ascii_lowercase().replace('-', "_");
    if last == "device"
        || last.ends_with("_device")
        || matches!(
            last.as_str(),
            "devices"
                | "device_type"
                | "device_name"
                | "device_map"
                | "device_id"
                | "device_str"
                | "map_location"
                | "accelerator"
                | "accelerator_type"
        )
        || last.ends_with("_accelerator")
    {
        return Some(Role::Device);
    }
    // Only NCCL values are changed: they show that the key means a collective backend.
    last.contains("backend").then_some(Role::Backend)
}

/// The result for `value` of `key`; `None` if it stays.
pub fn converted(key: &str, value: &str) -> Option<Outcome> {
    match role(key)? {
        Role::Device => device(value).map(Outcome::Write).or_else(|| {
            let doubtful = matches!(value, "gpu" | "CUDA" | "GPU") && says_accelerator(key)
                || value.starts_with("cuda:")
                || value.starts_with("${") && value.contains("cuda");
            doubtful.then_some(Outcome::Flag)
        }),
        Role::Backend => backend(value).map(Outcome::Write),
    }
}

/// `accelerator: gpu` is a choice of a library; a `device: gpu` may be anything.
fn says_accelerator(key: &str) -> bool {
    key.rsplit(['.', '/', '-', '+']).next().is_some_and(|key| key.starts_with("accelerator"))
}

/// `npu:0` for `cuda:0`.
pub fn device(value: &str) -> Option<String> {
    let rest = value.strip_prefix("cuda")?;
    let index = rest.strip_prefix(':');
    (rest.is_empty()
        || index.is_some_and(|n| {
            !n.is_empty() && n.len() <= 4 && n.bytes().all(|byte| byte.is_ascii_digit())
        }))
    .then(|| format!("npu{rest}"))
}

/// `hccl` for `nccl`, `npu:hccl,cpu:gloo` for `cuda:nccl,cpu:gloo`.
pub fn backend(value: &str) -> Option<String> {
    if value == "nccl" {
        return Some("hccl".to_owned());
    }
    if !value.contains(':') {
        return None;
    }
    let mut out = String::new();
    let mut changed = false;
    for (at, part) in value.split(',').enumerate() {
        let (device, backend) = part.split_once(':')?;
        let new = match (device, backend) {
            ("cuda", "nccl") => {
                changed = true;
                ("npu", "hccl")
            }
            // With a backend other than nccl, cuda is a deliberate choice.
            ("cuda" | "npu", _) | (_, "nccl") => return None,
            same => same,
        };
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{}:{}", new.0, new.1);
    }
    changed.then_some(out)
}

/// Whether a text mentions CUDA in a way that affects a program.
pub fn mentions_cuda(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["cuda", "nccl", "nvidia"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_devices_and_backends_are_rewritten() {
        let write = |text: &str| Some(Outcome::Write(text.to_owned()));
        for (key, value, expected) in [
            ("--device", "cuda", write("npu")),
            ("device", "cuda:7", write("npu:7")),
            ("trainer.map_location", "cuda", write("npu")),
            ("--dist-backend", "nccl", write("hccl")),
            ("backend", "cuda:nccl,cpu:gloo", write("npu:hccl,cpu:gloo")),
            ("backend", "cpu:gloo,cuda:nccl", write("cpu:gloo,npu:hccl")),
            ("accelerator", "gpu", Some(Outcome::Flag)),
            ("device", "cuda:auto", Some(Outcome::Flag)),
            ("device", "${oc.env:DEVICE,cuda}", Some(Outcome::Flag)),
            ("device", "gpu", None),
            ("device", "cpu", None),
            ("device", "barracuda", None),
            ("comm_backend_name", "nccl", write("hccl")),
            ("backend", "gloo", None),
            ("backend", "cuda", None),
            ("name", "cuda", None),
            ("title", "nccl", None),
            ("backend", "cuda:gloo", None),
            ("device", "npu", None),
        ] {
            assert_eq!(converted(key, value), expected, "{key}={value}");
        }
    }

    #[test]
    fn what_is_written_is_not_written_again() {
        for (key, value) in [("device", "cuda:1"), ("backend", "cuda:nccl,cpu:gloo")] {
            let Some(Outcome::Write(new)) = converted(key, value) else { panic!("{key}") };
            assert_eq!(converted(key, &new), None);
        }
    }
}
