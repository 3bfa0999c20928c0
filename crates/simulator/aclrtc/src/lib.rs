//! The simulated `libacl_rtc.so`: it "compiles" the only kernel, for the chips that the real
//! compiler supports, and rejects everything else with a log.

use std::ffi::{CStr, c_char};

use acl_abi::{RtcProgram, Status};
use sim_core::objects::{ADD, KERNEL};

sim_core::identify!();

const INVALID_PROGRAM: i32 = 176_000;
const INVALID_INPUT: i32 = 176_001;
const INVALID_OPTION: i32 = 176_002;
const COMPILATION: i32 = 176_003;

const LIVE: u64 = 0x5052_4f47_0000_0001;

struct Program {
    magic: u64,
    source: String,
    name: String,
    binary: Vec<u8>,
    log: String,
}

/// # Safety
/// `program` is the result of `aclrtcCreateProg`, or null.
unsafe fn object<'a>(program: RtcProgram) -> Result<&'a mut Program, Status> {
    // SAFETY: by contract; the mark shows misuse.
    let object = unsafe { program.0.cast::<Program>().as_mut() };
    object.filter(|object| object.magic == LIVE).ok_or(INVALID_PROGRAM)
}

fn status(result: Result<(), Status>) -> Status {
    result.err().unwrap_or(0)
}

/// # Safety
/// `pointer` is a null-terminated text.
unsafe fn text(pointer: *const c_char) -> String {
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Program {
    /// Checks the obvious parts, like a compiler: the language, the header, braces, the entry.
    fn compile(&mut self, options: &[String]) -> Result<(), Status> {
        let [option] = options else { return Err(INVALID_OPTION) };
        if !["--npu-arch=dav-2201", "--npu-arch=dav-3510"].contains(&option.as_str()) {
            self.log = format!("error: unknown option {option}");
            return Err(INVALID_OPTION);
        }
        let balanced = self.source.matches('{').count() == self.source.matches('}').count();
        if sim_core::setting("ASCSIM_RTC_PARTS", 1) == 0 {
            self.log = "libasrtc.so: cannot open shared object file".to_owned();
            return Err(COMPILATION);
        }
        // The macro in the body up to 9.0, the qualifier from 9.1 on: `ASCSIM_ENTRY` selects the
        // one that this compiler accepts; without it, both are accepted.
        let old = self.source.contains("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY)");
        let qualifier = if old { "__aicore__" } else { "__vector__" };
        let taken = std::env::var("ASCSIM_ENTRY").unwrap_or_default();
        if (taken == "macro" && !old) || (taken == "qualifier" && old) {
            self.log = format!("{}:1:1: error: {qualifier} is not taken here", self.name);
            return Err(COMPILATION);
        }
        let entry = format!("__global__ {qualifier} void {ADD}(GM_ADDR");
        let whole = self.source.contains("#include \"kernel_operator.h\"")
            && self.source.contains(&entry)
            && self.name.ends_with(".asc")
            && balanced;
        if !whole {
            self.log = format!("{}:1:1: error: this is not the kernel", self.name);
            return Err(COMPILATION);
        }
        self.binary = [KERNEL, ADD.as_bytes()].concat();
        Ok(())
    }
}

sim_core::export! {
    fn aclrtcCreateProg(program: *mut RtcProgram, source: *const c_char, name: *const c_char,
        headers: i32, _texts: *mut *const c_char, _names: *mut *const c_char
    ) -> Status |_| {
        if program.is_null() || source.is_null() || name.is_null() || headers != 0 {
            return INVALID_INPUT;
        }
        // SAFETY: the caller passes texts, and a valid pointer for the result.
        unsafe {
            let (source, name) = (text(source), text(name));
            let new = Program { magic: LIVE, source, name, binary: Vec::new(),
                log: "error: a simulated failure of the compiler".to_owned() };
            program.write(RtcProgram(Box::into_raw(Box::new(new)).cast()));
        }
        0
    }

    fn aclrtcCompileProg(program: RtcProgram, options: i32, list: *mut *const c_char) -> Status |_| {
        // SAFETY: the caller passes a program, and as many options as declared.
        status(unsafe { object(program) }.and_then(|program| {
            let count = usize::try_from(options).map_err(|_| INVALID_INPUT)?;
            let options: Vec<String> = (0..count)
                // SAFETY: as above.
                .map(|at| unsafe { text(list.add(at).read()) })
                .collect();
            program.compile(&options)
        }))
    }

    fn aclrtcGetBinDataSize(program: RtcProgram, size: *mut usize) -> Status |_| {
        // SAFETY: the caller passes a program and a valid pointer for the result.
        status(unsafe { object(program).map(|program| size.write(program.binary.len())) })
    }

    fn aclrtcGetBinData(program: RtcProgram, data: *mut c_char) -> Status |corruption| {
        // SAFETY: the caller passes a program, and memory of the reported size.
        status(unsafe { object(program) }.map(|program| {
            let mut binary = program.binary.clone();
            if let Some(corruption) = corruption {
                corruption.apply(&mut binary, 1);
            }
            // SAFETY: as above.
            unsafe { data.cast::<u8>().copy_from(binary.as_ptr(), binary.len()) };
        }))
    }

    fn aclrtcGetCompileLogSize(program: RtcProgram, size: *mut usize) -> Status |_| {
        // SAFETY: the caller passes a program and a valid pointer for the result.
        status(unsafe { object(program).map(|program| size.write(program.log.len() + 1)) })
    }

    fn aclrtcGetCompileLog(program: RtcProgram, log: *mut c_char) -> Status |_| {
        // SAFETY: the caller passes a program, and memory of the reported size.
        status(unsafe { object(program) }.map(|program| {
            let text = [program.log.as_bytes(), b"\0"].concat();
            // SAFETY: as above.
            unsafe { log.cast::<u8>().copy_from(text.as_ptr(), text.len()) };
        }))
    }

    fn aclrtcDestroyProg(program: *mut RtcProgram) -> Status |_| {
        if program.is_null() {
            return INVALID_INPUT;
        }
        // SAFETY: the caller passes a program, and does not use it again.
        status(unsafe { object(program.read()) }.map(|object| {
            object.magic = 0;
            // SAFETY: it was created by a box, and is now marked as destroyed.
            unsafe {
                drop(Box::from_raw(std::ptr::from_mut(object)));
                program.write(RtcProgram::NULL);
            }
        }))
    }
}
