//! `--interactive`: asks for each group of neighboring changes, as `git add -p` does.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use base::text::Lang;
use data::ui;

use super::diff::unified;
use super::encoding::Edit;
use super::plan::{Plan, PlannedFile};
use super::site::{Decision, KeptBecause, KeptSite};

/// Maximum length of an answer, in bytes.
const MAX_ANSWER: u64 = 4096;

/// An answer of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Make this change.
    Yes,
    /// Keep this place.
    No,
    /// Make this change and all later ones of the file.
    RestOfFile,
    /// Keep this place and all later ones of the file.
    NoneOfFile,
    /// Keep this place and all later ones.
    Quit,
}

/// Asks for the changes of all files, in their order, and removes the declined ones from the plan.
/// The end of `input` declines the rest.
///
/// # Errors
///
/// Reading or writing failed.
pub fn choose(
    plan: &mut Plan,
    lang: Lang,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut quit = false;
    for file in plan.files.iter_mut().filter(|file| file.after.is_some()) {
        let groups = groups(file);
        let mut declined = Vec::new();
        let mut rest = quit.then_some(false);
        for group in &groups {
            let take = if let Some(take) = rest {
                take
            } else {
                show(file, group, out)?;
                match ask(lang, input, out)? {
                    Answer::Yes => true,
                    Answer::No => false,
                    Answer::RestOfFile => *rest.insert(true),
                    Answer::NoneOfFile => *rest.insert(false),
                    Answer::Quit => {
                        quit = true;
                        *rest.insert(false)
                    }
                }
            };
            if !take {
                declined.push(group.clone());
            }
        }
        if !declined.is_empty() {
            file.decline(&declined);
        }
    }
    Ok(())
}

/// Groups of edits whose lines adjoin, as ranges of lines from 0.
fn groups(file: &PlannedFile) -> Vec<Range<usize>> {
    let text = file.text();
    let mut groups: Vec<Range<usize>> = Vec::new();
    for edit in &file.plan.edits {
        let lines = lines_of(&text, edit);
        match groups.last_mut() {
            Some(last) if lines.start <= last.end => last.end = last.end.max(lines.end),
            _ => groups.push(lines),
        }
    }
    groups
}

/// The lines that an edit touches, from 0.
fn lines_of(text: &str, edit: &Edit) -> Range<usize> {
    let line = |at: usize| memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count();
    let start = line(edit.range.start);
    start..line(edit.range.end).max(start) + 1
}

/// Shows the file with the changes of one group only, as a patch.
fn show(file: &PlannedFile, group: &Range<usize>, out: &mut dyn Write) -> io::Result<()> {
    let text = file.text();
    let edits: Vec<Edit> =
        file.plan.edits.iter().filter(|edit| is_in(&text, edit, group)).cloned().collect();
    let after = super::encoding::apply(&text, &edits);
    unified(&file.file.relative, text.as_bytes(), after.as_bytes(), true, out)
}

fn is_in(text: &str, edit: &Edit, group: &Range<usize>) -> bool {
    group.contains(&lines_of(text, edit).start)
}

fn ask(lang: Lang, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Answer> {
    loop {
        write!(out, "{} [y,n,q,a,d,?] ", ui::CONVERT_ASK.get(lang))?;
        out.flush()?;
        let mut line = Vec::new();
        let read = io::Read::take(&mut *input, MAX_ANSWER).read_until(b'\n', &mut line)?;
        if read == 0 {
            writeln!(out)?;
            return Ok(Answer::Quit);
        }
        match String::from_utf8_lossy(&line).trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Yes),
            "n" | "no" => return Ok(Answer::No),
            "a" => return Ok(Answer::RestOfFile),
            "d" => return Ok(Answer::NoneOfFile),
            "q" => return Ok(Answer::Quit),
            _ => writeln!(out, "{}", ui::CONVERT_ASK_HELP.get(lang))?,
        }
    }
}

impl PlannedFile {
    /// Removes the edits of these lines from the plan, and keeps their places.
    fn decline(&mut self, lines: &[Range<usize>]) {
        let text = self.text();
        let is_declined = |line: usize| lines.iter().any(|lines| lines.contains(&line));
        self.plan.edits.retain(|edit| !is_declined(lines_of(&text, edit).start));
        let (declined, sites) =
            std::mem::take(&mut self.plan.sites).into_iter().partition(|site| {
                let line = site.line.saturating_sub(1) as usize;
                site.decision == Decision::Changed && is_declined(line)
            });
        self.plan.sites = sites;
        let declined: Vec<super::site::Site> = declined;
        self.plan.kept.extend(declined.into_iter().map(|site| KeptSite {
            rule: site.rule,
            range: site.range,
            line: site.line,
            column: site.column,
            why: KeptBecause::Declined,
        }));
        self.plan.kept.sort_by_key(|kept| (kept.range.start, kept.range.end));
        self.edit_again();
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test writes its tree")]

    use std::path::{Path, PathBuf};

    use super::*;
    use crate::options::Options;
    use crate::plan::plan_bytes;
    use crate::python::Project;
    use treeedit::kind::FileKind;
    use treeedit::walk::{Scope, walk};

    const SOURCE: &str = "import torch\n\n\nx = torch.zeros(1, device='cuda')\ny = 1\nz = 2\n\
                          torch.cuda.synchronize()\n";

    fn chosen(answers: &str) -> (String, String, usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        write(&path, SOURCE);
        let scope = Scope {
            roots: vec![PathBuf::from(dir.path())],
            launch: Vec::new(),
            exclude: Vec::new(),
            kinds: vec![FileKind::Python],
            ignore_files: false,
            linked_files: false,
            max_size: 1 << 20,
        };
        let file = walk(&scope).unwrap().files.into_iter().next().unwrap();
        let options = Options::default();
        let project = Project::default();
        let planned = plan_bytes(&file, SOURCE.into(), &options, &project).unwrap();
        let mut plan = Plan { files: vec![planned], ..Plan::default() };
        let mut out = Vec::new();
        choose(&mut plan, Lang::En, &mut answers.as_bytes(), &mut out).unwrap();
        let [file] = plan.files.as_slice() else { panic!("one file") };
        crate::plan::prove(file, &options, &project).unwrap();
        let after =
            file.after.clone().map_or_else(String::new, |after| String::from_utf8(after).unwrap());
        (after, String::from_utf8(out).unwrap(), file.plan.kept.len())
    }

    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn declined_changes_stay() {
        let (after, out, kept) = chosen("y\nn\nyes\n");
        assert!(after.contains("import torch_npu") && after.contains("device='cuda'"), "{after}");
        assert!(after.contains("torch.npu.synchronize()") && kept == 1, "{after}");
        assert_eq!(out.matches("[y,n,q,a,d,?]").count(), 3, "{out}");
        assert_eq!(out.matches("--- a/a.py").count(), 3, "{out}");
    }

    #[test]
    fn one_answer_decides_the_rest() {
        assert!(chosen("a\n").0.contains("device='npu'"));
        for none in ["d\n", "q\n", "", "n\nq\n"] {
            assert_eq!(chosen(none).0, "", "{none:?}: nothing is left to write");
        }
        let (after, _, kept) = chosen("y\nd\n");
        assert_eq!(after, SOURCE.replacen("torch\n", "torch\nimport torch_npu\n", 1));
        assert_eq!(kept, 2);
    }

    #[test]
    fn other_answers_are_asked_again() {
        let (_, out, _) = chosen(&format!("?\n{}\nq\n", "x".repeat(10_000)));
        assert!(out.matches("[y,n,q,a,d,?]").count() >= 3, "{out}");
    }
}
