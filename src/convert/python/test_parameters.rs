//! Parameters of tests: those that name devices the author can run, and those from fixtures.

use ruff_python_ast::{Expr, ExprCall, StmtFunctionDef};

use super::literal;
use super::names::cuda_device;

/// Whether a test is parametrized by CUDA with a separate ID or separate marks:
/// `pytest.param("cuda", id="gpu", marks=…)`. These do not hold for NPUs.
pub(super) fn names_cuda(def: &StmtFunctionDef) -> bool {
    let calls = def.decorator_list.iter().filter_map(|one| one.expression.as_call_expr());
    calls.filter(|call| last_name(&call.func) == "parametrize").any(|call| {
        let values = call.arguments.args.get(1);
        values.and_then(Expr::as_list_expr).is_some_and(|list| list.elts.iter().any(names_cuda_by))
    })
}

fn names_cuda_by(element: &Expr) -> bool {
    let Some(call) = element.as_call_expr().filter(|call| last_name(&call.func) == "param") else {
        return false;
    };
    let ExprCall { arguments, .. } = call;
    let named = ["id", "marks"].iter().any(|name| arguments.find_keyword(name).is_some());
    named && arguments.args.iter().filter_map(literal::plain).any(cuda_device)
}

/// Whether a function is a fixture of pytest.
pub(super) fn is_fixture(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|one| {
        let name = match &one.expression {
            Expr::Call(call) => last_name(&call.func),
            other => last_name(other),
        };
        name == "fixture"
    })
}

fn last_name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}
