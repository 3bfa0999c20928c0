//! Redacts a diagnosis for reports to others: paths, addresses, names of hosts and users.

use base::text::Text;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

use regex::Regex;

use super::diagnosis::{Diagnosis, Line};

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b\d{1,3}(?:\.\d{1,3}){3}\b").expect("the expression is proved by a test")
});
/// A possible IPv6 address; its parser decides.
static COLONS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
        .expect("the expression is proved by a test")
});
/// A path of at least two parts; the last part is kept because it names the component.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:~|/[\w.+@-]+)(?:/[\w.+@%-]+)*/([\w.+@%-]+)")
        .expect("the expression is proved by a test")
});
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[\w.-]+@[\w-]+(?:\.[\w-]+)*|(?i:\b(host(?:name)?|node(?:name)?|server(?:name)?)\b(\s*[:=]\s*|\[))[\w.-]+")
        .expect("the expression is proved by a test")
});

/// A text without paths, addresses and names of hosts.
pub fn redact_text(text: &str) -> String {
    let text = COLONS.replace_all(text, |found: &regex::Captures<'_>| {
        let whole = &found[0];
        let (start, end) = found.get(0).map_or((0, 0), |found| (found.start(), found.end()));
        // A colon before the address and a point or colon at its end belong to the sentence.
        let part = if whole.starts_with("::") { whole } else { whole.trim_start_matches(':') };
        let before = whole.len() - part.len();
        let part = part.trim_end_matches('.');
        let part = if part.ends_with("::") { part } else { part.trim_end_matches(':') };
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let alone = !text[..start + before].ends_with(in_word) && !text[end..].starts_with(in_word);
        match address_length(part).filter(|_| alone) {
            Some(length) => format!("{}<address>{}", &whole[..before], &whole[before + length..]),
            None => whole.to_owned(),
        }
    });
    let text = ADDRESS.replace_all(&text, "<address>");
    let text =
        HOST.replace_all(&text, |found: &regex::Captures<'_>| match (found.get(1), found.get(2)) {
            (Some(key), Some(sign)) => format!("{}{}<host>", key.as_str(), sign.as_str()),
            _ => "<user>@<host>".to_owned(),
        });
    PATH.replace_all(&text, "<path>/$1").into_owned()
}

/// The number of bytes of `part` that are an address: an IPv6 address, perhaps with a port, or that
/// of a network card.
fn address_length(part: &str) -> Option<usize> {
    // `::` occurs in C++ and identifies no machine.
    let is_address = |text: &str| text.parse::<Ipv6Addr>().is_ok_and(|ip| !ip.is_unspecified());
    let without_port = part.rsplit_once(':').map_or("", |(address, _)| address);
    if is_address(part) {
        Some(part.len())
    } else if is_address(without_port) {
        Some(without_port.len())
    } else {
        // Also the address of a card; three numbers are a time.
        let groups = part.split(':');
        let is_group = |group: &str| {
            matches!(group.len(), 1..=4) && group.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        (groups.clone().count() > 3 && groups.into_iter().all(is_group)).then_some(part.len())
    }
}

/// Redacts all texts of a diagnosis.
pub fn redact(diagnosis: &mut Diagnosis) {
    for suspect in &mut diagnosis.causes {
        suspect.evidence.iter_mut().for_each(redact_line);
        for folded in &mut suspect.consequences {
            redact_line(&mut folded.line);
            folded.values.values_mut().for_each(|value| *value = redact_text(value));
        }
        let values = suspect.values.values_mut().chain(suspect.known.values_mut());
        values.for_each(|value| *value = redact_text(value));
        for (index, host) in suspect.culprit.hosts.iter_mut().enumerate() {
            *host = format!("<host {}>", index + 1);
        }
    }
    diagnosis.rejected.iter_mut().for_each(|rejected| redact_line(&mut rejected.line));
    for rank in diagnosis.timeline.iter_mut().flat_map(|timeline| &mut timeline.ranks) {
        if let Some(failure) = &mut rank.first_failure {
            failure.file = redact_text(&failure.file);
        }
    }
    for problem in &mut diagnosis.problems {
        problem.name = redact_text(&problem.name);
        problem.detail =
            Text::new(redact_text(&problem.detail.en), redact_text(&problem.detail.zh));
    }
}

fn redact_line(line: &mut Line) {
    line.text = redact_text(&line.text);
    line.matched = redact_text(&line.matched);
    line.file = redact_text(&line.file);
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
            ("on [2001:db8::1]:29500: no", "on [<address>]:29500: no"),
            ("fe80::a00:27ff:fe4e:66a1.", "<address>."),
            ("peer ::ffff:10.0.0.7: gone", "peer <address>: gone"),
            ("507035 peer:fe80::a00:27ff:fe4e:66a1", "507035 peer:<address>"),
            ("ip:2001:db8:0:0:0:0:0:1:29500", "ip:<address>:29500"),
            ("at ::1:29500", "at <address>:29500"),
            ("mac aa:bb:cc:dd:ee:ff", "mac <address>"),
            ("std::vector at :: or 1:2:3", "std::vector at :: or 1:2:3"),
            ("at::native::add_out, vec::add_", "at::native::add_out, vec::add_"),
        ] {
            assert_eq!(redact_text(given), left);
        }
    }
}
