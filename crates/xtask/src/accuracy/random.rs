//! Numbers that depend only on a seed.

/// A generator of numbers (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let limit = u64::try_from(limit.max(1)).unwrap_or(1);
        usize::try_from((mixed ^ (mixed >> 31)) % limit).unwrap_or(0)
    }

    /// Returns a number below `limit`.
    pub(super) fn below_u32(&mut self, limit: u32) -> u32 {
        u32::try_from(self.below(limit as usize)).unwrap_or(0)
    }
}
