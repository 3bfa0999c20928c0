//! The reasons that the walk finds, and tokens that it must leave open.

use super::*;
use crate::ledger::entry::Witness;
use crate::ledger::tokens;
use crate::options::Options;
use crate::python::plan;

/// The claims about the tokens of a planned source, in short form.
fn claims(source: &str) -> Vec<String> {
    let options = Options::default();
    let context = Context::alone(&options);
    let (tokens, _) = tokens::find(source, 99);
    let plan = plan(source, &context).unwrap();
    let subject =
        Subject { text: source, tokens: &tokens, plan: &plan, written: true, test: false };
    let explained = explain(&subject, &context).unwrap();
    let word = |claim: Claim| match claim {
        Claim::Is(Class::Kept { reason, witness: Witness::Line(line) }) => {
            format!("{}@{line}", reason.as_str())
        }
        Claim::Is(Class::Kept { reason, .. }) => reason.as_str().to_owned(),
        Claim::Is(class) => class.as_str().to_owned(),
        Claim::Own(name, _) | Claim::OwnOr(name, ..) => format!("own {name}"),
        Claim::Open => "open".to_owned(),
    };
    explained.claims.into_iter().map(word).collect()
}

#[test]
fn comments_documentation_and_messages_are_words() {
    assert_eq!(
        claims("# cuda\n'''On a GPU.'''\nprint('cuda', f'{x} gpu')\nraise E('no cuda')\n"),
        ["comment@1", "prose@2", "prose@3", "prose@3", "prose@4"]
    );
    assert_eq!(claims("p.add_argument('--x', help='gpu id')\n"), ["prose@1"]);
    assert_eq!(claims("warn(msg)\nx = 'Found no GPU on this host'\n"), ["prose@2"]);
}

#[test]
fn devices_stay_open_wherever_they_stand() {
    for source in [
        "f(kind='gpu')\n",
        "x = ['gpu', 'b']\n",
        "y = g(type='nccl:1')\n",
        "q = z == 'GPU'\n",
        "run({'accelerator': 'gpu'})\n",
    ] {
        let found = claims(source);
        assert!(found.iter().any(|claim| claim == "open"), "{source} {found:?}");
    }
}

#[test]
fn a_method_of_tensors_is_explained_by_no_variable() {
    let found = claims("cuda = 1\nfoo(x.cuda)\n");
    assert_eq!(found[0], "own_name@1");
    assert_ne!(found[1], "own_name@1");
}

#[test]
fn names_wait_for_the_definitions_of_the_tree() {
    assert_eq!(claims("x = cfg.gpu_ids\n"), ["own gpu_ids"]);
    assert_eq!(claims("n_gpu = 1\nf(n_gpu)\n"), ["own_name@1", "own n_gpu"]);
    assert_eq!(claims("import foo\nfoo.run(gpus=1)\n"), ["open"], "a parameter of a library");
}

#[test]
fn changes_and_reports_come_from_the_plan() {
    assert_eq!(claims("import torch\nx.to('cuda')\n"), ["changed"]);
    assert_eq!(claims("import cupy\ncupy.x()\n"), ["manual", "manual"]);
    assert_eq!(claims("import_module('cupy')\n"), ["manual"]);
    assert_eq!(claims("x.cuda()  # noqa: convert\n")[0], "switched_off@1");
}

#[test]
fn a_sibling_for_npus_is_the_witness() {
    let source = "if d == 'cuda':\n  a()\nelif d == 'npu':\n  b()\n";
    assert_eq!(claims(source), ["npu_sibling@3"]);
}

#[test]
fn keys_of_tables_and_options_are_their_own_definition() {
    assert_eq!(claims("x = {'cuda_rng_state': 1}\n"), ["table_key@1"]);
    assert_eq!(claims("p.add_argument('--use-gpu')\n"), ["own_name@1"]);
    assert_eq!(claims("x = {'cuda': f}\n"), ["open"], "a table of devices");
    assert_eq!(claims("x = {'gpu': f}\n"), ["table_key@1"], "no device of PyTorch");
}

#[test]
fn any_text_is_explained_without_a_panic() {
    for source in [
        "",
        "f'{",
        "x = f'''{'gpu'}\ngpu'''\n",
        "class gpu(gpu): gpu: gpu = gpu\n",
        "from . import cuda\n",
        "from .. import *\ngpu\n",
        "lambda gpu: gpu\n",
        "@gpu\ndef gpu(gpu=gpu): gpu\n",
        "\u{feff}gpu = '中gpu'\n",
    ] {
        let options = Options::default();
        let (tokens, _) = tokens::find(source, 99);
        let plan = FilePlan::default();
        let subject =
            Subject { text: source, tokens: &tokens, plan: &plan, written: true, test: true };
        if let Ok(explained) = explain(&subject, &Context::alone(&options)) {
            assert_eq!(explained.claims.len(), tokens.len(), "{source}");
        }
    }
}
