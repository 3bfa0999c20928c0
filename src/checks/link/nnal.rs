//! NNAL-PRESENT, NNAL-VERSION, NNAL-ABI: the operator library that `libop_plugin_atb.so` needs.

use super::{
    Context, NOT_SOURCED, cann_not_sourced, extensions, library_path, misses, sound, version_of,
    with_evidence,
};
use crate::npu;
use base::report::{Evidence, Severity, UNKNOWN_VERSION};
use data::{
    FindingId, Outcome, Reason,
    findings::{cann_found, cann_links, nnal_abi, nnal_present, nnal_version},
    ui,
};
use facts::{LinkedObject, Nnal, ResolvedLibrary, is_below};
use std::collections::BTreeMap;

const ATB: &str = "libatb.so";
/// Prefixes of the names of NNAL's libraries.
const LIBRARIES: &[&str] = &["libasdops", "libatb", "liblcal", "libmki", "libtbe_adapter"];

/// The objects that are linked to ATB.
fn users<'a>(ctx: &Context<'a>) -> Vec<&'a LinkedObject> {
    let mut objects = extensions(ctx);
    objects.extend(sound(ctx, &["mindspore"]));
    objects.into_iter().filter(|object| object.needed.iter().any(|name| name == ATB)).collect()
}

/// The installation of the first matching library.
fn resolved<'a>(ctx: &Context<'a>) -> Option<(&'a str, Option<&'a Nnal>)> {
    let found = ctx.facts.link.probe(ATB)?;
    let nnal = ctx.facts.cann.nnal.iter().find(|nnal| {
        found.real.strip_prefix(nnal.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    });
    Some((found.real.as_str(), nnal))
}

/// Returns whether a link to NNAL is broken. A sourced environment refers to NNAL through this
/// link.
fn dangles(ctx: &Context<'_>) -> bool {
    let mut links = ctx.facts.cann.links.iter();
    links.any(|link| link.real.is_none() && link.path.contains("/nnal/"))
}

/// NNAL-PRESENT: installed and on the path. `import torch_npu` succeeds without it; vllm-ascend
/// does not.
pub(super) fn present(ctx: &Context<'_>) -> Outcome {
    let users = users(ctx);
    if users.is_empty() {
        return Outcome::NotApplicable(Reason::NoAtbUser);
    }
    let all = misses(ctx, &users);
    let group: Vec<_> = all.into_iter().filter(|(_, missing)| missing.class == "atb").collect();
    if group.is_empty() {
        return Outcome::Passed;
    }
    let vllm = ctx.facts.python.dist("vllm-ascend").is_some();
    let severity = if vllm { Severity::Error } else { Severity::Warning };
    let nnal = ctx.facts.cann.nnal.iter().rev().find(|nnal| !nnal.abis.is_empty());
    let cann = ctx.facts.cann.active().and_then(|install| install.version.as_deref());
    let found = if let Some(nnal) = nnal {
        let set_env = nnal.set_env.clone().unwrap_or_else(|| format!("{}/set_env.sh", nnal.path));
        let found = nnal_present::NotSourced { nnal: &nnal.path, set_env }
            .at(severity)
            .evidence(Evidence::file(&nnal.path).value(nnal.version.as_deref().unwrap_or("-")));
        let found = found.because(if dangles(ctx) { &[cann_links::ID] } else { &[] });
        if cann_not_sourced(ctx) { found.because(NOT_SOURCED) } else { found }
    } else if let Some(hidden) = npu::hidden_cann(ctx.facts) {
        return Outcome::Blocked(Reason::Unreadable { what: hidden.place().into() });
    } else {
        nnal_present::Missing {
            arch: ctx.facts.host.arch.as_deref().unwrap_or("aarch64"),
            cann: cann.unwrap_or("<version>"),
            user: &users[0].path,
        }
        .at(severity)
        .because(&[cann_found::ID])
    };
    vec![with_evidence(found, &group).evidence(library_path(ctx))].into()
}

/// Finds a library of NNAL that another one of this NNAL needs and that is found elsewhere: the
/// object that needs it, the name, and the location.
fn foreign<'a>(ctx: &Context<'a>, nnal: &Nnal) -> Option<(&'a str, &'a str, &'a ResolvedLibrary)> {
    let inside = |path: &str| is_below(path, &nnal.path);
    let loads = &ctx.facts.link.loads;
    let real = |asker: &str| {
        let mut found = loads.values().flat_map(BTreeMap::values);
        found.find(|found| found.path == asker).map(|found| found.real.as_str())
    };
    loads.iter().filter(|(asker, _)| real(asker).is_some_and(inside)).find_map(|(asker, names)| {
        let is_own = |name: &str| LIBRARIES.iter().any(|stem| name.starts_with(stem));
        let mut names = names.iter();
        let (name, found) = names.find(|(name, found)| is_own(name) && !inside(&found.real))?;
        Some((asker.as_str(), name.as_str(), found))
    })
}

