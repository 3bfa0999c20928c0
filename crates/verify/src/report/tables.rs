//! Tables of a report: cards, coverage of cores, times, health.

use crate::identity::DeviceNames;
use crate::parent::ChildResult;
use crate::protocol::{CoreKind, Event, Measure};
use crate::run::RunResult;
use crate::timeline::HealthSample;
use base::number::format_significant;
use base::report::Table;
use base::text::Text;
use data::{VerifyLimits, ui};

/// The card of each device.
pub(super) fn cards(names: &DeviceNames) -> Option<Table> {
    let text = |value: Option<String>| Text::same(value.unwrap_or_else(|| "?".to_owned()));
    // Without a list of visible devices, its column would be empty.
    let listed = names.0.iter().any(|known| known.visible.is_some());
    let row = |known: &crate::identity::DeviceIdentity| {
        let visible =
            listed.then(|| Text::same(known.visible.clone().unwrap_or_else(|| "-".to_owned())));
        let first = std::iter::once(Text::same(known.device.to_string())).chain(visible);
        first
            .chain([
                text(known.physical.map(|number| number.to_string())),
                text(known.pci.clone()),
                text(known.serial.clone()),
                text(known.chip_name.clone()),
                text(known.board.map(|board| format!("{board:#06x}"))),
                text(known.driver.clone()),
                Text::same(known.sources.join(", ")),
            ])
            .collect()
    };
    let mut head = vec![ui::VERIFY_RUNTIME_DEVICE.text()];
    head.extend(listed.then(|| ui::VERIFY_VISIBLE.text()));
    head.extend([
        ui::VERIFY_DEVICE.text(),
        ui::VERIFY_PCI.text(),
        ui::VERIFY_SERIAL.text(),
        ui::VERIFY_CHIP.text(),
        ui::VERIFY_BOARD.text(),
        ui::VERIFY_DRIVER.text(),
        ui::VERIFY_SOURCES.text(),
    ]);
    let rows: Vec<Vec<Text>> = names.0.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table { title: ui::VERIFY_CARDS.text(), head, rows })
}

