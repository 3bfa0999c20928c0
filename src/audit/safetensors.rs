//! safetensors: a header of JSON says the data type of each tensor. There are no operators.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde::Deserialize;

use super::{Format, Model, Note, Source, Unreadable, damaged, limited};

/// The longest header that the format allows, in bytes (safetensors, `MAX_HEADER_SIZE`).
pub(super) const HEADER_LIMIT: u64 = 100_000_000;

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Tensor { dtype: String },
    Metadata(serde::de::IgnoredAny),
}

/// The names of the format by those of PyTorch.
const DTYPES: [(&str, &str); 14] = [
    ("BF16", "bfloat16"),
    ("BOOL", "bool"),
    ("C64", "complex64"),
    ("F16", "float16"),
    ("F32", "float32"),
    ("F64", "float64"),
    ("F8_E4M3", "float8_e4m3fn"),
    ("F8_E5M2", "float8_e5m2"),
    ("I16", "int16"),
    ("I32", "int32"),
    ("I64", "int64"),
    ("I8", "int8"),
    ("U16", "uint16"),
    ("U8", "uint8"),
];

pub(super) fn read(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let mut size = [0; 8];
    source.read_exact(&mut size).map_err(|_| damaged("the file ends within its first number"))?;
    let size = u64::from_le_bytes(size);
    if size > HEADER_LIMIT {
        return Err(Unreadable::TooLarge { what: "the header".into(), limit: HEADER_LIMIT });
    }
    let header = limited::all(source.take(size), HEADER_LIMIT, "the header")?;
    let entries: BTreeMap<String, Entry> = serde_json::from_slice(&header)
        .map_err(|error| damaged(format!("the header is no JSON of safetensors: {error}")))?;
    let mut model = Model::new(Format::Safetensors);
    model.note(Note::NoOperators);
    for entry in entries.into_values() {
        if let Entry::Tensor { dtype } = entry {
            let known = DTYPES.iter().find(|(name, _)| *name == dtype);
            let name = known
                .map_or_else(|| dtype.chars().take(40).collect(), |(_, name)| (*name).to_owned());
            *model.dtypes.entry(name).or_default() += 1;
        }
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn tensors_are_counted_by_type() {
        let header = br#"{"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},"b":{"dtype":"F8_E4M3","shape":[],"data_offsets":[2,3]}}"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        let model = read(&mut Cursor::new(bytes)).unwrap();
        assert_eq!(
            model.dtypes.into_iter().collect::<Vec<_>>(),
            [("bfloat16".to_owned(), 1), ("float8_e4m3fn".to_owned(), 1)]
        );
        assert_eq!(model.notes, [Note::NoOperators]);
        let huge = u64::MAX.to_le_bytes();
        assert!(matches!(read(&mut Cursor::new(huge)), Err(Unreadable::TooLarge { .. })));
    }
}
