//! Files from other users: the evidence of a run, for `--replay`, and a report, for `--baseline`.
#![no_main]

use libfuzzer_sys::fuzz_target;

use verify::baseline::{Baseline, read_baseline};
use verify::evidence;
use verify::identity::{DeviceNames, identify};
use verify::judge::{JudgeContext, judge};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(baseline) = read_baseline(bytes, "report.json") {
        assert_ne!(baseline, Baseline::default(), "nothing to compare with is an error");
    }
    let text = String::from_utf8_lossy(bytes);
    let Some((_, recorded)) = evidence::read(&text) else { return };
    let names = DeviceNames(identify(&recorded.result, &recorded.machine));
    let visible = recorded.machine.visible.clone();
    let context = JudgeContext { visible, names, ..JudgeContext::default() };
    let judged = || judge(&recorded.result, &recorded.stages, &context);
    assert_eq!(format!("{:?}", judged()), format!("{:?}", judged()), "judged twice the same");
});
