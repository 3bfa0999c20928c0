//! Members of the workspace and their manifests.
#![expect(clippy::disallowed_methods, reason = "reads the manifests of this project")]
#![expect(clippy::unwrap_used, reason = "an unreadable manifest is a failure")]

use std::path::Path;

/// Returns the root directory of the repository.
pub(crate) fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the text of a file of the repository.
pub(crate) fn text(path: &str) -> String {
    let path = home().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the directories of all members except the root.
pub(crate) fn members() -> Vec<String> {
    let members = manifest(".")["workspace"]["members"].as_array().unwrap().clone();
    members.into_iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

/// Returns the manifest of a member.
pub(crate) fn manifest(member: &str) -> toml::Table {
    toml::from_str(&text(&format!("{member}/Cargo.toml"))).unwrap()
}
