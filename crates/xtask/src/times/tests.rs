//! Measurements in a clone of a small repository, with shell commands in place of Cargo.

use super::*;

/// A repository with a source file and a finding, its clone, and a runner in the clone.
struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        for (path, text) in [
            ("src/convert/mod.rs", "fn f() {}\n"),
            (
                "data/findings/a.toml",
                "[[finding]]\nid = \"A-B\"\nname = { en = \"All is well\", zh = \"好\" }\n",
            ),
        ] {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(&root, &["init", "-q"]).unwrap();
        git(&root, &["add", "."]).unwrap();
        let commit = ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x"];
        git(&root, &commit).unwrap();
        clone_head(&root, &temp.path().join("clone")).unwrap();
        Self { temp }
    }

    fn runner(&self) -> Runner {
        let temp = self.temp.path();
        Runner::new(&temp.join("clone"), &temp.join("target"), temp)
    }

    fn measure(&self, limit: &Limit) -> Row {
        measure(limit, &self.runner(), Path::new("src/convert/mod.rs")).unwrap()
    }
}

fn shell(script: &str) -> Step {
    let args = ["-c", script, "sh", "ID"].map(str::to_owned).to_vec();
    Step { program: "sh".to_owned(), args, any_status: false, empty_caches: false }
}

fn limit(edit: Edit, prepare: &str, measured: &str) -> Limit {
    Limit {
        name: "test",
        title: "a test".to_owned(),
        seconds: 30,
        profile: "dev",
        clean: true,
        prepare: vec![shell(prepare)],
        edit,
        measure: vec![shell(measured)],
    }
}

#[test]
fn a_source_is_edited_between_preparation_and_measurement() {
    let place = Place::new();
    let prepare = "! grep -q 'const _' src/convert/mod.rs";
    let row = place.measure(&limit(Edit::Source, prepare, "grep 'const _' src/convert/mod.rs"));
    assert!(row.passed(), "{row:?}");
    // The next limit starts from the sources of the commit.
    assert!(place.measure(&limit(Edit::None, "true", prepare)).passed());
}

#[test]
fn the_edited_sentence_has_to_be_printed() {
    let place = Place::new();
    let print = "grep -A1 \"$1\" data/findings/a.toml";
    assert!(place.measure(&limit(Edit::Sentence, "true", print)).passed());
    let row = place.measure(&limit(Edit::Sentence, "true", "echo \"$1: All is well\""));
    assert!(row.markdown().ends_with("| error |"), "{row:?}");
    assert!(format!("{row:?}").contains("`explain A-B` does not print the edited sentence"));
}

#[test]
fn a_failing_command_is_no_passed_limit() {
    let place = Place::new();
    assert!(!place.measure(&limit(Edit::None, "exit 1", "true")).passed());
    assert!(!place.measure(&limit(Edit::None, "true", "exit 1")).passed());
    let slow = Limit { seconds: 0, ..limit(Edit::None, "true", "true") };
    assert!(place.measure(&slow).markdown().ends_with("| 0 | fail |"));
}

#[test]
fn uncommitted_changes_are_noticed() {
    let place = Place::new();
    let root = place.temp.path().join("root");
    assert!(!is_changed(&root).unwrap());
    std::fs::write(root.join("new.txt"), "").unwrap();
    assert!(is_changed(&root).unwrap());
}
