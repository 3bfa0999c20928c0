"""The tables of data/compat_matrix.toml: scripts/gen_compat_matrix.py writes them."""
