//! Writes the tables below `data/` as a data pack: `cargo xtask pack -o FILE`.
#![expect(clippy::disallowed_methods, reason = "writes the file that the user named")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("a file is expected")?;
    let pack = data::data_pack::write_built_in(env!("CARGO_PKG_VERSION"))?;
    let temporary = std::path::Path::new(&file).with_extension("part");
    std::fs::write(&temporary, pack)?;
    Ok(std::fs::rename(temporary, file)?)
}
