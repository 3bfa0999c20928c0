use proptest::prelude::*;

use super::*;
use base::version::{DottedVersion, InnerVersion};

fn v(text: &str) -> pep440_rs::Version {
    text.parse().unwrap()
}

fn cann(text: &str) -> CannVersion {
    text.parse().unwrap()
}

fn pair(npu: &str, on: &str) -> Support {
    Matrix::builtin().torch_npu_with_cann(&v(npu), &cann(on))
}

fn fits(npu: &str, on: &str) -> bool {
    matches!(pair(npu, on), Support::Recommended { .. } | Support::Compatible { .. })
}

#[test]
fn the_builtin_matrix_is_sound() {
    let (matrix, _) = Matrix::parse(include_str!("../../compat_matrix.toml")).unwrap();
    // The built-in matrix was unpacked without these checks.
    let (read, unpacked) = (serde_json::to_value(&matrix), serde_json::to_value(Matrix::builtin()));
    assert_eq!(read.unwrap(), unpacked.unwrap());
    assert!(matrix.torch_npu.len() > 130 && matrix.vllm_ascend.len() >= 42);
    assert_eq!(matrix.generated_from.len(), 8);
}

#[test]
fn every_recommended_row_is_recommended() {
    let matrix = Matrix::builtin();
    let mut count = 0;
    for row in matrix.torch_npu.iter().filter(|row| row.level == Level::Recommended) {
        let support = matrix.torch_npu_with_cann(&row.version, row.cann.as_deref().unwrap());
        assert!(matches!(support, Support::Recommended { .. }), "{}: {support:?}", row.version);
        count += 1;
    }
    assert_eq!(count, 75);
}

