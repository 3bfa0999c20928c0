//! `convert` and `convert --undo` while directories are replaced by links.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "lays files for the race and prints its figures"
)]

use std::path::Path;

use race::Race;
use treeedit::commit::{Change, Refusal, commit};
use treeedit::journal::Journals;
use treeedit::undo::undo;

fn convert_and_undo(name: &str, file: &str) {
    let race = Race::start(name);
    let relative = Path::new(file);
    let (mut replaced, mut undone) = (0, 0);
    for _ in race.rounds() {
        let inner = relative.file_name().unwrap().to_str().unwrap();
        if relative.parent() == Some(Path::new(name)) {
            race.lay(inner, "old");
        } else {
            std::fs::write(race.root().join(relative), "old").unwrap();
        }
        let change = Change { relative, before: b"old", after: b"new" };
        if let Ok(journals) = Journals::open(&race.root()) {
            let written = commit::<Refusal>(&journals, &[change], true, &|_| Ok(()));
            if let Ok(mut written) = written {
                replaced += written.replaced;
                drop(written.finishing.take());
            }
            if let Ok(Some(report)) = undo(&journals, true) {
                undone += report.restored.len();
            }
        }
        // Existing backups would change the names of new ones.
        for path in [race.root().join(name), race.root()] {
            let _ = std::fs::remove_file(path.join(format!("{inner}.bak")));
        }
        race.assert_outside((relative.parent() == Some(Path::new(name))).then_some("old"));
    }
    let swaps = race.finish();
    println!("{name}: {swaps} exchanges, {replaced} replaced, {undone} undone");
    assert!(replaced > 0, "{swaps} {replaced}");
}

#[test]
fn converting_and_undoing_write_nothing_outside() {
    convert_and_undo("d", "d/a.py");
}

#[test]
fn journals_are_not_written_outside() {
    convert_and_undo(".ascend-doctor", "a.py");
}
