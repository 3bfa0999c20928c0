//! Profiler traces (`torch.profiler`, `torch_npu.profiler`'s `trace_view.json`): the operator
//! events in JSON.
//!
//! A trace may have any size, so events are read one at a time and not kept.

use data::faults;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufReader, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::model::{Format, Model, Op};
use super::strings::{LONGEST_STRING, Strings};
use super::unreadable::{Unreadable, damaged};

/// An event with the needed fields.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    dur: Option<Scalar>,
    #[serde(default)]
    ph: Option<String>,
    #[serde(default)]
    ts: Option<Scalar>,
    #[serde(default)]
    tid: Option<Scalar>,
}

/// The maximum number of threads whose open operators are kept.
const MOST_THREADS: usize = 10_000;
/// The operator by which a fallback copies its arguments to the host.
const TO_CPU: &str = "aten::_to_cpu";
/// The maximum number of nested operators that are kept.
const DEEPEST: usize = 1_000;

/// The unfinished operators of each thread, with their end times.
#[derive(Default)]
struct Open(HashMap<String, Vec<(f64, String)>>);

/// The nesting of an operator in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Not within another operator.
    Outermost,
    /// Within another operator.
    Inside,
    /// Within an operator of the same name: the same work, which PyTorch's own summary counts once.
    Again,
}

impl Open {
    fn standing(&mut self, event: &Event, name: &str, lasts: f64) -> (Standing, Option<String>) {
        let (Some(tid), Some(began)) = (&event.tid, event.ts.as_ref().and_then(Scalar::value))
        else {
            return (Standing::Outermost, None);
        };
        let tid = tid.key();
        if !self.0.contains_key(&tid) && self.0.len() >= MOST_THREADS {
            return (Standing::Outermost, None);
        }
        let stack = self.0.entry(tid).or_default();
        while stack.last().is_some_and(|(end, _)| *end <= began) {
            stack.pop();
        }
        let standing = match stack.last() {
            None => Standing::Outermost,
            Some((_, outer)) if outer == name => Standing::Again,
            Some(_) => Standing::Inside,
        };
        // An operator that copies its arguments to the host computes there
        // (`at::native::cpu_fallback` of PyTorch's CPUFallback.cpp).
        let outer = (name == TO_CPU).then(|| stack.last().map(|(_, outer)| outer.clone()));
        if stack.len() < DEEPEST {
            stack.push((began + lasts, name.to_owned()));
        }
        (standing, outer.flatten())
    }
}

/// A number or a short text. Values of other types are skipped, regardless of their size.
#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Number(f64),
    Text(String),
    Other,
}

/// The maximum length of the text of a [`Scalar`].
const LONGEST_SCALAR: usize = 64;

impl Scalar {
    /// Returns the number. `torch_npu` writes numbers as text.
    fn value(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Other => None,
        }
        .filter(|value| value.is_finite() && *value >= 0.0)
    }

    /// Returns the name of a thread.
    fn key(&self) -> String {
        match self {
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
            Self::Other => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }

            #[expect(clippy::cast_precision_loss, reason = "a time, or the number of a thread")]
            fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value as f64))
            }

            #[expect(clippy::cast_precision_loss, reason = "a time, or the number of a thread")]
            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value as f64))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.chars().take(LONGEST_SCALAR).collect()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Reads the operators of a trace.
///
/// Returns `None` for JSON without a list of events.
pub(super) fn read(source: &mut dyn Read) -> Result<Option<Model>, Unreadable> {
    let mut model = Model::new(Format::Trace);
    let mut seen = HashMap::new();
    let mut open = Open::default();
    let mut events = false;
    let text = Strings::new(BufReader::with_capacity(1 << 20, source));
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, text));
    let trace = Trace { model: &mut model, seen: &mut seen, open: &mut open, events: &mut events };
    trace.deserialize(&mut json).map_err(|error| {
        let long = error.io_error_kind() == Some(std::io::ErrorKind::InvalidData);
        let limit = LONGEST_STRING as u64;
        match error.classify() {
            serde_json::error::Category::Io if long => {
                Unreadable::TooLarge { what: faults::PartTraceString.value(), limit }
            }
            serde_json::error::Category::Io => Unreadable::Io(error.into()),
            _ => damaged(faults::BrokenJson { why: &error }.value()),
        }
    })?;
    Ok(events.then_some(model))
}

