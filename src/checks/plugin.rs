//! vLLM with its Ascend plugin, and triton: whether vLLM loads the plugin, the chip that the plugin
//! was built for, and the owner of `triton/`.

use super::check::Area;
use super::chip;
use super::goal;
use super::pep::{self, not_installed};
use super::{Check, Context, Family};
use base::chip::ChipFamily;
use base::report::{Evidence, Severity};
use data::{
    Outcome, RawFinding, Reason,
    findings::{
        cann_ops_chip, triton_chip, triton_conflict, vllm_build, vllm_empty, vllm_plugin,
        vllm_version,
    },
    ui,
};
use facts::{EntryPoint, Facts, place};

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Vllm, vllm_plugin::ID, plugin),
    Check::new(Family::Vllm, vllm_empty::ID, empty),
    Check::new(Family::Vllm, vllm_build::ID, build).concludes_from(&[Area::Libraries]),
    Check::new(Family::Vllm, vllm_version::ID, version),
    Check::new(Family::Triton, triton_conflict::ID, triton),
    Check::new(Family::Triton, triton_chip::ID, triton_chip),
];

/// The group of entry points in which vLLM searches for platforms.
const PLATFORMS: &str = "vllm.platform_plugins";

/// The severity of a fault: an error if the goal is serving with vLLM, which needs both packages,
/// else a warning.
fn severity(ctx: &Context<'_>) -> Severity {
    if goal::select(ctx) == "vllm" { Severity::Error } else { Severity::Warning }
}

fn plugin(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let python = &facts.python;
    let vllm = python.dist("vllm");
    let Some(ascend) = python.dist("vllm-ascend") else {
        let npu = python.dist("torch-npu").is_some() && !facts.devices.davinci_ids().is_empty();
        return match vllm {
            Some(vllm) if npu => vec![
                vllm_plugin::Absent { vllm: &vllm.version }
                    // sglang uses parts of vllm but has its own server.
                    .at(if goal::select(ctx) == "sglang" { Severity::Info } else { severity(ctx) })
                    .evidence(vllm.version_place()),
            ]
            .into(),
            _ => not_installed("vllm-ascend"),
        };
    };
    // An editable install may keep its entry points next to the sources.
    let points: Vec<&EntryPoint> = python
        .all_dists("vllm-ascend")
        .flat_map(|dist| &dist.entry_points)
        .filter(|point| point.group == PLATFORMS)
        .collect();
    let mut found = Vec::new();
    if vllm.is_none() {
        found.push(
            vllm_plugin::NoVllm { vllm_ascend: &ascend.version }
                .at(severity(ctx))
                .evidence(ascend.version_place()),
        );
    }
    let Some(first) = points.first() else {
        found.push(
            vllm_plugin::NoEntry {
                vllm_ascend: &ascend.version,
                path: ascend.entry_points_path(),
                interpreter: python.command(),
            }
            .error()
            .evidence(Evidence::file(ascend.entry_points_path())),
        );
        return found.into();
    };
    if let Some(allowed) = facts.env.get("VLLM_PLUGINS")
        && !points.iter().any(|point| allowed.split(',').any(|one| one.trim() == point.name))
    {
        found.push(
            vllm_plugin::Filtered { name: &first.name, value: allowed }
                .error()
                .evidence(Evidence::env("VLLM_PLUGINS").value(allowed))
                .evidence(
                    Evidence::file(ascend.entry_points_path())
                        .line_if(first.line)
                        .value(format!("{} = {}", first.name, first.value)),
                ),
        );
    }
    found.into()
}

/// Finds a vllm that was built for GPUs. Its extension does not load here. vLLM logs this and
/// continues (vllm-project/vllm-ascend#1305), but its metadata pins the torch of that build.
fn empty(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let Some(vllm) = python.dist("vllm") else { return not_installed("vllm") };
    if python.dist("vllm-ascend").is_none() && python.dist("torch-npu").is_none() {
        return not_installed("vllm-ascend");
    }
    let found = python.vllm.cuda_needed.iter().map(|(path, library)| {
        vllm_empty::Cuda {
            vllm: &vllm.version,
            path,
            library,
            base: pep::version(&vllm.version).map_or_else(
                || vllm.version.clone(),
                |version| version.without_local().to_string(),
            ),
            interpreter: python.command(),
        }
        .warning()
        .evidence(Evidence::file(path).value(format!("NEEDED {library}")))
        .evidence(vllm.version_place())
    });
    found.take(1).collect::<Vec<_>>().into()
}

