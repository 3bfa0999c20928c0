//! Searches codes and causes by words, in English or Chinese and with typing errors.

use std::sync::LazyLock;

use super::log::signatures;
use super::{Cause, Family, Row, causes, families, rows};
use base::text::distance_within;

/// A search result.
#[derive(Debug, Clone, Copy)]
pub enum Hit {
    /// A cause.
    Cause(&'static Cause),
    /// A code of a family.
    Code(&'static Family, &'static Row),
}

/// Results for `words`, the best first. Every word must match, with tolerated typing errors: one in
/// four to seven letters, two in longer words. Chinese text is compared by pairs of characters.
pub fn search(words: &str) -> Vec<Hit> {
    let wanted: Vec<Token> = words.split_whitespace().flat_map(split_tokens).collect();
    let phrase = words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for cause in causes() {
        let title = [&cause.id, &cause.title.en, &cause.title.zh];
        let all = [&cause.text.en, &cause.text.zh];
        if let Some(score) = score_text(&wanted, &phrase, &title, &all) {
            // A cause is more useful than a code of which only the name is known.
            hits.push((score + 1, cause.title.en.len(), Hit::Cause(cause)));
        }
    }
    for family in families() {
        for row in rows(family) {
            let title = [&row.code, &row.symbol];
            let all = [&row.message, &row.zh, &row.formerly];
            if let Some(score) = score_text(&wanted, &phrase, &title, &all) {
                hits.push((score, row.message.len(), Hit::Code(family, row)));
            }
        }
    }
    // Among equals, the shortest text is the most direct.
    hits.sort_by_key(|(score, length, _)| (std::cmp::Reverse(*score), *length));
    hits.into_iter().map(|(_, _, hit)| hit).collect()
}

/// The most causes that are suggested.
const SUGGESTIONS: usize = 3;
/// The minimum coverage of the query by a suggestion, by the weight of the words.
const LEAST_COVERAGE: f64 = 0.35;
/// The minimum weight of the matching words: one word that a twelfth of the causes contain.
const LEAST_WEIGHT: f64 = 2.5;

/// Words that are rare in the tables only because the tables are not conversation.
const FUNCTION_WORDS: &[&str] = &[
    "after", "am", "an", "and", "any", "anyone", "are", "as", "at", "be", "been", "before", "but",
    "by", "can", "could", "do", "does", "for", "from", "get", "got", "had", "has", "have", "help",
    "how", "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please",
    "question", "since", "so", "than", "thanks", "that", "the", "then", "there", "this", "to",
    "was", "we", "were", "what", "when", "where", "which", "while", "why", "will", "with", "you",
    "your",
];

/// Whether a word names the vendor, a chip or a product: these occur with every failure.
fn names_platform(word: &str) -> bool {
    let is_name = ["ascend", "atlas", "huawei", "npu", "华为", "昇腾"].contains(&word);
    is_name
        || word.starts_with("npu") && word[3..].bytes().all(|byte| byte.is_ascii_digit())
        || base::chip::ChipFamily::from_soc(word).is_some()
}

/// The causes that a description may mean, the best first; none if too few of its words are known.
///
/// Unlike [`search`], it does not require every word. A word weighs more the fewer causes contain
/// it, so that `npu` and `failed` decide nothing.
pub fn suggest(words: &str) -> Vec<&'static Cause> {
    static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(documents);
    let mut wanted: Vec<String> = Vec::new();
    for token in words.split_whitespace().flat_map(split_tokens) {
        let says_something = token.text.chars().count() > 1
            && !FUNCTION_WORDS.contains(&token.text.as_str())
            && !names_platform(&token.text);
        if says_something && !wanted.contains(&token.text) {
            wanted.push(token.text);
        }
    }
    let all: f64 = DOCUMENTS.iter().map(|_| 1.0).sum();
    let mut asked = 0.0;
    let mut scores = vec![(0.0, 0.0); DOCUMENTS.len()];
    for token in &wanted {
        let found: Vec<f64> = DOCUMENTS.iter().map(|document| document.weigh(token)).collect();
        let holding: f64 = found.iter().filter(|weight| **weight > 0.0).map(|_| 1.0).sum();
        let rarity = ((all + 1.0) / (holding + 1.0)).ln();
        // A word in no cause may be a name, so it counts less than the others. Of the pairs that
        // Chinese text is cut into, every second one joins two words.
        asked += match token.is_ascii() {
            _ if holding > 0.0 => rarity,
            true => rarity / 4.0,
            false => rarity / 8.0,
        };
        for (score, weight) in scores.iter_mut().zip(found) {
            *score =
                (score.0 + rarity * weight, if weight > 0.0 { score.1 + rarity } else { score.1 });
        }
    }
    let mut hits: Vec<(f64, &'static Cause)> = DOCUMENTS
        .iter()
        .zip(scores)
        .filter(|(_, (_, covered))| *covered >= LEAST_WEIGHT.max(LEAST_COVERAGE * asked))
        .map(|(document, (score, _))| (score, document.cause))
        .collect();
    hits.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    // Results far behind the best are noise.
    let best = hits.first().map_or(0.0, |(score, _)| *score);
    hits.retain(|(score, _)| *score >= best / 2.0);
    hits.into_iter().take(SUGGESTIONS).map(|(_, cause)| cause).collect()
}

/// The texts of a cause, in lower case.
struct Document {
    cause: &'static Cause,
    title: String,
    rest: String,
}

impl Document {
    /// The weight of a word for the cause; 0 if the cause does not contain it.
    fn weigh(&self, token: &str) -> f64 {
        if holds(&self.title, token) {
            2.0
        } else if holds(&self.rest, token) {
            1.0
        } else {
            0.0
        }
    }
}

/// Whether a text contains a Chinese pair, or a word that begins like `token` without its ending.
fn holds(text: &str, token: &str) -> bool {
    if !token.is_ascii() {
        return text.contains(token);
    }
    let stem = ["ing", "ed", "es", "s"]
        .iter()
        .find_map(|ending| token.strip_suffix(ending).filter(|stem| stem.len() > 3));
    let stem = stem.unwrap_or(token);
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    text.match_indices(stem).any(|(at, _)| {
        let begins = at == 0 || !is_letter(at - 1);
        begins && (stem.len() > 3 || !is_letter(at + stem.len()))
    })
}

fn documents() -> Vec<Document> {
    let document = |cause: &'static Cause| {
        let signatures = signatures().iter().filter(|signature| signature.cause == cause.id);
        let mut rest = format!("{} {}", cause.text.en, cause.text.zh);
        for signature in signatures {
            rest.push(' ');
            rest.push_str(&signature.literals.join(" "));
        }
        for asked in &cause.asked {
            rest.extend([" ", asked]);
        }
        for step in &cause.steps {
            rest.extend([" ", &step.en, " ", &step.zh]);
        }
        let title =
            format!("{} {} {}", cause.id.replace(['.', '_'], " "), cause.title.en, cause.title.zh);
        Document { cause, title: title.to_lowercase(), rest: rest.to_lowercase() }
    };
    causes().map(document).collect()
}

