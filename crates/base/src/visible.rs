//! The grammar of `ASCEND_RT_VISIBLE_DEVICES` in the CANN runtime.
//!
//! The rules are those of `Runtime::GetVisibleDevices` (hicann/runtime, `runtime.cc`). The list is
//! split at commas. The first part that is not a number or is beyond the last device ends it. The
//! rest must ascend without repetition and must not be empty.

/// The name of the variable.
pub const NAME: &str = "ASCEND_RT_VISIBLE_DEVICES";

/// A fault of a list that the runtime does not accept completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The first part of the list that shows it.
    pub part: String,
}

/// The kinds of faults of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It is empty.
    Empty,
    /// A part is not a number.
    Syntax,
    /// A number is beyond the last device.
    Range,
    /// A number occurs twice.
    Duplicate,
    /// The numbers do not ascend.
    Order,
    /// The runtime ended the list early, for an unknown reason.
    Cut,
}

impl Fault {
    fn new(kind: FaultKind, part: &str) -> Self {
        Self { kind, part: part.to_owned() }
    }
}

/// Returns the fault of `list` on a machine with `count` devices, or on any machine if the count is
/// unknown.
pub fn judge(list: &str, count: Option<usize>) -> Option<Fault> {
    if list.is_empty() {
        return Some(Fault::new(FaultKind::Empty, ""));
    }
    let mut taken: Vec<usize> = Vec::new();
    for part in list.split(',') {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let Some(id) = digits.then(|| part.parse::<usize>().unwrap_or(usize::MAX)) else {
            return Some(Fault::new(FaultKind::Syntax, part));
        };
        if count.is_some_and(|count| id >= count) {
            return Some(Fault::new(FaultKind::Range, part));
        }
        if taken.contains(&id) {
            return Some(Fault::new(FaultKind::Duplicate, part));
        }
        if taken.last().is_some_and(|last| id < *last) {
            return Some(Fault::new(FaultKind::Order, part));
        }
        taken.push(id);
    }
    None
}

/// Returns the fault of `list` on a machine whose runtime made `count` devices of it.
///
/// The observed result overrides the rules: a list that the runtime accepted completely has no
/// fault. If the runtime saw no device and the rules find no fault, the machine may have no device,
/// so the list is not to blame.
pub fn judge_taken(list: &str, count: usize) -> Option<Fault> {
    let part = list.split(',').nth(count)?;
    judge(list, None).or_else(|| (count > 0).then(|| Fault::new(FaultKind::Cut, part)))
}

/// Returns the numbers of the list in the order that the runtime requires.
pub fn sorted(list: &str) -> String {
    let mut ids: Vec<usize> = list.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_are_judged_as_the_runtime_does() {
        let cases = [
            ("", Some(8), Some(FaultKind::Empty)),
            ("0", Some(8), None),
            ("0,1,7", Some(8), None),
            ("2,5", None, None),
            ("0,8", Some(8), Some(FaultKind::Range)),
            ("99999999999999999999999", Some(8), Some(FaultKind::Range)),
            ("1, 2", Some(8), Some(FaultKind::Syntax)),
            ("0-3", Some(8), Some(FaultKind::Syntax)),
            ("-1", Some(8), Some(FaultKind::Syntax)),
            ("0,1,", Some(8), Some(FaultKind::Syntax)),
            ("1,0", Some(8), Some(FaultKind::Order)),
            ("1,1", Some(8), Some(FaultKind::Duplicate)),
            ("npu:0", None, Some(FaultKind::Syntax)),
        ];
        for (list, count, expected) in cases {
            assert_eq!(judge(list, count).map(|fault| fault.kind), expected, "{list}");
        }
        assert_eq!(sorted("3, 1,1"), "1,3");
    }

    #[test]
    fn runtime_result_overrides_rules() {
        let fault = |kind, part: &str| Some(Fault::new(kind, part));
        let cases = [
            ("", 0, fault(FaultKind::Empty, "")),
            ("0", 1, None),
            ("0,1", 2, None),
            ("1,0", 2, None),
            ("1,0", 0, fault(FaultKind::Order, "0")),
            ("0,0", 1, fault(FaultKind::Duplicate, "0")),
            ("0,9", 1, fault(FaultKind::Cut, "9")),
            ("0,,1", 1, fault(FaultKind::Syntax, "")),
            ("9", 0, None),
            ("x", 0, fault(FaultKind::Syntax, "x")),
        ];
        for (list, count, expected) in cases {
            assert_eq!(judge_taken(list, count), expected, "{list} {count}");
        }
    }

    proptest! {
        #[test]
        fn judging_never_panics(list in "\\PC*", count in prop::option::of(0_usize..64)) {
            judge(&list, count);
            judge_taken(&list, count.unwrap_or_default());
            sorted(&list);
        }
    }
}
