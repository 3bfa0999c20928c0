//! The meaning of arguments of well-known functions: messages, options, keys.

/// Functions and methods whose string arguments are shown to users.
const MESSAGES: &[&str] = &[
    "print",
    "warn",
    "warning",
    "info",
    "debug",
    "error",
    "critical",
    "exception",
    "log",
    "fail",
    "skip",
    "exit",
    "skipTest",
    "echo",
    "secho",
    "rank_zero_info",
    "rank_zero_warn",
    "warn_once",
    "warning_once",
    "info_once",
    "set_description",
    "set_postfix",
    "xlabel",
    "ylabel",
    "title",
    "set_title",
    "set_xlabel",
    "set_ylabel",
    "deprecated",
    "fatal",
    "tqdm",
    "ArgumentParser",
    "write_line",
    "header",
    "subheader",
    "markdown",
    "success",
    "skipIf",
    "skipUnless",
    "_",
];

/// Keyword arguments whose strings are shown to users.
const WORDS: &[&str] = &[
    "help",
    "description",
    "desc",
    "title",
    "epilog",
    "message",
    "msg",
    "metavar",
    "label",
    "doc",
    "usage",
    "reason",
    "xlabel",
    "ylabel",
    "caption",
    "tooltip",
    "info",
    "placeholder",
    "summary",
    "long_description",
    "prefix",
    "suffix",
    "keywords",
    "classifiers",
    "short_help",
];

/// Functions that define options of a command line.
const OPTIONS: &[&str] = &["add_argument", "add_option", "option", "argument", "Option", "flag"];

/// Methods and functions whose string names a key or an attribute.
const KEYS: &[&str] = &[
    "get",
    "pop",
    "setdefault",
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "attrgetter",
    "has_option",
    "getboolean",
    "getint",
    "register_buffer",
    "register_parameter",
    "fixture",
    "mark",
    "add_scalar",
    "requires",
];

/// Whether a function of this name prints or logs its arguments.
pub(super) fn is_known_message(name: &str) -> bool {
    MESSAGES.contains(&name)
}

/// Whether the name suggests that a function prints or logs its arguments.
pub(super) fn is_message(name: &str) -> bool {
    is_known_message(name)
        || name.starts_with("print")
        || name.starts_with("log_")
        || name.starts_with("warn")
        || name.ends_with("_info")
        || name.ends_with("_warning")
        || name.ends_with("_warn")
        || name.ends_with("_print")
        || name.ends_with("_log")
        || name.ends_with("Error")
        || name.ends_with("Warning")
        || name.ends_with("Exception")
}

pub(super) fn is_words(keyword: &str) -> bool {
    WORDS.contains(&keyword)
}

/// Whether a decorator of this name binds the address of a web server to a function.
pub(super) fn is_route(name: &str) -> bool {
    matches!(name, "route" | "get" | "post" | "put" | "delete" | "patch" | "websocket")
}

pub(super) fn is_option(name: &str) -> bool {
    OPTIONS.contains(&name)
}

pub(super) fn is_key(name: &str) -> bool {
    KEYS.contains(&name)
}

/// The name of the value that a command-line option sets.
pub(super) fn destination(option: &str) -> String {
    option.trim_start_matches('-').split('/').next().unwrap_or_default().replace('-', "_")
}
