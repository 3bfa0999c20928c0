//! The examples of the subcommands. A test runs the parser over each one.

/// Returns the examples of a subcommand, the two of `-h` first.
pub(super) fn examples(name: &str) -> &'static [&'static str] {
    match name {
        "" => &["ascend-doctor check", "ascend-doctor translate-error train.log"],
        "check" => &[
            "ascend-doctor check",
            "ascend-doctor check --profile train --require-npu --fail-on warning",
            "ascend-doctor check --sysroot /host --json -o check.json",
            "ascend-doctor check --facts facts.json --only CANN,DRV",
            "ascend-doctor check --query host,npu.index,npu.health --format csv",
        ],
        "convert" => &[
            "ascend-doctor convert ./yolov5 --diff",
            "ascend-doctor convert -r ./yolov5 -l ./yolov5/train.py",
            "ascend-doctor convert ./yolov5 --target 2.7 --output-dir ./yolov5-npu",
            "ascend-doctor convert -r ./yolov5 --undo",
        ],
        "lint" => &[
            "ascend-doctor lint README.md Dockerfile",
            "ascend-doctor lint skills/ --format github",
        ],
        "port" => &[
            "ascend-doctor port ./yolov5",
            "ascend-doctor port ./yolov5 --torch-npu 2.7.1 --format html -o port.html",
        ],
        "triage" => &[
            "ascend-doctor triage issue.md",
            "ascend-doctor triage issue.md train.log --format markdown --lang zh",
        ],
        "verify" => &[
            "ascend-doctor verify",
            "ascend-doctor verify --device 0,3 --rung compute --dtype fp16",
            "ascend-doctor verify --format jsonl > verify.jsonl",
        ],
        "audit-ops" => &[
            "ascend-doctor audit-ops model.pt2",
            "ascend-doctor audit-ops --torch-npu 2.7 --soc 910b3 model.pt model.onnx",
            "ascend-doctor audit-ops --installed=torch_npu-2.9.0.post2-cp311-cp311-linux_aarch64.whl model.pt2",
            "ascend-doctor audit-ops --suggest src/",
            "ascend-doctor audit-ops --all-versions trace_view.json",
            "ascend-doctor audit-ops --fail-on unsupported model.pt2",
        ],
        "translate-error" => &[
            "ascend-doctor translate-error 507035 EI0006 ERR02200 -8005",
            "ascend-doctor translate-error ~/ascend/log train.log logs.tar.gz",
            "ascend-doctor translate-error ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
            "ascend-doctor translate-error 'errcode:(0x800000, 0x4000, 0)' 0x80E01801",
            "ascend-doctor translate-error --explain 507015",
            "ascend-doctor translate-error --search heartbeat lost",
            "python train.py 2>&1 | ascend-doctor translate-error --follow",
        ],
        "explain" => &[
            "ascend-doctor explain CANN-HOME",
            "ascend-doctor explain DEV-ACCESS --report check.json",
            "ascend-doctor explain 507035 EI0006 ERR00100 -8005 0x7110001",
            "ascend-doctor explain 'torch_npu 2.7.1 CANN 8.3.RC1' HCCL_CONNECT_TIMEOUT=600",
            "ascend-doctor explain ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
        ],
        "compat" => &[
            "ascend-doctor compat",
            "ascend-doctor compat --torch 2.7 --python 3.11",
            "ascend-doctor compat --cann 8.3 --arch aarch64",
        ],
        "manifest" => &[
            "ascend-doctor manifest create torch_npu-2.7.1-cp311-cp311-linux_aarch64.whl",
            "ascend-doctor manifest wheel-check wheels/",
        ],
        "manifest create" => &[
            "ascend-doctor manifest create torch_npu.whl -o torch_npu.json",
            "ascend-doctor manifest create /opt/venv/lib/python3.11/site-packages",
        ],
        "manifest wheel-check" => &[
            "ascend-doctor manifest wheel-check wheels/",
            "ascend-doctor manifest wheel-check torch_npu.whl --json",
        ],
        "fleet" => &[
            "ascend-doctor fleet merge reports/ --expect hosts.txt",
            "ascend-doctor fleet merge reports/ --format html -o fleet.html",
        ],
        "fleet merge" => &[
            "ascend-doctor fleet merge reports/ --expect hosts.txt",
            "srun --label ascend-doctor check --json | ascend-doctor fleet merge -",
            "pdsh -w node[001-064] ascend-doctor check --json | ascend-doctor fleet merge -",
            "ascend-doctor fleet merge reports/ --group-by soc --format html -o fleet.html",
            "ascend-doctor fleet merge reports/ --query host,verdict,driver --format csv",
        ],
        "report" => &[
            "ascend-doctor report check.json -o report.html",
            "ascend-doctor report check.json verify.json audit.json -o report.html",
            "ascend-doctor check --json | ascend-doctor report - -o report.html",
        ],
        "bundle" => &[
            "ascend-doctor bundle",
            "ascend-doctor bundle --add train.log --add logs.tar.gz -o case-112.tar.gz",
            "ascend-doctor bundle --redact hosts --limit 4",
            "ssh node7 ascend-doctor bundle -o - > node7.tar.gz",
            "ascend-doctor check --facts case-112.tar.gz",
            "ascend-doctor report case-112.tar.gz -o case-112.html",
        ],
        "mcp" => &[
            "ascend-doctor mcp",
            "ascend-doctor mcp --root-allow ./repo --root-allow /var/log/job",
            "ascend-doctor mcp --allow verify,convert",
        ],
        "data" => &["ascend-doctor data status", "ascend-doctor data status --json"],
        "data status" => &[
            "ascend-doctor data status",
            "ascend-doctor data status --data-pack ascend-doctor.data --data-key site.pub --json",
        ],
        "completions" => &[
            "ascend-doctor completions bash > /etc/bash_completion.d/ascend-doctor",
            "ascend-doctor completions zsh > ~/.zfunc/_ascend-doctor",
            "ascend-doctor completions fish > ~/.config/fish/completions/ascend-doctor.fish",
        ],
        "install" => &[
            "ascend-doctor install /tools",
            "ascend-doctor install /tools --from /usr/lib/ascend-doctor/glibc/ascend-doctor",
        ],
        "man" => &[
            "ascend-doctor man check | man -l -",
            "ascend-doctor man --output-dir /usr/local/share/man/man1",
        ],
        _ => &[],
    }
}
