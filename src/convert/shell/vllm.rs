//! `vllm serve --device cuda`: vLLM chooses the device itself, and newer releases reject the
//! option.

use super::super::rules::Rules;
use super::super::site::Certainty;
use super::super::value;
use super::programs::base_name;
use super::reader::Reader;
use super::word::Word;

/// The rule of the same argument in Python.
const RULE: &str = "CV0469";

impl Reader<'_, '_, '_> {
    /// Removes the option from a command that starts vLLM.
    pub(super) fn vllm(&mut self, words: &[Word]) {
        let starts = words.first().is_some_and(|word| base_name(&word.text) == "vllm")
            || words
                .windows(2)
                .any(|pair| pair[0].text == "-m" && pair[1].text.starts_with("vllm."));
        let Some(rule) = Rules::builtin().by_id(RULE).filter(|_| starts) else { return };
        for (at, word) in words.iter().enumerate().skip(1) {
            let (value, end) = match word.text.split_once('=') {
                Some(("--device", value)) => (value, word.range.end),
                None if word.text == "--device" => match words.get(at + 1) {
                    Some(next) => (next.text.as_str(), next.range.end),
                    None => continue,
                },
                _ => continue,
            };
            if value::device(value).is_some() {
                let range = self.at(&(words[at - 1].range.end..end));
                self.planner.change(rule, range, "", Certainty::Exact);
            }
        }
    }
}
