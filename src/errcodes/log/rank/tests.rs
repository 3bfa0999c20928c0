//! Explanations and the choice of the first cause at the limits set by the constants.

use super::*;
use crate::log::line_fields::Fields;
use crate::log::matcher::Hit;

const OOM: &str = "memory.device_oom";
const DIED: &str = "framework.worker_died";
const WAITS_FOR: &str = "hccl.notify_wait_timeout";
const KERNEL: &str = "aicore.kernel_exception";
const ADDRESS: &str = "aicore.illegal_gm_access";
const BUFFER: &str = "hccl.buffsize_too_small";

/// Two causes that do not explain each other.
const SHOWN: &str = "env.permission";
const STATED: &str = "tool.config_invalid";

/// A line of a log: each rank writes its own, and times are in seconds.
fn line(
    rank: u32,
    at: u64,
    cause: &str,
    weight: u8,
    role: Role,
    time: Option<i64>,
) -> Item<'static> {
    let hit = Hit {
        rule: format!("{cause}.{at}"),
        cause: cause.to_owned(),
        role,
        weight,
        captures: Vec::new(),
        fields: Fields { time: time.map(|time| Time(time * SECOND)), ..Fields::default() },
        gravity: Gravity::Failure,
        span: 0..0,
        text: String::new(),
        matched: String::new(),
    };
    let record =
        Box::leak(Box::new(Record { hit, line: at, count: 1, last: None, timed: time.is_some() }));
    Item {
        file: rank as usize,
        log: rank as usize,
        position: at,
        record,
        process: Process { rank: Some(rank), ..Process::default() },
        who: ProcessKey::Rank(rank),
    }
}

fn cause(name: &'static str, rank: u32, weight: u8, time: i64) -> Candidate<'static> {
    Candidate::new(name, vec![line(rank, 1, name, weight, Role::Root, Some(time))])
}

/// By name: points, whether it is stale, and its explanation.
type Judged = BTreeMap<&'static str, (i32, bool, Option<&'static str>)>;

fn judged(candidates: impl Into<Vec<Candidate<'static>>>) -> Judged {
    let mut candidates = candidates.into();
    judge(&mut candidates);
    let name = |index: usize| candidates[index].cause;
    let row = |one: &Candidate<'static>| (one.score, one.stale, one.explained.map(name));
    candidates.iter().map(|one| (one.cause, row(one))).collect()
}

