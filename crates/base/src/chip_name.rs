//! Chips by the names that users type.

use crate::chip::ChipFamily;
use crate::text::nearest;

/// Returns the family of a chip.
///
/// # Errors
///
/// Returns the names of known chips, the nearest first, if the name is unknown.
pub fn family(name: &str) -> Result<ChipFamily, Vec<String>> {
    // `910b` means the family of Atlas A2, as its operator packages are called. The chip of the
    // first generation has `Ascend` in its name.
    if name.trim().eq_ignore_ascii_case("910b") {
        return Ok(ChipFamily::A910B);
    }
    let product = PRODUCTS.iter().find(|(product, _)| name.trim().eq_ignore_ascii_case(product));
    let family = product.map(|(_, family)| *family).or_else(|| ChipFamily::from_soc(name));
    family.ok_or_else(|| {
        let mut near = nearest(name.trim(), NAMES.map(str::to_owned), 3);
        if near.is_empty() {
            near = NAMES[..4].iter().map(|&name| name.to_owned()).collect();
        }
        near
    })
}

/// Generations by the names of the product series.
const PRODUCTS: [(&str, ChipFamily); 2] = [("a2", ChipFamily::A910B), ("a3", ChipFamily::A3)];

/// Names of chips for completions and errors, the most common first.
pub const NAMES: [&str; 18] = [
    "Ascend910B3",
    "Ascend310P3",
    "Ascend910_9391",
    "Ascend950PR_9579",
    "Ascend910B1",
    "Ascend910B2",
    "Ascend910B2C",
    "Ascend910B4",
    "Ascend910_9392",
    "Ascend910_9382",
    "Ascend910A",
    "Ascend910ProB",
    "Ascend310P1",
    "Ascend310B1",
    "910b",
    "310p",
    "a2",
    "a3",
];
