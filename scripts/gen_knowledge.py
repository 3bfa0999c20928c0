#!/usr/bin/env python3
"""Writes data/errors/knowledge.toml from the knowledge base of ascend-faultdiag.

    python3 scripts/gen_knowledge.py FACTS_DIR [--check]

The knowledge base (Ascend/mind-cluster, Apache-2.0) names, for each fault, words that a line of a
log holds. Taken over are the words, which the programs themselves print; what a fault is due to is
said here, by RULES. A fault is left out that speaks for none of our causes, whose words are so
common that they are on healthy lines too, and that a signature written by hand reads already.
These signatures weigh little: what they find is named where nothing says it better.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "data" / "errors" / "knowledge.toml"

# (start of the fault's code, a part of its title or "", cause, weight). The first that fits.
RULES = [
    ("AISW_MindSpore_", r"OOM|memory", "memory.device_oom", 34),
    ("AISW_MindSpore_DP_08", "", "env.cann_lib_missing", 30),
    ("AISW_MindSpore_DP_07", "", "hccl.ranktable_invalid", 34),
    ("AISW_MindSpore_DP_17", "", "op.infershape_failed", 34),
    ("AISW_MindSpore_DP_21", "", "hccl.ranktable_invalid", 34),
    ("AISW_MindSpore_DP_39", "", "hccl.param_mismatch", 34),
    ("AISW_MindSpore_DP_35", "", "hccl.notify_wait_timeout", 32),
    ("AISW_MindSpore_DP_24", "", "", 0),
    ("AISW_MindSpore_MindData_(01|02|03|04|08|19)$", "", "tool.file_or_path_invalid", 32),
    ("AISW_MindSpore_MindData_06", "", "env.permission", 34),
    ("AISW_MindSpore_MindData_(16|17|18|20|26|27)", "", "framework.data_starvation", 34),
    ("AISW_MindSpore_MindData_24", "", "memory.host_oom", 32),
    ("AISW_MindSpore_MindData_2[23]", "", "", 0),
    ("AISW_MindSpore_MindData", "", "framework.user_script_error", 28),
    ("AISW_MindSpore_msrun_0[45]", "", "framework.rdzv_port_in_use", 34),
    ("AISW_MindSpore_msrun_08", "", "driver.device_occupied_or_no_access", 40),
    ("AISW_MindSpore_msrun_(09|10)", "", "framework.store_timeout", 34),
    ("AISW_MindSpore_msrun", "", "framework.user_script_error", 28),
    ("AISW_MindSpore_Ascend_Backend_0[78]|AISW_MindSpore_Operator_06", "", "op.not_supported_on_npu", 36),
    ("AISW_MindSpore_Ascend_Backend_56", "", "env.acl_init_failed", 40),
    ("AISW_MindSpore_Ascend_Backend_12", "", "framework.user_script_error", 28),
    ("AISW_MindSpore_Ascend_Backend_26", "", "runtime.model_execute_failed", 12),
    ("AISW_MindSpore_Ascend", "", "", 0),
    ("AISW_MindSpore_Compiler_(19|22)", "", "tool.file_or_path_invalid", 36),
    ("AISW_MindSpore_lite_11", "", "driver.device_unreachable", 30),
    ("AISW_MindSpore_Backend_Runtime_0[45]", "", "runtime.model_execute_failed", 12),
    ("AISW_MindSpore_(lite|Backend)", "", "", 0),
    ("AISW_MindSpore_Frontend_07", "", "", 0),
    ("AISW_MindSpore_(Compiler|Frontend|Operator|DP)", "", "framework.user_script_error", 28),
    ("AISW_CANN_AMCT_ACL_00[567]", "", "model.converter_option_invalid", 34),
    ("AISW_CANN_AMCT_ACL_008", "", "runtime.device_id_invalid", 32),
    ("AISW_CANN_AMCT", "", "model.converter_option_invalid", 30),
    ("AISW_CANN_DRV_TS_(001|008|028)", "", "runtime.stream_resource_exhausted", 40),
    ("AISW_CANN_DRV_TS_00[234]", "", "runtime.notify_resource_exhausted", 40),
    ("AISW_CANN_DRV_TS_006", "", "runtime.event_resource_exhausted", 40),
    ("AISW_CANN_DRV_TS_029", "", "runtime.resource_exhausted", 38),
    ("AISW_CANN_DRV_TS_02[01]", "", "driver.device_unreachable", 32),
    ("AISW_CANN_DRV_(BUFF|QUE|SVM)", r"insufficient|OOM|no enough", "memory.device_oom", 36),
    ("AISW_CANN_DRV_SVM_01[78]", "", "runtime.invalid_argument", 38),
    ("AISW_CANN_DRV_HDC", r"session|connect|link|timeout|abnormal|disconnect", "driver.device_unreachable", 32),
    ("AISW_CANN_DRV_PCIE", r"heartbeat|timeout|no response|DMA|PCIe", "driver.device_unreachable", 32),
    ("AISW_CANN_Runtime", r"SDMA", "hccl.sdma_error", 40),
    ("AISW_CANN_Runtime", r"heartbeat|Initialization of the device", "driver.device_unreachable", 38),
    ("AISW_CANN_Runtime_05[78]", "", "runtime.stream_resource_exhausted", 40),
    ("AISW_CANN_Runtime_054", "", "memory.device_oom", 42),
    ("AISW_CANN_Runtime_061", "", "runtime.stream_sync_timeout", 34),
    ("AISW_CANN_Runtime_060", "", "runtime.model_execute_failed", 14),
    ("AISW_CANN_Runtime_Drv", "", "framework.data_starvation", 34),
    ("AISW_CANN_Runtime_(008|009|024)", "", "framework.context_null", 30),
    ("AISW_CANN_Runtime_(014|018|019|025)", "", "runtime.resource_exhausted", 30),
    ("AISW_CANN_Runtime_(007|023|031)", "", "runtime.invalid_argument", 28),
    ("AISW_CANN_Runtime_02[78]", "", "env.kernels_package_missing", 28),
    ("AISW_CANN_Runtime_(039|04[0-5])", "", "hccl.sdma_error", 32),
    ("AISW_CANN_AICPU", "", "aicpu.kernel_failed", 34),
    ("AISW_CANN_TSD", "", "driver.device_unreachable", 34),
    ("AISW_CANN_HCCL", r"IFNAME|HCCL_IF_IP|environment", "env.hccl_env_invalid", 36),
    ("AISW_CANN_HCCL", r"[Rr]ank ?table", "hccl.ranktable_invalid", 36),
    ("AISW_CANN_HCCL", r"listen", "hccl.port_in_use", 36),
    ("AISW_CANN_HCCL", r"RDMA NIC", "hccl.nic_down", 36),
    ("AISW_CANN_HCCL", r"QP link|socket link|[Ss]ocket recv", "hccl.socket_timeout", 32),
    ("AISW_CANN_HCCL", r"verify", "hccl.param_mismatch", 34),
    ("AISW_CANN_HCCP", r"port|listen|bind", "hccl.port_in_use", 34),
    ("AISW_CANN_HCCP", r"rank ?table", "hccl.ranktable_invalid", 36),
    ("AISW_CANN_HCCP_00[13]", "", "driver.device_unreachable", 26),
    ("AISW_CANN_HCCL_011", "", "driver.device_unreachable", 32),
    ("AISW_CANN_HCCL_018", "", "hccl.socket_timeout", 26),
    ("AISW_CANN_HCCL_02[56]", "", "hccl.error_cqe", 28),
    ("AISW_CANN_OS_004", "", "memory.shm_too_small", 32),
    ("AISW_CANN_GE_03[27]", "", "op.compile_failed", 22),
    ("AISW_CANN_CCE_005", "", "op.compile_failed", 32),
    ("AISW_UB_URMA", "", "hccl.transport_init_error", 32),
    ("AISW_PyTorch_Train_3[78]", "", "hw.hbm_uce", 38),
    ("AISW_CANN_DRV_PCIE_00[5-9]", "", "hccl.p2p_timeout", 30),
    ("AISW_CANN_DRV_SVM_019", "", "aicore.illegal_gm_access", 34),
    ("AISW_CANN_DRV_SVM_(003|004|005|006|007|009|010|011|012|014|016)", "", "runtime.invalid_argument", 28),
    ("AISW_CANN_DRV_(VNIC_00[78]|VNIC_010|HDC_02[17]|PCIE_(024|045))", "", "", 0),
    ("AISW_CANN_DRV_(PCIE|VNIC|HDC|SVM_02[12]|DEV_00[67]|TS_(009|010|015))", "", "driver.device_unreachable", 28),
    ("AISW_CANN_DVPP", r"allocat", "memory.device_oom", 30),
    ("AISW_CANN_DVPP", r"not supported|not allowed", "runtime.not_supported", 30),
    ("AISW_CANN_DVPP", r"busy|is full", "runtime.resource_exhausted", 28),
    ("AISW_CANN_DVPP", r"param|null pointer|range|exist|not created|address", "runtime.invalid_argument", 30),
    ("AISW_CANN_TBE_ALL_00[123]", "", "op.unsupported_attr_or_shape", 34),
    ("AISW_VLLM_ASCEND_KV_POOL_MOONCAKE_001", "", "tool.file_or_path_invalid", 36),
    ("AISW_VLLM_ASCEND_KV_POOL_MOONCAKE_003", "", "memory.device_oom", 34),
    ("AISW_VLLM_ASCEND_KV_POOL_MOONCAKE_004", "", "env.hccl_env_invalid", 44),
    ("AISW_VLLM_WEIGHT_LOADER_RFORK", "", "env.python_deps_missing", 46),
    ("AISW_VLLM_(DPLB|SCHED|SAMPLER|WEIGHT)|AISW_VLLM_ASCEND_(QUANT|EPLB|SPEC)", "", "framework.user_script_error", 40),
    ("AISW_PyTorch_Start_0[124]|AISW_PyTorch_(Init_03|Model_0[12]|Data_02|Train_0[45]|Train_34)", "", "framework.user_script_error", 36),
    ("AISW_PyTorch_Train_21", "", "tool.file_or_path_invalid", 34),
    ("AISW_MindX_Docker_Runtime", "", "env.container_runtime", 46),
    ("AISW_MindX_Device_Plugin_01", "", "driver.dcmi_error", 34),
    ("AISW_MindX_Npu_Exporter_01", "", "env.driver_lib_missing", 40),
    ("AISW_MindX_Npu_Exporter_02", "", "env.container_runtime", 30),
    ("AISW_MindX_(Device_Plugin_03|Volcano_01)", "", "env.permission", 34),
    ("AISW_MindX_Volcano_0[23]", "", "tool.config_invalid", 30),
    ("AISW_MindIE", r"shared memory", "memory.shm_too_small", 40),
    ("AISW_MindIE", r"allocate memory|allocation fail", "memory.host_oom", 34),
    ("AISW_MindIE", r"permission", "env.permission", 40),
    ("AISW_MindIE", r"[Cc]onfig|parameters? failed to be verified|verify the Backend", "tool.config_invalid", 34),
    ("AISW_MindIE", r"not supported|requirements on feature|requests?:? |sampling|eos_token", "framework.user_script_error", 30),
    ("AISW_MindIE", r"Model loading|load the model", "model.invalid_for_converter", 30),
    ("AISW_MindIE", r"authentication", "tool.config_invalid", 30),
    ("AISW_MindIE", r"establish chains|pull kv", "hccl.transport_init_error", 30),
    ("AISW_MindIE", r"file reading", "tool.file_or_path_invalid", 30),
    ("AISW_MindIE", r"communicat|heartbeat", "framework.store_timeout", 22),
    ("AISW_MindIE", r"verif", "tool.config_invalid", 26),
    ("Comp_OS_Kernel_Mem_0[78]", "", "memory.host_oom", 40),
    ("Comp_OS_Kernel_Mem_0[456]", "", "memory.host_oom", 28),
    ("Comp_OS_Kernel_Sys_Res_(02|07|11)", "", "runtime.resource_exhausted", 34),
    ("Comp_OS_Service_Container_05", "", "memory.host_oom", 30),
    ("Comp_OS_Service_Container_0[1239]", "", "env.container_runtime", 40),
    ("Comp_OS_HW_(Mem_0[234]|CPU_01|PCIE_02)", "", "hw.device_event", 36),
    ("Comp_OS_HW_Stor", "", "tool.file_or_path_invalid", 26),
]

# Words that are on lines of healthy runs, or of failures of another kind.
COMMON = {
    "Out of memory", "out of memory", "Out of Memory", "No such file or directory", "I/O error",
    "RuntimeError", "ValueError", "TypeError", "AttributeError", "is not defined", "is timed out",
    "stream sync timeout", "Send msg failed", "Send failed", "alloc failed", "Address already in use",
    "page allocation failure", "Mem map failed", "socket accept failed", "does not support",
    "Execute model success", "only support range", "Sample stat", "blocked for more than",
    "Infer shape error", "Get Soc Version failed", "The context is empty", "Address already in use",
    "Dma copy failed", "DMA copy failed", "Sync event failed", "failed", "Send alloc dma memory failed",
    "ProcessSdmaErrorInfo", "unknown option:", "Invalid dev_id", "Memory async failed",
}
LITERAL = 6
# The least length of the longest word, and of all words of a group together.
TELLING, ENOUGH = 11, 16


def cause(row):
    for start, part, label, weight in RULES:
        if re.match(start, row["code"]) and (not part or re.search(part, row["official_message"])):
            return (label, weight) if label else None
    return None


def groups(row):
    words = row["keywords"] or []
    words = words if words and isinstance(words[0], list) else [words]
    for group in words:
        group = [word.strip() for word in group if word.strip()]
        longest = max((len(word) for word in group if word not in COMMON), default=0)
        code = group and re.fullmatch(r"MIE\w{9}|0x[0-9A-F]{8}", group[-1])
        if code or (longest >= TELLING and sum(map(len, group)) >= ENOUGH):
            # The name of a function alone is on lines that it writes when all is well.
            if len(group) > 1 or not re.fullmatch(r"[a-z]\w*_\w+", group[0]):
                yield group


def rows_of(rows):
    seen = set()
    for row in rows:
        found = cause(row)
        if not found:
            continue
        for number, group in enumerate(groups(row), 1):
            longest = max(group, key=len)
            if longest in COMMON or len(longest) < LITERAL or tuple(group) in seen:
                continue
            seen.add(tuple(group))
            yield [f"kb.{row['code'].removeprefix('AISW_')}.{number}", *found, group]


def toml(rows):
    source = rows[0]["source"]
    text = [
        "# Words of faults that the knowledge base of ascend-faultdiag knows (Apache-2.0): key, cause, weight, and",
        "# words that a line holds in this order.",
        "#",
        "# Written by scripts/gen_knowledge.py, which says what each is due to; not edited by hand.",
        "schema = 1",
        f"source = {json.dumps(source)}",
        "rows = [",
    ]
    text += ["  " + json.dumps(row, ensure_ascii=False) + "," for row in rows_of(rows)]
    return "\n".join([*text, "]"]) + "\n"


def main():
    facts = pathlib.Path(sys.argv[1]) / "faultdiag_knowledge_base.json"
    text = toml(json.loads(facts.read_text())["rows"])
    if "--check" in sys.argv:
        sys.exit(OUT.read_text() != text)
    OUT.write_text(text)


if __name__ == "__main__":
    main()
