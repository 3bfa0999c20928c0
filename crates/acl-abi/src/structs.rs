//! Structures passed by address: their layout is that of the headers, which a test compares with
//! `data/acl_abi/structs.tsv` and `fields.tsv`.

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
    /// The first option.
    pub options: *mut BinaryLoadOption,
    /// The number of options.
    pub count: usize,
}

/// `HcclRootInfo`: opaque bytes of HCCL.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RootInfo {
    /// `internal`.
    pub bytes: [u8; 4108],
}

/// `aclCANNPackageVersion`: null-terminated texts.
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

/// `dcmi_pcie_info_all`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PcieInfo {
    /// `venderid`.
    pub vendor: u32,
    /// `subvenderid`.
    pub sub_vendor: u32,
    /// `deviceid`.
    pub device: u32,
    /// `subdeviceid`.
    pub sub_device: u32,
    /// `domain`.
    pub domain: i32,
    /// `bdf_busid`.
    pub bus: u32,
    /// `bdf_deviceid`.
    pub slot: u32,
    /// `bdf_funcid`.
    pub function: u32,
    /// `reserve`.
    pub reserve: [u8; 32],
}

/// `dcmi_chip_info`: null-terminated texts.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct ChipInfo {
    /// `chip_type`.
    pub kind: [u8; 32],
    /// `chip_name`.
    pub name: [u8; 32],
    /// `chip_ver`.
    pub version: [u8; 32],
    /// `aicore_cnt`.
    pub cores: u32,
}

/// `dcmi_board_info`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct BoardInfo {
    /// `board_id`.
    pub board: u32,
    /// `pcb_id`.
    pub pcb: u32,
    /// `bom_id`.
    pub bom: u32,
    /// `slot_id`.
    pub slot: u32,
}

/// `dcmi_elabel_info`: null-terminated texts.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ElabelInfo {
    /// `product_name`.
    pub product: [u8; 256],
    /// `model`.
    pub model: [u8; 256],
    /// `manufacturer`.
    pub manufacturer: [u8; 256],
    /// `manufacturer_date`.
    pub date: [u8; 256],
    /// `serial_number`.
    pub serial: [u8; 256],
}

/// `dcmi_ecc_info`, with reserved space behind it: the header of `Ascend/mind-cluster` has two more
/// counters at the end, so a driver may write more than this header declares.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct EccInfo {
    /// `enable_flag`.
    pub enabled: i32,
    /// `single_bit_error_cnt`.
    pub single: u32,
    /// `double_bit_error_cnt`.
    pub double: u32,
    /// `total_single_bit_error_cnt`.
    pub total_single: u32,
    /// `total_double_bit_error_cnt`.
    pub total_double: u32,
    /// `single_bit_isolated_pages_cnt`.
    pub isolated_single: u32,
    /// `double_bit_isolated_pages_cnt`.
    pub isolated_double: u32,
    /// Space for fields of later headers.
    pub room: [u32; 32],
}

/// `dcmi_hbm_info`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct HbmInfo {
    /// `memory_size`.
    pub size: u64,
    /// `freq`.
    pub frequency: u32,
    /// `memory_usage`.
    pub usage: u64,
    /// `temp`.
    pub temperature: i32,
    /// `bandwith_util_rate`.
    pub bandwidth: u32,
}

/// The memory layout of a structure, with the names of the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Its name.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Alignment.
    pub align: usize,
    /// The offsets of its fields.
    pub fields: Vec<(&'static str, usize)>,
}

/// Reserved bytes of a declaration behind a structure of the headers.
trait Room {
    const ROOM: usize = 0;
}

const fn room<T: Room>() -> usize {
    T::ROOM
}

impl Room for BinaryLoadOption {}
impl Room for BinaryLoadOptions {}
impl Room for RootInfo {}
impl Room for PackageVersion {}
impl Room for PcieInfo {}
impl Room for ChipInfo {}
impl Room for BoardInfo {}
impl Room for ElabelInfo {}
impl Room for HbmInfo {}
impl Room for EccInfo {
    const ROOM: usize = 32 * size_of::<u32>();
}

macro_rules! layouts {
    ($($type:ident = $name:literal { $($field:ident = $field_name:literal),* };)*) => {
        /// The layouts of all structures here.
        pub fn layouts() -> Vec<Layout> {
            vec![$(Layout {
                name: $name,
                size: size_of::<$type>() - room::<$type>(),
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
    PcieInfo = "dcmi_pcie_info_all" {
        vendor = "venderid", sub_vendor = "subvenderid", device = "deviceid",
        sub_device = "subdeviceid", domain = "domain", bus = "bdf_busid", slot = "bdf_deviceid",
        function = "bdf_funcid", reserve = "reserve"
    };
    ChipInfo = "dcmi_chip_info" {
        kind = "chip_type", name = "chip_name", version = "chip_ver", cores = "aicore_cnt"
    };
    BoardInfo = "dcmi_board_info" {
        board = "board_id", pcb = "pcb_id", bom = "bom_id", slot = "slot_id"
    };
    ElabelInfo = "dcmi_elabel_info" {
        product = "product_name", model = "model", manufacturer = "manufacturer",
        date = "manufacturer_date", serial = "serial_number"
    };
    EccInfo = "dcmi_ecc_info" {
        enabled = "enable_flag", single = "single_bit_error_cnt", double = "double_bit_error_cnt",
        total_single = "total_single_bit_error_cnt", total_double = "total_double_bit_error_cnt",
        isolated_single = "single_bit_isolated_pages_cnt",
        isolated_double = "double_bit_isolated_pages_cnt"
    };
    HbmInfo = "dcmi_hbm_info" {
        size = "memory_size", frequency = "freq", usage = "memory_usage", temperature = "temp",
        bandwidth = "bandwith_util_rate"
    };
}