/// The number of cores for which each operation had work, by chip. Devices with the same figures
/// share a row.
pub(super) fn coverage(done: &RunResult) -> Option<Table> {
    let mut rows: Vec<Vec<Text>> = Vec::new();
    for ran in &done.devices {
        let counts = ran.events.iter().find_map(|event| match event {
            Event::Cores { cube, vector } => Some((*cube, *vector)),
            _ => None,
        });
        let (cube, vector) = counts.unwrap_or_default();
        for event in &ran.events {
            let Event::Coverage { operation, cores, blocks, seen } = event else { continue };
            let reported = match cores {
                CoreKind::Cube => cube,
                CoreKind::Vector => vector,
            };
            let covered = match reported {
                None => ui::VERIFY_COVERED_UNKNOWN.text(),
                Some(count) if *blocks < count => {
                    ui::VerifyCoveredPart { blocks, cores: count }.text()
                }
                Some(_) if *seen => ui::VERIFY_COVERED_SEEN.text(),
                Some(_) => ui::VERIFY_COVERED_OFFERED.text(),
            };
            let row = vec![
                Text::same(ran.soc().unwrap_or("?")),
                Text::same(operation),
                Text::same(match cores {
                    CoreKind::Cube => "Cube Core",
                    CoreKind::Vector => "Vector Core",
                }),
                Text::same(reported.map_or_else(|| "?".to_owned(), |count| count.to_string())),
                Text::same(blocks.to_string()),
                covered,
            ];
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    let head = vec![
        ui::VERIFY_CHIP.text(),
        ui::VERIFY_OPERATION.text(),
        ui::VERIFY_CORE_KIND.text(),
        ui::VERIFY_CORE_COUNT.text(),
        ui::VERIFY_BLOCKS.text(),
        ui::VERIFY_COVERED.text(),
    ];
    (!rows.is_empty()).then(|| Table { title: ui::VERIFY_CORES.text(), head, rows })
}

/// The shortest times of each device. Times of a repeated, separate run replace the first ones.
pub(super) fn times(done: &RunResult, names: &DeviceNames) -> Option<Table> {
    let best = |ran: &ChildResult, wanted: Measure| {
        let own = done.retimed.iter().filter(|again| again.device == ran.device);
        let times = own.chain([ran]).flat_map(|ran| &ran.events).filter_map(|event| match event {
            Event::Time { measure, best_ms, .. } if *measure == wanted => Some(*best_ms),
            _ => None,
        });
        times.min_by(f64::total_cmp)
    };
    let measured = |measure: &Measure| done.devices.iter().any(|ran| best(ran, *measure).is_some());
    let measures: Vec<Measure> = Measure::ALL.into_iter().filter(measured).collect();
    let row = |ran: &ChildResult| {
        let mut row = vec![Text::same(names.short(ran.device))];
        row.extend(measures.iter().map(|measure| {
            Text::same(best(ran, *measure).map_or_else(|| "-".to_owned(), format_significant))
        }));
        row
    };
    let mut head = vec![ui::VERIFY_CARD.text()];
    head.extend(measures.iter().map(|measure| Text::same(measure.as_str())));
    let rows: Vec<Vec<Text>> = done.devices.iter().map(row).collect();
    (!measures.is_empty()).then(|| Table { title: ui::VERIFY_TIMES.text(), head, rows })
}

/// The state of each card before and after.
pub(super) fn health(done: &RunResult, names: &DeviceNames) -> Option<Table> {
    let mut rows = Vec::new();
    for known in &names.0 {
        let (Some(card), Some(chip)) = (known.card, known.chip) else { continue };
        let samples: Vec<&HealthSample> = done.history.of_card(card, chip).collect();
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { continue };
        let pair = |value: &dyn Fn(&HealthSample) -> Option<String>| {
            let show = |sample| value(sample).unwrap_or_else(|| "?".to_owned());
            let (before, after) = (show(first), show(last));
            Text::same(if before == after { before } else { format!("{before} - {after}") })
        };
        rows.push(vec![
            Text::same(known.short_name()),
            pair(&|sample| Some(sample.health.temperature_c?.to_string())),
            pair(&|sample| Some(format!("{:.1}", sample.health.power_w?))),
            pair(&|sample| Some(sample.health.frequency_mhz?.to_string())),
            pair(&|sample| {
                Some(format!("{} / {}", sample.health.ecc_single?, sample.health.ecc_double?))
            }),
            pair(&|sample| sample.health.pci_link.clone()),
        ]);
    }
    let head = vec![
        ui::VERIFY_CARD.text(),
        ui::VERIFY_TEMPERATURE.text(),
        ui::VERIFY_POWER.text(),
        ui::VERIFY_FREQUENCY.text(),
        ui::VERIFY_ECC.text(),
        ui::VERIFY_LINK.text(),
    ];
    (!rows.is_empty()).then(|| Table { title: ui::VERIFY_HEALTH.text(), head, rows })
}

/// The speed under load as a share of the peak of the chip, if its figures are known.
pub(super) fn peak_shares(done: &RunResult, names: &DeviceNames) -> Vec<Text> {
    let of = |ran: &ChildResult| {
        let soc = done.devices.iter().find(|own| own.device == ran.device)?.soc()?;
        let peak = VerifyLimits::builtin().chip(soc)?.peak_tflops();
        let speed = ran.events.iter().find_map(|event| match event {
            Event::Load { last_tflops, .. } => Some(*last_tflops),
            _ => None,
        })?;
        let text = ui::VerifyPeak {
            peak: format_significant(peak),
            share: format_significant(speed / peak * 100.0),
            tflops: format_significant(speed),
            what: names.join(&[ran.device]),
        };
        Some(text.text())
    };
    done.loads.iter().filter_map(of).collect()
}
