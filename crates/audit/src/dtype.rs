//! Data types by name.

use data::{Fault, faults};

/// Returns a data type by its name in PyTorch or in the CANN documents.
///
/// # Errors
///
/// Returns a fault with the known names if the name is unknown.
pub fn dtype(name: &str) -> Result<&str, Fault> {
    const KNOWN: [&str; 16] = [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "bool",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
    ];
    let name = name.strip_prefix("torch.").unwrap_or(name);
    if !KNOWN.contains(&name) {
        return Err(faults::UnknownDtype { name, list: KNOWN.join(", ") }.fault());
    }
    Ok(name)
}
