//! Dockerfiles, and NVIDIA requirements in compose files, Kubernetes manifests and CI workflows.

use std::borrow::Cow;
use std::ops::Range;

use super::config;
use super::environment;
use super::nvidia_keys::is_cuda_image;
use super::rules::{Place, Rules};
use super::shell;
use super::site::{Certainty, Planner};
use super::syntax::UnparsableText;
use super::value::{self, Outcome};

/// Plans a Dockerfile, or a compose file or manifest (YAML).
pub fn plan(planner: &mut Planner<'_>, name: &str) -> Result<(), UnparsableText> {
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".yml") || lower.ends_with(".yaml") {
        return config::plan(planner, name);
    }
    dockerfile(planner);
    Ok(())
}

/// The instructions that span several lines: no comment can be inserted into them.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for instruction in instructions(text) {
        let line = text[..instruction.rest.start].rfind('\n').map_or(0, |at| at + 1);
        out.push(line..instruction.rest.end);
    }
    out
}

/// One instruction.
struct Instruction {
    /// In capitals.
    name: String,
    /// Arguments, with here documents.
    rest: Range<usize>,
    /// End of the arguments without here documents.
    head: usize,
}

impl Instruction {
    /// The arguments as the shell receives them: blank lines and comments between continued lines
    /// become blanks, so that offsets stay the same.
    fn script<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let head = &text[self.rest.start..self.head.max(self.rest.start)];
        let dropped = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        if !head.split_inclusive('\n').skip(1).any(dropped) {
            return Cow::Borrowed(&text[self.rest.clone()]);
        }
        let mut script = String::with_capacity(self.rest.len());
        for (at, line) in head.split_inclusive('\n').enumerate() {
            if at > 0 && dropped(line) {
                script.extend(std::iter::repeat_n(' ', line.len()));
            } else {
                script.push_str(line);
            }
        }
        script.push_str(&text[self.head.max(self.rest.start)..self.rest.end]);
        Cow::Owned(script)
    }
}

fn dockerfile(planner: &mut Planner<'_>) {
    let text = planner.text;
    // Another escape character changes the meaning of every line end.
    let directive = text.lines().next().unwrap_or_default().to_ascii_lowercase().replace(' ', "");
    if directive.starts_with("#escape=`") {
        return;
    }
    for instruction in instructions(text) {
        let body = instruction.script(text);
        let body = body.as_ref();
        let rest = instruction.rest;
        match instruction.name.as_str() {
            "FROM" => from(planner, &rest),
            "ENV" | "ARG" | "LABEL" if !body.contains('=') => legacy(planner, &rest),
            "ENV" | "ARG" => {
                argument_image(planner, &rest);
                let _ = shell::plan_part(planner, body, rest.start);
            }
            "HEALTHCHECK" => {
                if let Some(at) = body.find("CMD ") {
                    let from = at + "CMD ".len();
                    let _ = shell::plan_part(planner, &body[from..], rest.start + from);
                }
            }
            "RUN" | "CMD" | "ENTRYPOINT" if body.starts_with('[') => {
                list(planner, &rest);
            }
            "RUN" | "CMD" | "ENTRYPOINT" => {
                let command = options_of_run(body);
                let _ = shell::plan_part(planner, &body[command..], rest.start + command);
            }
            _ => {}
        }
    }
}

fn instructions(text: &str) -> Vec<Instruction> {
    let mut out = Vec::new();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < text.len() {
        let start = at;
        at = line_after(text, at);
        let line = &text[start..at];
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        // A backslash continues the line; comments and blank lines after it do not end the
        // instruction.
        let mut end = at;
        let mut last = line;
        let goes_on = |line: &str| {
            let line = line.trim();
            line.is_empty() || line.ends_with('\\') || line.starts_with('#')
        };
        while goes_on(last) {
            if end >= text.len() {
                break;
            }
            let next = line_after(text, end);
            last = &text[end..next];
            end = next;
        }
        at = end;
        let offset = start + line.len() - trimmed.len();
        let len = trimmed.find([' ', '\t', '\r', '\n']).unwrap_or(trimmed.len());
        let name = trimmed[..len].to_ascii_uppercase();
        let body = text[offset + len..end].trim_start_matches([' ', '\t']);
        let rest = end - body.len()..end - (body.len() - body.trim_end().len());
        if rest.start > rest.end {
            continue;
        }
        let behind = heredoc(text, &text[rest.clone()], &name, at);
        // The shell reads its here documents together with the command.
        let rest = if behind > at && name == "RUN" { rest.start..behind } else { rest };
        at = behind;
        out.push(Instruction { name, head: rest.end.min(end), rest });
    }
    out
}

fn line_after(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |len| at + len + 1)
}

