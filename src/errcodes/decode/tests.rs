use super::*;
use crate::family;
use crate::query::Form;

fn parts(text: &str) -> Vec<(String, String)> {
    let decodings = decode(text);
    let [decoding] = decodings.as_slice() else { panic!("{text}: {decodings:?}") };
    decoding
        .parts
        .iter()
        .map(|part| (part.value.clone(), part.meaning.clone().unwrap_or_default().en))
        .collect()
}

fn causes(text: &str) -> Vec<&'static str> {
    let decodings = decode(text);
    decodings
        .iter()
        .flat_map(|decoding| &decoding.links)
        .map(|link| link.cause.id.as_str())
        .collect()
}

#[test]
fn register_words_are_read_in_the_ways_that_logs_print_them() {
    let words = Some(Registers([0x80_0000, 0x4000, 0]));
    for text in [
        "errcode:(0x800000, 0x4000, 0)",
        "errcode:(0x800000,0x4000,0)",
        "(0x800000, 0x4000, 0)",
        " errcode: (0x800000, 0x4000, 0) errorStr: x",
        "errcode=(8388608, 16384, 0)",
    ] {
        assert_eq!(parse_registers(text), words, "{text}");
    }
    for text in ["", "errcode", "(1, 2)", "(1, 2, 3, 4)", "(1, 2, x)", "(-1, 0, 0)", "507035"] {
        assert_eq!(parse_registers(text), None, "{text}");
    }
}

#[test]
fn any_combination_of_bits_is_named_and_has_a_cause() {
    assert_eq!(causes("errcode:(0x800000, 0, 0)"), ["aicore.illegal_gm_access"]);
    assert_eq!(causes("errcode:(0, 0, 0)"), ["aicore.timeout_or_trap"]);
    assert_eq!(
        causes("errcode:(0x800010, 0, 0x40000000000)"),
        ["aicore.ecc", "aicore.illegal_instruction", "aicore.illegal_gm_access"]
    );
    let named = parts("errcode:(0x10, 0x8000, 0)");
    assert!(named[0].1.starts_with("CCU_ILLEGAL_INSTR: "), "{named:?}");
    assert!(named[1].1.starts_with("CCU_BUS_ERR: "), "{named:?}");
    // A bit that no header defines is shown without a cause.
    let unknown = decode("errcode:(0, 0, 0x20000)");
    assert_eq!(unknown[0].parts[0].value, "w2.17");
    assert!(unknown[0].parts[0].meaning.is_none() && unknown[0].links.is_empty());
    assert_eq!(Registers([u64::MAX; 3]).bits().len(), 192);
}

/// Each single bit of the table leads to a cause, and to its own name.
#[test]
fn every_bit_decodes() {
    for known in crate::rows(family("aicore_bit").unwrap()) {
        let (word, bit) = known.code[1..].split_once('.').unwrap();
        let mut words = [0; 3];
        words[word.parse::<usize>().unwrap()] = 1 << bit.parse::<u32>().unwrap();
        let bits = Registers(words).bits();
        assert_eq!(bits.len(), 1);
        assert_eq!(bits[0].row.as_ref().unwrap().symbol, known.symbol);
        assert!(bits[0].link.is_some(), "{}", known.code);
    }
}

#[test]
fn events_are_taken_apart_known_or_not() {
    let event = parse_chip_event(0x80E0_1801);
    assert_eq!((event.environment, event.black_box), (2, 0));
    assert_eq!((event.node, event.sensor, event.state), (0x70, 0x0c, 1));
    let known = parts("0x80E01801");
    assert_eq!(known[1], ("0x70".to_owned(), "HBM".to_owned()));
    assert_eq!(causes("0x80E01801"), ["hw.hbm_uce"]);
    assert_eq!(parse_chip_event(0x40F8_4E00).environment, 1);
    // In none of the tables.
    let unknown = parts("0x80E01955");
    assert_eq!(unknown[1].1, "HBM");
    assert_eq!(causes("0x80E01955"), ["hw.device_event"]);
    // An address, a code of the black box.
    for text in ["0xFFFF0000", "0xA8028802"] {
        assert!(decode(text).is_empty(), "{text}");
    }
}

#[test]
fn numbers_are_taken_apart_as_they_are_written() {
    assert_eq!(parts("0x07020016")[0], ("0x02".to_owned(), "DRV".to_owned()));
    assert_eq!(parts("117571606")[0].0, "0x02", "the same in decimal");
    assert_eq!(parts("507035")[1].0, "07");
    let unknown = parts("507777");
    assert!(!unknown[0].1.is_empty() && unknown[2].1.is_empty(), "{unknown:?}");
    assert_eq!(parts("-8005")[1].1, "DCMI_ERR_CODE_INNER_ERR");
    assert!(!parts("-8777")[0].1.is_empty(), "an unknown code of DCMI");
    for text in ["7", "12345", "99999", "654321", "-1", "0x26", "0x7", "400001"] {
        assert!(decode(text).is_empty(), "{text}");
    }
}

#[test]
fn the_lowest_byte_of_errno_is_the_result() {
    assert_eq!(hccl_errno(0x0500_000b), 11);
    assert!(parts("errNo[0x000000000500000b]")[0].1.starts_with("HCCL_E_TCP_CONNECT"));
}

#[test]
fn names_say_module_and_kind_also_where_no_registry_has_them() {
    let known = parts("EI0006");
    assert!(known[1].1.starts_with("HCCL"), "{known:?}");
    let unknown = parts("EI0777");
    assert!(unknown[1].1.starts_with("HCCL") && unknown[2].1.is_empty(), "{unknown:?}");
    assert_eq!(
        parts("ERR01007"),
        [("01".to_owned(), "OPS".to_owned()), ("007".to_owned(), "NOT_SUPPORT".to_owned())]
    );
    assert_eq!(parts("ERR03012")[0].1, "GRAPH");
    for text in ["", "E", "EI", "EI006", "EX1", "ERR", "ERRABCDE", "EI00066", "ÉI0006"] {
        assert!(decode(text).is_empty(), "{text}");
    }
}

#[test]
fn nothing_that_is_typed_makes_it_panic() {
    for text in ["0x", "-", "errcode:(", "errcode:(0x,0x,0x)", "errNo[0x]", "🦀🦀", "E🦀000"]
    {
        let _ = decode(text);
    }
    for value in [i64::MIN, i64::MAX, -1, 0, 1 << 32] {
        for form in [Form::Decimal, Form::Hex] {
            let _ = numbers::decode(value, form);
        }
    }
}

#[test]
fn the_error_mask_is_no_error() {
    for text in ["aic error mask: 0x6500020bd000288", "aicore error mask", "error mask = 0x1"] {
        let [decoding] = &decode(text)[..] else { panic!("{text}") };
        assert_eq!(decoding.scheme, ui::SCHEME_ERROR_MASK, "{text}");
        assert!(decoding.links.is_empty());
    }
    assert!(decode("the error mask of the image is wrong").is_empty());
}
