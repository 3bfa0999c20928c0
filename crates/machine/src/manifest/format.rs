//! The JSON form of manifests.

use base::text::Text;
use data::fault::Value as _;
use data::faults;
use serde::{Deserialize, Serialize};

use base::hash::Sha256;
use facts::normalize_name;

/// Version of the format. A reader refuses files of another version.
pub const MANIFEST_SCHEMA: &str = "ascend-doctor/manifest/1";

/// The contents of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The file that it was read from, or the wheel that it was created from.
    pub origin: String,
    /// Normalized name of the distribution.
    pub package: String,
    /// Version, as written in METADATA.
    pub version: String,
    /// File name of the wheel, if it was created from one.
    pub wheel: Option<String>,
    /// Digest of RECORD.
    pub record: Option<Sha256>,
    /// Path, size in bytes and hash of the files.
    pub files: Vec<(String, u64, Sha256)>,
}

/// The manifest of a wheel in its JSON form.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    schema: String,
    package: String,
    version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wheel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record_sha256: Option<String>,
    files: Vec<Row>,
}

/// A file of a wheel.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Row {
    path: String,
    size: u64,
    sha256: String,
}

impl Manifest {
    /// Reads the JSON form. The error describes the defect.
    pub fn parse(origin: &str, bytes: &[u8]) -> Result<Self, Text> {
        let file: ManifestFile = serde_json::from_slice(bytes).map_err(|error| error.value())?;
        if file.schema != MANIFEST_SCHEMA {
            return Err(
                faults::ManifestSchema { schema: &file.schema, own: MANIFEST_SCHEMA }.value()
            );
        }
        if file.files.is_empty() {
            return Err(faults::ManifestEmpty.value());
        }
        let hash = |text: &str| {
            Sha256::from_hex(text).ok_or_else(|| faults::NotSha256Hex { text }.value())
        };
        Ok(Self {
            origin: origin.to_owned(),
            package: normalize_name(&file.package),
            version: file.version,
            wheel: file.wheel,
            record: file.record_sha256.as_deref().map(hash).transpose()?,
            files: file
                .files
                .into_iter()
                .map(|row| Ok((row.path, row.size, hash(&row.sha256)?)))
                .collect::<Result<_, Text>>()?,
        })
    }

    /// Writes the JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let file = ManifestFile {
            schema: MANIFEST_SCHEMA.to_owned(),
            package: self.package.clone(),
            version: self.version.clone(),
            wheel: self.wheel.clone(),
            record_sha256: self.record.map(|hash| hash.hex()),
            files: self
                .files
                .iter()
                .map(|(path, size, hash)| Row {
                    path: path.clone(),
                    size: *size,
                    sha256: hash.hex(),
                })
                .collect(),
        };
        serde_json::to_string_pretty(&file).map(|text| text + "\n")
    }

    /// The name in reports.
    pub fn label(&self) -> String {
        self.wheel.clone().unwrap_or_else(|| format!("{} {}", self.package, self.version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_manifest_parses_to_same_value() {
        let manifest = Manifest {
            origin: "m.json".to_owned(),
            package: "torch-npu".to_owned(),
            version: "2.9.0+git1".to_owned(),
            wheel: None,
            record: Some(Sha256::of(b"r")),
            files: vec![("torch_npu/a.py".to_owned(), 1, Sha256::of(b"a"))],
        };
        let text = manifest.to_json().unwrap();
        assert_eq!(Manifest::parse("m.json", text.as_bytes()), Ok(manifest));
    }

    #[test]
    fn other_files_are_rejected_with_reason() {
        let refuse = |text: &str| Manifest::parse("m", text.as_bytes()).unwrap_err();
        let with = |schema: &str, files: &str| {
            format!(r#"{{"schema":"{schema}","package":"p","version":"1","files":[{files}]}}"#)
        };
        assert!(refuse("[]").en.contains("line 1"));
        assert!(refuse(&with("other/1", "")).en.contains("other/1"));
        assert!(refuse(&with(MANIFEST_SCHEMA, "")).en.contains("no file"));
        let row = r#"{"path":"a","size":1,"sha256":"xyz"}"#;
        assert!(refuse(&with(MANIFEST_SCHEMA, row)).en.contains("xyz"));
    }
}
