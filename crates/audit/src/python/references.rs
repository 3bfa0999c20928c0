//! Finds the references between the pieces of loaded files.

use super::linked_file::Reference;
use super::name_resolution::{self, LoadedModules};
use super::packed::{Lists, index, number};

/// Returns the references of the pieces of a file to other loaded pieces, without references to
/// libraries. All files must be loaded.
pub(super) fn references(known: &LoadedModules<'_>, file: usize) -> Lists<Reference> {
    let (files, facts) = (known.files, &known.files[file].facts);
    // Most names belong to libraries.
    let means =
        |path| known.may_hold(path).then(|| name_resolution::definition(&mut &*known, file, path));
    let meant: Vec<_> = facts.paths.iter().map(|path| means(path).flatten()).collect();
    let mut links = Vec::new();
    for piece in 0..facts.pieces.len() {
        for one in facts.refs.at(piece) {
            if let Some(to) = meant.get(index(one.path)).copied().flatten()
                && to != (file, piece)
            {
                let role = one.role.of_reference(files[to.0].facts.is_class(to.1));
                links.push((number(piece), Reference { to, role }));
            }
        }
    }
    Lists::of(links, facts.pieces.len())
}
