//! Arguments that hold a device or a backend, and arguments that hold text for people.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::names::{backend_like, device_like};
use crate::rules::{Parameter, Place};

/// The meaning of a string by its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Want {
    /// A device.
    Device,
    /// A backend of torch.distributed.
    Backend,
    /// The target of `torch.load` for each saved device: a dictionary of devices.
    Location,
    /// The name of an environment variable.
    Variable,
    /// The value of a function parameter that has a separate rule.
    Parameter,
}

impl Want {
    /// All of them.
    pub(super) const ALL: [Self; 5] =
        [Self::Device, Self::Backend, Self::Location, Self::Variable, Self::Parameter];
}

/// The meaning of a string, with its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Role {
    /// The meaning.
    pub want: Want,
    /// The place that it is reported as.
    pub site: Place,
    /// The parameter whose rule decides instead.
    pub parameter: Option<&'static Parameter>,
}

impl Role {
    /// A device, by the rule `site`.
    pub(super) const fn device(site: Place) -> Self {
        Self { want: Want::Device, site, parameter: None }
    }

    /// A backend, by the rule `site`.
    pub(super) const fn backend(site: Place) -> Self {
        Self { want: Want::Backend, site, parameter: None }
    }

    /// The name of an environment variable. Each variable has a separate rule, so `site` is not
    /// used.
    pub(super) const VARIABLE: Self =
        Self { want: Want::Variable, site: Place::DeviceString, parameter: None };

    /// A dictionary that is passed as `map_location`.
    pub(super) const LOCATION: Self =
        Self { want: Want::Location, site: Place::MapLocationDict, parameter: None };

    /// The value of a parameter.
    pub(super) const fn parameter(parameter: &'static Parameter) -> Self {
        Self { want: Want::Parameter, site: Place::DeviceString, parameter: Some(parameter) }
    }
}

/// Functions with a parameter that is a device or backend: its position and its name.
const PARAMETERS: &[(&str, usize, &str, Role)] = &[
    ("torch.device", 0, "type", Role::device(Place::DeviceString)),
    ("torch.set_default_device", 0, "device", Role::device(Place::DefaultDevice)),
    ("torch.get_device_module", 0, "device", Role::device(Place::DeviceString)),
    ("torch.Generator", 0, "device", Role::device(Place::GeneratorDevice)),
    ("torch.amp.autocast", 0, "device_type", Role::device(Place::AutocastDevice)),
    ("torch.amp.GradScaler", 0, "device", Role::device(Place::GradscalerDevice)),
    ("torch.amp.is_autocast_available", 0, "device_type", Role::device(Place::AutocastDevice)),
    ("torch.is_autocast_enabled", 0, "device_type", Role::device(Place::AutocastEnabled)),
    ("torch.get_autocast_dtype", 0, "device_type", Role::device(Place::AutocastDevice)),
    ("torch.set_autocast_enabled", 0, "device_type", Role::device(Place::AutocastDevice)),
    ("torch.set_autocast_dtype", 0, "device_type", Role::device(Place::AutocastDevice)),
    ("torch.load", 1, "map_location", Role::device(Place::MapLocation)),
    ("torch.jit.load", 1, "map_location", Role::device(Place::MapLocation)),
    ("torch.distributed.init_device_mesh", 0, "device_type", Role::device(Place::InitDeviceMesh)),
    ("torch.distributed.DeviceMesh", 0, "device_type", Role::device(Place::DeviceMesh)),
    ("torch.distributed.tensor.DeviceMesh", 0, "device_type", Role::device(Place::DeviceMesh)),
    ("torch.distributed.init_process_group", 0, "backend", Role::backend(Place::BackendString)),
    ("torch.distributed.new_group", 2, "backend", Role::backend(Place::NewGroupBackend)),
    ("torch.distributed.Backend", 0, "name", Role::backend(Place::BackendString)),
    ("torch.distributed.is_backend_available", 0, "backend", Role::backend(Place::BackendString)),
];

/// Methods of tensors and modules whose first argument is a device.
const DEVICE_METHODS: &[&str] = &["to", "to_empty", "cuda", "npu", "to_device", "move_to"];

/// Methods of strings that take a part of the string.
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

/// Functions and methods whose strings are text for people, or name something other than a device.
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

/// Keywords whose strings are text for people.
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
    PARAMETERS
        .iter()
        .find(|(name, at, ..)| *name == path && *at == index)
        .map(|(.., role)| *role)
        .or_else(|| {
            // torch.cuda.set_device("cuda:1"), torch.cuda.synchronize(device), …
            (index == 0 && (path.starts_with("torch.cuda.") || path.starts_with("torch.npu.")))
                .then_some(Role::device(Place::DeviceString))
        })
}

/// The role of the first argument of a method whose object is unknown.
pub(super) fn of_method(name: &str, index: usize) -> Option<Role> {
    (index == 0 && DEVICE_METHODS.contains(&name)).then_some(Role::device(Place::ToDevice))
}

/// The role of a keyword argument of the function `path`.
pub(super) fn named(path: &str, name: &str) -> Option<Role> {
    let parameter =
        PARAMETERS.iter().find(|(function, _, own, _)| *function == path && *own == name);
    parameter.map(|(.., role)| *role)
}

/// The role of a keyword argument of any function.
pub(super) fn keyword(name: &str) -> Option<Role> {
    Some(match name {
        "map_location" => Role::device(Place::MapLocation),
        "pin_memory_device" => Role::device(Place::PinMemoryDevice),
        "backend"
        | "dist_backend"
        | "process_group_backend"
        | "distributed_backend"
        | "ddp_backend" => Role::backend(Place::BackendString),
        _ if backend_like(name) => Role::backend(Place::BackendString),
        _ if device_like(name) => Role::device(Place::DeviceKeyword),
        _ => return None,
    })
}

/// The role that the name of a variable, attribute, key or parameter gives to its values.
pub(super) fn by_name(name: &str) -> Option<Role> {
    if backend_like(name) {
        Some(Role::backend(Place::BackendString))
    } else if device_like(name) {
        Some(Role::device(Place::DeviceString))
    } else {
        None
    }
}

/// Whether `name` is a method of strings that takes a part of the string.
pub(super) fn string_method(name: &str) -> bool {
    STRING_METHODS.contains(&name)
}

/// The same as a set, because every call of a file is checked.
static WORD_FUNCTIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.iter().copied().collect());

/// Whether the string arguments of a function or method of this name are text for people.
pub(super) fn takes_words(name: &str) -> bool {
    WORD_FUNCTIONS.contains(name)
        || name.starts_with("log_")
        || name.starts_with("print_")
        || name.starts_with("assert")
        || name.ends_with("Error")
        || name.ends_with("Exception")
        || name.ends_with("Warning")
}

/// Whether the strings of a keyword argument of this name are text for people.
pub(super) fn word_keyword(name: &str) -> bool {
    WORD_KEYWORDS.contains(&name)
}
