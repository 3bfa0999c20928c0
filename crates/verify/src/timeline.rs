//! Records the stages of each device over time, and the state of the cards during them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::protocol::{Card, Event, Health, Stage};

/// A stage of a device, from its first step to its last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The device; `None` for processes that use several devices or none.
    pub device: Option<i32>,
    /// The stage.
    pub stage: Stage,
    /// When its first step began, in seconds since the run began.
    pub from: f64,
    /// When its last step ended.
    pub until: f64,
}

/// The state of a card at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthSample {
    /// In seconds since the run began.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub seconds: f64,
    /// The state.
    #[serde(flatten)]
    pub health: Health,
}

/// The history of a completed run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The stages, in the order in which they began.
    pub spans: Vec<Span>,
    /// The cards.
    pub cards: Vec<Card>,
    /// Their states, in chronological order.
    pub samples: Vec<HealthSample>,
    /// The reason if the cards could not be read.
    pub refusal: Option<String>,
}

/// The maximum number of samples: enough for a minute at the shortest interval with 16 cards. When
/// it is reached, every second one in the middle is removed.
const MAX_SAMPLES: usize = 8192;

/// Collects the history during a run.
#[derive(Debug)]
pub struct Timeline {
    start: Instant,
    history: Mutex<History>,
}

impl Timeline {
    /// Starts the timeline.
    pub fn new() -> Self {
        Self { start: Instant::now(), history: Mutex::default() }
    }

    /// The time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Notes an event of a device.
    pub fn note(&self, device: Option<i32>, event: &Event) {
        let now = self.start.elapsed().as_secs_f64();
        let (stage, begins) = match event {
            Event::Begin { stage, .. } => (*stage, true),
            Event::StepEnd { stage, .. } => (*stage, false),
            _ => return,
        };
        let mut history = self.lock();
        let own = history.spans.iter_mut().rev().find(|span| span.device == device);
        match own {
            Some(span) if span.stage == stage => span.until = now,
            _ if begins => history.spans.push(Span { device, stage, from: now, until: now }),
            _ => {}
        }
    }

    /// Adds the results of a reading of the cards.
    pub fn add_reading(&self, seconds: f64, events: &[Event], refusal: Option<String>) {
        let mut history = self.lock();
        for event in events {
            match event {
                Event::Card(card) => {
                    let known = |own: &Card| (own.card, own.chip) == (card.card, card.chip);
                    if !history.cards.iter().any(known) {
                        history.cards.push((**card).clone());
                    }
                }
                Event::Health(health) => {
                    let health = (**health).clone();
                    history.samples.push(HealthSample { seconds, health });
                }
                _ => {}
            }
        }
        if history.samples.len() > MAX_SAMPLES {
            thin(&mut history.samples);
        }
        if history.refusal.is_none() {
            history.refusal = refusal;
        }
    }

    /// Whether the state of a card is known.
    pub fn has_samples(&self) -> bool {
        !self.lock().samples.is_empty()
    }

    /// The collected history.
    pub fn finish(self) -> History {
        self.history.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

/// Removes every second moment, and keeps the first and the last.
fn thin(samples: &mut Vec<HealthSample>) {
    let mut moments: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    moments.dedup();
    let last = moments.len().saturating_sub(1);
    let kept: Vec<f64> = moments
        .iter()
        .enumerate()
        .filter(|(at, _)| at % 2 == 0 || *at == last)
        .map(|(_, moment)| *moment)
        .collect();
    samples.retain(|sample| kept.iter().any(|moment| moment.total_cmp(&sample.seconds).is_eq()));
}

impl History {
    /// The stages of a device that overlap with a time.
    pub fn stages_between(&self, device: Option<i32>, from: f64, until: f64) -> Vec<Stage> {
        let mut stages = Vec::new();
        let shared = |span: &&Span| span.device == device || span.device.is_none();
        for span in self.spans.iter().filter(shared) {
            let overlaps = span.from <= until && span.until >= from;
            if overlaps && span.stage > Stage::Load && !stages.contains(&span.stage) {
                stages.push(span.stage);
            }
        }
        stages.sort_unstable();
        stages
    }

    /// The states of one card.
    pub fn of_card(&self, card: i32, chip: i32) -> impl Iterator<Item = &HealthSample> {
        let own =
            move |sample: &&HealthSample| (sample.health.card, sample.health.chip) == (card, chip);
        self.samples.iter().filter(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_a_time_are_found() {
        let span = |device, stage, from, until| Span { device, stage, from, until };
        let history = History {
            spans: vec![
                span(Some(1), Stage::Runtime, 0.0, 1.0),
                span(Some(0), Stage::Memory, 0.0, 9.0),
                span(Some(1), Stage::Memory, 1.1, 3.0),
                span(Some(1), Stage::Compute, 3.1, 5.0),
            ],
            ..History::default()
        };
        let stages = |from, until| history.stages_between(Some(1), from, until);
        assert_eq!(stages(1.5, 2.0), [Stage::Memory]);
        assert_eq!(stages(2.0, 4.0), [Stage::Memory, Stage::Compute]);
        assert_eq!(stages(6.0, 7.0), []);
    }

    #[test]
    fn samples_are_bounded_and_keep_the_ends() {
        let timeline = Timeline::new();
        for moment in 0..20_000 {
            let health = Event::Health(Box::default());
            timeline.add_reading(f64::from(moment), &[health], None);
        }
        let samples = timeline.finish().samples;
        assert!(samples.len() <= MAX_SAMPLES + 1, "{}", samples.len());
        assert!(samples[0].seconds.abs() < 1e-9);
        assert!((samples[samples.len() - 1].seconds - 19_999.0).abs() < 1e-9);
    }
}
