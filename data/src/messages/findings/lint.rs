//! Written by `cargo xtask messages` from `data/findings/lint.toml`; do not edit.

use crate::message::findings;

findings! {
    lint_code = "LINT-CODE" {
        Meaning = "meaning" {
            claim: Argument, code: Argument, meaning: Argument, symbol: Argument,
        },
        Number = "number" { code: Argument, right: Argument, symbol: Argument },
    }
    lint_version = "LINT-VERSION" {
        Missing = "missing" { near: Argument, package: Argument, version: Argument },
    }
    lint_pair = "LINT-PAIR" {
        Conflict = "conflict" {
            both: Argument, other: Argument, package: Argument, verdict: Argument,
        },
        Replaced = "replaced" {
            both: Argument, other: Argument, package: Argument, right: Argument,
        },
    }
    lint_default = "LINT-DEFAULT" {
        Default = "default" { claim: Argument, name: Argument, right: Argument },
        Unread = "unread" { name: Argument, right: Argument },
        Value = "value" { claim: Argument, name: Argument, values: Argument },
    }
    lint_command = "LINT-COMMAND" {
        Wrong = "wrong" { fact: Argument, fix: Argument, text: Argument },
    }
}
