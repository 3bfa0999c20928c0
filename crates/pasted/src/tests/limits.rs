//! Texts that take long if a reader examines a line more than a few times.

use crate::read;

/// Each piece is repeated. Examining a line for every other line would take hours.
const PIECES: [&str; 36] = [
    "foo 1.2\n",
    "foo 1.2\nbar  1.3\n",
    "torch  2.1.0\n...\nabc  def\n",
    "torch==2.1.0\n",
    "ERROR: No matching distribution found for torch==2.1.0\n",
    "> CANN 8.0.0\n",
    "pip list:\n> torch  2.1.0\n",
    "env: ",
    "torch: 2.1.0, ",
    "torch & ",
    "| a | b |\n",
    "a | b\n--- | ---\n",
    "(((",
    "(之前",
    "[a](",
    "<p ",
    "a.b/c:",
    "| 0  910B3 | OK |\n",
    "/python3.10/",
    "910B3*",
    "请问，",
    " but ",
    "VERSION=\"1\"\n",
    "ls /usr/local/Ascend/ascend-toolkit\n",
    "REPOSITORY TAG IMAGE ID\n",
    "print(torch.__version__)\n",
    "# torch\n2.1.0\n",
    "version=1.2\n",
    "runtime_running_version=[7.3:8.0.RC2]\n",
    "name: A_B\nvalue: 1\n",
    "\"A_B\": \"1\", ",
    "Requirements:\n",
    "export A_B=1\n",
    "a=1\nexport A_B=$a\n",
    "1  a\n2  b\n3  c\n",
    "main-cann8.2.rc1-a3, ",
];

fn repeated(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len() + 1)
}

#[test]
fn time_grows_with_the_size_of_the_text() {
    for piece in PIECES {
        read(&repeated(piece, 128 << 10));
    }
}
