//! Healthy machines of each kind, and every goal that each of them serves: the goal is proven, and
//! no finding contradicts it.

use crate::support::machine::Spec;
use crate::support::scan::Bench;
use crate::support::versions::{CANN_DRIVERS, TORCH_NPU, VLLM_ASCEND, numbers};

/// Goals of a machine that trains and serves with torch, as arguments of `--profile`.
const TORCH: &[&str] = &["import", "torch", "inference", "train", "container", "build", "node"];

/// A kind of machine.
struct Layout {
    name: &'static str,
    /// Machines of this kind.
    specs: Vec<Spec>,
    /// The goal without a profile.
    suggested: &'static str,
    /// The profiles that it serves.
    profiles: Vec<&'static str>,
}

fn drivers(cann: &str) -> &'static [&'static str] {
    CANN_DRIVERS.iter().find(|(version, _)| *version == cann).map_or(&[], |(_, drivers)| drivers)
}

/// Machines of one chip: the rows of `torch_npu` from `since` on, on both architectures.
fn of_chip(chip: &str, npus: u32, since: &str) -> Vec<Spec> {
    let mut specs = Vec::new();
    for row in TORCH_NPU {
        let cann = row.cann[0];
        let Some(driver) = drivers(cann).last() else { continue };
        if numbers(cann) < numbers(since) {
            continue;
        }
        let n = specs.len();
        specs.push(Spec {
            arch: ["aarch64", "x86_64"][n % 2].to_owned(),
            os: if numbers(row.torch)[..2] < [2, 6][..] { "ubuntu20.04" } else { "openeuler24.03" }
                .to_owned(),
            chip: chip.to_owned(),
            npus,
            cann: cann.to_owned(),
            driver: (*driver).to_owned(),
            torch_npu: row.version.to_owned(),
            python: row.python[n % row.python.len()].to_owned(),
            env: ["venv", "system"][n / 2 % 2].to_owned(),
            user: ["root", "ma"][n % 2].to_owned(),
            ..Spec::default()
        });
    }
    specs
}

/// The same machines with a change.
fn each(mut specs: Vec<Spec>, change: impl Fn(usize, &mut Spec)) -> Vec<Spec> {
    specs.iter_mut().enumerate().for_each(|(n, spec)| change(n, spec));
    specs
}

fn vllm_containers() -> Vec<Spec> {
    let mut specs = Vec::new();
    for row in VLLM_ASCEND {
        for (chip, npus) in [("910b", 8), ("a3", 16)] {
            for arch in ["aarch64", "x86_64"] {
                for driver in drivers(if row.cann == "8.5.1" { "8.5.0" } else { row.cann }) {
                    specs.push(Spec {
                        arch: arch.to_owned(),
                        chip: chip.to_owned(),
                        npus,
                        cann: row.cann.to_owned(),
                        driver: (*driver).to_owned(),
                        torch_npu: row.torch_npu.to_owned(),
                        vllm_ascend: row.version.to_owned(),
                        env: "image".to_owned(),
                        sourced: "image".to_owned(),
                        container: true,
                        ..Spec::default()
                    });
                }
            }
        }
    }
    specs
}

