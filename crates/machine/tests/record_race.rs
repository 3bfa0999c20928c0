//! Records trees while their directories are replaced by links.
#![expect(clippy::disallowed_methods, reason = "builds and opens the tree that is recorded")]

use machine::sysroot::Sysroot;
use race::Race;

#[test]
fn recording_writes_nothing_outside() {
    let machine = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(machine.path().join("etc/d")).unwrap();
    for file in ["etc/d/f", "etc/pip.conf", "etc/hostname"] {
        let text = "index-url = https://user:password@mirror.example/simple\n";
        std::fs::write(machine.path().join(file), text).unwrap();
    }
    let race = Race::start("d");
    let (mut whole, mut failed) = (0, 0);
    for _ in race.rounds() {
        let mut sysroot = Sysroot::tree(machine.path()).unwrap();
        // The recording itself, and a directory in it, are replaced.
        let recorded = sysroot.record_into(&race.root().join("d/recording")).is_ok() && {
            let _ = sysroot.list("/etc/d");
            for file in ["/etc/d/f", "/etc/pip.conf", "/etc/hostname"] {
                let _ = sysroot.read_text(file);
            }
            sysroot.finish_recording().is_ok()
        };
        if recorded {
            whole += 1;
        } else {
            failed += 1;
        }
        race.assert_outside(None);
        for dir in ["d", "d.other"] {
            let recording = race.root().join(dir).join("recording");
            let _ = std::fs::remove_dir_all(recording);
        }
    }
    let swaps = race.finish();
    println!("{swaps} exchanges, {whole} recorded, {failed} refused");
    assert!(whole > 0 && failed > 0, "{swaps} {whole} {failed}");
}
