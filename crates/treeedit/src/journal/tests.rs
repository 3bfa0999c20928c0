use super::*;

#[test]
fn runs_are_undone_in_reverse_order() {
    let dir = tempfile::tempdir().unwrap();
    let journals = Journals::open(dir.path()).unwrap();
    assert!(journals.latest().unwrap().is_none());
    let odd = Path::new(OsStr::from_bytes(b"caf\xe9.py"));
    let original =
        |relative, before| Original { relative, mode: 0o644, names: 1, before, after: b"n" };
    let first = journals.begin(&[original(Path::new("a/b.py"), b"one")]).unwrap();
    first.settle().unwrap();
    first.finish(vec![0], journals.tree(), &[]).unwrap();
    let second = journals.begin(&[original(odd, b"two"), original(odd, b"")]).unwrap();
    second.settle().unwrap();
    let (latest, state) = journals.latest().unwrap().unwrap();
    assert_eq!((latest.number, &state), (2, &State::Interrupted));
    assert_eq!(latest.entries[0].path.path(), odd);
    assert_eq!(latest.originals(&[1, 0]).unwrap(), [b"".to_vec(), b"two".to_vec()]);
    assert!(Journals::has_interrupted_run(dir.path()));
    second.remove().unwrap();
    assert!(!Journals::has_interrupted_run(dir.path()));
    let (latest, state) = journals.latest().unwrap().unwrap();
    assert_eq!((latest.number, state), (1, State::Done(vec![0])));
    latest.remove().unwrap();
    journals.tidy();
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
}

#[test]
fn second_run_is_refused_while_one_is_active() {
    let dir = tempfile::tempdir().unwrap();
    let first = Journals::open(dir.path()).unwrap();
    assert!(matches!(Journals::open(dir.path()), Err(JournalError::Busy(_))));
    drop(first);
    // A program that another test of this process starts has a copy of the lock until it is
    // executed.
    let free = (0..500).any(|_| match Journals::existing(dir.path()) {
        Err(JournalError::Busy(_)) => {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
        other => other.unwrap().is_some(),
    });
    assert!(free);
}

#[test]
fn forged_journal_with_outside_paths_is_rejected() {
    for path in ["../x", "/etc/passwd", "a/../../x", ""] {
        assert!(!is_inside(Path::new(path)), "{path}");
    }
    let dir = tempfile::tempdir().unwrap();
    let journals = Journals::open(dir.path()).unwrap();
    let original =
        Original { relative: Path::new("../x"), mode: 0o644, names: 1, before: b"1", after: b"2" };
    journals.begin(&[original]).unwrap().settle().unwrap();
    assert!(matches!(journals.latest(), Err(JournalError::Malformed(..))));
}

#[test]
fn damaged_journals_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let journals = Journals::open(dir.path()).unwrap();
    let original =
        |before| Original { relative: Path::new("x"), mode: 0o644, names: 1, before, after: b"2" };
    let journal = journals.begin(&[original(b"1")]).unwrap();
    pack(&File::create(journal.path().join(ORIGINALS)).unwrap(), &[original(b"9")]).unwrap();
    assert!(matches!(journal.originals(&[0]), Err(JournalError::Malformed(..))));
}
