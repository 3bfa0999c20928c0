//! Files of a package index: lists of versions, wheels, source archives.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};
use pep440_rs::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use zip::ZipArchive;

use crate::package_lock::{FILE, Pins, locate};

/// The maximum size of an archive member.
const MAX_MEMBER: u64 = 256 << 20;
/// The maximum duration of a download, in seconds.
const MAX_SECONDS: &str = "1800";

/// A package index and the directory that keeps downloads from it.
///
/// The directory holds `index/<package>.json` (the list of files) and the archives by file name.
#[derive(Debug)]
pub(crate) struct Packages {
    dir: PathBuf,
    offline: bool,
    url: Option<String>,
    found: OnceLock<String>,
    /// If the versions are pinned, the only files that are read.
    pins: Option<Pins>,
    read: Mutex<Pins>,
}

/// One file of a package, as the index lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct IndexFile {
    /// Name of the file.
    pub(crate) name: String,
    /// SHA-256 in hexadecimal.
    pub(crate) sha256: String,
    /// Address. Not part of any table.
    pub(crate) url: String,
    /// Whether the index withdrew the file.
    pub(crate) yanked: bool,
    /// Required versions of Python, if the index states them.
    pub(crate) requires_python: Option<String>,
}

/// The project page of an index in its JSON form (PEP 691).
#[derive(Debug, Deserialize)]
struct Page {
    files: Vec<PageFile>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PageFile {
    filename: String,
    url: String,
    hashes: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    yanked: serde_json::Value,
    #[serde(default)]
    requires_python: Option<String>,
}

impl Packages {
    /// Creates an index at `url`, by default the one that pip is configured for.
    pub(crate) fn new(dir: &Path, offline: bool, url: Option<String>) -> Self {
        Self {
            dir: dir.to_owned(),
            offline,
            url,
            found: OnceLock::new(),
            pins: None,
            read: Mutex::default(),
        }
    }

    /// Returns the index restricted to these files.
    pub(crate) fn pinned(self, pins: Pins) -> Self {
        Self { pins: Some(pins), ..self }
    }

