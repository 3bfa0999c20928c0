//! `pyvenv.cfg`, which makes a directory a virtual environment (PEP 405).

/// The relevant contents of `pyvenv.cfg`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Config {
    /// The directory of the interpreter that the environment was created from.
    pub(super) home: Option<String>,
    /// `X.Y.Z` of that interpreter.
    pub(super) version: Option<String>,
    /// Whether its packages are visible too.
    pub(super) system_site: bool,
}

/// Parses `key = value` lines; keys are compared without case, as in `site.py`.
pub(super) fn parse(text: &str) -> Config {
    let mut config = Config::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "home" if value.starts_with('/') => config.home = Some(value.to_owned()),
            "include-system-site-packages" => {
                config.system_site = value.eq_ignore_ascii_case("true");
            }
            // `venv` writes `version`, virtualenv and uv write `version_info`.
            "version" | "version_info" if config.version.is_none() => {
                config.version = release(value);
            }
            _ => {}
        }
    }
    config
}

/// The leading `X.Y` or `X.Y.Z` of a version such as `3.11.4.final.0`.
fn release(text: &str) -> Option<String> {
    let numbers: Vec<&str> = text
        .split('.')
        .take_while(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        .take(3)
        .collect();
    (numbers.len() >= 2).then(|| numbers.join("."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn venv_and_uv_configs_are_read() {
        let venv = "home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.11.2\n";
        let config = parse(venv);
        assert_eq!(config.home.as_deref(), Some("/usr/bin"));
        assert!(config.system_site);
        assert_eq!(config.version.as_deref(), Some("3.11.2"));
        let uv = "home=/opt/py/bin\nversion_info = 3.10.14.final.0\n";
        assert_eq!(parse(uv).version.as_deref(), Some("3.10.14"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "\\PC{0,300}") {
            parse(&text);
        }
    }
}
