//! Converts stated facts to the form of `check`, so that its checks can run on them.

use base::version::CannVersion;
use facts::{
    CannInstall, Dist, FACTS_SCHEMA, Facts, InfoFile, Interpreter, Lines, NpuChip, NpuSmi,
    normalize_name,
};

use crate::{FactOfText, Stated};

/// The names of facts that are Python packages; `package.*` are the others.
const PACKAGES: [&str; 17] = [
    "torch",
    "torch_npu",
    "torchvision",
    "torchaudio",
    "vllm",
    "vllm_ascend",
    "sglang",
    "mindspore",
    "triton",
    "triton_ascend",
    "transformers",
    "llamafactory",
    "ms_swift",
    "paddlepaddle",
    "paddle_custom_npu",
    "lmdeploy",
    "verl",
];

/// The facts in the form of `check`. Unstated facts are empty, as on a machine that was not
/// examined, so only checks whose inputs are all stated may run.
pub fn facts_of(stated: &Stated) -> Facts {
    let mut facts = Facts {
        schema: FACTS_SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        source: "text".to_owned(),
        ..Facts::default()
    };
    for fact in &stated.facts {
        add(fact, &mut facts);
    }
    let chips = stated.chips.iter().map(|chip| NpuChip {
        npu: chip.npu,
        chip: chip.chip.unwrap_or_default(),
        device: None,
        name: chip.name.clone(),
        health: chip.health.clone(),
        bus_id: chip.bus_id.clone(),
        hbm_mb: chip.used_mb.zip(chip.total_mb),
    });
    let chips: Vec<NpuChip> = chips.collect();
    if !chips.is_empty() {
        smi(&mut facts).chips = chips;
    }
    facts
}

/// Copies one fact to its place.
fn add(fact: &FactOfText, facts: &mut Facts) {
    let value = fact.value.clone();
    let lines = |key: &str| Lines::from([(key.to_owned(), fact.line)]);
    let info = |key: &str| InfoFile {
        path: fact.file.clone(),
        fields: [(key.to_owned(), value.clone())].into(),
        lines: lines(key),
    };
    if let Some(variable) = fact.name.strip_prefix("env.") {
        facts.env.vars.insert(variable.to_owned(), value);
        facts.env.origin = fact.file.clone();
        facts.env.known = true;
        return;
    }
    let package = fact.name.strip_prefix("package.");
    let package = package.or_else(|| PACKAGES.contains(&fact.name.as_str()).then_some(&fact.name));
    if let Some(name) = package {
        facts.python.dists.push(Dist {
            name: normalize_name(name),
            version: value.trim_start_matches(['v', 'V']).to_owned(),
            metadata: fact.file.clone(),
            metadata_ok: true,
            lines: lines("Version"),
            ..Dist::default()
        });
        return;
    }
    match fact.name.as_str() {
        "cann" => {
            // `8.2.RC1.alpha003` and `8.2.rc1` are common spellings.
            let version: Option<CannVersion> = value.parse().ok();
            facts.cann.installs.push(CannInstall {
                kind: "toolkit".to_owned(),
                version: Some(version.map_or(value, |version| version.to_string())),
                version_source: fact.file.clone(),
                version_line: Some(fact.line),
                ..CannInstall::default()
            });
        }
        "driver" => facts.driver.version = Some(info("Version")),
        "firmware" => facts.driver.firmware = Some(info("Version")),
        "python" => {
            facts.python.interpreter =
                Some(Interpreter { version: Some(value), ..Interpreter::default() });
        }
        "arch" => facts.host.arch = Some(value),
        "kernel" => facts.host.kernel = Some(value),
        "os" => facts.host.os_pretty = Some(value),
        "glibc" => facts.host.glibc = Some(value),
        "npu" if facts.driver.npu_smi.is_none() => {
            let chip = NpuChip { name: value, ..NpuChip::default() };
            // A name such as `910` is shared by several generations. Checks must not guess.
            if chip.family().is_some() {
                let smi = smi(facts);
                smi.chips.push(chip);
                smi.source = fact.file.clone();
            }
        }
        _ => {}
    }
}

fn smi(facts: &mut Facts) -> &mut NpuSmi {
    let start = || NpuSmi { source: "npu-smi info".to_owned(), ..NpuSmi::default() };
    facts.driver.npu_smi.get_or_insert_with(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge;

    fn facts(text: &str) -> Facts {
        facts_of(&merge(vec![("issue.md".to_owned(), pasted::read(text))]))
    }

    #[test]
    fn versions_stand_where_checks_look_for_them() {
        let facts = facts(
            "CANN version: 8.2.RC1\nDriver version: 25.2.0\nPython version: 3.11.9\n\n\
             torch                  2.7.1\ntorch-npu              2.7.1\n",
        );
        assert_eq!(facts.cann.active().unwrap().stated_version(), Some("8.2.RC1"));
        assert_eq!(facts.driver.version.unwrap().get("Version"), Some("25.2.0"));
        let dist = facts.python.dist("torch-npu").unwrap();
        assert_eq!(dist.version, "2.7.1");
        let place = dist.version_place();
        assert_eq!((place.source.as_str(), place.line), ("issue.md", Some(6)));
    }

    #[test]
    fn what_is_not_stated_is_empty() {
        let facts = facts("It does not work.");
        assert!(facts.cann.installs.is_empty() && facts.python.dists.is_empty());
        assert!(facts.driver.version.is_none() && facts.python.interpreter.is_none());
    }
}