fn layouts() -> Vec<Layout> {
    let with = |more: &[&'static str]| [TORCH, more].concat();
    let all = of_chip("910b", 8, "8.0");
    vec![
        Layout {
            name: "A2 host",
            specs: all.clone(),
            suggested: "torch",
            profiles: with(&["multi-node"]),
        },
        Layout {
            name: "A3 host",
            specs: of_chip("a3", 16, "8.1"),
            suggested: "torch",
            profiles: with(&["multi-node"]),
        },
        Layout {
            name: "310P host",
            specs: of_chip("310p", 2, "8.0"),
            suggested: "torch",
            profiles: vec!["import", "torch", "inference", "build", "node"],
        },
        Layout {
            name: "950 host",
            specs: each(of_chip("950", 8, "9.1"), |_, spec| {
                "25.1.rc2".clone_into(&mut spec.driver);
            }),
            suggested: "torch",
            profiles: TORCH.to_vec(),
        },
        Layout {
            name: "vllm-ascend container",
            specs: vllm_containers(),
            suggested: "vllm",
            profiles: vec!["vllm", "inference", "import", "torch", "container"],
        },
        Layout {
            name: "conda",
            specs: each(all.clone(), |n, spec| {
                "conda".clone_into(&mut spec.env);
                spec.container = n % 2 == 0;
            }),
            suggested: "torch",
            profiles: TORCH.to_vec(),
        },
        Layout {
            name: "nnae",
            // The name until 8.3; later releases have no such package.
            specs: each(
                all.into_iter().filter(|spec| numbers(&spec.cann) < numbers("8.5")).collect(),
                |_, spec| {
                    "nnae".clone_into(&mut spec.package);
                },
            ),
            suggested: "torch",
            profiles: vec!["import", "torch", "inference", "train", "node"],
        },
        Layout {
            name: "MindSpore only",
            specs: mindspore(),
            suggested: "mindspore",
            profiles: vec!["mindspore", "train", "inference", "build", "node"],
        },
        Layout {
            name: "sglang container",
            specs: ["0.5.5", "0.5.6"]
                .into_iter()
                .flat_map(|version| {
                    [("910b", 8), ("a3", 16)].map(|(chip, npus)| Spec {
                        chip: chip.to_owned(),
                        npus,
                        cann: "8.3.RC1".to_owned(),
                        torch_npu: "2.8.0".to_owned(),
                        sglang: version.to_owned(),
                        env: "image".to_owned(),
                        sourced: "image".to_owned(),
                        container: true,
                        ..Spec::default()
                    })
                })
                .collect(),
            suggested: "sglang",
            profiles: vec!["sglang", "inference", "import", "torch", "container"],
        },
        Layout {
            name: "driver only",
            specs: each(of_chip("910b", 8, "8.0"), |_, spec| {
                spec.cann.clear();
                spec.torch_npu.clear();
                spec.nnal.clear();
            }),
            suggested: "node",
            profiles: vec!["node"],
        },
    ]
}

/// Pairs from the installation guides.
fn mindspore() -> Vec<Spec> {
    let mut specs = Vec::new();
    for (version, cann) in
        [("2.5.0", "8.0.0"), ("2.6.0", "8.1.RC1"), ("2.7.0", "8.2.RC1"), ("2.7.1", "8.3.RC1")]
    {
        for driver in drivers(cann) {
            for (chip, python) in [("910b", "3.9"), ("910b", "3.10"), ("910", "3.11")] {
                specs.push(Spec {
                    chip: chip.to_owned(),
                    cann: cann.to_owned(),
                    driver: (*driver).to_owned(),
                    python: python.to_owned(),
                    env: "conda".to_owned(),
                    torch_npu: String::new(),
                    nnal: String::new(),
                    mindspore: version.to_owned(),
                    ..Spec::default()
                });
            }
        }
    }
    specs
}

#[test]
fn every_goal_that_a_machine_serves_is_proven() {
    let mut bench = Bench::new();
    let (mut runs, mut false_errors, mut warned) = (0, 0, 0);
    let mut wrong = Vec::new();
    for layout in layouts() {
        assert!(layout.specs.len() > 2, "{}", layout.name);
        for (n, spec) in layout.specs.iter().enumerate() {
            let tree = spec.build();
            // Each machine without a profile, and alternately with two of its profiles.
            let of = layout.profiles.len();
            let profiles =
                [None, Some(layout.profiles[2 * n % of]), Some(layout.profiles[(2 * n + 1) % of])];
            for (again, profile) in profiles.into_iter().enumerate() {
                let mut args = Vec::new();
                if let Some(profile) = profile {
                    args = vec!["--profile", profile];
                }
                let scan = if again == 0 {
                    bench.scan(tree.clone(), &args)
                } else {
                    crate::support::scan::scan(bench.path(), &args)
                };
                runs += 1;
                let goal = scan.report["goal"]["id"].as_str().unwrap_or_default();
                let expected = match profile {
                    None => layout.suggested,
                    Some("inference") => layout.suggested,
                    Some("train") if layout.suggested == "mindspore" => "mindspore",
                    Some(profile) => profile,
                };
                false_errors += usize::from(!scan.ids("error").is_empty());
                warned += usize::from(!scan.ids("warning").is_empty());
                let proven = scan.report["verdict"] == "pass" && scan.code == 0;
                if goal != expected || !proven || !scan.ids("warning").is_empty() {
                    wrong.push(format!(
                        "{}, {profile:?}: {}\ngoal {goal} (expected {expected}), status {}, {}\n{}",
                        layout.name,
                        spec.describe(),
                        scan.code,
                        scan.report["headline"],
                        scan.lines()
                    ));
                }
            }
        }
    }
    println!(
        "{runs} runs: {false_errors} with errors, {warned} with warnings, {} wrong",
        wrong.len()
    );
    wrong.dedup();
    let shown = wrong.len().min(30);
    assert!(wrong.is_empty(), "{}", wrong[..shown].join("\n"));
}
