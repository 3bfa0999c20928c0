//! No private key of minisign is in the repository.
#![expect(clippy::disallowed_methods, reason = "reads the files of this project")]

use std::process::Command;

use super::workspace::home;

/// The start of the first line of secret keys, as minisign and rsign write them. Split, because
/// this file is scanned too.
const COMMENTS: [&str; 4] = [
    concat!("minisign encrypted ", "secret key"),
    concat!("minisign unencrypted ", "secret key"),
    concat!("rsign encrypted ", "secret key"),
    concat!("rsign unencrypted ", "secret key"),
];
/// The start of the second line: algorithm, derivation and checksum of a secret key, encrypted or not.
const BLOBS: [&str; 2] = [concat!("RWRTY0", "Iy"), concat!("RWQAAE", "Iy")];
/// The length of a secret key: 158 bytes in base64.
const LENGTH: usize = 212;

/// The reason why a file is rejected.
fn find_private_key(bytes: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    let comment = COMMENTS.iter().find(|comment| text.contains(*comment)).copied();
    let is_digit = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    comment.or_else(|| {
        BLOBS.into_iter().find(|blob| {
            text.match_indices(blob).any(|(at, _)| {
                text[at..].chars().take_while(|c| is_digit(*c)).count() >= LENGTH / 2
            })
        })
    })
}

#[test]
fn no_tracked_file_contains_a_private_key() {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(home()).output();
    let listed = listed.ok().filter(|output| output.status.success());
    // Source packages have no repository; their files were tracked when they were packed.
    let Some(listed) = listed else { return };
    let files = String::from_utf8(listed.stdout).unwrap();
    let files: Vec<&str> = files.split('\0').filter(|file| !file.is_empty()).collect();
    assert!(files.len() > 500, "{} files", files.len());
    let found = files.iter().filter_map(|file| {
        let bytes = std::fs::read(home().join(file)).ok()?;
        find_private_key(&bytes).map(|reason| format!("{file}: {reason}"))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "private keys: {found:#?}");
}

#[test]
fn planted_private_keys_are_found() {
    let keys = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let secret = keys.sk.to_box(None).unwrap().into_string();
    assert!(find_private_key(secret.as_bytes()).is_some());
    let blob = secret.lines().nth(1).unwrap();
    assert!(find_private_key(format!("key = \"{blob}\"").as_bytes()).is_some());
    let keys = minisign::KeyPair::generate_encrypted_keypair(Some("x".to_owned())).unwrap();
    let secret = keys.sk.to_box(None).unwrap().into_string();
    let blob = secret.lines().nth(1).unwrap();
    assert!(find_private_key(secret.as_bytes()).is_some());
    assert!(find_private_key(blob.as_bytes()).is_some());
    for comment in COMMENTS {
        assert!(find_private_key(format!("untrusted comment: {comment}\n").as_bytes()).is_some());
    }
    let public = keys.pk.to_box().unwrap().into_string();
    assert_eq!(find_private_key(public.as_bytes()), None);
}
