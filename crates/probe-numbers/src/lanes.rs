//! What an operator is given, and how its result is judged: exactly, by a check of a large
//! product that is cheaper than the product, or within the tolerance of its type.

use crate::{Difference, Dtype, Exact, Numbers, POISON, compare};

/// Operands and what is expected of the result.
#[derive(Debug)]
pub struct Case {
    /// The left operand, encoded.
    pub one: Vec<u8>,
    /// The right operand, encoded.
    pub other: Vec<u8>,
    /// Bytes of the result.
    pub size: usize,
    /// What it has to be.
    pub expected: Expected,
}

/// What a result has to be.
#[derive(Debug)]
pub enum Expected {
    /// These bytes.
    Exact(Vec<u8>),
    /// The exact product of these square matrices (rows after each other).
    Product {
        /// The left one.
        left: Vec<i64>,
        /// The right one.
        right: Vec<i64>,
        /// Rows, and columns.
        size: usize,
    },
    /// Near these numbers, as the type allows.
    Near(Vec<f64>),
}

impl From<Exact> for Case {
    fn from(exact: Exact) -> Self {
        let size = exact.result.len();
        Self { one: exact.one, other: exact.other, size, expected: Expected::Exact(exact.result) }
    }
}

/// A product too large to be computed here: see [`Expected::differs`].
pub fn large_product(dtype: Dtype, size: usize, seed: u64) -> Case {
    let mut numbers = Numbers::new(seed);
    let mut draw =
        |limit| -> Vec<i64> { (0..size * size).map(|_| numbers.within(limit)).collect() };
    let (left, right) = (draw(3), draw(2));
    let encode = |values: &[i64]| {
        let mut bytes = Vec::with_capacity(values.len() * dtype.width());
        for value in values {
            dtype.encode(*value, &mut bytes);
        }
        bytes
    };
    Case {
        one: encode(&left),
        other: encode(&right),
        size: size * size * dtype.width(),
        expected: Expected::Product { left, right, size },
    }
}

/// `count` additions of random numbers.
pub fn near_addition(dtype: Dtype, count: usize, seed: u64) -> Case {
    let mut numbers = Numbers::new(seed);
    let (one, a) = random(dtype, count, &mut numbers);
    let (other, b) = random(dtype, count, &mut numbers);
    let sums = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    Case { size: one.len(), one, other, expected: Expected::Near(sums) }
}

