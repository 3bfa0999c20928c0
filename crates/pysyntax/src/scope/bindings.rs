//! The bindings of one name.

use super::Binding;

/// The bindings of a name. Imports come first, because every use of a name checks whether it is
/// one, and generated files bind one name a hundred thousand times.
#[derive(Debug)]
pub(super) enum Bindings<'a> {
    /// Most names are bound once: a list for each of them would be most of the allocations.
    One(Binding<'a>),
    /// More than once.
    More(Vec<Binding<'a>>),
}

impl<'a> Bindings<'a> {
    pub(super) fn as_slice(&self) -> &[Binding<'a>] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(all) => all,
        }
    }

    /// Adds a binding; an import goes behind the other imports.
    pub(super) fn add(&mut self, binding: Binding<'a>) {
        if let Self::One(one) = self {
            let first = std::mem::replace(one, Binding::Other);
            *self = Self::More(vec![first]);
        }
        let Self::More(all) = self else { return };
        let is_import = |known: &Binding<'_>| matches!(known, Binding::Import { .. });
        let at = if is_import(&binding) { all.partition_point(is_import) } else { all.len() };
        all.insert(at, binding);
    }
}
