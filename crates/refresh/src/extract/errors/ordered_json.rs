//! JSON objects in the order of their file.

use std::fmt;
use std::marker::PhantomData;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

/// Members of an object, in the order of the file.
#[derive(Debug)]
pub(super) struct Members<T>(pub(super) Vec<(String, T)>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for Pairs<T> {
            type Value = Members<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

/// Returns the members of an object.
pub(super) fn members<T: DeserializeOwned>(place: &str, text: &str) -> Result<Vec<(String, T)>> {
    let Members(members) = serde_json::from_str(text).with_context(|| place.to_owned())?;
    anyhow::ensure!(!members.is_empty(), "{place} is empty");
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_the_order_of_the_file() {
        let members: Vec<(String, u8)> = members("a", r#"{"z": 1, "a": 2, "m": 3}"#).unwrap();
        assert_eq!(members, [("z".to_owned(), 1), ("a".to_owned(), 2), ("m".to_owned(), 3)]);
    }

    #[test]
    fn errors_name_the_file() {
        for text in ["{}", "[]", "{\"a\": \"x\"}"] {
            let error = members::<u8>("o/a@1:x.json", text).unwrap_err();
            assert!(format!("{error:#}").contains("o/a@1:x.json"), "{text}");
        }
    }
}
