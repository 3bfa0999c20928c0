//! `aclnn_docs.tsv`: the documentation of aclnn functions in the CANN operator repositories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::{Result, ensure};
use regex::Regex;

use super::{html_table, kernels_cpp, unnamed};
use crate::context::{Context, release_version};
use crate::extract::Content;

/// CANN operator repositories.
pub(super) const SOURCES: [&str; 4] =
    ["hicann-ops-math", "hicann-ops-nn", "hicann-ops-transformer", "hicann-ops-cv"];
const FILES: &str = r"/aclnn[A-Z][^/]*\.md$";
/// Processors in the order of the table.
const SOCS: [&str; 6] = ["910", "310P", "310B", "A2", "A3", "950"];
/// Data types in the documents and in the table.
const DTYPES: [(&str, &str); 26] = [
    ("FLOAT16", "fp16"),
    ("FLOAT32", "fp32"),
    ("FLOAT64", "fp64"),
    ("FLOAT8_E4M3FN", "fp8e4m3"),
    ("FLOAT8_E5M2", "fp8e5m2"),
    ("FLOAT8_E8M0", "fp8e8m0"),
    ("FLOAT4_E2M1", "float4_e2m1"),
    ("FLOAT4_E1M2", "float4_e1m2"),
    ("FLOAT", "fp32"),
    ("DOUBLE", "fp64"),
    ("BFLOAT16", "bf16"),
    ("BF16", "bf16"),
    ("UINT8", "uint8"),
    ("INT8", "int8"),
    ("UINT16", "uint16"),
    ("INT16", "int16"),
    ("UINT32", "uint32"),
    ("INT32", "int32"),
    ("UINT64", "uint64"),
    ("INT64", "int64"),
    ("INT4", "int4"),
    ("BOOL", "bool"),
    ("COMPLEX32", "complex32"),
    ("COMPLEX64", "complex64"),
    ("COMPLEX128", "complex128"),
    ("HIFLOAT8", "hif8"),
];

/// The documentation of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Document {
    socs: BTreeMap<String, bool>,
    /// Data types by argument, in the order of the document.
    arguments: Vec<(String, Vec<&'static str>)>,
}

/// Returns the processor of a product.
fn soc(product: &str) -> String {
    const WORDS: [(&str, &str); 9] = [
        ("950", "950"),
        ("A3", "A3"),
        ("200I/500", "310B"),
        ("310B", "310B"),
        ("A2", "A2"),
        ("推理系列加速卡", "310P"),
        ("Atlas 推理系列", "310P"),
        ("Atlas 训练系列", "910"),
        ("200/300/500", "310"),
    ];
    let known = WORDS.iter().find(|(word, _)| product.contains(word));
    known.map_or_else(|| product.chars().take(20).collect(), |(_, soc)| (*soc).to_owned())
}

/// Returns the data types in a text, each once. Types are complete words: `FLOAT` is not in
/// `FLOAT16`.
fn dtypes(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')) {
        if let Some((_, name)) = DTYPES.iter().find(|(known, _)| *known == word)
            && !found.contains(name)
        {
            found.push(*name);
        }
    }
    found
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of documents")
}

/// Returns the processors listed in a section about products.
fn products(section: &str) -> BTreeMap<String, bool> {
    static MARK: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"<term>([^<]+)</term>\s*(?:</td>)?\s*[：:|]?\s*(?:<td[^>]*>)?\s*\|?\s*(不支持|支持|√|×|✔|✘|x)",
        )
    });
    static TERM: LazyLock<Regex> = LazyLock::new(|| pattern("<term>([^<]+)</term>"));
    let yes = |mark: &str| ["支持", "√", "✔"].contains(&mark);
    let mut found = BTreeMap::new();
    for mark in MARK.captures_iter(section) {
        found.insert(soc(&mark[1]), yes(&mark[2]));
    }
    let head: String = section.chars().take(20).collect();
    if found.is_empty() && head.contains("支持的产品型号") {
        found.extend(TERM.captures_iter(section).map(|term| (soc(&term[1]), true)));
    }
    for line in section.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if cells.len() >= 2 && (cells[0].contains("Atlas") || cells[0].contains("Ascend")) {
            found.entry(soc(cells[0])).or_insert_with(|| yes(cells[1]));
        }
    }
    found
}

