//! The strings that an object passes to a function of another library, for example to register
//! them.
//!
//! No disassembler is needed. A call goes through a stub of the procedure linkage table (or through
//! the slot itself). Compilers load the address of a constant string into the register of the
//! second argument right before the call: `lea rsi, [rip+…]` on x86-64, `adrp x1` and `add x1, x1,
//! …` on aarch64. A call whose string was loaded further away, or through another register, is
//! missed. Bytes that only look like a call of exactly that stub do not occur by chance in
//! practice.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::{EM_AARCH64, EM_X86_64, Rela64};
use object::{LittleEndian, U32, pod};

use super::dynamic;
use super::error::{Error, malformed};
use super::header::{Header, Segment, machine_name};
use super::source::{LE, Source, Window};
use super::symbols::SYMBOL;

/// Size of a block of code, in bytes.
const BLOCK: usize = 1 << 20;
/// Maximum length of a recognized instruction sequence, in bytes.
const LONGEST: usize = 16;
/// Maximum length of a string.
const MAX_STRING: usize = 256;
/// Maximum size of the relocations, in bytes; more than any real object has.
const MAX_RELOCATIONS: u64 = 256 << 20;
/// Maximum number of kept strings.
const MAX_STRINGS: usize = 100_000;
/// The size of an entry of a relocation table with addends, in bytes.
const RELOCATION: u64 = size_of::<Rela64<LittleEndian>>() as u64;
/// Maximum distance between the load of the string and the call, in bytes.
const NEAR: u64 = 256;

/// The strings that the object passes as second argument to functions whose mangled name begins
/// with `prefix`.
///
/// # Errors
///
/// If the file is not a complete object of x86-64 or aarch64, or cannot be read.
pub fn find_plt_strings(source: &dyn Source, prefix: &str) -> Result<BTreeSet<String>, Error> {
    let header = Header::read(source)?;
    let (_, tables) = dynamic::read(source, &header)?;
    let slots = slots(source, &header, &tables, prefix)?;
    let code = match header.machine {
        EM_X86_64 => Machine::X86,
        EM_AARCH64 => Machine::Arm,
        other => {
            let name = machine_name(other);
            return Err(malformed(&format!("calls cannot be read in code for {name}")));
        }
    };
    let executable = || header.loads.iter().filter(|segment| segment.is_executable());
    let mut stubs = BTreeSet::new();
    for segment in executable() {
        blocks(source, *segment, |base, bytes, fresh| {
            code.stubs(base, bytes, fresh, &slots, &mut stubs);
        })?;
    }
    let mut addresses = BTreeSet::new();
    for segment in executable() {
        let mut state = State::default();
        blocks(source, *segment, |base, bytes, fresh| {
            code.calls(base, bytes, fresh, &Callee { stubs: &stubs, slots: &slots }, &mut state);
        })?;
        addresses.extend(state.found);
    }
    let mut strings = BTreeSet::new();
    let mut window = Window::new(source, 64 << 10);
    for address in addresses {
        let Some((at, _)) = header.offset_of(address) else { continue };
        if let Some(text) = window.string(at, MAX_STRING)?
            && let Ok(text) = std::str::from_utf8(text)
            && strings.len() < MAX_STRINGS
        {
            strings.insert(text.to_owned());
        }
    }
    Ok(strings)
}

/// The addresses of the slots that the dynamic linker fills with functions of this name.
fn slots(
    source: &dyn Source,
    header: &Header,
    tables: &dynamic::Tables,
    prefix: &str,
) -> Result<BTreeSet<u64>, Error> {
    let Some((symbols, rest)) = tables.symbols.and_then(|address| header.offset_of(address)) else {
        return Ok(BTreeSet::new());
    };
    let mut wanted: BTreeMap<u64, bool> = BTreeMap::new();
    let mut slots = BTreeSet::new();
    let mut names = Window::new(source, 4096);
    let mut entries = Window::new(source, 64 << 10);
    for (address, size) in [tables.jumps, tables.relocations].into_iter().flatten() {
        if size > MAX_RELOCATIONS {
            return Err(malformed(&format!("a relocation table of {size} bytes")));
        }
        let Some((at, room)) = header.offset_of(address) else { continue };
        for index in 0..size.min(room) / RELOCATION {
            let entry = entries.record::<Rela64<LittleEndian>>(at + index * RELOCATION)?;
            let Some(entry) = entry else { break };
            let (slot, symbol) = (entry.r_offset.get(LE), u64::from(entry.r_sym(LE, false)));
            if symbol == 0 || symbol >= rest / SYMBOL {
                continue;
            }
            let is = if let Some(is) = wanted.get(&symbol) {
                *is
            } else {
                // The name is the first field of a symbol.
                let mut name = U32::new(LE, 0);
                source.read_at(pod::bytes_of_mut(&mut name), symbols + symbol * SYMBOL)?;
                let name = u64::from(name.get(LE));
                let name = (name < tables.strings_size)
                    .then(|| names.string(tables.strings.saturating_add(name), 4096))
                    .transpose()?
                    .flatten();
                let is = name.is_some_and(|name| name.starts_with(prefix.as_bytes()));
                wanted.insert(symbol, is);
                is
            };
            if is {
                slots.insert(slot);
            }
        }
    }
    Ok(slots)
}

