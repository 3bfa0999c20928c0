"""Values and tables in TOML."""

import json


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def value(item):
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, list):
        return "[" + ", ".join(value(each) for each in item) + "]"
    if isinstance(item, dict):
        pairs = (f"{quoted(k) if '.' in k else k} = {value(v)}" for k, v in item.items())
        return "{ " + ", ".join(pairs) + " }"
    raise TypeError(item)


def table(out, name, rows, title):
    out.append(f"# {title}")
    for row in rows:
        out.append(f"[[{name}]]")
        for key, item in row.items():
            if item is not None and item != [] and item != {}:
                out.append(f"{key} = {value(item)}")
        out.append("")
