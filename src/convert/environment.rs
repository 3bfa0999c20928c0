//! Environment variables of CUDA and NCCL: the name that the Ascend stack reads instead, and the
//! value in that variable's own grammar. Shared by all kinds of files.

use super::rules::{Action, Match, Place, Rule, Rules};
use super::site::{Certainty, Decision, Planner};
use data::EnvVars;

/// A message about a variable in addition to the one of its rule.
#[derive(Debug, Clone)]
pub struct Issue {
    /// The rule whose text is reported.
    pub rule: &'static Rule,
    /// [`Decision::Flagged`] or [`Decision::Noted`].
    pub decision: Decision,
    /// The value, or the part of it that the message is about.
    pub detail: Option<String>,
}

/// The decision about a variable and its value.
#[derive(Debug, Clone)]
pub struct EnvDecision {
    /// The rule of the variable.
    pub rule: &'static Rule,
    /// The name to write instead; `None`: the name and the value stay.
    pub new_name: Option<&'static str>,
    /// The value to write instead; `None`: the value stays.
    pub new_value: Option<String>,
    /// Messages that the user must know or act on.
    pub issues: Vec<Issue>,
}

impl EnvDecision {
    /// Enters this decision: `name` is the range of the variable's name, and `place` the range to
    /// report. The caller writes the value, because only the caller knows its quoting.
    pub fn enter(
        &self,
        planner: &mut Planner<'_>,
        name: std::ops::Range<usize>,
        place: &std::ops::Range<usize>,
    ) {
        if let Some(new) = self.new_name {
            planner.change(self.rule, name, new, Certainty::Exact);
        }
        for issue in &self.issues {
            match issue.decision {
                Decision::Noted => planner.note(issue.rule, place.clone(), issue.detail.clone()),
                _ => planner.flag(issue.rule, place.clone(), issue.detail.clone()),
            }
        }
    }
}

/// The value in the grammar of the new variable.
enum Value {
    /// The same text has the same meaning.
    Same,
    /// It must be written as this text.
    Written(String),
    /// The same text, with a part that needs review.
    Doubtful(Place, String),
    /// It has no equivalent; the variable stays unchanged and needs manual work.
    Impossible(Place, String),
}

/// The decision about the variable `name` if it is set to `value`, or if it is read, removed or set
/// to an unknown value (`None`). Returns `None` for a variable that stays.
pub fn assignment(name: &str, value: Option<&str>) -> Option<EnvDecision> {
    let rules = Rules::builtin();
    if let "LD_LIBRARY_PATH" | "LIBRARY_PATH" | "PATH" | "CPATH" | "XLA_FLAGS" = name {
        return by_content(name, value?);
    }
    let rule = rules.find(Match::Env, name)?;
    // A rule for certain values does not apply to reads and unknown values.
    if rule.values.is_some() && !value.is_some_and(|value| rule.speaks_of(value)) {
        return None;
    }
    let mut decision = EnvDecision { rule, new_name: None, new_value: None, issues: Vec::new() };
    let flag = |rule, detail| Issue { rule, decision: Decision::Flagged, detail };
    match rule.action {
        Action::Keep => return None,
        Action::Note => {
            let issue = Issue { rule, decision: Decision::Noted, detail: None };
            decision.issues.push(issue);
        }
        Action::Rewrite => {
            decision.new_name = rule.to;
            match value.map_or(Value::Same, |value| in_new_grammar(name, value)) {
                Value::Same => {}
                Value::Written(text) => decision.new_value = Some(text),
                Value::Doubtful(site, detail) => {
                    decision.issues.push(flag(rules.site(site), Some(detail)));
                }
                Value::Impossible(site, detail) => {
                    decision.new_name = None;
                    decision.issues.push(flag(rules.site(site), Some(detail)));
                }
            }
        }
        Action::Insert | Action::Remove | Action::Flag => {
            if let Some((new_name, text)) = value.and_then(|value| in_new_unit(name, value)) {
                decision.new_name = Some(new_name);
                decision.new_value = Some(text);
            } else {
                decision.issues.push(flag(rule, value.map(|value| format!("{name}={value}"))));
            }
        }
    }
    Some(decision)
}

