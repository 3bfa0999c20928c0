//! Structures that are handed over by address: their layout is that of the headers, which a test
//! compares with `data/acl_abi/structs.tsv` and `fields.tsv`.

use std::mem::{align_of, offset_of, size_of};

/// `aclrtBinaryLoadOption`: a kind, and a union of 16 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BinaryLoadOption {
    /// `aclrtBinaryLoadOptionType`.
    pub kind: i32,
    /// The value, in the first word.
    pub value: [u32; 4],
}

/// `aclrtBinaryLoadOptions`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BinaryLoadOptions {
    /// The first of them.
    pub options: *mut BinaryLoadOption,
    /// How many.
    pub count: usize,
}

/// `HcclRootInfo`: bytes that mean something to HCCL alone.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RootInfo {
    /// `internal`.
    pub bytes: [u8; 4108],
}

/// `aclCANNPackageVersion`: texts with their end.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PackageVersion {
    /// `version`.
    pub version: [u8; 128],
    /// `majorVersion`.
    pub major: [u8; 64],
    /// `minorVersion`.
    pub minor: [u8; 64],
    /// `releaseVersion`.
    pub release: [u8; 64],
    /// `patchVersion`.
    pub patch: [u8; 64],
    /// `reserved`.
    pub reserved: [u8; 128],
}

/// How a structure lies in memory, in the names of the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Its name.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Alignment.
    pub align: usize,
    /// Where its fields begin.
    pub fields: Vec<(&'static str, usize)>,
}

macro_rules! layouts {
    ($($type:ident = $name:literal { $($field:ident = $field_name:literal),* };)*) => {
        /// The layouts of all structures here.
        pub fn layouts() -> Vec<Layout> {
            vec![$(Layout {
                name: $name,
                size: size_of::<$type>(),
                align: align_of::<$type>(),
                fields: vec![$(($field_name, offset_of!($type, $field))),*],
            }),*]
        }
    };
}

layouts! {
    BinaryLoadOption = "aclrtBinaryLoadOption" { kind = "type", value = "value" };
    BinaryLoadOptions = "aclrtBinaryLoadOptions" { options = "options", count = "numOpt" };
    RootInfo = "HcclRootInfo" { bytes = "internal" };
    PackageVersion = "aclCANNPackageVersion" {
        version = "version", major = "majorVersion", minor = "minorVersion",
        release = "releaseVersion", patch = "patchVersion", reserved = "reserved"
    };
}
