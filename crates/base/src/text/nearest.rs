//! Names that are written almost like a name: for "did you mean".

/// The `limit` names nearest to `name` by edit distance, the nearest first; none that differs
/// in more than a third of its characters. Case does not matter.
pub fn nearest(name: &str, names: impl IntoIterator<Item = String>, limit: usize) -> Vec<String> {
    let wanted: Vec<char> = name.to_ascii_uppercase().chars().take(64).collect();
    let allowed = (wanted.len() / 3).max(1);
    let mut near: Vec<(usize, String)> = names
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(wanted.len()) <= allowed)
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.to_ascii_uppercase().chars().collect();
            let distance = distance(&wanted, &other);
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort();
    near.dedup();
    near.truncate(limit);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour to turn
/// one name into the other, if it is at most `limit`. Case matters; names of more than 128 bytes
/// are none.
pub fn distance_within(one: &str, other: &str, limit: usize) -> Option<usize> {
    if one.len().max(other.len()) > 128 {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // The difference in length is the least that it can be: most names need no more.
    let far = a.len().abs_diff(b.len()) > limit;
    (!far).then(|| distance(&a, &b)).filter(|distance| *distance <= limit)
}

/// How many insertions, deletions, replacements and swaps of neighbours lead from one to the
/// other (optimal string alignment).
pub fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first_and_strangers_do_not_come() {
        let names = || ["CANN-HOME", "CANN-OPP", "ENV-HOME"].map(str::to_owned);
        assert_eq!(nearest("cann-hmoe", names(), 3), ["CANN-HOME"]);
        assert_eq!(nearest("CANN-OP", names(), 3)[0], "CANN-OPP");
        assert!(nearest("zzzzzz", names(), 3).is_empty());
        assert!(nearest("", names(), 3).is_empty());
    }

    #[test]
    fn distances() {
        let d = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!((d("", "ab"), d("ab", "ba"), d("kitten", "sitting")), (2, 1, 3));
    }

    #[test]
    fn distances_within_a_limit() {
        assert_eq!(distance_within("ASCEND_HOME_PATH", "ASCEND_HOME_PATH", 2), Some(0));
        assert_eq!(distance_within("ASCEND_HOME_PTAH", "ASCEND_HOME_PATH", 2), Some(1));
        assert_eq!(distance_within("HCCL_BUFSIZE", "HCCL_BUFFSIZE", 2), Some(1));
        assert_eq!(distance_within("HCCL_ALGO", "HCCL_IF_IP", 2), None);
        assert_eq!(distance_within("", "", 0), Some(0));
        assert_eq!(distance_within(&"x".repeat(129), &"x".repeat(129), 2), None);
    }
}
