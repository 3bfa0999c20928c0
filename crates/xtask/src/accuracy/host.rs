//! `check` on version files, wheel metadata and outputs of npu-smi from real machines.
//!
//! The name of a sample contains the expected result: `driver_version.info_24.1.0`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use regex::Regex;
use serde_json::{Value, json};

use super::measurement::Measurement;
use super::probe::Probe;

/// Names of the measurements.
const VERSIONS: &str = "versions of driver and CANN";
const WHEELS: &str = "metadata of wheels";
const TABLES: &str = "outputs of npu-smi";

/// The path where `check` looks for the program.
const NPU_SMI: &str = "usr/local/bin/npu-smi";

/// A file of a machine, and the result that `check --facts-only` must report for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) measurement: &'static str,
    /// Files of the machine: path, and the sample with its content.
    pub(super) files: Vec<(String, String)>,
    /// The result, from the name of the sample.
    pub(super) expected: Vec<String>,
}

/// Measures all samples of a known kind.
pub(super) fn measure(probe: &Probe, dir: &Path) -> Result<Vec<Measurement>> {
    let names = super::file_names(dir)?;
    let mut results = Vec::new();
    for sample in names.iter().filter_map(|name| sample(name)) {
        results.push((sample.measurement, examine(probe, dir, &sample)?));
    }
    let of = |name| {
        let of_name = results.iter().filter(|(measurement, _)| *measurement == name);
        Measurement::of(name, of_name.map(|(_, miss)| miss.clone()))
    };
    Ok([VERSIONS, WHEELS, TABLES].map(of).into())
}

/// Returns the sample with this name; `None` for files of other kinds.
pub(super) fn sample(name: &str) -> Option<Sample> {
    let one = |measurement, path: String, expected: &[&str]| {
        let expected = expected.iter().map(|&part| part.to_owned()).collect();
        Some(Sample { measurement, files: vec![(path, name.to_owned())], expected })
    };
    if let Some(rest) = name.strip_prefix("driver_version.info_") {
        // The name of a chip may precede the version.
        let version = rest.rsplit('_').next()?;
        one(VERSIONS, "usr/local/Ascend/driver/version.info".to_owned(), &[version])
    } else if let Some(version) = name.strip_prefix("firmware_version.info_") {
        one(VERSIONS, "usr/local/Ascend/firmware/version.info".to_owned(), &[version])
    } else if let Some(version) = name.strip_prefix("ascend_toolkit_install.info_") {
        let dir = format!("usr/local/Ascend/ascend-toolkit/{version}/aarch64-linux");
        one(VERSIONS, format!("{dir}/ascend_toolkit_install.info"), &[version])
    } else if let Some(version) = name.strip_prefix("ascend_nnae_install.info_") {
        let dir = format!("usr/local/Ascend/nnae/{version}/x86_64-linux");
        one(VERSIONS, format!("{dir}/ascend_nnae_install.info"), &[version])
    } else if let Some(code) = name.strip_prefix("npu-smi_error_") {
        one(TABLES, NPU_SMI.to_owned(), &["error", code.strip_suffix(".txt")?])
    } else if let Some(rest) = name.strip_prefix("npu-smi_info_") {
        let (chip, version) = rest.strip_suffix(".txt")?.split_once('_')?;
        let version = version.split('_').next()?;
        one(TABLES, NPU_SMI.to_owned(), &["table", chip, version])
    } else {
        wheel(name)
    }
}

/// Returns the sample of a wheel with this `WHEEL` file.
fn wheel(name: &str) -> Option<Sample> {
    let stem = name.strip_prefix("wheel_")?.strip_suffix(".WHEEL")?;
    let mut parts = stem.splitn(5, '-');
    let (_, version, python) = (parts.next()?, parts.next()?, parts.next()?);
    let python = format!("3.{}", python.strip_prefix("cp3")?);
    let site = format!("usr/local/lib/python{python}/site-packages");
    let info = format!("{site}/torch_npu-{version}.dist-info");
    let file =
        |path: &str, ending: &str| (format!("{info}/{path}"), format!("wheel_{stem}.{ending}"));
    Some(Sample {
        measurement: WHEELS,
        files: vec![
            file("METADATA", "METADATA.excerpt"),
            file("RECORD", "RECORD.excerpt"),
            file("WHEEL", "WHEEL"),
            file("entry_points.txt", "entry_points.txt"),
        ],
        expected: vec![version.to_owned(), python],
    })
}

