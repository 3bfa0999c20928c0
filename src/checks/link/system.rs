//! HOST-GLIBC, HOST-STDCXX, HOST-LIBGOMP: the C and C++ runtime that a process would get.

use super::{Context, SHOWN, library_path, npu};
use base::report::{Evidence, Severity, UNKNOWN_VERSION};
use base::version::DottedVersion;
use data::{
    Outcome, PackageIndex, RawFinding, Reason,
    findings::{host_glibc, host_libgomp, host_stdcxx},
};
use facts::{Dist, LinkedObject, MissingVersion};

/// Examined objects of the Python stack and of CANN.
fn objects<'a>(ctx: &Context<'a>) -> Vec<&'a LinkedObject> {
    ctx.facts.link.objects.iter().filter(|object| !object.needed.is_empty()).collect()
}

fn missing<'a>(ctx: &Context<'a>, families: &[&str]) -> Vec<&'a MissingVersion> {
    let mut all: Vec<&MissingVersion> = ctx
        .facts
        .link
        .objects
        .iter()
        .flat_map(|object| &object.versions)
        .filter(|missing| {
            missing.version.rsplit_once('_').is_some_and(|(family, _)| families.contains(&family))
        })
        .collect();
    all.sort_by_key(|missing| (number(&missing.version), &missing.needed_by));
    all.dedup();
    all.reverse();
    all
}

/// The version in `GLIBC_2.28`.
fn number(version: &str) -> Option<DottedVersion> {
    version.rsplit_once('_')?.1.parse().ok()
}

/// HOST-GLIBC: the versions of the C library that the objects need.
pub(super) fn glibc(ctx: &Context<'_>) -> Outcome {
    let objects = objects(ctx);
    if objects.is_empty() {
        return Outcome::NotApplicable(Reason::NoLibraries);
    }
    let missing = missing(ctx, &["GLIBC"]);
    if let Some(first) = missing.first() {
        let highest = first.highest.as_deref().and_then(|name| name.rsplit_once('_'));
        let have = highest.map_or(UNKNOWN_VERSION, |(_, number)| number);
        let need = first.version.trim_start_matches("GLIBC_");
        let mut found = old_glibc(ctx, &first.needed_by, need, have, &first.found)
            .evidence(Evidence::file(&first.found).value(first.highest.as_deref().unwrap_or("-")));
        for one in missing.iter().take(SHOWN) {
            found = found.evidence(Evidence::file(&one.needed_by).value(&one.version));
        }
        return vec![found].into();
    }
    if ctx.facts.link.probe("libc.so.6").is_some() {
        return Outcome::Passed;
    }
    // The copy does not contain the library; its version may be known from another source.
    let Some(have) = ctx.facts.host.glibc.as_deref() else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "glibc".to_owned() });
    };
    let Ok(known) = have.parse::<DottedVersion>() else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "glibc".to_owned() });
    };
    let highest = objects
        .iter()
        .filter_map(|object| Some((*object, object.max_versions.get("GLIBC")?)))
        .filter_map(|(object, need)| Some((object, need, need.parse::<DottedVersion>().ok()?)))
        .filter(|(_, _, need)| *need > known)
        .max_by(|a, b| a.2.cmp(&b.2));
    let Some((object, need, _)) = highest else { return Outcome::Passed };
    let found = old_glibc(ctx, &object.path, need, have, "libc.so.6");
    vec![found.evidence(Evidence::file(&object.path).value(format!("GLIBC_{need}")))].into()
}

