//! The expected hosts: a file of names, lists and, in brackets, roles.

use base::text::Text;
use data::faults;
use std::collections::BTreeMap;

use super::hostlist::expand;

/// The hosts of a file, each with its section.
#[derive(Debug, Default)]
pub struct Expected {
    /// The role by host; empty for hosts before the first section.
    hosts: BTreeMap<String, String>,
}

impl Expected {
    /// Parses one or more hosts or lists per line. `#` and `;` begin comments; `[role]` begins a
    /// section, as in an Ansible inventory, whose variables after a name are ignored.
    pub fn parse(text: &str) -> Result<Self, Text> {
        let mut expected = Self::default();
        let mut role = String::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split(['#', ';']).next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                role = name.trim().to_owned();
                continue;
            }
            // `[web:vars]` and `[web:children]` of an inventory hold no hosts.
            if role.contains(':') {
                continue;
            }
            for word in line.split_whitespace().filter(|word| !word.contains('=')) {
                let hosts =
                    expand(word).map_err(|why| faults::InLine { line: number, why }.value())?;
                for host in hosts {
                    expected.hosts.insert(host, role.clone());
                }
            }
        }
        if expected.hosts.is_empty() {
            return Err(faults::NoHost.value());
        }
        Ok(expected)
    }

    /// The expected name of a host: its own name, or that name without the domain.
    pub fn name<'a>(&'a self, host: &str) -> Option<&'a str> {
        let short = host.split('.').next().unwrap_or(host);
        let entry = self.hosts.get_key_value(host).or_else(|| self.hosts.get_key_value(short));
        entry.map(|(name, _)| name.as_str())
    }

    /// The role of a host; empty if it has none.
    pub fn role(&self, host: &str) -> &str {
        self.name(host).map_or("", |name| &self.hosts[name])
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hosts.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_roles() {
        let text = "login # the door\n[train]\nnode[01-02]  node7 ansible_host=10.0.0.7\n\
                    [train:vars]\nx=1\n[infer]\ngpu1,gpu2\n";
        let expected = Expected::parse(text).unwrap();
        let names: Vec<&str> = expected.names().collect();
        assert_eq!(names, ["gpu1", "gpu2", "login", "node01", "node02", "node7"]);
        assert_eq!(expected.role("node01.site"), "train");
        assert_eq!((expected.role("login"), expected.role("gpu2")), ("", "infer"));
        assert_eq!(expected.name("other"), None);
        assert!(Expected::parse("# nothing\n").is_err());
        assert!(Expected::parse("a\nb[1-\n").unwrap_err().en.starts_with("line 2"));
    }
}
