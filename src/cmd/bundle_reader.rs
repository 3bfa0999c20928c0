//! Reads a file from a bundle.

use data::{OrFault as _, faults};
use std::io::Read;
use std::ops::ControlFlow;

use anyhow::{bail, ensure};
use flate2::read::GzDecoder;

use base::tarball;
use explain::input::BUNDLE;

/// Top directory of the archive.
pub(super) const TOP: &str = BUNDLE;
/// Limit of decompressed data in a search for a file, in bytes.
const SEARCH: u64 = 1 << 30;

/// Returns whether a file may be a bundle, because it is compressed.
pub(super) fn is_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Returns the content of a file in a bundle, of at most `limit` bytes.
pub(super) fn member(bundle: &[u8], name: &str, limit: u64) -> anyhow::Result<Vec<u8>> {
    // Other compressed files are not reported as damaged bundles.
    let mut head = Vec::new();
    GzDecoder::new(bundle)
        .take(512)
        .read_to_end(&mut head)
        .or_fault(|| faults::CompressedDamaged.fault())?;
    ensure!(tarball::is_tar(&head), faults::CompressedUnpackFirst.fault());
    let wanted = format!("{TOP}/{name}");
    let found = tarball::each(GzDecoder::new(bundle).take(SEARCH), |entry| {
        if entry.path_bytes() != wanted.as_bytes() {
            return ControlFlow::Continue(());
        }
        let mut content = Vec::new();
        let small = entry.size() <= limit;
        let read = if small { entry.take(limit).read_to_end(&mut content) } else { Ok(0) };
        ControlFlow::Break(read.map(|_| small.then_some(content)))
    });
    match found.and_then(Option::transpose).or_fault(|| faults::BundleDamaged.fault())? {
        Some(Some(content)) => Ok(content),
        Some(None) => {
            bail!(faults::BundleMemberTooLarge { limit, name }.fault())
        }
        None => bail!(faults::CompressedWithoutMember { member: wanted }.fault()),
    }
}
