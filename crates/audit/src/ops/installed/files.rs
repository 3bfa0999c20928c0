//! The registration files that torch_npu and PyTorch ship.
//!
//! `torch_npu/csrc/aten/npu_native_functions.yaml` and `npu_native_functions_by_codegen.yaml` list
//! the registrations of torch_npu. `torchgen/packaged/ATen/native/native_functions.yaml` describes
//! how each PyTorch operator runs on a device that registers nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::yaml::{self, Node, Value};
use data::{Fault, faults};

/// An entry of a torch_npu registration file: a name, or a schema with more keys.
#[derive(Debug, Default)]
struct Entry {
    func: String,
    impl_ns: Option<String>,
    op_api: bool,
    acl_op: bool,
    sparse: bool,
}

impl Entry {
    fn of(node: Node) -> Result<Self, Fault> {
        let place = node.place;
        let wrong = || place.fail("an entry is a name, or a map with `func`");
        match node.value {
            Value::Text(func, false) => Ok(Self { func, ..Self::default() }),
            Value::Map(mut all) => {
                let mut text = |key: &str| match all.remove(key).map(|node| node.value) {
                    None | Some(Value::Null) => Ok(None),
                    Some(Value::Text(text, false)) => Ok(Some(text)),
                    Some(_) => Err(wrong()),
                };
                let (func, impl_ns) = (text("func")?.ok_or_else(wrong)?, text("impl_ns")?);
                let mut there = |key: &str| all.remove(key).and_then(Node::there).is_some();
                let [op_api, acl_op, sparse] = ["op_api", "acl_op", "sparse"].map(&mut there);
                Ok(Self { func, impl_ns, op_api, acl_op, sparse })
            }
            _ => Err(wrong()),
        }
    }
}

/// Returns the entries of a part of a registration file; none if the part is missing.
fn entries(file: &mut BTreeMap<String, Node>, part: &str) -> Result<Vec<Entry>, Fault> {
    let list = file.remove(part).and_then(Node::there).map(Node::list).transpose()?;
    list.into_iter().flatten().map(Entry::of).collect()
}

/// The registrations in the files of torch_npu.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Kernels {
    /// Overloads of aten, without `aten::`, with flags as in `data/ops/kernels.tsv`.
    pub aten: BTreeMap<String, String>,
    /// Operators of torch_npu itself, without `npu::`.
    pub custom: BTreeSet<String>,
}

/// Returns the name in a schema: `add.Tensor(Tensor self, …) -> Tensor`, with or without `aten::`.
fn name_of(schema: &str) -> &str {
    let name = schema.split('(').next().unwrap_or(schema).trim();
    name.strip_prefix("aten::").unwrap_or(name)
}

impl Kernels {
    /// Adds the registrations of a file. With `own`, its plain entries are kernels of torch_npu
    /// itself.
    ///
    /// # Errors
    ///
    /// Returns a fault with its place if the text is not YAML of this form.
    pub fn add(&mut self, text: &str, own: bool) -> Result<(), Fault> {
        let mut file = yaml::read(text)?.map(Node::map).transpose()?.unwrap_or_default();
        let custom = entries(&mut file, "custom")?;
        let custom: BTreeSet<String> =
            custom.iter().map(|entry| name_of(&entry.func).to_owned()).collect();
        // Registrations only for quantized tensors (`quant`) are not kernels for other tensors.
        let mut all = Vec::new();
        for part in ["supported", "symint", "autograd"] {
            all.append(&mut entries(&mut file, part)?);
        }
        for entry in &all {
            let name = name_of(&entry.func);
            let namespaces = entry.impl_ns.as_deref().unwrap_or_default();
            let has = |name| namespaces.split(',').any(|each| each.trim() == name);
            let (aclnn, aclop) = (has("op_api") || entry.op_api, has("acl_op") || entry.acl_op);
            if !aclnn && !aclop && entry.sparse {
                continue;
            }
            let mut flags = String::new();
            for (there, flag) in [(aclnn, 'N'), (aclop, 'L'), (own, 'T')] {
                if there {
                    flags.push(flag);
                }
            }
            if flags.is_empty() {
                flags.push('K');
            }
            // The part `symint` contains operators of both kinds.
            if custom.contains(name) || self.custom.contains(name) {
                continue;
            }
            let known = self.aten.entry(name.to_owned()).or_default();
            for flag in flags.chars() {
                if !known.contains(flag) {
                    known.push(flag);
                }
            }
        }
        self.aten.retain(|name, _| !custom.contains(name));
        self.custom.extend(custom);
        Ok(())
    }
}

/// How PyTorch runs one overload: the overload that it is generated from, and flags as in
/// `data/ops/aten.tsv`.
pub type Generic = (Option<String>, String);

