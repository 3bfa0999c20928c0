//! Correct numbers: element types, reproducible inputs, and comparisons that classify errors.
//!
//! Must not touch: devices, files, clocks. It computes.
//!
//! The decisive lane uses small integers. Every operand, partial sum and result is exact in the
//! type, so that the order of a summation does not matter and one wrong bit is one wrong element:
//! no tolerance is needed.
//!
//! A second lane uses random numbers, whose results are rounded. [`bound`] derives their allowed
//! error, and the meaning of a larger one, for both lanes.
//!
//! A separate crate, so that tests do not compute with unoptimized arithmetic.

pub mod bound;
mod lanes;

use acl_abi::values::{ACL_BF16, ACL_FLOAT, ACL_FLOAT16, ACL_INT32};

use serde::{Deserialize, Serialize};

pub use bound::{Distance, FAR, Grade, error_bound};
pub use lanes::{Case, Expected, Shape, elements, large_product, near_addition, near_product};

/// The fill byte of results before an operator runs.
pub const POISON: u8 = 0xa5;

/// An element type that the operators are tried with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32-bit integers.
    Int32,
    /// Half precision.
    Fp16,
    /// Single precision.
    Fp32,
    /// Brain float.
    Bf16,
}

impl Dtype {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Int32, Self::Fp16, Self::Fp32, Self::Bf16];

    /// The name in the options and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Fp16 => "fp16",
            Self::Fp32 => "fp32",
            Self::Bf16 => "bf16",
        }
    }
}

impl Dtype {
    /// The value of the type in the headers.
    pub const fn acl(self) -> i32 {
        match self {
            Self::Int32 => ACL_INT32,
            Self::Fp16 => ACL_FLOAT16,
            Self::Fp32 => ACL_FLOAT,
            Self::Bf16 => ACL_BF16,
        }
    }

    /// Bytes of an element.
    pub const fn width(self) -> usize {
        match self {
            Self::Int32 | Self::Fp32 => 4,
            Self::Fp16 | Self::Bf16 => 2,
        }
    }

    /// The largest operand of an addition with an exact result that uses its low bits.
    const fn addend(self) -> i64 {
        match self {
            Self::Int32 => (1 << 29) - 1,
            Self::Fp32 => (1 << 23) - 1,
            Self::Fp16 => 1023,
            Self::Bf16 => 127,
        }
    }

    /// Encodes an integer that is exact in this type.
    pub fn encode(self, value: i64, out: &mut Vec<u8>) {
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "operands are below 2^30")]
            Self::Int32 => out.extend((value as i32).to_le_bytes()),
            Self::Fp32 => out.extend(single(value).to_le_bytes()),
            Self::Fp16 => out.extend(to_f16(single(value)).to_le_bytes()),
            Self::Bf16 => out.extend(to_bf16(single(value)).to_le_bytes()),
        }
    }

    /// Encodes a number, rounded to this type.
    pub fn round(self, value: f64, out: &mut Vec<u8>) {
        #[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
        let single = value as f32;
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "integers are not rounded")]
            Self::Int32 => out.extend((value as i32).to_le_bytes()),
            Self::Fp32 => out.extend(single.to_le_bytes()),
            Self::Fp16 => out.extend(to_f16(single).to_le_bytes()),
            Self::Bf16 => out.extend(to_bf16(single).to_le_bytes()),
        }
    }

    /// Decodes an element; an integer exactly.
    pub fn decode(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Int32, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
            (Self::Fp32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Self::Fp16, &[a, b]) => from_f16(u16::from_le_bytes([a, b])),
            (Self::Bf16, &[a, b]) => {
                f64::from(f32::from_bits(u32::from(u16::from_le_bytes([a, b])) << 16))
            }
            _ => f64::NAN,
        }
    }
}

/// An integer below 2^24, which is exact.
fn single(value: i64) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "exact for the integers that are used")]
    let single = value as f32;
    single
}

/// Converts single precision to half: to the nearest, ties to even.
pub fn to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let size = bits & 0x7fff_ffff;
    let half = if size > 0x7f80_0000 {
        0x7e00
    } else if size >= 0x477f_f000 {
        0x7c00
    } else if size < 0x3880_0000 {
        // Below the smallest normal number, adding 0.5 rounds at the last place of a subnormal
        // half.
        (f32::from_bits(size) + 0.5).to_bits() - 0x3f00_0000
    } else {
        ((size + 0xfff + ((size >> 13) & 1)) >> 13) - (112 << 10)
    };
    #[expect(clippy::cast_possible_truncation, reason = "16 bits are left")]
    let half = (sign | half) as u16;
    half
}

