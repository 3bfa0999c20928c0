//! safetensors: a JSON header with the data type of each tensor, without operators. The tensors are
//! not read, but must exist: a truncated file is damaged.

use data::faults;
use std::fmt;
use std::io::{BufReader, Read as _, SeekFrom};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::model::{Format, Model, Note};
use super::source::Source;
use super::strings::{LONGEST_STRING, Strings};
use super::unreadable::{Unreadable, damaged};

/// The maximum header size of the format, in bytes (safetensors, `MAX_HEADER_SIZE`).
pub(super) const HEADER_LIMIT: u64 = 100_000_000;

/// The maximum number of dimensions that are kept of a shape. A malicious shape may be as long as
/// the header.
const SIDES: usize = 16;

/// A tensor in the header.
#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Shape,
    data_offsets: (u64, u64),
}

/// The shape of a tensor.
struct Shape {
    /// The first dimensions.
    first: Vec<u64>,
    /// The product of all dimensions, if it fits into 64 bits.
    elements: Option<u64>,
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sides;
        impl<'de> Visitor<'de> for Sides {
            type Value = Shape;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("the sides of a tensor")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sides: A) -> Result<Shape, A::Error> {
                let mut shape = Shape { first: Vec::new(), elements: Some(1) };
                while let Some(side) = sides.next_element::<u64>()? {
                    shape.elements = shape.elements.and_then(|all| all.checked_mul(side));
                    if shape.first.len() < SIDES {
                        shape.first.push(side);
                    }
                }
                Ok(shape)
            }
        }
        deserializer.deserialize_seq(Sides)
    }
}

/// Reads the header and keeps only the facts that the model uses.
struct Header<'m> {
    model: &'m mut Model,
    /// The number of bytes after the header.
    data: u64,
    /// The current tensor.
    at: &'m mut String,
    /// The first contradiction.
    wrong: &'m mut Option<base::text::Text>,
}

impl<'de> DeserializeSeed<'de> for Header<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Header<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(name) = entries.next_key::<String>()? {
            if name == METADATA {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            *self.at = name.chars().take(80).collect();
            let Tensor { dtype, shape, data_offsets } = entries.next_value()?;
            let known = DTYPES.iter().find(|(name, ..)| *name == dtype);
            let bytes = known.map(|(.., bytes)| *bytes);
            if let Err(why) = fits(&shape, bytes, data_offsets, self.data) {
                *self.wrong = Some(why);
                return Err(serde::de::Error::custom("a tensor does not fit"));
            }
            let dtype = known.map_or_else(
                || dtype.chars().take(40).collect(),
                |(_, name, _)| (*name).to_owned(),
            );
            *self.model.dtypes.entry(dtype).or_default() += 1;
            self.at.clear();
        }
        Ok(())
    }
}

/// The key of the only header entry that is not a tensor.
const METADATA: &str = "__metadata__";

/// The names in the format, with the PyTorch names and the bytes of one number.
const DTYPES: [(&str, &str, u64); 14] = [
    ("BF16", "bfloat16", 2),
    ("BOOL", "bool", 1),
    ("C64", "complex64", 8),
    ("F16", "float16", 2),
    ("F32", "float32", 4),
    ("F64", "float64", 8),
    ("F8_E4M3", "float8_e4m3fn", 1),
    ("F8_E5M2", "float8_e5m2", 1),
    ("I16", "int16", 2),
    ("I32", "int32", 4),
    ("I64", "int64", 8),
    ("I8", "int8", 1),
    ("U16", "uint16", 2),
    ("U8", "uint8", 1),
];