/// The family in `_build_info.py`: a device type in current releases, or a SoC in earlier ones.
fn built_for(facts: &Facts) -> Option<(&str, &str, ChipFamily)> {
    let info = &facts.python.vllm.build_info;
    if let Some(device) = info.get("__device_type__") {
        let family = match device.as_str() {
            "A2" => ChipFamily::A910B,
            "A3" => ChipFamily::A3,
            "_310P" => ChipFamily::A310P,
            "A5" => ChipFamily::A950,
            _ => return None,
        };
        return Some(("__device_type__", device, family));
    }
    let soc = info.get("__soc_version__")?;
    // The build also accepts the short names of families: `910b` is not the first generation 910
    // here.
    let family = match soc.to_ascii_lowercase().as_str() {
        "910b" => ChipFamily::A910B,
        "910c" => ChipFamily::A3,
        "310p" => ChipFamily::A310P,
        name => ChipFamily::from_soc(name)?,
    };
    Some(("__soc_version__", soc, family))
}

fn build(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let Some(ascend) = facts.python.dist("vllm-ascend") else {
        return not_installed("vllm-ascend");
    };
    let Some(path) = &facts.python.vllm.build_info_path else {
        return Outcome::NotChecked(Reason::NoFile {
            what: "vllm_ascend/_build_info.py".to_owned(),
        });
    };
    let Some((key, value, family)) = built_for(facts) else {
        return Outcome::NotChecked(Reason::VersionUnknown {
            what: "vllm_ascend/_build_info.py".to_owned(),
        });
    };
    let Some(chip) = chip::chip(facts) else { return Outcome::NotChecked(chip::unknown(facts)) };
    if family == chip.family {
        return Outcome::Passed;
    }
    let (vllm_ascend, built) = (&ascend.version, family.label());
    let interpreter = facts.python.command();
    let own = pep::version(vllm_ascend);
    let first = own.and_then(|own| ctx.matrix.vllm_ascend_for_chip(&own, chip.family.as_str()));
    let found = match first {
        // A rebuild does not help if its CANN has no operators for the chip.
        Some(row) if pep::version(vllm_ascend).is_some_and(|own| own < *row.version) => {
            let (release, cann) = (row.version.to_string(), row.cann.to_string());
            let chip = chip.family.label();
            vllm_build::Unsupported { vllm_ascend, built, value, chip, release, cann }.error()
        }
        _ => {
            let chip = chip.family.label();
            vllm_build::Chip { vllm_ascend, built, value, chip, interpreter }.error()
        }
    };
    vec![
        found
            .evidence(
                place(path, &facts.python.vllm.build_info_lines, key)
                    .value(format!("{key} = '{value}'")),
            )
            .evidence(chip.evidence)
            // An image for another chip is one mistake.
            .because(&[cann_ops_chip::ID]),
    ]
    .into()
}

fn version(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if facts.python.dist("vllm-ascend").is_none() {
        return not_installed("vllm-ascend");
    }
    if let Some(set) = facts.env.non_empty("VLLM_VERSION") {
        if pep::version(set).is_some() {
            return Outcome::Passed;
        }
        return vec![
            vllm_version::Variable { value: set }
                .warning()
                .evidence(Evidence::env("VLLM_VERSION").value(set)),
        ]
        .into();
    }
    let Some(vllm) = facts.python.dist("vllm") else { return not_installed("vllm") };
    let parsed = pep::version(&vllm.version);
    // The version that setuptools-scm invents for a checkout without tags.
    let untagged = parsed
        .as_ref()
        .is_some_and(|version| version.is_dev() && version.release() <= [0, 1].as_slice());
    if parsed.is_some() && !untagged {
        return Outcome::Passed;
    }
    let found = vllm_version::Untagged { version: &vllm.version }.warning();
    // The adaptations depend on the vllm release, which is unknown, so their compatibility is
    // unknown, too.
    let unknown = Reason::VersionUnknown { what: "vllm".to_owned() };
    Outcome::from_partial(vec![found.evidence(vllm.version_place())], Some(unknown))
}

