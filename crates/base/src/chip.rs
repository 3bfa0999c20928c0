//! Generations of Ascend chips, by the names and numbers that the field uses for them.
//!
//! Sources: PCI ids and `SoC` names of Ascend/cann-container-image, cann/driver
//! (`specific_func.inc`) and the `SoC` enumeration of Ascend/pytorch; names that npu-smi prints
//! from vllm-project/vllm-ascend#834, #1047, #1696, #2035, #3657, #4621.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A generation of chips. Ops packages and plug-ins are built per generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChipFamily {
    /// Ascend 310.
    #[serde(rename = "310")]
    A310,
    /// Ascend 310P (Atlas inference cards).
    #[serde(rename = "310p")]
    A310P,
    /// Ascend 310B (Atlas 200I/500 A2).
    #[serde(rename = "310b")]
    A310B,
    /// First generation Ascend 910: 910A, 910ProA, 910ProB, and 910B without a digit.
    #[serde(rename = "910")]
    A910,
    /// Ascend 910B1 to 910B4 (Atlas A2).
    #[serde(rename = "910b")]
    A910B,
    /// Ascend 910_93 (Atlas A3): two dies in one package.
    #[serde(rename = "a3")]
    A3,
    /// Ascend 950.
    #[serde(rename = "950")]
    A950,
}

impl ChipFamily {
    /// All generations.
    pub const ALL: [Self; 7] =
        [Self::A310, Self::A310P, Self::A310B, Self::A910, Self::A910B, Self::A3, Self::A950];

    /// The short name that CANN's packages and images use: `910b`, `a3`, `310p`, …
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A310 => "310",
            Self::A310P => "310p",
            Self::A310B => "310b",
            Self::A910 => "910",
            Self::A910B => "910b",
            Self::A3 => "a3",
            Self::A950 => "950",
        }
    }

    /// The common name of the generation.
    pub const fn label(self) -> &'static str {
        match self {
            Self::A310 => "Ascend 310",
            Self::A310P => "Ascend 310P",
            Self::A310B => "Ascend 310B",
            Self::A910 => "Ascend 910 (first generation)",
            Self::A910B => "Ascend 910B (Atlas A2)",
            Self::A3 => "Ascend 910_93 (Atlas A3)",
            Self::A950 => "Ascend 950",
        }
    }

    /// Parses the short name in the name of a package or image: `910b`, `A3`, `310P`, …
    pub fn from_short(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.as_str().eq_ignore_ascii_case(name))
    }

    /// Looks up the PCI device ID of a function of vendor 0x19e5, for example `0xd802`.
    pub fn from_pci(device: &str) -> Option<Self> {
        match device.trim().to_ascii_lowercase().trim_start_matches("0x") {
            "d100" => Some(Self::A310),
            // Low confidence: 310B boards normally have no PCI function at all.
            "d105" => Some(Self::A310B),
            "d500" => Some(Self::A310P),
            "d801" => Some(Self::A910),
            "d802" => Some(Self::A910B),
            "d803" => Some(Self::A3),
            "d806" => Some(Self::A950),
            _ => None,
        }
    }

    /// Parses the name of a single `SoC`, with or without `Ascend` before it: `Ascend910B2C`,
    /// `ascend310p3`, `910ProB`, `Ascend910_9391`, `Ascend950PR_9579`.
    ///
    /// `Ascend910B` without a digit is a chip of the first generation. `Ascend910` without a suffix
    /// gives `None`: npu-smi prints it for both 910 and A3 (see `NpuChip::family` of the facts).
    pub fn from_soc(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let name = name.strip_prefix("ascend").unwrap_or(&name).trim_start_matches([' ', '_']);
        let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        if let Some(rest) = name.strip_prefix("310") {
            return match rest.chars().next() {
                None => Some(Self::A310),
                Some('p') => Some(Self::A310P),
                Some('b') => Some(Self::A310B),
                Some(_) => None,
            };
        }
        if name.starts_with("950") {
            return Some(Self::A950);
        }
        match name.strip_prefix("910")? {
            "a" | "b" | "proa" | "prob" | "premiuma" => Some(Self::A910),
            rest if rest.strip_prefix('b').is_some_and(digit) => Some(Self::A910B),
            rest if rest.strip_prefix('c').is_some_and(|end| end.is_empty() || digit(end)) => {
                Some(Self::A3)
            }
            rest if rest.starts_with("_93") => Some(Self::A3),
            // The name that 950 had before its release (Ascend/pytorch tests list both).
            rest if rest.starts_with("_95") => Some(Self::A950),
            _ => None,
        }
    }

    /// Parses the name of a kernel directory or configuration of an ops package, which covers a
    /// family and not one `SoC`: `ascend910b` is the 910B family here.
    pub fn from_kernel_dir(name: &str) -> Option<Self> {
        match name {
            "ascend310" => Some(Self::A310),
            "ascend310p" => Some(Self::A310P),
            "ascend310b" => Some(Self::A310B),
            "ascend910" => Some(Self::A910),
            "ascend910b" => Some(Self::A910B),
            "ascend910_93" => Some(Self::A3),
            "ascend950" | "ascend910_95" => Some(Self::A950),
            _ => None,
        }
    }
}

impl fmt::Display for ChipFamily {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soc_names() {
        let cases = [
            ("Ascend910B2C", Some(ChipFamily::A910B)),
            ("910B4-1", Some(ChipFamily::A910B)),
            ("ascend910b1", Some(ChipFamily::A910B)),
            ("Ascend910B", Some(ChipFamily::A910)),
            ("910ProB", Some(ChipFamily::A910)),
            ("910PremiumA", Some(ChipFamily::A910)),
            ("910A", Some(ChipFamily::A910)),
            ("910C1", Some(ChipFamily::A3)),
            ("Ascend910_9391", Some(ChipFamily::A3)),
            ("Ascend910", None),
            ("310P3", Some(ChipFamily::A310P)),
            ("ascend310p3vir01", Some(ChipFamily::A310P)),
            ("Ascend310B1", Some(ChipFamily::A310B)),
            ("310", Some(ChipFamily::A310)),
            ("ascend950dt_9582", Some(ChipFamily::A950)),
            ("Ascend910_9599", Some(ChipFamily::A950)),
            ("910X", None),
            ("", None),
            ("ASCEND\u{7f}", None),
        ];
        for (name, family) in cases {
            assert_eq!(ChipFamily::from_soc(name), family, "{name}");
        }
    }

    #[test]
    fn kernel_directories_name_families() {
        assert_eq!(ChipFamily::from_kernel_dir("ascend910b"), Some(ChipFamily::A910B));
        assert_eq!(ChipFamily::from_kernel_dir("ascend910_93"), Some(ChipFamily::A3));
        assert_eq!(ChipFamily::from_kernel_dir("config"), None);
        for family in ChipFamily::ALL {
            assert_eq!(ChipFamily::from_short(family.as_str()), Some(family));
        }
    }
}
