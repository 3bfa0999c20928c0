//! ONNX: the protocol buffer fields that name operators.
//!
//! A model holds its weights in the same message as its graph, so the message is not decoded as a
//! unit: the reader walks the fields in the file and skips the others. Field numbers are those of
//! onnx.proto3 (onnx/onnx, IR version 13): `ModelProto` 7 graph, 8 `opset_import`, 25 functions;
//! `GraphProto` 1 node, 5 initializer; `NodeProto` 3 name, 4 `op_type`, 5 attribute, 7 domain;
//! `AttributeProto` 6 g, 11 graphs; `TensorProto` 2 `data_type`; `FunctionProto` 1 name, 7 node, 10
//! domain.

use data::faults;
use std::collections::BTreeSet;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::model::{Format, Model, Note, Op};
use super::source::Source;
use super::unreadable::{Unreadable, damaged};

/// The maximum length of the name of an operator, domain or node, in bytes.
const NAME: u64 = 4096;
/// The maximum depth of nested graphs (the branches of `If`, the body of `Loop`) that are followed.
const DEPTH: usize = 16;
/// The maximum number of functions that a model defines. Real models have some hundred.
const MAX_FUNCTIONS: usize = 100_000;

/// A reader of the message bytes, with its position and the end of the file.
struct Wire<R> {
    reader: BufReader<R>,
    at: u64,
    end: u64,
}

/// A field of a message.
#[derive(Clone, Copy)]
enum Field {
    /// A number.
    Varint(u64),
    /// Bytes, starting at the present position.
    Bytes(u64),
    /// A number of fixed size. None of the needed fields is one.
    Fixed,
}

