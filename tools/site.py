#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The site: README, docs/ and what is generated (commands from the man pages, C from hunch.h, HTTP from openapi.json, Python
from its stubs and docstrings), laid out as in the repository so that links hold, then built by mkdocs (mkdocs.yml).

usage: site.py MKDOCS OUT      MKDOCS: the program; OUT: the folder for the pages (opens from disk, fetches nothing)
"""
import ast
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Browsers start no workers for pages that are opened from disk, so the search's script runs in a frame there.
WORKER = """<script>
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe"), script = document.createElement("script");
    frame.hidden = true;
    document.body.append(frame);
    this.inner = frame.contentWindow;
    this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
    script.src = url;
    this.ready = new Promise((done) => { script.onload = done; });
    this.inner.document.body.append(script);
  }
  postMessage(data) { this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", {data}))); }
};
</script>"""
ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/RESULTS.md", "experiments/UNSEEN.md",
         "experiments/ONE_BIT.md", "experiments/SILENT_COLUMNS.md", "experiments/DRIFT.md", "experiments/NOISE.md",
         "experiments/MANY_CLASSES.md", "experiments/THEOREMS.md", "experiments/README.md", "experiments/FORMAT.md",
         "experiments/results/RESULTS.md", "experiments/results/FIGURES.md"]


def commands():
    """Every man page as Markdown; the one about data, whose macros mandoc does not write as Markdown, as HTML."""
    for page in sorted((ROOT / "docs" / "man").glob("*.[17]")):
        form = ["-T", "markdown"] if page.suffix == ".1" else ["-T", "html", "-O", "fragment"]
        text = subprocess.run(["mandoc", *form, page], stdout=subprocess.PIPE, text=True, check=True).stdout
        if page.suffix == ".1":
            yield f"docs/reference/{page.stem}.md", f"# {page.stem.replace('-', ' ', 1)}\n\n" + re.sub(r"^# ", "## ", text, flags=re.M)
        else:  # without the lines of the printed page's head and foot
            text = re.sub(r'<(table|div) class="(head|foot)".*?</\1>', "", text, flags=re.S).replace("h1", "h2").replace("<pre", '<pre style="overflow-x:auto"')
            yield "docs/reference/tables.md", f"# Tables and other data\n\n{text}"


def c_interface():
    """hunch.h, comment by comment: what stands above a declaration is its text."""
    text = (ROOT / "include" / "hunch.h").read_text().split("extern \"C\" {", 1)[-1]
    out = ["# C", "", "The whole of `hunch.h`; `pkg-config --cflags --libs hunch` tells how to build.", ""]
    for comment, code in re.findall(r"^/\*(.*?)\*/\n((?:(?!\s*/\*)[^\n]*\n)*)", text, re.S | re.M):
        comment = re.sub(r"\n \*", "\n", comment).strip()
        out += [comment, ""] + (["```c", code.strip("\n"), "```", ""] if code.strip() else [])
    return "docs/reference/c.md", "\n".join(out)


def resolved(api, node):
    """What a reference refers to; of alternatives the first, which is the plain object."""
    while "$ref" in node or "oneOf" in node:
        node = functools.reduce(dict.get, node["$ref"].split("/")[1:], api) if "$ref" in node else node["oneOf"][0]
    return node


def table(head, rows):
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *cells]] + [""] if rows else []


def fields(api, what):
    """What may be in the query and in headers, then what the request's body has."""
    for parameter in what.get("parameters", []):
        parameter = resolved(api, parameter)
        if parameter["in"] != "path":
            yield f"`{parameter['name']}`", parameter["in"], parameter.get("description", "")
    body = resolved(api, what.get("requestBody", {})).get("content", {}).get("application/json", {}).get("schema", {})
    for name, field in resolved(api, body).get("properties", {}).items():
        yield f"`{name}`", "body", field.get("description") or resolved(api, field).get("description", "")


def http_interface():
    """The paths of openapi.json, each with its parameters and answers."""
    api = json.loads((ROOT / "serve" / "http" / "openapi.json").read_text())
    out = ["# HTTP", "", "How they are used: [the server](../how-to/serve.md). `GET /openapi.json` has the same for programs.", ""]
    for path, methods in api["paths"].items():
        for method, what in methods.items():
            if method in ("get", "put", "post", "delete"):
                out += [f"## {method.upper()} {path}", "", what.get("summary", ""), "", what.get("description", ""), ""]
                out += table(["field", "in", "meaning"], list(fields(api, what)))
                answers = [(code, resolved(api, answer).get("description", "")) for code, answer in what.get("responses", {}).items()]
                out += table(["answer", "when"], answers)
    return "docs/reference/http.md", "\n".join(out)