/// NNAL-VERSION: it has all functions that its users call, and the version of CANN.
pub(super) fn version(ctx: &Context<'_>) -> Outcome {
    let cann = ctx.facts.cann.active();
    let Some((path, nnal)) = resolved(ctx) else {
        return Outcome::NotApplicable(Reason::NoNnal);
    };
    let nnal_version = nnal.and_then(|nnal| nnal.version.as_deref());
    if let Some((asker, name, other)) = nnal.and_then(|nnal| foreign(ctx, nnal)) {
        let vllm = ctx.facts.python.dist("vllm-ascend").is_some();
        let severity = if vllm { Severity::Error } else { Severity::Warning };
        let nnal = nnal_version.unwrap_or(UNKNOWN_VERSION);
        let found = nnal_version::Mixed { found: &other.path, name, nnal }.at(severity);
        let via = Evidence::file(&other.path).value(&other.via);
        return vec![
            found.evidence(Evidence::file(asker)).evidence(via).evidence(library_path(ctx)),
        ]
        .into();
    }
    let undefined: Vec<(&LinkedObject, &str)> = users(ctx)
        .into_iter()
        .flat_map(|object| object.undefined.iter().map(move |symbol| (object, symbol)))
        .filter(|(_, symbol)| symbol.class == "atb")
        .map(|(object, symbol)| (object, symbol.name.as_str()))
        .collect();
    if let Some((_, symbol)) = undefined.first() {
        // The library is in the directory of the other ABI, which is the cause.
        let because: &[FindingId] =
            if takes_string(symbol) && abi_differs(ctx, path) { &[nnal_abi::ID] } else { &[] };
        let mut found = nnal_version::Symbols {
            count: undefined.len(),
            library: path,
            nnal: nnal_version.unwrap_or(UNKNOWN_VERSION),
            npu: version_of(ctx, "torch-npu"),
            symbol: *symbol,
        }
        .error()
        .because(because);
        for (object, symbol) in undefined.iter().take(super::SHOWN) {
            found = found
                .evidence(Evidence::file(&object.path).says(ui::SeenUndefined { symbol }.text()));
        }
        found = found.evidence(Evidence::file(path).says(ui::SeenUndefining { symbol }.text()));
        return vec![found].into();
    }
    let unknown = || Outcome::NotChecked(Reason::VersionUnknown { what: "NNAL".to_owned() });
    let (Some(nnal), Some(cann)) = (nnal, cann) else { return unknown() };
    let Some(cann_version) = cann.stated_version() else {
        return Outcome::NotChecked(crate::compat::no_version_of(cann));
    };
    let nnal_version = match (nnal.stated_version(), &nnal.version) {
        (Some(version), _) => version,
        (None, Some(_)) => {
            return Outcome::NotChecked(Reason::VersionByName { what: nnal.path.clone() });
        }
        (None, None) => return unknown(),
    };
    let parsed = (nnal_version.parse(), cann_version.parse());
    let (Ok(one), Ok(other)) = parsed else { return unknown() };
    let (one, other): (base::version::CannVersion, base::version::CannVersion) = (one, other);
    if one == other {
        return Outcome::Passed;
    }
    // Within a line (8.5.0 and 8.5.1) the interfaces do not change.
    let same_line = (one.major, one.minor) == (other.major, other.minor);
    let severity = if same_line { Severity::Info } else { Severity::Warning };
    let nnal_place = match &nnal.info {
        Some(info) => info.place("Ascend-cann-atb"),
        None => Evidence::file(&nnal.path),
    };
    vec![
        nnal_version::Differs {
            arch: ctx.facts.host.arch.as_deref().unwrap_or("aarch64"),
            cann: cann_version,
            nnal: nnal_version,
        }
        .at(severity)
        .evidence(nnal_place.value(nnal_version))
        .evidence(cann.version_place().value(cann_version)),
    ]
    .into()
}

