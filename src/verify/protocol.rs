//! What parent and child say to each other.
//!
//! The child gets one [`Order`] as an argument and writes one [`Event`] per line into a pipe.
//! Before every call into the vendor's code it writes [`Event::Call`]: whatever happens next,
//! the parent knows which function did it.

use serde::{Deserialize, Serialize};

/// A step of the ladder. Later ones need what earlier ones prove.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// 0: the libraries load and have the functions.
    #[value(alias = "0")]
    Load,
    /// 1: the runtime opens the device.
    #[value(alias = "1")]
    Runtime,
    /// 2: memory of the device keeps what is copied to it.
    #[value(alias = "2")]
    Memory,
    /// 3: operators compute right numbers.
    #[value(alias = "3")]
    Compute,
    /// 4: a kernel of our own is compiled here and runs on every vector core.
    #[value(alias = "4")]
    Kernel,
    /// 5: devices reach each other's memory, and HCCL sums over them.
    #[value(alias = "5")]
    Fabric,
    /// 6: the same under load, for minutes.
    #[value(alias = "6")]
    Stress,
}

impl Rung {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [
        Self::Load,
        Self::Runtime,
        Self::Memory,
        Self::Compute,
        Self::Kernel,
        Self::Fabric,
        Self::Stress,
    ];

    /// Whether a failure may be the device's own: of the later rungs it may as well be that of
    /// the compiler, a link, another device, or of power and cooling.
    pub const fn blames_device(self) -> bool {
        matches!(self, Self::Runtime | Self::Memory | Self::Compute)
    }

    /// The name, as in the options and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Runtime => "runtime",
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Kernel => "kernel",
            Self::Fabric => "fabric",
            Self::Stress => "stress",
        }
    }

    /// The id of what is found on it.
    pub const fn finding(self) -> &'static str {
        match self {
            Self::Load => "VERIFY-LOAD",
            Self::Runtime => "VERIFY-RUNTIME",
            Self::Memory => "VERIFY-MEMORY",
            Self::Compute => "VERIFY-COMPUTE",
            Self::Kernel => "VERIFY-KERNEL",
            Self::Fabric => "VERIFY-FABRIC",
            Self::Stress => "VERIFY-STRESS",
        }
    }
}

/// How much is tried.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Small shapes that are computed exactly: seconds.
    Quick,
    /// Also larger shapes, random numbers with a tolerance, the speed of copies, a kernel of our
    /// own, and copies between devices.
    Standard,
    /// Also sums over all devices, and minutes of load on idle ones; with `--yes` alone.
    Extended,
}

impl Level {
    /// The rungs that it climbs unless others are named.
    pub const fn rungs(self) -> &'static [Rung] {
        let all: &'static [Rung] = &Rung::ALL;
        match self {
            Self::Quick => all.split_at(4).0,
            Self::Standard => all.split_at(6).0,
            Self::Extended => all,
        }
    }
}

/// An element type that the operators are tried with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32-bit integers.
    Int32,
    /// Half precision.
    Fp16,
    /// Single precision.
    Fp32,
    /// Brain float.
    Bf16,
}

impl Dtype {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Int32, Self::Fp16, Self::Fp32, Self::Bf16];

    /// The name, as in the options and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Fp16 => "fp16",
            Self::Fp32 => "fp32",
            Self::Bf16 => "bf16",
        }
    }
}

/// Which part of the work a child does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// The ladder on one device; without one, the libraries are loaded and the devices counted.
    #[default]
    Ladder,
    /// Copies between these devices, all in one process: memory is shared within one alone.
    Peers {
        /// The devices.
        devices: Vec<i32>,
    },
    /// One rank of a communicator. The first one makes the root information and tells it.
    Rank {
        /// Which.
        rank: u32,
        /// Of how many.
        ranks: u32,
        /// The root information, in hexadecimal digits; none for the first rank.
        root: Option<String>,
    },
    /// Load on one device.
    Stress {
        /// For how long, in milliseconds.
        milliseconds: u64,
    },
}