/// Creates the finding, with alternatives to a newer system: older wheels for torch and
/// `torch_npu`, a source distribution for some other packages.
fn old_glibc(ctx: &Context<'_>, file: &str, need: &str, have: &str, libc: &str) -> RawFinding {
    let holds = |dist: &&Dist| {
        let inside = file.strip_prefix(&dist.site_dir).and_then(|rest| rest.strip_prefix('/'));
        let directory = inside.and_then(|path| path.split('/').next());
        directory.is_some_and(|directory| directory.replace('_', "-") == dist.name)
    };
    let owner = ctx.facts.python.dists.iter().find(holds);
    if owner.is_some_and(|dist| matches!(dist.name.as_str(), "torch" | "torch-npu")) {
        return host_glibc::OldTorch { file, have, libc, need }.error();
    }
    let has_source = |dist: &&Dist| {
        let published = PackageIndex::builtin().published(&dist.name, &dist.version);
        published.is_some_and(|published| published.sdist)
    };
    match owner.filter(has_source) {
        Some(dist) => {
            let (package, version) = (&dist.name, &dist.version);
            let interpreter = ctx.facts.python.command();
            host_glibc::OldPackage { file, have, interpreter, libc, need, package, version }.error()
        }
        None => host_glibc::Old { file, have, libc, need }.error(),
    }
}

/// HOST-STDCXX: the first C++ library on the search path.
pub(super) fn stdcxx(ctx: &Context<'_>) -> Outcome {
    if objects(ctx).is_empty() {
        return Outcome::NotApplicable(Reason::NoLibraries);
    }
    let missing = missing(ctx, &["GLIBCXX", "CXXABI", "GCC"]);
    let Some(first) = missing.first() else {
        return if ctx.facts.link.probe("libstdc++.so.6").is_some() {
            Outcome::Passed
        } else {
            Outcome::NotChecked(Reason::NotHere { what: "libstdc++.so.6".to_owned() })
        };
    };
    let prefix = ctx.facts.python.interpreter.as_ref().map(|python| python.prefix.as_str());
    let conda = prefix.is_some_and(|prefix| prefix.len() > 1 && first.found.starts_with(prefix));
    // The system's C++ library is as old as its C library: one release, one cause.
    let system = ["/lib", "/usr/lib"].iter().any(|dir| first.found.starts_with(dir));
    let have = first.highest.as_deref().unwrap_or("-");
    let (need, file, library) = (&first.version, &first.needed_by, &first.found);
    let found = match prefix.filter(|_| conda) {
        Some(prefix) => host_stdcxx::Conda { file, have, library, need, prefix }.error(),
        None => host_stdcxx::Old { file, have, library, need }.error(),
    };
    let mut found = found
        .because(if system { &[host_glibc::ID] } else { &[] })
        .evidence(Evidence::file(&first.found).value(have));
    for one in missing.iter().take(SHOWN) {
        found = found.evidence(Evidence::file(&one.needed_by).value(&one.version));
    }
    vec![found.evidence(library_path(ctx))].into()
}

/// From this version on, glibc reserves space for libraries with static thread storage that are
/// loaded late (`glibc.rtld.optional_static_tls`).
const ROOM_SINCE: [u32; 2] = [2, 32];

/// HOST-LIBGOMP: several copies on aarch64 use up the static thread storage.
pub(super) fn libgomp(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if facts.host.arch.as_deref() != Some("aarch64") || facts.python.torch.dirs.is_empty() {
        return Outcome::NotApplicable(Reason::NoAarch64Torch);
    }
    let copies = &facts.link.libgomp;
    let preloaded =
        facts.env.non_empty("LD_PRELOAD").is_some_and(|value| value.contains("libgomp"));
    if copies.len() < 2 || preloaded {
        return Outcome::Passed;
    }
    let glibc = facts.host.glibc.as_deref().and_then(|text| text.parse::<DottedVersion>().ok());
    let old = glibc.is_some_and(|version| [version.major(), version.minor()] < ROOM_SINCE);
    let severity = if old { Severity::Warning } else { Severity::Info };
    let torch = copies.iter().find(|path| path.contains("/torch"));
    let mut found = host_libgomp::Several {
        count: copies.len(),
        paths: npu::listed(copies.iter().map(String::as_str)),
        preload: torch.unwrap_or(&copies[0]),
    }
    .at(severity);
    for path in copies.iter().take(SHOWN) {
        found = found.evidence(Evidence::file(path));
    }
    vec![found].into()
}
