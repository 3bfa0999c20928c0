//! Compatibility of the driver with CANN.
//!
//! There are three kinds of evidence, in this order: published pairs and ranges; the lists of
//! accepted codes that driver and CANN contain (CANN has none since 9.0); and the order of driver
//! versions among those published for this CANN. C codes have no order, so a code on no list proves
//! nothing by itself: the pair is then "unverified".

use super::rows::range_list;
use super::{Cann, Level, Matrix, ReleaseLine as _};
use base::version::{CannVersion, DottedVersion, InnerVersion};

/// The versions in the driver of a machine. Any part may be unknown.
#[derive(Debug, Clone, Copy, Default)]
pub struct DriverSide<'a> {
    /// `Version`.
    pub version: Option<&'a DottedVersion>,
    /// `Innerversion`.
    pub inner: Option<&'a InnerVersion>,
    /// `compatible_version`.
    pub accepts: Option<&'a str>,
}

/// The versions in the CANN of a machine. Any part may be unknown.
#[derive(Debug, Clone, Copy, Default)]
pub struct CannSide<'a> {
    /// `version`.
    pub version: Option<&'a CannVersion>,
    /// `innerversion`.
    pub inner: Option<&'a InnerVersion>,
    /// `compatible_version`.
    pub accepts: Option<&'a str>,
}

/// The compatibility of driver and CANN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverSupport {
    /// A published pair.
    Paired {
        /// The publication.
        source: String,
    },
    /// Driver or CANN lists the code of the other.
    Listed {
        /// The code, for example `C19`.
        code: String,
    },
    /// Within the range of drivers that are published for this CANN.
    Within,
    /// The driver is newer than all that are published for this CANN, and there is no evidence
    /// against the pair.
    NewerDriver {
        /// The newest published driver.
        newest: String,
    },
    /// There is no evidence that driver and CANN are compatible.
    Unverified {
        /// Drivers that are published for this CANN, oldest first.
        expected: Vec<String>,
    },
    /// The driver is older than every driver that is published for, or accepted by, this CANN,
    /// and CANN does not accept its code.
    TooOld {
        /// The oldest published or accepted driver.
        oldest: String,
        /// Drivers that are published for this CANN, oldest first.
        expected: Vec<String>,
    },
    /// CANN is newer than the table.
    NewerCann,
    /// There is no information in the table and on the machine.
    Unknown,
}

impl Matrix {
    /// Returns whether this CANN has operators for a chip (the key of its family, as in `[[soc]]`),
    /// as far as its images show.
    pub fn cann_serves_chip(&self, version: &CannVersion, chip: &str) -> bool {
        let row = self.cann(version);
        row.is_none_or(|row| row.chips.is_empty() || row.chips.iter().any(|own| own == chip))
    }

    /// Returns the row of this CANN. An alpha or beta has the row of its final version; a patch
    /// release has the row of the latest earlier version of its line.
    pub fn cann(&self, version: &CannVersion) -> Option<&Cann> {
        let base = version.base();
        let exact = self.cann.iter().find(|row| row.version.0 == *version);
        exact.or_else(|| self.cann.iter().find(|row| row.version.0 == base)).or_else(|| {
            let earlier = self.cann.iter().filter(|row| row.version.is_same_line(&base));
            earlier.max_by(|a, b| a.version.0.cmp(&b.version.0))
        })
    }

    /// Returns the compatibility of driver and CANN. The module documentation explains the rule.
    pub fn driver_with_cann(&self, driver: DriverSide<'_>, cann: CannSide<'_>) -> DriverSupport {
        let cann_row = cann.version.and_then(|version| self.cann_with_codes(version));
        let driver_row = driver
            .version
            .and_then(|version| self.drivers.iter().find(|row| row.version.0 == *version));
        let driver_inner =
            driver.inner.or(driver_row.and_then(|row| row.innerversion.as_ref()).map(|i| &i.0));
        let cann_inner =
            cann.inner.or(cann_row.and_then(|row| row.innerversion.as_ref()).map(|i| &i.0));
        let driver_list = range_list(driver.accepts)
            .or_else(|| range_list(driver_row.and_then(|row| row.compatible.as_deref())));
        let cann_list = range_list(cann.accepts)
            .or_else(|| range_list(cann_row.and_then(|row| row.compatible.as_deref())));

        if let (Some(driver), Some(cann)) = (driver.version, cann.version)
            && let Some(expected) = self.find_excluding_window(driver, cann)
        {
            return DriverSupport::Unverified { expected };
        }
        if let (Some(driver), Some(cann)) = (driver.version, cann.version)
            && let Some(source) = self.find_published_pair(driver, cann)
        {
            return DriverSupport::Paired { source };
        }
        if let (Some(d), Some(c)) = (driver_inner, cann_inner)
            && d.same_line(c)
        {
            return DriverSupport::Listed { code: d.c_code() };
        }
        for (list, inner) in [(&cann_list, driver_inner), (&driver_list, cann_inner)] {
            if let (Some(list), Some(inner)) = (list, inner)
                && list.contains(&inner.line())
            {
                return DriverSupport::Listed { code: inner.c_code() };
            }
        }
        let Some(cann_version) = cann.version else {
            return if driver_inner.is_some() && cann_list.is_some() {
                DriverSupport::Unverified { expected: Vec::new() }
            } else {
                DriverSupport::Unknown
            };
        };
        if self.newest_cann().is_some_and(|newest| cann_version.line() > newest.line()) {
            return DriverSupport::NewerCann;
        }
        let published = self.list_published_drivers(cann_version);
        let expected: Vec<String> = published.iter().map(ToString::to_string).collect();
        let excluded = cann_list.is_some() && driver_inner.is_some();
        let (Some(version), Some(first), Some(last)) =
            (driver.version, published.first(), published.last())
        else {
            return if excluded {
                DriverSupport::Unverified { expected }
            } else {
                DriverSupport::Unknown
            };
        };
        if version > last {
            // The driver's own list does not contain this CANN, so there is no evidence for the
            // pair.
            return if driver_list.is_some() && cann_inner.is_some() {
                DriverSupport::Unverified { expected }
            } else {
                DriverSupport::NewerDriver { newest: last.to_string() }
            };
        }
        if version >= first {
            return DriverSupport::Within;
        }
        let accepted = cann_list.as_ref().and_then(|list| self.find_oldest_accepted(list));
        let oldest = accepted.as_ref().map_or(first, |driver| driver.min(first));
        let far = if excluded { version < oldest } else { version.major() < oldest.major() };
        if far && (excluded || cann_list.is_none()) {
            DriverSupport::TooOld { oldest: oldest.to_string(), expected }
        } else {
            DriverSupport::Unverified { expected }
        }
    }

