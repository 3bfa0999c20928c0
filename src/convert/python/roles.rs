//! Which arguments hold a device or a backend, and which hold words for people.

/// What a string stands for where it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Want {
    /// A device.
    Device,
    /// A backend of torch.distributed.
    Backend,
}

/// What a string stands for, and the rule that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Role {
    /// What it stands for.
    pub want: Want,
    /// Name of the rule, see `data/convert/`.
    pub site: &'static str,
}

impl Role {
    /// A device, by the rule `site`.
    pub(super) const fn device(site: &'static str) -> Self {
        Self { want: Want::Device, site }
    }

    /// A backend, by the rule `site`.
    pub(super) const fn backend(site: &'static str) -> Self {
        Self { want: Want::Backend, site }
    }
}

/// Functions whose positional argument of this number is a device or backend.
const POSITIONAL: &[(&str, usize, Role)] = &[
    ("torch.device", 0, Role::device("device-string")),
    ("torch.set_default_device", 0, Role::device("default-device")),
    ("torch.get_device_module", 0, Role::device("device-string")),
    ("torch.Generator", 0, Role::device("generator-device")),
    ("torch.amp.autocast", 0, Role::device("autocast-device")),
    ("torch.amp.GradScaler", 0, Role::device("gradscaler-device")),
    ("torch.amp.is_autocast_available", 0, Role::device("autocast-device")),
    ("torch.is_autocast_enabled", 0, Role::device("autocast-enabled")),
    ("torch.get_autocast_dtype", 0, Role::device("autocast-device")),
    ("torch.set_autocast_enabled", 0, Role::device("autocast-device")),
    ("torch.set_autocast_dtype", 0, Role::device("autocast-device")),
    ("torch.load", 1, Role::device("map-location")),
    ("torch.jit.load", 1, Role::device("map-location")),
    ("torch.distributed.init_device_mesh", 0, Role::device("init-device-mesh")),
    ("torch.distributed.DeviceMesh", 0, Role::device("device-mesh")),
    ("torch.distributed.tensor.DeviceMesh", 0, Role::device("device-mesh")),
    ("torch.distributed.init_process_group", 0, Role::backend("backend-string")),
    ("torch.distributed.new_group", 2, Role::backend("new-group-backend")),
    ("torch.distributed.Backend", 0, Role::backend("backend-string")),
    ("torch.distributed.is_backend_available", 0, Role::backend("backend-string")),
];

/// Methods of tensors and modules whose first argument is a device.
const DEVICE_METHODS: &[&str] = &["to", "to_empty", "cuda", "npu", "to_device", "move_to"];

/// Methods of strings that take a piece of the string.
const STRING_METHODS: &[&str] = &[
    "startswith",
    "endswith",
    "replace",
    "split",
    "rsplit",
    "partition",
    "removeprefix",
    "removesuffix",
    "strip",
    "lstrip",
    "count",
    "find",
    "index",
];

/// Functions and methods whose strings are read by people, or name something else than a
/// device.
const WORDS: &[&str] = &[
    "print",
    "pprint",
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "critical",
    "exception",
    "log",
    "fatal",
    "write",
    "writelines",
    "echo",
    "secho",
    "rule",
    "input",
    "getLogger",
    "get_logger",
    "warn_once",
    "warning_once",
    "info_once",
    "print_rank_0",
    "rank_zero_info",
    "rank_zero_warn",
    "filterwarnings",
    "open",
    "Path",
    "join",
    "exists",
    "isfile",
    "isdir",
    "makedirs",
    "listdir",
    "glob",
    "basename",
    "dirname",
    "compile",
    "match",
    "search",
    "sub",
    "findall",
    "fullmatch",
    "find_library",
    "CDLL",
    "import_module",
    "__import__",
    "hasattr",
    "getattr",
    "setattr",
    "delattr",
    "add_argument_group",
    "add_parser",
    "add_subparsers",
    "add_scalar",
    "set_title",
    "title",
    "xlabel",
    "ylabel",
    "legend",
    "suptitle",
    "namedtuple",
    "TypeVar",
    "NewType",
    "fail",
    "skip",
    "skipTest",
    "xfail",
    "skipif",
    "skipIf",
    "skipUnless",
    "fromkeys",
    "register_buffer",
    "find_package",
    "range_push",
    "record_function",
    "add_row",
    "add_column",
    "center",
    "ljust",
    "rjust",
    "encode",
    "decode",
    "dedent",
    "exit",
    "abort",
    "markdown",
    "emit",
    "notify",
    "status",
    "exec",
    "eval",
    "get_distribution",
    "version",
    "run_command",
    "usage",
    "lower",
    "upper",
    "display",
    "assertIn",
    "assertRaises",
    "assertRaisesRegex",
    "raises",
    "warns",
    "deprecated",
];

/// Keywords whose strings are read by people.
const WORD_KEYWORDS: &[&str] = &[
    "help",
    "msg",
    "message",
    "description",
    "desc",
    "title",
    "label",
    "epilog",
    "usage",
    "metavar",
    "reason",
    "doc",
    "comment",
    "file",
    "filename",
    "path",
    "url",
    "end",
    "sep",
    "text",
    "prog",
    "match",
    "name",
    "author",
    "license",
    "classifiers",
];

/// The role of a positional argument of the function `path`.
pub(super) fn positional(path: &str, index: usize) -> Option<Role> {
    POSITIONAL
        .iter()
        .find(|(name, at, _)| *name == path && *at == index)
        .map(|(_, _, role)| *role)
        .or_else(|| {
            // torch.cuda.set_device("cuda:1"), torch.cuda.synchronize(device), …
            (index == 0 && (path.starts_with("torch.cuda.") || path.starts_with("torch.npu.")))
                .then_some(Role::device("device-string"))
        })
}

/// The role of the first argument of a method whose object is not known.
pub(super) fn of_method(name: &str, index: usize) -> Option<Role> {
    (index == 0 && DEVICE_METHODS.contains(&name)).then_some(Role::device("to-device"))
}

/// The role of a keyword argument, whatever the function.
pub(super) fn keyword(name: &str) -> Option<Role> {
    Some(match name {
        "map_location" => Role::device("map-location"),
        "pin_memory_device" => Role::device("pin-memory-device"),
        "backend"
        | "dist_backend"
        | "process_group_backend"
        | "distributed_backend"
        | "ddp_backend" => Role::backend("backend-string"),
        _ if super::names::backend_like(name) => Role::backend("backend-string"),
        _ if super::names::device_like(name) => Role::device("device-keyword"),
        _ => return None,
    })
}

/// Whether `name` is a method of strings that takes a piece of the string.
pub(super) fn string_method(name: &str) -> bool {
    STRING_METHODS.contains(&name)
}

/// Whether the strings that a function or method of this name takes are words.
pub(super) fn takes_words(name: &str) -> bool {
    WORDS.contains(&name)
        || name.starts_with("log_")
        || name.starts_with("print_")
        || name.starts_with("assert")
        || name.ends_with("Error")
        || name.ends_with("Exception")
        || name.ends_with("Warning")
}

/// Whether the strings given by a keyword of this name are words.
pub(super) fn word_keyword(name: &str) -> bool {
    WORD_KEYWORDS.contains(&name)
}
