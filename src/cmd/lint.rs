//! `lint`: reads documents and scripts, and compares their statements with the tables.
#![expect(clippy::disallowed_methods, reason = "lists the directories that the user named")]

use std::path::{Path, PathBuf};

use base::report::ExitStatus;
use base::text::Text;
use data::{fault::describe_chain, ui};
use walkdir::WalkDir;

use super::argument_file::read_argument;
use super::finish;
use super::output::Output;
use crate::cli::LintArgs;
use crate::lint::{Input, lint};

/// The largest document, in bytes.
const DOCUMENT: u64 = 8 << 20;
/// The largest number of documents.
const COUNT: usize = 5000;
/// The deepest directory.
const DEPTH: usize = 32;
/// The largest number of entries of directories that are looked at.
const ENTRIES: usize = 500_000;
/// Directories that hold copies of other projects.
const SKIPPED: [&str; 4] = ["node_modules", "target", "__pycache__", "site-packages"];

pub(super) fn run(args: &LintArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let mut unread: Vec<Text> = Vec::new();
    let mut inputs: Vec<Input> = Vec::new();
    for path in &args.files {
        if path != Path::new("-") && path.is_dir() {
            for file in documents(path, &mut unread) {
                match read(&file) {
                    Ok(input) => inputs.push(input),
                    Err(error) => unread.push(describe_chain(error.chain())),
                }
            }
        } else {
            inputs.push(read(path)?);
        }
        if inputs.len() > COUNT {
            inputs.truncate(COUNT);
            unread.push(ui::LintMany { n: COUNT }.text());
            break;
        }
    }
    let subject: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
    finish(lint(&subject.join(" "), &inputs, &unread), output)
}

fn read(path: &Path) -> anyhow::Result<Input> {
    let bytes = read_argument(path, DOCUMENT)?;
    let name = if path == Path::new("-") { "-".to_owned() } else { path.display().to_string() };
    Ok(Input { name, text: decode(&bytes) })
}

/// The text of UTF-8, UTF-16 and GBK.
fn decode(bytes: &[u8]) -> String {
    let (encoding, bom) = encoding_rs::Encoding::for_bom(bytes).unwrap_or((encoding_rs::UTF_8, 0));
    let rest = &bytes[bom..];
    if bom == 0 && std::str::from_utf8(rest).is_err() {
        let (text, _, has_errors) = encoding_rs::GBK.decode(rest);
        if !has_errors {
            return text.into_owned();
        }
    }
    encoding.decode(rest).0.into_owned()
}

/// The documents of a directory in the order of their names. No link is followed.
fn documents(dir: &Path, unread: &mut Vec<Text>) -> Vec<PathBuf> {
    let walk = WalkDir::new(dir).max_depth(DEPTH).sort_by_file_name().into_iter();
    let is_wanted = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0
            || !entry.file_type().is_dir()
            || !(name.starts_with('.') || SKIPPED.contains(&&*name))
    };
    let mut found = Vec::new();
    for (number, entry) in walk.filter_entry(is_wanted).enumerate() {
        if number >= ENTRIES || found.len() > COUNT {
            unread.push(ui::LintMany { n: COUNT }.text());
            break;
        }
        match entry {
            Ok(entry) if entry.file_type().is_file() && is_document(entry.path()) => {
                found.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(dir).display().to_string();
                unread.push(ui::LintUnread { file: path }.text());
            }
        }
    }
    found
}

/// Whether the name of a file is that of a document or script.
fn is_document(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let endings = [".md", ".mdx", ".markdown", ".rst", ".sh", ".bash", ".yml", ".yaml", ".env"];
    name.contains("dockerfile")
        || (name.starts_with("requirements") && name.ends_with(".txt"))
        || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_other_editors_are_decoded() {
        assert_eq!(decode("默认".as_bytes()), "默认");
        assert_eq!(decode(&[0xC4, 0xAC, 0xC8, 0xCF]), "默认");
        assert_eq!(decode(&[0xFF, 0xFE, b'a', 0]), "a");
    }
}
