//! One figure: the number of samples with the right result.

/// Results of one kind of sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Measurement {
    pub(super) name: &'static str,
    pub(super) right: u32,
    pub(super) total: u32,
    /// The samples with a wrong result, with expected and actual result.
    pub(super) misses: Vec<String>,
}

impl Measurement {
    /// Counts results: `None` for a right one, a description for a wrong one.
    pub(super) fn of(
        name: &'static str,
        results: impl IntoIterator<Item = Option<String>>,
    ) -> Self {
        let mut measurement = Self { name, right: 0, total: 0, misses: Vec::new() };
        for result in results {
            measurement.total += 1;
            match result {
                None => measurement.right += 1,
                Some(miss) => measurement.misses.push(miss),
            }
        }
        measurement
    }
}