/// A cause with one line of rank 0, without a time.
fn told(name: &'static str, rule: &str, at: u64, weight: u8, role: Role) -> Candidate<'static> {
    let mut item = line(0, at, name, weight, role, None);
    let mut record = item.record.clone();
    record.hit.rule = rule.to_owned();
    item.record = Box::leak(Box::new(record));
    Candidate::new(name, vec![item])
}

#[test]
fn on_one_line_order_says_nothing() {
    let of = |other: &str, weight| {
        let words = told(SHOWN, "words", 3, 40, Role::Root);
        let code = told(STATED, other, 3, weight, Role::Root);
        let judged = judged([words, code]);
        (judged[SHOWN].0, judged[STATED].0)
    };
    assert_eq!(of("acl_rt:207001", 41), (40, 41 + EARLIEST));
    assert_eq!(of("acl_rt:207001", 39), (40 + EARLIEST, 39));
    assert_eq!(of("ecode:EL0004", 39), (40, 39 + EARLIEST));
    assert_eq!(of("ecode:EL0004", 36), (40 + EARLIEST, 36));
    assert_eq!(of("aicore:(0x1, 0x0, 0x0)", 41), (40 + EARLIEST, 41));
}

#[test]
fn what_shows_a_cause_yields_to_what_states_one_beside_it() {
    let of = |role, apart, weight| {
        let shown = told(SHOWN, "a", 1, 30, role);
        let stated = told(STATED, "b", 1 + apart, weight, Role::Root);
        let judged = judged([shown, stated]);
        (judged[SHOWN].0, judged[STATED].0)
    };
    assert_eq!(of(Role::Symptom, BLOCK, 31), (30, 31 + EARLIEST));
    // In another message, the earlier one is first; so is a stated cause, or one of equal weight.
    assert_eq!(of(Role::Symptom, BLOCK + 1, 31), (30 + EARLIEST, 31));
    assert_eq!(of(Role::Root, BLOCK, 31), (30 + EARLIEST, 31));
    assert_eq!(of(Role::Symptom, BLOCK, 30), (30 + EARLIEST, 30));
}

#[test]
fn each_further_kind_of_evidence_adds_a_little() {
    let of = |kinds: u64| {
        let lines = (1..=kinds).map(|at| line(0, at, OOM, 60, Role::Root, Some(0)));
        Candidate::new(OOM, lines.collect()).score
    };
    assert_eq!([1, 2, 3, 4, 9].map(of), [60, 62, 64, 66, 66]);
}

#[test]
fn a_consequence_comes_later_and_within_the_time_of_its_edge() {
    let explained = |from: i64, to: i64| {
        judged([cause(OOM, 0, 72, from), cause(DIED, 1, 60, to)])[DIED].2 == Some(OOM)
    };
    // The clocks of machines differ by two minutes; the edge reaches 4000 s.
    let apart = [-121, -120, 0, 4_000, 4_001].map(|apart| explained(0, apart));
    assert_eq!(apart, [false, true, true, true, false]);
}

#[test]
fn a_consequence_loses_its_points_and_keeps_what_it_is() {
    let found = judged([cause(OOM, 0, 72, 0), cause(DIED, 1, 60, 10)]);
    assert_eq!(found[DIED], (60 - FOLDED, false, Some(OOM)));
    assert_eq!(found[OOM], (72, false, None));
}

#[test]
fn what_explains_may_be_told_a_little_less_exactly() {
    let explained =
        |weight: u8| judged([cause(OOM, 0, weight, 0), cause(DIED, 1, 72, 10)])[DIED].2.is_some();
    assert_eq!([47, 48, 49].map(explained), [false, true, true]);
}

/// A failure of one rank's kernel does not explain that of another rank's kernel.
#[test]
fn an_edge_of_a_rank_stays_on_it() {
    let explained = |rank: u32, time: i64| {
        judged([cause(ADDRESS, 0, 70, 0), cause(KERNEL, rank, 60, time)])[KERNEL].2.is_some()
    };
    assert!(explained(0, 0) && !explained(1, 0));
    // In one process the innermost message is often printed last, but not a minute later.
    let mut late = line(0, 9, ADDRESS, 70, Role::Root, Some(30));
    late.file = 5;
    let first = cause(KERNEL, 0, 60, 0);
    assert_eq!(judged([Candidate::new(ADDRESS, vec![late]), first])[KERNEL].2, Some(ADDRESS));
    assert!(explained(0, 60) && !explained(0, 61));
}

#[test]
fn of_two_that_explain_the_stronger_one_does() {
    let found = judged([cause(OOM, 0, 72, 0), cause(KERNEL, 1, 66, 0), cause(DIED, 2, 60, 9)]);
    assert_eq!(found[DIED].2, Some(OOM));
    let found = judged([cause(OOM, 0, 66, 0), cause(KERNEL, 1, 72, 0), cause(DIED, 2, 60, 9)]);
    assert_eq!(found[DIED].2, Some(KERNEL));
}

#[test]
fn an_hour_before_the_failure_is_another_time() {
    // None of its consequences comes so late.
    let stale = |time: i64| judged([cause(BUFFER, 0, 72, 0), cause(OOM, 1, 50, time)])[BUFFER];
    assert!(!stale(3_600).1);
    assert_eq!(stale(3_601), (72 - STALE, true, None));
    // The cause of a wait may be longer ago.
    let found = judged([cause(OOM, 0, 72, 0), cause(DIED, 1, 50, 3_700)]);
    assert_eq!((found[OOM].1, found[DIED].2), (false, Some(OOM)));
    // A stale cause explains nothing.
    assert_eq!(judged([cause(BUFFER, 0, 72, 0), cause(KERNEL, 1, 72, 3_700)])[KERNEL].2, None);
}

#[test]
fn an_error_explains_why_others_wait_and_a_weak_one_does_not() {
    let found = |weight: u8, time: i64| {
        // No edge leads from one to the other.
        judged([cause("op.tiling_failed", 0, weight, 0), cause(WAITS_FOR, 1, 40, time)])[WAITS_FOR]
    };
    assert_eq!(found(43, 1_800).2, None);
    assert_eq!(found(44, 1_800), (40 - FOLDED + 10, false, Some("op.tiling_failed")));
    assert_eq!(found(60, -121).2, None, "it waited before");
    assert_eq!(found(60, -120).2, Some("op.tiling_failed"));
}

#[test]
fn a_symptom_explains_waiting_where_it_is_of_those_who_do_not_wait() {
    let symptom = |rank: u32| {
        let seen = line(rank, 1, "op.tiling_failed", 40, Role::Symptom, Some(0));
        let waiting = (1..4).map(|rank| line(rank, 1, WAITS_FOR, 40, Role::Symptom, Some(100)));
        let waiting = Candidate::new(WAITS_FOR, waiting.collect());
        judged([Candidate::new("op.tiling_failed", vec![seen]), waiting])[WAITS_FOR].2.is_some()
    };
    assert!(symptom(0) && !symptom(2));
}

#[test]
fn of_about_equal_causes_the_earliest_is_the_first() {
    let first = |weights: [u8; 2]| {
        let found =
            judged([cause(OOM, 0, weights[0], 50), cause("hw.link_fault", 1, weights[1], 0)]);
        [found[OOM].0, found["hw.link_fault"].0]
    };
    assert_eq!(first([70, 60]), [70, 60 + EARLIEST]);
    assert_eq!(first([70, 59]), [70, 59], "told less exactly");
    assert_eq!(first([60, 70]), [60, 70 + EARLIEST]);
}

#[test]
fn in_one_file_times_count_unless_they_are_about_equal() {
    let at = |line_no: u64, time: Option<i64>| line(0, line_no, OOM, 60, Role::Root, time);
    let order = |a: Item<'_>, b: Item<'_>| is_not_later(&a, &b, SKEW);
    assert_eq!(order(at(9, Some(0)), at(1, Some(50))), Some(true));
    assert_eq!(order(at(1, Some(50)), at(9, Some(0))), Some(false));
    // A log of several threads is out of order by seconds.
    assert_eq!(order(at(1, Some(5)), at(9, Some(0))), Some(true));
    assert_eq!(order(at(1, Some(6)), at(9, Some(0))), Some(false));
    // Equal times, or none: the lines decide.
    for time in [Some(7), None] {
        assert_eq!(order(at(1, time), at(2, time)), Some(true));
        assert_eq!(order(at(2, time), at(2, time)), Some(true));
        assert_eq!(order(at(3, time), at(2, time)), Some(false));
    }
    // The order of two files without times is unknown.
    let other = line(1, 1, OOM, 60, Role::Root, None);
    assert_eq!(order(at(1, None), other), None);
}

#[test]
fn who_does_not_wait_is_told_only_where_few_do_not() {
    let of = |idle_ranks: u32, waiting: u32| {
        let line = |cause, rank| line(rank, 1, cause, 40, Role::Symptom, Some(0));
        let waits = (0..waiting).map(|rank| line(WAITS_FOR, rank)).collect();
        let others = (0..idle_ranks).map(|rank| line(OOM, 100 + rank)).collect();
        let candidates = [Candidate::new(WAITS_FOR, waits), Candidate::new(OOM, others)];
        find_idle(&candidates).len()
    };
    assert_eq!([of(1, 2), of(2, 4), of(1, 1), of(2, 3)], [1, 2, 0, 0]);
}

/// A cause whose only line is a warning, after which the program continued.
fn warned(name: &'static str, at: u64, weight: u8) -> Candidate<'static> {
    let mut item = line(0, at, name, weight, Role::Root, None);
    let mut record = item.record.clone();
    record.hit.gravity = Gravity::Warning;
    item.record = Box::leak(Box::new(record));
    Candidate::new(name, vec![item])
}

#[test]
fn a_warning_neither_precedes_nor_explains_a_failure() {
    let order = |candidates: Vec<Candidate<'static>>| {
        let mut candidates = candidates;
        judge(&mut candidates);
        candidates.iter().map(|one| one.cause).collect::<Vec<_>>()
    };
    for (warning_at, failure_at) in [(1, 2), (2, 1)] {
        for weight in [1, 30, 60] {
            let failure =
                Candidate::new(STATED, vec![line(0, failure_at, STATED, weight, Role::Root, None)]);
            assert_eq!(order(vec![warned(SHOWN, warning_at, 90), failure]), [STATED, SHOWN]);
        }
    }
    // If all are warnings, the more specific one is first.
    assert_eq!(order(vec![warned(SHOWN, 1, 40), warned(STATED, 2, 80)]), [STATED, SHOWN]);
    // A warning does not explain a failure, even if a failure of that kind would.
    let edge = edges().iter().find(|edge| edge.scope == Scope::Rank).expect("an edge in a rank");
    let failure = Candidate::new(&edge.to[0], vec![line(0, 2, &edge.to[0], 60, Role::Root, None)]);
    let found = order(vec![warned(&edge.from, 1, 60), failure]);
    assert_eq!(found, [edge.to[0].as_str(), edge.from.as_str()]);
}

/// A line without a time inherits that of a line above it, which may be of another program: within
/// a log, the position decides.
#[test]
fn inherited_times_do_not_order_the_lines_of_a_log() {
    let inherited = |at, time| {
        let item = line(0, at, "x", 50, Role::Root, Some(time));
        let record = Box::leak(Box::new(Record { timed: false, ..item.record.clone() }));
        Item { record, ..item }
    };
    assert_eq!(is_not_later(&inherited(2, 10), &inherited(6, 3), 0), Some(true));
    assert_eq!(is_not_later(&inherited(6, 3), &inherited(2, 10), 0), Some(false));
    assert_eq!(Candidate::new("x", vec![inherited(6, 3), inherited(2, 10)]).first().position, 2);
    // Stated times show which of two pasted logs came first.
    let stated = |at, time| line(0, at, "x", 50, Role::Root, Some(time));
    assert_eq!(is_not_later(&stated(2, 100), &stated(6, 3), 0), Some(false));
}