/// Where the command begins after options such as `--mount=type=cache,…`.
fn options_of_run(body: &str) -> usize {
    let mut at = 0;
    while body[at..].starts_with("--") {
        let len = body[at..].find([' ', '\t', '\\', '\n']).unwrap_or(body.len() - at);
        let rest = &body[at + len..];
        at += len + rest.len() - rest.trim_start_matches([' ', '\t', '\\', '\r', '\n']).len();
    }
    at
}

/// The offset after the here documents of `RUN <<EOF` or `COPY <<A <<B /dir`, which begin at `at`.
/// An instruction without the closing delimiter has no here document.
fn heredoc(text: &str, body: &str, name: &str, at: usize) -> usize {
    if !matches!(name, "RUN" | "COPY" | "ADD") {
        return at;
    }
    let mut end = at;
    for delimiter in body.split_whitespace().filter_map(delimiter_of) {
        let mut line = end;
        end = loop {
            if line >= text.len() {
                return at;
            }
            let next = line_after(text, line);
            if text[line..next].trim() == delimiter {
                break next;
            }
            line = next;
        };
    }
    end
}

/// `EOF` of the word `<<EOF`, `2<<-EOF` or `<<"EOF"`.
fn delimiter_of(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix("<<")?;
    let word = word.trim_start_matches('-').trim_start_matches(['"', '\'']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = &word[..word.find(|c| !is_name(c)).unwrap_or(word.len())];
    (!word.is_empty()).then_some(word)
}

/// `FROM --platform=… image AS name`.
fn from(planner: &mut Planner<'_>, rest: &Range<usize>) {
    let text = &planner.text[rest.clone()];
    let mut at = 0;
    for word in text.split([' ', '\t']) {
        let start = rest.start + at;
        at += word.len() + 1;
        if word.is_empty() || word.starts_with("--") {
            continue;
        }
        if is_cuda_image(word) {
            let rule = Rules::builtin().site(Place::DockerfileFrom);
            planner.flag(rule, start..start + word.len(), Some(word.to_owned()));
        }
        return;
    }
}

/// `ARG BASE=nvidia/cuda:12.1.0-base`.
fn argument_image(planner: &mut Planner<'_>, rest: &Range<usize>) {
    let text = &planner.text[rest.clone()];
    let Some((name, value)) = text.split_once('=') else { return };
    let image = value.trim().trim_matches(['"', '\'']);
    let says_image = name.to_ascii_lowercase().contains("image") || name.starts_with("BASE");
    if says_image && !image.contains(char::is_whitespace) && is_cuda_image(image) {
        let rule = Rules::builtin().site(Place::DockerfileFrom);
        planner.flag(rule, rest.clone(), Some(image.to_owned()));
    }
}

/// `ENV NAME the value`.
fn legacy(planner: &mut Planner<'_>, rest: &Range<usize>) {
    let text = &planner.text[rest.clone()];
    let Some((name, value)) = text.split_once([' ', '\t']) else { return };
    let trimmed = value.trim_start();
    let known = (!trimmed.contains(['$', '\\', '"', '\''])).then_some(trimmed);
    let known = if name.ends_with("PATH") { Some(trimmed) } else { known };
    let Some(decision) = environment::assignment(name, known) else { return };
    if let (Some(_), Some(new)) = (decision.new_name, &decision.new_value) {
        planner.also(decision.rule, rest, rest.end - trimmed.len()..rest.end, new.clone());
    }
    decision.enter(planner, rest.start..rest.start + name.len(), rest);
}

/// `CMD ["python", "train.py", "--device", "cuda"]`.
fn list(planner: &mut Planner<'_>, rest: &Range<usize>) {
    let text = planner.text;
    let Some(items) = config::json_list(&text[rest.clone()]) else { return };
    let rule = Rules::builtin().site(Place::ShellDeviceOption);
    let mut option: Option<&str> = None;
    for item in items {
        let range = rest.start + item.start..rest.start + item.end;
        let word = &text[range.clone()];
        let (key, at) = match word.split_once('=') {
            Some((key, value)) => (Some(key), range.end - value.len()..range.end),
            None => (option.take(), range),
        };
        let outcome = key.and_then(|key| value::converted(key, &text[at.clone()]));
        match outcome {
            Some(Outcome::Write(new)) => {
                planner.change(rule, at, new, Certainty::Exact);
            }
            Some(Outcome::Flag) => planner.flag(rule, at, Some(word.to_owned())),
            None => {}
        }
        option = word.starts_with('-').then_some(word);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::apply;
    use crate::site::{Decision, FilePlan};

    fn planned(text: &str) -> FilePlan {
        let mut planner = Planner::new(text);
        plan(&mut planner, "Dockerfile").unwrap();
        planner.finish()
    }

    fn flags(text: &str) -> Vec<&'static str> {
        let sites = planned(text).sites;
        let flagged = sites.iter().filter(|site| site.decision == Decision::Flagged);
        flagged.map(|site| site.rule.name).collect()
    }

    fn converted(text: &str) -> String {
        let after = apply(text, &planned(text).edits);
        assert_eq!(planned(&after).edits, [], "a second run edits\n{after}");
        after
    }

    #[test]
    fn variables_and_commands_are_rewritten() {
        for (before, after) in [
            ("ENV CUDA_VISIBLE_DEVICES=0 A=b\n", "ENV ASCEND_RT_VISIBLE_DEVICES=0 A=b\n"),
            ("ENV CUDA_VISIBLE_DEVICES 0, 1\n", "ENV ASCEND_RT_VISIBLE_DEVICES 0,1\n"),
            (
                "RUN pip install \\\n    # gpu\n    onnxruntime-gpu \\\n  && echo cuda\n",
                "RUN pip install \\\n    # gpu\n    onnxruntime-cann \\\n  && echo cuda\n",
            ),
            (
                "RUN pip install x \\\n    onnxruntime-gpu \\\n  && echo cuda\n",
                "RUN pip install x \\\n    onnxruntime-cann \\\n  && echo cuda\n",
            ),
            ("CMD python a.py --device cuda\n", "CMD python a.py --device npu\n"),
            (
                "RUN <<EOF\nexport CUDA_VISIBLE_DEVICES=0\nEOF\nCOPY a b\n",
                "RUN <<EOF\nexport ASCEND_RT_VISIBLE_DEVICES=0\nEOF\nCOPY a b\n",
            ),
            (
                "RUN --mount=type=cache,target=/x \\\n  --network=host python a.py --device cuda\n",
                "RUN --mount=type=cache,target=/x \\\n  --network=host python a.py --device npu\n",
            ),
            (
                "CMD [\"python\", \"a.py\", \"--device\", \"cuda\"]\n",
                "CMD [\"python\", \"a.py\", \"--device\", \"npu\"]\n",
            ),
        ] {
            assert_eq!(converted(before), after);
        }
    }

    #[test]
    fn unrelated_instructions_stay() {
        for text in [
            "# ENV CUDA_VISIBLE_DEVICES=0\nFROM ubuntu:22.04\n",
            "RUN <<EOF\necho cuda\nEOF\nCOPY cuda /cuda\n",
            "COPY <<EOF /a.txt\nexport CUDA_VISIBLE_DEVICES=0\nEOF\n",
            "COPY <<A <<B /d/\nx\nA\nENV CUDA_VISIBLE_DEVICES=0\nB\n",
            "# escape=`\nENV CUDA_VISIBLE_DEVICES=0\n",
            "LABEL cuda=yes\nRUN echo \"CUDA_VISIBLE_DEVICES=0\"\n",
        ] {
            assert_eq!(converted(text), text);
        }
    }

    #[test]
    fn cuda_images_and_packages_are_flagged() {
        for (text, rules) in [
            ("FROM nvidia/cuda:12.1.0-base AS b\n", vec!["dockerfile-from"]),
            ("FROM --platform=x pytorch/pytorch:2.1.0-cuda12.1\n", vec!["dockerfile-from"]),
            ("ARG BASE_IMAGE=nvidia/cuda:12.1.0\nFROM $BASE_IMAGE\n", vec!["dockerfile-from"]),
            ("FROM ubuntu:22.04\nFROM ascendai/cann:8.0\n", vec![]),
            ("ENV NVIDIA_VISIBLE_DEVICES all\n", vec!["NVIDIA_VISIBLE_DEVICES"]),
            ("ENV PATH=/usr/local/cuda/bin:$PATH\n", vec!["ld-library-path-cuda"]),
            ("\u{feff}FROM nvidia/cuda:12.1.0-base\n", vec!["dockerfile-from"]),
            (
                "RUN apt-get install -y curl \\\n\n  cuda-toolkit-12-1\n",
                vec!["requirements-cuda-package"],
            ),
            (
                "RUN apt-get install -y \\\n  # CUDA\n  cuda-toolkit-12-1\n",
                vec!["requirements-cuda-package"],
            ),
            ("HEALTHCHECK --interval=5s CMD nvidia-smi\n", vec!["shell-nvidia-smi"]),
            ("RUN apt-get install -y cuda-toolkit-12-1 curl\n", vec!["requirements-cuda-package"]),
        ] {
            assert_eq!(flags(text), rules, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_planned_once(
            text in "(FROM |ENV |RUN |CMD |ARG |\\[|\\]|\"|,|CUDA_VISIBLE_DEVICES|=|0, 1| |\n|\\\\|#|<<E|python a.py|--device|cuda|中){0,20}",
        ) {
            let plan = planned(&text);
            for edit in &plan.edits {
                prop_assert!(text.get(edit.range.clone()).is_some());
            }
            let after = apply(&text, &plan.edits);
            prop_assert_eq!(planned(&after).edits, vec![]);
        }
    }
}
