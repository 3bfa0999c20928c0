//! Error codes: `data/errors/<family>.tsv`.

mod acl;
mod aicore;
mod aicore_tuple;
mod c_header;
mod c_strings;
mod chip;
mod dms;
mod driver;
mod ecode;
mod ecode_messages;
mod ecode_registry;
mod ge;
mod hccl_stage;
mod knowledge;
mod knowledge_base;
mod mindspore;
mod ordered_json;
mod parts;
mod raise_sites;
mod registries;
mod releases;
mod runtime;
mod switch;
mod torch_npu;

pub(super) use registries::EXTRACTORS as REGISTRY_EXTRACTORS;

use super::{Content, Extractor, Key, Vanished};

/// Extractors of error codes.
pub(super) const EXTRACTORS: &[Extractor] = &[
    registry("errors/acl_rt.tsv", acl::runtime),
    registry("errors/acl_api.tsv", acl::interface),
    registry("errors/acl_ge.tsv", ge::external),
    registry("errors/aclnn.tsv", acl::operators),
    registry("errors/aclrtc.tsv", acl::compilation),
    registry("errors/acl_doc.tsv", acl::reference),
    keyed("errors/torch_npu_text.tsv", &["code"], torch_npu::texts),
    keyed("errors/torch_npu_fault.tsv", &["code"], torch_npu::faults),
    registry("errors/torch_npu.tsv", torch_npu::raised),
    registry("errors/dcmi.tsv", driver::management),
    registry("errors/hccl.tsv", torch_npu::collectives),
    registry("errors/drv.tsv", runtime::driver),
    registry("errors/ts.tsv", runtime::scheduler),
    registry("errors/runtime.tsv", runtime::inner),
    registry("errors/aicore_bit.tsv", aicore::bits),
    keyed("errors/mcu.tsv", &["code", "component"], driver::microcontroller),
    keyed("errors/bbox.tsv", &["code", "symbol", "becomes"], dms::black_box),
    registry("errors/device_map.tsv", runtime::device),
    keyed("errors/aicpu.tsv", &["code", "symbol", "component"], runtime::aicpu),
    registry("errors/bqs.tsv", runtime::queues),
    registry("errors/atb.tsv", parts::transformer_boost),
    keyed("errors/hixl.tsv", &["code", "symbol", "component"], parts::transfer),
    registry("errors/dvpp.tsv", parts::media),
    registry("errors/ge_inner.tsv", ge::inner),
    registry("errors/ge_graph.tsv", ge::graph),
    keyed("errors/misc.tsv", &["code", "symbol", "component"], parts::other),
    keyed("errors/dms_node.tsv", &["code"], dms::nodes),
    keyed("errors/dms_sensor.tsv", &["code"], dms::sensors),
    keyed("errors/dms_state.tsv", &["code"], dms::states),
];

/// Declares a registry of codes with symbols.
const fn registry(
    file: &'static str,
    extract: fn(&crate::context::Context) -> anyhow::Result<Content>,
) -> Extractor {
    keyed(file, &["code", "symbol"], extract)
}

/// Declares a registry of codes with another key. Vanished codes are kept, because users' logs
/// contain them.
const fn keyed(
    file: &'static str,
    key: &'static [&'static str],
    extract: fn(&crate::context::Context) -> anyhow::Result<Content>,
) -> Extractor {
    Extractor { file, key: Key::Columns(key), vanished: Vanished::Keep, extract }
}