/// Returns whether the C++ ABI is part of the name of a function.
fn takes_string(symbol: &str) -> bool {
    symbol.contains("NSt7__cxx11") || symbol.ends_with("Ss")
}

/// The ABI in the path of an ATB library.
fn named_abi(path: &str) -> Option<u8> {
    match path.split("/cxx_abi_").nth(1)?.chars().next()? {
        '0' => Some(0),
        '1' => Some(1),
        _ => None,
    }
}

fn abi_differs(ctx: &Context<'_>, path: &str) -> bool {
    named_abi(path).zip(ctx.facts.link.torch_abi).is_some_and(|(have, want)| have != want)
}

/// NNAL-ABI: the directory for the `std::string` that torch was built with. A mismatch is not a
/// fault while the functions that torch_npu calls take no string. Only a function that is really
/// missing makes it one.
pub(super) fn abi(ctx: &Context<'_>) -> Outcome {
    let Some((path, _)) = resolved(ctx) else { return Outcome::NotApplicable(Reason::NoNnal) };
    let Some(torch) = ctx.facts.link.torch_abi else {
        return Outcome::NotChecked(Reason::AbiUnknown { what: "torch".to_owned() });
    };
    let Some(have) = named_abi(path) else {
        return Outcome::NotChecked(Reason::AbiUnknown { what: "NNAL".to_owned() });
    };
    if have == torch {
        return Outcome::Passed;
    }
    if !ctx.facts.link.env_known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    let open = users(ctx).into_iter().find_map(|object| {
        let symbol = object
            .undefined
            .iter()
            .find(|symbol| symbol.class == "atb" && takes_string(&symbol.name))?;
        Some((object, symbol))
    });
    // The images of CANN 8.1 to 8.3 name the old ABI and work with a torch of the new one, as long
    // as every function is found. Then no action is needed.
    let all_found = users(ctx).iter().all(|object| object.missing.is_empty());
    let severity = match open {
        Some(_) => Severity::Error,
        None if all_found => Severity::Info,
        None => Severity::Warning,
    };
    let set_env = ctx.facts.cann.nnal.iter().find_map(|nnal| nnal.set_env.as_deref());
    let mut found = nnal_abi::Differs {
        have: have.to_string(),
        path,
        set_env: set_env.unwrap_or("/usr/local/Ascend/nnal/atb/set_env.sh"),
        torch: version_of(ctx, "torch"),
        want: torch.to_string(),
    }
    .at(severity)
    .evidence(Evidence::file(path));
    if let Some(home) = ctx.facts.env.non_empty("ATB_HOME_PATH") {
        found = found.evidence(Evidence::env("ATB_HOME_PATH").value(home));
    }
    if let Some((object, symbol)) = open {
        found = found.evidence(
            Evidence::file(&object.path).says(ui::SeenUndefined { symbol: &symbol.name }.text()),
        );
    }
    vec![found].into()
}
