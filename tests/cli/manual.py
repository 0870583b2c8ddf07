#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual against the tool: same options in --help and man pages, clean mdoc, examples that run, completion.

usage: manual.py HUNCH FOLDER-OF-DOCS
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PREPARE = """
hunch synth synsep --rows 300 -o syn.svm
hunch synth synsep --rows 300 | xz > more.svm.xz
hunch synth synsep --rows 20 -o new.svm
hunch run -q syn.svm --save model.hunch
hunch convert syn.svm -o syn.hc
awk '/^[0-9]/ { $1 = 1 + NR % 9 ":" (1 + NR % 9 != $1) ":0.11 |"; print }' syn.svm > log.vw
"""
# The server's page has tests of its own.
COMMANDS = ["run", "replay", "predict", "data", "learners", "inspect", "synth", "convert"]
PAGES = ["hunch"] + ["hunch-" + command for command in COMMANDS]


def output(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, **more).stdout.decode()


def options_of_help(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text.split("\nExamples:")[0]))


def options_of_page(page):
    with open(page, encoding="utf-8") as text:
        return set("-" + option for option in re.findall(r"^\.It.*?Fl (-[a-z][a-z-]*)", text.read(), re.MULTILINE))


def check_options(hunch, docs):
    for command in COMMANDS:
        told, written = options_of_help(output([hunch, command, "--help"])), options_of_page(
            os.path.join(docs, "man", f"hunch-{command}.1"))
        # "--help" itself is understood by all, and not always listed
        assert told | {"--help"} == written | {"--help"}, f"{command}: {told ^ written} only in --help or the manual"


def check_lint(docs):
    if not shutil.which("mandoc"):
        print("no mandoc: pages not linted")
        return
    for name in PAGES:
        page = os.path.join(docs, "man", name + ".1")
        found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], stdout=subprocess.PIPE, check=False)
        assert found.returncode == 0 and not found.stdout, found.stdout.decode()


def examples_of(page):
    with open(page, encoding="utf-8") as text:
        return re.findall(r"^\.Dl (.*)$", text.read().split(".Sh EXAMPLES")[-1], re.MULTILINE)


def check_examples(hunch, docs):
    count = 0
    with tempfile.TemporaryDirectory(prefix="hunch-manual-") as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(hunch, os.path.join(folder, "bin", "hunch"))
        environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
        output(["sh", "-ec", PREPARE], cwd=folder, env=environment)
        for page in PAGES:
            examples = examples_of(os.path.join(docs, "man", page + ".1"))
            assert examples, f"{page}: no examples"
            for example in examples:
                example = example.replace("100000", "1000")  # the same, in less time
                done = subprocess.run(["sh", "-ec", example], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, check=False)
                assert done.returncode == 0, f"{page}: {example}\n{done.stderr.decode()}"
                count += 1
    print(f"{count} examples run")


def complete(hunch, docs, line):
    """What bash offers at the end of line."""
    script = f"""source {docs}/hunch.bash-completion
        COMP_LINE=$1; COMP_POINT=${{#1}}; COMP_WORDS=("$2"); COMP_WORDBREAKS=' :='
        compopt() {{ :; }}
        _hunch; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return output(["bash", "-c", script, "bash", line, hunch]).split()


def check_completion(hunch, docs):
    assert complete(hunch, docs, "hunch pre") == ["predict"]
    assert "learners" in complete(hunch, docs, "hunch ")
    assert complete(hunch, docs, "hunch run --no-s") == ["--no-shuffle"]
    assert complete(hunch, docs, "hunch run -l bandi")[0] == "banditron"
    assert complete(hunch, docs, "hunch run -l banditron:ga") == ["gamma="]
    assert complete(hunch, docs, "hunch run -l banditron:gamma=0.1,tie") == ["0.1,ties="]
    assert "soba" in complete(hunch, docs, "hunch learners so")
    assert complete(hunch, docs, "hunch convert --on-error s") == ["skip"]


def main():
    hunch, docs = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    check_options(hunch, docs)
    check_lint(docs)
    check_examples(hunch, docs)
    check_completion(hunch, docs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
