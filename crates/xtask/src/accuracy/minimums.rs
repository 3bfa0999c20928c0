//! The recorded minimums.

use anyhow::{Context as _, Result, ensure};

use super::measurement::Measurement;

const TABLE: &str = include_str!("minimums.tsv");

/// The minimum of one measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Minimum {
    name: String,
    pub(super) right: u32,
    pub(super) total: u32,
}

/// All minimums.
#[derive(Debug)]
pub(super) struct Minimums(Vec<Minimum>);

/// A measurement with its minimum.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) measured: Measurement,
    pub(super) minimum: Minimum,
}

impl Minimums {
    /// Reads the table of the repository.
    pub(super) fn read() -> Result<Self> {
        Self::parse(TABLE).context("cannot read `crates/xtask/src/accuracy/minimums.tsv`")
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let minimums: Result<Vec<Minimum>> = lines
            .map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                let [name, right, total] = cells[..] else {
                    anyhow::bail!("`{line}`: not 3 cells")
                };
                let minimum =
                    Minimum { name: name.to_owned(), right: right.parse()?, total: total.parse()? };
                ensure!(minimum.right <= minimum.total, "`{line}`: more right than all");
                Ok(minimum)
            })
            .collect();
        Ok(Self(minimums?))
    }

    /// Joins measurements with their minimums. A measurement without one, or a minimum without a
    /// measurement, is an error: a renamed measurement would escape its minimum.
    pub(super) fn compare(mut self, measurements: Vec<Measurement>) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for measured in measurements {
            let place = self.0.iter().position(|minimum| minimum.name == measured.name);
            let place =
                place.with_context(|| format!("`{}` has no recorded minimum", measured.name))?;
            rows.push(Row { minimum: self.0.remove(place), measured });
        }
        ensure!(
            self.0.is_empty(),
            "`{}` has a recorded minimum and no measurement",
            self.0.first().map_or("", |minimum| minimum.name.as_str())
        );
        Ok(rows)
    }
}

impl Row {
    /// Returns whether the figure reaches its minimum, over at least as many samples.
    pub(super) fn passed(&self) -> bool {
        self.measured.total >= self.minimum.total && self.difference() >= 0
    }

    /// Returns whether the figure is above its minimum, or counts more samples.
    pub(super) fn is_better(&self) -> bool {
        self.passed() && (self.difference() > 0 || self.measured.total > self.minimum.total)
    }

    /// Returns the difference of both figures, as the numerator of their common denominator.
    fn difference(&self) -> i64 {
        let product = |right: u32, total: u32| i64::from(right) * i64::from(total);
        product(self.measured.right, self.minimum.total)
            - product(self.minimum.right, self.measured.total)
    }
}
