//! Writes a machine of `tests/fixtures/hosts/` into a directory, for trying the tool:
//! `cargo run --example make_fixture f02-env-not-sourced /tmp/machine`.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a tool for developers")]

#[path = "../tests/support/mod.rs"]
mod support;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let mut recipes = support::recipe::all();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, dir] = args.as_slice() else {
        println!("usage: make_fixture NAME DIR\n");
        for (name, recipe) in &recipes {
            println!("{name:32} {}", recipe.story);
        }
        return Ok(());
    };
    let recipe = recipes.remove(name).with_context(|| format!("no machine `{name}`"))?;
    let dir = std::path::Path::new(dir);
    std::fs::create_dir_all(dir)?;
    anyhow::ensure!(std::fs::read_dir(dir)?.next().is_none(), "{} is not empty", dir.display());
    recipe.build().write(dir);
    println!("ascend-doctor check --sysroot {} {}", dir.display(), recipe.expect.args.join(" "));
    Ok(())
}