/// Converts half precision to double.
pub fn from_f16(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let size = match (bits >> 10) & 0x1f {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

/// Converts single precision to bfloat16: to the nearest, ties to even.
pub fn to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return 0x7fc0;
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

/// Numbers that are the same in every run (splitmix64).
#[derive(Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// An integer of `-limit..=limit`.
    pub fn within(&mut self, limit: i64) -> i64 {
        let span = limit.cast_unsigned() * 2 + 1;
        (self.bits() % span).cast_signed() - limit
    }
}

/// Inputs and the exact result of an operation.
#[derive(Debug)]
pub struct Exact {
    /// The left operand, encoded.
    pub one: Vec<u8>,
    /// The right operand, encoded.
    pub other: Vec<u8>,
    /// The result, encoded.
    pub result: Vec<u8>,
}

/// The seeds of the inputs.
pub const SEEDS: [u64; 2] = [0xadd, 0x3a7];

/// `count` additions.
pub fn addition(dtype: Dtype, count: usize, seed: u64) -> Exact {
    let mut numbers = Numbers::new(seed);
    let mut exact = Exact { one: Vec::new(), other: Vec::new(), result: Vec::new() };
    let limit = dtype.addend();
    for _ in 0..count {
        let (mut a, b) = (numbers.within(limit), numbers.within(limit));
        if a + b == 0 {
            // With a zero sum, a wrong sign would be undetectable.
            a = if a == limit { a - 1 } else { a + 1 };
        }
        dtype.encode(a, &mut exact.one);
        dtype.encode(b, &mut exact.other);
        dtype.encode(a + b, &mut exact.result);
    }
    exact
}

/// A product of square matrices of `size`. Operands are at most 3 and 2 in size, so that sums over
/// up to 256 products stay exact: below 2048 in half precision and, as drawn here, below 256 in
/// bfloat16.
pub fn product(dtype: Dtype, size: usize, seed: u64) -> Exact {
    let mut numbers = Numbers::new(seed);
    let mut draw =
        |limit| -> Vec<i64> { (0..size * size).map(|_| numbers.within(limit)).collect() };
    let (left, right) = (draw(3), draw(2));
    let mut sums = vec![0i64; size * size];
    for (row, out) in left.chunks_exact(size).zip(sums.chunks_exact_mut(size)) {
        for (factor, line) in row.iter().zip(right.chunks_exact(size)) {
            out.iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    let encode = |values: &[i64]| {
        let mut bytes = Vec::with_capacity(values.len() * dtype.width());
        for value in values {
            dtype.encode(*value, &mut bytes);
        }
        bytes
    };
    Exact { one: encode(&left), other: encode(&right), result: encode(&sums) }
}

/// The pattern of wrong data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// One element.
    Single,
    /// Adjacent elements.
    Block,
    /// Elements that are not adjacent.
    Scattered,
    /// All of them.
    All,
    /// Not a number.
    Nan,
    /// Zero instead of other numbers.
    Zeros,
    /// Nothing was written: the previous content is unchanged.
    Unwritten,
}

impl Pattern {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Block => "block",
            Self::Scattered => "scattered",
            Self::All => "all",
            Self::Nan => "nan",
            Self::Zeros => "zeros",
            Self::Unwritten => "unwritten",
        }
    }
}

/// The difference between two arrays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The pattern.
    pub pattern: Pattern,
    /// The number of wrong elements.
    pub wrong: u64,
    /// The total number of elements.
    pub total: u64,
    /// The number of elements beyond four times the error bound.
    #[serde(default, skip_serializing_if = "is_none")]
    pub far: u64,
    /// The number of wrong elements with the previous content.
    #[serde(default, skip_serializing_if = "is_none")]
    pub poisoned: u64,
    /// The number of wrong elements that are infinite or NaN.
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_finite: u64,
    /// The index of the first one.
    pub first: u64,
    /// The index of the last one.
    pub last: u64,
    /// The expected value of the first one.
    pub expected: String,
    /// Its actual value.
    pub got: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Compares elements of `width` bytes bit by bit; with `floats`, zeros of both signs are equal.
