#!/usr/bin/env python3
"""Compares data/acl_abi/ with the ACL headers of an installed CANN.

Writes a C++ program that includes the headers and prints the shape of each function, the value
of each constant, the size of each structure and the place of its fields of the tables, compiles it with the include paths
given, and compares what it prints. What a set of headers does not have is listed and is no error:
older versions have less.

    python3 scripts/acl_abi.py -I $ASCEND_HOME_PATH/include
    python3 scripts/acl_abi.py -I include --print    # the facts of these headers, as in data/
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data/acl_abi"
# Headers that declare what the tables hold; those that are not there are left out.
HEADERS = [
    "acl/acl.h",
    "acl/acl_rt.h",
    "acl/acl_op.h",
    "acl/acl_op_compiler.h",
    "acl/acl_rt_compile.h",
    "aclnn/acl_meta.h",
    "aclnn/aclnn_base.h",
    "aclnnop/aclnn_add.h",
    "aclnnop/aclnn_matmul.h",
    "aclnnop/aclnn_mm.h",
    "hccl/hccl.h",
    "hccl/hccl_types.h",
    "dcmi_interface_api.h",
]
SHAPES = r"""
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
template <class T> std::string letter() {
    using U = typename std::remove_cv<T>::type;
    if constexpr (std::is_void<U>::value) return "v";
    else if constexpr (std::is_pointer<U>::value) return "p";
    else if constexpr (std::is_floating_point<U>::value) return "f" + std::to_string(8 * sizeof(U));
    else if constexpr (std::is_enum<U>::value || sizeof(U) >= 4) return "w" + std::to_string(8 * sizeof(U));
    else return (std::is_signed<U>::value ? "i" : "u") + std::to_string(8 * sizeof(U));
}
template <class R, class... A> std::string shape(R (*)(A...)) {
    std::string text = letter<R>() + "(", comma;
    ((text += comma + letter<A>(), comma = ","), ...);
    return text + ")";
}
"""


def rows(name: str) -> list[list[str]]:
    lines = (DATA / name).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")][1:]


def statements() -> dict[str, str]:
    """What prints each fact, by the fact's name."""
    found = {}
    for name, *_ in rows("functions.tsv"):
        found[name] = f'std::printf("{name}\\t%s\\n", shape(&{name}).c_str());'
    for name, _ in rows("values.tsv"):
        found[name] = f'std::printf("{name}\\t%lld\\n", static_cast<long long>({name}));'
    for name, *_ in rows("structs.tsv"):
        found[name] = f'std::printf("{name}\\t%zu\\t%zu\\n", sizeof({name}), alignof({name}));'
    for name, field, _ in rows("fields.tsv"):
        found[f"{name}.{field}"] = f'std::printf("{name}.{field}\\t%zu\\n", offsetof({name}, {field}));'
    return found


def compile_and_run(compiler: str, paths: list[str]) -> dict[str, str]:
    """The facts that the headers have, by name."""
    there = [h for h in HEADERS if any((Path(path) / h).is_file() for path in paths)]
    if not there:
        sys.exit(f"no header of ACL below {', '.join(paths)}")
    wanted = statements()
    includes = "".join(f'#include "{header}"\n' for header in there)
    with tempfile.TemporaryDirectory() as name:
        source, program = Path(name) / "facts.cpp", Path(name) / "facts"
        options = [f"-I{path}" for path in paths]
        while wanted:
            body = "\n".join(f"#line 1 \"{fact}\"\n{text}" for fact, text in wanted.items())
            source.write_text(f"{includes}{SHAPES}\nint main() {{\n{body}\n}}\n")
            # Only addresses of functions are taken, nothing is called: undefined symbols are fine.
            run = subprocess.run(
                [compiler, "-std=c++17", "-w", "-c", "-O1", *options, str(source), "-o", f"{program}.o"],
                capture_output=True, text=True, check=False,
                env={**os.environ, "LC_ALL": "C"},
            )
            if run.returncode == 0:
                break
            # The name of a fact stands where that of a file would: what is not declared goes.
            absent = {m for m in re.findall(r"^([\w.]+):1:\d+: error", run.stderr, re.M) if m in wanted}
            if not absent:
                sys.exit(run.stderr)
            for fact in absent:
                del wanted[fact]
        link = [compiler, f"{program}.o", "-o", str(program), "-Wl,--unresolved-symbols=ignore-all"]
        subprocess.run(link, check=True)
        lines = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    return dict(line.split("\t", 1) for line in lines.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-I", dest="paths", action="append", required=True, metavar="DIR")
    parser.add_argument("--print", action="store_true", help="print the facts and compare nothing")
    parser.add_argument("--compiler", default=shutil.which("g++") or shutil.which("clang++"))
    arguments = parser.parse_args()
    if not arguments.compiler:
        sys.exit("a C++ compiler is needed: g++ or clang++")
    facts = compile_and_run(arguments.compiler, arguments.paths)
    if arguments.print:
        print("\n".join(f"{name}\t{fact}" for name, fact in facts.items()))
        return
    expected = {name: shape for name, shape, *_ in rows("functions.tsv")}
    expected |= {name: value for name, value in rows("values.tsv")}
    expected |= {name: "\t".join(rest) for name, *rest in rows("structs.tsv")}
    expected |= {f"{name}.{field}": offset for name, field, offset in rows("fields.tsv")}
    wrong = {name: fact for name, fact in facts.items() if fact != expected[name]}
    for name, fact in wrong.items():
        print(f"{name}: headers say {fact!r}, data/acl_abi says {expected[name]!r}")
    absent = len(expected) - len(facts)
    print(f"{len(facts) - len(wrong)} facts are equal, {len(wrong)} differ, {absent} are not in these headers")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
