//! Collects what texts state: their facts, and the words around quoted output.

use std::io::{self, Read};

use pasted::Pasted;

/// The most bytes of all texts together that are searched for facts.
const TEXTS: u64 = 32 << 20;
/// The most texts.
const COUNT: usize = 200;
/// The most bytes of prose.
const PROSE: usize = 256 << 10;

/// What texts state, one after the other.
#[derive(Debug)]
pub struct Collector {
    /// What each text states, with its name.
    pub stated: Vec<(String, Pasted)>,
    /// The words outside of quoted output, which describe a failure.
    pub prose: String,
    left: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self { stated: Vec::new(), prose: String::new(), left: TEXTS }
    }
}

impl Collector {
    /// Adds a text.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn add(&mut self, name: &str, reader: &mut dyn Read) -> io::Result<()> {
        if self.stated.len() < COUNT {
            let mut bytes = Vec::new();
            reader.take(self.left.min(pasted::MAX_TEXT as u64)).read_to_end(&mut bytes)?;
            self.left = self.left.saturating_sub(bytes.len() as u64);
            let text = String::from_utf8_lossy(&bytes);
            collect_prose(&text, &mut self.prose);
            self.stated.push((name.to_owned(), pasted::read(&text)));
        }
        Ok(())
    }
}

/// Adds the lines outside of code and output to `prose`.
fn collect_prose(text: &str, prose: &mut String) {
    let mut inside = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside && prose.len() + line.len() < PROSE {
            prose.push_str(line);
            prose.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_no_quoted_output() {
        let mut prose = String::new();
        collect_prose("It hangs.\n```\nslow start\n```\nPlease help.\n", &mut prose);
        assert_eq!(prose, "It hangs.\nPlease help.\n");
    }
}
