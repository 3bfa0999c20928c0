//! The home directory of the user of the examined machine.

use super::Sysroot;

impl Sysroot {
    /// The home directory of the user who would run the workload: `HOME`, else that of
    /// `/etc/passwd`, else that of root. `None` for a user without a known home.
    pub fn home(&self) -> Option<String> {
        let named = self.env().non_empty("HOME").map(str::to_owned);
        named.or_else(|| match self.process().uid {
            Some(uid) if uid != 0 => home_of(&self.read_text("/etc/passwd").ok()?, uid),
            _ => Some("/root".to_owned()),
        })
    }
}

/// The sixth field in the line of a user (passwd(5)).
fn home_of(passwd: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut homes = fields.filter(|fields| fields.get(2) == Some(&uid.as_str()));
    homes.find_map(|fields| {
        fields.get(5).filter(|home| home.starts_with('/')).map(|home| (*home).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_of_finds_user_in_passwd() {
        let passwd =
            "root:x:0:0:root:/root:/bin/sh\nbad:x:1000\nme:x:1000:100:Me:/home/me:/bin/sh\n";
        assert_eq!(home_of(passwd, 1000).as_deref(), Some("/home/me"));
        assert_eq!(home_of(passwd, 0).as_deref(), Some("/root"));
        assert_eq!(home_of(passwd, 7), None);
        assert_eq!(home_of("x:x:5:5::relative:\n", 5), None);
    }
}
