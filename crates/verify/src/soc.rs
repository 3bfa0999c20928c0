//! The abilities of a chip, by its family; `None` stands for an unknown chip.
//!
//! From the operator documents of CANN 9.x (ops-math, ops-nn).

use super::protocol::Dtype;
use base::chip::ChipFamily;

/// The run-time compiler's name of the chip, for the chips that it supports: `dav-2201` from CANN
/// 8.3 on, `dav-3510` from 9.1 on. From the documents of asc-devkit 9.1.
pub fn compiler_arch(chip: Option<ChipFamily>) -> Option<&'static str> {
    match chip? {
        ChipFamily::A910B | ChipFamily::A3 => Some("dav-2201"),
        ChipFamily::A950 => Some("dav-3510"),
        ChipFamily::A310 | ChipFamily::A310P | ChipFamily::A310B | ChipFamily::A910 => None,
    }
}

/// Whether `aclnnAdd` is supported: not on 310P and 310B. `None` if unknown.
pub fn supports_add(chip: Option<ChipFamily>, dtype: Dtype) -> Option<bool> {
    match chip? {
        ChipFamily::A310P | ChipFamily::A310B => Some(false),
        ChipFamily::A910 => Some(dtype != Dtype::Bf16),
        ChipFamily::A910B | ChipFamily::A3 | ChipFamily::A950 => Some(true),
        // Older than these documents.
        ChipFamily::A310 => None,
    }
}

/// Whether `aclnnMatmul` is supported with the type kept: not on 310B, single precision only on the
/// later chips, integers nowhere. `None` if unknown.
pub fn supports_matmul(chip: Option<ChipFamily>, dtype: Dtype) -> Option<bool> {
    if dtype == Dtype::Int32 {
        return Some(false);
    }
    match chip? {
        ChipFamily::A310B => Some(false),
        ChipFamily::A910 | ChipFamily::A310P => Some(dtype == Dtype::Fp16),
        ChipFamily::A910B | ChipFamily::A3 | ChipFamily::A950 => Some(true),
        ChipFamily::A310 => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inference_chips_do_not_add() {
        let inference = ChipFamily::from_soc("Ascend310P3");
        assert_eq!(supports_add(inference, Dtype::Fp16), Some(false));
        assert_eq!(supports_matmul(inference, Dtype::Fp16), Some(true));
        assert_eq!(supports_matmul(inference, Dtype::Bf16), Some(false));
    }

    #[test]
    fn plain_910b_is_a_chip_of_the_first_generation() {
        let first = ChipFamily::from_soc("Ascend910B");
        assert_eq!(supports_add(first, Dtype::Bf16), Some(false));
        assert_eq!(compiler_arch(first), None);
        let second = ChipFamily::from_soc("Ascend910B4-1");
        assert_eq!(supports_add(second, Dtype::Bf16), Some(true));
        assert_eq!(compiler_arch(second), Some("dav-2201"));
    }

    #[test]
    fn of_a_chip_that_nobody_knows_only_the_certain_is_said() {
        for soc in ["Ascend1234", "Ascend910", ""] {
            let chip = ChipFamily::from_soc(soc);
            assert_eq!(supports_add(chip, Dtype::Bf16), None, "{soc}");
            assert_eq!(supports_matmul(chip, Dtype::Fp32), None, "{soc}");
            assert_eq!(supports_matmul(chip, Dtype::Int32), Some(false), "{soc}");
            assert_eq!(compiler_arch(chip), None, "{soc}");
        }
    }
}