/// Passes on a segment block by block: the address of the first byte, the bytes, and how many of
/// them are not the overlap with the next block.
fn blocks(
    source: &dyn Source,
    segment: Segment,
    mut look: impl FnMut(u64, &[u8], usize),
) -> Result<(), Error> {
    let mut bytes = vec![0; BLOCK + LONGEST];
    let mut done = 0;
    while done < segment.size {
        let rest = usize::try_from(segment.size - done).unwrap_or(usize::MAX);
        let want = rest.min(BLOCK + LONGEST);
        let count = source.read_at(&mut bytes[..want], segment.offset + done)?;
        if count == 0 {
            break;
        }
        let fresh = if count > BLOCK { BLOCK } else { count };
        look(segment.address.wrapping_add(done), &bytes[..count], fresh);
        done += fresh as u64;
    }
    Ok(())
}

/// The called function.
struct Callee<'a> {
    stubs: &'a BTreeSet<u64>,
    slots: &'a BTreeSet<u64>,
}

/// The state of a walk over code.
#[derive(Default)]
struct State {
    /// The last loaded string, and the address of the load.
    loaded: Option<(u64, u64)>,
    /// The last page loaded by `adrp x1`.
    page: Option<u64>,
    found: BTreeSet<u64>,
}

impl State {
    fn called(&mut self, at: u64) {
        if let Some((string, from)) = self.loaded
            && at.wrapping_sub(from) <= NEAR
            && self.found.len() < MAX_STRINGS
        {
            self.found.insert(string);
        }
    }
}

#[derive(Clone, Copy)]
enum Machine {
    X86,
    Arm,
}

impl Machine {
    /// Adds the addresses of the stubs that jump through one of the slots.
    fn stubs(
        self,
        base: u64,
        bytes: &[u8],
        fresh: usize,
        slots: &BTreeSet<u64>,
        stubs: &mut BTreeSet<u64>,
    ) {
        match self {
            // `jmp [rip+…]`, at the beginning of a stub of 16 bytes or after `endbr64`.
            Self::X86 => {
                for at in memchr::memchr_iter(0xff, &bytes[..fresh]) {
                    if bytes.get(at + 1) == Some(&0x25)
                        && let Some(slot) = relative(base, bytes, at + 2)
                        && slots.contains(&slot)
                    {
                        stubs.insert(base.wrapping_add(at as u64) & !15);
                        stubs.insert(base.wrapping_add(at as u64));
                    }
                }
            }
            // `adrp x16, page`, `ldr x17, [x16, …]`.
            Self::Arm => {
                for at in (0..fresh.saturating_sub(3)).step_by(4) {
                    let here = base.wrapping_add(at as u64);
                    if let Some(page) = adrp(bytes, at, here, 16)
                        && let Some(next) = u32_at(bytes, at + 4)
                        && next & 0xffc0_03ff == 0xf940_0211
                        && slots.contains(&page.wrapping_add(u64::from(next >> 10 & 0xfff) * 8))
                    {
                        stubs.insert(here);
                        // The address of `bti c`, if the stub begins with it.
                        stubs.insert(here.wrapping_sub(4));
                    }
                }
            }
        }
    }

