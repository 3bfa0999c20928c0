//! TNPU-SYMBOLS, TNPU-ABI: functions that the libraries found do not have.

use super::{Context, display, extensions, owners, version_of};
use base::report::{Evidence, Outcome, RawFinding, Severity, UNKNOWN_VERSION};
use data::sentence;
use facts::{LinkedObject, UndefinedSymbol};

/// Most symbols that are shown.
const SHOWN: usize = 8;

/// TNPU-SYMBOLS: one finding per owner of the missing functions. ATB's are NNAL-VERSION's.
pub(super) fn symbols(ctx: &Context<'_>) -> Outcome {
    let objects = extensions(ctx);
    if objects.is_empty() {
        return Outcome::not_applicable("no_torch_npu");
    }
    let mut found = Vec::new();
    for owner in owners(&objects) {
        for (class, message) in [
            ("torch", "torch"),
            ("cann", "cann"),
            ("torch_npu", "own"),
            ("python", "python"),
            ("driver", "driver"),
            ("other", "other"),
        ] {
            // A copied tree may lack libpython or hold a placeholder for the interpreter; a
            // wheel of another Python is TNPU-WHEELTAG's.
            if class == "python" && ctx.facts.source != "live" {
                continue;
            }
            let all: Vec<(&LinkedObject, &UndefinedSymbol)> = objects
                .iter()
                .filter(|object| object.owner == owner)
                .flat_map(|object| object.undefined.iter().map(move |symbol| (*object, symbol)))
                .filter(|(_, symbol)| symbol.class == class)
                .collect();
            found.extend(of_class(ctx, owner, class, message, &all));
        }
    }
    if !found.is_empty() {
        return found.into();
    }
    // Silence of a linker that could not look at the libraries is no proof.
    let blind = objects.iter().any(|object| !object.missing.is_empty());
    if blind { Outcome::not_checked("libraries_missing", "") } else { Outcome::Passed }
}

fn of_class(
    ctx: &Context<'_>,
    owner: &str,
    class: &str,
    message: &'static str,
    all: &[(&LinkedObject, &UndefinedSymbol)],
) -> Option<RawFinding> {
    let (first, symbol) = all.iter().find(|(object, _)| !object.lazy).or(all.first())?;
    // An unknown owner may be a library that the program loads in a way of its own.
    let severity = if first.lazy || class == "other" { Severity::Warning } else { Severity::Error };
    let because: &[&str] = match class {
        "torch" => &["TNPU-ABI", "TORCH-VERSION"],
        "torch_npu" if owner == "torch-npu" => &["TNPU-RECORD", "TNPU-MANIFEST"],
        "cann" if owner == "torch-npu" => &["TNPU-MATRIX"],
        "python" => &["TNPU-WHEELTAG"],
        _ => &[],
    };
    let cann = ctx.facts.cann.active().and_then(|install| install.version.clone());
    let mut names: Vec<&str> = all.iter().map(|(_, symbol)| symbol.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut found = RawFinding::new("TNPU-SYMBOLS", message, severity)
        .arg("owner", display(owner))
        .arg("version", version_of(ctx, owner))
        .arg("torch", version_of(ctx, "torch"))
        .arg("cann", cann.unwrap_or_else(|| UNKNOWN_VERSION.to_owned()))
        .arg("count", names.len().to_string())
        .arg("symbol", &symbol.name)
        .because(because);
    // What a damaged file asks for says nothing about who should define it.
    let damaged = |path: &str| {
        let mut packages = ctx.facts.integrity.packages.iter();
        packages.any(|package| package.differing.iter().any(|file| file.path == path))
    };
    if all.iter().all(|(object, _)| damaged(&object.path)) {
        found = found.because(&["TNPU-RECORD"]);
    }
    for name in names.iter().take(SHOWN) {
        found = found.evidence(
            Evidence::file(&first.path)
                .says(sentence("seen_undefined", &[("symbol", (*name).to_owned())])),
        );
    }
    if let Some(path) = &symbol.expected_in {
        found = found.evidence(
            Evidence::file(path)
                .says(sentence("seen_undefining", &[("symbol", symbol.name.clone())])),
        );
    }
    Some(found)
}

/// TNPU-ABI: both were built with the same form of `std::string`.
pub(super) fn abi(ctx: &Context<'_>) -> Outcome {
    let objects = extensions(ctx);
    if objects.is_empty() {
        return Outcome::not_applicable("no_torch_npu");
    }
    let Some(torch) = ctx.facts.link.torch_abi else {
        return Outcome::not_checked("abi_unknown", "torch");
    };
    let known: Vec<_> =
        objects.iter().filter_map(|object| Some((*object, object.cxx11_abi?))).collect();
    if known.is_empty() {
        return Outcome::not_checked("abi_unknown", "torch_npu");
    }
    let mut found = Vec::new();
    for owner in owners(&objects) {
        let different: Vec<_> =
            known.iter().filter(|(object, abi)| object.owner == owner && *abi != torch).collect();
        let Some((first, abi)) = different.first() else { continue };
        let mut one = RawFinding::error("TNPU-ABI", "differs")
            .arg("owner", display(owner))
            .arg("version", version_of(ctx, owner))
            .arg("torch", version_of(ctx, "torch"))
            .arg("have", abi.to_string())
            .arg("want", torch.to_string())
            .arg("path", &first.path)
            .because(&["TORCH-VERSION"]);
        if let Some(dir) = ctx.facts.python.torch.dirs.get("torch") {
            let path = format!("{dir}/lib/libc10.so");
            one =
                one.evidence(Evidence::file(path).value(format!("_GLIBCXX_USE_CXX11_ABI={torch}")));
        }
        for (object, abi) in different.iter().take(SHOWN) {
            let value = format!("_GLIBCXX_USE_CXX11_ABI={abi}");
            one = one.evidence(Evidence::file(&object.path).value(value));
        }
        found.push(one);
    }
    found.into()
}
