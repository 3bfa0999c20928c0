//! `translate-error` for every code of every family, searches, and unknown codes.

use anyhow::Result;

use super::{Inputs, OTHER_FORMATS, rotate, strings};
use crate::same::case::{Case, Plan, arg_array, args};

/// The number of codes in one command line.
const BATCH: usize = 100;
/// The number of codes of each family that are translated separately, as users do.
const ALONE: usize = 4;

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let families = inputs.ask(&arg_array!["translate-error", "--list-codes", "--json"])?;
    let families = strings(&families, &["items", "family", "id"]);
    if families.is_empty() {
        plan.skip("error codes: the old program lists no families");
    }
    for (number, family) in families.iter().enumerate() {
        for (name, flags) in [("text-en", ""), ("text-zh", "--lang zh"), ("json", "--json")] {
            let case = Case::new(format!("code-list/{family}/{name}"));
            plan.add(case.step(args!["translate-error", "--list-codes", family]).flags(flags));
        }
        add_codes(plan, inputs, family, number)?;
    }
    add_searches(plan);
    add_unusual(plan);
    Ok(())
}

/// Adds all codes of a family in batches, and some of them separately.
fn add_codes(plan: &mut Plan, inputs: &Inputs<'_>, family: &str, index: usize) -> Result<()> {
    let listed = inputs.ask(&arg_array!["translate-error", "--list-codes", family, "--json"])?;
    let codes = strings(&listed, &["items", "codes", "code"]);
    if codes.is_empty() {
        plan.skip(format!("error codes: the old program lists no code of {family}"));
    }
    let translate = |name: String, codes: &[String]| {
        let mut args = args!["translate-error", "--as", "code"];
        args.extend(codes.iter().cloned());
        Case::new(format!("code/{family}/{name}")).step(args)
    };
    for (number, batch) in codes.chunks(BATCH).enumerate() {
        let case = |name: &str| translate(format!("batch-{number:02}/{name}"), batch);
        plan.add(before(case("text-en"), "--lang en"));
        plan.add(before(case("explain-zh"), "--explain --lang zh"));
        plan.add(before(case("json"), "--json"));
    }
    let step = codes.len().div_ceil(ALONE).max(1);
    for (number, code) in codes.iter().step_by(step).enumerate() {
        let case =
            |name: &str| translate(format!("alone-{number:02}/{name}"), std::slice::from_ref(code));
        plan.add(before(case("text-en"), "--lang en"));
        plan.add(before(case("explain-zh"), "--explain --lang zh"));
        if number == 0 {
            for format in rotate(&OTHER_FORMATS, index, 3) {
                plan.add(before(case(format), &format!("--format {format}")));
            }
        }
    }
    Ok(())
}

/// Inserts options before the codes, because some codes start with a minus sign.
fn before(mut case: Case, flags: &str) -> Case {
    for step in &mut case.steps {
        step.splice(1..1, flags.split_whitespace().map(str::to_owned));
    }
    case
}

fn add_searches(plan: &mut Plan) {
    for (name, words) in [
        ("heartbeat", args!["heartbeat", "lost"]),
        ("misspelled", args!["hartbeat", "lost"]),
        ("memory", args!["memory"]),
        ("socket", args!["socket", "timeout"]),
        ("chinese", args!["设备内存不足"]),
        ("link", args!["建链"]),
        ("nothing", args!["zebra", "crossing"]),
    ] {
        for (variant, flags) in
            [("text-en", "--lang en"), ("text-zh", "--lang zh"), ("json", "--json")]
        {
            let mut args = args!["translate-error"];
            args.extend(flags.split_whitespace().map(str::to_owned));
            args.push("--search".to_owned());
            args.extend(words.iter().cloned());
            plan.add(Case::new(format!("code-search/{name}/{variant}")).step(args));
        }
    }
}

/// Adds forms of codes that are in no list, and user data.
fn add_unusual(plan: &mut Plan) {
    for (name, args) in [
        ("hexadecimal", args!["0x7BC89"]),
        ("negative", args!["-8005"]),
        ("lower-case", args!["ei0006"]),
        ("punctuation", args!["'507035,'"]),
        ("register-words", args!["errcode:(0x800000, 0x4000, 0)"]),
        ("chip-event", args!["0x80E01801", "80E01801"]),
        ("hccl", args!["errNo[0x000000000500000b]"]),
        ("mindie", args!["MIE04E01011C"]),
        ("symbol", args!["ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"]),
        ("small", args!["7"]),
        ("unknown-decimal", args!["999999"]),
        ("unknown-hexadecimal", args!["0xdeadbeef"]),
        ("unknown-message", args!["EZ9Z99"]),
        ("unknown-symbol", args!["ACL_ERROR_OF_NOTHING"]),
        ("known-and-unknown", args!["507035", "999999"]),
        ("sentence", args!["error code is 507035 in aclrtSynchronizeStream"]),
        ("no-cause", args!["--as", "text", "hello world"]),
    ] {
        for (variant, flags) in [
            ("text-en", "--lang en"),
            ("text-zh", "--lang zh"),
            ("json", "--json"),
            ("explain", "--explain"),
            ("markdown", "--markdown"),
        ] {
            let mut all = args!["translate-error"];
            all.extend(flags.split_whitespace().map(str::to_owned));
            all.extend(args.iter().cloned());
            plan.add(Case::new(format!("code-form/{name}/{variant}")).step(all));
        }
    }
    let data = r#"
schema = 1
[[family]]
id = "house"
kind = "decimal"
title = { en = "Our launcher", zh = "自有启动器" }
says = { en = "Printed by our launcher", zh = "由启动器打印" }
context = ["launcher says"]
[[cause]]
id = "house.disk_full"
title = { en = "The scratch disk is full", zh = "临时盘已满" }
text = { en = "The scratch disk of the node is full.", zh = "节点的临时盘已满。" }
evidence = ["dmesg"]
sources = ["our wiki"]
[[cause.step]]
en = "Clean it"
zh = "清理"
run = "df -h /scratch"
[[code]]
family = "house"
code = "4711"
symbol = "NO_SPACE"
cause = "house.disk_full"
weight = 26
source = "our wiki"
"#;
    let log = "launcher says 4711\n";
    for (name, flags) in [
        ("code", "4711"),
        ("code-json", "4711 --json"),
        ("list", "--list-codes house"),
        ("log", "--as file launcher.log"),
        ("log-zh", "--as file launcher.log --lang zh"),
    ] {
        let case = Case::new(format!("code-data/{name}"));
        let case = case.step(args!["translate-error", "--data", "house.toml"]).flags(flags);
        plan.add(case.file("house.toml", data).file("launcher.log", log));
    }
    for (name, data) in [("invalid", "schema = "), ("unknown-key", "schema = 1\nzebra = 2\n")] {
        let case = Case::new(format!("code-data/{name}")).file("house.toml", data);
        plan.add(case.step(args!["translate-error", "--data", "house.toml", "1"]).refused());
    }
    for (name, flags) in [
        ("schema", "--schema"),
        ("list", "--list-codes"),
        ("list-zh", "--list-codes --lang zh"),
        ("causes", "--list-codes causes"),
        ("causes-zh", "--list-codes causes --lang zh"),
        ("causes-json", "--list-codes causes --json"),
    ] {
        let case = Case::new(format!("code-list/all/{name}")).step(args!["translate-error"]);
        plan.add(case.flags(flags));
    }
    for (name, flags) in [("unknown-family", "--list-codes zebra"), ("nothing", "")] {
        let case = Case::new(format!("code-list/{name}")).step(args!["translate-error"]);
        plan.add(case.flags(flags).refused());
    }
}
