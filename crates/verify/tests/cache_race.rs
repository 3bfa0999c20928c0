//! The cache of kernels while its directory is replaced by a link.

use race::Race;
use verify::cache;

#[test]
fn kernels_are_not_written_outside() {
    let race = Race::start("kernels");
    let dir = race.root().join("kernels");
    let (mut kept, mut refused) = (0, 0);
    for number in race.rounds() {
        let key = format!("key{}", number % 8);
        match cache::write(&dir, &key, b"binary") {
            Ok(()) => kept += 1,
            Err(_) => refused += 1,
        }
        let _ = cache::read(&dir, &key);
        cache::remove(&dir, &key);
        race.assert_outside(None);
    }
    let swaps = race.finish();
    println!("{swaps} exchanges, {kept} kept, {refused} refused");
    assert!(kept > 0 && refused > 0, "{swaps} {kept} {refused}");
}
