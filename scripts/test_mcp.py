#!/usr/bin/env python3
"""Replays the conversation of an agent with `ascend-doctor mcp` by the official Python client, in all
of its modes: every tool is called, results obey their schemas, a hostile path is refused, and a
canceled call ends.

    python3 scripts/test_mcp.py PROGRAM

Needs the package `mcp` (2.3.0).
"""

import asyncio
import json
import os
import sys
import tempfile

import jsonschema
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

# The largest structured result, in bytes of compact JSON.
LIMIT = 16 << 10


def calls(root):
    return [
        ("identify", {"text": "507035"}, 0),
        ("identify", {"text": "错误码 107002"}, 0),
        ("identify", {"text": "torch 2.1.0 and torch_npu 2.7.1"}, 1),
        ("identify", {"text": "torch_npu 2.7.1 with CANN 99.0.0"}, 3),
        ("identify", {"text": "hello"}, 2),
        ("diagnose_log", {"text": "RuntimeError: Failed to infer device type\n"}, 1),
        ("diagnose_log", {"paths": ["train.log"]}, 1),
        ("diagnose_log", {"paths": ["/etc/passwd"]}, 2),
        ("diagnose_log", {"paths": ["../"]}, 2),
        ("triage", {"text": "torch_npu 2.7.1\nIt hangs.\n"}, 3),
        ("triage", {"paths": ["/etc/passwd"]}, 2),
        ("port", {"paths": ["."]}, None),
        ("check", {"profile": "torch"}, None),
        ("check", {"root": root}, None),
        ("compat", {"torch": "2.7.1", "python": "3.11", "arch": "aarch64"}, 0),
        ("convert_preview", {"paths": ["train.py"]}, 0),
        ("audit_ops", {"paths": ["train.py"]}, None),
        ("search", {"words": "link timeout"}, 0),
    ]


async def converse(program, root, mode):
    server = StdioServerParameters(command=program, args=["--lang", "en", "mcp"], cwd=root)
    async with Client(stdio_client(server), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        called = set()
        for name, arguments, status in calls(root):
            result = await client.call_tool(name, arguments)
            answer = result.structured_content
            jsonschema.validate(answer, tools[name].output_schema)
            size = len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode())
            assert size <= LIMIT, (name, size)
            assert result.is_error == (answer["status"] == 2), (name, arguments)
            assert status is None or answer["status"] == status, (name, arguments, answer)
            called.add(name)
        assert called == set(tools), set(tools) - called
        for resource in (await client.list_resources()).resources:
            page = await client.read_resource(str(resource.uri))
            assert len(page.contents[0].text) > 40, resource.uri
        for prompt in (await client.list_prompts()).prompts:
            arguments = {argument.name: "train.log" for argument in prompt.arguments}
            page = await client.get_prompt(prompt.name, arguments)
            assert "train.log" in page.messages[0].content.text
        # A client that stops waiting cancels the request; the next one is answered.
        slow = asyncio.ensure_future(client.call_tool("diagnose_log", {"paths": ["large"]}))
        await asyncio.sleep(0.05)
        slow.cancel()
        try:
            await slow
        except asyncio.CancelledError:
            pass
        assert (await client.call_tool("identify", {"text": "910B3"})).structured_content["items"]
    print(f"mode {mode}: {len(called)} tools called")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as root:
        with open(f"{root}/train.py", "w") as file:
            file.write("import torch\nx = torch.zeros(1).cuda()\n")
        with open(f"{root}/train.log", "w") as file:
            file.write("RuntimeError: ACL stream synchronize failed, error code:507015\n")
        os.mkdir(f"{root}/large")
        line = "[ERROR] RUNTIME(1,x): error code:507015 ErrCode=507015\n"
        for number in range(8):
            with open(f"{root}/large/{number}.log", "w") as file:
                file.write(line * 200_000)
        for mode in ["legacy", "auto", "2026-07-28"]:
            asyncio.run(asyncio.wait_for(converse(program, root, mode), 120))


main()
