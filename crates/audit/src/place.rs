//! Places in an input.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A displayed place: `model.py:12`, the name of a node, the path of a module. A tree has thousands
/// of places and only a few are displayed, so they share their paths and are formatted on demand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line of a source, from 1.
    Line(Arc<str>, u32),
    /// A name from the input.
    Named(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(path, line) => write!(f, "{path}:{line}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl PartialEq<str> for Place {
    fn eq(&self, other: &str) -> bool {
        match self {
            Self::Line(path, line) => {
                let rest = other.strip_prefix(&**path).and_then(|rest| rest.strip_prefix(':'));
                rest.is_some_and(|rest| rest == line.to_string())
            }
            Self::Named(name) => name == other,
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Place {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "string".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_shown() {
        let line = Place::Line("a/b.py".into(), 12);
        assert_eq!(line.to_string(), "a/b.py:12");
        assert!(line == *"a/b.py:12" && line != *"a/b.py:1" && line != *"a/b.py");
        assert_eq!(serde_json::to_string(&[line]).unwrap(), "[\"a/b.py:12\"]");
        assert!(Place::Named("node".to_owned()) == *"node");
    }
}
