//! Internal version labels.

use std::fmt;
use std::str::FromStr;

use super::number::{MAX_LEN, VersionError, number};

/// An `Innerversion`: `V100R001C19SPC001B124`, or the shorter `V100R001C19` of compatibility
/// lists.
///
/// It has no order on purpose: later C codes have smaller numbers at times (C25 of CANN 8.5 was
/// followed by C10 of CANN 9.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InnerVersion {
    /// Number after `V`.
    pub v: u32,
    /// Number after `R`.
    pub r: u32,
    /// Number after `C`: the line of development that driver and CANN share.
    pub c: u32,
    /// Number after `SPC`.
    pub spc: Option<u32>,
    /// Number after `B`: the build.
    pub b: Option<u32>,
}

const EXPECTED: &str = "an internal version such as `V100R001C19SPC001B124`";

impl InnerVersion {
    /// The label without package and build: `V100R001C19`.
    pub fn line(&self) -> String {
        format!("V{:03}R{:03}C{:02}", self.v, self.r, self.c)
    }

    /// The C code: `C19`.
    pub fn c_code(&self) -> String {
        format!("C{:02}", self.c)
    }

    /// Returns whether both belong to one line, regardless of the build.
    pub fn same_line(&self, other: &Self) -> bool {
        (self.v, self.r, self.c) == (other.v, other.r, other.c)
    }
}

impl FromStr for InnerVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        parse(text.trim()).ok_or_else(|| VersionError::new(text, EXPECTED))
    }
}

fn parse(text: &str) -> Option<InnerVersion> {
    if text.len() > MAX_LEN {
        return None;
    }
    let mut rest = text;
    let v = field(&mut rest, "V")?;
    let r = field(&mut rest, "R")?;
    let c = field(&mut rest, "C")?;
    let spc = field(&mut rest, "SPC");
    let b = field(&mut rest, "B");
    rest.is_empty().then_some(InnerVersion { v, r, c, spc, b })
}

/// Removes a letter code and its number from the start of `rest`; otherwise leaves `rest`
/// unchanged.
fn field(rest: &mut &str, code: &str) -> Option<u32> {
    let tail = rest.strip_prefix(code)?;
    let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
    let value = number(&tail[..end])?;
    *rest = &tail[end..];
    Some(value)
}

impl fmt::Display for InnerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line())?;
        if let Some(spc) = self.spc {
            write!(f, "SPC{spc:03}")?;
        }
        if let Some(b) = self.b {
            write!(f, "B{b:03}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_are_read() {
        let inner: InnerVersion = "V100R001C19SPC001B124".parse().unwrap();
        assert_eq!((inner.c, inner.spc, inner.b), (19, Some(1), Some(124)));
        assert_eq!(inner.c_code(), "C19");
        assert_eq!(inner.to_string(), "V100R001C19SPC001B124");
        let nightly: InnerVersion = "V100R001C10B034".parse().unwrap();
        assert_eq!((nightly.spc, nightly.b), (None, Some(34)));
        assert!(inner.same_line(&"V100R001C19".parse().unwrap()));
        assert!(!inner.same_line(&"V100R003C19".parse().unwrap()));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "V100", "V100R001", "V100R001C", "C19", "V100R001C19X", "V1R1C1 "] {
            let known = text.trim() != text;
            assert_eq!(text.parse::<InnerVersion>().is_ok(), known, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = text.parse::<InnerVersion>();
        }

        #[test]
        fn displayed_version_parses_to_same_value(text in "V[1-9][0-9]{2}R[0-9]{3}C[0-9]{2}(SPC[0-9]{3})?(B[0-9]{3})?") {
            prop_assert_eq!(text.parse::<InnerVersion>().unwrap().to_string(), text);
        }
    }
}