/// A product of square matrices of random numbers.
pub fn near_product(dtype: Dtype, size: usize, seed: u64) -> Case {
    let mut numbers = Numbers::new(seed);
    let (one, left) = random(dtype, size * size, &mut numbers);
    let (other, right) = random(dtype, size * size, &mut numbers);
    let mut sums = vec![0f64; size * size];
    for (row, out) in left.chunks_exact(size).zip(sums.chunks_exact_mut(size)) {
        for (factor, line) in row.iter().zip(right.chunks_exact(size)) {
            out.iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    Case { size: one.len(), one, other, expected: Expected::Near(sums) }
}

/// Numbers between -2 and 2, encoded, and as the type has them: the reference starts from what
/// the device gets.
fn random(dtype: Dtype, count: usize, numbers: &mut Numbers) -> (Vec<u8>, Vec<f64>) {
    let mut bytes = Vec::with_capacity(count * dtype.width());
    for _ in 0..count {
        #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
        let number = (numbers.bits() >> 40) as f64 / f64::from(1 << 22) - 2.0;
        dtype.round(number, &mut bytes);
    }
    let values = bytes.chunks_exact(dtype.width()).map(|element| dtype.decode(element)).collect();
    (bytes, values)
}

/// Relative and absolute tolerance of a result: the mixed rule of the operator repositories of
/// CANN (opbase), here for every element.
const fn tolerance(dtype: Dtype) -> (f64, f64) {
    match dtype {
        Dtype::Int32 => (0.0, 0.0),
        Dtype::Fp16 => (1.0 / 512.0, 1.0 / 512.0),
        Dtype::Bf16 => (1.0 / 64.0, 1.0 / 64.0),
        Dtype::Fp32 => (1.0 / 1024.0, 1.0 / 65536.0),
    }
}

impl Expected {
    /// Where `got` is not as expected.
    ///
    /// A product C of A and B is checked by a vector r without zeros: `C r == A (B r)`, exactly.
    /// One wrong element in a row always shows; several escape with a chance below 2^-20. Only
    /// rows that differ are computed.
    pub fn differs(&self, dtype: Dtype, got: &[u8]) -> Option<Difference> {
        match self {
            Self::Exact(expected) => elements(dtype, expected, got),
            Self::Product { left, right, size } => {
                elements(dtype, &product_rows(dtype, left, right, *size, got), got)
            }
            Self::Near(reference) => elements(dtype, &far_elements(dtype, reference, got), got),
        }
    }

    /// How far random numbers are off: the largest distance from the right number, as a part of
    /// that number, or of 1 where it is smaller, since a sum near zero has no relative error to
    /// speak of. None where the result is exact.
    pub fn relative_error(&self, dtype: Dtype, got: &[u8]) -> Option<f64> {
        let Self::Near(reference) = self else { return None };
        let errors = reference
            .iter()
            .zip(got.chunks_exact(dtype.width()))
            .map(|(right, element)| (dtype.decode(element) - right).abs() / right.abs().max(1.0));
        Some(errors.fold(0.0, f64::max))
    }
}

/// Compares elements of a type bit by bit.
pub fn elements(dtype: Dtype, expected: &[u8], got: &[u8]) -> Option<Difference> {
    let floats = dtype != Dtype::Int32;
    compare(expected, got, dtype.width(), POISON, floats, |element| {
        let value = dtype.decode(element);
        (value.to_string(), value.is_finite())
    })
}

/// `got`, with the rows that are wrong replaced by the right ones.
fn product_rows(dtype: Dtype, left: &[i64], right: &[i64], size: usize, got: &[u8]) -> Vec<u8> {
    let mut numbers = Numbers::new(got.len() as u64);
    let r: Vec<i64> = (0..size).map(|_| (numbers.bits() >> 44).cast_signed() + 1).collect();
    let dot = |a: &[i64], b: &[i64]| -> i64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let right_r: Vec<i64> = right.chunks_exact(size).map(|line| dot(line, &r)).collect();
    let width = dtype.width();
    let mut expected = got.to_vec();
    let rows = left.chunks_exact(size).zip(expected.chunks_exact_mut(size * width));
    for (row, out) in rows {
        let values: Option<Vec<i64>> =
            out.chunks_exact(width).map(|element| integer(dtype.decode(element))).collect();
        if values.is_some_and(|values| dot(&values, &r) == dot(row, &right_r)) {
            continue;
        }
        let mut sums = vec![0i64; size];
        for (factor, line) in row.iter().zip(right.chunks_exact(size)) {
            sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
        }
        let mut bytes = Vec::with_capacity(out.len());
        for sum in sums {
            dtype.encode(sum, &mut bytes);
        }
        out.copy_from_slice(&bytes);
    }
    expected
}

/// A number of moderate size that is an integer.
fn integer(value: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is small and an integer")]
    let number =
        (value.abs() <= f64::from(1 << 24) && value.fract() == 0.0).then_some(value as i64);
    number
}

/// `got`, with the elements that are out of tolerance replaced by the reference.
fn far_elements(dtype: Dtype, reference: &[f64], got: &[u8]) -> Vec<u8> {
    let (relative, absolute) = tolerance(dtype);
    let mut expected = Vec::with_capacity(got.len());
    for (right, element) in reference.iter().zip(got.chunks_exact(dtype.width())) {
        let distance = (dtype.decode(element) - right).abs();
        // A comparison with what is no number is false.
        if distance <= absolute + relative * right.abs() {
            expected.extend_from_slice(element);
        } else {
            dtype.round(*right, &mut expected);
        }
    }
    expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, product};

    /// One wrong element among many always shows, wherever it is and however little it is off.
    #[test]
    fn a_wrong_element_of_a_large_product_shows() {
        let (dtype, size) = (Dtype::Fp16, 16);
        let case = large_product(dtype, size, 5);
        let exact = product(dtype, size, 5);
        assert_eq!((&case.one, &case.other), (&exact.one, &exact.other));
        assert_eq!(case.expected.differs(dtype, &exact.result), None);
        let mut numbers = Numbers::new(1);
        for round in 0..10_000 {
            let mut got = exact.result.clone();
            let at = usize::try_from(numbers.bits()).unwrap_or(0) % got.len();
            got[at] ^= 1 << (numbers.bits() % 8);
            let same = elements(dtype, &exact.result, &got).is_none();
            let found = case.expected.differs(dtype, &got);
            // The other sign of zero is the same number.
            assert_eq!(found.is_none(), same, "round {round}, byte {at}");
        }
        let mut got = exact.result.clone();
        got[100] ^= 0x40;
        let found = case.expected.differs(dtype, &got).unwrap();
        assert_eq!((found.pattern, found.wrong, found.first), (Pattern::Single, 1, 50));
    }

    #[test]
    fn tolerance_takes_rounding_and_nothing_else() {
        for dtype in [Dtype::Fp16, Dtype::Bf16, Dtype::Fp32] {
            let case = near_addition(dtype, 4096, 9);
            let Expected::Near(reference) = &case.expected else { panic!() };
            let mut got = Vec::new();
            for value in reference {
                dtype.round(*value, &mut got);
            }
            assert_eq!(case.expected.differs(dtype, &got), None, "{dtype:?}");
            // Half a unit in the last place, and not nothing: but for single precision, in which
            // these sums are exact.
            let error = case.expected.relative_error(dtype, &got).unwrap();
            let unit = match dtype {
                Dtype::Bf16 => 1.0 / 256.0,
                Dtype::Fp16 => 1.0 / 2048.0,
                _ => 1.0 / 16_777_216.0,
            };
            assert!(error <= unit * 2.0, "{dtype:?}: {error}");
            assert!(dtype == Dtype::Fp32 || error > unit / 16.0, "{dtype:?}: {error}");
            let width = dtype.width();
            // A quarter off, and no number.
            for damage in [|value: f64| value * 1.25 + 0.1, |_| f64::NAN] {
                let mut wrong = got.clone();
                let mut element = Vec::new();
                dtype.round(damage(reference[7]), &mut element);
                wrong[7 * width..8 * width].copy_from_slice(&element);
                let found = case.expected.differs(dtype, &wrong).unwrap();
                assert_eq!((found.wrong, found.first), (1, 7), "{dtype:?}");
            }
        }
    }
}
