//! Which versions to install.

use pep440_rs::Version;

use super::{Basis, Level, Matrix, Support, TorchNpu};
use crate::version::CannVersion;

/// How good a pair is; the order is that of preference.
fn rank(support: &Support) -> Option<u8> {
    match support {
        Support::Recommended { .. } => Some(3),
        Support::Compatible { basis: Basis::Release, .. } => Some(2),
        Support::Compatible { .. } => Some(1),
        _ => None,
    }
}

impl Matrix {
    /// Versions of torch_npu for `torch` that a user can install, newest first: final ones of a
    /// known release, with a wheel for this machine. What is not known of the machine does not
    /// count against a version.
    pub fn installable(
        &self,
        torch: &Version,
        arch: Option<&str>,
        python: Option<&str>,
    ) -> impl Iterator<Item = &TorchNpu> {
        self.torch_npu_for(torch).into_iter().filter(move |row| {
            let published = match (arch, python) {
                (Some(arch), Some(python)) => row.has_wheel(arch, python) == Some(true),
                (None, Some(python)) => row.pythons().contains(&python),
                (Some(arch), None) => row.wheels.contains_key(arch),
                (None, None) => !row.wheels.is_empty(),
            };
            let placed = row.cann.is_some() && row.level != Level::Prerelease;
            published && placed && !row.version.any_prerelease()
        })
    }

    /// The version of torch_npu to install for `torch` on this CANN: the recommended one, else
    /// the newest that accepts it.
    pub fn best_torch_npu(
        &self,
        torch: &Version,
        cann: &CannVersion,
        arch: Option<&str>,
        python: Option<&str>,
    ) -> Option<&TorchNpu> {
        let mut best: Option<(u8, &TorchNpu)> = None;
        for row in self.installable(torch, arch, python) {
            let Some(rank) = rank(&self.torch_npu_with_cann(&row.version, cann)) else { continue };
            if best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, row));
            }
        }
        best.map(|(_, row)| row)
    }
}
