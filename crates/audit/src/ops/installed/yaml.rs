//! YAML of registration files: texts, lists and maps, built from the events of the parser.
//!
//! `serde` is not used: a YAML deserializer adds merge keys, aliases, all number notations and
//! excerpts in error messages. Together they add a third of a megabyte for two kinds of files.

use std::collections::BTreeMap;

use data::{Fault, fault, faults};
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};

/// The maximum nesting depth. The files nest three deep.
const MAX_DEPTH: usize = 64;
/// The maximum number of texts, lists and maps in a file; `native_functions.yaml` has some 40,000.
const MAX_NODES: usize = 250_000;

/// A place in the text: line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(usize, usize);

impl Place {
    fn of(span: &Span) -> Self {
        Self(span.start.line(), span.start.col() + 1)
    }

    /// Returns a fault at this place.
    pub fn fail(self, what: impl fault::Value) -> Fault {
        faults::YamlAt { column: self.1, line: self.0, what }.fault()
    }
}

/// A value and its place.
#[derive(Debug)]
pub struct Node {
    /// The start of the value.
    pub place: Place,
    /// The value.
    pub value: Value,
}

/// A text, a list or a map.
#[derive(Debug)]
pub enum Value {
    /// An empty value, or `null`.
    Null,
    /// A text, and whether it is written as a number or a truth value.
    Text(String, bool),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping.
    Map(BTreeMap<String, Node>),
}

impl Node {
    /// Returns the elements.
    ///
    /// # Errors
    ///
    /// Returns a fault if the value is not a list.
    pub fn list(self) -> Result<Vec<Self>, Fault> {
        match self.value {
            Value::List(all) => Ok(all),
            _ => Err(self.place.fail(faults::YamlListExpected.fault())),
        }
    }

    /// Returns the entries.
    ///
    /// # Errors
    ///
    /// Returns a fault if the value is not a map.
    pub fn map(self) -> Result<BTreeMap<String, Self>, Fault> {
        match self.value {
            Value::Map(all) => Ok(all),
            _ => Err(self.place.fail(faults::YamlMapExpected.fault())),
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    ///
    /// Returns a fault if the value is not a text.
    pub fn text(self) -> Result<String, Fault> {
        match self.value {
            Value::Text(text, _) => Ok(text),
            _ => Err(self.place.fail(faults::YamlTextExpected.fault())),
        }
    }

    /// Returns the node, or `None` if it is `null`.
    pub fn there(self) -> Option<Self> {
        (!matches!(self.value, Value::Null)).then_some(self)
    }
}

/// Reads the document of a text; `None` if it has none.
///
/// # Errors
///
/// Returns a fault if the text is not YAML, has more than one document, or uses features that no
/// registration file has: keys that are not texts, aliases.
pub fn read(text: &str) -> Result<Option<Node>, Fault> {
    let mut reader = Reader { events: Parser::new_from_str(text), nodes: 0 };
    let mut document = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(document),
            Event::DocumentStart(..) if document.is_some() => {
                return Err(Place::of(&span).fail(faults::YamlDocuments.fault()));
            }
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => document = Some(reader.node(event, &span, 0)?),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Fault> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let place = Place(error.marker().line(), error.marker().col() + 1);
                Err(place.fail(fault::quote(&error.kind().to_string())))
            }
            None => Err(faults::YamlEnds.fault()),
        }
    }

    fn node(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<Node, Fault> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(Place::of(span).fail(faults::YamlSize.fault()));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => scalar(text.into_owned(), style),
            Event::SequenceStart(..) => {
                let mut all = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        break Value::List(all);
                    }
                    all.push(self.node(event, &span, depth + 1)?);
                }
            }
            Event::MappingStart(..) => {
                let mut all = BTreeMap::new();
                loop {
                    let (event, span) = self.next()?;
                    let key = match event {
                        Event::MappingEnd => break Value::Map(all),
                        Event::Scalar(key, ..) if key != "<<" => key.into_owned(),
                        _ => return Err(Place::of(&span).fail(faults::YamlTextExpected.fault())),
                    };
                    let (event, place) = self.next()?;
                    let value = self.node(event, &place, depth + 1)?;
                    if all.contains_key(&key) {
                        return Err(Place::of(&span).fail(faults::YamlDuplicate { key }.fault()));
                    }
                    all.insert(key, value);
                }
            }
            _ => return Err(Place::of(span).fail(faults::YamlAlias.fault())),
        };
        Ok(Node { place: Place::of(span), value })
    }
}

/// An unquoted scalar can be null, a truth value or a number.
fn scalar(text: String, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text, false);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Value::Text(text, true),
        _ => {
            let number = text.parse::<f64>().is_ok();
            Value::Text(text, number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lists_and_maps_are_read() {
        let text = "# c\na: [x, 'null', 3]\nb:\n  - c: d\n    e:\n  - ~\n";
        let mut all = read(text).unwrap().unwrap().map().unwrap();
        let a = all.remove("a").unwrap().list().unwrap();
        let a: Vec<String> = a.into_iter().map(|node| node.text().unwrap()).collect();
        assert_eq!(a, ["x", "null", "3"]);
        let mut b = all.remove("b").unwrap().list().unwrap();
        assert!(b.pop().unwrap().there().is_none());
        let mut c = b.pop().unwrap().map().unwrap();
        assert_eq!(c.remove("c").unwrap().text().unwrap(), "d");
        assert!(c.remove("e").unwrap().there().is_none());
        assert!(read("# nothing\n").unwrap().is_none());
    }

    #[test]
    fn mistakes_have_places() {
        let place = |text: &str| {
            let error = read(text).map(|_| ()).unwrap_err().text().en;
            error.split(": ").next().unwrap().to_owned()
        };
        assert_eq!(place("a: 1\na: 2\n"), "line 2 column 1");
        assert_eq!(place("a: 1\n---\nb: 2\n"), "line 2 column 1");
        assert_eq!(place("a: [*b]\n"), "line 1 column 5");
        assert_eq!(place("a: &x [b]\nc: *x\n"), "line 2 column 4");
        assert_eq!(place("? [a]\n: b\n"), "line 1 column 3");
        assert_eq!(place("a: [\n"), "line 1 column 4");
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep = "a: ".to_owned() + &"[".repeat(200) + &"]".repeat(200);
        assert!(read(&deep).is_err());
        let many = "- x\n".repeat(MAX_NODES);
        assert!(read(&many).unwrap_err().text().en.contains("too many"));
        assert!(read(&"- x\n".repeat(1000)).is_ok());
    }
}