impl<R: Read + Seek> Wire<R> {
    fn byte(&mut self) -> Result<u8, Unreadable> {
        let mut byte = [0];
        self.reader.read_exact(&mut byte).map_err(|_| damaged(faults::OnnxFieldCut.value()))?;
        self.at += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64, Unreadable> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged(faults::OnnxNumber.value()))
    }

    /// Returns the next field of a message that ends at `end`, with its number.
    fn field(&mut self, end: u64) -> Result<Option<(u64, Field)>, Unreadable> {
        if self.at >= end {
            return Ok(None);
        }
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => {
                self.skip(8)?;
                Field::Fixed
            }
            2 => {
                let length = self.varint()?;
                if length > end.saturating_sub(self.at) {
                    return Err(damaged(
                        faults::OnnxFieldAt { offset: self.at, size: length }.value(),
                    ));
                }
                Field::Bytes(length)
            }
            5 => {
                self.skip(4)?;
                Field::Fixed
            }
            kind => return Err(damaged(faults::OnnxKind { kind }.value())),
        };
        Ok(Some((key >> 3, field)))
    }

    /// Passes every field of a message that ends at `end` to `take`, which returns whether it read
    /// the bytes of the field. Otherwise they are skipped.
    fn each(
        &mut self,
        end: u64,
        mut take: impl FnMut(&mut Self, u64, Field) -> Result<bool, Unreadable>,
    ) -> Result<(), Unreadable> {
        while let Some((number, field)) = self.field(end)? {
            if !take(self, number, field)?
                && let Field::Bytes(length) = field
            {
                self.skip(length)?;
            }
        }
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Unreadable> {
        let to = self.at.saturating_add(bytes);
        let step = i64::try_from(bytes).map_err(|_| damaged(faults::OnnxFieldLong.value()))?;
        if to > self.end {
            return Err(damaged(faults::OnnxFieldCut.value()));
        }
        self.reader.seek_relative(step)?;
        self.at = to;
        Ok(())
    }

    fn text(&mut self, length: u64) -> Result<String, Unreadable> {
        if length > NAME {
            return Err(Unreadable::TooLarge { what: faults::PartModelName.value(), limit: NAME });
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.reader.read_exact(&mut bytes).map_err(|_| damaged(faults::OnnxNameCut.value()))?;
        self.at += length;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

pub(super) fn read(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let end = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    let mut wire = Wire { reader: BufReader::with_capacity(16 << 10, source), at: 0, end };
    let mut model = Model::new(Format::Onnx);
    let mut own = BTreeSet::new();
    let mut graphs = 0;
    wire.each(end, |wire, number, field| {
        match (number, field) {
            (7, Field::Bytes(length)) => {
                graphs += 1;
                graph(wire, length, &mut model, DEPTH)?;
            }
            (8, Field::Bytes(length)) => opset(wire, length, &mut model)?,
            (25, Field::Bytes(length)) => {
                own.insert(function(wire, length, &mut model)?);
                if own.len() > MAX_FUNCTIONS {
                    return Err(damaged(faults::OnnxFunctions.value()));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if graphs == 0 {
        return Err(damaged(faults::OnnxNoGraph.value()));
    }
    // A call of a function that the model defines is already counted by the nodes of the function.
    model.uses.retain(|op, _| !own.contains(&(op.namespace.clone(), op.name.clone())));
    Ok(model)
}

fn domain(text: &str) -> String {
    let name = if text.is_empty() || text == "ai.onnx" { "onnx" } else { text };
    name.chars().take(200).collect()
}

fn graph<R: Read + Seek>(
    wire: &mut Wire<R>,
    length: u64,
    model: &mut Model,
    depth: usize,
) -> Result<(), Unreadable> {
    wire.each(wire.at + length, |wire, number, field| {
        match (number, field) {
            (1, Field::Bytes(length)) => node(wire, length, model, depth)?,
            (5, Field::Bytes(length)) => tensor(wire, length, model)?,
            _ => return Ok(false),
        }
        Ok(true)
    })
}

fn node<R: Read + Seek>(
    wire: &mut Wire<R>,
    length: u64,
    model: &mut Model,
    depth: usize,
) -> Result<(), Unreadable> {
    let (mut name, mut kind, mut space) = (String::new(), String::new(), String::new());
    wire.each(wire.at + length, |wire, number, field| {
        match (number, field) {
            (3, Field::Bytes(length)) => name = wire.text(length)?,
            (4, Field::Bytes(length)) => kind = wire.text(length)?,
            (7, Field::Bytes(length)) => space = wire.text(length)?,
            (5, Field::Bytes(length)) => attribute(wire, length, model, depth)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if kind.is_empty() {
        return Ok(());
    }
    let op = Op { namespace: domain(&space), name: kind, overload: Some(String::new()) };
    model.uses(op, 1, (!name.is_empty()).then_some(name.as_str()));
    Ok(())
}

fn attribute<R: Read + Seek>(
    wire: &mut Wire<R>,
    length: u64,
    model: &mut Model,
    depth: usize,
) -> Result<(), Unreadable> {
    wire.each(wire.at + length, |wire, number, field| {
        let (6 | 11, Field::Bytes(length)) = (number, field) else { return Ok(false) };
        if depth == 0 {
            model.note(Note::TooDeep);
            return Ok(false);
        }
        graph(wire, length, model, depth - 1)?;
        Ok(true)
    })
}

/// Reads the data type of a tensor and skips its values.
fn tensor<R: Read + Seek>(
    wire: &mut Wire<R>,
    length: u64,
    model: &mut Model,
) -> Result<(), Unreadable> {
    wire.each(wire.at + length, |_, number, field| {
        if let (2, Field::Varint(number)) = (number, field)
            && let Some(name) = dtype(number)
        {
            *model.dtypes.entry(name.to_owned()).or_default() += 1;
        }
        Ok(false)
    })
}

fn opset<R: Read + Seek>(
    wire: &mut Wire<R>,
    length: u64,
    model: &mut Model,
) -> Result<(), Unreadable> {
    let (mut space, mut version) = (String::new(), 0);
    wire.each(wire.at + length, |wire, number, field| {
        match (number, field) {
            (1, Field::Bytes(length)) => space = wire.text(length)?,
            (2, Field::Varint(number)) => version = i64::try_from(number).unwrap_or_default(),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if model.opsets.len() < 100 {
        model.opsets.insert(domain(&space), version);
    }
    Ok(())
}

/// Counts the nodes of a function of the model, and returns its domain and name.
fn function<R: Read + Seek>(
    wire: &mut Wire<R>,
    length: u64,
    model: &mut Model,
) -> Result<(String, String), Unreadable> {
    let (mut name, mut space) = (String::new(), String::new());
    wire.each(wire.at + length, |wire, number, field| {
        match (number, field) {
            (1, Field::Bytes(length)) => name = wire.text(length)?,
            (10, Field::Bytes(length)) => space = wire.text(length)?,
            (7, Field::Bytes(length)) => node(wire, length, model, DEPTH)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok((domain(&space), name))
}

/// Converts a `TensorProto.DataType` of onnx.proto3 to the PyTorch name.
fn dtype(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "float32",
        2 => "uint8",
        3 => "int8",
        4 => "uint16",
        5 => "int16",
        6 => "int32",
        7 => "int64",
        9 => "bool",
        10 => "float16",
        11 => "float64",
        12 => "uint32",
        13 => "uint64",
        14 => "complex64",
        15 => "complex128",
        16 => "bfloat16",
        17 => "float8_e4m3fn",
        18 => "float8_e4m3fnuz",
        19 => "float8_e5m2",
        20 => "float8_e5m2fnuz",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2];
        let mut length = content.len();
        while length >= 0x80 {
            bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        bytes.push(u8::try_from(length).unwrap());
        bytes.extend(content);
        bytes
    }

    fn op(kind: &str, more: &[u8]) -> Vec<u8> {
        field(1, &[field(4, kind.as_bytes()), more.to_vec()].concat())
    }

    fn names(bytes: Vec<u8>) -> Result<Vec<String>, Unreadable> {
        let model = read(&mut Cursor::new(bytes))?;
        Ok(model.uses.iter().map(|(op, used)| format!("{op} {}", used.count)).collect())
    }

    #[test]
    fn nodes_are_counted_in_graphs_and_their_branches() {
        let inner = field(5, &field(6, &op("Relu", &[])));
        let weights = field(5, &[vec![2 << 3, 16], field(9, &[0; 300])].concat());
        let graph =
            [op("If", &inner), op("Relu", &[]), op("Gelu", &field(7, b"com.microsoft")), weights]
                .concat();
        let model = field(7, &graph);
        assert_eq!(
            names(model.clone()).unwrap(),
            ["com.microsoft::Gelu 1", "onnx::If 1", "onnx::Relu 2"]
        );
        assert_eq!(read(&mut Cursor::new(model)).unwrap().dtypes["bfloat16"], 1);
    }

    #[test]
    fn lengths_that_lie_are_told() {
        for bytes in [
            vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f],
            vec![0x3a, 2, 0x0a, 0x7f],
            vec![0xff; 12],
            vec![],
        ] {
            assert!(matches!(names(bytes), Err(Unreadable::Damaged { .. })));
        }
    }
}
