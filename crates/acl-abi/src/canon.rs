//! The calling convention of a type, as letters: two declarations with the same letters are equal
//! for a caller. `w32` and `w64` are integers or enumerations of that width, `i8` and `u16` small
//! integers (for which the sign matters), `f32` a float, `p` any pointer, `v` void.

/// A type that a C function takes or returns.
pub trait Canon {
    /// Its letters.
    const LETTER: &'static str;
}

macro_rules! letters {
    ($($type:ty = $letter:literal),*) => {
        $(impl Canon for $type { const LETTER: &'static str = $letter; })*
    };
}

letters! {
    i32 = "w32", u32 = "w32", i64 = "w64", u64 = "w64", usize = "w64",
    i8 = "i8", u16 = "u16", f32 = "f32", () = "v"
}

impl<T> Canon for *const T {
    const LETTER: &'static str = "p";
}

impl<T> Canon for *mut T {
    const LETTER: &'static str = "p";
}

/// `result(argument,argument)`.
pub(crate) fn signature(result: &str, arguments: &[&str]) -> String {
    format!("{result}({})", arguments.join(","))
}
