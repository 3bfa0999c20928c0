//! Values of the placeholders of a message.

use std::fmt::Display;

use super::Text;

/// A value that a sentence can contain: anything with a display form, and texts of this program,
/// which differ between the languages.
pub trait Argument {
    /// The value in both languages.
    fn spell(&self) -> Spelling;
}

/// A value of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spelling {
    /// The same in all languages: a path, a number, a name.
    Same(String),
    /// Texts of this program.
    Words(Text),
    /// Not known yet; see [`Later`].
    Later,
}

/// A value of a finding that is known only after all findings are: the devices that share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Later;

impl Argument for Later {
    fn spell(&self) -> Spelling {
        Spelling::Later
    }
}

impl<T: Display + ?Sized> Argument for T {
    fn spell(&self) -> Spelling {
        Spelling::Same(self.to_string())
    }
}

impl Argument for Text {
    fn spell(&self) -> Spelling {
        Spelling::Words(self.clone())
    }
}

impl Argument for &Text {
    fn spell(&self) -> Spelling {
        Spelling::Words((*self).clone())
    }
}

/// A number of things. Sentences choose between singular and plural by it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a count",
    note = "this placeholder is a number: pass an integer, not its text"
)]
pub trait Count: Argument + Display {}

/// A number as it is shown, such as `2.5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounded(pub String);

impl Display for Rounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Count for Rounded {}

macro_rules! counts {
    ($($integer:ty),*) => { $(impl Count for $integer {})* };
}

counts!(u8, u16, u32, u64, usize, i32, i64);

impl<T: Count> Count for &T {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_both_languages() {
        let words = Text::new("none", "无");
        let borrowed = &words;
        assert_eq!(borrowed.spell(), Spelling::Words(words));
        assert_eq!(7_usize.spell(), Spelling::Same("7".to_owned()));
        assert_eq!("/dev".spell(), Spelling::Same("/dev".to_owned()));
    }
}
