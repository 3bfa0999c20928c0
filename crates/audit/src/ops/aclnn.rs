//! The CANN aclnn functions that kernels call, with their documented processors and data types, and
//! their use of AI CPU.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use base::chip::ChipFamily;

use super::rows::rows;

/// The CANN documentation of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// The CANN release of the documentation.
    pub release: &'static str,
    /// The documented processors, as [`processor`] names them.
    pub processors: Vec<&'static str>,
    /// The tensor arguments with their data types, by the short names of [`short`].
    pub arguments: Vec<(&'static str, Vec<&'static str>)>,
}

/// The condition under which a kernel runs on AI CPU, the scalar cores of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AiCpu {
    /// Always.
    Only,
    /// For data types other than these.
    Except(Vec<&'static str>),
}

fn table(name: &str) -> &'static str {
    data::text(&format!("ops/{name}.tsv"))
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    rows(table("aclnn")).map(|row| (row[0], row[1].split(' ').collect())).collect()
});

static DOCS: LazyLock<HashMap<&'static str, Doc>> = LazyLock::new(|| {
    let words = |cell: &'static str, by: char| -> Vec<&'static str> {
        if cell == "-" { Vec::new() } else { cell.split(by).collect() }
    };
    let rows = rows(table("aclnn_docs")).map(|row| {
        let arguments = words(row[3], ' ').into_iter().filter_map(|argument| {
            let (name, types) = argument.split_once('=')?;
            Some((name, types.split(',').collect()))
        });
        let arguments = arguments.collect();
        (row[0], Doc { release: row[1], processors: words(row[2], ' '), arguments })
    });
    rows.collect()
});

static AI_CPU: LazyLock<HashMap<&'static str, AiCpu>> = LazyLock::new(|| {
    let rows = rows(table("aicpu")).map(|row| {
        let when = match row[1] {
            "only" => AiCpu::Only,
            types => AiCpu::Except(types.split(',').collect()),
        };
        (row[0], when)
    });
    rows.collect()
});

/// The functions in the headers of the only CANN that was read.
static EXPORTED: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| rows(table("aclnn_8.1.RC1")).map(|row| row[0]).collect());

/// Returns the functions that the kernel of an aten overload may call. The choice may depend on the
/// arguments.
pub fn functions(overload: &str) -> &'static [&'static str] {
    FUNCTIONS.get(overload).map_or(&[], Vec::as_slice)
}

/// Returns the documentation of a function.
pub fn doc(function: &str) -> Option<&'static Doc> {
    DOCS.get(function)
}

/// Returns the condition under which the kernel of an aten overload runs on AI CPU.
pub fn ai_cpu(overload: &str) -> Option<&'static AiCpu> {
    AI_CPU.get(overload)
}

/// Returns whether CANN 8.1.RC1 has a function. No earlier release is known to have a function that
/// 8.1.RC1 does not have.
pub fn in_8_1_rc1(function: &str) -> bool {
    EXPORTED.contains(function)
}

/// Returns the name of a chip in the documents.
pub fn processor(chip: ChipFamily) -> Option<&'static str> {
    Some(match chip {
        ChipFamily::A910 => "910",
        ChipFamily::A310P => "310P",
        ChipFamily::A310B => "310B",
        ChipFamily::A910B => "A2",
        ChipFamily::A3 => "A3",
        ChipFamily::A950 => "950",
        ChipFamily::A310 => return None,
    })
}

/// Returns the short name of a PyTorch data type in the documents: `fp32` for `float32`.
pub fn short(dtype: &str) -> &str {
    match dtype {
        "float16" | "half" => "fp16",
        "float32" | "float" => "fp32",
        "float64" | "double" => "fp64",
        "bfloat16" => "bf16",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_with_their_limits() {
        assert_eq!(functions("abs"), ["aclnnAbs"]);
        let doc = doc("aclnnAcos").unwrap();
        assert_eq!(doc.processors, ["910", "310P", "A2", "A3"]);
        let input = doc.arguments.iter().find(|(name, _)| *name == "input").unwrap();
        assert!(input.1.contains(&"fp64") && !input.1.contains(&"bf16"));
        assert_eq!(ai_cpu("inverse"), Some(&AiCpu::Only));
        assert!(matches!(ai_cpu("exp"), Some(AiCpu::Except(types)) if !types.contains(&"fp64")));
        assert!(in_8_1_rc1("aclnnAbs") && !in_8_1_rc1("aclnnNoSuch"));
        assert_eq!(functions("no_such"), [""; 0]);
    }
}
