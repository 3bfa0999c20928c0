//! TNPU-ELF, HOST-ARCH: the files themselves.

use super::{Context, SHOWN, display, npu};
use base::report::Evidence;
use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{host_arch, tnpu_elf, tnpu_wheeltag},
};
use facts::{ElfDefect, LinkedObject};

/// TNPU-ELF: shared objects that no linker can load. One finding per owner and defect.
pub(super) fn elf(ctx: &Context<'_>) -> Outcome {
    let objects = &ctx.facts.link.objects;
    if objects.is_empty() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    if let Some(object) = objects.iter().find(|object| unreadable(object).is_some()) {
        return Outcome::Blocked(Reason::Unreadable { what: object.path.clone() });
    }
    let placeholders = only_placeholders(ctx);
    let mut found = Vec::new();
    let mut owners: Vec<&str> = objects.iter().map(|object| object.owner.as_str()).collect();
    owners.sort_unstable();
    owners.dedup();
    for owner in owners {
        for kind in ["truncated", "empty", "not_elf", "class", "malformed"] {
            let files: Vec<(&LinkedObject, String)> = objects
                .iter()
                .filter(|object| object.owner == owner)
                .filter_map(|object| {
                    let (this, detail) = describe(object.defect.as_ref()?)?;
                    (this == kind).then_some((object, detail))
                })
                .collect();
            let Some((first, _)) = files.first() else { continue };
            if placeholders && is_vendor(owner) {
                continue;
            }
            // A file of the wrong class is of the wrong machine, too.
            let because: &[FindingId] = if kind == "class" { &[host_arch::ID] } else { &[] };
            let paths = files.iter().map(|(object, _)| object.path.as_str());
            let owner = display(owner);
            let (path, file) = (npu::listed(paths), &first.path);
            let mut one = damaged(kind, owner, &path, file).because(because);
            for (object, detail) in files.iter().take(SHOWN) {
                one = one.evidence(Evidence::file(&object.path).value(detail));
            }
            found.push(one);
        }
    }
    found.into()
}

fn unreadable(object: &LinkedObject) -> Option<&str> {
    match &object.defect {
        Some(ElfDefect::Unreadable { reason }) => Some(reason),
        _ => None,
    }
}

fn describe(defect: &ElfDefect) -> Option<(&'static str, String)> {
    Some(match defect {
        ElfDefect::Empty => ("empty", "0 bytes".to_owned()),
        ElfDefect::NotElf => ("not_elf", "no ELF header".to_owned()),
        ElfDefect::Truncated { size, expected } => {
            ("truncated", format!("{size} of {expected} bytes"))
        }
        ElfDefect::Class => ("class", "ELF class or byte order".to_owned()),
        ElfDefect::Malformed { reason } => ("malformed", reason.clone()),
        ElfDefect::Arch { .. } | ElfDefect::Unreadable { .. } => return None,
    })
}

/// Products that are installed from packages of the vendor, not by pip.
fn is_vendor(owner: &str) -> bool {
    ["cann", "atb", "driver"].contains(&owner)
}

/// Whether all vendor libraries of a copied tree are placeholders: whoever made the copy kept
/// the names and left the contents out.
fn only_placeholders(ctx: &Context<'_>) -> bool {
    let vendor: Vec<&LinkedObject> =
        ctx.facts.link.objects.iter().filter(|object| is_vendor(&object.owner)).collect();
    ctx.facts.source != "live"
        && vendor.len() > 1
        && vendor
            .iter()
            .all(|object| matches!(object.defect, Some(ElfDefect::Empty | ElfDefect::NotElf)))
}

/// HOST-ARCH: everything is built for this machine.
pub(super) fn arch(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let Some(host) = &facts.host.arch else { return Outcome::NotChecked(Reason::ArchUnknown) };
    let mut found = Vec::new();
    let mut looked = false;
    if let Some(interpreter) = &facts.python.interpreter
        && let Some(arch) = &interpreter.arch
    {
        looked = true;
        if arch != host {
            let path = interpreter.real.as_str();
            let one = host_arch::Python { have: arch, host, path: npu::listed([path]) }.error();
            found.push(with_files(one, arch, &[path]));
        }
    }
    // A toolkit for another architecture may be there for cross compilation.
    let active = facts.cann.active();
    let in_use = |object: &&LinkedObject| {
        object.owner != "cann" || active.is_some_and(|install| install.contains(&object.path))
    };
    for owner in
        ["driver", "cann", "atb", "torch", "torch-npu", "vllm-ascend", "mooncake", "mindspore"]
    {
        let objects: Vec<_> = facts.link.of(owner).filter(in_use).collect();
        looked |= !objects.is_empty();
        let foreign: Vec<(&str, &str)> = objects
            .iter()
            .filter_map(|object| match &object.defect {
                Some(ElfDefect::Arch { have, .. }) => Some((object.path.as_str(), have.as_str())),
                _ => None,
            })
            .collect();
        let Some((_, have)) = foreign.first() else { continue };
        let paths: Vec<&str> = foreign.iter().map(|(path, _)| *path).collect();
        let path = npu::listed(paths.iter().copied());
        let one = host_arch::Library { owner: display(owner), have, host, path }.error();
        let found_one = with_files(one, have, &paths);
        found.push(if owner == "torch-npu" {
            found_one.because(&[tnpu_wheeltag::ID])
        } else {
            found_one
        });
    }
    if !looked {
        return Outcome::NotApplicable(Reason::NoLibraries);
    }
    found.into()
}

/// The files of one kind of damage.
fn damaged(kind: &str, owner: &str, path: &str, file: &str) -> RawFinding {
    match kind {
        "truncated" => tnpu_elf::Truncated { file, owner, path }.error(),
        "empty" => tnpu_elf::Empty { file, owner, path }.error(),
        "not_elf" => tnpu_elf::NotElf { file, owner, path }.error(),
        "class" => tnpu_elf::Class { file, owner, path }.error(),
        _ => tnpu_elf::Malformed { file, owner, path }.error(),
    }
}

fn with_files(mut found: RawFinding, have: &str, paths: &[&str]) -> RawFinding {
    for path in paths.iter().take(SHOWN) {
        found = found.evidence(Evidence::file(*path).value(have));
    }
    found
}
