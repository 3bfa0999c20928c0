//! Steps as a shell script that a user reads before running it.

use std::io::{self, Write};

use super::Style;
use super::wrap::wrap;
use base::text::escape_line;

/// A script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The comment above the steps, one statement per line.
    pub head: Vec<String>,
    /// The steps.
    pub steps: Vec<ScriptStep>,
}

/// A step of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStep {
    /// The step.
    pub title: String,
    /// Remarks on the step, one statement per line.
    pub details: Vec<String>,
    /// The command line.
    pub run: Option<String>,
    /// Whether the shell that runs the script can run the command.
    pub runs_here: bool,
}

/// The minimum width of a comment, in columns.
const NARROWEST: usize = 40;

/// Writes a script for bash. Text that a shell cannot run becomes a comment, and so does a command
/// that control characters would break into several.
pub fn render_script(script: &Script, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "#!/usr/bin/env bash")?;
    for line in &script.head {
        comment(line, "", style, out)?;
    }
    if script.steps.iter().any(|step| step.run.is_some() && step.runs_here) {
        writeln!(out, "set -e")?;
    }
    for (at, step) in script.steps.iter().enumerate() {
        writeln!(out)?;
        comment(&format!("{}. {}", at + 1, step.title), "", style, out)?;
        for line in &step.details {
            comment(line, "   ", style, out)?;
        }
        let Some(run) = &step.run else { continue };
        let shown = escape_line(run);
        if step.runs_here && shown == *run {
            writeln!(out, "{run}")?;
        } else {
            writeln!(out, "#    $ {shown}")?;
        }
    }
    Ok(())
}

fn comment(text: &str, indent: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let width = match style.width {
        0 => 0,
        width => width.saturating_sub(2 + indent.len()).max(NARROWEST),
    };
    for line in wrap(&escape_line(text), width) {
        writeln!(out, "# {indent}{line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paint;
    use base::text::Lang;

    fn written(run: &str, runs_here: bool) -> String {
        let step = ScriptStep {
            title: "Install\nit".to_owned(),
            details: vec!["Needs: root".to_owned()],
            run: Some(run.to_owned()),
            runs_here,
        };
        let script = Script { head: vec!["A plan".to_owned()], steps: vec![step] };
        let mut out = Vec::new();
        let paint = Paint::new(false);
        let style = Style { lang: Lang::En, paint, width: 80, verbose: false, quiet: false };
        render_script(&script, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_cannot_run_is_a_comment() {
        let text = written("pip install x", true);
        assert!(text.ends_with("#    Needs: root\npip install x\n"), "{text}");
        assert!(text.contains("\nset -e\n"), "{text}");
        let text = written("docker run …", false);
        assert!(text.ends_with("#    $ docker run …\n") && !text.contains("set -e"), "{text}");
    }

    #[test]
    fn no_line_outside_of_comments_comes_from_control_characters() {
        let text = written("pip install 'x\nrm -r y'", true);
        let active = |line: &&str| !line.starts_with('#') && !line.is_empty() && *line != "set -e";
        assert_eq!(text.lines().find(active), None, "{text}");
    }
}
