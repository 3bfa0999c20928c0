//! Chips by the names that users type.

use base::chip::ChipFamily;

/// Returns the family of a chip.
///
/// # Errors
///
/// With examples of names, if the name is unknown.
pub fn family(name: &str) -> Result<ChipFamily, String> {
    // `910b` means the family of Atlas A2, as its operator packages are called. The chip of the
    // first generation has `Ascend` in its name.
    if name.trim().eq_ignore_ascii_case("910b") {
        return Ok(ChipFamily::A910B);
    }
    ChipFamily::from_soc(name).ok_or_else(|| {
        format!(
            "`{name}` is no chip that is known: expected a name as `npu-smi info` and ATC use \
             it, such as Ascend910B3, Ascend310P3, Ascend910_9391 or Ascend950PR_9579"
        )
    })
}