/// An object with `traceEvents`, or the list of events itself.
struct Trace<'a> {
    model: &'a mut Model,
    seen: &'a mut HashMap<String, Option<Op>>,
    open: &'a mut Open,
    /// Whether there is a list of events.
    events: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Trace<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Trace<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events, or an object with `traceEvents`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                map.next_value_seed(Trace {
                    model: &mut *self.model,
                    seen: &mut *self.seen,
                    open: &mut *self.open,
                    events: &mut *self.events,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        *self.events = true;
        while let Some(event) = seq.next_element::<Event>()? {
            if event.ph.as_deref().is_some_and(|kind| kind != "X") {
                continue;
            }
            let Some(name) = event.name.as_ref() else { continue };
            if name.len() > super::model::LONGEST_NAME {
                continue;
            }
            if !self.seen.contains_key(name) && self.seen.len() < super::model::MOST_OPERATORS {
                let op = name.contains("::").then(|| Op::parse(name, false)).flatten();
                self.seen.insert(name.clone(), op);
            }
            let Some(Some(op)) = self.seen.get(name) else { continue };
            let time = event.dur.as_ref().and_then(Scalar::value);
            let (standing, fell_back) = self.open.standing(&event, name, time.unwrap_or_default());
            if let Some(Some(Some(outer))) = fell_back.map(|name| self.seen.get(&name))
                && let Some(used) = self.model.uses.get_mut(outer)
            {
                used.fell_back += 1;
            }
            if standing == Standing::Again {
                continue;
            }
            self.model.uses(op.clone(), 1, None);
            if let Some(used) = self.model.uses.get_mut(op) {
                used.inside += u64::from(standing == Standing::Inside);
                if let Some(time) = time {
                    *used.micros.get_or_insert_default() += time;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_operators_are_counted_with_their_time() {
        let text = r#"{"schemaVersion":1,"traceEvents":[{"ph":"X","name":"aten::mm","dur":2.5,"args":{"a":[1,{"b":2}]}},
            {"ph":"X","name":"aten::mm","dur":"1.5"},{"ph":"M","name":"aten::add"},{"name":"ProfilerStep#1","ph":"X"}],"x":{}}"#;
        let model = read(&mut text.as_bytes()).unwrap().unwrap();
        assert_eq!(model.uses.len(), 1);
        let used = &model.uses[&Op::aten("mm")];
        assert_eq!((used.count, used.micros), (2, Some(4.0)));
        let nested = r#"[{"ph":"X","name":"aten::sum","ts":10,"dur":5,"tid":1},{"ph":"X","name":"aten::sum","ts":11,"dur":3,"tid":1},
            {"ph":"X","name":"aten::sum","ts":15,"dur":1,"tid":1},{"ph":"X","name":"aten::sum","ts":11,"dur":1,"tid":2}]"#;
        let model = read(&mut nested.as_bytes()).unwrap().unwrap();
        let used = &model.uses[&Op::aten("sum")];
        assert_eq!((used.count, used.micros), (3, Some(7.0)));
        let list = r#"[{"ph":"X","name":"npu::npu_rms_norm","dur":1}]"#;
        assert_eq!(read(&mut list.as_bytes()).unwrap().unwrap().uses.len(), 1);
        let fallback = r#"[{"ph":"X","name":"aten::mode","ts":10,"dur":9,"tid":1},{"ph":"X","name":"aten::_to_cpu","ts":11,"dur":3,"tid":1},
            {"ph":"X","name":"aten::add","ts":30,"dur":1,"tid":1},{"ph":"X","name":"aten::_to_cpu","ts":40,"dur":1,"tid":1}]"#;
        let model = read(&mut fallback.as_bytes()).unwrap().unwrap();
        assert_eq!(model.uses[&Op::aten("mode")].fell_back, 1);
        assert_eq!(model.uses[&Op::aten("add")].fell_back, 0);
        assert_eq!(read(&mut &b"{\"a\": 1}"[..]).unwrap(), None);
        // Fields of unexpected types are skipped.
        let odd = r#"[{"ph":"X","name":"aten::mm","ts":[1,[2]],"dur":{"a":1},"tid":null},{"name":"aten::mm","dur":true}]"#;
        assert_eq!(read(&mut odd.as_bytes()).unwrap().unwrap().uses[&Op::aten("mm")].count, 2);
        assert!(read(&mut &b"{\"traceEvents\":[{"[..]).is_err());
    }
}
