//! What the page asks for.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use base::text::Lang;

/// A request.
#[derive(Debug)]
pub struct Request {
    /// What is asked.
    pub operation: Operation,
    /// The language of the answer.
    pub lang: Lang,
    /// The time, in seconds since 1970, UTC.
    pub now: Option<u64>,
    /// What else the answer has besides the page.
    pub want: Option<Want>,
    /// The request, with the content of the files.
    pub bytes: Arc<Vec<u8>>,
    /// The start of the content of the files.
    start: usize,
}

/// The forms of an answer besides HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// The document that `--format json` writes.
    Json,
    /// The text that `--format markdown` writes.
    Markdown,
}

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// What `ascend-doctor TEXT` answers.
    Ask {
        /// What the user wrote or pasted.
        text: String,
    },
    /// What `ascend-doctor FILE…` answers.
    Files {
        /// The files.
        files: Vec<FileEntry>,
    },
    /// Names that have these words.
    Search {
        /// The words.
        words: String,
    },
    /// A list of the tables.
    List {
        /// `families`, the ID of a family, `causes`, `findings`, `variables` or `versions`.
        of: String,
    },
}

/// A file.
#[derive(Debug, Clone, Deserialize)]
pub struct FileEntry {
    /// Its name, with the directories that were dropped: `logs/rank0.log`.
    pub name: String,
    /// Its size in bytes. Contents follow each other.
    pub size: usize,
}

#[derive(Deserialize)]
struct Head {
    #[serde(flatten)]
    operation: Operation,
    lang: Language,
    #[serde(default)]
    now: Option<u64>,
    #[serde(default)]
    want: Option<Want>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Language {
    En,
    Zh,
}

impl Request {
    /// Parses a request.
    ///
    /// # Errors
    ///
    /// In words for developers: the page writes no such request.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let length = bytes.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize);
        let head = length.and_then(|length| bytes.get(4..length.checked_add(4)?));
        let head = head.ok_or("the request ends before its head")?;
        let start = 4 + head.len();
        let head: Head = serde_json::from_slice(head).map_err(|error| error.to_string())?;
        let lang = match head.lang {
            Language::En => Lang::En,
            Language::Zh => Lang::Zh,
        };
        let Head { operation, now, want, .. } = head;
        let request = Self { operation, lang, now, want, start, bytes: Arc::new(bytes) };
        if let Operation::Files { files } = &request.operation
            && request.ranges(files).last().is_some_and(|last| last.end > request.bytes.len())
        {
            return Err("the request ends before its last file".to_owned());
        }
        Ok(request)
    }

    /// The places of the contents of files in the request.
    pub fn ranges(&self, files: &[FileEntry]) -> Vec<Range<usize>> {
        let mut at = self.start;
        let range = |file: &FileEntry| {
            let start = at;
            at = at.saturating_add(file.size);
            start..at
        };
        files.iter().map(range).collect()
    }
}
