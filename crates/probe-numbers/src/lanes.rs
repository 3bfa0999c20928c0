//! Operands and expected results of operators: exact results, a check of a large product that is
//! cheaper than the product, or a bound that follows from the operation.

use crate::bound::{Distance, error_bound};
use crate::{Difference, Dtype, Exact, Numbers, POISON, compare, compare_within};

/// Operands and the expected result.
#[derive(Debug)]
pub struct Case {
    /// The left operand, encoded.
    pub one: Vec<u8>,
    /// The right operand, encoded.
    pub other: Vec<u8>,
    /// Bytes of the result.
    pub size: usize,
    /// The expected result.
    pub expected: Expected,
}

/// An expected result.
#[derive(Debug)]
pub enum Expected {
    /// These bytes.
    Exact(Vec<u8>),
    /// The exact product of these matrices (row by row).
    Product {
        /// The left one.
        left: Vec<i64>,
        /// The right one.
        right: Vec<i64>,
        /// Their shape.
        shape: Shape,
    },
    /// Near these numbers.
    Near(Vec<Near>),
}

/// A number with the allowed error of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The exact value.
    pub value: f64,
    /// The largest distance of a correct result.
    pub bound: f64,
}

/// The shape of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the left matrix.
    pub rows: usize,
    /// Columns of the left matrix, and rows of the right one.
    pub inner: usize,
    /// Columns of the right matrix.
    pub columns: usize,
}

impl Shape {
    /// The shape of a product of square matrices.
    pub const fn square(size: usize) -> Self {
        Self { rows: size, inner: size, columns: size }
    }
}

impl From<Exact> for Case {
    fn from(exact: Exact) -> Self {
        let size = exact.result.len();
        Self { one: exact.one, other: exact.other, size, expected: Expected::Exact(exact.result) }
    }
}

/// A product too large to compute here: see [`Expected::differs`]. Its sums are exact in half
/// precision for up to 4096 products, in bfloat16 for up to 256.
pub fn large_product(dtype: Dtype, shape: Shape, seed: u64) -> Case {
    let mut numbers = Numbers::new(seed);
    let mut draw =
        |count: usize, limit| -> Vec<i64> { (0..count).map(|_| numbers.within(limit)).collect() };
    let Shape { rows, inner, columns } = shape;
    let (left, right) = (draw(rows * inner, 3), draw(inner * columns, 2));
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
        size: rows * columns * dtype.width(),
        expected: Expected::Product { left, right, shape },
    }
}

/// `count` additions of random numbers.
pub fn near_addition(dtype: Dtype, count: usize, seed: u64) -> Case {
    let mut numbers = Numbers::new(seed);
    let (one, a) = random(dtype, count, &mut numbers);
    let (other, b) = random(dtype, count, &mut numbers);
    let near = |(a, b): (&f64, &f64)| {
        let value = a + b;
        // The error of one operation is its own rounding, without that of its terms.
        Near { value, bound: error_bound(dtype, value, value.abs(), 1) }
    };
    let sums = a.iter().zip(&b).map(near).collect();
    Case { size: one.len(), one, other, expected: Expected::Near(sums) }
}

/// A product of square matrices of random numbers.
pub fn near_product(dtype: Dtype, size: usize, seed: u64) -> Case {
    let mut numbers = Numbers::new(seed);
    let (one, left) = random(dtype, size * size, &mut numbers);
    let (other, right) = random(dtype, size * size, &mut numbers);
    let mut sums = vec![0f64; size * size];
    let mut magnitudes = vec![0f64; size * size];
    for (at, row) in left.chunks_exact(size).enumerate() {
        let out = at * size..(at + 1) * size;
        let (sums, magnitudes) = (&mut sums[out.clone()], &mut magnitudes[out]);
        for (factor, line) in row.iter().zip(right.chunks_exact(size)) {
            for ((sum, magnitude), value) in sums.iter_mut().zip(&mut *magnitudes).zip(line) {
                *sum += factor * value;
                *magnitude += (factor * value).abs();
            }
        }
    }
    let near = |(value, magnitude): (&f64, &f64)| Near {
        value: *value,
        bound: error_bound(dtype, *value, *magnitude, size),
    };
    let sums = sums.iter().zip(&magnitudes).map(near).collect();
    Case { size: one.len(), one, other, expected: Expected::Near(sums) }
}

/// Numbers between -2 and 2, encoded, and rounded to the type: the reference starts from the input
/// of the device.
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

impl Expected {
    /// The differences between `got` and the expected result.
    ///
    /// A product C of A and B is checked by a vector r without zeros: `C r == A (B r)`, exactly. A
    /// single wrong element in a row is always detected; several escape with a chance below 2^-20.
    /// Only rows that differ are computed.
    pub fn differs(&self, dtype: Dtype, got: &[u8]) -> Option<Difference> {
        match self {
            Self::Exact(expected) => elements(dtype, expected, got),
            Self::Product { left, right, shape } => {
                elements(dtype, &product_rows(dtype, left, right, *shape, got), got)
            }
            Self::Near(reference) => near_elements(dtype, reference, got),
        }
    }

