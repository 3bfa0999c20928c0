//! Memory of the device: memory of this process, with accounting.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::Mutex;

use acl_abi::Status;
use acl_abi::values::{
    ACL_DDR_MEM, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_MEMORY_ALLOCATION,
    ACL_ERROR_RT_PARAM_INVALID, ACL_HBM_MEM,
};

/// The size of the fence behind every allocation, which detects writes out of bounds.
const FENCE: usize = 64;
const MARK: u8 = 0xfd;
/// The number of filled bytes at each end of an allocation.
const FILLED: usize = 1 << 20;

/// Address, size, device.
static LIVE: Mutex<BTreeMap<usize, (usize, i32)>> = Mutex::new(BTreeMap::new());

/// Leaked memory by device: freed, but still counted as used.
static LOST: Mutex<BTreeMap<i32, usize>> = Mutex::new(BTreeMap::new());

fn limit() -> usize {
    (sim_core::setting("ASCSIM_HBM_MB", 1024) as usize) << 20
}

/// The size actually allocated: rounded up to 32 bytes, plus 32.
fn taken(size: usize) -> usize {
    size.div_ceil(32) * 32 + 32
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(taken(size).checked_add(FENCE)?, 64).ok()
}

pub fn allocate(size: usize, device: i32) -> Result<usize, Status> {
    if size == 0 {
        return Err(ACL_ERROR_INVALID_PARAM);
    }
    let mut live = LIVE.lock().unwrap();
    let used: usize = used(&live, device);
    if size > limit() || used + taken(size) > limit() {
        return Err(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    let layout = layout(size).ok_or(ACL_ERROR_RT_MEMORY_ALLOCATION)?;
    // SAFETY: the layout is not empty; the fence is within it.
    let address = unsafe {
        let pointer = alloc(layout);
        if pointer.is_null() {
            return Err(ACL_ERROR_RT_MEMORY_ALLOCATION);
        }
        // Uninitialized memory is not zero. In large buffers only the ends are filled, because
        // touching unused pages costs time.
        let ends = layout.size().min(FILLED);
        pointer.write_bytes(0xcd, ends);
        pointer.add(layout.size() - ends).write_bytes(0xcd, ends);
        pointer.add(taken(size)).write_bytes(MARK, FENCE);
        pointer as usize
    };
    live.insert(address, (size, device));
    Ok(address)
}

/// Frees memory, and updates the accounting unless it leaks.
pub fn free(address: usize, leaks: bool) -> Result<(), Status> {
    let (size, device) = LIVE.lock().unwrap().remove(&address).ok_or(ACL_ERROR_RT_PARAM_INVALID)?;
    if leaks {
        *LOST.lock().unwrap().entry(device).or_default() += taken(size);
    }
    let layout = layout(size).ok_or(ACL_ERROR_RT_PARAM_INVALID)?;
    let pointer = address as *mut u8;
    // SAFETY: it was allocated with this layout and is no longer in the accounting.
    let intact = unsafe {
        let fence = std::slice::from_raw_parts(pointer.add(taken(size)), FENCE);
        let intact = fence.iter().all(|byte| *byte == MARK);
        dealloc(pointer, layout);
        intact
    };
    if intact { Ok(()) } else { Err(ACL_ERROR_RT_PARAM_INVALID) }
}

/// Whether all of the range is allocated.
pub fn holds(address: usize, count: usize) -> bool {
    let live = LIVE.lock().unwrap();
    live.range(..=address).next_back().is_some_and(|(start, (size, _))| {
        address.checked_add(count).is_some_and(|end| end <= start + taken(*size))
    })
}

/// The device that an address belongs to.
pub fn owner(address: usize) -> Option<i32> {
    let live = LIVE.lock().unwrap();
    live.range(..=address).next_back().map(|(_, (_, device))| *device)
}

fn used(live: &BTreeMap<usize, (usize, i32)>, device: i32) -> usize {
    let live: usize =
        live.values().filter(|(_, of)| *of == device).map(|(size, _)| taken(*size)).sum();
    live + LOST.lock().unwrap().get(&device).copied().unwrap_or_default()
}

/// Free and total bytes.
pub fn room(kind: i32, device: i32) -> Option<(usize, usize)> {
    match kind {
        ACL_HBM_MEM | ACL_DDR_MEM => {
            let used = used(&LIVE.lock().unwrap(), device);
            Some((limit().saturating_sub(used), limit()))
        }
        _ => None,
    }
}
