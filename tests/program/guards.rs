//! One attack for each guard: the scripts in `tests/attacks/`.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test that runs scripts")]

use std::process::Command;

/// Runs an attack, which fails if the guard did not hold.
fn attack(name: &str) {
    let dir = tempfile::Builder::new().prefix("attack-").tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attacks");
    let output = Command::new("bash")
        .arg(format!("{script}/{name}.sh"))
        .arg(assert_cmd::cargo::cargo_bin("ascend-doctor"))
        .arg(dir.path().canonicalize().unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{name}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn writes_stay_inside() {
    attack("writes");
}

#[test]
fn no_program_of_a_repository_runs() {
    attack("processes");
}

#[test]
fn bundles_have_no_secrets() {
    attack("secrets");
}

#[test]
fn no_character_reaches_the_terminal_raw() {
    attack("text");
}

#[test]
fn scarce_resources_cause_no_panic() {
    attack("limits");
}

#[test]
fn settings_of_others_open_no_gate() {
    attack("settings");
}