    /// The largest relative error of random numbers: the distance from the correct number, relative
    /// to that number, or to 1 if it is smaller, because a sum near zero has no meaningful relative
    /// error. `None` if the result is exact.
    pub fn relative_error(&self, dtype: Dtype, got: &[u8]) -> Option<f64> {
        let Self::Near(reference) = self else { return None };
        let errors =
            reference.iter().zip(got.chunks_exact(dtype.width())).map(|(right, element)| {
                (dtype.decode(element) - right.value).abs() / right.value.abs().max(1.0)
            });
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

/// `got`, with wrong rows replaced by the correct ones.
fn product_rows(dtype: Dtype, left: &[i64], right: &[i64], shape: Shape, got: &[u8]) -> Vec<u8> {
    let Shape { inner, columns, .. } = shape;
    let mut numbers = Numbers::new(got.len() as u64);
    let r: Vec<i64> = (0..columns).map(|_| (numbers.bits() >> 44).cast_signed() + 1).collect();
    let dot = |a: &[i64], b: &[i64]| -> i64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let right_r: Vec<i64> = right.chunks_exact(columns).map(|line| dot(line, &r)).collect();
    let width = dtype.width();
    let mut expected = got.to_vec();
    let mut values = Vec::with_capacity(columns);
    let rows = left.chunks_exact(inner).zip(expected.chunks_exact_mut(columns * width));
    for (row, out) in rows {
        values.clear();
        values.extend(out.chunks_exact(width).map_while(|element| integer(dtype.decode(element))));
        if values.len() == columns && dot(&values, &r) == dot(row, &right_r) {
            continue;
        }
        let mut sums = vec![0i64; columns];
        for (factor, line) in row.iter().zip(right.chunks_exact(columns)) {
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

/// A number of moderate size, if it is an integer.
fn integer(value: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is small and an integer")]
    let number =
        (value.abs() <= f64::from(1 << 24) && value.fract() == 0.0).then_some(value as i64);
    number
}

/// Compares elements with their reference, each within its bound.
fn near_elements(dtype: Dtype, reference: &[Near], got: &[u8]) -> Option<Difference> {
    let mut expected = Vec::with_capacity(got.len());
    reference.iter().for_each(|right| dtype.round(right.value, &mut expected));
    let show = |element: &[u8]| {
        let value = dtype.decode(element);
        (value.to_string(), value.is_finite())
    };
    compare_within(&expected, got, dtype.width(), POISON, show, |at, _, have| {
        let Near { value, bound } = reference[at];
        Distance::new((dtype.decode(have) - value).abs(), bound)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grade, Pattern, product};

    /// One wrong element among many is always detected, at any position and with any deviation.
    #[test]
    fn a_wrong_element_of_a_large_product_shows() {
        let (dtype, size) = (Dtype::Fp16, 16);
        let case = large_product(dtype, Shape::square(size), 5);
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
    fn bound_takes_rounding_and_nothing_else() {
        for dtype in [Dtype::Fp16, Dtype::Bf16, Dtype::Fp32] {
            let case = near_addition(dtype, 4096, 9);
            let Expected::Near(reference) = &case.expected else { panic!() };
            let mut got = Vec::new();
            for near in reference {
                dtype.round(near.value, &mut got);
            }
            assert_eq!(case.expected.differs(dtype, &got), None, "{dtype:?}");
            // Half a unit in the last place and more than zero, except for single precision, in
            // which these sums are exact.
            let error = case.expected.relative_error(dtype, &got).unwrap();
            let unit = match dtype {
                Dtype::Bf16 => 1.0 / 256.0,
                Dtype::Fp16 => 1.0 / 2048.0,
                _ => 1.0 / 16_777_216.0,
            };
            assert!(error <= unit * 2.0, "{dtype:?}: {error}");
            assert!(dtype == Dtype::Fp32 || error > unit / 16.0, "{dtype:?}: {error}");
            let width = dtype.width();
            // A deviation of a quarter, and NaN.
            for damage in [|value: f64| value * 1.25 + 0.1, |_| f64::NAN] {
                let mut wrong = got.clone();
                let mut element = Vec::new();
                dtype.round(damage(reference[7].value), &mut element);
                wrong[7 * width..8 * width].copy_from_slice(&element);
                let found = case.expected.differs(dtype, &wrong).unwrap();
                assert_eq!((found.wrong, found.first, found.far), (1, 7, 1), "{dtype:?}");
                assert_eq!(found.grade(), Grade::Wrong);
            }
            // The lowest bit of one element is doubtful at most, the lowest bits of all are wrong.
            let mut wrong = got.clone();
            wrong[7 * width] ^= 1;
            let found = case.expected.differs(dtype, &wrong);
            assert!(found.is_none_or(|found| found.grade() == Grade::Doubtful), "{dtype:?}");
            wrong.iter_mut().step_by(width).for_each(|byte| *byte ^= 1);
            let found = case.expected.differs(dtype, &wrong).unwrap();
            assert_eq!(found.grade(), Grade::Wrong, "{dtype:?}");
        }
    }

    /// A non-square product, whose rows are longer or shorter than its columns.
    #[test]
    fn products_may_be_oblong() {
        let dtype = Dtype::Fp16;
        let shape = Shape { rows: 6, inner: 10, columns: 14 };
        let case = large_product(dtype, shape, 3);
        let Expected::Product { left, right, .. } = &case.expected else { panic!() };
        let mut bytes = Vec::new();
        for row in left.chunks_exact(10) {
            for column in 0..14 {
                let sum = (0..10).map(|k| row[k] * right[k * 14 + column]).sum();
                dtype.encode(sum, &mut bytes);
            }
        }
        assert_eq!(bytes.len(), case.size);
        assert_eq!(case.expected.differs(dtype, &bytes), None);
        bytes[100] ^= 1;
        let found = case.expected.differs(dtype, &bytes).unwrap();
        assert_eq!((found.wrong, found.total, found.grade()), (1, 84, Grade::Wrong));
    }
}
