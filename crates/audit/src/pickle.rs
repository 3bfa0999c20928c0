//! The pickle in an archive of `torch.save`: the data types of its tensors.
//!
//! A pickle is a program. The reader does not run it: it steps over the instructions and collects
//! only the names of classes that they would load. The names of PyTorch storages identify data
//! types. Any other class means that the pickle is more than a dictionary of tensors.

use data::faults;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::model::{Format, Model, Note};
use super::unreadable::{Unreadable, damaged};

/// The maximum number of memoized values.
const MOST_MEMOS: usize = 1 << 20;
/// The maximum number of class names that are kept.
const MOST_CLASSES: usize = 20;

/// The PyTorch storages and their data types.
const STORAGES: [(&str, &str); 12] = [
    ("BFloat16Storage", "bfloat16"),
    ("BoolStorage", "bool"),
    ("ByteStorage", "uint8"),
    ("CharStorage", "int8"),
    ("ComplexDoubleStorage", "complex128"),
    ("ComplexFloatStorage", "complex64"),
    ("DoubleStorage", "float64"),
    ("FloatStorage", "float32"),
    ("HalfStorage", "float16"),
    ("IntStorage", "int32"),
    ("LongStorage", "int64"),
    ("ShortStorage", "int16"),
];

/// The value that an instruction pushes on the stack, as far as it matters here.
#[derive(Clone)]
enum Value {
    Text(String),
    /// A storage of this data type.
    Storage(&'static str),
    Other,
}

/// The names in a pickle.
#[derive(Default)]
struct Names {
    dtypes: BTreeMap<String, u64>,
    classes: BTreeSet<String>,
}

struct Steps<'a> {
    rest: &'a [u8],
}

impl<'a> Steps<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| damaged(faults::PickleInstructionCut.value()))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a little-endian number of `width` bytes.
    fn number(&mut self, width: usize) -> Result<usize, Unreadable> {
        let bytes = self.take(width)?;
        let number = bytes.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        usize::try_from(number).map_err(|_| damaged(faults::PickleLength.value()))
    }

    fn sized(&mut self, width: usize) -> Result<&'a [u8], Unreadable> {
        let length = self.number(width)?;
        self.take(length)
    }

    fn line(&mut self) -> Result<&'a [u8], Unreadable> {
        let end = memchr::memchr(b'\n', self.rest)
            .ok_or_else(|| damaged(faults::PickleLineCut.value()))?;
        let line = self.take(end + 1)?;
        Ok(&line[..end])
    }
}

fn text(bytes: &[u8]) -> Value {
    // Class names are short.
    let short = &bytes[..bytes.len().min(200)];
    Value::Text(String::from_utf8_lossy(short).into_owned())
}

impl Names {
    fn global(&mut self, module: &str, name: &str) -> Value {
        let storage = STORAGES.iter().find(|(known, _)| *known == name);
        if let Some((_, dtype)) = storage
            && (module == "torch" || module == "torch.storage" || module == "torch.cuda")
        {
            return Value::Storage(dtype);
        }
        let harmless = match module {
            "torch" | "torch.storage" | "collections" | "builtins" | "__builtin__" => {
                // Data types, sizes, devices. New data types are named like `torch.float8_e4m3fn`.
                !["eval", "exec", "getattr", "__import__", "open"].contains(&name)
            }
            "torch._utils" => name.starts_with("_rebuild"),
            "torch.nn.parameter" => name == "Parameter",
            "_codecs" => name == "encode",
            _ => false,
        };
        if !harmless && self.classes.len() < MOST_CLASSES {
            self.classes.insert(format!("{module}.{name}"));
        }
        if module == "torch" && (name.starts_with("float8") || name.starts_with("uint")) {
            *self.dtypes.entry(name.to_owned()).or_default() += 1;
        }
        Value::Other
    }
}