    /// Returns the files of the packages that were listed so far.
    pub(crate) fn read(&self) -> Pins {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns all files of a package, or the pinned ones, and records them.
    pub(crate) fn files(&self, package: &str) -> Result<Vec<IndexFile>> {
        let files = match &self.pins {
            None => self.listed(package)?,
            Some(pins) => {
                let pins = pins.get(package);
                let pins = pins.with_context(|| format!("{FILE} has no package `{package}`"))?;
                // Without network and stored list, the stored files are sufficient.
                let listed = self
                    .listed(package)
                    .or_else(|error| if self.offline { Ok(Vec::new()) } else { Err(error) });
                locate(pins, &listed?)?
            }
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(package.to_owned(), files.clone());
        Ok(files)
    }

    /// Returns the files of a package that the index lists today, sorted by name. Offline, returns
    /// the stored list.
    pub(crate) fn listed(&self, package: &str) -> Result<Vec<IndexFile>> {
        let stored = self.dir.join("index").join(format!("{package}.json"));
        if self.offline {
            let text = std::fs::read_to_string(&stored).with_context(|| {
                format!("no stored list of package `{package}` (`{}`)", stored.display())
            })?;
            return serde_json::from_str(&text).with_context(|| stored.display().to_string());
        }
        let url = format!("{}/{package}/", self.url()?.trim_end_matches('/'));
        let page = curl(&["--header", "Accept: application/vnd.pypi.simple.v1+json", &url])
            .with_context(|| format!("package `{package}`"))?;
        let page: Page = serde_json::from_slice(&page)
            .with_context(|| format!("package `{package}`: the index sent no JSON"))?;
        let mut files = Vec::new();
        for file in page.files {
            let sha256 = file.hashes.get("sha256").cloned();
            files.push(IndexFile {
                sha256: sha256.with_context(|| format!("{} has no SHA-256", file.filename))?,
                url: absolute(&url, &file.url),
                yanked: file.yanked.as_bool().unwrap_or(file.yanked.is_string()),
                requires_python: file.requires_python,
                name: file.filename,
            });
        }
        ensure!(!files.is_empty(), "package `{package}` has no files");
        files.sort();
        std::fs::create_dir_all(self.dir.join("index"))?;
        std::fs::write(&stored, serde_json::to_string_pretty(&files)? + "\n")?;
        Ok(files)
    }

    /// Returns the wheel of the newest final version for one Python, one kind of platform (such as
    /// `manylinux`) and one architecture.
    pub(crate) fn newest_wheel(
        &self,
        package: &str,
        python: &str,
        platform: &str,
        arch: &str,
    ) -> Result<IndexFile> {
        let files = self.files(package)?.into_iter().filter(|file| !file.yanked);
        let fitting = files.filter_map(|file| {
            let mut parts = file.name.strip_suffix(".whl")?.split('-');
            let version: Version = parts.nth(1)?.parse().ok()?;
            let (tag, tags) = (parts.next()?, parts.next_back()?);
            let fits = tag == python && tags.contains(platform) && tags.ends_with(arch);
            (fits && !version.any_prerelease()).then_some((version, file))
        });
        let newest = fitting.max().map(|(_, file)| file);
        newest.with_context(|| {
            format!("package `{package}` has no wheel for {python}, {platform}, {arch}")
        })
    }

    /// Returns the local copy of a file. Downloads it if it is missing, and checks its hash.
    pub(crate) fn download(&self, file: &IndexFile) -> Result<PathBuf> {
        ensure!(!file.name.contains(['/', '\\']), "file name `{}` has a separator", file.name);
        let path = self.dir.join(&file.name);
        if !path.exists() {
            ensure!(!self.offline, "`{}` is not stored in `{}`", file.name, self.dir.display());
            std::fs::create_dir_all(&self.dir)?;
            let part = tempfile::Builder::new().prefix(".download-").tempfile_in(&self.dir)?;
            let target = part.path().to_str().context("the cache has a path that is not UTF-8")?;
            curl(&["--output", target, &file.url]).with_context(|| file.name.clone())?;
            part.persist(&path)?;
        }
        let found = sha256(&path)?;
        ensure!(
            found == file.sha256,
            "`{}` has SHA-256 {found}, the index states {}",
            path.display(),
            file.sha256
        );
        Ok(path)
    }

    /// Returns bytes `from..=to` of a file of the index, without downloading the rest.
    pub(crate) fn range(&self, file: &IndexFile, from: u64, to: u64) -> Result<Vec<u8>> {
        ensure!(!self.offline, "`{}` is not stored in `{}`", file.name, self.dir.display());
        let part = curl(&["--range", &format!("{from}-{to}"), &file.url]);
        let part = part.with_context(|| file.name.clone())?;
        let (found, wanted) = (part.len() as u64, (to + 1).saturating_sub(from));
        ensure!(found == wanted, "{}: {found} bytes instead of {wanted}", file.name);
        Ok(part)
    }

    /// Returns the size of a file of the index, whose server must support range requests.
    pub(crate) fn size(&self, file: &IndexFile) -> Result<u64> {
        ensure!(!self.offline, "`{}` is not stored in `{}`", file.name, self.dir.display());
        // Not `--head`: some servers send the size only with a range. `--max-filesize` ends the
        // transfer if a server sends the complete file instead.
        let arguments =
            ["--range", "0-0", "--max-filesize", "65536", "--include", file.url.as_str()];
        let answer = curl(&arguments).with_context(|| {
            format!("{}: cannot read a part; its server may know no ranges", file.name)
        })?;
        let answer = String::from_utf8_lossy(&answer);
        // Redirections produce several heads. The last one counts.
        let mut size = answer.lines().filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_range = name.eq_ignore_ascii_case("content-range");
            is_range.then(|| value.trim().rsplit('/').next()?.parse().ok()).flatten()
        });
        size.next_back().with_context(|| format!("{}: its server knows no ranges", file.name))
    }

    /// Returns the directory of stored files.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    fn url(&self) -> Result<&str> {
        if let Some(url) = &self.url {
            return Ok(url);
        }
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        // pip evaluates its configuration files, variables and default.
        let script = "from pip._internal.commands import create_command as c\n\
                      print(c('download').parse_args([])[0].index_url)";
        let output = Command::new("python3")
            .args(["-c", script])
            .output()
            .context("cannot start python3")?;
        let url = String::from_utf8(output.stdout)?.trim().to_owned();
        ensure!(output.status.success() && !url.is_empty(), "pip names no index: pass --index");
        Ok(self.found.get_or_init(|| url))
    }
}

/// Runs one curl at a time: an index limits parallel requests.
fn curl(arguments: &[&str]) -> Result<Vec<u8>> {
    static ONE: Mutex<()> = Mutex::new(());
    let _guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new("curl")
        .args(["--fail", "--silent", "--show-error", "--location", "--retry", "3"])
        .args(["--proto", "=http,https", "--max-time", MAX_SECONDS])
        .args(arguments)
        .output()
        .context("cannot start curl")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// Resolves an address in a page, which may be relative to the page.
fn absolute(page: &str, url: &str) -> String {
    if url.contains("://") {
        return url.to_owned();
    }
    let host = page.split('/').take(3).collect::<Vec<_>>().join("/");
    if let Some(path) = url.strip_prefix('/') {
        return format!("{host}/{path}");
    }
    // `../../packages/x`: up from the directory of the page.
    let mut parts: Vec<&str> = page.trim_end_matches('/').split('/').collect();
    for part in url.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the SHA-256 of a file in hexadecimal.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hex(&hasher.finalize()))
}

/// Formats bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        text
    })
}

