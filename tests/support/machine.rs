//! Machines by their specification.

use serde::Deserialize;
use serde_json::json;

use super::tree::Tree;
use super::versions::cxx11;
use super::{cann, host, python, torch};

/// The kind of machine to build. The default is a healthy Atlas A2 host.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// `aarch64` or `x86_64`.
    pub arch: String,
    /// Operating system, for example `ubuntu22.04`.
    pub os: String,
    /// Chip family as in image tags: `910b`, `a3`, `310p`, `910`, `950`; the target of the toolkit.
    pub chip: String,
    /// The number of NPUs visible to the machine (or container); 0 for none.
    pub npus: u32,
    /// CANN release, or empty.
    pub cann: String,
    /// Package of CANN: `toolkit`, or `nnae`, which has no compiler for custom kernels.
    pub package: String,
    /// Driver release, or empty.
    pub driver: String,
    /// `torch_npu` release, or empty.
    pub torch_npu: String,
    /// Python, for example `3.11`; empty for none.
    pub python: String,
    /// `venv`, `conda`, `system` or `image`.
    pub env: String,
    /// Whether it is a container.
    pub container: bool,
    /// NNAL release: `same` as CANN, a release, or empty.
    pub nnal: String,
    /// `cxx_abi_<n>` in the variables; that of torch by default.
    pub abi: Option<u8>,
    /// The source of the variables: `set_env`, `image`, `none` (a shell without them), `unknown`.
    pub sourced: String,
    /// vllm-ascend release, or empty.
    pub vllm_ascend: String,
    /// MindSpore release, or empty.
    pub mindspore: String,
    /// sglang release, or empty.
    pub sglang: String,
    /// Whether `/etc/hccn.conf` exists (hosts).
    pub hccn: bool,
    /// `root`, or `ma`: a user in the driver's group.
    pub user: String,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            arch: "aarch64".to_owned(),
            os: "ubuntu22.04".to_owned(),
            chip: "910b".to_owned(),
            npus: 8,
            cann: "8.3.RC1".to_owned(),
            package: "toolkit".to_owned(),
            driver: "25.3.rc1".to_owned(),
            torch_npu: "2.7.1".to_owned(),
            python: "3.11".to_owned(),
            env: "venv".to_owned(),
            container: false,
            nnal: "same".to_owned(),
            abi: None,
            sourced: "set_env".to_owned(),
            vllm_ascend: String::new(),
            mindspore: String::new(),
            sglang: String::new(),
            hccn: true,
            user: "root".to_owned(),
        }
    }
}

impl Spec {
    /// Host name of the machine.
    pub fn hostname(&self) -> String {
        format!("{}-{}", if self.container { "pod" } else { "node" }, self.chip)
    }

    /// A description in one line.
    pub fn describe(&self) -> String {
        format!(
            "{} {} {} CANN {} driver {} torch_npu {} Python {} {} {}{}",
            self.arch,
            self.os,
            self.chip,
            self.cann,
            self.driver,
            self.torch_npu,
            self.python,
            self.env,
            self.sourced,
            if self.container { " container" } else { "" }
        )
    }

    /// Builds the machine.
    pub fn build(&self) -> Tree {
        let mut tree = Tree::default();
        host::system(&mut tree, self);
        if self.npus > 0 {
            host::devices(&mut tree, self);
        } else {
            tree.dir("/sys/bus/pci/devices");
            tree.node("/dev/null", json!({ "type": "char", "mode": "0666", "uid": 0, "gid": 0 }));
        }
        if !self.driver.is_empty() {
            host::driver(&mut tree, self, &self.driver);
        }
        let installed = (!self.python.is_empty()).then(|| python::interpreter(&mut tree, self));
        let toolkit = (!self.cann.is_empty())
            .then(|| cann::toolkit(&mut tree, self, &self.cann, "/usr/local/Ascend"));
        if let Some(toolkit) = &toolkit {
            tree.places.insert("cann".to_owned(), toolkit.root.clone());
            tree.places.insert("home".to_owned(), toolkit.home.clone());
            match self.sourced.as_str() {
                "set_env" => {
                    cann::source_set_env(
                        &mut tree,
                        &self.arch,
                        &toolkit.home,
                        !self.driver.is_empty(),
                    );
                }
                "image" => cann::image_env(&mut tree, toolkit),
                _ => {}
            }
        }
        self.install_nnal(&mut tree);
        if let Some(python) = &installed {
            tree.places.insert("site".to_owned(), python.site.clone());
            tree.places.insert("prefix".to_owned(), python.prefix.clone());
            if !self.torch_npu.is_empty() {
                let version = torch::torch_for(&self.torch_npu, &self.arch);
                torch::torch(&self.arch, python, &version).write(&mut tree, &python.site);
                torch::torch_npu(&self.arch, python, &self.torch_npu)
                    .write(&mut tree, &python.site);
            }
            if !self.vllm_ascend.is_empty() {
                torch::vllm(&mut tree, self, python, &self.vllm_ascend);
            }
            if !self.mindspore.is_empty() {
                torch::mindspore(&mut tree, self, python, &self.mindspore);
            }
            if !self.sglang.is_empty() {
                torch::sglang(&mut tree, self, python, &self.sglang);
            }
        }
        if self.sourced == "unknown" {
            tree.env = None;
        } else if tree.env.is_none() {
            // Every shell has at least this.
            tree.set_env("PATH", "/usr/local/bin:/usr/bin:/bin");
        }
        self.identify(&mut tree);
        tree
    }

    fn install_nnal(&self, tree: &mut Tree) {
        let version = match self.nnal.as_str() {
            "" => return,
            "same" if self.cann.is_empty() => return,
            "same" => &self.cann,
            other => other,
        };
        let root = cann::nnal(tree, &self.arch, version, "/usr/local/Ascend");
        tree.places.insert("nnal".to_owned(), root);
        let torch = torch_version(&self.torch_npu);
        if matches!(self.sourced.as_str(), "set_env" | "image") {
            // set_env.sh queries the installed torch; images have a fixed one.
            let abi = u8::from(torch.is_empty() || cxx11(torch, &self.arch));
            cann::source_nnal(tree, "/usr/local/Ascend", self.abi.unwrap_or(abi));
        }
    }

    fn identify(&self, tree: &mut Tree) {
        let process = &mut tree.process;
        process.insert("arch".to_owned(), json!(self.arch));
        process.insert("in_container".to_owned(), json!(self.container));
        let (uid, groups, caps) = match self.user.as_str() {
            "root" => (0, json!([0]), json!("all")),
            _ => (1001, json!([1001, 1000]), json!("none")),
        };
        process.insert("uid".to_owned(), json!(uid));
        process.insert("gid".to_owned(), json!(uid));
        process.insert("groups".to_owned(), groups);
        process.insert("caps".to_owned(), caps);
    }
}

/// The torch of a `torch_npu`, or empty.
fn torch_version(torch_npu: &str) -> &'static str {
    super::versions::TORCH_NPU
        .iter()
        .find(|row| row.version == torch_npu)
        .map_or("", |row| row.torch)
}
