//! Written by `cargo xtask messages` from `data/findings/site.toml`; do not edit.

use crate::message::findings;

findings! {
    site_hardware = "SITE-HARDWARE" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_version = "SITE-VERSION" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_package = "SITE-PACKAGE" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_env = "SITE-ENV" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_file = "SITE-FILE" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_mount = "SITE-MOUNT" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_limit = "SITE-LIMIT" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
    site_network = "SITE-NETWORK" {
        Differs = "differs" { place: Argument, seen: Argument, wanted: Argument, what: Argument },
        Said = "said" {
            place: Argument, said: Argument, seen: Argument, wanted: Argument, what: Argument,
        },
    }
}
