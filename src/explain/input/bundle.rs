//! Reads a file from a support bundle.

use std::io::Read;
use std::ops::ControlFlow;

use flate2::read::GzDecoder;

use base::tarball;
use data::{Fault, OrFault as _, faults};

/// The top directory of the archive.
pub const TOP: &str = "ascend-doctor-bundle";
/// Limit of decompressed data in a search for a file, in bytes.
const SEARCH: u64 = 1 << 30;

/// Returns whether a file may be a bundle, because it is compressed.
pub fn is_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Returns whether the start of a file is that of a bundle: its first member is in [`TOP`].
pub fn starts_bundle(head: &[u8]) -> bool {
    let mut start = Vec::new();
    let read = GzDecoder::new(head).take(TOP.len() as u64 + 1).read_to_end(&mut start);
    read.is_ok() && start.strip_prefix(TOP.as_bytes()) == Some(b"/")
}

/// Returns the content of a file in a bundle, of at most `limit` bytes.
///
/// # Errors
///
/// If the archive is damaged, or has no such file of this size.
pub fn member(bundle: &[u8], name: &str, limit: u64) -> Result<Vec<u8>, Fault> {
    // Other compressed files are not reported as damaged bundles.
    let mut head = Vec::new();
    GzDecoder::new(bundle)
        .take(512)
        .read_to_end(&mut head)
        .or_fault(|| faults::CompressedDamaged.fault())?;
    if !tarball::is_tar(&head) {
        return Err(faults::CompressedUnpackFirst.fault());
    }
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
        Some(None) => Err(faults::BundleMemberTooLarge { limit, name }.fault()),
        None => Err(faults::CompressedWithoutMember { member: wanted }.fault()),
    }
}