#[test]
fn every_pair_of_a_window_is_compatible() {
    let matrix = Matrix::builtin();
    let mut count = 0;
    for window in &matrix.windows {
        let of_release = matrix.torch_npu.iter().filter(|row| {
            row.release.as_ref().is_some_and(|release| window.release.covers(release))
        });
        for row in of_release {
            for known in &matrix.cann {
                if window.cann.iter().any(|pattern| pattern.covers(&known.version)) {
                    let support = matrix.torch_npu_with_cann(&row.version, &known.version);
                    let ok =
                        matches!(support, Support::Recommended { .. } | Support::Compatible { .. });
                    assert!(ok, "{} on {}: {support:?}", row.version, known.version);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn every_vllm_ascend_row_fits_its_own_torch_npu() {
    let matrix = Matrix::builtin();
    for row in &matrix.vllm_ascend {
        for npu in &row.torch_npu {
            let support = matrix.torch_npu_with_cann(npu, &row.cann);
            let bad = matches!(support, Support::Unsupported { .. });
            assert!(!bad, "vllm-ascend {}: {npu} on {}: {support:?}", row.version, row.cann);
        }
    }
}

#[test]
fn patch_releases_and_candidates_of_a_listed_line_fit() {
    assert!(fits("2.9.0", "8.5.1") && fits("2.9.0", "8.5.2"));
    assert!(fits("2.7.1", "8.3.RC2") && fits("2.9.0", "8.3.RC1"));
    assert!(fits("2.8.0", "8.5.0"), "released so by vllm-ascend 0.13.0rc2");
    assert!(fits("2.7.1.dev20250724", "8.2.RC1") && fits("2.9.0.post1+git4c901a4", "8.5.1"));
    assert!(fits("2.7.1", "8.3.RC1.alpha002") && fits("2.10.0", "9.0.0-beta.1"));
}

#[test]
fn newer_than_the_table_is_never_unsupported() {
    assert_eq!(pair("2.15.0", "9.1.0"), Support::NewerThanTable("torch_npu"));
    assert_eq!(pair("2.9.0.post10", "9.1.0"), Support::NewerThanTable("torch_npu"));
    assert_eq!(pair("3.0.0", "9.1.0"), Support::NewerThanTable("torch_npu"));
    assert_eq!(pair("2.9.0", "9.3.0"), Support::NewerThanTable("cann"));
    assert_eq!(pair("2.9.0", "10.0.0"), Support::NewerThanTable("cann"));
    assert!(fits("2.12.0", "9.1.1"));
    assert_eq!(pair("2.9.0rc1", "8.3.RC1"), Support::Unlisted);
}

#[test]
fn what_the_release_notes_leave_out_is_unsupported() {
    let Support::Unsupported { side, window, accepted, .. } = pair("2.7.1.post8", "8.3.RC1") else {
        panic!("{:?}", pair("2.7.1.post8", "8.3.RC1"));
    };
    assert_eq!((side, window), (Side::Older, true));
    assert_eq!(accepted, ["9.2.X", "9.1.X", "9.0.X", "8.5.X"]);
    let newer = pair("2.6.0", "9.0.0");
    assert!(matches!(newer, Support::Unsupported { side: Side::Newer, .. }), "{newer:?}");
    let no_window = pair("2.1.0.post8", "8.5.0");
    assert!(matches!(no_window, Support::Unsupported { window: false, .. }), "{no_window:?}");
}

#[test]
fn verdicts_on_conflicting_sources() {
    assert!(matches!(pair("2.4.0", "8.0.RC3"), Support::Recommended { .. }));
    assert!(matches!(pair("2.3.1", "8.0.RC2"), Support::Recommended { .. }));
    assert!(matches!(pair("2.2.0", "8.0.RC1"), Support::Recommended { .. }));
    assert!(matches!(pair("2.1.0", "7.0.0"), Support::Recommended { .. }));
    assert!(fits("2.10.0", "9.0.0"));
    let matrix = Matrix::builtin();
    let typo = matrix.torch_npu(&v("1.5.0.post3")).unwrap();
    assert!(typo.torch.0 == v("1.5.0") && typo.note.is_some());
    let pinned = |version: &str| {
        matrix.vllm_ascend(&v(version)).unwrap().torch_npu.first().unwrap().to_string()
    };
    assert_eq!(pinned("0.18.0"), "2.9.0");
    assert_eq!(pinned("0.13.0rc2"), "2.8.0");
    assert_eq!(pinned("0.11.0"), "2.7.1");
    assert_eq!(pinned("0.11.0rc3"), "2.7.1");
    for version in ["0.24.0rc1", "0.25.1rc1", "0.7.1rc1", "0.7.3rc1", "0.7.3rc2", "0.8.4rc1"] {
        assert_eq!(matrix.vllm_ascend(&v(version)).unwrap().level, Level::DerivedFromTag);
    }
}

#[test]
fn pythons_are_those_of_the_wheels() {
    let row = |version: &str| Matrix::builtin().torch_npu(&v(version)).unwrap();
    assert_eq!(row("2.9.0").pythons(), ["3.10", "3.11", "3.12"]);
    assert_eq!(row("2.7.1").has_wheel("x86_64", "3.12"), Some(false));
    assert_eq!(row("2.12.0.post3").has_wheel("aarch64", "3.14"), Some(true));
    assert_eq!(row("2.7.1.post1").has_wheel("aarch64", "3.11"), None);
}

struct Machine<'a>(&'a str, &'a str, &'a str, &'a str, &'a str, &'a str);

/// Evaluates driver version, code and list with CANN version, code and list. Empty means unknown.
fn driver(machine: &Machine<'_>) -> DriverSupport {
    let Machine(driver, driver_inner, driver_list, version, inner, list) = *machine;
    let dotted: Option<DottedVersion> = driver.parse().ok();
    let driver_inner: Option<InnerVersion> = driver_inner.parse().ok();
    let cann: Option<CannVersion> = version.parse().ok();
    let inner: Option<InnerVersion> = inner.parse().ok();
    let text = |list: &'static str| Some(list).filter(|list| !list.is_empty());
    let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    Matrix::builtin().driver_with_cann(
        DriverSide {
            version: dotted.as_ref(),
            inner: driver_inner.as_ref(),
            accepts: text(leak(driver_list)),
        },
        CannSide { version: cann.as_ref(), inner: inner.as_ref(), accepts: text(leak(list)) },
    )
}

const LIST_85: &str =
    "[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C23]";

#[test]
fn published_driver_pairs_fit() {
    let matrix = Matrix::builtin();
    for row in &matrix.pairs {
        let support = matrix.driver_with_cann(
            DriverSide { version: Some(&row.hdk), ..DriverSide::default() },
            CannSide { version: Some(&row.cann), ..CannSide::default() },
        );
        assert!(matches!(support, DriverSupport::Paired { .. }), "{}: {support:?}", row.key());
    }
    let patch = driver(&Machine("25.5.1", "", "", "8.5.2", "", ""));
    assert!(matches!(patch, DriverSupport::Paired { .. }), "{patch:?}");
}

#[test]
fn the_lists_of_the_machine_speak() {
    let listed = |machine| matches!(driver(&machine), DriverSupport::Listed { .. });
    assert!(listed(Machine(
        "24.1.0",
        "V100R001C19SPC002B226",
        "",
        "8.5.0",
        "V100R001C25",
        LIST_85
    )));
    assert!(listed(Machine("27.0.0", "V100R001C30", "[V100R001C25]", "8.5.0", "V100R001C25", "")));
    let range = "[V100R001C15,V100R001C18]";
    assert!(listed(Machine("", "V100R001C17SPC001", "", "", "V100R001C17", range)));
}

#[test]
fn old_drivers() {
    let old =
        driver(&Machine("23.0.rc3", "V100R001C13SPC005", "", "8.5.0", "V100R001C25", LIST_85));
    assert!(matches!(old, DriverSupport::TooOld { .. }), "{old:?}");
    let far = driver(&Machine("24.1.0", "V100R001C19", "", "9.0.0", "V100R001C10", ""));
    assert!(matches!(far, DriverSupport::TooOld { .. }), "{far:?}");
    let near = driver(&Machine("25.2.1", "V100R001C21", "", "9.2.0", "V100R001C12", ""));
    assert!(matches!(near, DriverSupport::Unverified { .. }), "{near:?}");
    let window = driver(&Machine("25.3.rc1", "V100R001C23", "", "9.0.0", "V100R001C10", ""));
    assert!(matches!(window, DriverSupport::Paired { .. }), "{window:?}");
    // The release notes of CANN 9.1 exclude this line.
    let excluded = driver(&Machine("25.0.rc1.1", "V100R001C21", "", "9.1.0", "V100R001C11", ""));
    assert!(matches!(excluded, DriverSupport::Unverified { .. }), "{excluded:?}");
    // C17 is not on the list, although older codes are: that is not conclusive.
    let gap = driver(&Machine("24.1.rc1", "V100R001C17", "", "8.5.0", "V100R001C25", LIST_85));
    assert!(matches!(gap, DriverSupport::Unverified { .. }), "{gap:?}");
}

#[test]
fn new_drivers_are_no_fault() {
    let new = driver(&Machine("27.1.0", "V100R001C12", "", "8.3.RC1", "V100R001C23", ""));
    assert!(matches!(new, DriverSupport::NewerDriver { .. }), "{new:?}");
    assert_eq!(driver(&Machine("26.1.0", "", "", "9.3.0", "", "")), DriverSupport::NewerCann);
    assert_eq!(driver(&Machine("", "", "", "", "", "")), DriverSupport::Unknown);
    let a3 = driver(&Machine("26.0.rc1", "V100R001C10SPC001B257", "", "8.5.1", "", LIST_85));
    assert!(matches!(a3, DriverSupport::Paired { .. }), "{a3:?}");
    let board = driver(&Machine("25.1.rc2", "V100R001C10", "", "9.1.0", "V100R001C11", ""));
    assert!(matches!(board, DriverSupport::Paired { .. }), "{board:?}");
}

#[test]
fn numpy_by_cann() {
    let spec = |on: &str| {
        let row = Matrix::builtin().constraint_by_cann("numpy", &cann(on)).unwrap();
        (row.spec.0.contains(&v("2.1.0")), row.severity.as_str())
    };
    assert_eq!(spec("8.3.RC2"), (false, "error"));
    assert_eq!(spec("8.5.1"), (false, "warning"));
    assert_eq!(spec("9.0.0"), (true, "info"));
}

#[test]
fn mindspore_by_compiler_version() {
    let matrix = Matrix::builtin();
    let row = matrix.mindspore("2.7.0").unwrap();
    let on = |compiler| matrix.mindspore_with_cann(row, compiler, None);
    assert_eq!(on(Some("8.2.0.0.201")), MindSporeSupport::Listed);
    assert!(matches!(on(Some("8.5.0.2.220")), MindSporeSupport::NotListed { .. }));
    assert_eq!(on(None), MindSporeSupport::Unknown);
    assert_eq!(matrix.mindspore("2.3.9").unwrap().version, "2.3");
    assert!(matrix.mindspore("99.0").is_none());
}

const OVERLAY: &str = r#"
schema = "ascend-doctor/matrix/1"
as_of = "2027-01-31"

[[cann]]
version = "9.2.0"
level = "recommended"
source = "an example"

[[torch_npu]]
version = "2.14.0"
torch = "2.14.0"
release = "26.2.0"
cann = "9.2.0"
level = "recommended"
source = "an example"
"#;

#[test]
fn an_overlay_replaces_and_adds() {
    let matrix = Matrix::apply_overlay(OVERLAY, "new.toml").unwrap();
    let overlay = matrix.overlay.as_ref().unwrap();
    assert_eq!((overlay.replaced, overlay.added), (2, 0));
    let support = matrix.torch_npu_with_cann(&v("2.14.0"), &cann("9.2.0"));
    assert!(matches!(support, Support::Recommended { .. }), "{support:?}");
    assert!(matrix.describe().en.contains("new.toml, as of 2027-01-31"));
}

#[test]
fn a_bad_overlay_is_refused_with_its_line() {
    let fails = |from: &str, to: &str| {
        let text = OVERLAY.replacen(from, to, 1);
        assert_ne!(text, OVERLAY);
        Matrix::apply_overlay(&text, "x").unwrap_err()
    };
    assert_eq!(fails("matrix/1", "matrix/9").line, 2);
    assert_eq!(fails("\"9.2.0\"", "\"nine\"").line, 6);
    assert_eq!(fails("cann = \"9.2.0\"", "cann = \"9.9.0\"").line, 10);
    assert_eq!(fails("torch = ", "toorch = ").line, 12);
    assert_eq!(fails("source = \"an example\"", "source = \"\"").line, 5);
    let twice = format!("{OVERLAY}{}", &OVERLAY[OVERLAY.find("[[torch_npu]]").unwrap()..]);
    let error = Matrix::apply_overlay(&twice, "x").unwrap_err();
    assert!(error.line == 17 && error.what.en.contains("already in line 10"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = Matrix::apply_overlay(&text, "x");
    }

    #[test]
    fn a_damaged_overlay_never_panics(at in 0..OVERLAY.len(), with in "[\\[\\]=\"0-9a-z\\n.é]{0,4}") {
        let mut text = OVERLAY.to_owned();
        text.insert_str(at, &with);
        let _ = Matrix::apply_overlay(&text, "x");
        let cut = &OVERLAY[..at];
        let _ = Matrix::apply_overlay(cut, "x");
    }

    #[test]
    fn queries_never_panic(npu in "[0-9]{1,2}(\\.[0-9]{1,2}){0,3}(rc1|\\.post3|\\.dev2)?", on in "[0-9]{1,2}\\.[0-9]\\.(RC)?[0-9]") {
        let (Ok(npu), Ok(on)) = (npu.parse(), on.parse()) else { return Ok(()) };
        let _ = Matrix::builtin().torch_npu_with_cann(&npu, &on);
    }
}
