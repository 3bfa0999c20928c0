//! The declared functions, values and structures match the official headers.

use std::collections::BTreeMap;

fn table(name: &str) -> Vec<Vec<String>> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/acl_abi").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// The differences between the declarations and the facts.
fn differences(declared: &[(String, String)], facts: &BTreeMap<String, String>) -> Vec<String> {
    declared
        .iter()
        .filter_map(|(name, shape)| match facts.get(name) {
            None => Some(format!("{name}: in no header")),
            Some(fact) if fact != shape => Some(format!("{name}: {shape}, headers: {fact}")),
            Some(_) => None,
        })
        .collect()
}

fn declared() -> Vec<(String, String)> {
    let functions = acl_abi::functions();
    functions.into_iter().map(|function| (function.name.to_owned(), function.canonical)).collect()
}

fn facts() -> BTreeMap<String, String> {
    let rows = table("functions.tsv");
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

#[test]
fn every_function_has_the_type_of_the_headers() {
    assert_eq!(differences(&declared(), &facts()), Vec::<String>::new());
}

/// The comparison can fail: each of these mistakes is detected.
#[test]
fn wrong_declarations_are_found() {
    let facts = facts();
    for (name, wrong) in [
        // An `int` instead of an `int8_t`.
        ("aclnnMatmulGetWorkspaceSize", "w32(p,p,p,w32,p,p)"),
        // A float instead of a pointer to one.
        ("aclrtEventElapsedTime", "w32(f32,p,p)"),
        // One argument too few, one too many.
        ("aclrtMemcpy", "w32(p,w64,p,w64)"),
        ("aclInit", "w32(p,p)"),
        // A narrow size.
        ("aclrtMalloc", "w32(p,w32,w32)"),
        // Another return type.
        ("aclCreateTensor", "w32(p,w64,w32,p,w64,w32,p,w64,p)"),
        // An unknown name.
        ("aclrtMalloc2", "w32(p,w64,w32)"),
    ] {
        let found = differences(&[(name.to_owned(), wrong.to_owned())], &facts);
        assert_eq!(found.len(), 1, "{name} {wrong}");
    }
}

#[test]
fn every_value_is_that_of_the_headers() {
    let facts: BTreeMap<String, String> =
        table("values.tsv").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    for (name, value) in acl_abi::values::ALL {
        assert_eq!(facts.get(*name), Some(&value.to_string()), "{name}");
    }
}

/// Sizes, alignments and offsets of fields, by name.
fn laid_out(layouts: &[acl_abi::Layout]) -> Vec<(String, String)> {
    let mut shapes = Vec::new();
    for layout in layouts {
        shapes.push((layout.name.to_owned(), format!("{} {}", layout.size, layout.align)));
        for (field, offset) in &layout.fields {
            shapes.push((format!("{}.{field}", layout.name), offset.to_string()));
        }
    }
    shapes
}

type Damage = fn(&mut acl_abi::Layout);

/// Structures passed by address have the layout of the headers; and the comparison can fail.
#[test]
fn every_structure_lies_as_in_the_headers() {
    let sizes = table("structs.tsv").into_iter();
    let mut facts: BTreeMap<String, String> =
        sizes.map(|row| (row[0].clone(), format!("{} {}", row[1], row[2]))).collect();
    let fields = table("fields.tsv").into_iter();
    facts.extend(fields.map(|row| (format!("{}.{}", row[0], row[1]), row[2].clone())));
    let layouts = acl_abi::layouts();
    assert_eq!(differences(&laid_out(&layouts), &facts), Vec::<String>::new());
    // All known fields are declared.
    let declared = laid_out(&layouts).len();
    assert_eq!(declared, layouts.len() + table("fields.tsv").len());
    let wrong: [(&str, Damage); 5] = [
        ("aclrtBinaryLoadOption", |layout| layout.size = 24),
        ("aclrtBinaryLoadOption", |layout| layout.fields[1].1 = 8),
        ("aclrtBinaryLoadOptions", |layout| layout.align = 4),
        ("HcclRootInfo", |layout| layout.size = 4096),
        ("aclCANNPackageVersion", |layout| layout.fields[0].0 = "name"),
    ];
    for (name, damage) in wrong {
        let mut layouts = acl_abi::layouts();
        damage(layouts.iter_mut().find(|layout| layout.name == name).unwrap());
        assert_eq!(differences(&laid_out(&layouts), &facts).len(), 1, "{name}");
    }
}

/// Functions of every version are required, those of later versions optional: only this decides the
/// meaning of a missing symbol.
#[test]
fn later_functions_are_optional() {
    let first: BTreeMap<String, String> =
        table("functions.tsv").into_iter().map(|row| (row[0].clone(), row[3].clone())).collect();
    for function in acl_abi::functions() {
        let seen = &first[function.name];
        let early = seen.starts_with("6.") || seen.starts_with("7.");
        // Headers of the operators before 8.1 are not public; their functions are older.
        let operators = function.name.starts_with("aclnn");
        assert_eq!(
            function.need == acl_abi::Need::Required,
            early || operators,
            "{}: {seen}",
            function.name
        );
    }
}

/// Runs `scripts/acl_abi.py` on correct headers, and on each with one mistake.
#[test]
#[ignore = "needs g++"]
fn the_generator_finds_wrong_headers() {
    let right = "#pragma once\n#include <cstddef>\n#include <cstdint>\n\
        typedef int aclError; typedef void *aclrtStream; typedef void *aclrtEvent;\n\
        typedef enum { ACL_HBM_MEM = 1 } aclrtMemAttr;\n\
        typedef enum { ACL_MEMCPY_HOST_TO_DEVICE = 1 } aclrtMemcpyKind;\n\
        typedef struct { char internal[4108]; } HcclRootInfo;\n\
        extern \"C\" {\n\
        aclError aclInit(const char *configPath);\n\
        aclError aclrtMemcpy(void *, size_t, const void *, size_t, aclrtMemcpyKind);\n\
        aclError aclrtEventElapsedTime(float *ms, aclrtEvent, aclrtEvent);\n\
        aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t);\n\
        aclError aclrtGetMemInfo(aclrtMemAttr, size_t *, size_t *);\n\
        }\n";
    let run = |header: &str| {
        let dir = tempfile::Builder::new().prefix("headers-").tempdir().unwrap();
        std::fs::create_dir(dir.path().join("acl")).unwrap();
        std::fs::write(dir.path().join("acl/acl.h"), header).unwrap();
        let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/acl_abi.py");
        let mut command = std::process::Command::new("python3");
        let output = command.arg(script).arg("-I").arg(dir.path()).output();
        let output = output.expect("cannot start python3");
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = run(right);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("9 facts are equal, 0 differ"), "{text}");
    for (from, to) in [
        ("float *ms", "float ms"),
        ("(aclrtStream, int32_t)", "(aclrtStream, int8_t)"),
        ("ACL_HBM_MEM = 1", "ACL_HBM_MEM = 2"),
        ("internal[4108]", "internal[4096]"),
        ("const void *, size_t, aclrt", "const void *, uint32_t, aclrt"),
    ] {
        assert!(right.contains(from), "{from}");
        let (status, text) = run(&right.replace(from, to));
        assert_eq!(status, Some(1), "{to}: {text}");
        assert!(text.contains("8 facts are equal, 1 differ"), "{to}: {text}");
    }
}
