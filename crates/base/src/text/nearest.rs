//! Names that differ from a given name by a typing error, for "did you mean".

use strsim::osa_distance;

/// Returns the `limit` names nearest to `name` by edit distance, the nearest first, without names
/// that differ in more than a third of the characters. Case does not matter.
pub fn nearest(name: &str, names: impl IntoIterator<Item = String>, limit: usize) -> Vec<String> {
    let wanted: String = name.to_ascii_uppercase().chars().take(64).collect();
    let length = wanted.chars().count();
    let allowed = (length / 3).max(1);
    let mut near: Vec<(usize, String)> = names
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .filter_map(|candidate| {
            let distance = osa_distance(&wanted, &candidate.to_ascii_uppercase());
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort();
    near.dedup();
    near.truncate(limit);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns the number of characters to insert, remove, replace or swap with their neighbor to turn
/// one name into the other, if it is at most `limit`. Case matters. Names of more than 128 bytes
/// are never near, because the cost grows with the product of the lengths.
pub fn distance_within(one: &str, other: &str, limit: usize) -> Option<usize> {
    if one.len().max(other.len()) > 128 {
        return None;
    }
    // The difference in length is a lower bound that excludes most names.
    let is_far = one.chars().count().abs_diff(other.chars().count()) > limit;
    (!is_far).then(|| osa_distance(one, other)).filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_sorts_by_distance_and_drops_distant_names() {
        let names = || ["CANN-HOME", "CANN-OPP", "ENV-HOME"].map(str::to_owned);
        assert_eq!(nearest("cann-hmoe", names(), 3), ["CANN-HOME"]);
        assert_eq!(nearest("CANN-OP", names(), 3)[0], "CANN-OPP");
        assert!(nearest("zzzzzz", names(), 3).is_empty());
        assert!(nearest("", names(), 3).is_empty());
    }

    /// Swapped neighbors count once, and no part is changed twice: `ca` to `abc` takes three steps.
    #[test]
    fn distance_counts_edits_and_swaps() {
        let distance = |a: &str, b: &str| distance_within(a, b, 9).unwrap();
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ca", "abc"), 3);
    }

    #[test]
    fn distance_within_returns_none_above_limit() {
        assert_eq!(distance_within("ASCEND_HOME_PATH", "ASCEND_HOME_PATH", 2), Some(0));
        assert_eq!(distance_within("ASCEND_HOME_PTAH", "ASCEND_HOME_PATH", 2), Some(1));
        assert_eq!(distance_within("HCCL_BUFSIZE", "HCCL_BUFFSIZE", 2), Some(1));
        assert_eq!(distance_within("HCCL_ALGO", "HCCL_IF_IP", 2), None);
        assert_eq!(distance_within("", "", 0), Some(0));
        assert_eq!(distance_within(&"x".repeat(129), &"x".repeat(129), 2), None);
    }
}
