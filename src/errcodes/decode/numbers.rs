//! Numbers and names with meaningful digits: ACL return codes, inner codes of the runtime, HCCL's
//! `errNo[0x…]`, E-codes, `ERRssiii`, DCMI.

use super::decoding::{Decoding, Part};
use super::event::{ChipEvent, parse_chip_event};
use crate::query::Form;
use crate::table::find_row;
use crate::{Link, cause_of, family, rows};
use base::text::Text;
use data::ui;

/// An inner code of the runtime: `0x07mmnnnn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeInner {
    /// The module, `mm`.
    pub module: u8,
    /// The number, `nnnn`.
    pub number: u16,
}

/// Decodes an inner code of the runtime. Logs print it in hexadecimal and in decimal.
pub fn parse_runtime_inner(value: i64) -> Option<RuntimeInner> {
    let value = u32::try_from(value).ok().filter(|value| value >> 24 == 7)?;
    let [_, module, high, low] = value.to_be_bytes();
    Some(RuntimeInner { module, number: u16::from_be_bytes([high, low]) })
}

impl RuntimeInner {
    /// The name of the module, taken from the first constant of the module.
    pub fn module_name(self) -> Option<String> {
        let base =
            find_row("runtime", &format!("{:#x}", 0x0700_0000 | u32::from(self.module) << 16))?;
        let name = base.symbol.strip_prefix("RT_ERROR_")?;
        Some(name.strip_suffix("_BASE").unwrap_or(name).to_owned())
    }
}

/// A return code of ACL: `cmmnnn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AclClass {
    /// The class: 1 the caller, 2 a resource, 3 another component, 5 inside.
    pub class: u32,
    /// The component.
    pub component: u32,
    /// The number.
    pub number: u32,
}

/// Decodes a return code of ACL.
pub fn parse_acl_class(value: i64) -> Option<AclClass> {
    let value = u32::try_from(value).ok().filter(|value| (100_000..600_000).contains(value))?;
    let class =
        AclClass { class: value / 100_000, component: value / 1000 % 100, number: value % 1000 };
    let known = matches!(class.class, 1 | 2 | 3 | 5) && class.component_label().is_some();
    known.then_some(class)
}

impl AclClass {
    fn component_label(self) -> Option<ui::Label> {
        match self.component {
            0 => Some(ui::PART_ACL),
            7 => Some(ui::PART_RUNTIME),
            45 => Some(ui::PART_GE),
            61 => Some(ui::PART_ACLNN),
            _ => None,
        }
    }

    fn class_label(self) -> ui::Label {
        match self.class {
            1 => ui::PART_CLASS_1,
            2 => ui::PART_CLASS_2,
            3 => ui::PART_CLASS_3,
            _ => ui::PART_CLASS_5,
        }
    }
}

/// The HCCL result in `errNo[0x000000000500000b]`: the lowest byte. The bytes above it are not
/// documented.
pub fn hccl_errno(value: u64) -> u8 {
    value.to_le_bytes()[0]
}

/// The modules that print messages with the first two characters of `code`.
pub fn e_code_module(code: &str) -> Option<String> {
    let prefix = code.get(..2)?;
    let row = find_row("module_prefix", &prefix.to_ascii_uppercase())?;
    (!row.message.starts_with('?')).then_some(row.message)
}

/// `errNo[0x…]`.
pub(super) fn decode_hccl_errno(text: &str) -> Option<Decoding> {
    let inner = text.strip_prefix("errNo[0x")?;
    let digits = inner.trim_end_matches(']');
    let value = u64::from_str_radix(digits, 16).ok()?;
    Some(decode_errno(value))
}

fn decode_errno(value: u64) -> Decoding {
    let result = hccl_errno(value);
    let found = find_row("hccl", &result.to_string());
    let links = cause_of("hccl", &result.to_string()).into_iter().collect();
    let meaning = found.map(|row| Text::same(format!("{}: {}", row.symbol, row.message)));
    let parts = vec![
        Part::new(ui::PART_RESULT, result.to_string(), meaning),
        Part::new(ui::PART_ABOVE, format!("{:#x}", value >> 8), None),
    ];
    Decoding { scheme: ui::SCHEME_ERRNO, parts, links }
}