/// What a child has to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Which part.
    #[serde(default)]
    pub task: Task,
    /// The device to try.
    pub device: Option<i32>,
    /// Where compiled kernels are kept, if anywhere.
    #[serde(default)]
    pub cache: Option<String>,
    /// Which rungs.
    pub rungs: Vec<Rung>,
    /// With which element types.
    pub dtypes: Vec<Dtype>,
    /// How much.
    pub level: Level,
    /// Whether the speed of copies is measured.
    pub speed: bool,
    /// How long one call may be silent, in milliseconds.
    pub silence_ms: u64,
    /// Whether libraries that identify themselves as simulated are used.
    pub allow_simulated: bool,
    /// The process to die with.
    pub parent: u32,
}

impl Order {
    /// The name of the child: of the directory of its logs, and in the report.
    pub fn name(&self) -> String {
        match (&self.task, self.device) {
            (Task::Ladder, None) => "count".to_owned(),
            (Task::Ladder, Some(device)) => format!("device-{device}"),
            (Task::Peers { .. }, _) => "peers".to_owned(),
            (Task::Rank { rank, .. }, _) => format!("rank-{rank}"),
            (Task::Stress { .. }, device) => format!("stress-{}", device.unwrap_or_default()),
        }
    }
}

/// A library that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedLibrary {
    /// Its name.
    pub name: String,
    /// Optional functions that it lacks.
    pub absent: Vec<String>,
}

/// What the child says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// This function of the vendor is called next.
    Call {
        /// The symbol, or `dlopen` with the name of the library.
        function: String,
    },
    /// The libraries are there.
    Loaded {
        /// Which.
        libraries: Vec<LoadedLibrary>,
        /// Whether they are a simulation.
        simulated: bool,
    },
    /// The version of the ACL interface (not that of CANN).
    Interface {
        /// Major, minor, patch.
        version: [i32; 3],
    },
    /// The version of CANN, where it tells.
    Cann {
        /// As it is written, for example `8.3.RC1`.
        version: String,
    },
    /// How many devices this process may use.
    Devices {
        /// The number.
        count: u32,
    },
    /// The chip.
    Soc {
        /// As the runtime names it.
        name: String,
    },
    /// A kernel of our own is ready to run.
    Kernel {
        /// For which architecture, as the compiler names it.
        arch: String,
        /// How many vector cores there are.
        cores: u32,
        /// Whether it was compiled before.
        cached: bool,
    },
    /// Compiled kernels cannot be kept.
    CacheUnusable {
        /// The directory.
        path: String,
        /// Why.
        error: String,
    },
    /// What the other ranks have to be given, in hexadecimal digits.
    Root {
        /// The digits.
        info: String,
    },
    /// What a load on a device gave.
    Load {
        /// How often the operation ran.
        rounds: u64,
        /// How often its result was compared.
        compared: u64,
        /// Trillion floating-point operations a second at the beginning.
        first_tflops: f64,
        /// At the end.
        last_tflops: f64,
        /// Bytes of memory that were written and read back.
        memory_bytes: u64,
    },
    /// A stage begins.
    Begin {
        /// Of this rung.
        rung: Rung,
        /// Its name.
        stage: String,
    },
    /// The stage that began last has ended.
    Stage {
        /// Of this rung.
        rung: Rung,
        /// Its name.
        stage: String,
        /// How long it took by the clock of the host, in milliseconds.
        host_ms: f64,
        /// How long the device worked on it by its own events, in milliseconds, where measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        device_ms: Option<f64>,
        /// The speed of a copy in GB/s, where measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        gb_per_s: Option<f64>,
        /// The largest relative error of random numbers, where there are any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        relative_error: Option<f64>,
        /// What came of it.
        outcome: Outcome,
    },
    /// Everything was done; nothing follows.
    Done,
}

/// What came of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Passed,
    /// Not.
    Failed {
        /// Why.
        fault: Fault,
    },
    /// This chip does not do it.
    NotSupported {
        /// What says so: a rule about chips, or an answer of the library.
        reason: String,
    },
}

