//! Requirements by the rules of pip (PEP 440, PEP 508), evaluated for the interpreter under
//! examination and not for the one that runs this program.

use data::{Outcome, Reason};
use std::str::FromStr as _;

use pep440_rs::{Operator, Version, VersionSpecifier, VersionSpecifiers};
use pep508_rs::{ExtraName, MarkerEnvironment, MarkerEnvironmentBuilder, MarkerTree};

use facts::{Facts, Interpreter, normalize_name};

/// Maximum length of a requirement, in bytes; real ones have some hundred.
const MAX_LENGTH: usize = 2000;
/// Maximum nesting of a marker, because the parser recurses.
const MAX_PARENS: usize = 50;

/// A requirement that holds for this interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// Normalized name of the required package.
    pub(super) name: String,
    /// Accepted versions; empty for any.
    pub(super) spec: VersionSpecifiers,
    /// The line without its marker.
    pub(super) text: String,
    /// The whole line, with its marker.
    pub(super) declared: String,
    /// The required extras of the package, normalized.
    pub(super) extras: Vec<String>,
}

/// The outcome of a check about a package that is not installed.
pub(super) fn not_installed(package: &str) -> Outcome {
    Outcome::NotApplicable(Reason::NoPackage { what: package.to_owned() })
}

/// Parses a version.
pub(super) fn version(text: &str) -> Option<Version> {
    (text.len() <= MAX_LENGTH).then(|| Version::from_str(text).ok()).flatten()
}

