//! The operators that composed operators call: `data/ops/composites.tsv`.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::rows::rows;

/// The body of a composed operator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    always: &'static str,
    sometimes: &'static str,
}

static BODIES: LazyLock<HashMap<&'static str, Body>> = LazyLock::new(|| {
    let rows = rows(data::text("ops/composites.tsv")).filter_map(|row| match *row {
        [overload, always, sometimes] => Some((overload, Body { always, sometimes })),
        _ => None,
    });
    rows.collect()
});

/// Returns the body of an overload, named without `aten::`.
pub(super) fn body(overload: &str) -> Option<Body> {
    BODIES.get(overload).copied()
}

fn names(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split(' ').filter(|name| *name != "-")
}

impl Body {
    /// Returns the overloads that it always calls.
    pub(super) fn always(self) -> impl Iterator<Item = &'static str> {
        names(self.always)
    }

    /// Returns the overloads that it calls with some arguments.
    pub(super) fn sometimes(self) -> impl Iterator<Item = &'static str> {
        names(self.sometimes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read() {
        let max: Vec<_> = body("max.other").unwrap().always().collect();
        assert_eq!(max, ["maximum"]);
        assert_eq!(body("max.other").unwrap().sometimes().count(), 0);
        assert!(body("combinations").unwrap().sometimes().any(|name| name == "le.Tensor"));
        assert!(body("add.Tensor").is_none());
    }
}