/// A word of the query.
struct Token {
    text: String,
    /// Number of tolerated typing errors. Only ASCII tokens tolerate any.
    slips: usize,
}

/// Words of letters and digits; for Chinese text, each pair of neighboring characters.
fn split_tokens(word: &str) -> Vec<Token> {
    let word = word.to_lowercase();
    let mut found = Vec::new();
    for part in words_of(&word) {
        let letters: Vec<char> = part.chars().collect();
        if letters.iter().all(char::is_ascii) {
            let slips = match letters.len() {
                _ if letters.iter().any(char::is_ascii_digit) => 0,
                0..4 => 0,
                4..8 => 1,
                _ => 2,
            };
            found.push(Token { text: part.to_owned(), slips });
        } else if letters.len() < 2 {
            found.push(Token { text: part.to_owned(), slips: 0 });
        } else {
            let pairs = letters.windows(2);
            found.extend(pairs.map(|pair| Token { text: pair.iter().collect(), slips: 0 }));
        }
    }
    found
}

/// Runs of ASCII letters and digits, and of other characters: `华为910多卡` has three.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = rest.find(|c: char| c.is_ascii() != first.is_ascii()).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            rest = after;
            Some(run)
        })
    })
}

/// How well a text matches if every word is in it; the title counts double, and words in the order
/// of the query count more than the same words apart.
fn score_text(
    wanted: &[Token],
    phrase: &str,
    title: &[&String],
    rest: &[&String],
) -> Option<usize> {
    let lower = |texts: &[&String]| -> Vec<String> {
        texts.iter().filter(|text| !text.is_empty()).map(|text| text.to_lowercase()).collect()
    };
    let (title, rest) = (lower(title), lower(rest));
    let together = title.iter().chain(&rest).any(|text| text.contains(phrase));
    let mut score = if together { 6 * wanted.len() } else { 0 };
    for token in wanted {
        score += if title.iter().any(|text| text.contains(&token.text)) {
            8
        } else if rest.iter().any(|text| text.contains(&token.text)) {
            4
        } else if title.iter().any(|text| is_similar(token, text)) {
            3
        } else if rest.iter().any(|text| is_similar(token, text)) {
            1
        } else {
            return None;
        };
    }
    Some(score)
}