fn triton(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let Some(ascend) = python.dist("triton-ascend") else {
        return not_installed("triton-ascend");
    };
    let state = &python.vllm;
    let others: Vec<String> = state
        .triton_owners
        .iter()
        .filter(|(name, _)| name != "triton-ascend")
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let record = format!("{}/RECORD", ascend.path);
    let with_evidence = |mut found: RawFinding| {
        for (name, version) in
            state.triton_owners.iter().filter(|(name, _)| name != "triton-ascend")
        {
            if let Some(dist) = python.dist(name) {
                found = found.evidence(dist.place("Version").value(format!("{name} {version}")));
            }
        }
        for path in state.triton_overwritten.iter().take(5) {
            found = found.evidence(Evidence::file(path).says(ui::SEEN_DIFFERS.text()));
        }
        found = ascend.missing_places(3).into_iter().fold(found, RawFinding::evidence);
        found.evidence(Evidence::file(&record))
    };
    let gone = u64::from(ascend.missing_files) * 10 > u64::from(ascend.listed_files)
        || ascend.missing_sample.iter().any(|path| path.ends_with(".so"))
        || state.triton_has_ascend == Some(false);
    let changed = !state.triton_overwritten.is_empty();
    let unknown = state.triton_compared == 0;
    let (alone, others) = (others.is_empty(), others.join(", "));
    let (version, interpreter) = (&ascend.version, python.command());
    let damaged = triton_conflict::Damaged { interpreter, version };
    let found = match alone {
        true if gone => damaged.error(),
        // Images patch single files on purpose.
        true if changed => damaged.warning(),
        true if unknown => return Outcome::NotChecked(Reason::NoFile { what: record }),
        true => return Outcome::Passed,
        false if gone || changed || unknown => {
            triton_conflict::Overwritten { interpreter, others, version }.error()
        }
        // It was installed last, and works until the other one is upgraded or removed.
        false => triton_conflict::Both { interpreter, others, version }.warning(),
    };
    vec![with_evidence(found)].into()
}

