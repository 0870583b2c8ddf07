#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual against the tool: clean mdoc, examples that run, completion in bash, zsh and fish.

usage: manual.py HUNCH FOLDER-OF-DOCS
"""
import glob
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
# What takes long, listens or fetches has tests of its own.
NOT_RUN = {"serve", "reproduce"}


def output(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, **more).stdout.decode()


def pages(docs):
    return sorted(glob.glob(os.path.join(docs, "man", "*.1")))


def check_lint(docs):
    for tool in (["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-ww", "-mdoc", "-Tutf8", "-z"]):
        if not shutil.which(tool[0]):
            print(f"no {tool[0]}: pages not linted by it")
            continue
        for page in pages(docs):
            found = subprocess.run(tool + [page], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            assert found.returncode == 0 and not found.stdout, f"{page}: {found.stdout.decode()}"


def examples_of(page):
    with open(page, encoding="utf-8") as text:
        examples = text.read().split(".Sh EXAMPLES")[-1].split(".Sh")[0]
    return re.findall(r"^(?:\.Dl )?((?:hunch|xzcat) .*)$", examples, re.MULTILINE)


def check_examples(hunch, docs):
    count = 0
    with tempfile.TemporaryDirectory(prefix="hunch-manual-") as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(hunch, os.path.join(folder, "bin", "hunch"))
        environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
        output(["sh", "-ec", PREPARE], cwd=folder, env=environment)
        for page in pages(docs):
            if any(page.endswith(f"-{command}.1") for command in NOT_RUN):
                continue
            examples = examples_of(page)
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
    script = f"""source {docs}/completion/hunch.bash
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
    assert complete(hunch, docs, "hunch replay --interval b") == ["bootstrap", "bernstein"]


def check_fish(hunch, docs):
    def offered(line):
        script = f'source {docs}/completion/hunch.fish; complete -C "{line}"'
        path = os.path.dirname(hunch) + ":" + os.environ["PATH"]
        with tempfile.TemporaryDirectory(prefix="hunch-fish-") as home:
            text = output(["fish", "-c", script], env=dict(os.environ, PATH=path, HOME=home))
        return [found.split("\t")[0] for found in text.splitlines()]
    assert offered("hunch pre") == ["predict"]
    assert offered("hunch run --no-s") == ["--no-shuffle"]
    assert offered("hunch run -l bandi")[0] == "banditron"
    assert offered("hunch run -l banditron:ga") == ["banditron:gamma="]
    assert offered("hunch convert --on-error s") == ["skip"]


def check_zsh(hunch, docs):
    """What its functions hand to zsh's own _arguments, which needs a terminal."""
    with open(os.path.join(docs, "completion", "hunch.zsh"), encoding="utf-8") as text:
        functions = text.read().replace('_hunch "$@"\n', "")
    script = functions + "tool=$1; _hunch_options $2; print -l -- $reply"
    given = output(["zsh", "-fc", script, "zsh", hunch, "run"]).splitlines()
    assert "*--no-shuffle[keep the order of the input in every run; runs then differ only in the learners' seeds]" in given
    assert any(line.startswith("*-l[") and line.endswith("]:learner:_hunch_learner") for line in given), given
    assert any(line.startswith("*--on-error[") and line.endswith("]:A:(fail skip)") for line in given), given
    assert any(line.startswith("*--save[") and line.endswith("]:file:_files") for line in given), given


def main():
    hunch, docs = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    check_lint(docs)
    check_examples(hunch, docs)
    check_completion(hunch, docs)
    for shell, check in (("fish", check_fish), ("zsh", check_zsh)):
        if shutil.which(shell):
            check(hunch, docs)
        else:
            print(f"no {shell}: its completion not checked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
