use super::*;

/// Returns the operators of the code of a model, as `operator count`.
fn uses(code: &str, root: Option<&str>) -> Vec<String> {
    let files = [("__torch__".to_owned(), "code/__torch__.py".to_owned(), code.to_owned())];
    let model = walk(&files, root).unwrap();
    model.uses.iter().map(|(op, used)| format!("{op} {}", used.count)).collect()
}

const NET: &str = r#"
class Inner(Module):
  weight : Tensor
  def forward(self: __torch__.Inner,
    x: Tensor) -> Tensor:
    weight = self.weight
    return torch.linear(x, weight)
  def unused(self: __torch__.Inner, x: Tensor) -> Tensor:
    return torch.mode(x)
class Net(Module):
  __annotations__["0"] = __torch__.Inner
  n : int
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    _0 = __torch__.twice
    _1 = getattr(self, "0")
    n = self.n
    if torch.eq(torch.add(n, 1), 3):
      y = (_1).forward(x, )
    else:
      y = _0((_1).forward(x, ), )
    k = torch.len(torch.size(y))
    return torch.add(y, torch.mul(k, 2))
def twice(x: Tensor) -> Tensor:
  return ops.torchvision.nms(torch.add(x, x), x, 0.5)
"#;

#[test]
fn counts_only_tensor_operators_reached_by_forward() {
    assert_eq!(
        uses(NET, Some("__torch__.Net")),
        ["aten::add 2", "aten::linear 2", "torchvision::nms 1"]
    );
}

#[test]
fn counts_all_functions_once_without_root_class() {
    let all = uses(NET, None);
    assert!(all.contains(&"aten::mode 1".to_owned()) && all.contains(&"aten::linear 1".to_owned()));
}

#[test]
fn recursion_terminates() {
    let code = "def f(x: Tensor) -> Tensor:\n  return __torch__.f(torch.relu(x), )\nclass N(Module):\n  def forward(self: __torch__.N, x: Tensor) -> Tensor:\n    return __torch__.f(x, )\n";
    // One walk for each set of known arguments.
    assert_eq!(uses(code, Some("__torch__.N")), ["aten::relu 2"]);
}

/// The longest chain of calls in an archive needs no more stack than a short one.
#[test]
fn long_call_chain_terminates() {
    let mut code = String::from(
        "class N(Module):\n  def forward(self: __torch__.N, x: Tensor) -> Tensor:\n    return __torch__.f0(torch.relu(x), )\n",
    );
    for number in 0..20_000 {
        let next = number + 1;
        code += &format!("def f{number}(x: Tensor) -> Tensor:\n  return __torch__.f{next}(x, )\n");
    }
    assert_eq!(uses(&code, Some("__torch__.N")), ["aten::relu 1"]);
}
