//! Selects the reader of a zip archive of PyTorch by the names of its entries.

use super::archive::Archive;
use super::model::Model;
use super::source::Source;
use super::unreadable::Unreadable;
use super::{export, pickle, torchscript};

/// Reads the operators of a PyTorch zip archive.
pub(super) fn read(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let mut archive = Archive::open(source)?;
    let is_code = |name: &str| {
        name.split_once("/code/").is_some_and(|(_, rest)| rest.ends_with(".py"))
            || (name.starts_with("code/") && name.ends_with(".py"))
    };
    let (mut code, mut graph, mut data) = (Vec::new(), Vec::new(), None);
    for name in archive.names() {
        let mut parts = name.rsplitn(3, '/');
        let (file, dir) = (parts.next().unwrap_or_default(), parts.next());
        if is_code(&name) {
            code.push(name.into_owned());
        } else if file == "serialized_exported_program.json"
            || (dir == Some("models") && file.ends_with(".json"))
        {
            graph.push(name.into_owned());
        } else if file == "data.pkl" {
            data = Some(name.into_owned());
        }
    }
    if !graph.is_empty() {
        graph.sort_unstable();
        export::read(&mut archive, &graph)
    } else if !code.is_empty() {
        torchscript::read(&mut archive, &code)
    } else if let Some(data) = data {
        pickle::read(&archive.entry(&data)?)
    } else {
        Err(Unreadable::Unknown)
    }
}