/// Returns the arguments with their data types in tables.
fn tables(text: &str) -> Vec<(String, Vec<&'static str>)> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z_]\w*"));
    let mut found = Vec::new();
    for table in html_table::tables(text) {
        let Some((heads, rows)) = table.split_first() else { continue };
        if !heads.first().is_some_and(|head| head.contains("参数")) {
            continue;
        }
        let Some(column) = heads.iter().position(|head| head.contains("数据类型")) else {
            continue;
        };
        for cells in rows {
            let (Some(first), Some(types)) = (cells.first(), cells.get(column)) else { continue };
            let types = dtypes(types);
            if let Some(name) = NAME.find(first).filter(|_| !types.is_empty()) {
                found.push((name.as_str().to_owned(), types));
            }
        }
    }
    found
}

/// Returns the arguments with their data types in lists: `- self（aclTensor*，计算输入）：…数据类型支持FLOAT`.
fn lists(text: &str) -> Vec<(String, Vec<&'static str>)> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?m)^\s*[-*] (?:\*\*)?([A-Za-z_]\w*)(?:\*\*)?\s*[（(]\s*(?:const )?acl(?:Tensor|Scalar|TensorList)[^）)]*[）)]\s*[：:]",
        )
    });
    static NEXT: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?m)^\s*[-*] (?:\*\*)?[A-Za-z_]\w*(?:\*\*)?\s*[（(]|^##"));
    static TYPES: LazyLock<Regex> = LazyLock::new(|| pattern(r"数据类型(?:仅)?支持([^。；\n]*)"));
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(item) = ITEM.captures_at(text, at) {
        let Some(whole) = item.get(0) else { break };
        let end = NEXT.find_at(text, whole.end()).map_or(text.len(), |next| next.start());
        let types = TYPES.captures(&text[whole.end()..end]).map(|types| dtypes(&types[1]));
        if let Some(types) = types.filter(|types| !types.is_empty()) {
            found.push((item[1].to_owned(), types));
        }
        at = end.max(whole.end());
    }
    found
}

fn document(text: &str) -> Document {
    let mut document = Document::default();
    for section in text.split("\n## ") {
        let head: String = section.chars().take(20).collect();
        if head.contains("产品支持情况") || head.contains("支持的产品型号") {
            document.socs.extend(products(section));
        }
    }
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let (rows, items) = (tables(text), lists(text));
    let in_table = rows.len();
    for (at, (name, types)) in rows.into_iter().chain(items).enumerate() {
        match known.get(&name) {
            // The last table about an argument counts. A list counts only if there is no table.
            Some(&index) if at < in_table => document.arguments[index].1 = types,
            Some(_) => {}
            None => {
                known.insert(name.clone(), document.arguments.len());
                document.arguments.push((name, types));
            }
        }
    }
    document
}

/// Returns the functions that a document describes.
fn names(text: &str) -> BTreeSet<String> {
    static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^#+\s*(aclnn\w+)"));
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"aclnnStatus\s+(aclnn\w+?)GetWorkspaceSize\s*\("));
    static TITLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^# (.+)$"));
    static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"aclnn\w+"));
    let mut found: BTreeSet<String> =
        HEADING.captures(text).map(|heading| heading[1].to_owned()).into_iter().collect();
    found.extend(FUNCTION.captures_iter(text).map(|function| function[1].to_owned()));
    if let Some(title) = TITLE.captures(text) {
        let title = title[1].replace('\\', "");
        found.extend(NAME.find_iter(&title).map(|name| name.as_str().to_owned()));
    }
    found.into_iter().map(|name| name.replace("GetWorkspaceSize", "")).collect()
}

