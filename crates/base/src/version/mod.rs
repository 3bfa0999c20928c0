//! Version numbers of the Ascend stack: their notations and their order.
//!
//! One machine has three notations:
//! - [`CannVersion`]: `8.3.RC1`, `8.1.RC1.alpha001`, `9.0.0-beta.1`;
//! - [`DottedVersion`]: drivers (`24.1.rc2.2`), firmware (`7.7.0.1.231`), CANN components
//!   (`8.2.0.0.201`);
//! - [`InnerVersion`]: `V100R001C19SPC001B124`, a label without an order.
//!
//! [`RangeList`] is the notation of `compatible_version…` in version files, and
//! [`PackageRange`] that of `required_package_…_version`.

mod cann;
mod dotted;
mod inner;
mod number;
mod range;

pub use cann::{CannVersion, Stage};
pub use dotted::DottedVersion;
pub use inner::InnerVersion;
pub use number::VersionError;
pub use range::{PackageRange, RangeList};
