//! The types of the device, converted to `f32` for arithmetic.

use acl_abi::values;

/// Bytes of an element.
pub fn width(dtype: i32) -> Option<usize> {
    match dtype {
        values::ACL_FLOAT16 | values::ACL_BF16 => Some(2),
        values::ACL_FLOAT | values::ACL_INT32 => Some(4),
        values::ACL_INT64 => Some(8),
        _ => None,
    }
}

/// Half precision to single.
pub fn from_f16(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = u32::from(bits >> 10) & 0x1f;
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        0 => {
            let value = fraction as f32 * 2f32.powi(-24);
            if sign == 0 { value } else { -value }
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Single precision to half, to the nearest, ties to even.
pub fn to_f16(value: f32) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    if size < 2f32.powi(-14) {
        return sign | (size * 2f32.powi(24)).round_ties_even() as u16;
    }
    let bits = size.to_bits();
    let rounded = bits + 0xfff + (bits >> 13 & 1);
    sign | ((rounded >> 13) - (112 << 10)) as u16
}

/// Bfloat16 to single precision.
pub fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Single precision to bfloat16, to the nearest, ties to even.
pub fn to_bf16(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7fc0;
    }
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// The elements of `bytes` as single precision.
pub fn load(bytes: &[u8], dtype: i32) -> Vec<f32> {
    let two = |convert: fn(u16) -> f32| {
        bytes.chunks_exact(2).map(|b| convert(u16::from_le_bytes([b[0], b[1]]))).collect()
    };
    match dtype {
        values::ACL_FLOAT16 => two(from_f16),
        values::ACL_BF16 => two(from_bf16),
        _ => bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    }
}

/// Encodes single-precision numbers as elements of `dtype`.
pub fn store(numbers: &[f32], dtype: i32) -> Vec<u8> {
    match dtype {
        values::ACL_FLOAT16 => numbers.iter().flat_map(|n| to_f16(*n).to_le_bytes()).collect(),
        values::ACL_BF16 => numbers.iter().flat_map(|n| to_bf16(*n).to_le_bytes()).collect(),
        _ => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives() {
        for bits in 0..=u16::MAX {
            let value = from_f16(bits);
            if !value.is_nan() {
                assert_eq!(to_f16(value), bits, "{value}");
            }
            let value = from_bf16(bits);
            if !value.is_nan() {
                assert_eq!(to_bf16(value), bits, "{value}");
            }
        }
        assert_eq!(to_f16(2049.0), to_f16(2048.0), "a tie goes to the even one");
        assert_eq!(to_f16(2051.0), to_f16(2052.0));
    }
}
