//! Converts a file below `data/` to the format of its reader. The build script uses it for programs
//! with built-in tables, and debug programs use it at run time on the files in `data/`.

/// Returns whether `data/<file>` is a table of the program. Inputs of a refresh (`*.overlay.*`,
/// recordings) and the files of the crate itself are not.
pub(crate) fn is_table(file: &str) -> bool {
    let elsewhere = [
        "src/",
        "target/",
        "examples/",
        "acl_abi/",
        "ops/recorded/",
        "torch_npu_names.tsv",
        "package_files.tsv",
    ];
    let kind = file.strip_suffix(".toml").or_else(|| file.strip_suffix(".tsv"));
    kind.is_some_and(|stem| stem != "Cargo" && !stem.ends_with(".overlay"))
        && !elsewhere.iter().any(|dir| file.starts_with(dir))
}

/// Returns the tables of `data/<name>.toml` in `MessagePack`, by name.
///
/// The texts of `convert` rules form a separate table, `<name>.texts`, because planning does not
/// need them and they make up three quarters of the bytes.
///
/// # Errors
///
/// Returns an error if the text is not valid TOML.
pub(crate) fn tables(name: &str, text: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut table: toml::Table =
        toml::from_str(text).map_err(|error| format!("data/{name}.toml: {error}"))?;
    let texts = name.starts_with("convert/").then(|| split_texts(&mut table)).flatten();
    let texts = texts.map(|texts| (format!("{name}.texts"), texts));
    let all = texts.into_iter().chain([(name.to_owned(), table)]);
    all.map(|(name, table)| {
        let packed = rmp_serde::to_vec(&table).map_err(|error| format!("{name}: {error}"))?;
        Ok((name, packed))
    })
    .collect()
}

/// Moves the texts of rules into a separate table, which is empty for a table without rules.
fn split_texts(table: &mut toml::Table) -> Option<toml::Table> {
    let Some(rules) = table.get_mut("rule") else {
        let none = toml::Value::Array(Vec::new());
        return Some(toml::Table::from_iter([("rule".to_owned(), none)]));
    };
    let rules = rules.as_array_mut()?;
    let rows = rules.iter_mut().filter_map(|rule| {
        let rule = rule.as_table_mut()?;
        let mut row = toml::Table::new();
        row.insert("id".to_owned(), rule.get("id")?.clone());
        for key in ["note", "advice", "source", "example"] {
            row.extend(rule.remove(key).map(|value| (key.to_owned(), value)));
        }
        Some(toml::Value::Table(row))
    });
    let rows = rows.collect();
    Some(toml::Table::from_iter([("rule".to_owned(), toml::Value::Array(rows))]))
}