/// `X.Y` of an interpreter.
pub(super) fn minor(interpreter: &Interpreter) -> Option<(u32, u32)> {
    let mut parts = interpreter.version.as_deref()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The release numbers without trailing zeros: `2.7` and `2.7.0` are one.
pub(super) fn release(version: &Version) -> Vec<u64> {
    let mut numbers = version.release().to_vec();
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    numbers
}

/// Returns whether `version` satisfies `spec`, ignoring local parts on both sides: `2.9.0`
/// satisfies `==2.9.0+cpu`.
pub(super) fn satisfies_without_local(spec: &VersionSpecifiers, version: &Version) -> bool {
    let version = version.clone().without_local();
    spec.iter().all(|one| without_local(one).is_none_or(|one| one.contains(&version)))
}

fn without_local(one: &VersionSpecifier) -> Option<VersionSpecifier> {
    if one.version().is_local() {
        let version = one.version().clone().without_local();
        VersionSpecifier::from_version(*one.operator(), version).ok()
    } else {
        Some(one.clone())
    }
}

/// Returns whether `version` belongs to the release that `spec` pins, apart from pre-release,
/// post-release, development and local parts: a nightly or self-built package.
pub(super) fn same_release(spec: &VersionSpecifiers, version: &Version) -> bool {
    spec.iter().any(|one| {
        matches!(one.operator(), Operator::Equal | Operator::EqualStar | Operator::ExactEqual)
            && release(one.version()) == release(version)
    })
}

/// Returns whether `version` violates `spec` and belongs to another series of releases: another
/// major version, or another minor one below 1.0, where the interfaces may differ. A lower bound is
/// the first release with the needed interface. An upper bound at the start of a series excludes
/// the whole series.
pub(super) fn is_other_series(spec: &VersionSpecifiers, version: &Version) -> bool {
    let series = |version: &Version| {
        let release = version.release();
        let part = |at: usize| release.get(at).copied().unwrap_or(0);
        if part(0) == 0 { (0, part(1)) } else { (part(0), 0) }
    };
    let starts_series = |bound: &Version| {
        let rest = if bound.release().first() == Some(&0) { 2 } else { 1 };
        bound.release().iter().skip(rest).all(|part| *part == 0)
    };
    spec.iter().filter(|one| !one.contains(version)).any(|one| {
        let bound = one.version();
        let excludes_it = *one.operator() == Operator::LessThan && starts_series(bound);
        series(version) != series(bound) || excludes_it
    })
}

/// The environment in which markers are evaluated.
pub(super) fn environment(facts: &Facts) -> Option<MarkerEnvironment> {
    let interpreter = facts.python.interpreter.as_ref()?;
    let (major, minor) = minor(interpreter)?;
    let short = format!("{major}.{minor}");
    let full = interpreter.version.as_deref().filter(|full| full.matches('.').count() == 2);
    let full = full.map_or_else(|| format!("{short}.0"), str::to_owned);
    let machine = facts.host.arch.as_ref().or(interpreter.arch.as_ref())?;
    MarkerEnvironmentBuilder {
        implementation_name: "cpython",
        implementation_version: &full,
        os_name: "posix",
        platform_machine: machine,
        platform_python_implementation: "CPython",
        platform_release: facts.host.kernel.as_deref().unwrap_or(""),
        platform_system: "Linux",
        platform_version: "",
        python_full_version: &full,
        python_version: &short,
        sys_platform: "linux",
    }
    .try_into()
    .ok()
}

/// Parses a `Requires-Dist` line. `None` if it does not apply here (marker, extra), names an
/// address instead of versions, or is not a requirement.
///
/// The parts are split here, because the parser of `pep508_rs` 0.9 panics on some names (`a_`); the
/// libraries parse versions and markers.
pub(super) fn requirement(line: &str, env: &MarkerEnvironment) -> Option<Requirement> {
    requirement_with(line, env, &[])
}

/// The lines of `requires` that apply with these extras (normalized names) but not without them.
pub(super) fn of_extras(
    requires: &[String],
    env: &MarkerEnvironment,
    extras: &[String],
) -> Vec<Requirement> {
    let names: Vec<ExtraName> =
        extras.iter().filter_map(|extra| ExtraName::from_str(extra).ok()).collect();
    let lines = requires.iter().filter(|line| line.contains("extra"));
    let lines = lines.filter(|line| requirement(line, env).is_none());
    lines.filter_map(|line| requirement_with(line, env, &names)).collect()
}

/// The extra that a marker requires, normalized: `extra == "x"`, without an alternative.
fn named_extra(marker: &str) -> Option<String> {
    if marker.contains(" or ") {
        return None;
    }
    let (_, rest) = marker.split_once("extra ==")?;
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (name, _) = rest[1..].split_once(quote)?;
    Some(normalize_name(name))
}

/// As [`requirement`], with requested extras.
fn requirement_with(
    line: &str,
    env: &MarkerEnvironment,
    extras: &[ExtraName],
) -> Option<Requirement> {
    // Only pip can resolve an address.
    if line.len() > MAX_LENGTH || line.contains('@') || line.matches('(').count() > MAX_PARENS {
        return None;
    }
    let (what, marker) = line.split_once(';').map_or((line, None), |(a, b)| (a, Some(b)));
    if let Some(marker) = marker {
        // Packages list hundreds of lines for extras that were not requested.
        let for_extra = named_extra(marker);
        if for_extra.is_some_and(|extra| extras.iter().all(|one| *one.as_ref() != extra)) {
            return None;
        }
        let tree = MarkerTree::from_str(marker.trim()).ok()?;
        if !tree.evaluate(env, extras) {
            return None;
        }
    }
    let what = what.trim();
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let (name, rest) = what.split_at(what.find(|c| !in_name(c)).unwrap_or(what.len()));
    let name = normalize_name(name);
    let mut spec = rest.trim_start();
    let mut with = "";
    if let Some(listed) = spec.strip_prefix('[') {
        (with, spec) = listed.split_once(']')?;
        spec = spec.trim_start();
    }
    let with = with.split(',').map(str::trim).filter(|extra| !extra.is_empty());
    if let Some(inner) = spec.strip_prefix('(') {
        spec = inner.strip_suffix(')')?;
    }
    let spec = spec.trim();
    let spec = match spec {
        "" => VersionSpecifiers::empty(),
        spec => VersionSpecifiers::from_str(spec).ok()?,
    };
    (!name.is_empty()).then(|| Requirement {
        name,
        spec,
        text: what.to_owned(),
        declared: line.to_owned(),
        extras: with.map(normalize_name).collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn here() -> MarkerEnvironment {
        let mut facts = Facts::default();
        facts.host.arch = Some("aarch64".to_owned());
        let interpreter =
            Interpreter { version: Some("3.11.13".to_owned()), ..Interpreter::default() };
        facts.python.interpreter = Some(interpreter);
        environment(&facts).unwrap()
    }

    #[test]
    fn markers_speak_of_the_examined_interpreter() {
        let env = here();
        assert!(requirement("a; platform_machine == 'x86_64'", &env).is_none());
        assert!(requirement("a; python_version < '3.10'", &env).is_none());
        assert!(requirement("a[x]>=1; extra == 'dev'", &env).is_none());
        let requires = ["b>=1", "c; extra == 'x'", "d; extra == 'Y_z' and os_name == 'nt'", "e"];
        let requires: Vec<String> = requires.iter().map(|&line| line.to_owned()).collect();
        let names = |extras: &[&str]| -> Vec<String> {
            let extras: Vec<String> = extras.iter().map(|&extra| extra.to_owned()).collect();
            of_extras(&requires, &env, &extras).into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(&["x", "y-z"]), ["c"]);
        assert_eq!(names(&["other"]), [""; 0]);
        let several = requirement("a[X_1, y]>=1", &env).expect("it holds");
        assert_eq!(several.extras, ["x-1", "y"]);
        assert!(requirement("a @ https://host/a.whl", &env).is_none());
        let found = requirement("Foo_Bar (>=1.0) ; python_version >= '3.8'", &env).unwrap();
        assert_eq!(found.name, "foo-bar");
        assert!(found.spec.contains(&version("1.2").unwrap()));
        assert_eq!(found.text, "Foo_Bar (>=1.0)");
    }

    #[test]
    fn local_parts_do_not_count() {
        let spec = VersionSpecifiers::from_str("==2.9.0+cpu").unwrap();
        let is = |text: &str| satisfies_without_local(&spec, &version(text).unwrap());
        assert!(is("2.9.0") && is("2.9.0+cpu") && is("2.9.0+cu128"));
        assert!(!is("2.9.1"));
        let star = VersionSpecifiers::from_str("==2.14.0.*").unwrap();
        assert!(satisfies_without_local(&star, &version("2.14.0+cpu").unwrap()));
    }

    #[test]
    fn a_nightly_is_of_its_release() {
        let spec = VersionSpecifiers::from_str("==2.7.1").unwrap();
        assert!(same_release(&spec, &version("2.7.1.dev20250724").unwrap()));
        assert!(same_release(&spec, &version("2.7.1a0+gitabc").unwrap()));
        assert!(!same_release(&spec, &version("2.7.0").unwrap()));
    }

    #[test]
    fn a_violation_by_another_series() {
        let other = |spec: &str, version: &str| {
            let spec: VersionSpecifiers = spec.parse().unwrap();
            is_other_series(&spec, &version.parse().unwrap())
        };
        assert!(other("<=4.57.1", "5.3.0"));
        assert!(other("<5,>=4.57.4", "5.0.0"));
        assert!(other(">=4.57.4,<5", "3.9.0"));
        assert!(other("<0.124.0", "0.124.1"));
        assert!(!other("<=4.57.1", "4.58.0"));
        assert!(!other("<0.21.1", "0.21.2"));
        assert!(!other(">=4.57.4", "4.57.1"));
        assert!(!other("<5", "4.9"));
    }

    proptest! {
        #[test]
        fn any_line_is_parsed(
            line in "\\PC{0,80}",
            marker in "[()a-z_ '\"<>=!,.0-9]{0,80}",
            word in "(extra|python_version|python_full_version|os_name|platform_machine|x)",
            operator in "(==|!=|<|>|<=|>=|~=|===|in|not in|and)",
            value in "[0-9a-z.*+!_-]{0,12}",
        ) {
            let env = here();
            requirement(&line, &env);
            requirement(&format!("a; {marker}"), &env);
            requirement(&format!("a{marker}"), &env);
            requirement(&format!("a; {word} {operator} '{value}'"), &env);
            requirement(&format!("a{operator}{value}"), &env);
            version(&line);
            version(&value);
        }
    }
}