/// Search paths and flags: their names stay, but their content may refer to CUDA.
fn by_content(name: &str, value: &str) -> Option<EnvDecision> {
    let (site, found) = if name == "XLA_FLAGS" {
        (Place::XlaFlags, value.split_ascii_whitespace().find(|flag| flag.contains("xla_gpu")))
    } else {
        (Place::LdLibraryPathCuda, value.split(':').find(|path| of_cuda(path)))
    };
    let rule = Rules::builtin().site(site);
    let issue = Issue { rule, decision: Decision::Flagged, detail: Some(found?.to_owned()) };
    Some(EnvDecision { rule, new_name: None, new_value: None, issues: vec![issue] })
}

/// Whether a directory is one of a CUDA toolkit: `/usr/local/cuda-12.1/lib64`,
/// `$CUDA_HOME/bin`.
fn of_cuda(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.trim_matches(['$', '{', '}', '"', '\'']);
        let version = part.strip_prefix("cuda").map(|rest| rest.trim_start_matches('-'));
        version.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            || matches!(part, "CUDA_HOME" | "CUDA_PATH" | "cudnn" | "nccl")
    })
}

fn in_new_grammar(name: &str, value: &str) -> Value {
    match name {
        "CUDA_VISIBLE_DEVICES" => devices(value),
        "PYTORCH_CUDA_ALLOC_CONF" => allocator(value),
        // 4.096 us * 2^n; up to 20 on every product.
        "NCCL_IB_TIMEOUT" => number(name, value, |n| (5..=20).contains(&n)),
        "NCCL_IB_RETRY_CNT" => number(name, value, |n| (1..=7).contains(&n)),
        "NCCL_IB_TC" => number(name, value, |n| n <= 255 && n % 4 == 0),
        "NCCL_IB_SL" => number(name, value, |n| n <= 7),
        "NCCL_IB_QPS_PER_CONNECTION" => number(name, value, |n| (1..=32).contains(&n)),
        "NCCL_SOCKET_FAMILY" if !matches!(value, "AF_INET" | "AF_INET6") => {
            Value::Impossible(Place::EnvValue, format!("{name}={value}"))
        }
        "CUDA_LAUNCH_BLOCKING"
        | "TORCH_NCCL_BLOCKING_WAIT"
        | "NCCL_BLOCKING_WAIT"
        | "TORCH_NCCL_ASYNC_ERROR_HANDLING"
        | "NCCL_ASYNC_ERROR_HANDLING"
        | "TORCH_NCCL_DESYNC_DEBUG" => number(name, value, |n| n <= 1),
        _ => Value::Same,
    }
}

/// A whole number that HCCL accepts, or not.
fn number(name: &str, value: &str, accepted: impl Fn(u32) -> bool) -> Value {
    let bare = value.trim();
    match bare.parse::<u32>() {
        Ok(number) if accepted(number) && bare == value => Value::Same,
        Ok(number) if accepted(number) => Value::Written(bare.to_owned()),
        _ => Value::Impossible(Place::EnvValue, format!("{name}={value}")),
    }
}

/// Digits and commas only: any other character ends the list (a leading blank hides all devices),
/// and the numbers must ascend, or no device is visible.
fn devices(value: &str) -> Value {
    let tight: String = value.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    if !tight.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'-')) {
        return Value::Impossible(Place::EnvDeviceIds, value.to_owned());
    }
    let mut last: Option<u32> = None;
    // In both grammars the list ends at the first entry that is not a number.
    for number in tight.split(',').map_while(|part| part.parse::<u32>().ok()) {
        if last.is_some_and(|last| number <= last) {
            return Value::Doubtful(Place::EnvDeviceOrder, tight);
        }
        last = Some(number);
    }
    // A blank inside a number ends the list in CUDA's grammar; removing it here would join two
    // numbers.
    if value.split(',').any(|part| part.trim().contains(|c: char| c.is_ascii_whitespace())) {
        return Value::Impossible(Place::EnvDeviceIds, value.to_owned());
    }
    if tight == value { Value::Same } else { Value::Written(tight) }
}

