"""Versions of each kind: their normal form, and the key by which they are sorted."""

import re


def pep440(version):
    """The normal form of `1.11.0.rc2` is `1.11.0rc2`; of `1.11.rc1`, `1.11.0rc1`."""
    version = re.sub(r"\.(rc\d+)$", r"\1", version)
    match = re.match(r"^(\d+)\.(\d+)(rc\d+)$", version)
    return f"{match[1]}.{match[2]}.0{match[3]}" if match else version


def pep440_key(version):
    match = re.match(r"^(\d+)\.(\d+)\.(\d+)(?:rc(\d+))?(?:\.post(\d+))?$", version)
    major, minor, patch, rc, post = match.groups()
    return (int(major), int(minor), int(patch), int(rc) if rc else 10**6, int(post or 0))


def python_key(version):
    return tuple(int(part) for part in version.split("."))


def cann(version):
    """Image tags write `8.3.rc2`, tables `8.3.RC2`."""
    return re.sub(r"rc", "RC", version)


def cann_key(version):
    numbers = []
    for part in re.split(r"[.-]", version.lower()):
        match = re.match(r"^(rc|alpha|beta)?(\d*)$", part)
        kind = {"alpha": 0, "beta": 1, "rc": 2, None: 3}[match[1]]
        numbers.append((kind, int(match[2] or 0)))
    return numbers + [(2.5, 0)] * (6 - len(numbers))


def code_list(codes):
    """`C15` and `range C15..C18` in the notation of the version files."""
    if codes is None:
        return None
    spans = []
    for code in codes:
        span = re.match(r"^range (C\d+)\.\.(C\d+)$", code)
        if span:
            spans.append(f"[V100R001{span[1]},V100R001{span[2]}]")
        else:
            spans.append(f"[{code if code.startswith('V') else 'V100R001' + code}]")
    return ",".join(spans)


def hdk(text):
    """`26.0 (or …)` and `26.1.0.b061` to the number that can be compared."""
    return re.match(r"^\d+(\.(\d+|[rR][cC]\d+))+", text)[0].lower()