/// Returns how PyTorch runs each overload, by `native_functions.yaml`.
///
/// # Errors
///
/// Returns a fault with its place if the text is not YAML of this form.
pub fn native_functions(text: &str) -> Result<BTreeMap<String, Generic>, Fault> {
    let entries = yaml::read(text)?.map(Node::list).transpose()?.unwrap_or_default();
    let mut all = BTreeMap::new();
    for entry in entries {
        let place = entry.place;
        let mut entry = entry.map()?;
        let mut take = |key: &str| entry.remove(key).and_then(Node::there);
        let mut text = |key: &str| take(key).map(Node::text).transpose();
        let func = text("func")?
            .ok_or_else(|| place.fail(faults::MissingField { name: "func" }.fault()))?;
        let delegate = text("structured_delegate")?;
        let autogen = text("autogen")?;
        let dispatch = take("dispatch").map(Node::map).transpose()?;
        // CPU kernels are generated from it.
        let ufunc = take("ufunc_inner_loop").is_some();
        let name = name_of(&func);
        for generated in autogen.iter().flat_map(|names| names.split(',')) {
            let generated = generated.trim().to_owned();
            all.entry(generated).or_insert_with(|| (Some(name.to_owned()), "a".to_owned()));
        }
        let mut flags = String::new();
        if delegate.is_some() {
            flags.push('d');
        }
        match &dispatch {
            // An entry without a dispatch key is composed, and PyTorch differentiates through it.
            None if delegate.is_none() => flags.push('C'),
            None => {}
            Some(dispatch) => {
                let keys = || dispatch.keys().flat_map(|keys| keys.split(',')).map(str::trim);
                for (key, flag) in [
                    ("CompositeExplicitAutograd", 'E'),
                    ("CompositeExplicitAutogradNonFunctional", 'N'),
                    ("CompositeImplicitAutograd", 'C'),
                    ("CPU", 'c'),
                ] {
                    if keys().any(|known| known == key) {
                        flags.push(flag);
                    }
                }
            }
        }
        if ufunc && !flags.contains('c') {
            flags.push('c');
        }
        if flags.is_empty() {
            flags.push('-');
        }
        all.insert(name.to_owned(), (delegate, flags));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "backend: NPU\nsupported:\n  - as_strided\n  - func: clone\n    op_api: True\n  - my_op\ncustom:\n  - func: my_op(Tensor self) -> Tensor\n    exposed: True\nsymint:\n  - as_strided\n";
    const CODE: &str = "supported:\n- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n  impl_ns: acl_op, op_api\n- func: _coalesce(Tensor self) -> Tensor\n  sparse: op_api\n- func: max.out(Tensor self) -> Tensor\n  impl_ns: op_api\n  sparse: op_api\nquant:\n- func: int_repr(Tensor self) -> Tensor\n  impl_ns: acl_op\nsymint:\n- func: npu_x(SymInt a) -> Tensor\n  impl_ns: op_api\n- func: zeros(SymInt[] size) -> Tensor\n  impl_ns: op_api\ncustom:\n- func: npu_x(SymInt a) -> Tensor\n  impl_ns: op_api\n";

    #[test]
    fn parses_kinds_of_registrations() {
        let mut kernels = Kernels::default();
        kernels.add(OWN, true).unwrap();
        kernels.add(CODE, false).unwrap();
        let all: Vec<_> = kernels.aten.iter().map(|(n, f)| format!("{n}:{f}")).collect();
        assert_eq!(all, ["add.Tensor:NL", "as_strided:T", "clone:NT", "max.out:N", "zeros:N"]);
        assert_eq!(kernels.custom.into_iter().collect::<Vec<_>>(), ["my_op", "npu_x"]);
    }

    #[test]
    fn parses_dispatch_keys_of_native_functions() {
        let text = "# comment\n- func: lgamma(Tensor self) -> Tensor\n  structured_delegate: lgamma.out\n  variants: method, function\n  tags: pointwise\n\n- func: lgamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU, CUDA: lgamma_out\n- func: linear(Tensor a) -> Tensor\n- func: none(Tensor a) -> Tensor\n  dispatch: {}\n- func: kept(Tensor a) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: kept\n  autogen: kept.out, kept_other.out\n";
        let all = native_functions(text).unwrap();
        let flags = |name: &str| all[name].1.as_str();
        assert_eq!(all["lgamma"], (Some("lgamma.out".into()), "d".into()));
        assert_eq!((flags("lgamma.out"), flags("linear"), flags("none")), ("c", "C", "-"));
        assert_eq!(all["kept_other.out"], (Some("kept".into()), "a".into()));
        assert_eq!(flags("kept"), "E");
    }

    #[test]
    fn rejects_files_of_another_format() {
        for text in ["supported: 3\n", "- a\n", "supported: [\n", "\u{0}"] {
            assert!(Kernels::default().add(text, true).is_err(), "{text:?}");
        }
        assert!(native_functions("a: b\n").is_err());
        assert!(native_functions("- func: [x]\n").is_err());
    }
}
