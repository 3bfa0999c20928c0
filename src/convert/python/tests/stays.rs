//! Unchanged code: members that would become equal, and files that replace CUDA by another vendor.

use super::{body, converted, flags, stays};

#[test]
fn members_that_would_become_equal_stay_and_are_reported() {
    for source in [
        "T = {'CUDA:0': 1, 'x': 2}\nD = {'cuda': f, kind('npu'): g, kind('cuda'): h}\nx.to(kind('cuda'))\n",
        "TABLE['cuda'] = fast\nTABLE['npu'] = slow\nx.to(TABLE['cuda'])\n",
        "@register('op', 'cuda')\ndef a(): pass\n@register('op', 'npu')\ndef b(): pass\n",
        "register_kernel('cuda', fast)\nregister_kernel('npu', slow)\n",
    ] {
        let out = converted(&format!("import torch\n{source}"));
        let before: Vec<&str> = source.matches("'npu'").collect();
        let after: Vec<&str> = out.matches("'npu'").collect();
        assert!(after.len() <= before.len() + 1, "{out}");
    }
    // The member for NPUs exists: no work is left.
    let source = "import torch\nregister_kernel('cuda', fast)\nregister_kernel('npu', slow)\n";
    assert_eq!((converted(source).as_str(), flags(source)), (source, Vec::new()));
    let source =
        "import torch\nA = {torch.cuda.mem_get_info: 1, torch.cuda.memory.mem_get_info: 2}\n";
    assert_eq!(converted(source), source);
    assert!(flags(source).contains(&("collision".to_owned(), 2)));
}

#[test]
fn two_registrations_for_cuda_are_no_collision() {
    let source = "register_kernel('cuda', fast)\nregister_kernel('cpu', slow)\n";
    assert_eq!(body(source), source.replace("cuda", "npu"));
}

#[test]
fn a_file_for_another_vendor_stays() {
    for source in [
        "torch.cuda.synchronize = torch.xpu.synchronize\nx = torch.cuda.device_count()\n",
        "def hijack():\n    setattr(torch.cuda, 'empty_cache', torch.xpu.empty_cache)\n    return 'cuda:0'\n",
    ] {
        stays(source);
    }
    // Replaced for a test, not by another vendor.
    let out = body("torch.cuda.device_count = lambda: 1\n");
    assert_eq!(out, "torch.npu.device_count = lambda: 1\n");
}