/// Whether a word of the text equals the token within the tolerated typing errors.
fn is_similar(token: &Token, text: &str) -> bool {
    token.slips > 0
        && text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| distance_within(&token.text, word, token.slips).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(words: &str) -> String {
        match search(words).first() {
            Some(Hit::Cause(cause)) => cause.id.clone(),
            Some(Hit::Code(family, row)) => format!("{}:{}", family.id, row.code),
            None => String::new(),
        }
    }

    #[test]
    fn words_lead_to_causes_in_both_languages_and_with_slips() {
        assert_eq!(first("HCCL_BUFFSIZE"), "hccl.buffsize_too_small");
        assert_eq!(first("kv cache"), "memory.kv_cache_too_small");
        assert_eq!(first("设备内存不足"), "memory.device_oom");
        assert_eq!(first("心跳丢失"), "hccl.peer_lost");
        assert_eq!(first("hartbeat lost"), "hccl.peer_lost");
        assert_eq!(first("heartbeet  LOST"), "hccl.peer_lost");
    }

    #[test]
    fn a_description_leads_to_causes_although_words_are_unknown() {
        let suggested = |words: &str| -> Vec<&str> {
            suggest(words).into_iter().map(|cause| cause.id.as_str()).collect()
        };
        assert_eq!(suggested("our NPUs 显存不够 since Monday")[0], "memory.device_oom");
        assert!(suggested("training hangs in allreduce").contains(&"hccl.notify_wait_timeout"));
        assert!(suggested("my cat sat on the keyboard").is_empty());
        assert!(suggested("").is_empty() && suggested("npu").is_empty());
    }

    #[test]
    fn names_of_constants_are_words_too() {
        let found = search("vector core exception");
        let is = |hit: &Hit| matches!(hit, Hit::Code(_, row) if row.code == "507035");
        assert!(found.iter().take(5).any(is), "{found:?}");
    }

    #[test]
    fn words_that_stand_together_come_first() {
        let found = search("out of memory");
        let causes: Vec<&str> = found
            .iter()
            .filter_map(|hit| match hit {
                Hit::Cause(cause) => Some(cause.id.as_str()),
                Hit::Code(..) => None,
            })
            .collect();
        assert!(causes[0].starts_with("memory."), "{causes:?}");
        assert!(matches!(found[0], Hit::Code(_, row) if row.message.contains("out of memory")));
    }

    #[test]
    fn every_word_has_to_be_there() {
        assert!(search("heartbeat zzzzzzzz").is_empty());
        for nothing in ["", "  ", "…", "zzzzzzzz", "二二二"] {
            assert!(search(nothing).is_empty(), "{nothing}");
        }
    }
}
