//! `verify` without devices, and on the simulated libraries of `--simulator`.

use std::path::Path;

use anyhow::Result;

use super::{Inputs, OTHER_FORMATS};
use crate::same::case::{Case, Plan, args};

/// Runs without a CANN library.
const WITHOUT_DEVICES: [(&str, &str); 14] = [
    ("text-en", ""),
    ("text-zh", "--lang zh"),
    ("verbose", "-v"),
    ("quiet", "-q"),
    ("json", "--json"),
    ("format-json", "--format json"),
    ("standard", "--level standard"),
    ("extended", "--level extended --yes"),
    ("rung-load", "--rung load"),
    ("rung-number", "--rung 2"),
    ("device", "--device 3"),
    ("floor", "--floor h2d=10,d2d=200"),
    ("host", "--host node-17 --json"),
    ("timeout", "--call-timeout 5 --dtype fp16"),
];

/// Rejected command lines.
const REFUSED: [(&str, &str); 7] = [
    ("extended-without-yes", "--level extended"),
    ("stress-without-yes", "--rung stress"),
    ("unknown-rung", "--rung zebra"),
    ("unknown-dtype", "--dtype fp4"),
    ("invalid-floor", "--floor fast"),
    ("missing-env-file", "--env-file nothing.env"),
    ("missing-baseline", "--baseline nothing.json"),
];

/// Faults of the simulated libraries (`crates/sim-core`), with the options that reveal them.
const FAULTS: [(&str, &str, &str); 36] = [
    ("none", "", ""),
    ("none-standard", "", "--level standard"),
    ("none-fabric", "", "--rung fabric"),
    ("none-kernel", "", "--rung kernel"),
    ("init", "aclInit:ret=500000", ""),
    ("init-crash", "aclInit:segv", ""),
    ("init-hang", "aclInit:hang", "--call-timeout 1"),
    ("set-device", "aclrtSetDevice:ret=507033", ""),
    ("set-device-exit", "aclrtSetDevice:exit=7", ""),
    ("one-device", "aclrtSetDevice#1:ret=507033", ""),
    ("stream", "aclrtCreateStream:ret=107000", ""),
    ("malloc", "aclrtMalloc:ret=207001", ""),
    ("memcpy", "aclrtMemcpy:ret=507899", ""),
    ("memcpy-to-device", "aclrtMemcpy@2:flip", "--rung memory"),
    ("memcpy-once", "aclrtMemcpy@3:zero", "--rung memory"),
    ("memcpy-from-device", "aclrtMemcpy@3+:stale", "--rung memory"),
    ("memcpy-on-device", "aclrtMemcpyAsync:swap", "--rung memory"),
    ("memcpy-over", "aclrtMemcpy@2:over", "--rung memory"),
    ("add", "aclnnAdd:ret=561003", ""),
    ("tensor-null", "aclCreateTensor:null", "--dtype fp16"),
    ("add-flip", "kernel@1+:flip", "--rung compute --dtype fp16"),
    ("add-once", "kernel@1:nan", "--rung compute --dtype fp32"),
    ("matmul-tail", "kernel@2+:tail", "--rung compute --dtype bf16"),
    ("matmul-stripe", "kernel@2+:stripe", "--rung compute --dtype fp16"),
    ("matmul-over", "kernel@2:over", "--rung compute --dtype bf16"),
    ("kernel-code", "kernel@1:ret=507015", "--rung compute --dtype fp16"),
    ("own-kernel", "core#7:flip", "--rung kernel"),
    ("own-kernel-compile", "aclrtcCompileProg:ret=176003", "--rung kernel"),
    ("leak", "aclrtFree:leak", ""),
    ("say", "aclInit:say=300", ""),
    ("link", "link#1-0:flip", "--rung fabric"),
    ("link-once", "link@2:zero", "--rung fabric"),
    ("peer", "aclrtDeviceEnablePeerAccess:ret=107000", "--rung fabric"),
    ("rank", "HcclCommInitRootInfo#1:ret=4", "--rung fabric"),
    ("rank-crash", "HcclAllReduce#1:segv", "--rung fabric"),
    ("sum", "part#1:flip", "--rung fabric"),
];