    /// Tracks loads and calls.
    fn calls(self, base: u64, bytes: &[u8], fresh: usize, callee: &Callee<'_>, state: &mut State) {
        match self {
            Self::X86 => {
                // `lea rsi, [rip+…]` is 48 8d 35, `call …` is e8, `call [rip+…]` is ff 15. A call
                // at the end of a function is a jump.
                for at in memchr::memchr3_iter(0x8d, 0xe8, 0xff, &bytes[..fresh]) {
                    let here = base.wrapping_add(at as u64);
                    match bytes[at] {
                        0x8d if at > 0
                            && bytes[at - 1] == 0x48
                            && bytes.get(at + 1) == Some(&0x35) =>
                        {
                            if let Some(string) = relative(base, bytes, at + 2) {
                                state.loaded = Some((string, here));
                            }
                        }
                        0xe8 if relative(base, bytes, at + 1)
                            .is_some_and(|target| callee.stubs.contains(&target)) =>
                        {
                            state.called(here);
                        }
                        0xff if bytes.get(at + 1) == Some(&0x15)
                            && relative(base, bytes, at + 2)
                                .is_some_and(|slot| callee.slots.contains(&slot)) =>
                        {
                            state.called(here);
                        }
                        _ => {}
                    }
                }
            }
            Self::Arm => {
                for at in (0..fresh.saturating_sub(3)).step_by(4) {
                    let here = base.wrapping_add(at as u64);
                    let word = u32_at(bytes, at).unwrap_or(0);
                    if let Some(page) = adrp(bytes, at, here, 1) {
                        state.page = Some(page);
                    } else if word & 0xffc0_03ff == 0x9100_0021 {
                        // `add x1, x1, #…`
                        if let Some(page) = state.page {
                            let string = page.wrapping_add(u64::from(word >> 10 & 0xfff));
                            state.loaded = Some((string, here));
                        }
                    } else if word >> 26 == 0b10_0101 {
                        // `bl …`: 26 bits, in words.
                        let distance = i64::from((word << 6).cast_signed() >> 6) * 4;
                        if callee.stubs.contains(&here.wrapping_add_signed(distance)) {
                            state.called(here);
                        }
                    }
                }
            }
        }
    }
}

/// Returns the little-endian number at `at`.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|chunk| u32::from_le_bytes(*chunk))
}

/// The address encoded in four bytes at `at`, relative to the following byte.
fn relative(base: u64, bytes: &[u8], at: usize) -> Option<u64> {
    let distance = u32_at(bytes, at)?.cast_signed();
    Some(base.wrapping_add(at as u64 + 4).wrapping_add_signed(distance.into()))
}

/// The page computed by `adrp` with this register, if there is one at `at`.
fn adrp(bytes: &[u8], at: usize, here: u64, register: u32) -> Option<u64> {
    let word = u32_at(bytes, at)?;
    if word & 0x9f00_001f != 0x9000_0000 | register {
        return None;
    }
    let pages = (word >> 5 & 0x7_ffff) << 2 | word >> 29 & 3;
    let pages = i64::from((pages << 11).cast_signed() >> 11);
    Some((here & !0xfff).wrapping_add_signed(pages * 4096))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_distances_are_signed() {
        // call -5: to itself.
        let bytes = [0xe8, 0xfb, 0xff, 0xff, 0xff];
        assert_eq!(relative(0x1000, &bytes, 1), Some(0x1000));
        // adrp x1, +1 page and -1 page, as binutils assembles them.
        assert_eq!(adrp(&0xb000_0001_u32.to_le_bytes(), 0, 0x1234, 1), Some(0x2000));
        assert_eq!(adrp(&0xf0ff_ffe1_u32.to_le_bytes(), 0, 0x5234, 1), Some(0x4000));
        assert_eq!(adrp(&0xb000_0001_u32.to_le_bytes(), 0, 0x1234, 16), None);
    }

    /// A load, other code, a call; and one that is too far away.
    #[test]
    fn last_string_before_call_is_found() {
        let (stubs, slots) = (BTreeSet::from([0x40]), BTreeSet::new());
        let callee = Callee { stubs: &stubs, slots: &slots };
        let mut code = vec![0x48, 0x8d, 0x35, 0xf9, 0x0f, 0, 0]; // lea rsi, [0x1100]
        code.extend([0x90; 8]);
        let call = |code: &mut Vec<u8>| {
            let next = 0x105 + i32::try_from(code.len()).unwrap();
            code.push(0xe8);
            code.extend((0x40 - next).to_le_bytes());
        };
        call(&mut code);
        code.extend([0x90; 400]);
        let near = code.clone();
        call(&mut code);
        for code in [near, code] {
            let mut state = State::default();
            Machine::X86.calls(0x100, &code, code.len(), &callee, &mut state);
            assert_eq!(state.found, BTreeSet::from([0x1100]));
        }
    }
}