pub(super) fn read(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let length = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    let mut size = [0; 8];
    source.read_exact(&mut size).map_err(|_| damaged(faults::SafetensorsCut.value()))?;
    let size = u64::from_le_bytes(size);
    if size > HEADER_LIMIT {
        return Err(damaged(faults::HeaderOverLimit { size, limit: HEADER_LIMIT }.value()));
    }
    let Some(data) = length.checked_sub(8 + size) else {
        return Err(damaged(faults::HeaderCut { size }.value()));
    };
    let mut model = Model::new(Format::Safetensors);
    model.note(Note::NoOperators);
    let (mut at, mut wrong) = (String::new(), None);
    let text = Strings::new(BufReader::with_capacity(1 << 16, source.take(size)));
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, text));
    let header = Header { model: &mut model, data, at: &mut at, wrong: &mut wrong };
    let read = header.deserialize(&mut json).and_then(|()| json.end());
    if let Some(why) = wrong {
        return Err(damaged(faults::Tensor { name: &at, why }.value()));
    }
    read.map_err(|error| match error.classify() {
        Category::Io if error.io_error_kind() == Some(std::io::ErrorKind::InvalidData) => {
            let what = faults::PartHeaderString.value();
            Unreadable::TooLarge { what, limit: LONGEST_STRING as u64 }
        }
        Category::Io => Unreadable::Io(error.into()),
        Category::Data if !at.is_empty() => damaged(faults::EntryNotTensor { name: &at }.value()),
        _ => damaged(faults::SafetensorsHeader { why: &error }.value()),
    })?;
    Ok(model)
}

/// Checks that a tensor is within the `data` bytes after the header and has the declared size.
fn fits(
    shape: &Shape,
    bytes: Option<u64>,
    (begin, end): (u64, u64),
    data: u64,
) -> Result<(), base::text::Text> {
    let Some(size) = end.checked_sub(begin) else {
        return Err(faults::TensorEndsBefore { begin, end }.value());
    };
    if end > data {
        return Err(faults::TensorEndsAfter { data, end }.value());
    }
    // The size of an unknown data type cannot be checked.
    let Some(bytes) = bytes else { return Ok(()) };
    let wanted = shape.elements.and_then(|all| all.checked_mul(bytes));
    if wanted != Some(size) {
        let shape = &shape.first;
        return Err(faults::TensorSize { size, shape: format!("{shape:?}") }.value());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn tensors_are_counted_by_type() {
        let header = br#"{"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},"b":{"dtype":"F8_E4M3","shape":[],"data_offsets":[2,3]}}"#;
        let file = |header: &[u8], data: usize| {
            let length = (header.len() as u64).to_le_bytes();
            [&length[..], header, &vec![0; data]].concat()
        };
        let bytes = file(header, 3);
        let model = read(&mut Cursor::new(bytes)).unwrap();
        assert_eq!(
            model.dtypes.into_iter().collect::<Vec<_>>(),
            [("bfloat16".to_owned(), 1), ("float8_e4m3fn".to_owned(), 1)]
        );
        assert_eq!(model.notes, [Note::NoOperators]);
        let damaged = |bytes: Vec<u8>, says: &str| {
            let error = read(&mut Cursor::new(bytes)).unwrap_err();
            let told = error.to_string();
            assert!(matches!(error, Unreadable::Damaged { .. }) && told.contains(says), "{told}");
        };
        damaged(u64::MAX.to_le_bytes().to_vec(), "the format allows");
        damaged(file(header, 2), "`b` ends at byte 3, but the data has only 2 bytes");
        damaged(file(header, 3)[..40].to_vec(), "within the safetensors header");
        let one = |tensor: &str| file(format!("{{\"a\":{tensor}}}").as_bytes(), 8);
        damaged(one(r#"{"dtype":"F32","shape":[3],"data_offsets":[0,8]}"#), "its shape [3]");
        let large = r#"{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,8]}"#;
        damaged(one(large), "do not match its shape");
        damaged(one(r#"{"dtype":"F32","shape":[2],"data_offsets":[8,0]}"#), "before its start");
        damaged(one("7"), "header entry `a` is not a tensor");
        // The element size of other data types is unknown.
        let odd = one(r#"{"dtype":"F4","shape":[16],"data_offsets":[0,8]}"#);
        assert_eq!(read(&mut Cursor::new(odd)).unwrap().dtypes["F4"], 1);
    }
}
