//! `PY-CUDA`: extensions that need CUDA, which machines with NPUs do not have.

use crate::Context;
use base::report::Evidence;
use data::{
    Outcome, Reason,
    findings::{py_cuda, torch_cuda},
};

/// A package that some releases of sglang import even without a CUDA device.
const KERNELS: &str = "sgl-kernel";

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let backend = ["torch-npu", "mindspore"].iter().any(|name| python.dist(name).is_some());
    if !backend {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let found = python.cuda_extensions.iter().filter_map(|extension| {
        let dist = python.dist(&extension.package)?;
        let (package, version) = (&dist.name, &dist.version);
        let (path, library, interpreter) = (&extension.path, &extension.library, python.command());
        let finding = if package == KERNELS && python.dist("sglang").is_some() {
            py_cuda::Sglang { interpreter, library, package, path, version }.warning()
        } else {
            py_cuda::Build { interpreter, library, package, path, version }.warning()
        };
        let evidence = Evidence::file(path).value(format!("NEEDED {library}"));
        Some(finding.evidence(evidence).evidence(dist.version_place()).because(&[torch_cuda::ID]))
    });
    found.collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::CudaExtension;

    #[test]
    fn what_needs_cuda_is_a_warning() {
        let mut facts = facts_with(
            python("3.11"),
            vec![dist("torch-npu", "2.7.1"), dist("sgl-kernel", "0.3"), dist("flash-attn", "2.7")],
        );
        let run = |facts: &facts::Facts| ids(check(&Context::of(facts, Profile::General)));
        assert_eq!(run(&facts), [""; 0]);
        facts.python.cuda_extensions = ["sgl-kernel", "flash-attn"]
            .map(|package| CudaExtension {
                package: package.to_owned(),
                path: format!("/s/{package}.so"),
                library: "libcudart.so.12".to_owned(),
            })
            .to_vec();
        assert_eq!(run(&facts), ["warning PY-CUDA build", "warning PY-CUDA build"]);
        facts.python.dists.push(dist("sglang", "0.5"));
        assert_eq!(run(&facts), ["warning PY-CUDA sglang", "warning PY-CUDA build"]);
        // Without a backend for NPUs this is not an NPU machine.
        facts.python.dists.retain(|dist| dist.name != "torch-npu");
        assert_eq!(run(&facts), ["not applicable: no_torch_npu"]);
    }
}