/// Extracts `aclnn_docs.tsv`.
pub(super) fn extract(context: &Context) -> Result<Content> {
    let used: BTreeSet<String> = kernels_cpp::calls(context)?.values().flatten().cloned().collect();
    let mut releases: BTreeMap<String, BTreeMap<String, Document>> = BTreeMap::new();
    let mut places = Vec::new();
    for source in SOURCES {
        for tree in context.releases(source)? {
            if tree.label.contains("-beta") {
                continue;
            }
            let files: Vec<&str> = tree.find(FILES)?;
            let files = files.into_iter().filter(|path| !path.starts_with("experimental/"));
            let documents = releases.entry(tree.label.clone()).or_default();
            for path in files {
                let text = String::from_utf8_lossy(&tree.bytes(path)?).replace("\r\n", "\n");
                let found = document(&text);
                for name in names(&text) {
                    let more = documents
                        .get(&name)
                        .is_none_or(|known| known.arguments.len() < found.arguments.len());
                    if more {
                        documents.insert(name, found.clone());
                    }
                }
            }
            places.push(format!(
                "source {}: {}:**/docs/aclnn*.md ({})",
                places.len(),
                tree.origin(),
                tree.label
            ));
        }
    }
    for (release, documents) in &releases {
        ensure!(documents.len() >= 700, "{} documents of {release}, expected 700", documents.len());
    }
    // The newest release first, then the main line, then older ones.
    let mut order: Vec<&String> = releases.keys().filter(|name| *name != "master").collect();
    order.sort_by_key(|name| std::cmp::Reverse(release_version(name)));
    let main = releases.keys().find(|name| *name == "master");
    order.splice(order.len().min(1)..order.len().min(1), main);
    let mut rows = Vec::new();
    for name in used {
        let found = order.iter().find_map(|release| {
            let document = releases.get(*release)?.get(&name)?;
            let stated = !document.socs.is_empty() || !document.arguments.is_empty();
            stated.then_some((release, document))
        });
        let Some((release, document)) = found else { continue };
        let socs: Vec<&str> =
            SOCS.into_iter().filter(|soc| document.socs.get(*soc) == Some(&true)).collect();
        let arguments = document.arguments.iter();
        let arguments: Vec<String> =
            arguments.map(|(name, types)| format!("{name}={}", types.join(","))).collect();
        let joined = |words: String| if words.is_empty() { "-".to_owned() } else { words };
        let cells = [joined(socs.join(" ")), joined(arguments.join(" "))];
        rows.push([name, (**release).clone()].into_iter().chain(cells).collect());
    }
    let remarks = format!(
        "What the documents of CANN state about an aclnn function: the processors that have it, and the\n\
         data types of each tensor argument.\n\
         {}\n\
         Columns: function, release of the document, processors, ARGUMENT=TYPE,TYPE… for each tensor.",
        places.join("\n")
    );
    Ok(unnamed(&["function", "release", "processors", "types"], &remarks, rows).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists_are_read() {
        let text = "# aclnnAbs&aclnnInplaceAbs\n\n## 产品支持情况\n\n|产品|是否支持|\n|:--|:-:|\n|<term>Atlas A3 训练系列产品/Atlas A3 推理系列产品</term>|√|\n|<term>Atlas 推理系列产品</term>|×|\n\n## 参数\n<table><thead><tr><th>参数名</th><th>说明</th><th>数据类型</th></tr></thead>\n<tr><td>self（aclTensor*）</td><td>x</td><td>FLOAT16、BFLOAT16<br>FLOAT、DOUBLE</td></tr></table>\n\n- **out**（aclTensor*，计算输出）：数据类型支持INT8、FLOAT8_E5M2。\n- n（int64_t）：个数\n- **self**（aclTensor*）：数据类型支持BOOL。\naclnnStatus aclnnAbsGetWorkspaceSize(\n";
        let found = document(text);
        assert_eq!(found.socs, BTreeMap::from([("310P".into(), false), ("A3".into(), true)]));
        assert_eq!(
            found.arguments,
            [
                ("self".to_owned(), vec!["fp16", "bf16", "fp32", "fp64"]),
                ("out".to_owned(), vec!["int8", "fp8e5m2"])
            ]
        );
        assert_eq!(names(text), BTreeSet::from(["aclnnAbs".into(), "aclnnInplaceAbs".into()]));
    }

    #[test]
    fn products_become_processors() {
        for (product, expected) in [
            ("Ascend 950PR/Ascend 950DT", "950"),
            ("Atlas A2 训练系列产品/Atlas 800I A2 推理产品", "A2"),
            ("Atlas 200I/500 A2 推理产品", "310B"),
            ("Atlas 推理系列加速卡产品", "310P"),
            ("Atlas 训练系列产品", "910"),
            ("Atlas 200/300/500 推理产品", "310"),
        ] {
            assert_eq!(soc(product), expected, "{product}");
        }
    }
}
