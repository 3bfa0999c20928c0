//! Codes that are made of parts: every value, and every text.
#![no_main]

use libfuzzer_sys::fuzz_target;

use errcodes::decode::{
    Registers, decode, hccl_errno, parse_acl_class, parse_chip_event, parse_registers,
    parse_runtime_inner,
};

fuzz_target!(|bytes: &[u8]| {
    let word = |index: usize| {
        let mut word = [0; 8];
        let part = bytes.get(index * 8..).unwrap_or_default();
        let length = part.len().min(8);
        word[..length].copy_from_slice(&part[..length]);
        u64::from_le_bytes(word)
    };
    let words = [word(0), word(1), word(2)];

    let set: u32 = words.iter().map(|word| word.count_ones()).sum();
    let bits = Registers(words).bits();
    assert_eq!(bits.len(), set as usize);
    assert!(bits.iter().all(|bit| words[bit.word] >> bit.bit & 1 == 1));
    let printed = format!("errcode:({:#x}, {:#x}, {:#x})", words[0], words[1], words[2]);
    assert_eq!(parse_registers(&printed), Some(Registers(words)));
    let decimal = format!("({}, {},{})", words[0], words[1], words[2]);
    assert_eq!(parse_registers(&decimal), Some(Registers(words)));
    assert_eq!(decode(&printed).len(), 1);

    let id = words[0] as u32;
    let event = parse_chip_event(id);
    let whole = event.environment << 30
        | event.black_box << 28
        | event.node << 17
        | event.sensor << 9
        | event.state;
    assert_eq!(whole, id);
    let known =
        decode(&format!("{id:#x}")).iter().any(|found| found.scheme == data::ui::SCHEME_EVENT);
    assert!(!known || event.is_plausible());

    let value = words[0] as i64;
    if let Some(inner) = parse_runtime_inner(value) {
        assert_eq!(value, 0x0700_0000 | i64::from(inner.module) << 16 | i64::from(inner.number));
    }
    if let Some(class) = parse_acl_class(value % 1_000_000) {
        let whole = class.class * 100_000 + class.component * 1_000 + class.number;
        assert_eq!(i64::from(whole), value % 1_000_000);
    }
    assert_eq!(u64::from(hccl_errno(words[0])), words[0] & 0xff);
    for text in [format!("errNo[{:#018x}]", words[0]), words[0].to_string(), value.to_string()] {
        for decoding in decode(&text) {
            assert!(!decoding.parts.is_empty(), "{text}");
        }
    }

    let text = String::from_utf8_lossy(bytes);
    for decoding in decode(&text) {
        assert!(!decoding.parts.is_empty() && decoding.parts.len() <= 192, "{text:?}");
    }
});
