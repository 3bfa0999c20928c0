//! Logs of several ranks: the location of the fault.

use std::fmt::Write as _;
use std::path::Path;

use errcodes::log::Diagnosis;

use super::examined;

/// A tree of plogs, one for each rank: its name and its text.
fn tree(files: &[(String, String)]) -> Diagnosis {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    examined(dir.path())
}

fn plog(rank: u32) -> String {
    format!("worker-{}/debug/plog/plog-{}_20251024111600000.log", rank / 8, 3_000 + rank)
}

/// The identity lines of a plog.
fn identity(rank: u32, size: u32) -> String {
    let pid = 3_000 + rank;
    format!(
        "[INFO] HCCL({pid},python):2025-10-24-11:16:00.000.000 [op_base.cc:1] [{pid}]Entry-HcclCommInitRootInfoInner:ranks[{size}], rank[{rank}], rootinfo: host ip[127.0.0.1] port[60000], deviceLogicId[{}]\n",
        rank % 8
    )
}

/// An unfinished operation, in the format of HCCL.
fn waiting(rank: u32, time: &str, tag: &str, index: u32, count: u32) -> String {
    let pid = 3_000 + rank;
    let head = |line: u32| {
        format!(
            "[ERROR] HCCL({pid},python):2025-10-24-{time}.000.000 [task_exception_handler.cc:{line}] [{pid}][TaskExecStage][Timeout][Host]Task run failed, "
        )
    };
    format!(
        "{}base information is streamID:[2], taskID[21], tag[{tag}], AlgType(level 0-1-2):[fullmesh-ring-NHR].\n\
         {}groupRank information is group:[g], user define information[], rankSize[4], rankId[{rank}].\n\
         {}opData information is timeStamp:[2025-10-24-11:16:55.493.816], deviceId[{}], index[{index}], count[{count}], reduceType[sum], src[0x1], dst[0x2], dataType[float32].\n",
        head(908),
        head(771),
        head(704),
        rank % 8
    )
}

fn four(text: impl Fn(u32) -> String) -> Vec<(String, String)> {
    (0..4).map(|rank| (plog(rank), identity(rank, 4) + &text(rank))).collect()
}

fn first(found: &Diagnosis) -> (&str, &[u32]) {
    let first = found.causes.first().unwrap_or_else(|| panic!("{found:#?}"));
    (&first.cause, &first.culprit.ranks)
}

#[test]
fn a_rank_in_another_operation_is_the_odd_one() {
    let found = tree(&four(|rank| {
        let operation = if rank == 2 { "AllGather" } else { "AllReduce" };
        waiting(rank, "11:47:30", &format!("{operation}_127.10.0.1%enp_60000_0_17"), 21, 256)
    }));
    assert_eq!(first(&found), ("hccl.op_sequence_mismatch", &[2][..]), "{found:#?}");
    assert!(found.causes[0].consequences.iter().any(|one| one.cause == "hccl.notify_wait_timeout"));
}

#[test]
fn other_counts_are_other_arguments() {
    let found = tree(&four(|rank| {
        waiting(rank, "11:47:30", "AllReduce_g_0_17", 21, if rank == 3 { 255 } else { 256 })
    }));
    assert_eq!(first(&found), ("hccl.param_mismatch", &[3][..]), "{found:#?}");
}

#[test]
fn a_rank_whose_time_out_ends_much_later_was_late() {
    let found = tree(&four(|rank| {
        waiting(rank, if rank == 1 { "12:25:00" } else { "11:47:30" }, "AllReduce_g_0_17", 21, 256)
    }));
    assert_eq!(first(&found), ("hccl.slow_rank", &[1][..]), "{found:#?}");
}

#[test]
fn who_fails_first_explains_why_the_others_wait() {
    let found = tree(&four(|rank| {
        match rank {
        3 => "[ERROR] RUNTIME(3003,python):2025-10-24-11:17:01.000.000 [npu_driver.cc:1]3003 DevMemAlloc:[drv api] halMemAlloc failed:size=34359738368(bytes), type=2, drvRetCode=6, device_id=3\n".to_owned(),
        _ => waiting(rank, "11:47:30", "AllReduce_g_0_17", 21, 256),
    }
    }));
    assert_eq!(first(&found), ("memory.device_oom", &[3][..]), "{found:#?}");
}

#[test]
fn the_rank_that_does_not_wait_is_named() {
    let found = tree(&four(|rank| match rank {
        2 => {
            "[INFO] GE(3002,python):2025-10-24-11:17:01.000.000 [a.cc:1]3002 F:step 7\n".to_owned()
        }
        _ => waiting(rank, "11:47:30", "AllReduce_g_0_17", 21, 256),
    }));
    assert_eq!(first(&found), ("hccl.notify_wait_timeout", &[2][..]), "{found:#?}");
    assert_eq!(found.causes[0].culprit.by, "does_not_wait");
}

#[test]
fn ranks_without_a_log_are_missed() {
    let mut files = four(|rank| waiting(rank, "11:47:30", "AllReduce_g_0_17", 21, 256));
    files.remove(1);
    let found = tree(&files);
    assert_eq!(found.silent_ranks, [1]);
    assert_eq!(first(&found), ("hccl.notify_wait_timeout", &[1][..]), "{found:#?}");
}

