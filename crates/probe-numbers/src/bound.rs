//! The allowed distance of a correct result from the exact one, and the meaning of a larger
//! distance.
//!
//! The bound of an element has three parts, none of which is chosen by hand:
//!
//! - the accumulation: `n` rounded operations in single precision, the type in which the chips
//!   accumulate, are off by at most `gamma(n)` of the sum of the absolute terms, in any order
//!   (Higham, *Accuracy and Stability of Numerical Algorithms*, chapter 3);
//! - the result: one rounding to its type, half a unit in the last place, unless the type is that
//!   of the accumulator;
//! - the underflow: a chip may flush numbers below the smallest normal one to zero.
//!
//! The rounding of the operands adds no error: the reference starts from operands that are rounded
//! to the type, and no unit uses a narrower type for them.
//!
//! Integers and sums of integers that are exact in the type have a bound of zero.

use crate::{Difference, Dtype};

/// The largest multiple of the bound that a doubtful element may reach.
pub const FAR: f64 = 4.0;
/// The allowed share of elements beyond the bound in a doubtful result: one in this number.
const SHARE: u64 = 1000;

/// The meaning of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Few elements are beyond the bound, and none of them far: the result may be correct or wrong.
    Doubtful,
    /// The result is wrong.
    Wrong,
}

/// The distance of an element from the correct value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// Within the bound.
    Within,
    /// Beyond it.
    Beyond,
    /// Beyond four times the bound.
    Far,
}

impl Distance {
    /// Classifies a distance. NaN is far from every number.
    pub fn new(distance: f64, bound: f64) -> Self {
        if distance <= bound {
            Self::Within
        } else if distance <= FAR * bound {
            Self::Beyond
        } else {
            Self::Far
        }
    }
}

impl Difference {
    /// The grade of a result, the same for every operation and lane.
    pub const fn grade(&self) -> Grade {
        let many = self.wrong.saturating_mul(SHARE) > self.total;
        if self.far > 0 || self.poisoned > 0 || self.not_finite > 0 || many {
            Grade::Wrong
        } else {
            Grade::Doubtful
        }
    }
}

impl Dtype {
    /// Half a unit in the last place of 1; zero for integers.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Self::Int32 => 0.0,
            Self::Fp16 => 2f64.powi(-11),
            Self::Bf16 => 2f64.powi(-8),
            Self::Fp32 => 2f64.powi(-24),
        }
    }

    /// The smallest number with full precision.
    fn smallest_normal(self) -> f64 {
        match self {
            Self::Int32 => 0.0,
            Self::Fp16 => 2f64.powi(-14),
            Self::Bf16 | Self::Fp32 => 2f64.powi(-126),
        }
    }
}

/// The relative error of `operations` rounded operations.
fn gamma(operations: usize, unit: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let product = operations as f64 * unit;
    product / (1.0 - product)
}

/// The bound of one element: `result` is its exact value, `magnitude` the sum of its absolute
/// terms, `operations` the number of rounded operations.
pub fn error_bound(dtype: Dtype, result: f64, magnitude: f64, operations: usize) -> f64 {
    let accumulated = gamma(operations, Dtype::Fp32.unit_roundoff()) * magnitude;
    // A result in single precision is the accumulator itself.
    let rounded = match dtype {
        Dtype::Fp32 => 0.0,
        _ => dtype.unit_roundoff() * (result.abs() + accumulated),
    };
    accumulated + rounded + dtype.smallest_normal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    #[test]
    fn grade_follows_counts() {
        let grade = |wrong, total, [far, poisoned, not_finite]: [u64; 3]| {
            let (expected, got) = (String::new(), String::new());
            let pattern = Pattern::Scattered;
            let (first, last) = (0, 0);
            Difference {
                pattern,
                wrong,
                total,
                far,
                poisoned,
                not_finite,
                first,
                last,
                expected,
                got,
            }
            .grade()
        };
        assert_eq!(grade(1, 1000, [0, 0, 0]), Grade::Doubtful);
        assert_eq!(grade(65, 65_536, [0, 0, 0]), Grade::Doubtful);
        assert_eq!(grade(66, 65_536, [0, 0, 0]), Grade::Wrong);
        assert_eq!(grade(1, 999, [0, 0, 0]), Grade::Wrong);
        for evidence in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
            assert_eq!(grade(1, 65_536, evidence), Grade::Wrong, "{evidence:?}");
        }
    }

    #[test]
    fn distances_have_limits() {
        assert_eq!(Distance::new(1.0, 1.0), Distance::Within);
        assert_eq!(Distance::new(1.1, 1.0), Distance::Beyond);
        assert_eq!(Distance::new(4.0, 1.0), Distance::Beyond);
        assert_eq!(Distance::new(4.1, 1.0), Distance::Far);
        assert_eq!(Distance::new(f64::NAN, 1.0), Distance::Far);
        assert_eq!(Distance::new(f64::INFINITY, 1.0), Distance::Far);
        // An exact lane has no tolerance, so nothing in it is doubtful.
        assert_eq!(Distance::new(0.0, 0.0), Distance::Within);
        assert_eq!(Distance::new(1e-9, 0.0), Distance::Far);
    }

    /// Sums of single-precision products in any order stay within the bound, and the bound is no
    /// more than some units of a typical result.
    #[test]
    fn bound_covers_every_order() {
        let mut numbers = crate::Numbers::new(9);
        for dtype in [Dtype::Fp16, Dtype::Bf16, Dtype::Fp32] {
            for terms in [1usize, 16, 128, 1024] {
                let products: Vec<f64> = (0..terms)
                    .map(|_| {
                        let mut draw = || {
                            let mut bytes = Vec::new();
                            #[expect(clippy::cast_precision_loss, reason = "exact")]
                            let number = numbers.within(1 << 20) as f64 / f64::from(1 << 19);
                            dtype.round(number, &mut bytes);
                            dtype.decode(&bytes)
                        };
                        draw() * draw()
                    })
                    .collect();
                let exact: f64 = products.iter().sum();
                let magnitude: f64 = products.iter().map(|term| term.abs()).sum();
                let bound = error_bound(dtype, exact, magnitude, terms);
                #[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
                let singles: Vec<f32> = products.iter().map(|term| *term as f32).collect();
                let forward: f32 = singles.iter().sum();
                let backward: f32 = singles.iter().rev().sum();
                let halves: f32 = singles
                    .chunks(singles.len().div_ceil(4))
                    .map(|part| part.iter().sum::<f32>())
                    .sum();
                for sum in [forward, backward, halves] {
                    let mut bytes = Vec::new();
                    dtype.round(f64::from(sum), &mut bytes);
                    let distance = (dtype.decode(&bytes) - exact).abs();
                    assert!(distance <= bound, "{dtype:?} {terms}: {distance} > {bound}");
                }
                let half_unit = dtype.unit_roundoff() * exact.abs().max(1.0);
                let slack = gamma(terms, Dtype::Fp32.unit_roundoff()) * magnitude * 1.1;
                assert!(bound <= half_unit + slack + 1e-4, "{dtype:?} {terms}: {bound}");
            }
        }
    }
}