/// The simulated libraries by their names in CANN 8.5.
const LIBRARIES: [(&str, &str); 5] = [
    ("libascendcl.so", "libascendcl.so"),
    ("libnnopbase.so", "libnnopbase.so"),
    ("libopapi.so", "libopapi.so"),
    ("libacl_rtc.so", "libacl_rtc.so"),
    ("libhccl.so", "libhccl.so"),
];

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let case = |name: String| Case::new(name).step(args!["verify"]);
    for (name, flags) in WITHOUT_DEVICES {
        plan.add(case(format!("verify/without-devices/{name}")).flags(flags));
    }
    for format in OTHER_FORMATS {
        for lang in ["en", "zh"] {
            let case = case(format!("verify/without-devices/{format}-{lang}"));
            plan.add(case.flags(&format!("--format {format} --lang {lang}")));
        }
    }
    for (name, flags) in REFUSED {
        plan.add(case(format!("verify/refused/{name}")).flags(flags).refused());
    }
    let Some(simulator) = &inputs.simulator else {
        plan.skip("verify on devices: no --simulator");
        return Ok(());
    };
    let dir = inputs.subdir("simulator")?;
    for (from, to) in LIBRARIES {
        let from = simulator.join(from);
        if !from.is_file() {
            plan.skip(format!("verify on devices: no library `{}`", from.display()));
            return Ok(());
        }
        std::fs::copy(from, dir.join(to))?;
    }
    add_simulated(plan, &dir);
    Ok(())
}

fn add_simulated(plan: &mut Plan, libraries: &Path) {
    let case = |name: String| {
        let case = Case::new(name).env("ASCEND_DOCTOR_ALLOW_SIM", "1");
        // Ranks must give up on a missing rank before their parent does.
        let case = case.env("ASCSIM_CONNECT_MS", "1500");
        let case = case.env("LD_LIBRARY_PATH", &libraries.display().to_string());
        case.step(args!["verify"]).timed()
    };
    for (name, fault, flags) in FAULTS {
        let flags = if flags.contains("--call-timeout") {
            flags.to_owned()
        } else {
            format!("{flags} --call-timeout 4")
        };
        // If two devices compile the same kernel at the same time, chance decides which one finds
        // it in the cache.
        let devices =
            if flags.contains("kernel") || flags.contains("standard") { "1" } else { "2" };
        for (variant, more) in [("text-zh", "-v --lang zh"), ("json", "--format json")] {
            let case = case(format!("verify/fault-{name}/{variant}"));
            plan.add(
                case.env("ASCSIM_DEVICES", devices)
                    .env("ASCSIM_FAULT", fault)
                    .flags(&flags)
                    .flags(more),
            );
        }
    }
    // The tables of `markdown` and `html` contain durations.
    for format in ["junit", "sarif", "openmetrics", "line"] {
        let case = case(format!("verify/simulated/{format}")).env("ASCSIM_FAULT", "kernel@1+:flip");
        plan.add(case.flags("--format").flags(format));
    }
    for soc in ["Ascend910A", "Ascend910B3", "Ascend310P3", "Ascend910_9391", "Unknown1"] {
        let case = case(format!("verify/soc-{soc}")).env("ASCSIM_SOC", soc);
        plan.add(case.flags("--level standard -v"));
    }
    for (name, variable, value, flags) in [
        ("no-devices", "ASCSIM_DEVICES", "0", ""),
        ("eight-devices", "ASCSIM_DEVICES", "8", "-v"),
        ("no-such-device", "ASCSIM_DEVICES", "2", "--device 5"),
        ("visible", "ASCEND_RT_VISIBLE_DEVICES", "1,0", ""),
        ("without-permission", "ASCEND_DOCTOR_ALLOW_SIM", "0", ""),
    ] {
        plan.add(case(format!("verify/simulated/{name}")).env(variable, value).flags(flags));
    }
}
