//! The environment variables that may be read. All others are never read, recorded or shown:
//! reports are attached to public issues, and an environment contains secrets.

use std::collections::BTreeMap;

const NAMES: &[&str] = &[
    "PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONNOUSERSITE",
    "PYTHONUSERBASE",
    "CMAKE_PREFIX_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_VERSION",
    "HOME",
    "LOGNAME",
    "USER",
    "PWD",
    "SHELL",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "XDG_CONFIG_HOME",
    "TOOLCHAIN_HOME",
    "TBE_IMPL_PATH",
    "DDK_PATH",
    "NPU_HOST_LIB",
    "SOC_VERSION",
    "TASK_QUEUE_ENABLE",
    "COMBINED_ENABLE",
    "CPU_AFFINITY_CONF",
    "INF_NAN_MODE_ENABLE",
    "INF_NAN_MODE_FORCE_DISABLE",
    "STREAMS_PER_DEVICE",
    "ACL_OP_INIT_MODE",
    "OOM_SNAPSHOT_ENABLE",
    "MULTI_STREAM_MEMORY_REUSE",
    "AUTO_TUNE_ENABLE",
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "GLOO_SOCKET_IFNAME",
    "TP_SOCKET_IFNAME",
    "NCCL_SOCKET_IFNAME",
    "OMP_NUM_THREADS",
    "DEVICE_ID",
    "RANK_ID",
    "RANK_SIZE",
    "RANK_TABLE_FILE",
    "RANKTABLEFILE",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_CONFIG_FILE",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "PROFILING_MODE",
    "PROFILING_OPTIONS",
    "DUMP_GE_GRAPH",
    "DUMP_GRAPH_LEVEL",
    "GE_USE_STATIC_MEMORY",
    "MAX_COMPILE_CORE_NUMBER",
    "container",
    "KUBERNETES_SERVICE_PORT",
];

const PREFIXES: &[&str] = &[
    "ASCEND",
    "HCCL_",
    "HCOM_",
    "TORCH_NPU_",
    "PYTORCH_NPU_",
    "TORCH_HCCL_",
    "ATB_",
    "ASDOPS_",
    "LCCL_",
    "LCAL_",
    "MINDIE_",
    "VLLM_",
    "MS_",
    "MINDSPORE_",
    "GLOG_",
    "TRITON_",
    "NPU_",
    "ACL_",
    "ACLNN_",
    "CANN_",
    "TE_",
    "TBE_",
    "MOONCAKE_",
    "OPBASE_",
    "SHMEM_",
    "HCCN_",
];

const SECRETS: &[&str] =
    &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE"];

/// Returns whether a variable of this name may be read, recorded and shown.
pub fn allowed(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    !SECRETS.iter().any(|secret| upper.contains(secret))
        && (NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Keeps the allowed variables, without user names and passwords in URLs.
pub fn filter(vars: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    vars.into_iter()
        .filter(|(name, _)| allowed(name))
        .map(|(name, value)| {
            let value = redact_urls(&value);
            (name, value)
        })
        .collect()
}

/// Replaces the secrets in every URL of `text` by `***`: the user info
/// (`https://user:secret@host`), and values of the query or fragment with names of secrets
/// (`?access_token=secret`).
pub fn redact_urls(text: &str) -> String {
    redact_user_info(&redact_queries(text))
}

/// Parts of the names of secret values.
const SECRET_VALUES: &[&str] =
    &["token", "key", "secret", "pass", "pwd", "cred", "auth", "sig", "session", "cookie"];

/// Returns whether a URL ends before this character. Most characters that are invalid in URLs are
/// treated as part of it, because a typed password may contain them.
fn ends(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'')
}

fn redact_queries(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(ends) {
        let Some(url) = word.find("://") else {
            out.push_str(word);
            continue;
        };
        out.push_str(&word[..url]);
        for part in word[url..].split_inclusive(['?', '&', ';', '#']) {
            let secret = part.split_once('=').filter(|(name, _)| {
                let name = name.to_ascii_lowercase();
                SECRET_VALUES.iter().any(|word| name.contains(word))
            });
            // The text before the query is a path, which may contain `=` too.
            match secret.filter(|(name, _)| !name.contains('/')) {
                Some((name, value)) => {
                    let tail = value.len()
                        - value
                            .trim_end_matches(|c: char| {
                                ends(c) || matches!(c, '?' | '&' | ';' | '#')
                            })
                            .len();
                    out.push_str(name);
                    out.push_str("=***");
                    out.push_str(&value[value.len() - tail..]);
                }
                None => out.push_str(part),
            }
        }
    }
    out
}

fn redact_user_info(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let end =
            tail.find(|c: char| ends(c) || matches!(c, '/' | '?' | '#')).unwrap_or(tail.len());
        let authority = &tail[..end];
        match authority.rfind('@') {
            Some(user) => {
                out.push_str("***");
                out.push_str(&authority[user..]);
            }
            None => out.push_str(authority),
        }
        rest = &tail[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_pass() {
        assert!(allowed("ASCEND_HOME_PATH") && allowed("VLLM_PLUGINS") && allowed("PATH"));
        assert!(!allowed("AWS_SECRET_ACCESS_KEY") && !allowed("VLLM_API_KEY") && !allowed("FOO"));
    }

    #[test]
    fn user_info_is_taken_out() {
        assert_eq!(
            redact_urls("https://joe:pw@host/simple http://a@b, https://plain/x@y"),
            "https://***@host/simple http://***@b, https://plain/x@y"
        );
        assert_eq!(redact_urls("a://b@c@d/e"), "a://***@d/e");
        assert_eq!(redact_urls("https://joe:p,<w>@host/x"), "https://***@host/x");
    }

    #[test]
    fn secrets_in_queries_are_taken_out() {
        for (text, wanted) in [
            ("https://h/simple?token=abc", "https://h/simple?token=***"),
            ("https://h/s?a=1&access_token=x,y&b=2 z", "https://h/s?a=1&access_token=***&b=2 z"),
            (
                "\"https://h/?X-Amz-Signature=1f#Key=3\"\n",
                "\"https://h/?X-Amz-Signature=***#Key=***\"\n",
            ),
            ("u=https://a@h/?api_key=q\tx", "u=https://***@h/?api_key=***\tx"),
            ("https://h/monkey=1/x?page=2", "https://h/monkey=1/x?page=2"),
            ("token=kept, it is no URL", "token=kept, it is no URL"),
        ] {
            assert_eq!(redact_urls(text), wanted);
        }
    }

    proptest::proptest! {
        /// Found by fuzzing: the two steps must agree on the end of a URL.
        #[test]
        fn redaction_is_idempotent(
            text in "(://|[a@&?#;/=,<> \"'\\x00:]|sig|token=){0,24}",
        ) {
            let once = redact_urls(&text);
            proptest::prop_assert_eq!(&once, &redact_urls(&once));
        }
    }

    #[test]
    fn a_nul_does_not_divide_a_url() {
        assert_eq!(redact_urls("x://a\0b@h?sig=1"), "x://***@h?sig=***");
    }

    #[test]
    fn most_known_names_are_collected() {
        let missed = data::EnvVars::builtin().all().filter(|name| !allowed(name)).count();
        assert!(missed < 25, "{missed} names are known but never collected");
    }
}