#[test]
fn the_root_names_whom_it_heard_of() {
    let mut log = String::new();
    for line in [
        "topo exchange server get socket timeout! timeout[120 s]",
        "total connected num is [4],line num is [1]",
        "need connect rankNum is [8]",
        "connected rankinfo[LINE 0]: [0000000000000000],[0000000000000002],[0000000000000004],[0000000000000006];",
    ] {
        let _ = writeln!(
            log,
            "[ERROR] HCCL(9,p):2025-11-21-01:20:01.624.966 [topoinfo_exchange_server.cc:314] [9][InitGroupStage][RanktableDetect]{line}"
        );
    }
    let found = tree(&[("root.log".to_owned(), log)]);
    assert_eq!(first(&found), ("hccl.cluster_negotiation_timeout", &[1, 3, 5, 7][..]));
}

#[test]
fn a_chain_of_links_is_followed_to_its_end() {
    let row = |rank: u32, dest: u32| {
        format!(
            "[ERROR] HCCL({pid},p):2026-03-18-10:33:52.113.403 [a.cc:1] [1][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[{rank}] timeout[120 s]\n\
             [ERROR] HCCL({pid},p):2026-03-18-10:33:52.113.706 [a.cc:583] [1]   |  192.0.2.{dest}({dest})   |  16666  |   192.0.2.{rank}({rank})   |  323  |  client  | time out |   DISABLE  | LinkInfo\n",
            pid = 3_000 + rank
        )
    };
    let files: Vec<(String, String)> =
        [(0, 1), (1, 2), (2, 3)].map(|(rank, dest)| (plog(rank), row(rank, dest))).into();
    let found = tree(&files);
    assert_eq!(first(&found), ("hccl.socket_timeout", &[3][..]), "{found:#?}");
    assert_eq!(found.causes[0].culprit.by, "link_chain");
}

/// Devices of one machine wait for each other by device ID, ranks of different machines by
/// rank.
#[test]
fn a_chain_goes_on_within_a_machine() {
    let link = |rank: u32, dest: u32| {
        format!(
            "[ERROR] HCCL({pid},p):2026-03-18-10:33:52.113.706 [a.cc:553] [1]   |  192.0.2.{dest}({dest})  |   192.0.2.{rank}({rank})   |  server  | no connect |   \n",
            pid = 3_000 + rank
        )
    };
    let p2p = |rank: u32, device: u32| {
        format!(
            "[ERROR] HCCL({pid},p):2026-03-18-10:33:53.113.706 [p2p_mgmt.cc:305] [1][Wait][P2PConnected]connected p2p timeout, timeout:130 s. local logicDevid:{}, remote physic id:{device}.\n",
            rank % 8,
            pid = 3_000 + rank
        )
    };
    let setup = |rank: u32| {
        format!(
            "[INFO] HCCL({pid},p):2026-03-18-10:31:00.000.000 [topoinfo_detect.cc:506] [1][HCCL_TRACE][Flat]SetupAgent rankNum[16], rank[{rank}], rootInfo identifier[x], logicDevId[{device}], phydevId[{device}]\n",
            pid = 3_000 + rank,
            device = rank % 8
        )
    };
    let found = tree(&[
        (plog(2), setup(2) + &link(2, 10)),
        (plog(8), setup(8) + &p2p(8, 1)),
        (plog(9), setup(9)),
        (plog(10), setup(10) + &link(10, 8) + &p2p(10, 1)),
    ]);
    let first = &found.causes[0];
    assert_eq!(
        (&first.culprit.ranks[..], first.culprit.by),
        (&[9][..], "link_chain"),
        "{found:#?}"
    );
}

/// If two ranks wait for each other, both are named; a rank outside the job is ignored.
#[test]
fn a_circle_has_no_end() {
    let link = |rank: u32, dest: u32| {
        identity(rank, 3)
            + &format!(
                "[ERROR] HCCL({pid},p):2026-03-18-10:33:52.113.706 [a.cc:553] [1]   |  192.0.2.{dest}({dest})  |   192.0.2.{rank}({rank})   |  client  | no connect |   \n\
                 [ERROR] HCCL({pid},p):2026-03-18-10:33:52.113.403 [a.cc:1] [1]wait socket establish timeout, role[1] rank[{dest}] timeout[120 s]\n",
                pid = 3_000 + rank
            )
    };
    let links = [(0, 1), (1, 0), (2, 3)];
    let files: Vec<_> = links.map(|(rank, dest)| (plog(rank), link(rank, dest))).into();
    assert_eq!(first(&tree(&files)), ("hccl.socket_timeout", &[0, 1][..]));
}

#[test]
fn errors_of_another_time_are_stale() {
    let log = "[PID: 7] 2026-09-08-07:06:29.459.524 Invalid_Argument(EL0002): Invalid device ID. Check whether the device ID is valid.\n\
        EZ9999[PID: 7] 2026-09-08-09:20:07.459.524 (EZ9999):  The extend info: errcode:(0, 0x1000, 0) errorStr: x\n";
    let found = tree(&[("run.log".to_owned(), log.to_owned())]);
    assert_eq!(first(&found).0, "aicore.vec_illegal_instr_cfg", "{found:#?}");
    assert!(format!("{:?}", found.rejected).contains("Stale"), "{:?}", found.rejected);
}

#[test]
fn an_empty_directory_says_so() {
    let found = examined(Path::new(tempfile::tempdir().unwrap().path()));
    assert!(found.causes.is_empty());
    assert_eq!(found.problems.len(), 1);
}