/// `poison` is the previous content; `show` formats an element, and returns whether it is a number.
pub fn compare(
    expected: &[u8],
    got: &[u8],
    width: usize,
    poison: u8,
    floats: bool,
    show: impl Fn(&[u8]) -> (String, bool),
) -> Option<Difference> {
    compare_within(expected, got, width, poison, show, |_, want, have| {
        let same = want == have || floats && is_zero(want) && is_zero(have);
        if same { Distance::Within } else { Distance::Far }
    })
}

/// Like [`compare`], with the distance that `measure` returns for the element at an index.
pub fn compare_within(
    expected: &[u8],
    got: &[u8],
    width: usize,
    poison: u8,
    show: impl Fn(&[u8]) -> (String, bool),
    measure: impl Fn(usize, &[u8], &[u8]) -> Distance,
) -> Option<Difference> {
    if expected == got {
        return None;
    }
    let total = expected.len() / width;
    let pairs = || expected.chunks_exact(width).zip(got.chunks_exact(width));
    let (mut wrong, mut first, mut last) = (0, None, 0);
    let (mut far, mut poisoned, mut zeros, mut not_finite) = (0, 0, 0, 0);
    for (at, (want, have)) in pairs().enumerate() {
        let distance = measure(at, want, have);
        if distance == Distance::Within {
            continue;
        }
        wrong += 1;
        first.get_or_insert(at);
        last = at;
        far += u64::from(distance == Distance::Far);
        poisoned += u64::from(have.iter().all(|byte| *byte == poison));
        zeros += u64::from(have.iter().all(|byte| *byte == 0));
        not_finite += u64::from(!show(have).1);
    }
    let first = first?;
    let pattern = match wrong {
        _ if poisoned == wrong => Pattern::Unwritten,
        _ if zeros == wrong => Pattern::Zeros,
        _ if not_finite > 0 => Pattern::Nan,
        1 => Pattern::Single,
        _ if wrong * 10 >= total as u64 * 9 => Pattern::All,
        _ if wrong * 2 > (last - first) as u64 => Pattern::Block,
        _ => Pattern::Scattered,
    };
    let at = |data: &[u8]| show(&data[first * width..(first + 1) * width]).0;
    Some(Difference {
        pattern,
        wrong,
        total: total as u64,
        far,
        poisoned,
        not_finite,
        first: first as u64,
        last: last as u64,
        expected: at(expected),
        got: at(got),
    })
}

/// A floating-point zero of either sign.
fn is_zero(element: &[u8]) -> bool {
    let Some((last, rest)) = element.split_last() else { return false };
    matches!(*last, 0 | 0x80) && rest.iter().all(|byte| *byte == 0)
}

