//! Takes out of a diagnosis what a report for others must not hold: paths, addresses, names of
//! hosts and users.

use std::sync::LazyLock;

use regex::Regex;

use super::diagnosis::{Diagnosis, Line};

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9a-fA-F]{1,4}:){3,7}(?::?[0-9a-fA-F]{1,4})\b")
        .expect("the expression is proved by a test")
});
/// A path of at least two parts; its last part stays, since it says which component spoke.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:~|/[\w.+@-]+)(?:/[\w.+@%-]+)*/([\w.+@%-]+)")
        .expect("the expression is proved by a test")
});
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[\w.-]+@[\w-]+(?:\.[\w-]+)*|(?i:\b(host(?:name)?|node(?:name)?|server(?:name)?)\b(\s*[:=]\s*|\[))[\w.-]+")
        .expect("the expression is proved by a test")
});

/// A text without paths, addresses and names of hosts.
pub fn text(text: &str) -> String {
    let text = ADDRESS.replace_all(text, "<address>");
    let text =
        HOST.replace_all(&text, |found: &regex::Captures<'_>| match (found.get(1), found.get(2)) {
            (Some(key), Some(sign)) => format!("{}{}<host>", key.as_str(), sign.as_str()),
            _ => "<user>@<host>".to_owned(),
        });
    PATH.replace_all(&text, "<path>/$1").into_owned()
}

/// The same for all of a diagnosis.
pub fn redact(diagnosis: &mut Diagnosis) {
    for suspect in &mut diagnosis.causes {
        suspect.evidence.iter_mut().for_each(line);
        suspect.consequences.iter_mut().for_each(|folded| line(&mut folded.line));
        for value in suspect.values.values_mut() {
            *value = text(value);
        }
        for (index, host) in suspect.culprit.hosts.iter_mut().enumerate() {
            *host = format!("<host {}>", index + 1);
        }
    }
    diagnosis.rejected.iter_mut().for_each(|rejected| line(&mut rejected.line));
    for problem in &mut diagnosis.problems {
        problem.name = text(&problem.name);
        problem.detail = text(&problem.detail);
    }
}

fn line(line: &mut Line) {
    line.text = text(&line.text);
    line.file = text(&line.file);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_people_and_machines_goes() {
        for (given, left) in [
            ("listen on ip[192.168.2.199] fail", "listen on ip[<address>] fail"),
            ("File \"/home/li/work/train.py\", line 3", "File \"<path>/train.py\", line 3"),
            ("hostname=gpu-17 failed", "hostname=<host> failed"),
            ("li@gpu-17: no", "<user>@<host>: no"),
            ("at 10:20:30 and/or E80000", "at 10:20:30 and/or E80000"),
            ("fe80:0:0:1::22 port", "<address> port"),
        ] {
            assert_eq!(text(given), left);
        }
    }
}
