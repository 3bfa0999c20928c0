//! Written by `cargo xtask messages` from `data/findings/host.toml`; do not edit.

use crate::message::findings;

findings! {
    host_os = "HOST-OS" {
        NotListed = "not_listed" { os: Argument },
    }
    host_user = "HOST-USER" {
        Nameless = "nameless" { uid: Argument },
    }
    host_cwd = "HOST-CWD" {
        Closed = "closed" { path: Argument },
    }
    host_shm = "HOST-SHM" {
        Small = "small" { size: Argument },
    }
    host_logdisk = "HOST-LOGDISK" {
        Log = "log" { free: Argument, path: Argument },
        Tmp = "tmp" { free: Argument, path: Argument },
    }
    host_container = "HOST-CONTAINER" {
        ContainerOutside = "container_outside",
        NodeInside = "node_inside",
    }
    host_modules = "HOST-MODULES" {
        None = "none" { driver: Argument, kernel: Argument },
        NoneUnversioned = "none_unversioned",
    }
    host_arch = "HOST-ARCH" {
        Library = "library" { have: Argument, host: Argument, owner: Argument, path: Argument },
        Python = "python" { have: Argument, host: Argument, path: Argument },
    }
    host_glibc = "HOST-GLIBC" {
        Old = "old" { file: Argument, have: Argument, libc: Argument, need: Argument },
        OldPackage = "old_package" {
            file: Argument, have: Argument, interpreter: Argument, libc: Argument, need: Argument, package: Argument, version: Argument,
        },
        OldTorch = "old_torch" { file: Argument, have: Argument, libc: Argument, need: Argument },
    }
    host_stdcxx = "HOST-STDCXX" {
        Conda = "conda" {
            file: Argument, have: Argument, library: Argument, need: Argument, prefix: Argument,
        },
        Old = "old" { file: Argument, have: Argument, library: Argument, need: Argument },
    }
    host_libgomp = "HOST-LIBGOMP" {
        Several = "several" { count: Count, paths: Argument, preload: Argument },
    }
}