/// Steps over every instruction (Lib/pickletools.py of CPython, protocols 0 to 5).
fn names(bytes: &[u8]) -> Result<Names, Unreadable> {
    let mut steps = Steps { rest: bytes };
    let mut names = Names::default();
    let mut memos: HashMap<usize, Value> = HashMap::new();
    // The last two values are needed for STACK_GLOBAL, and the last storage for BINPERSID.
    let (mut below, mut top) = (Value::Other, Value::Other);
    let mut storage = None;
    while let Some((code, rest)) = steps.rest.split_first() {
        steps.rest = rest;
        let pushed = match code {
            b'.' => return Ok(names),
            0x80 | 0x82 => {
                steps.take(1)?;
                None
            }
            0x83 => {
                steps.take(2)?;
                None
            }
            0x84 => {
                steps.take(4)?;
                None
            }
            0x95 => {
                steps.take(8)?;
                None
            }
            b'K' => steps.take(1).map(|_| Some(Value::Other))?,
            b'M' => steps.take(2).map(|_| Some(Value::Other))?,
            b'J' => steps.take(4).map(|_| Some(Value::Other))?,
            b'G' => steps.take(8).map(|_| Some(Value::Other))?,
            b'U' | 0x8c => Some(text(steps.sized(1)?)),
            b'T' | b'X' => Some(text(steps.sized(4)?)),
            0x8d => Some(text(steps.sized(8)?)),
            b'C' | 0x8a => steps.sized(1).map(|_| Some(Value::Other))?,
            b'B' | 0x8b => steps.sized(4).map(|_| Some(Value::Other))?,
            0x8e | 0x96 => steps.sized(8).map(|_| Some(Value::Other))?,
            b'I' | b'L' | b'F' | b'P' => steps.line().map(|_| Some(Value::Other))?,
            b'S' | b'V' => Some(text(steps.line()?)),
            b'c' | b'i' => {
                let module = String::from_utf8_lossy(steps.line()?);
                let name = String::from_utf8_lossy(steps.line()?);
                Some(names.global(&module, &name))
            }
            0x93 => {
                let value = if let (Value::Text(module), Value::Text(name)) = (&below, &top) {
                    names.global(module, name)
                } else {
                    names.classes.insert("?".to_owned());
                    Value::Other
                };
                Some(value)
            }
            b'p' | b'q' | b'r' | 0x94 => {
                let index = match code {
                    b'p' => String::from_utf8_lossy(steps.line()?).trim().parse().unwrap_or(0),
                    b'q' => steps.number(1)?,
                    b'r' => steps.number(4)?,
                    _ => memos.len(),
                };
                if memos.len() < MOST_MEMOS {
                    memos.insert(index, top.clone());
                }
                None
            }
            b'g' | b'h' | b'j' => {
                let index = match code {
                    b'g' => String::from_utf8_lossy(steps.line()?).trim().parse().unwrap_or(0),
                    b'h' => steps.number(1)?,
                    _ => steps.number(4)?,
                };
                Some(memos.get(&index).cloned().unwrap_or(Value::Other))
            }
            b'Q' => {
                if let Some(dtype) = storage {
                    *names.dtypes.entry(str::to_owned(dtype)).or_default() += 1;
                }
                Some(Value::Other)
            }
            b'('
            | b')'
            | b'0'
            | b'1'
            | b'2'
            | b'N'
            | b'R'
            | b'a'
            | b'b'
            | b'd'
            | b'}'
            | b'e'
            | b'l'
            | b']'
            | b'o'
            | b's'
            | b't'
            | b'u'
            | 0x81
            | 0x85..=0x89
            | 0x8f..=0x92
            | 0x97
            | 0x98 => Some(Value::Other),
            _ => {
                return Err(damaged(
                    faults::PickleUnknown { code: format!("{code:#04x}") }.value(),
                ));
            }
        };
        if let Some(value) = pushed {
            if let Value::Storage(dtype) = value {
                storage = Some(dtype);
            }
            below = std::mem::replace(&mut top, value);
        }
    }
    Err(damaged(faults::PickleNoEnd.value()))
}

/// Reads the data types of the tensors in a pickle.
///
/// # Errors
///
/// Returns an error if the pickle would load more than tensors, or is damaged.
pub(super) fn read(bytes: &[u8]) -> Result<Model, Unreadable> {
    let names = names(bytes)?;
    if !names.classes.is_empty() || names.dtypes.is_empty() {
        return Err(Unreadable::Pickle { classes: names.classes.into_iter().collect() });
    }
    let mut model = Model::new(Format::StateDict);
    model.dtypes = names.dtypes;
    model.note(Note::NoOperators);
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary of two tensors as written by `torch.save`. The second tensor takes the name of
    /// the storage from the memo.
    #[test]
    fn data_types_of_a_dictionary_of_tensors_are_counted() {
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01ctorch._utils\n_rebuild_tensor_v2\nq\x02((X\x07\x00\x00\x00storageq\x03ctorch\nBFloat16Storage\nq\x04X\x01\x00\x00\x000q\x05X\x03\x00\x00\x00cpuq\x06K\x04tq\x07QK\x00K\x04\x85q\x08K\x01\x85q\tccollections\nOrderedDict\nq\n)Rq\x0btq\x0cRq\rX\x01\x00\x00\x00bq\x0eh\x02((h\x03h\x04X\x01\x00\x00\x001q\x0fh\x06K\x02tq\x10QK\x00tq\x11Rq\x12u.";
        let model = read(bytes).unwrap();
        assert_eq!(model.dtypes.into_iter().collect::<Vec<_>>(), [("bfloat16".to_owned(), 2)]);
    }

    #[test]
    fn classes_of_more_than_tensors_are_named() {
        let module = b"\x80\x02ctorchvision.models.resnet\nResNet\nq\x00)\x81q\x01.";
        let error = read(module).unwrap_err();
        assert!(error.to_string().contains("torchvision.models.resnet.ResNet"), "{error}");
        let hidden = b"\x80\x04\x8c\x02os\x8c\x06system\x93.";
        assert!(read(hidden).unwrap_err().to_string().contains("os.system"));
    }

    #[test]
    fn what_ends_too_early_is_told() {
        for bytes in [&b""[..], b"\x80", b"\x80\x02X\xff\xff\xff\xff", b"c", b"\x80\x02\xfe."] {
            assert!(matches!(read(bytes), Err(Unreadable::Damaged { .. })), "{bytes:?}");
        }
    }
}
