//! Assigns causes to codes, `data/errors/code_causes.tsv`, and remarks to single codes:
//! `data/errors/notes.toml` and, from the documents that define them, `meanings.toml`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::cause::Cause;
use super::cause_table::cause;
use super::note::Note;
use super::overlay::overlay;
use data::data_pack::{Pack, PackError, invalid};

/// The weight of a cause that applies to all codes of a family.
const BY_FAMILY: u8 = 12;

/// The link from a code to a cause.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The cause.
    pub cause: &'static Cause,
    /// How certain, in tenths: 30 names a cause beyond doubt, 20 the kind of failure, 10 leaves
    /// several causes open, 1 is a wrapper.
    pub weight: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    note: Vec<Note>,
}

/// The tables of notes; the first one that has a code is used.
const TABLES: [&str; 2] = ["errors/notes", "errors/meanings"];

static NOTES: LazyLock<Vec<Note>> =
    LazyLock::new(|| TABLES.iter().flat_map(|name| data::table::<NoteFile>(name).note).collect());

/// The columns behind family and code. They are not resolved to causes here, because causes are
/// parsed layer by layer.
static INDEX: LazyLock<HashMap<&str, HashMap<&str, &str>>> = LazyLock::new(|| {
    let mut index: HashMap<&str, HashMap<&str, &str>> = HashMap::new();
    for line in data::text("errors/code_causes.tsv").lines() {
        if let Some((family, rest)) = line.split_once('\t')
            && let Some((code, tail)) = rest.split_once('\t')
        {
            index.entry(family).or_default().insert(code, tail);
        }
    }
    index
});

/// Decodes the tables of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    const NAME: &str = "errors/code_causes.tsv";
    for name in TABLES {
        pack.table::<NoteFile>(name)?;
    }
    let rows = pack.text(NAME)?.lines().filter(|line| !line.starts_with('#')).skip(1);
    for line in rows {
        let mut cells = line.split('\t').skip(3);
        if cells.next().is_none_or(|weight| weight.parse::<u8>().is_err()) {
            return Err(invalid(NAME, format!("`{line}`")));
        }
    }
    Ok(())
}

/// The cause of a code, if it is certain.
pub fn cause_of(family: &str, code: &str) -> Option<Link> {
    if let Some(own) = find_user_link(family, code) {
        return Some(own);
    }
    if let Some(tail) = INDEX.get(family).and_then(|codes| codes.get(code)) {
        return parse_tail(tail);
    }
    let family = super::family(family)?;
    Some(Link { cause: cause(family.cause.as_deref()?)?, weight: BY_FAMILY })
}

/// Returns the cause that the user's file assigns to a code.
fn find_user_link(family: &str, code: &str) -> Option<Link> {
    let (.., id, weight) =
        overlay().links.iter().find(|(of, known, ..)| of == family && known == code)?;
    Some(Link { cause: cause(id)?, weight: *weight })
}

/// All codes with a cause: family, code, cause, weight.
pub fn links() -> impl Iterator<Item = (&'static str, &'static str, Link)> {
    let own = overlay().links.iter().filter_map(|(family, code, ..)| {
        Some((family.as_str(), code.as_str(), find_user_link(family, code)?))
    });
    let built_in = data::text("errors/code_causes.tsv").lines().filter_map(|line| {
        let (family, rest) = line.split_once('\t')?;
        let (code, rest) = rest.split_once('\t')?;
        Some((family, code, parse_tail(rest)?))
    });
    own.chain(built_in)
}

fn parse_tail(tail: &str) -> Option<Link> {
    let (id, weight) = tail.split_once('\t')?;
    Some(Link { cause: cause(id)?, weight: weight.parse().ok()? })
}

/// The codes that are results and not faults.
static STATUSES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let statuses = NOTES.iter().filter(|note| note.status);
    statuses.flat_map(|note| note.codes.iter().map(String::as_str)).collect()
});

/// Whether a code is a result and not a fault.
pub(crate) fn is_status(family: &str, code: &str) -> bool {
    STATUSES.contains(format!("{family}:{code}").as_str())
}

/// The remark on a code.
pub fn note(family: &str, code: &str) -> Option<&'static Note> {
    let key = format!("{family}:{code}");
    overlay().notes.iter().chain(NOTES.iter()).find(|note| note.codes.contains(&key))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{families, rows};

    fn known() -> BTreeSet<String> {
        families()
            .iter()
            .flat_map(|family| rows(family).iter().map(|row| format!("{}:{}", family.id, row.code)))
            .collect()
    }

    #[test]
    fn every_link_joins_a_code_and_a_cause_that_exist() {
        let known = known();
        let mut seen = BTreeSet::new();
        let lines = data::text("errors/code_causes.tsv")
            .lines()
            .filter(|line| !line.starts_with(['#', 'f']));
        let mut count = 0;
        for line in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            let [family, code, id, weight] = cells[..] else { panic!("{line}") };
            assert!(cause(id).is_some(), "there is no cause {id}");
            assert!((1..=30).contains(&weight.parse::<u8>().unwrap()), "{line}");
            let key = format!("{family}:{code}");
            let unregistered = code.starts_with("E80") || ["E69999", "E89999"].contains(&code);
            assert!(known.contains(&key) || unregistered, "there is no code {key}");
            assert_eq!(cause_of(family, code).unwrap().cause.id, id);
            assert!(seen.insert(key), "{line} occurs twice");
            count += 1;
        }
        assert_eq!(links().count(), count);
        assert!(count > 600, "{count}");
    }

    #[test]
    fn a_wrapper_weighs_next_to_nothing() {
        for (_, code, link) in links() {
            if link.cause.id.starts_with("vague.") {
                assert_eq!(link.weight, 1, "{code}");
            }
        }
        assert!(cause_of("acl_rt", "507056").unwrap().weight > 25);
        assert!(cause_of("acl_rt", "5070").is_none(), "a part of a code is no code");
    }

    #[test]
    fn a_family_speaks_for_its_codes_where_nothing_else_does() {
        assert_eq!(cause_of("chip", "0x80E01801").unwrap().cause.id, "hw.hbm_uce");
        assert_eq!(cause_of("chip", "0x40F84E00").unwrap().cause.id, "hw.device_event");
        assert_eq!(cause_of("aicore_bit", "w2.61").unwrap().cause.id, "aicore.kernel_exception");
        for family in families() {
            if let Some(id) = &family.cause {
                assert!(cause(id).is_some(), "{}: there is no cause {id}", family.id);
            }
        }
    }

    #[test]
    fn notes_speak_of_codes_that_exist() {
        let known = known();
        let mut seen = BTreeSet::new();
        for note in NOTES.iter() {
            assert!(!note.sources.is_empty() && !note.text.en.is_empty());
            assert!(note.text.zh.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)));
            for code in &note.codes {
                assert!(known.contains(code), "there is no code {code}");
                assert!(seen.insert(code), "two notes speak of {code}");
                let (family, code) = code.split_once(':').expect("family and code");
                assert!(!note.status || cause_of(family, code).is_none(), "{code} is no fault");
            }
        }
        assert!(note("dcmi", "-8005").is_some());
        assert!(note("dcmi", "-800").is_none());
    }
}
