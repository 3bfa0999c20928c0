//! TNPU-SYMBOLS, TNPU-ABI: functions that are missing in the found libraries.

use super::{Context, display, extensions, owners, version_of};
use base::report::{Evidence, Severity, UNKNOWN_VERSION};
use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{
        py_record, tnpu_abi, tnpu_manifest, tnpu_matrix, tnpu_record, tnpu_symbols, tnpu_wheeltag,
        torch_version,
    },
    ui,
};
use facts::{LinkedObject, UndefinedSymbol};

/// Maximum number of displayed symbols.
const SHOWN: usize = 8;

/// TNPU-SYMBOLS: one finding per owner of the missing functions. NNAL-VERSION reports those of ATB.
pub(super) fn symbols(ctx: &Context<'_>) -> Outcome {
    let objects = extensions(ctx);
    if objects.is_empty() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let mut found = Vec::new();
    for owner in owners(&objects) {
        for class in ["torch", "cann", "torch_npu", "python", "driver", "other"] {
            // A copied tree may be without libpython or contain a placeholder for the interpreter.
            // TNPU-WHEELTAG reports a wheel for another Python.
            if class == "python" && ctx.facts.source != "live" {
                continue;
            }
            let all: Vec<(&LinkedObject, &UndefinedSymbol)> = objects
                .iter()
                .filter(|object| object.owner == owner)
                .flat_map(|object| object.undefined.iter().map(move |symbol| (*object, symbol)))
                .filter(|(_, symbol)| symbol.class == class)
                .collect();
            found.extend(of_class(ctx, owner, class, &all));
        }
    }
    if !found.is_empty() {
        return found.into();
    }
    // If libraries are missing, the linker could not look up all symbols, so an empty result proves
    // nothing.
    let blind = objects.iter().any(|object| !object.missing.is_empty());
    if blind { Outcome::NotChecked(Reason::LibrariesMissing) } else { Outcome::Passed }
}

fn of_class(
    ctx: &Context<'_>,
    owner: &str,
    class: &str,
    all: &[(&LinkedObject, &UndefinedSymbol)],
) -> Option<RawFinding> {
    let (first, symbol) = all.iter().find(|(object, _)| !object.lazy).or(all.first())?;
    // An unknown owner may be a library that the program loads in its own way.
    let severity = if first.lazy || class == "other" { Severity::Warning } else { Severity::Error };
    let because: &[FindingId] = match class {
        "torch" => &[tnpu_abi::ID, torch_version::ID],
        "torch_npu" if owner == "torch-npu" => &[tnpu_record::ID, tnpu_manifest::ID],
        "cann" if owner == "torch-npu" => &[tnpu_matrix::ID],
        "python" => &[tnpu_wheeltag::ID],
        _ => &[],
    };
    let cann = ctx.facts.cann.active().and_then(|install| install.version.clone());
    let mut names: Vec<&str> = all.iter().map(|(_, symbol)| symbol.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let cann = cann.as_deref().unwrap_or(UNKNOWN_VERSION);
    let (version, torch) = (version_of(ctx, owner), version_of(ctx, "torch"));
    let (owner, count) = (display(owner), names.len());
    let by_symbol = &symbol.name;
    let found = match class {
        "torch" => {
            tnpu_symbols::Torch { count, owner, symbol: by_symbol, torch, version }.at(severity)
        }
        "cann" => {
            tnpu_symbols::Cann { cann, count, owner, symbol: by_symbol, version }.at(severity)
        }
        "torch_npu" => tnpu_symbols::Own { count, owner, symbol: by_symbol, version }.at(severity),
        "python" => tnpu_symbols::Python { count, owner, symbol: by_symbol, version }.at(severity),
        "driver" => {
            tnpu_symbols::Driver { cann, count, owner, symbol: by_symbol, version }.at(severity)
        }
        _ => tnpu_symbols::Other { count, owner, symbol: by_symbol, version }.at(severity),
    };
    let mut found = found.because(because);
    // The undefined symbols of a damaged file do not show which library should define them.
    let damaged = |path: &str| {
        let mut packages = ctx.facts.integrity.packages.iter();
        packages.any(|package| package.differing.iter().any(|file| file.path == path))
    };
    if all.iter().all(|(object, _)| damaged(&object.path)) {
        found = found.because(&[tnpu_record::ID, py_record::ID]);
    }
    for name in names.iter().take(SHOWN) {
        found = found
            .evidence(Evidence::file(&first.path).says(ui::SeenUndefined { symbol: name }.text()));
    }
    if let Some(path) = &symbol.expected_in {
        found = found.evidence(
            Evidence::file(path).says(ui::SeenUndefining { symbol: &symbol.name }.text()),
        );
    }
    Some(found)
}

/// TNPU-ABI: both were built with the same form of `std::string`.
pub(super) fn abi(ctx: &Context<'_>) -> Outcome {
    let objects = extensions(ctx);
    if objects.is_empty() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let Some(torch) = ctx.facts.link.torch_abi else {
        return Outcome::NotChecked(Reason::AbiUnknown { what: "torch".to_owned() });
    };
    let known: Vec<_> =
        objects.iter().filter_map(|object| Some((*object, object.cxx11_abi?))).collect();
    if known.is_empty() {
        return Outcome::NotChecked(Reason::AbiUnknown { what: "torch_npu".to_owned() });
    }
    let mut found = Vec::new();
    for owner in owners(&objects) {
        let different: Vec<_> =
            known.iter().filter(|(object, abi)| object.owner == owner && *abi != torch).collect();
        let Some((_, abi)) = different.first() else { continue };
        let mut one = tnpu_abi::Differs {
            have: abi.to_string(),
            owner: display(owner),
            torch: version_of(ctx, "torch"),
            version: version_of(ctx, owner),
            want: torch.to_string(),
        }
        .error()
        .because(&[torch_version::ID]);
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
