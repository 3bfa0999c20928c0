//! Data packs: any bytes, a valid pack with a few changed bytes, and a valid one with another
//! manifest; any text as a signature and as a key.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

use data::data_pack::{Pack, Trust, write_built_in};

const PROGRAM: &str = "0.1.0";
/// A public key, from the manual of minisign.
const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| write_built_in(PROGRAM).expect("it is packed"));

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    match first & 3 {
        0 => open(body),
        1 => {
            // Triples: an offset in the first 64 KB, which contain the manifest, and its new byte.
            let mut pack = GOOD.clone();
            for change in body.chunks_exact(3) {
                let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
                pack[at % GOOD.len()] = change[2];
            }
            open(&pack);
        }
        2 => {
            let parts = GOOD.splitn(3, |byte| *byte == b'\n').collect::<Vec<_>>();
            open(&[parts[0], body, parts[2]].join(&b'\n'));
        }
        _ => {
            let text = String::from_utf8_lossy(body);
            let signed = |signature, key| {
                let trust = Trust::Signed { signature, key };
                assert!(Pack::open(&GOOD, trust, PROGRAM, true).is_err(), "nobody signed it");
            };
            signed(&text, KEY);
            signed("", &text);
            if let Some((signature, key)) = text.split_once('\0') {
                signed(signature, key);
            }
        }
    }
});

/// An accepted pack has a date and bounded parts.
fn open(bytes: &[u8]) {
    if let Ok(pack) = Pack::open(bytes, Trust::Unsigned, PROGRAM, true) {
        assert_eq!(pack.as_of().len(), 10);
        assert!(pack.signed_by().is_none());
        let total: usize = pack.names().filter_map(|name| pack.content(name)).map(<[u8]>::len).sum();
        assert!(total <= 64 << 20, "{total}");
    }
}