/// Decodes numbers in the form in which they are written: in another form the same value is not a
/// code.
pub(super) fn decode(value: i64, form: Form) -> Vec<Decoding> {
    let mut found = Vec::new();
    if let Some(inner) = parse_runtime_inner(value) {
        let name = inner.module_name();
        let code = format!("{value:#x}");
        let parts = vec![
            Part::new(ui::PART_MODULE, format!("{:#04x}", inner.module), name.map(Text::same)),
            Part::new(ui::PART_NUMBER, inner.number.to_string(), find_symbol("runtime", &code)),
        ];
        found.push(Decoding {
            scheme: ui::SCHEME_RUNTIME,
            parts,
            links: find_link("runtime", &code),
        });
    }
    match (form, value) {
        (Form::Decimal, -8999..=-8001 | -9999..=-9001) => {
            let key = if value > -9000 { ui::PART_DCMI } else { ui::PART_NPU_SMI };
            let code = value.to_string();
            let parts = vec![
                Part::part_with_label(ui::PART_MODULE, (value / 1000).to_string(), Some(key)),
                Part::new(ui::PART_NUMBER, (-value % 1000).to_string(), find_symbol("dcmi", &code)),
            ];
            found.push(Decoding {
                scheme: ui::SCHEME_DCMI,
                parts,
                links: find_link("dcmi", &code),
            });
        }
        (Form::Decimal, _) => {
            found.extend(parse_acl_class(value).map(|class| class.decoding(value)));
        }
        (Form::Hex, 0x1000_0000..=0xffff_ffff) => {
            let event = u32::try_from(value).ok().map(parse_chip_event);
            found.extend(event.filter(|event| event.is_plausible()).map(ChipEvent::to_decoding));
        }
        (Form::Hex, 0x1_0000_0000..) => {
            found.extend(u64::try_from(value).ok().map(decode_errno));
        }
        (Form::Hex, _) => {}
    }
    found
}

impl AclClass {
    fn decoding(self, value: i64) -> Decoding {
        let code = value.to_string();
        let families = ["acl_rt", "acl_api", "acl_ge", "aclnn"];
        let meaning = families.iter().find_map(|family| find_symbol(family, &code));
        let parts = vec![
            Part::part_with_label(ui::PART_CLASS, self.class.to_string(), Some(self.class_label())),
            Part::part_with_label(
                ui::PART_COMPONENT,
                format!("{:02}", self.component),
                self.component_label(),
            ),
            Part::new(ui::PART_NUMBER, format!("{:03}", self.number), meaning),
        ];
        let links = families.iter().find_map(|family| cause_of(family, &code));
        Decoding { scheme: ui::SCHEME_ACL, parts, links: links.into_iter().collect() }
    }
}

/// E-codes and `ERRssiii`; `name` is in upper case.
pub(super) fn decode_name(name: &str) -> Option<Decoding> {
    if let Some(digits) = name.strip_prefix("ERR") {
        return decode_torch_npu(name, digits);
    }
    let rest = name.strip_prefix(['E', 'W'])?;
    let mut chars = rest.chars();
    let letter = chars.next()?;
    let digits = chars.as_str();
    // The last digit may be hexadecimal.
    let shaped = match digits.as_bytes() {
        [first @ .., last] if first.len() == 3 => {
            first.iter().all(u8::is_ascii_digit) && last.is_ascii_hexdigit()
        }
        _ => false,
    };
    if !shaped || !letter.is_ascii_alphanumeric() {
        return None;
    }
    let module = e_code_module(name).map(Text::same);
    if module.is_none() && find_row("module_prefix", &name[..2]).is_none() {
        return None;
    }
    let kind = match digits {
        "9999" => Some(ui::PART_INNER),
        "8888" => Some(ui::PART_CALL),
        _ => None,
    };
    let meaning = kind.map(ui::Label::text).or_else(|| find_symbol("ecode", name));
    let warns = if name.starts_with('W') { ui::PART_WARNING } else { ui::PART_ERROR };
    let parts = vec![
        Part::part_with_label(ui::PART_GRAVITY, &name[..1], Some(warns)),
        Part::new(ui::PART_MODULE, &name[..2], module),
        Part::new(ui::PART_NUMBER, digits, meaning),
    ];
    let links = cause_of("ecode", name).or_else(|| cause_of("ecode_inner", name));
    Some(Decoding { scheme: ui::SCHEME_ECODE, parts, links: links.into_iter().collect() })
}

/// `ERRssiii`: two digits for the part of torch_npu, three for the kind of error. Their meanings
/// are in the names of the known codes: `ERR01007` is `OPS.NOT_SUPPORT`.
fn decode_torch_npu(name: &str, digits: &str) -> Option<Decoding> {
    if digits.len() != 5 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (module, kind) = digits.split_at(2);
    let known = rows(family("torch_npu")?);
    let half = |at: std::ops::Range<usize>, digits: &str, first: bool| {
        let row = known.iter().find(|row| row.code.get(at.clone()) == Some(digits))?;
        let (part, kind) = row.symbol.split_once('.')?;
        Some(Text::same(if first { part } else { kind }))
    };
    let parts = vec![
        Part::new(ui::PART_MODULE, module, half(3..5, module, true)),
        Part::new(ui::PART_KIND, kind, half(5..8, kind, false)),
    ];
    let known = parts.iter().any(|part| part.meaning.is_some());
    known.then(|| Decoding {
        scheme: ui::SCHEME_TORCH_NPU,
        parts,
        links: find_link("torch_npu", name),
    })
}

fn find_symbol(family: &str, code: &str) -> Option<Text> {
    find_row(family, code).map(|row| Text::same(row.symbol)).filter(|text| !text.en.is_empty())
}

fn find_link(family: &str, code: &str) -> Vec<Link> {
    cause_of(family, code).into_iter().collect()
}