def signature(node):
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def docstring(node):
    """As Markdown: examples become blocks of code."""
    return re.sub(r"^(>>> (?:.+\n?)+)", lambda m: f"```pycon\n{m.group(1).rstrip()}\n```\n", ast.get_docstring(node), flags=re.M)


def described(node, kinds=(ast.ClassDef, ast.FunctionDef)):
    return isinstance(node, kinds) and not node.name.startswith("_") and ast.get_docstring(node)


def python_interface():
    """Public classes and functions with their docstrings; nothing is imported."""
    package = ROOT / "python" / "hunch"
    public = set(re.findall(r'"(\w+)"', (package / "__init__.py").read_text().split("__all__")[1]))
    out = ["# Python", "", "How they are used: [docs/how-to/python.md](../how-to/python.md).", ""]
    for path in sorted(package.glob("*.py"), key=lambda path: (path.stem[0] != "_", path.stem)):
        module = "hunch." if path.stem[0] == "_" else f"hunch.{path.stem}."
        for node in filter(described, ast.parse(path.read_text()).body):
            if path.stem[0] == "_" and node.name not in public:
                continue
            out += [f"## {module}{node.name}", ""]
            if isinstance(node, ast.FunctionDef):
                out += ["```python", signature(node), "```", ""]
            out += [docstring(node), ""]
            for method in node.body if isinstance(node, ast.ClassDef) else []:
                if described(method, ast.FunctionDef):
                    out += [f"### {node.name}.{method.name}", "", "```python", signature(method), "```", "", docstring(method), ""]
    return "docs/reference/python.md", "\n".join(out)


def stage(folder):
    pages = [ROOT / page for page in PAGES] + [p for p in (ROOT / "docs").rglob("*.md")]
    texts = {page.relative_to(ROOT).as_posix(): page.read_text() for page in pages}
    texts.update(dict([*commands(), c_interface(), http_interface(), python_interface()]))
    texts["index.md"] = texts.pop("README.md")
    for name, text in texts.items():
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", text):
            source = ((ROOT / name).parent / target).resolve()
            if source.is_file() and source.suffix != ".md":
                copy = folder / source.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        up = "../" * name.count("/")
        text = text.replace(f"({up}README.md", f"({up}index.md")
        text = re.sub(r"\(([\w./]*/|)man/hunch-data\.7\)", r"(\1reference/tables.md)", text)
        text = re.sub(r"^```(\w+) title=([^\s\"]+)", r'```\1 title="\2"', text, flags=re.M)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def main():
    mkdocs, out = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="hunch-site-") as folder:
        stage(pathlib.Path(folder) / "pages")
        first = "      - panel, the default: docs/reference/algorithms/panel.md\n"
        others = [path.stem for path in sorted((ROOT / "docs" / "reference" / "algorithms").glob("*.md")) if path.stem != "panel"]
        nav = first + "".join(f"      - {name}: docs/reference/algorithms/{name}.md\n" for name in others)
        config = (ROOT / "mkdocs.yml").read_text().replace(first, nav) + f"docs_dir: {folder}/pages\nsite_dir: {out}\n"
        (pathlib.Path(folder) / "mkdocs.yml").write_text(config)
        code = subprocess.run([mkdocs, "build", "--strict", "--quiet", "-f", pathlib.Path(folder) / "mkdocs.yml"],
                              env=dict(os.environ, NO_MKDOCS_2_WARNING="1"), check=False).returncode
    for page in out.rglob("*.html"):  # nothing is fetched from elsewhere, whatever the theme would like
        text = page.read_text()
        new = re.sub(r'<script src="https?://[^>]*></script>', WORKER, text)
        assert new.count(WORKER) == 1, f"{page}: the search does not work from disk"
        assert not re.search(r'<(script|link|img)[^>]*(src|href)="https?://', new), f"{page}: needs the network"
        page.write_text(new)
    return code


if __name__ == "__main__":
    sys.exit(main())