/// Words of eight bytes that contain their own address, from 0, mixed with `mask`; `size` in bytes.
pub fn addresses(size: usize, mask: u64) -> Vec<u8> {
    let mut bytes = vec![0; size];
    for (address, word) in (0u64..).step_by(8).zip(bytes.chunks_exact_mut(8)) {
        word.copy_from_slice(&(address ^ mask).to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(dtype: Dtype, expected: &[u8], got: &[u8]) -> Option<Difference> {
        compare(expected, got, dtype.width(), 0xa5, dtype != Dtype::Int32, |element| {
            let value = dtype.decode(element);
            (value.to_string(), value.is_finite())
        })
    }

    #[test]
    fn halves_are_converted_exactly() {
        for bits in 0..=u16::MAX {
            let value = from_f16(bits);
            if value.is_nan() {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "a half is exact in single")]
            let single = value as f32;
            assert_eq!(to_f16(single), bits, "{value}");
        }
        for (value, bits) in
            [(2049.0, 0x6800), (2051.0, 0x6802), (65519.0, 0x7bff), (65520.0, 0x7c00), (1e-8, 0)]
        {
            assert_eq!(to_f16(value), bits, "{value}");
        }
        assert_eq!(to_bf16(257.0), to_bf16(256.0));
        assert_eq!(to_bf16(259.0), to_bf16(260.0));
    }

    /// The condition of the exact lane: nothing is rounded.
    #[test]
    fn inputs_and_results_are_exact_in_their_types() {
        for dtype in Dtype::ALL {
            let exact = addition(dtype, 1 << 16, SEEDS[0]);
            let width = dtype.width();
            let mut low = 0;
            for ((a, b), sum) in exact
                .one
                .chunks_exact(width)
                .zip(exact.other.chunks_exact(width))
                .zip(exact.result.chunks_exact(width))
            {
                let (a, b, sum) = (dtype.decode(a), dtype.decode(b), dtype.decode(sum));
                assert!((a + b - sum).abs() == 0.0 && sum != 0.0, "{dtype:?}: {a} + {b} = {sum}");
                low += usize::from(sum.rem_euclid(2.0) != 0.0);
            }
            assert!(low > 1000, "{dtype:?}: the lowest bits are not used");
        }
        for (dtype, size) in [(Dtype::Fp16, 128), (Dtype::Bf16, 128), (Dtype::Fp32, 64)] {
            let exact = product(dtype, size, SEEDS[1]);
            let width = dtype.width();
            let value = |data: &[u8], at: usize| dtype.decode(&data[at * width..(at + 1) * width]);
            for row in 0..size {
                for column in [0, 1, size - 1] {
                    let sum: f64 = (0..size)
                        .map(|k| {
                            value(&exact.one, row * size + k)
                                * value(&exact.other, k * size + column)
                        })
                        .sum();
                    let got = value(&exact.result, row * size + column);
                    assert!((sum - got).abs() == 0.0, "{dtype:?} {row} {column}: {sum} {got}");
                }
            }
        }
    }

    /// Every flipped bit of every result word is detected, in all types.
    #[test]
    fn every_flipped_bit_is_seen() {
        for dtype in Dtype::ALL {
            let exact = addition(dtype, 4096, 3);
            assert_eq!(difference(dtype, &exact.result, &exact.result), None);
            let mut got = exact.result.clone();
            // All bits of all words. Each is examined in its own word, because the rest was
            // compared above.
            for byte in 0..got.len() {
                let at = byte / dtype.width();
                let from = at * dtype.width()..(at + 1) * dtype.width();
                for bit in 0..8 {
                    got[byte] ^= 1 << bit;
                    let seen = difference(dtype, &exact.result[from.clone()], &got[from.clone()]);
                    assert!(seen.is_some(), "{dtype:?}: bit {bit} of byte {byte}");
                    got[byte] ^= 1 << bit;
                }
            }
        }
    }

    /// Every flipped bit of an operand changes the sum of integers.
    #[test]
    fn every_flipped_bit_of_an_integer_operand_is_seen() {
        let exact = addition(Dtype::Int32, 4096, 3);
        let number = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().unwrap());
        let (one, other) = (exact.one.chunks_exact(4), exact.other.chunks_exact(4));
        for ((a, b), sum) in one.zip(other).zip(exact.result.chunks_exact(4)) {
            for bit in 0..32 {
                let wrong = (number(a) ^ (1 << bit)).wrapping_add(number(b));
                assert!(difference(Dtype::Int32, sum, &wrong.to_le_bytes()).is_some(), "{bit}");
            }
        }
    }

    #[test]
    fn patterns_are_named() {
        let dtype = Dtype::Fp32;
        let right = addition(dtype, 1000, 5).result;
        let with = |damage: &dyn Fn(&mut Vec<u8>)| {
            let mut got = right.clone();
            damage(&mut got);
            difference(dtype, &right, &got).unwrap()
        };
        assert_eq!(with(&|got| got[400] ^= 1).pattern, Pattern::Single);
        assert_eq!(
            with(&|got| got[400..800].iter_mut().for_each(|b| *b ^= 1)).pattern,
            Pattern::Block
        );
        assert_eq!(with(&|got| got.fill(0)).pattern, Pattern::Zeros);
        assert_eq!(with(&|got| got[3600..].fill(0xa5)).pattern, Pattern::Unwritten);
        assert_eq!(with(&|got| got.iter_mut().for_each(|b| *b ^= 1)).pattern, Pattern::All);
        assert_eq!(with(&|got| got[400..404].fill(0xff)).pattern, Pattern::Nan);
        let far = with(&|got| (0..10).for_each(|at| got[at * 400] ^= 1));
        assert_eq!((far.pattern, far.wrong, far.first, far.last), (Pattern::Scattered, 10, 0, 900));
    }
}