/// A wheel or another ZIP archive.
#[derive(Debug)]
pub(crate) struct Archive {
    zip: Mutex<ZipArchive<File>>,
    name: String,
}

impl Archive {
    /// Opens an archive.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let zip = ZipArchive::new(file).with_context(|| path.display().to_string())?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { zip: Mutex::new(zip), name })
    }

    /// Returns the content of a member.
    pub(crate) fn bytes(&self, member: &str) -> Result<Vec<u8>> {
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let file = zip.by_name(member).with_context(|| format!("{}: {member}", self.name))?;
        let mut content = Vec::new();
        let read = file.take(MAX_MEMBER + 1).read_to_end(&mut content)? as u64;
        ensure!(
            read <= MAX_MEMBER,
            "{}: {member} exceeds the limit of {MAX_MEMBER} bytes",
            self.name
        );
        Ok(content)
    }

    /// Returns the text of a member, with `\n` as line ends.
    pub(crate) fn text(&self, member: &str) -> Result<String> {
        let text = String::from_utf8(self.bytes(member)?)
            .with_context(|| format!("{}: {member} is not valid UTF-8", self.name))?;
        Ok(text.replace("\r\n", "\n"))
    }

    /// Returns `FILE:MEMBER`, the source of a row.
    pub(crate) fn place(&self, member: &str) -> String {
        format!("{}:{member}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    /// Answers each request with the body for its path, or 404, until the test ends.
    fn serve(pages: Vec<(&'static str, Vec<u8>)>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
                    request.push(byte[0]);
                }
                let request = String::from_utf8(request).unwrap();
                let path = request.split(' ').nth(1).unwrap();
                let page = pages.iter().find(|(known, _)| *known == path);
                let (status, body) =
                    page.map_or(("404 Not Found", &[][..]), |(_, body)| ("200 OK", body));
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(head.as_bytes()).unwrap();
                stream.write_all(body).unwrap();
            }
        });
        address
    }

    fn wheel() -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        zip.start_file("p/version.py", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"x = 1\r\n").unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn hex(content: &[u8]) -> String {
        super::hex(&Sha256::digest(content))
    }

    #[test]
    fn files_are_listed_downloaded_and_checked() {
        let wheel = wheel();
        let page = format!(
            r#"{{"files": [{{"filename": "p-1.whl", "url": "../files/p-1.whl", "hashes": {{"sha256": "{}"}}, "yanked": false}},
                {{"filename": "p-0.whl", "url": "/files/p-0.whl", "hashes": {{"sha256": "{}"}}, "yanked": "broken", "requires-python": ">=3.9"}}]}}"#,
            hex(&wheel),
            hex(b"other")
        );
        let pages = vec![
            ("/simple/p/", page.into_bytes()),
            ("/simple/files/p-1.whl", wheel.clone()),
            ("/files/p-0.whl", wheel),
        ];
        let index = format!("{}/simple", serve(pages));
        let dir = tempfile::tempdir().unwrap();
        let online = Packages::new(dir.path(), false, Some(index));
        let files = online.files("p").unwrap();
        assert_eq!(
            files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
            ["p-0.whl", "p-1.whl"]
        );
        assert!(files[0].yanked && !files[1].yanked);
        let archive = Archive::open(&online.download(&files[1]).unwrap()).unwrap();
        assert_eq!(archive.text("p/version.py").unwrap(), "x = 1\n");
        assert!(archive.text("p/none").is_err());
        assert!(online.download(&files[0]).unwrap_err().to_string().contains("the index states"));
        assert!(format!("{:#}", online.files("none").unwrap_err()).contains("404"));
        // Stored files are available without the index.
        let offline = Packages::new(dir.path(), true, None);
        assert_eq!(offline.files("p").unwrap(), files);
        assert!(offline.download(&files[1]).is_ok());
        assert!(offline.files("q").is_err());
    }

    #[test]
    fn newest_wheel_is_final_and_fits() {
        let names = [
            "p-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            "p-2.10.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            "p-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl",
            "p-2.10.0.post1-cp312-cp312-manylinux_2_28_x86_64.whl",
            "p-2.11.0rc1-cp311-cp311-manylinux_2_28_x86_64.whl",
            "p-2.10.0.tar.gz",
        ];
        let files: Vec<String> = names
            .iter()
            .map(|name| {
                format!(r#"{{"filename": "{name}", "url": "{name}", "hashes": {{"sha256": ""}}}}"#)
            })
            .collect();
        let page = format!(r#"{{"files": [{}]}}"#, files.join(","));
        let index = serve(vec![("/p/", page.into_bytes())]);
        let dir = tempfile::tempdir().unwrap();
        let packages = Packages::new(dir.path(), false, Some(index));
        let wheel = packages.newest_wheel("p", "cp311", "manylinux", "x86_64").unwrap();
        assert_eq!(wheel.name, names[1]);
        assert!(packages.newest_wheel("p", "cp39", "manylinux", "x86_64").is_err());
    }
}
