//! Tests of the comparison: streams, statuses, files.

use super::*;
use crate::process::Status;

fn output(stdout: &[u8], code: i32) -> Output {
    let stdout = Stream { bytes: stdout.to_vec(), rest: None };
    Output { status: Status::Exited(code), stdout, stderr: Stream::default() }
}

/// Compares two outputs and two trees, given as paths and contents.
fn changes(outputs: [&[Output]; 2], files: [&[(&str, &[u8])]; 2]) -> Vec<Change> {
    let dir = tempfile::tempdir().unwrap();
    let observe = |side: usize| {
        let tree = dir.path().join(side.to_string());
        std::fs::create_dir(&tree).unwrap();
        for (path, content) in files[side] {
            let path = tree.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        Observation { outputs: outputs[side].to_vec(), tree }
    };
    let normalizer = Normalizer::new("1", "1").unwrap();
    let (old, new) = (observe(0), observe(1));
    let side = |observation| {
        let rules = Rules { normalizer: &normalizer, paths: &[], timed: false };
        Side { observation, rules }
    };
    compare(side(&old), side(&new)).unwrap()
}

fn shown(changes: &[Change]) -> Vec<String> {
    let part = |change: &Change| {
        let lines: Vec<&str> = change.changed_lines().collect();
        format!("{}: {}", change.part, lines.join(" "))
    };
    changes.iter().map(part).collect()
}

#[test]
fn equal_observations_have_no_changes() {
    let same = [output(b"a\n", 0)];
    assert_eq!(changes([&same, &same], [&[("x", b"1")], &[("x", b"1")]]), []);
}

#[test]
fn streams_differ_by_line() {
    let found = changes([&[output(b"a\nb\nc\nd\n", 0)], &[output(b"a\nb\nX\nd\n", 1)]], [&[], &[]]);
    assert_eq!(shown(&found), ["exit status: -exit status 0 +exit status 1", "stdout: -c +X"]);
    assert_eq!(found[1].lines, ["@@ -2,3 +2,3 @@", " b", "-c", "+X", " d"]);
}

#[test]
fn measured_values_do_not_differ() {
    let of = |time: &str| [output(format!("{{\"taken\": {time}}}").as_bytes(), 0)];
    assert_eq!(changes([&of("1"), &of("22")], [&[], &[]]), []);
}

#[test]
fn line_ends_and_binary_data_differ() {
    let found = changes([&[output(b"a\n", 0)], &[output(b"a\r\n", 0)]], [&[], &[]]);
    assert_eq!(shown(&found), ["stdout: -a +a\r"]);
    let found = changes([&[output(b"\xff\n", 0)], &[output(b"\xfe\n", 0)]], [&[], &[]]);
    assert!(shown(&found)[0].starts_with("stdout: -binary, 2 bytes"), "{found:?}");
}

#[test]
fn output_beyond_the_limit_differs() {
    let mut long = output(b"a\n", 0);
    long.stdout.rest = Some((10, 7));
    let found = changes([&[output(b"a\n", 0)], &[long]], [&[], &[]]);
    let wanted = "stdout: -no bytes beyond the limit +10 bytes beyond the limit, hash";
    assert!(shown(&found)[0].starts_with(wanted), "{found:?}");
}

#[test]
fn files_differ_by_presence_mode_and_content() {
    let found = changes(
        [&[], &[]],
        [
            &[("a/x", b"1\n"), ("gone", b"z\n"), (".git/index", b"1")],
            &[("a/x", b"2\n"), (".git/index", b"2")],
        ],
    );
    assert_eq!(
        shown(&found),
        ["file a/x: -1 +2", "file gone: -file, mode 0644 +absent", "file gone: -z"]
    );
}

#[test]
fn archives_differ_by_member() {
    let pack = |content: &str| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("report.json"), content).unwrap();
        let archive = dir.path().join("x.tar.gz");
        let mut tar = Command::new("tar");
        tar.arg("czf").arg(&archive).arg("-C").arg(dir.path()).arg("report.json");
        assert!(tar.status().unwrap().success());
        std::fs::read(archive).unwrap()
    };
    let (one, other) = (pack("1\n"), pack("2\n"));
    let found =
        changes([&[], &[]], [&[("b.tar.gz", one.as_slice())], &[("b.tar.gz", other.as_slice())]]);
    assert_eq!(shown(&found), ["file b.tar.gz!report.json: -1 +2"]);
}

#[test]
fn a_missing_command_line_differs() {
    let found = changes([&[output(b"", 0), output(b"", 0)], &[output(b"", 0)]], [&[], &[]]);
    assert_eq!(shown(&found), ["command lines run: -2 +1"]);
}
