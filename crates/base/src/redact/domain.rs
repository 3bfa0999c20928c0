//! Host names recognized by their form: `node-17.example.com`, but not `torch.nn.functional`.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Words with dots between them.
static DOTTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+")
        .expect("the expression is proved by a test")
});

/// Top-level names that only host names have.
const CERTAIN: [&str; 10] =
    ["com", "cn", "edu", "gov", "lan", "corp", "localdomain", "intranet", "intra", "arpa"];
/// Top-level names that identifiers in programs have, too.
const POSSIBLE: [&str; 9] =
    ["org", "net", "local", "internal", "example", "priv", "private", "svc", "home"];

/// Public sites for software and documentation. They identify no user.
const PUBLIC: [&str; 36] = [
    "aliyun.com",
    "anaconda.com",
    "anaconda.org",
    "apache.org",
    "apple.com",
    "debian.org",
    "docker.com",
    "gitcode.com",
    "gitee.com",
    "github.com",
    "githubusercontent.com",
    "git-scm.com",
    "gitlab.com",
    "gnu.org",
    "google.com",
    "hf-mirror.com",
    "hiascend.cn",
    "hiascend.com",
    "huawei.com",
    "kernel.org",
    "microsoft.com",
    "mindspore.cn",
    "modelers.cn",
    "modelscope.cn",
    "nvidia.com",
    "openeuler.org",
    "opencv.org",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "pytorch.org",
    "repo.huaweicloud.com",
    "support.huaweicloud.com",
    "tuna.tsinghua.edu.cn",
    "ubuntu.com",
    "ustc.edu.cn",
];

/// Returns the byte ranges of the host names that have a domain.
pub(super) fn find(text: &[u8]) -> Vec<(usize, usize)> {
    let dotted = DOTTED.find_iter(text).filter(|found| {
        // `a@b.com` is an address, `f.com(` a call, and the `n.com` of `\n.com` is not the start of
        // a name.
        let before = found.start().checked_sub(1).and_then(|at| text.get(at));
        !matches!(before, Some(b'@' | b'.')) && text.get(found.end()) != Some(&b'(')
    });
    dotted
        .filter(|found| std::str::from_utf8(found.as_bytes()).is_ok_and(is_host))
        .map(|found| (found.start(), found.end()))
        .collect()
}

fn is_host(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let labels: Vec<&str> = lower.split('.').collect();
    let [first, .., last] = labels[..] else { return false };
    if name.contains('_') || labels.iter().any(|part| part.starts_with('-')) || is_public(&lower) {
        return false;
    }
    if CERTAIN.contains(&last) {
        return true;
    }
    let begins_with_letter = |part: &&str| part.starts_with(|c: char| c.is_ascii_alphabetic());
    let numbered = first.contains(|c: char| c.is_ascii_digit());
    POSSIBLE.contains(&last)
        && labels.iter().all(begins_with_letter)
        && (first.contains('-') || numbered && labels.len() > 2)
}

/// Returns whether a name is that of a public site, or below one.
pub(super) fn is_public(name: &str) -> bool {
    PUBLIC.iter().any(|place| {
        name.strip_suffix(place).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_differ_from_program_names() {
        for host in [
            "node-17.example.com",
            "gpu01.cluster.local",
            "pypi.corp",
            "mirror.bank.com.cn",
            "node-17.local",
            "job-0.ns.svc.cluster.local",
            "bucket.obs.cn-north-4.myhuaweicloud.com",
        ] {
            assert_eq!(find(host.as_bytes()), [(0, host.len())], "{host}");
            let text = format!("x={host}: refused");
            assert_eq!(find(text.as_bytes()), [(2, 2 + host.len())], "{text}");
        }
        for other in [
            "torch.nn.functional",
            "threading.local",
            "self.net",
            "model.layer1.net",
            "scipy.io",
            "torch2.5.dev",
            "vllm-0.9.1.local",
            "libhccl.so.1",
            "torch_npu.example.com_x",
            "25.3.0",
            "x.com(1)",
            "https://www.hiascend.com/document",
            "https://pypi.org/simple",
            "plog-1_20260101.log",
        ] {
            assert_eq!(find(other.as_bytes()), [], "{other}");
        }
    }
}
