//! Written by `cargo xtask messages` from `data/findings/convert.toml`; do not edit.

use crate::message::findings;

findings! {
    convert_parse = "CONVERT-PARSE" {
        Syntax = "syntax" { detail: Argument, line: Argument, path: Argument },
    }
    convert_text = "CONVERT-TEXT" {
        Nul = "nul" { detail: Argument, path: Argument },
        Undecodable = "undecodable" { detail: Argument, path: Argument },
    }
    convert_self = "CONVERT-SELF" {
        Unsound = "unsound" { detail: Argument, path: Argument },
    }
    convert_changed = "CONVERT-CHANGED" {
        During = "during" { path: Argument },
        Interrupted = "interrupted" { path: Argument },
        InterruptedGone = "interrupted_gone" { path: Argument },
        Since = "since" { path: Argument },
        SinceGone = "since_gone" { path: Argument },
    }
    convert_denied = "CONVERT-DENIED" {
        Directory = "directory" { detail: Argument, path: Argument },
        FileSystem = "file_system" { path: Argument },
        Foreign = "foreign" { detail: Argument, path: Argument },
        Group = "group" { detail: Argument, path: Argument },
        Owner = "owner" { detail: Argument, path: Argument },
        ReadOnly = "read_only" { path: Argument },
        Refused = "refused" { detail: Argument, path: Argument },
    }
    convert_git = "CONVERT-GIT" {
        Refused = "refused" { n: Count },
        Uncommitted = "uncommitted" { path: Argument },
    }
    convert_io = "CONVERT-IO" {
        Failed = "failed" { detail: Argument, path: Argument },
    }
    convert_links = "CONVERT-LINKS" {
        Apart = "apart" { n: Count },
        Elsewhere = "elsewhere" { n: Count },
        Undone = "undone" { n: Count },
    }
    convert_skip = "CONVERT-SKIP" {
        LinkDangles = "link_dangles" { path: Argument },
        LinkLeaves = "link_leaves" { detail: Argument, path: Argument },
        NotRegular = "not_regular" { path: Argument },
        Template = "template" { detail: Argument, path: Argument },
        TooLarge = "too_large" { detail: Argument, path: Argument },
        Unreadable = "unreadable" { detail: Argument, path: Argument },
    }
    convert_check = "CONVERT-CHECK" {
        WouldChange = "would_change" { n: Count },
    }
    convert_mention = "CONVERT-MENTION" {
        Unexplained = "unexplained" { n: Count },
    }
    convert_keep = "CONVERT-KEEP" {
        Comment = "comment" { n: Count },
        Left = "left" { n: Count },
    }
    convert_written = "CONVERT-WRITTEN" {
        Written = "written" { command: Argument, n: Count },
    }
}
