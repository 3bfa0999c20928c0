//! The ranks of a job over time: the member `diagnosis.timeline` of a report, and its view.

use serde::Deserialize;

use super::state::State;
use super::words::{Words, words};
use base::text::Text;
use data::ui;

/// The shown part of the member `diagnosis`.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct DiagnosisPart {
    /// `None` for fewer than two ranks, and in reports from before the timeline.
    #[serde(default)]
    timeline: Option<Timeline>,
}

#[derive(Debug, Clone, Deserialize)]
struct Timeline {
    ranks: Vec<RankLine>,
    #[serde(default)]
    more_ranks: usize,
}

#[derive(Debug, Clone, Deserialize)]
struct RankLine {
    rank: u32,
    state: RankState,
    #[serde(default)]
    first_line: Option<Moment>,
    #[serde(default)]
    first_failure: Option<Failure>,
    #[serde(default)]
    last_line: Option<Moment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RankState {
    Failed,
    NoFailure,
    /// Also an unknown value of a newer version.
    #[serde(other)]
    NoLog,
}

#[derive(Debug, Clone, Deserialize)]
struct Failure {
    #[serde(default)]
    at: Option<Moment>,
    title: Text,
}

#[derive(Debug, Clone, Deserialize)]
struct Moment {
    time: String,
    offset_ms: i64,
}

/// The view of the timeline.
pub(super) struct TimelineView<'a> {
    pub(super) heading: Words,
    pub(super) about: Words,
    pub(super) head: [Words; 4],
    pub(super) more: Option<Words>,
    /// The day, if all times share it.
    pub(super) day: Option<&'a str>,
    ranks: &'a [RankLine],
    axis: Axis,
}

/// A rank.
pub(super) struct RankView {
    pub(super) rank: u32,
    pub(super) state: State,
    pub(super) said: Words,
    pub(super) cause: Option<Words>,
    pub(super) last: Words,
    /// From the first line to the last, in percent of the axis.
    pub(super) span: Option<Span>,
    /// The first failure, in percent of the axis.
    pub(super) failed: Option<u32>,
}

/// A part of the axis.
pub(super) struct Span {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// From the first moment to the last.
#[derive(Clone, Copy)]
struct Axis {
    from: i64,
    to: i64,
}

impl Axis {
    fn over(ranks: &[RankLine]) -> Self {
        let moments = ranks.iter().flat_map(RankLine::moments).map(|moment| moment.offset_ms);
        let (from, to) =
            moments.fold((i64::MAX, i64::MIN), |(from, to), at| (from.min(at), to.max(at)));
        Self { from, to }
    }

    /// The position of a moment in percent, with room for its sign at either end.
    fn place(self, moment: &Moment) -> u32 {
        let length = i128::from(self.to) - i128::from(self.from);
        let after = i128::from(moment.offset_ms) - i128::from(self.from);
        if length <= 0 {
            return 50;
        }
        u32::try_from(2 + after * 96 / length).unwrap_or(50).min(98)
    }
}

impl RankLine {
    fn moments(&self) -> impl Iterator<Item = &Moment> {
        let failure = self.first_failure.as_ref().and_then(|failure| failure.at.as_ref());
        [self.first_line.as_ref(), failure, self.last_line.as_ref()].into_iter().flatten()
    }
}

impl<'a> TimelineView<'a> {
    pub(super) fn new(part: &'a DiagnosisPart) -> Option<Self> {
        let Timeline { ranks, more_ranks } = part.timeline.as_ref()?;
        if ranks.is_empty() {
            return None;
        }
        let head = [
            ui::TIMELINE_RANK,
            ui::TIMELINE_FIRST_FAILURE,
            ui::TIMELINE_LAST_LINE,
            ui::TIMELINE_COURSE,
        ];
        Some(Self {
            heading: words(&ui::TIMELINE_HEADING.text()),
            about: words(&ui::TIMELINE_ABOUT.text()),
            head: head.map(|label| words(&label.text())),
            more: (*more_ranks > 0).then(|| words(&ui::TimelineMore { n: *more_ranks }.text())),
            day: common_day(ranks),
            ranks,
            axis: Axis::over(ranks),
        })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = RankView> {
        let (axis, day) = (self.axis, self.day);
        self.ranks.iter().map(move |line| view(line, axis, day))
    }
}

/// The date with which all times begin.
fn common_day(ranks: &[RankLine]) -> Option<&str> {
    let mut days = ranks
        .iter()
        .flat_map(RankLine::moments)
        .map(|moment| moment.time.rsplit_once(' ').map(|(day, _)| day));
    let first = days.next()??;
    days.all(|day| day == Some(first)).then_some(first)
}

fn view(line: &RankLine, axis: Axis, day: Option<&str>) -> RankView {
    let clock = |moment: &Moment| {
        let time = day.and_then(|day| moment.time.strip_prefix(day)).unwrap_or(&moment.time);
        Text::same(time.trim_start())
    };
    let failure = line.first_failure.as_ref();
    let failed_at = failure.and_then(|failure| failure.at.as_ref());
    let (state, said) = match line.state {
        RankState::Failed => {
            let time = failed_at.map(clock);
            (State::Error, time.unwrap_or_else(|| ui::TIMELINE_NO_TIME.text()))
        }
        RankState::NoFailure => (State::Nothing, ui::TIMELINE_NO_FAILURE.text()),
        RankState::NoLog => (State::Unknown, ui::TIMELINE_NO_LOG.text()),
    };
    let last = match (&line.last_line, line.state) {
        (Some(last), _) => clock(last),
        (None, RankState::NoLog) => Text::same("–"),
        (None, _) => ui::TIMELINE_NO_TIME.text(),
    };
    let begin = line.first_line.as_ref().or(failed_at);
    let span = begin.zip(line.last_line.as_ref()).map(|(first, last)| {
        let (from, to) = (axis.place(first), axis.place(last));
        Span { from: from.min(to), to: from.max(to) }
    });
    RankView {
        rank: line.rank,
        state,
        said: words(&said),
        cause: failure.map(|failure| words(&failure.title)),
        last: words(&last),
        span,
        failed: failed_at.map(|at| axis.place(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_offsets_stay_on_the_axis() {
        let at = |offset_ms| Moment { time: String::new(), offset_ms };
        let axis = Axis { from: i64::MIN, to: i64::MAX };
        assert_eq!((axis.place(&at(i64::MIN)), axis.place(&at(i64::MAX))), (2, 98));
        let axis = Axis { from: 5, to: 5 };
        assert_eq!(axis.place(&at(5)), 50);
        let axis = Axis { from: 0, to: 100 };
        assert_eq!(axis.place(&at(50)), 50);
    }
}
