//! What a chip can do, by the name that the runtime gives it.
//!
//! From the operator documents of CANN 9.x (ops-math, ops-nn) and the list of chips in
//! Ascend/pytorch (`NpuVariables.h`): plain `Ascend910B` is of the first generation, so prefixes
//! alone decide nothing.

use super::protocol::Dtype;

/// Generations of chips that differ in what they can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// Ascend 910: 910A, 910ProA, 910ProB, 910PremiumA and plain 910B.
    First,
    /// Ascend 910B1 to 910B4 (A2) and 910_93 (A3).
    Second,
    /// Ascend 950.
    Third,
    /// Ascend 310P.
    Inference,
    /// Ascend 310B.
    Edge,
    /// A name that this version does not know.
    Unknown,
}

/// The generation of a chip.
pub fn generation(soc: &str) -> Generation {
    let Some(model) = soc.strip_prefix("Ascend") else { return Generation::Unknown };
    match model {
        "910" | "910A" | "910B" | "910ProA" | "910ProB" | "910PremiumA" => Generation::First,
        _ if model.starts_with("910_93") => Generation::Second,
        _ if is_second(model) => Generation::Second,
        _ if model.starts_with("950") => Generation::Third,
        _ if model.starts_with("310P") => Generation::Inference,
        _ if model.starts_with("310B") => Generation::Edge,
        _ => Generation::Unknown,
    }
}

/// `910B1` to `910B4`, also with a suffix such as `910B4-1` or `910B2C`.
fn is_second(model: &str) -> bool {
    model.strip_prefix("910B").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// What the run-time compiler calls the chip, of those that it compiles for: `dav-2201` from CANN
/// 8.3 on, `dav-3510` from 9.1 on. From the documents of asc-devkit 9.1.
pub fn compiler_arch(generation: Generation) -> Option<&'static str> {
    match generation {
        Generation::Second => Some("dav-2201"),
        Generation::Third => Some("dav-3510"),
        Generation::First | Generation::Inference | Generation::Edge | Generation::Unknown => None,
    }
}

/// Whether `aclnnAdd` is there: not on 310P and 310B. `None` if nobody knows.
pub fn adds(generation: Generation, dtype: Dtype) -> Option<bool> {
    match generation {
        Generation::Inference | Generation::Edge => Some(false),
        Generation::First => Some(dtype != Dtype::Bf16),
        Generation::Second | Generation::Third => Some(true),
        Generation::Unknown => None,
    }
}

/// Whether `aclnnMatmul` is there, with the type kept: not on 310B, single precision on none
/// but the later chips, integers on none. `None` if nobody knows.
pub fn multiplies(generation: Generation, dtype: Dtype) -> Option<bool> {
    match (generation, dtype) {
        (_, Dtype::Int32) | (Generation::Edge, _) => Some(false),
        (Generation::First | Generation::Inference, _) => Some(dtype == Dtype::Fp16),
        (Generation::Second | Generation::Third, _) => Some(true),
        (Generation::Unknown, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_910b_is_of_the_first_generation() {
        for (soc, expected) in [
            ("Ascend910B", Generation::First),
            ("Ascend910A", Generation::First),
            ("Ascend910PremiumA", Generation::First),
            ("Ascend910B1", Generation::Second),
            ("Ascend910B4-1", Generation::Second),
            ("Ascend910B2C", Generation::Second),
            ("Ascend910_9392", Generation::Second),
            ("Ascend950PR_9589", Generation::Third),
            ("Ascend310P3", Generation::Inference),
            ("Ascend310B4", Generation::Edge),
            ("Ascend1234", Generation::Unknown),
            ("", Generation::Unknown),
        ] {
            assert_eq!(generation(soc), expected, "{soc}");
        }
    }

    #[test]
    fn inference_chips_do_not_add() {
        assert_eq!(adds(Generation::Inference, Dtype::Fp16), Some(false));
        assert_eq!(multiplies(Generation::Inference, Dtype::Fp16), Some(true));
        assert_eq!(multiplies(Generation::Inference, Dtype::Bf16), Some(false));
        assert_eq!(adds(Generation::First, Dtype::Bf16), Some(false));
        assert_eq!(adds(Generation::Unknown, Dtype::Bf16), None);
    }
}