/// `key:value` with commas between; commas in brackets belong to the value.
fn allocator(value: &str) -> Value {
    let known = &EnvVars::builtin().alloc;
    let mut depth = 0usize;
    let mut keys = Vec::new();
    for option in value.split(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    }) {
        let key = option.split(':').next().unwrap_or_default().trim();
        if key.is_empty() {
            continue;
        }
        if !known.switches.iter().chain(&known.other).any(|name| name == key) {
            return Value::Impossible(Place::EnvAllocKey, option.trim().to_owned());
        }
        let setting = option.split_once(':').map_or("", |(_, setting)| setting).trim();
        keys.push((key, setting));
    }
    let expandable = keys.iter().any(|(key, setting)| {
        *key == "expandable_segments" && setting.eq_ignore_ascii_case("true")
    });
    let split = keys
        .iter()
        .find(|(key, _)| matches!(*key, "max_split_size_mb" | "garbage_collection_threshold"));
    match split {
        Some((key, _)) if expandable => {
            Value::Doubtful(Place::EnvAllocClash, format!("expandable_segments, {key}"))
        }
        _ => Value::Same,
    }
}

/// The variable with the same meaning in another unit, and the value in that unit, if the value
/// is a whole number of them.
fn in_new_unit(name: &str, value: &str) -> Option<(&'static str, String)> {
    const MB: u64 = 1 << 20;
    match name {
        "NCCL_BUFFSIZE" => {
            let bytes: u64 = value.trim().parse().ok()?;
            let whole = bytes >= MB && bytes.is_multiple_of(MB);
            whole.then(|| ("HCCL_BUFFSIZE", (bytes / MB).to_string()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The written value, and the IDs of the flagged rules.
    fn decided(name: &str, value: &str) -> (String, Vec<&'static str>) {
        let Some(decision) = assignment(name, Some(value)) else {
            return (format!("{name}={value}"), Vec::new());
        };
        let written = format!(
            "{}={}",
            decision.new_name.unwrap_or(name),
            decision.new_value.as_deref().unwrap_or(value)
        );
        (written, decision.issues.iter().map(|issue| issue.rule.name).collect())
    }

    #[test]
    fn values_follow_the_grammar_of_the_new_variable() {
        for (name, value, written) in [
            ("CUDA_VISIBLE_DEVICES", "0,1", "ASCEND_RT_VISIBLE_DEVICES=0,1"),
            ("CUDA_VISIBLE_DEVICES", "0, 1", "ASCEND_RT_VISIBLE_DEVICES=0,1"),
            ("CUDA_VISIBLE_DEVICES", " 2", "ASCEND_RT_VISIBLE_DEVICES=2"),
            ("CUDA_VISIBLE_DEVICES", "", "ASCEND_RT_VISIBLE_DEVICES="),
            ("CUDA_VISIBLE_DEVICES", "-1", "ASCEND_RT_VISIBLE_DEVICES=-1"),
            ("CUDA_LAUNCH_BLOCKING", "1", "ASCEND_LAUNCH_BLOCKING=1"),
            (
                "PYTORCH_CUDA_ALLOC_CONF",
                "max_split_size_mb:128,roundup_power2_divisions:[256:1,>:8]",
                "PYTORCH_NPU_ALLOC_CONF=max_split_size_mb:128,roundup_power2_divisions:[256:1,>:8]",
            ),
            ("NCCL_BUFFSIZE", "4194304", "HCCL_BUFFSIZE=4"),
            ("NCCL_IB_TIMEOUT", "20", "HCCL_RDMA_TIMEOUT=20"),
            ("NCCL_IB_TC", "136", "HCCL_RDMA_TC=136"),
            ("NCCL_SOCKET_IFNAME", "^docker,lo", "HCCL_SOCKET_IFNAME=^docker,lo"),
            ("NCCL_ASYNC_ERROR_HANDLING", "1", "TORCH_HCCL_ASYNC_ERROR_HANDLING=1"),
        ] {
            assert_eq!(decided(name, value), (written.to_owned(), vec![]), "{name}={value}");
        }
    }

    #[test]
    fn what_has_no_such_value_is_flagged() {
        for (name, value, written, rule) in [
            ("CUDA_VISIBLE_DEVICES", "3,1", "ASCEND_RT_VISIBLE_DEVICES=3,1", "env-device-order"),
            ("CUDA_VISIBLE_DEVICES", "GPU-8932f937", "CUDA_VISIBLE_DEVICES=", "env-device-ids"),
            ("CUDA_VISIBLE_DEVICES", "MIG-1/2/3", "CUDA_VISIBLE_DEVICES=", "env-device-ids"),
            ("CUDA_VISIBLE_DEVICES", "0 1", "CUDA_VISIBLE_DEVICES=", "env-device-ids"),
            (
                "PYTORCH_CUDA_ALLOC_CONF",
                "backend:cudaMallocAsync",
                "PYTORCH_CUDA_ALLOC_CONF=",
                "env-alloc-key",
            ),
            (
                "PYTORCH_CUDA_ALLOC_CONF",
                "max_split_size_mb:64,expandable_segments:True",
                "PYTORCH_NPU_ALLOC_CONF=",
                "env-alloc-clash",
            ),
            ("NCCL_BUFFSIZE", "1000", "NCCL_BUFFSIZE=", "NCCL_BUFFSIZE"),
            ("NCCL_IB_TIMEOUT", "23", "NCCL_IB_TIMEOUT=", "env-value"),
            ("NCCL_IB_TC", "106", "NCCL_IB_TC=", "env-value"),
            ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "3", "TORCH_NCCL_ASYNC", "env-value"),
            ("NCCL_DEBUG", "INFO", "NCCL_DEBUG=INFO", "NCCL_DEBUG"),
            ("CUDNN_LOGINFO_DBG", "1", "CUDNN_LOGINFO_DBG=1", "CUDNN_*"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda-12.1/lib64:$X", "LD_L", "ld-library-path-cuda"),
            ("PATH", "$CUDA_HOME/bin:$PATH", "PATH=", "ld-library-path-cuda"),
        ] {
            let (text, rules) = decided(name, value);
            assert!(text.starts_with(written), "{name}={value}: {text}");
            assert_eq!(rules, [rule], "{name}={value}");
        }
    }

    #[test]
    fn what_is_not_of_cuda_stays() {
        for (name, value) in [
            ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
            ("ASCEND_RT_VISIBLE_DEVICES", "0, 1"),
            ("HCCL_BUFFSIZE", "4194304"),
            ("PATH", "/opt/barracuda/bin:$PATH"),
            ("MASTER_PORT", "29500"),
        ] {
            assert!(assignment(name, Some(value)).is_none(), "{name}");
        }
    }

    #[test]
    fn an_unknown_value_lets_only_the_name_change() {
        let known = assignment("CUDA_VISIBLE_DEVICES", None).unwrap();
        assert_eq!(known.new_name, Some("ASCEND_RT_VISIBLE_DEVICES"));
        assert!(known.issues.is_empty());
        let unit = assignment("NCCL_BUFFSIZE", None).unwrap();
        assert_eq!((unit.new_name, unit.issues.len()), (None, 1));
        assert!(assignment("LD_LIBRARY_PATH", None).is_none());
    }

    proptest! {
        #[test]
        fn a_second_run_decides_nothing(
            name in proptest::sample::select(vec![
                "CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "NCCL_BUFFSIZE", "NCCL_IB_TC",
            ]),
            value in "[0-9, :a-zM\\[\\]-]{0,16}",
        ) {
            let decision = assignment(name, Some(&value)).unwrap();
            prop_assert!(decision.new_name.is_some() || !decision.issues.is_empty());
            if let Some(new) = decision.new_name {
                let value = decision.new_value.unwrap_or(value);
                prop_assert!(assignment(new, Some(&value)).is_none());
            }
        }
    }
}