/// Runs `check` on a machine with only this sample. Returns the error in the result.
fn examine(probe: &Probe, dir: &Path, sample: &Sample) -> Result<Option<String>> {
    let machine = tempfile::tempdir()?;
    let write = |path: &str, content: &[u8]| -> Result<()> {
        let path = machine.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(machine.path()))?;
        Ok(std::fs::write(path, content)?)
    };
    let mut texts = Vec::new();
    for (path, name) in &sample.files {
        let content = super::read(&dir.join(name))?;
        write(path, &content)?;
        texts.push(String::from_utf8_lossy(&content).into_owned());
    }
    if sample.measurement == TABLES {
        let output = json!({ "status": 0, "text": texts[0] });
        let commands = json!({ format!("/{NPU_SMI} info"): output });
        write(".commands.json", commands.to_string().as_bytes())?;
        write(NPU_SMI, b"")?;
    }
    if sample.measurement == WHEELS {
        let python = &sample.expected[1];
        write(&format!("usr/local/bin/python{python}"), b"\x7fELF")?;
    }
    let root = machine.path().to_str().context("the temporary directory is not UTF-8")?;
    let facts = probe.json(&["check", "--sysroot", root, "--facts-only"])?;
    let name = &sample.files[0].1;
    Ok(match facts {
        Err(error) => Some(format!("{name}: {error}")),
        Ok(facts) => wrong(sample, &texts[0], &facts)?.map(|why| format!("{name}: {why}")),
    })
}

/// Compares facts with the expected result of a sample.
fn wrong(sample: &Sample, text: &str, facts: &Value) -> Result<Option<String>> {
    let (found, expected) = match (sample.measurement, &sample.expected[..]) {
        (VERSIONS, [version]) => {
            let (driver, firmware) = (&facts["driver"]["version"], &facts["driver"]["firmware"]);
            let installs = facts["cann"]["installs"].as_array().into_iter().flatten();
            let found = [&driver["fields"]["Version"], &firmware["fields"]["Version"]];
            let found = found.into_iter().chain(installs.map(|install| &install["version"]));
            let found: Vec<&str> = found.filter_map(Value::as_str).collect();
            (found.join(" "), version.clone())
        }
        (WHEELS, [version, python]) => {
            let dists = facts["python"]["dists"].as_array().into_iter().flatten();
            let found: Vec<String> = dists
                .map(|dist| {
                    let text = |key: &str| dist[key].as_str().unwrap_or_default().to_owned();
                    let requires = dist["requires"][0].as_str().unwrap_or_default();
                    format!("{} {} {requires}", text("name"), text("version"))
                })
                .collect();
            let torch = version.split(".post").next().unwrap_or(version);
            let requires = text.lines().find_map(|line| line.strip_prefix("Requires-Dist: "));
            let wanted = requires.map_or_else(|| format!("torch=={torch}"), str::to_owned);
            let found = format!(
                "{}, Python {}",
                found.join(" "),
                facts["python"]["interpreter"]["version"].as_str().unwrap_or_default()
            );
            (found, format!("torch-npu {version} {wanted}, Python {python}"))
        }
        (TABLES, [kind, code]) if kind == "error" => {
            let code = format!("-{code}");
            (facts["driver"]["npu_smi"]["error_code"].to_string(), code)
        }
        (TABLES, [_, chip, version]) => table(&facts["driver"]["npu_smi"], text, chip, version)?,
        _ => bail!("`{}` is a sample of no known kind", sample.measurement),
    };
    Ok((found != expected).then(|| format!("found `{found}`, expected `{expected}`")))
}

/// Describes the chips of a table twice: as parsed by the program, and as in the text.
pub(super) fn table(
    smi: &Value,
    text: &str,
    chip: &str,
    version: &str,
) -> Result<(String, String)> {
    let addresses = Regex::new(r"\b[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-9A-F]\b")?;
    let addresses: Vec<&str> = addresses.find_iter(text).map(|found| found.as_str()).collect();
    // The table does not name generation A3.
    let chip = if chip == "A3" { "Ascend910" } else { chip };
    let chips: Vec<&Value> = smi["chips"].as_array().into_iter().flatten().collect();
    let names: BTreeSet<&str> = chips.iter().filter_map(|chip| chip["name"].as_str()).collect();
    let found: Vec<&str> = chips.iter().filter_map(|chip| chip["bus_id"].as_str()).collect();
    let line = |version: &str, names: &str, addresses: &[&str]| {
        format!("{version} {names} {}", addresses.join(" "))
    };
    let names = names.into_iter().collect::<Vec<_>>().join(" ");
    let found = line(smi["version"].as_str().unwrap_or_default(), &names, &found);
    Ok((found, line(version, chip, &addresses)))
}
