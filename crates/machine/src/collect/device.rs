//! Device nodes below `/dev` and functions on the PCI bus.

use crate::sysroot::{ReadError, Sysroot};
use facts::{Devices, Facts, Node, NodeOwner, PciFunction};

/// Prefixes of the names of nodes that the Ascend driver creates.
const NODES: &[&str] =
    &["davinci", "devmm_svm", "asdrv_svm", "hisi_hdc", "dvpp_cmdlist", "uburma", "ummu"];
/// Maximum number of kept nodes and functions.
const MAX_NODES: usize = 1024;

const PCI: &str = "/sys/bus/pci/devices";
/// Maximum number of bytes read from a file in `/sys`.
const ID_LIMIT: u64 = 64;

pub(super) fn collect(sysroot: &Sysroot, facts: &mut Facts) {
    facts.devices = Devices { pci: pci(sysroot), ..Devices::default() };
    match sysroot.list("/dev") {
        Ok(names) => {
            facts.devices.dev_listed = sysroot.knows_device_nodes();
            facts.devices.nodes = names
                .iter()
                .filter(|name| NODES.iter().any(|start| name.starts_with(start)))
                .take(MAX_NODES)
                .filter_map(|name| node(sysroot, &format!("/dev/{name}")))
                .collect();
        }
        // `/dev` may be missing in a tree whose sidecar states that there are no nodes.
        Err(ReadError::NotFound) => facts.devices.dev_listed = sysroot.knows_device_nodes(),
        Err(error) => sysroot.read_problem("/dev", &error),
    }
}

fn node(sysroot: &Sysroot, path: &str) -> Option<Node> {
    match sysroot.stat(path) {
        Ok(stat) => Some(Node {
            path: path.to_owned(),
            kind: stat.kind,
            owner: stat.owner_known.then_some(NodeOwner {
                mode: stat.mode,
                uid: stat.uid,
                gid: stat.gid,
            }),
            device: stat.device,
        }),
        Err(error) => {
            sysroot.read_problem(path, &error);
            None
        }
    }
}

/// Functions of Huawei (vendor 0x19e5) whose device id begins with `d`: the NPUs. The class is not
/// sufficient, because the compression engine of a Kunpeng processor is a processing accelerator of
/// the same vendor.
fn pci(sysroot: &Sysroot) -> Option<Vec<PciFunction>> {
    let names = sysroot.list(PCI).ok()?;
    let mut found = Vec::new();
    for address in names {
        let id = |file: &str| {
            let bytes = sysroot.read(&format!("{PCI}/{address}/{file}"), ID_LIMIT).ok()?;
            Some(String::from_utf8_lossy(&bytes).trim().to_ascii_lowercase())
        };
        if id("vendor").as_deref() != Some("0x19e5") {
            continue;
        }
        let Some(device) = id("device").filter(|device| device.starts_with("0xd")) else {
            continue;
        };
        if found.len() == MAX_NODES {
            break;
        }
        let subsystem_device = id("subsystem_device");
        let class = id("class");
        let driver = sysroot.read_link(&format!("{PCI}/{address}/driver")).ok();
        let driver = driver.and_then(|link| Some(link.rsplit('/').next()?.to_owned()));
        found.push(PciFunction { address, device, subsystem_device, class, driver });
    }
    Some(found)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]
mod tests {
    use std::fs;

    use super::*;
    use facts::FileKind;

    #[test]
    fn nodes_from_the_sidecar_and_functions_from_sys() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(
            dir.path().join(".rootmeta.json"),
            r#"{"/dev/davinci0": {"type": "char", "mode": "0660", "uid": 1000, "gid": 1001},
                "/dev/davinci_manager": {"type": "char"},
                "/dev/null": {"type": "char"}}"#,
        )
        .unwrap();
        for (address, vendor, device) in [
            ("0000:01:00.0", "0x19e5", "0xa250"), // a compression engine of Kunpeng
            ("0000:02:00.0", "0x8086", "0xd802"),
            ("0000:c1:00.0", "0x19e5", "0xD802"),
        ] {
            let at = dir.path().join("sys/bus/pci/devices").join(address);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("vendor"), format!("{vendor}\n")).unwrap();
            fs::write(at.join("device"), format!("{device}\n")).unwrap();
        }
        let mut facts = Facts::default();
        collect(&Sysroot::tree(dir.path()).unwrap(), &mut facts);

        assert!(facts.devices.dev_listed);
        let nodes = &facts.devices.nodes;
        assert_eq!(
            nodes.iter().map(|n| n.path.as_str()).collect::<Vec<_>>(),
            ["/dev/davinci0", "/dev/davinci_manager"]
        );
        assert_eq!(nodes[0].kind, FileKind::Char);
        assert_eq!(nodes[0].owner, Some(NodeOwner { mode: 0o660, uid: 1000, gid: 1001 }));
        assert_eq!(nodes[1].owner, None);
        let pci = facts.devices.pci.unwrap();
        assert_eq!(pci.len(), 1);
        assert_eq!((pci[0].address.as_str(), pci[0].device.as_str()), ("0000:c1:00.0", "0xd802"));
    }

    #[test]
    fn an_empty_tree_has_nothing_and_no_problem() {
        let dir = tempfile::tempdir().unwrap();
        let sysroot = Sysroot::tree(dir.path()).unwrap();
        let mut facts = Facts::default();
        collect(&sysroot, &mut facts);
        assert_eq!(facts.devices, Devices::default());
        assert!(sysroot.problems().is_empty());
    }
}
