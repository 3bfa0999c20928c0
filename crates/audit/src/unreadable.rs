//! Reasons why an input cannot be read.

/// The reason why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is none of the formats.
    #[error(
        "it is none of the known formats (Python sources named `.py` or `.ipynb`, TorchScript, torch.export, ONNX, a trace of the profiler, safetensors, config.json, a log with fallback warnings, a list of operators)"
    )]
    Unknown,
    /// `torch.save`: reading it would run what it says.
    #[error(
        "it is a pickle of `torch.save`{}, which names no operators and is never unpickled; give the model's Python sources, or export it: `torch.export.save(torch.export.export(model, args), \"model.pt2\")`",
        of_classes(classes)
    )]
    Pickle {
        /// Classes that it would load, as far as they were looked at.
        classes: Vec<String>,
    },
    /// The zip is encrypted.
    #[error("the archive is encrypted; unpack it and pack it again without a password")]
    Encrypted,
    /// It ends before it should, or contradicts itself.
    #[error("{what}; it may be incomplete: compare its size with the original, or write it again")]
    Damaged {
        /// What does not fit.
        what: String,
    },
    /// A part that has to be read is larger than what is read at most.
    #[error("{what} is larger than {limit} bytes, the most that is read of it")]
    TooLarge {
        /// Which part.
        what: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A part that has to be read holds more than is read at most: short as it may be, each of its
    /// values takes room.
    #[error("{what} holds more than {limit} values, the most that is read of it")]
    TooMany {
        /// Which part.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// A list of operators with a line that names none.
    #[error(
        "line {line} of the list names no operator: `{text}`; expected a name such as `aten::add.Tensor`, with a count or without"
    )]
    List {
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A Python source that is none.
    #[error("line {line} is no Python: {message}")]
    Python {
        /// The line, from 1.
        line: u32,
        /// What the parser says.
        message: String,
    },
    /// A directory without sources that name torch.
    #[error("no Python source in it names torch")]
    NoSources,
    /// There is nothing in it.
    #[error(
        "it is empty; it may be incomplete: compare its size with the original, or write it again"
    )]
    Empty,
    /// It begins as a file of zeros does: what was cut off by a full disk or a broken copy.
    #[error(
        "it begins with {0} zeros; it may be incomplete: compare its size with the original, or write it again"
    )]
    Zeros(usize),
    /// A pipe, a socket or a device, which is not opened.
    #[error("it is no regular file")]
    NotRegular,
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn of_classes(classes: &[String]) -> String {
    if classes.is_empty() { String::new() } else { format!(" (of {})", classes.join(", ")) }
}

pub(crate) fn damaged(what: impl Into<String>) -> Unreadable {
    Unreadable::Damaged { what: what.into() }
}
