//! Prints the facts of the text on standard input, as JSON.
#![expect(clippy::disallowed_methods, reason = "reads its standard input")]
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let pasted = pasted::read(&String::from_utf8_lossy(&text));
    println!("{}", serde_json::to_string(&pasted)?);
    Ok(())
}
