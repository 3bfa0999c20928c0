//! Words, in English or Chinese and with slips, to codes and causes.

use super::{Cause, Family, Row, causes, families, rows};
use base::text::distance_within;

/// Something that a search found.
#[derive(Debug, Clone, Copy)]
pub enum Hit {
    /// A cause.
    Cause(&'static Cause),
    /// A code of a family.
    Code(&'static Family, &'static Row),
}

/// What fits `words`, the best first. Every word has to be there, if need be with a slip: one in
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
            // A cause says more than a code of which only the name is known.
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
    // Of equals, what is said shortest is said most directly.
    hits.sort_by_key(|(score, length, _)| (std::cmp::Reverse(*score), *length));
    hits.into_iter().map(|(_, _, hit)| hit).collect()
}

/// A word that is looked for.
struct Token {
    text: String,
    /// Number of tolerated typing errors. Only ASCII tokens tolerate any.
    slips: usize,
}

/// Words of letters and digits; of Chinese text each pair of neighbours.
fn split_tokens(word: &str) -> Vec<Token> {
    let word = word.to_lowercase();
    let mut found = Vec::new();
    for part in word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
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

/// How well a text fits, if every word is there; the title counts double, and words that stand
/// together as they were asked for count more than the same words apart.
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

/// Whether a word of the text is the token but for the slips that are forgiven.
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