    /// Returns the row of [`Matrix::cann`], or a row of the line that contains codes if that one
    /// does not.
    fn cann_with_codes(&self, version: &CannVersion) -> Option<&Cann> {
        let row = self.cann(version);
        row.filter(|row| row.innerversion.is_some()).or_else(|| {
            let base = version.base();
            let line = self.cann.iter().filter(|row| row.version.is_same_line(&base));
            line.filter(|row| row.innerversion.is_some())
                .max_by(|a, b| a.version.0.cmp(&b.version.0))
        })
    }

    /// Returns the source of a published pair: this CANN line with this driver, or a patch of
    /// either.
    fn find_published_pair(&self, driver: &DottedVersion, cann: &CannVersion) -> Option<String> {
        let cann = cann.base();
        let near = |listed: &CannVersion| listed.line() == cann.line() && cann >= *listed;
        let pair = self.pairs.iter().find(|pair| {
            near(&pair.cann) && pair.hdk.line() == driver.line() && *driver >= pair.hdk.0
        });
        let pair = pair.map(|pair| &pair.source);
        let line = self.mindcluster.iter().find(|row| {
            row.cann.iter().any(|pattern| pattern.covers(&cann))
                && row.hdk.iter().chain(&row.hdk_950).any(|pattern| pattern.covers(driver))
        });
        let window = self.hdk_windows.iter().find(|row| {
            row.cann.covers(&cann) && row.hdk.iter().any(|pattern| pattern.covers(driver))
        });
        let window = window.map(|row| &row.source);
        pair.or(line.map(|row| &row.source)).or(window).cloned()
    }

    /// Returns the drivers that the release notes of this CANN list, if they exclude this driver.
    fn find_excluding_window(
        &self,
        driver: &DottedVersion,
        cann: &CannVersion,
    ) -> Option<Vec<String>> {
        let cann = cann.base();
        let row = self.hdk_windows.iter().find(|row| {
            row.cann.covers(&cann) && row.incompatible.iter().any(|pattern| pattern.covers(driver))
        });
        row.map(|row| row.hdk.iter().map(ToString::to_string).collect())
    }

    /// Returns the drivers that are published for this CANN, oldest first. Those of the 950
    /// products are left out, because they have separate version numbers.
    fn list_published_drivers(&self, cann: &CannVersion) -> Vec<DottedVersion> {
        let cann = cann.base();
        let pairs = self.pairs.iter().filter(|pair| {
            pair.product.is_none() && pair.cann.line() == cann.line() && cann >= pair.cann.0
        });
        let mut drivers: Vec<DottedVersion> = pairs.map(|pair| pair.hdk.0.clone()).collect();
        for row in &self.mindcluster {
            if row.cann.iter().any(|pattern| pattern.covers(&cann)) {
                drivers.extend(row.hdk.iter().filter_map(|pattern| {
                    let (major, minor) = pattern.line();
                    format!("{major}.{minor}.0").parse().ok()
                }));
            }
        }
        for row in self.hdk_windows.iter().filter(|row| row.cann.covers(&cann)) {
            drivers.extend(row.hdk.iter().filter_map(|pattern| match &pattern.0 {
                super::Pattern::Line(major, minor) => format!("{major}.{minor}.0").parse().ok(),
                // Single versions may belong to the 950 products.
                super::Pattern::Exact(_) => None,
            }));
        }
        drivers.sort();
        drivers.dedup();
        drivers
    }

    /// Returns the oldest driver whose code is on a CANN list, as far as the table shows: drivers
    /// with a known code, and drivers published for a CANN with that code.
    fn find_oldest_accepted(&self, list: &base::version::RangeList) -> Option<DottedVersion> {
        let drivers = self.drivers.iter().filter(|row| {
            row.innerversion.as_ref().is_some_and(|inner| list.contains(&inner.line()))
        });
        let trains = self.cann.iter().filter(|row| {
            row.innerversion.as_ref().is_some_and(|inner| list.contains(&inner.line()))
        });
        let paired = trains.flat_map(|row| {
            let of_train = self
                .pairs
                .iter()
                .filter(|pair| pair.cann.0 == row.version.0 && pair.level != Level::Reported);
            of_train.map(|pair| pair.hdk.0.clone())
        });
        drivers.map(|row| row.version.0.clone()).chain(paired).min()
    }
}

impl super::Parsed<CannVersion> {
    /// Returns whether this version is in the same line as `later` and not later itself.
    fn is_same_line(&self, later: &CannVersion) -> bool {
        self.0.line() == later.line() && self.0 <= *later
    }
}
