//! Selects the column of the tables for a torch_npu.

use super::tables::{Column, Origin, Tables};
use data::{Fault, faults};

/// How well a column fits the requested torch_npu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// The column was read from exactly this wheel.
    Wheel,
    /// The wheel is built from this release, or the release was requested.
    Release,
    /// The wheel is unknown, and the nearest one for the same PyTorch is used.
    Nearest,
}

/// A torch_npu and its column in the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The index of the column.
    pub column: usize,
    /// The index of the PyTorch version in [`Tables::torch`].
    pub torch: usize,
    /// How well the column fits.
    pub how: Match,
}

/// Returns the part of a version that names the wheel, without `+git…`, `.dev…`.
fn wheel(version: &str) -> &str {
    let version = version.trim().trim_start_matches(['v', 'V']);
    let version = version.split('+').next().unwrap_or(version);
    version.split(".dev").next().unwrap_or(version)
}

/// The version of a wheel: `2.9.1.post2` is the second build for a patch of PyTorch 2.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Build<'a> {
    minor: &'a str,
    patch: u32,
    post: u32,
}

impl<'a> Build<'a> {
    fn parse(wheel: &'a str) -> Option<Self> {
        let (torch, post) = match wheel.split_once(".post") {
            Some((torch, post)) => (torch, post.parse().ok()?),
            None => (wheel, 0),
        };
        let (minor, patch) = torch.rsplit_once('.')?;
        let two = minor.split_once('.').is_some_and(|(major, minor)| {
            major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok()
        });
        two.then_some(Self { minor, patch: patch.parse().ok()?, post })
    }
}

impl Target {
    /// Returns the column for a torch_npu version: a wheel such as `2.9.0.post2`, or a release with
    /// its PyTorch version such as `2.9.0-26.0.0`. `None` if no table has that PyTorch version.
    pub fn find(tables: &Tables, version: &str) -> Option<Self> {
        let asked = wheel(version);
        let target = |column: usize, how| {
            let torch = tables.torch_number(tables.columns[column].torch)?;
            Some(Self { column, torch, how })
        };
        let place = |is: &dyn Fn(&Column) -> bool| tables.columns.iter().position(is);
        if let Some(at) = place(&|c| c.origin.is_wheel() && c.release == asked) {
            return target(at, Match::Wheel);
        }
        if let Some(at) = place(&|c| c.origin == Origin::Release && c.wheels.contains(&asked)) {
            return target(at, Match::Release);
        }
        if let Some((torch, release)) = asked.split_once('-')
            && let Some(at) = place(&|c| c.torch == torch && c.release == release)
        {
            return target(at, Match::Release);
        }
        let asked = Build::parse(asked)?;
        // A patch release of PyTorch changes no overloads: 2.14.1 has those of 2.14.0.
        let fits = |column: &&Column| {
            Build::parse(column.torch)
                .is_some_and(|known| known.minor == asked.minor && known.patch <= asked.patch)
        };
        let torch = tables.columns.iter().rfind(fits)?.torch;
        let mut known: Vec<(Build<'_>, usize)> = Vec::new();
        for (at, column) in tables.columns.iter().enumerate().filter(|(_, c)| c.torch == torch) {
            known.extend(column.wheels.iter().filter_map(|w| Some((Build::parse(w)?, at))));
        }
        known.sort_unstable();
        let below = known.iter().rev().find(|(build, _)| *build <= asked);
        let nearest = below.or(known.first()).map(|(_, at)| *at);
        let any = || tables.columns.iter().rposition(|column| column.torch == torch);
        target(nearest.or_else(any)?, Match::Nearest)
    }

    /// Finds a target like [`Target::find`].
    ///
    /// # Errors
    ///
    /// Returns a fault that lists the expected versions if nothing fits.
    pub fn asked(tables: &Tables, version: &str) -> Result<Self, Fault> {
        let mut torches: Vec<&str> = tables.columns.iter().map(|column| column.torch).collect();
        torches.retain(|torch| tables.torch_number(torch).is_some());
        torches.dedup();
        Self::find(tables, version)
            .ok_or_else(|| faults::NoTableForTorchNpu { version, list: torches.join(", ") }.fault())
    }

    /// Returns the newest release that has wheels.
    pub fn newest(tables: &Tables) -> Option<Self> {
        let is = |c: &Column| c.origin == Origin::Release && !c.wheels.is_empty();
        let column = tables.columns.iter().rposition(is)?;
        let torch = tables.torch_number(tables.columns[column].torch)?;
        Some(Self { column, torch, how: Match::Nearest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(version: &str) -> Option<(&'static str, &'static str, Match)> {
        let tables = Tables::get();
        let target = Target::find(tables, version)?;
        let column = &tables.columns[target.column];
        Some((column.torch, column.release, target.how))
    }

    #[test]
    fn a_wheel_is_found_by_itself_by_its_release_or_by_its_neighbour() {
        assert_eq!(found("2.9.0.post9"), Some(("2.9.0", "2.9.0.post9", Match::Wheel)));
        assert_eq!(found("2.9.0.post2"), Some(("2.9.0", "26.0.0", Match::Release)));
        assert_eq!(found("2.9.0.post2+git1234567"), Some(("2.9.0", "26.0.0", Match::Release)));
        assert_eq!(found("2.9.0-26.0.0"), Some(("2.9.0", "26.0.0", Match::Release)));
        assert_eq!(found("2.9.0.post3"), Some(("2.9.0", "26.0.0", Match::Nearest)));
        assert_eq!(found("2.14.0"), Some(("2.14.0", "2.14.0", Match::Wheel)));
        assert_eq!(found("2.14.1"), Some(("2.14.0", "2.14.0", Match::Nearest)));
        assert_eq!(found("2.14.0.post1"), Some(("2.14.0", "2.14.0", Match::Nearest)));
        assert_eq!(found("2.15.0"), Some(("2.15.0", "master", Match::Nearest)));
        // Its PyTorch is a patch release, which has the overloads of 2.9.0.
        assert_eq!(found("2.9.1"), Some(("2.9.0", "2.9.1", Match::Wheel)));
        assert_eq!(found("2.9.1.post1"), Some(("2.9.0", "2.9.1", Match::Nearest)));
        assert_eq!(found("2.9.0.post20"), Some(("2.9.0", "2.9.0.post9", Match::Nearest)));
        assert_eq!(found("2.3.0"), None, "the table is of 2.3.1");
        assert_eq!(found("3.1.0"), None);
        assert_eq!(found("nonsense"), None);
        assert_eq!(found(""), None);
    }
}
