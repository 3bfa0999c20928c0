//! `data/package_files.tsv`: the files of packages that a refresh read, for `--pinned`.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::package::{IndexFile, hex};

/// Name of the file below `data/`.
pub(crate) const FILE: &str = "package_files.tsv";

/// Files by package.
pub(crate) type Pins = BTreeMap<String, Vec<IndexFile>>;

const HEAD: &str = "# Owner: machine. Written by `cargo xtask refresh`: the files of packages that --pinned reads.\n\
                    package\tfile\tsha256\tyanked\trequires_python\n";

/// Reads the file.
pub(crate) fn parse(text: &str) -> Result<Pins> {
    let mut pins = Pins::new();
    let rows = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')).skip(1);
    for (number, line) in rows {
        let [package, name, sha256, yanked, python] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            bail!("{FILE}: line {number} has another number of cells")
        };
        pins.entry(package.to_owned()).or_default().push(IndexFile {
            name: name.to_owned(),
            sha256: sha256.to_owned(),
            url: String::new(),
            yanked: yanked == "yes",
            requires_python: Some(python.to_owned()).filter(|python| !python.is_empty()),
        });
    }
    Ok(pins)
}

/// Formats the file.
pub(crate) fn render(pins: &Pins) -> String {
    let mut text = HEAD.to_owned();
    for (package, files) in pins {
        for file in files {
            let yanked = if file.yanked { "yes" } else { "" };
            let python = file.requires_python.as_deref().unwrap_or_default();
            let cells = [package, &*file.name, &file.sha256, yanked, python];
            text.push_str(&(cells.join("\t") + "\n"));
        }
    }
    text
}

/// Returns the description of the files of a package in `sources.toml`: their number and the hash
/// of their rows.
pub(crate) fn describe(package: &str, files: &[IndexFile]) -> String {
    let text = render(&Pins::from([(package.to_owned(), files.to_vec())]));
    format!("{} files, SHA-256 {}", files.len(), hex(&Sha256::digest(text.as_bytes())))
}

/// Returns the pinned files with the addresses that the index lists today.
pub(crate) fn locate(pins: &[IndexFile], listed: &[IndexFile]) -> Result<Vec<IndexFile>> {
    let with_url = |pin: &IndexFile| {
        let mut pin = pin.clone();
        if let Some(now) = listed.iter().find(|file| file.name == pin.name) {
            let same = now.sha256 == pin.sha256;
            let now = same.then_some(now);
            let now = now.with_context(|| format!("{}: another file than the pinned", pin.name))?;
            pin.url.clone_from(&now.url);
        }
        Ok(pin)
    };
    pins.iter().map(with_url).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, sha256: &str, url: &str) -> IndexFile {
        let (name, sha256, url) = (name.to_owned(), sha256.to_owned(), url.to_owned());
        IndexFile { name, sha256, url, yanked: true, requires_python: None }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut other = file("p-2.whl", "b", "");
        other.requires_python = Some(">=3.9,<3.12".to_owned());
        let pins = Pins::from([("p".to_owned(), vec![file("p-1.whl", "a", ""), other])]);
        let text = render(&pins);
        assert_eq!(parse(&text).unwrap(), pins);
        assert!(parse(&format!("{text}p\tq\n")).is_err());
        assert!(describe("p", &pins["p"]).starts_with("2 files, SHA-256 "));
        assert_ne!(describe("p", &pins["p"]), describe("p", &pins["p"][1..]));
    }

    #[test]
    fn pinned_files_are_those_of_the_index() {
        let pins = [file("p-1.whl", "a", ""), file("p-0.whl", "z", "")];
        let listed = [file("p-1.whl", "a", "u"), file("p-2.whl", "b", "v")];
        let located = locate(&pins, &listed).unwrap();
        // Newer files are ignored, and vanished files have no address.
        assert_eq!(located, [file("p-1.whl", "a", "u"), file("p-0.whl", "z", "")]);
        let replaced = [file("p-1.whl", "other", "u")];
        assert!(locate(&pins, &replaced).unwrap_err().to_string().contains("pinned"));
    }
}
