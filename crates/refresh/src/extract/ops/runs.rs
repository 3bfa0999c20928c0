//! Values over neighboring columns: `0-11:NL 12:L`.

/// Formats each run of equal values as `FIRST-LAST:VALUE`. Columns without a value are left out.
pub(super) fn runs<T: AsRef<str>>(values: &[Option<T>]) -> String {
    let value = |at: usize| values.get(at).and_then(Option::as_ref).map(AsRef::as_ref);
    let mut found: Vec<String> = Vec::new();
    let mut first = 0;
    for at in 1..=values.len() {
        if at < values.len() && value(at) == value(first) {
            continue;
        }
        if let Some(value) = value(first) {
            let last = at - 1;
            found.push(if first == last {
                format!("{first}:{value}")
            } else {
                format!("{first}-{last}:{value}")
            });
        }
        first = at;
    }
    found.join(" ")
}

/// Parses a cell of runs into the values of `count` columns; `None` if it has another form.
pub(super) fn values(cell: &str, count: usize) -> Option<Vec<Option<String>>> {
    let mut values = vec![None; count];
    for run in cell.split(' ').filter(|run| !run.is_empty()) {
        let (span, value) = run.split_once(':')?;
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        values.get_mut(first..=last)?.fill(Some(value.to_owned()));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_written_and_read() {
        let all = [Some("N"), Some("N"), None, Some("L"), None, None];
        assert_eq!(runs(&all), "0-1:N 3:L");
        assert_eq!(runs(&[None::<&str>; 3]), "");
        let read = values("0-1:N 3:L", 6).unwrap();
        assert_eq!(read.iter().map(|one| one.as_deref()).collect::<Vec<_>>(), all);
        assert_eq!(values("", 2).unwrap(), [None, None]);
        for bad in ["0-7:N", "x:N", "0", "3-1:N"] {
            assert!(values(bad, 3).is_none(), "{bad}");
        }
    }
}
