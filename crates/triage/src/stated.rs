//! Combines the facts of several texts.

use std::collections::BTreeMap;

use pasted::{Chip, Form, Pasted, Reason};
use serde::Serialize;

/// A fact with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactOfText {
    /// `torch`, `cann`, `package.numpy`, `env.HCCL_IF_IP`, …
    pub name: String,
    /// The value as written.
    pub value: String,
    /// The file, or `-`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The format that contains the value.
    pub form: Form,
}

/// A value that does not count as a fact, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unchosen {
    /// The value.
    #[serde(flatten)]
    pub value: FactOfText,
    /// The reason why it does not count.
    pub reason: Reason,
}

/// A name with different values of equal weight in the texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disputed {
    /// The name.
    pub name: String,
    /// The different values.
    pub values: Vec<FactOfText>,
}

/// The facts that the texts state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stated {
    /// At most one fact for each name.
    pub facts: Vec<FactOfText>,
    /// Rows of npu-smi.
    pub chips: Vec<Chip>,
    /// Names with contradicting values, which do not count.
    pub disputed: Vec<Disputed>,
    /// Values that do not count as facts, such as requirements and earlier versions.
    pub unchosen: Vec<Unchosen>,
}

impl Stated {
    /// The fact of this name.
    pub fn fact(&self, name: &str) -> Option<&FactOfText> {
        self.facts.iter().find(|fact| fact.name == name)
    }

    /// Rewrites values, places and PCI addresses that may identify a machine.
    pub fn redact(&mut self, redact: &dyn Fn(&str) -> String) {
        let disputed = self.disputed.iter_mut().flat_map(|one| &mut one.values);
        let unchosen = self.unchosen.iter_mut().map(|one| &mut one.value);
        for fact in self.facts.iter_mut().chain(disputed).chain(unchosen) {
            // Versions look like addresses, and only these names have values that identify a
            // machine.
            if fact.name.starts_with("env.") || fact.name == "image" {
                fact.value = redact(&fact.value);
            }
            fact.file = redact(&fact.file);
        }
    }

    /// Returns whether no text states anything.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.chips.is_empty()
    }
}

/// Joins the facts of all texts. Names with different values in two texts are disputed.
pub fn merge(texts: Vec<(String, Pasted)>) -> Stated {
    let mut all = Stated::default();
    let mut by_name: BTreeMap<String, Vec<FactOfText>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let of = |file: &str, one: pasted::Stated| FactOfText {
        name: one.name,
        value: one.value,
        file: file.to_owned(),
        line: one.line,
        form: one.form,
    };
    for (file, text) in texts {
        for fact in text.facts {
            if !by_name.contains_key(&fact.name) {
                order.push(fact.name.clone());
            }
            by_name.entry(fact.name.clone()).or_default().push(of(&file, fact));
        }
        // Only the first table of chips counts, because a second one may show another machine.
        if all.chips.is_empty() {
            all.chips = text.chips;
        }
        all.disputed.extend(text.conflicts.into_iter().map(|conflict| Disputed {
            name: conflict.name,
            values: conflict.values.into_iter().map(|one| of(&file, one)).collect(),
        }));
        all.unchosen.extend(
            text.other
                .into_iter()
                .map(|other| Unchosen { value: of(&file, other.stated), reason: other.reason }),
        );
    }
    for name in order {
        let values = by_name.remove(&name).unwrap_or_default();
        let is_one = values.windows(2).all(|pair| pair[0].value == pair[1].value);
        let disputed = all.disputed.iter().any(|disputed| disputed.name == name);
        match values.into_iter().reduce(|first, _| first) {
            Some(first) if is_one && !disputed => all.facts.push(first),
            Some(first) if !disputed => {
                all.disputed.push(Disputed { name, values: vec![first] });
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str, text: &str) -> (String, Pasted) {
        (file.to_owned(), pasted::read(text))
    }

    #[test]
    fn texts_that_agree_are_one_fact_and_others_none() {
        let pip = "torch                  2.7.1\ntorch-npu              2.7.1\n";
        let one = merge(vec![read("a.md", pip), read("b.md", pip)]);
        assert_eq!(one.fact("torch").unwrap().file, "a.md");
        let other = "torch                  2.8.0\ntorch-npu              2.7.1\n";
        let two = merge(vec![read("a.md", pip), read("b.md", other)]);
        assert!(two.fact("torch").is_none(), "{two:?}");
        assert_eq!(two.fact("torch_npu").unwrap().value, "2.7.1");
        assert_eq!(two.disputed[0].name, "torch");
    }

    #[test]
    fn nothing_is_stated_of_an_empty_text() {
        assert!(merge(vec![read("a.md", "")]).is_empty());
    }
}
