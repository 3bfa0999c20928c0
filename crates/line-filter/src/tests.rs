use super::*;

const LITERALS: [&[u8]; 6] =
    [b"retCode=", b"retCode", b"error code is", b"cannot open shared", b"hcclRet ->", b"abcdef"];

fn filter() -> LineFilter {
    LineFilter::new(LITERALS.to_vec(), ["EI0006", "E10001"].into_iter(), "rank 0 is ready\n")
}

/// The result of a plain search.
fn naive(text: &[u8]) -> BTreeSet<Option<usize>> {
    let literals = (0..LITERALS.len())
        .filter(|index| memchr::memmem::find(text, LITERALS[*index]).is_some())
        .map(Some);
    let code = ["EI0006", "E10001"]
        .iter()
        .any(|code| memchr::memmem::find(text, code.as_bytes()).is_some());
    literals.chain(code.then_some(None)).collect()
}

fn all(filter: &LineFilter, text: &[u8]) -> BTreeSet<Option<usize>> {
    let mut found = BTreeSet::new();
    filter.all(text, |literal| {
        found.insert(literal);
    });
    found
}

#[test]
fn everything_is_found_wherever_it_stands() {
    let filter = filter();
    let needles: Vec<&[u8]> = LITERALS.into_iter().chain([&b"EI0006"[..], b"E10001"]).collect();
    for needle in needles {
        for before in 0..2 * SPAN {
            for after in [0, 1, 2, 5, SPAN] {
                let text = [&b"x".repeat(before)[..], needle, &b"y".repeat(after)].concat();
                let found = filter.next(&text, 0).unwrap_or_else(|| panic!("{before} {after}"));
                assert!(text[found.start..].starts_with(needle) || found.start == before);
                assert_eq!(all(&filter, &text), naive(&text), "{before} {after}");
                assert_eq!(filter.next(&text, before + 1).map(|found| found.start), None);
            }
        }
    }
}

#[test]
fn no_line_before_the_first_has_one() {
    let filter = filter();
    // Pseudo-random lines, some with literals.
    let mut state = 7_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 12) as usize % below
    };
    for _ in 0..300 {
        let mut text = Vec::new();
        for _ in 0..30 {
            for _ in 0..next(80) {
                text.push(b"abcdefEI016 =rt\\"[next(16)]);
            }
            match next(12) {
                0 => text.extend_from_slice(LITERALS[next(6)]),
                1 => text.extend_from_slice(b"EI0006"),
                _ => {}
            }
            text.push(b'\n');
        }
        let mut at = 0;
        let mut lines = BTreeSet::new();
        while let Some(found) = filter.next(&text, at) {
            let line = memchr::memchr_iter(b'\n', &text[..found.start]).count();
            lines.insert(line);
            at = memchr::memchr(b'\n', &text[found.end..])
                .map_or(text.len(), |end| found.end + end + 1);
        }
        let expected: BTreeSet<usize> = text
            .split(|byte| *byte == b'\n')
            .enumerate()
            .filter(|(_, line)| !naive(line).is_empty())
            .map(|(index, _)| index)
            .collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn what_is_like_a_code_is_none() {
    let filter = filter();
    for text in ["EI0007", "E1000", "EI006", "1.5E10002", "EVENT", "WARN0001"] {
        let text = format!("{}{text}{}", " ".repeat(300), " ".repeat(300));
        assert_eq!(filter.next(text.as_bytes(), 0), None, "{text}");
    }
}