/// Why a stage failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// None of these libraries is there.
    NoLibrary {
        /// Their names.
        tried: Vec<String>,
    },
    /// A library is there and cannot be loaded.
    BrokenLibrary {
        /// Its name.
        library: String,
        /// What the loader said.
        error: String,
    },
    /// A library lacks functions that every version has.
    MissingSymbols {
        /// Its name.
        library: String,
        /// The functions.
        symbols: Vec<String>,
    },
    /// A library is a simulation, and that was not asked for.
    Simulated {
        /// Its name.
        library: String,
    },
    /// A function returned an error.
    Call {
        /// The function.
        function: String,
        /// Its code.
        code: i32,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A function of HCCL returned an error: its codes are not those of the runtime.
    Hccl {
        /// The function.
        function: String,
        /// Its code.
        code: i32,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A function returned no object.
    Null {
        /// The function.
        function: String,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// There is no device.
    NoDevice,
    /// There is no such device.
    NoSuchDevice {
        /// The number asked for.
        device: i32,
        /// How many there are.
        count: u32,
    },
    /// Data is not what it should be.
    Wrong(Wrong),
    /// Stripes of a result are wrong, each of which one block computed.
    Stripes {
        /// What is wrong.
        data: Box<Wrong>,
        /// The blocks that were wrong the first time.
        blocks: Vec<u32>,
        /// Those that were wrong the second time too.
        again: Vec<u32>,
        /// How many blocks there were.
        of: u32,
    },
    /// A sum over ranks is wrong.
    Sum {
        /// What is wrong.
        data: Box<Wrong>,
        /// The ranks whose part of it is missing, where that can be told.
        from: Vec<u32>,
    },
}

/// Data that is not what it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wrong {
    /// What was done: `aclnnAdd int32 [65536]`, `host to device and back`.
    pub operation: String,
    /// What is wrong.
    pub what: Place,
    /// How it is wrong.
    pub pattern: Pattern,
    /// How many elements are wrong.
    pub wrong: u64,
    /// Of how many.
    pub total: u64,
    /// The first wrong element.
    pub first: u64,
    /// The last wrong element.
    pub last: u64,
    /// What the first one should be.
    pub expected: String,
    /// What it is.
    pub got: String,
    /// What a second try gave.
    pub again: Again,
}

/// Which data is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The result.
    Result,
    /// Bytes behind the result: something wrote out of bounds.
    Guard,
    /// An input, which nothing may change.
    Input,
    /// The result: it is too far from the right one.
    Tolerance,
}

/// How data is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// One element.
    Single,
    /// Elements side by side.
    Block,
    /// Elements here and there.
    Scattered,
    /// All of them.
    All,
    /// No number.
    Nan,
    /// Zero where other numbers should be.
    Zeros,
    /// Nothing was written: what was put there before is still there.
    Unwritten,
}

impl Pattern {
    /// The name, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Block => "block",
            Self::Scattered => "scattered",
            Self::All => "all",
            Self::Nan => "nan",
            Self::Zeros => "zeros",
            Self::Unwritten => "unwritten",
        }
    }
}

/// What a second try gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// The same wrong data.
    Same,
    /// Other wrong data.
    Different,
    /// Right data.
    Right,
    /// There was none.
    NotTried,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_the_pipe() {
        let wrong = Wrong {
            operation: "aclnnAdd int32".to_owned(),
            what: Place::Result,
            pattern: Pattern::Single,
            wrong: 1,
            total: 9,
            first: 3,
            last: 3,
            expected: "1".to_owned(),
            got: "2".to_owned(),
            again: Again::Same,
        };
        for event in [
            Event::Call { function: "aclInit".to_owned() },
            Event::Stage {
                rung: Rung::Compute,
                stage: "add".to_owned(),
                host_ms: 1.5,
                device_ms: None,
                gb_per_s: None,
                relative_error: None,
                outcome: Outcome::Failed { fault: Fault::Wrong(wrong) },
            },
            Event::Done,
        ] {
            let line = serde_json::to_string(&event).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        }
    }

    #[test]
    fn names_are_those_of_the_options() {
        use clap::ValueEnum as _;
        for rung in Rung::ALL {
            assert_eq!(rung.to_possible_value().unwrap().get_name(), rung.as_str());
        }
        for dtype in Dtype::ALL {
            assert_eq!(dtype.to_possible_value().unwrap().get_name(), dtype.as_str());
        }
    }
}