fn triton_chip(ctx: &Context<'_>) -> Outcome {
    let Some(ascend) = ctx.facts.python.dist("triton-ascend") else {
        return not_installed("triton-ascend");
    };
    let Some(chip) = chip::chip(ctx.facts) else {
        return Outcome::NotChecked(chip::unknown(ctx.facts));
    };
    if chip.family != ChipFamily::A310P {
        return Outcome::Passed;
    }
    vec![
        triton_chip::Unsupported {
            version: &ascend.version,
            chip: chip.family.label(),
            interpreter: ctx.facts.python.command(),
        }
        .warning()
        .evidence(ascend.version_place())
        .evidence(chip.evidence),
    ]
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::{Dist, PciFunction};

    fn run(check: fn(&Context<'_>) -> Outcome, facts: &Facts) -> Vec<String> {
        ids(check(&Context::of(facts, Profile::General)))
    }

    fn plugin_dist() -> Dist {
        let mut ascend = dist("vllm-ascend", "0.11.0");
        ascend.entry_points = vec![EntryPoint {
            group: PLATFORMS.to_owned(),
            name: "ascend".to_owned(),
            value: "vllm_ascend:register".to_owned(),
            line: Some(2),
        }];
        ascend
    }

    fn stack() -> Facts {
        facts_with(
            python("3.11"),
            vec![dist("vllm", "0.11.0+empty"), plugin_dist(), dist("torch-npu", "2.7.1")],
        )
    }

    fn chip(facts: &mut Facts, device: &str) {
        facts.devices.pci = Some(vec![PciFunction {
            address: "0000:c1:00.0".to_owned(),
            device: device.to_owned(),
            subsystem_device: None,
            class: None,
            driver: None,
        }]);
    }

    #[test]
    fn the_plugin_has_to_be_let_in() {
        let mut facts = stack();
        assert_eq!(run(plugin, &facts), [""; 0]);
        let mut set = |value: &str| {
            facts.env.vars.insert("VLLM_PLUGINS".to_owned(), value.to_owned());
            run(plugin, &facts)
        };
        assert_eq!(set("other, ascend"), [""; 0]);
        assert_eq!(set("other"), ["error VLLM-PLUGIN filtered"]);
        assert_eq!(set(""), ["error VLLM-PLUGIN filtered"], "an empty list lets nothing in");
        let bare =
            facts_with(python("3.11"), vec![dist("vllm", "0.11.0"), dist("vllm-ascend", "0.11.0")]);
        assert_eq!(run(plugin, &bare), ["error VLLM-PLUGIN no_entry"]);
        let alone = facts_with(python("3.11"), vec![plugin_dist()]);
        assert_eq!(run(plugin, &alone), ["warning VLLM-PLUGIN no_vllm"]);
    }

    #[test]
    fn a_gpu_build_of_vllm() {
        let mut facts = stack();
        assert_eq!(run(empty, &facts), [""; 0]);
        facts.python.vllm.cuda_needed =
            vec![("/s/vllm/_C.abi3.so".to_owned(), "libcudart.so.12".to_owned())];
        assert_eq!(run(empty, &facts), ["warning VLLM-EMPTY cuda"]);
    }

    #[test]
    fn the_build_has_to_be_for_this_chip() {
        let mut facts = stack();
        assert_eq!(run(build, &facts), ["not checked: no_file"]);
        facts.python.vllm.build_info_path = Some("/s/vllm_ascend/_build_info.py".to_owned());
        let mut info = |key: &str, value: &str| {
            facts.python.vllm.build_info = [(key.to_owned(), value.to_owned())].into();
            chip(&mut facts, "0xd802");
            run(build, &facts)
        };
        assert_eq!(info("__device_type__", "A2"), [""; 0]);
        assert_eq!(info("__soc_version__", "ASCEND910B1"), [""; 0]);
        assert_eq!(info("__soc_version__", "910b"), [""; 0]);
        assert_eq!(info("__device_type__", "A3"), ["error VLLM-BUILD chip"]);
        assert_eq!(info("__soc_version__", "ascend310p3"), ["error VLLM-BUILD chip"]);
        assert_eq!(info("__device_type__", "A99"), ["not checked: version_unknown"]);
        // The CANN of 0.11.0 has no operators for an Ascend 950, so a build on the machine would
        // not contain them.
        chip(&mut facts, "0xd806");
        facts.python.vllm.build_info = [("__device_type__".to_owned(), "A2".to_owned())].into();
        assert_eq!(run(build, &facts), ["error VLLM-BUILD unsupported"]);
        let found = match build(&Context::of(&facts, Profile::General)) {
            Outcome::Found(found) => found,
            other => panic!("nothing found: {other:?}"),
        };
        let (release, cann) = (found[0].args["release"].as_str(), found[0].args["cann"].as_str());
        assert_eq!((release, cann), ("0.23.0", "9.1.0"));
        // An NPU of unknown type.
        facts.devices.pci = Some(Vec::new());
        facts.devices.nodes = vec![facts::Node {
            path: "/dev/davinci0".to_owned(),
            kind: facts::FileKind::Char,
            owner: None,
            device: None,
        }];
        assert_eq!(run(build, &facts), ["not checked: chip_unknown"]);
    }

    #[test]
    fn versions_of_checkouts_without_tags() {
        let with =
            |version: &str| facts_with(python("3.11"), vec![dist("vllm", version), plugin_dist()]);
        let mut bad = with("0.1.dev1+g1d0a1f2.empty");
        let untagged = ["warning VLLM-VERSION untagged", "blocked: version_unknown"];
        assert_eq!(run(version, &bad), untagged);
        assert_eq!(run(version, &with("unknown")), untagged);
        assert_eq!(run(version, &with("0.11.1.dev20+gabc")), [""; 0]);
        bad.env.vars.insert("VLLM_VERSION".to_owned(), "0.11.0".to_owned());
        assert_eq!(run(version, &bad), [""; 0]);
        bad.env.vars.insert("VLLM_VERSION".to_owned(), "main!".to_owned());
        assert_eq!(run(version, &bad), ["warning VLLM-VERSION variable"]);
    }

    #[test]
    fn two_owners_of_one_directory() {
        let mut facts = facts_with(
            python("3.11"),
            vec![dist("triton-ascend", "3.2.0"), dist("triton", "3.5.0")],
        );
        let owner = |name: &str| (name.to_owned(), "1".to_owned());
        let state = &mut facts.python.vllm;
        state.triton_owners = vec![owner("triton-ascend")];
        (state.triton_compared, state.triton_has_ascend) = (3, Some(true));
        assert_eq!(run(triton, &facts), [""; 0], "metadata alone overwrites nothing");
        facts.python.vllm.triton_owners.push(owner("triton"));
        assert_eq!(run(triton, &facts), ["warning TRITON-CONFLICT both"]);
        facts.python.vllm.triton_overwritten = vec!["/s/triton/__init__.py".to_owned()];
        assert_eq!(run(triton, &facts), ["error TRITON-CONFLICT overwritten"]);
        facts.python.vllm.triton_owners.pop();
        assert_eq!(run(triton, &facts), ["warning TRITON-CONFLICT damaged"], "a patched file");
        facts.python.vllm.triton_has_ascend = Some(false);
        assert_eq!(run(triton, &facts), ["error TRITON-CONFLICT damaged"]);
    }

    #[test]
    fn triton_is_not_for_inference_cards() {
        let mut facts = facts_with(python("3.11"), vec![dist("triton-ascend", "3.2.0")]);
        chip(&mut facts, "0xd500");
        assert_eq!(run(triton_chip, &facts), ["warning TRITON-CHIP unsupported"]);
        chip(&mut facts, "0xd802");
        assert_eq!(run(triton_chip, &facts), [""; 0]);
    }
}
