//! TNPU-ELF, HOST-ARCH: defects of the files.

use super::{Context, SHOWN, display, npu};
use base::report::Evidence;
use base::text::Text;
use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{host_arch, tnpu_elf, tnpu_wheeltag},
    ui,
};
use facts::{ElfDefect, LinkedObject};

/// TNPU-ELF: shared objects that no linker can load. One finding per owner and defect.
pub(super) fn elf(ctx: &Context<'_>) -> Outcome {
    let objects = &ctx.facts.link.objects;
    if objects.is_empty() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let placeholders = only_placeholders(ctx);
    let mut found = Vec::new();
    let mut owners: Vec<&str> = objects.iter().map(|object| object.owner.as_str()).collect();
    owners.sort_unstable();
    owners.dedup();
    for owner in owners {
        for damage in Damage::ALL {
            let files: Vec<(&LinkedObject, String)> = objects
                .iter()
                .filter(|object| object.owner == owner)
                .filter_map(|object| {
                    let (this, detail) = describe(object.defect.as_ref()?)?;
                    (this == damage).then_some((object, detail))
                })
                .collect();
            let Some((first, _)) = files.first() else { continue };
            if placeholders && is_vendor(owner) {
                continue;
            }
            // A file of the wrong class is of the wrong machine, too.
            let because: &[FindingId] =
                if damage == Damage::Class { &[host_arch::ID] } else { &[] };
            let paths = files.iter().map(|(object, _)| object.path.as_str());
            let path = npu::listed(paths);
            let mut one = damaged(ctx, damage, owner, &path, &first.path).because(because);
            for (object, detail) in files.iter().take(SHOWN) {
                one = one.evidence(Evidence::file(&object.path).value(detail));
            }
            found.push(one);
        }
    }
    let unexamined = objects.iter().find(|object| unreadable(object).is_some());
    let unexamined = unexamined.map(|object| Reason::Unreadable { what: object.path.clone() });
    Outcome::from_partial(found, unexamined)
}

/// The defect of a file that no linker can load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Truncated,
    Empty,
    NotElf,
    Class,
    Malformed,
}

impl Damage {
    const ALL: [Self; 5] =
        [Self::Truncated, Self::Empty, Self::NotElf, Self::Class, Self::Malformed];

    fn words(self) -> Text {
        match self {
            Self::Truncated => ui::ELF_TRUNCATED,
            Self::Empty => ui::ELF_EMPTY,
            Self::NotElf => ui::ELF_NOT_ELF,
            Self::Class => ui::ELF_CLASS,
            Self::Malformed => ui::ELF_MALFORMED,
        }
        .text()
    }
}

fn unreadable(object: &LinkedObject) -> Option<&str> {
    match &object.defect {
        Some(ElfDefect::Unreadable { reason }) => Some(reason),
        _ => None,
    }
}

fn describe(defect: &ElfDefect) -> Option<(Damage, String)> {
    Some(match defect {
        ElfDefect::Empty => (Damage::Empty, "0 bytes".to_owned()),
        ElfDefect::NotElf => (Damage::NotElf, "no ELF header".to_owned()),
        ElfDefect::Truncated { size, expected } => {
            (Damage::Truncated, format!("{size} of {expected} bytes"))
        }
        ElfDefect::Class => (Damage::Class, "ELF class or byte order".to_owned()),
        ElfDefect::Malformed { reason } => (Damage::Malformed, reason.clone()),
        ElfDefect::Arch { .. } | ElfDefect::Unreadable { .. } => return None,
    })
}

/// Returns whether a product is installed from packages of the vendor, not by pip.
fn is_vendor(owner: &str) -> bool {
    ["cann", "atb", "driver"].contains(&owner)
}

/// Returns whether all vendor libraries of a copied tree are placeholders: the copy has the names
/// without the contents.
fn only_placeholders(ctx: &Context<'_>) -> bool {
    let vendor: Vec<&LinkedObject> =
        ctx.facts.link.objects.iter().filter(|object| is_vendor(&object.owner)).collect();
    ctx.facts.source != "live"
        && vendor.len() > 1
        && vendor
            .iter()
            .all(|object| matches!(object.defect, Some(ElfDefect::Empty | ElfDefect::NotElf)))
}

/// HOST-ARCH: all files are built for this machine.
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
    // A toolkit for another architecture may be installed for cross compilation.
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

/// The files of one owner with one kind of damage.
fn damaged(ctx: &Context<'_>, damage: Damage, owner: &str, path: &str, file: &str) -> RawFinding {
    let (damage, name) = (damage.words(), display(owner));
    match ctx.facts.python.dist(owner).filter(|_| !is_vendor(owner)) {
        Some(dist) => tnpu_elf::Package {
            damage,
            file,
            interpreter: ctx.facts.python.command(),
            owner: name,
            package: &dist.name,
            path,
            version: &dist.version,
        }
        .error(),
        None => tnpu_elf::Product { damage, file, owner: name, path }.error(),
    }
}

fn with_files(mut found: RawFinding, have: &str, paths: &[&str]) -> RawFinding {
    for path in paths.iter().take(SHOWN) {
        found = found.evidence(Evidence::file(*path).value(have));
    }
    found
}
