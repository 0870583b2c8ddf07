#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hunch replay: the worked example of docs/how-to/replay.md against the truth, every format, a server's log, warnings.

usage: replay.py HUNCH DOCS/replay.md
"""
import http.client
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

HUNCH, PAGE = os.path.abspath(sys.argv[1]), sys.argv[2]


def run(command, folder, expect=0):
    environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
    environment.pop("HUNCH_DATA", None)
    done = subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    assert done.returncode == expect, f"{command}\nexit {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}"
    return done.stdout.decode(), done.stderr.decode()


def replay(arguments, folder):
    return json.loads(run(f"hunch replay --json {arguments}", folder)[0])


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)


def estimates(policy):
    return {name: e["value"] for name, e in policy["estimates"].items()}


# --- labels that could be shown ---

def check_eligible(folder):
    """Every set of labels, one of them named twice, and every label of it, as often as its probability says: ips is exact,
    not only on average."""
    right = {"f": "c", "g": "a"}  # by feature
    rounds, truth = [], {"uniform": [], "label:c": [], "model": []}
    for x, best in right.items():
        for s in [s for n in (1, 2, 3) for s in itertools.combinations("abc", n)]:
            truth["uniform"].append(sum(a == best for a in s) / len(s))
            truth["label:c"].append("c" in s and best == "c")
            truth["model"].append(best in s)
            for a in s:
                line = {"label": a, "prob": 1 / len(s), "right": a == best, "eligible": s + s[:1], "x": {x: 1}}
                rounds += [line] * (6 // len(s))
    lessons = [{"true_label": best, "x": {x: 1}} for x, best in right.items()] * 20
    write(folder, "sets.jsonl", "".join(json.dumps(line) + "\n" for line in rounds))
    write(folder, "lessons.jsonl", "".join(json.dumps(line) + "\n" for line in lessons + rounds[:1]))
    run("hunch replay -q lessons.jsonl --learner confident --save sets.hunch", folder)
    told = replay("sets.jsonl --policy uniform --policy label:c --model sets.hunch --learner confident", folder)
    for name, policy in zip(("uniform", "label:c", "model"), sorted(told["policies"], key=lambda p: p["kind"] == "model")):
        exact = sum(truth[name]) / len(truth[name])
        assert abs(policy["estimates"]["ips"]["value"] - exact) < 1e-9, (name, policy, exact)
    # what a control has shown for certain is learned from, and judges nobody
    control = [dict(line, prob=1, unjudged=True) for line in rounds]
    write(folder, "control.jsonl", "".join(json.dumps(line) + "\n" for line in rounds + control))
    more = replay("control.jsonl --policy uniform", folder)
    assert more["rounds"] == len(rounds) and more["policies"][0]["estimates"] == told["policies"][0]["estimates"]
    for bad in ([], "a", [None], [None, {}]):
        write(folder, "bad.jsonl", json.dumps(dict(rounds[0], eligible=bad)) + "\n")
        assert "eligible" in run("hunch replay bad.jsonl", folder, expect=2)[1]


# --- the page ---

def check_page(folder):
    with open(PAGE, encoding="utf-8") as page:
        blocks = re.findall(r"^```sh\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    out = "".join(run(block, folder)[0] for block in blocks)
    truth = 1 - float(re.search(r"error ([\d.]+) %", out).group(1)) / 100
    for method in ("ips", "snips", "dr"):
        found = re.search(rf"^model model.hunch\n(?:.*\n)*?  {method} +([\d.]+) +([\d.]+) \.\. ([\d.]+)", out,
                          re.MULTILINE)
        value, low, high = map(float, found.groups())
        assert low <= truth <= high, f"{method}: {low} .. {high}, truth {truth}"
        assert low < value < high
    with open(os.path.join(folder, "replay.json"), encoding="utf-8") as text:
        model = json.load(text)["policies"][0]["estimates"]
    assert all(e["low"] <= truth <= e["high"] for e in model.values()), model
    assert model["dr"]["std_error"] < model["snips"]["std_error"] < model["ips"]["std_error"]
    assert "warning" not in out, out


# --- formats ---

def rounds_make(n):
    """A world of two features and three labels; the log shows each label with some chance."""
    rng = random.Random(5)
    for _ in range(n):
        x = {"a": round(rng.random(), 3), "b": round(rng.random(), 3)}
        good = "left" if x["a"] > x["b"] else "right"
        p = {"left": 0.5, "right": 0.25, "none": 0.25}
        label = rng.choices(list(p), p.values())[0]
        yield x, label, p[label], label == good


def check_formats(folder):
    rows = list(rounds_make(1500))
    number = {}
    for label in sorted({label for _, label, _, _ in rows}):  # as the names are ordered
        number[label] = len(number) + 1
    write(folder, "same.jsonl", "".join(
        json.dumps({"label": l, "prob": p, "right": r, "x": x}) + "\n" for x, l, p, r in rows))
    write(folder, "same.tsv", "label\tprob\tright\ta\tb\n" + "".join(
        f"{l}\t{p}\t{int(r)}\t{x['a']}\t{x['b']}\n" for x, l, p, r in rows))
    write(folder, "same.csv", "x,right,probability,label\n" + "".join(
        f"a:{x['a']} b:{x['b']},{'yes' if r else 'no'},{p},{l}\n" for x, l, p, r in rows))
    write(folder, "same.vw", "".join(
        f"{number[l]}:{int(not r)}:{p} | a:{x['a']} b:{x['b']}\n" for x, l, p, r in rows))
    run("xz -k same.jsonl && cat same.vw | hunch replay -q - > /dev/null", folder)
    options = "--learner confidit --learner banditron:gamma=0.1 --policy logged --policy uniform"
    results = [replay(f"{options} same.{kind}", folder) for kind in ("jsonl", "tsv", "csv", "vw", "jsonl.xz")]
    for result in results[1:]:
        assert result == results[0], (result, results[0])
    confidit, _, logged, uniform = results[0]["policies"]
    share = sum(r for *_, r in rows) / len(rows)
    assert all(abs(v - share) < 1e-12 for v in estimates(logged).values())
    assert estimates(confidit)["snips"] > 0.9, confidit
    assert 0.28 < estimates(uniform)["snips"] < 0.39, uniform
    first, second = (run(f"head -n {n} same.jsonl > part.jsonl; hunch replay -q part.jsonl --save m{n}.hunch "
                         f"-l confidit >/dev/null; hunch inspect m{n}.hunch", folder)[0] for n in (100, 1500))
    assert "left" in first and "left" in second


def check_learning(folder):
    """A learner that replays its own log learns what it learned when it made the log."""
    run("hunch replay same.jsonl -l confidit --save saved.hunch > /dev/null", folder)
    out = replay("same.jsonl --model saved.hunch", folder)
    assert estimates(out["policies"][0])["dr"] > 0.9
    # two files are one log
    run("head -n 700 same.jsonl > one.jsonl; tail -n +701 same.jsonl > two.jsonl", folder)
    assert replay("one.jsonl two.jsonl -l confidit", folder) == replay("same.jsonl -l confidit", folder)


def check_unknown_probabilities(folder):
    """Labels shown by a rule that nobody wrote down: only the direct method answers, and it corrects what the rule prefers."""
    rng, lines, naive = random.Random(8), [], []
    for _ in range(4000):
        x = {"side": rng.choice("lr"), "b": rng.randrange(2)}
        good = "left" if x["side"] == "l" else "right"
        label = good if rng.random() < 0.8 else rng.choice(("left", "right"))
        lines.append({"label": label, "right": label == good, "x": x})
        naive += [label == good] if label == "left" else []
    assert sum(naive) / len(naive) > 0.85  # of the rounds in which it was shown; always shown it would be right in half
    write(folder, "unknown.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    write(folder, "unknown.csv", "label,right,side,b\n" + "".join(
        f"{line['label']},{int(line['right'])},{line['x']['side']},{line['x']['b']}\n" for line in lines))
    options = "--policy label:left --policy uniform --policy logged --learner confidit"
    told = replay("unknown.jsonl " + options, folder)
    assert told["rounds"] == 4000 and told["rounds_with_probability"] == 0
    always, uniform, logged, learner = told["policies"]
    for policy in told["policies"]:
        assert set(estimates(policy).values()) == {None} and "no probability" in " ".join(policy["warnings"]), policy
    assert abs(always["direct"] - 0.5) < 0.12 and abs(uniform["direct"] - 0.5) < 0.12, told
    assert abs(logged["direct"] - told["right"]) < 0.06 and learner["direct"] > 0.8, told
    assert replay("unknown.csv " + options, folder)["policies"] == told["policies"]
    # where some are known, the estimates are those of these rounds
    some = [dict(line, prob=0.5) if i % 3 == 0 else line for i, line in enumerate(lines)]
    write(folder, "some.jsonl", "".join(json.dumps(line) + "\n" for line in some))
    left = [2 * line["right"] for line in some if "prob" in line and line["label"] == "left"]
    told = replay("some.jsonl --policy label:left", folder)["policies"][0]
    assert abs(told["estimates"]["ips"]["value"] - sum(left) / len(some[::3])) < 1e-9 and "66.7 %" in told["warnings"][0]
    out = run("hunch replay unknown.jsonl --policy label:left", folder)[0]
    assert re.search(r"^  ips +- +no answer$", out, re.M) and re.search(r"^  direct +0.[45]", out, re.M), out


# --- what a log cannot answer ---

def warnings(arguments, folder):
    return " ".join(replay(arguments, folder)["policies"][0]["warnings"])


def check_warnings(folder):
    rng = random.Random(1)
    write(folder, "certain.vw", "".join(f"{1 + (i % 2)}:{i % 3 % 2}:1 | f{i % 5}\n" for i in range(500)))
    assert "cannot answer" in warnings("certain.vw --policy label:1", folder)
    assert "probability 1" in warnings("certain.vw --policy uniform", folder)
    assert warnings("certain.vw --policy logged", folder) == ""
    write(folder, "some.vw", "".join(f"{1 + (i % 2)}:0:{1 if i % 10 == 0 else 0.5} | a\n" for i in range(1000)))
    assert "10.0 %" in warnings("some.vw --policy label:2", folder)
    assert "never has a label" in warnings("some.vw --policy label:nothing", folder)
    write(folder, "tiny.vw", "".join(f"1:{i % 2}:0.999 | a\n" for i in range(5000)) + "2:0:0.001 | a\n2:1:0.001 | a\n")
    assert "effective rounds" in warnings("tiny.vw --policy label:2", folder)
    write(folder, "heavy.vw", "".join(f"{1 + (i % 2)}:0:0.5 | a\n" for i in range(2000)) + "1:0:0.005 | a\n")
    assert "tiny probability" in warnings("heavy.vw --policy label:1", folder)
    assert "tiny probability" not in warnings("heavy.vw --policy label:1 --clip 10", folder)
    write(folder, "wrong.vw", "".join(f"{rng.choice((1, 1, 1, 2))}:0:0.5 | a\n" for i in range(2000)))
    assert "should be 1" in warnings("wrong.vw --policy label:1", folder)
    write(folder, "open.jsonl", '{"label":1,"prob":1,"x":{}}\n' * 3 + '{"label":1,"prob":1,"right":1,"x":{}}\n')
    assert "3 rounds without an answer" in run("hunch replay open.jsonl", folder)[0]


def check_errors(folder):
    write(folder, "bad.vw", "1:0:0.5 | a\n1:0:nothing | a\n")
    assert "bad.vw:2: " in run("hunch replay bad.vw", folder, 2)[1]
    out, err = run("hunch replay --on-error skip bad.vw", folder)
    assert "1 rounds" in out and "1 malformed" in err
    assert "the file is empty" in run("printf '' > empty.vw; hunch replay empty.vw", folder, 2)[1]
    assert "nothing.vw" in run("hunch replay nothing.vw", folder, 2)[1]
    for bad in ("", "--policy maybe bad.vw", "--confidence 100 bad.vw", "--interval wide bad.vw", "--clip 0 bad.vw",
                "--save m -l arow -l soba bad.vw", "--nonsense bad.vw"):
        run(f"hunch replay {bad}", folder, 1)
    assert "nonsense" in run("hunch replay -l nonsense same.vw", folder, 2)[1]
    write(folder, "fake.db", "SQLite format 3\0 and then nothing")
    assert "not a log of the server's" in run("hunch replay fake.db", folder, 2)[1]


# --- the server's log ---

def ask(connection, method, path, body):
    connection.request(method, path, json.dumps(body))
    reply = connection.getresponse()
    text = reply.read()
    assert reply.status in (200, 201), text
    return json.loads(text)


def play(connection, model, n):
    rng, right, answered = random.Random(9), 0, 0
    for i in range(n):
        x = {"a": round(rng.random(), 3), "b": round(rng.random(), 3)}
        given = ask(connection, "POST", f"/v1/models/{model}/predict", {"x": x})
        if i % 10 == 9:
            continue  # no one answers
        good = given["label"] == ("left" if x["a"] > x["b"] else "right")
        ask(connection, "POST", f"/v1/models/{model}/feedback", {"id": given["id"], "right": good})
        right, answered = right + good, answered + 1
    ask(connection, "POST", f"/v1/models/{model}/teach", {"x": {"a": 1, "b": 0}, "label": "left"})
    return right, answered


def check_server(folder):
    if "serve" not in run("hunch --help", folder)[0] or "not part of" in run("hunch serve --help || true", folder)[1]:
        print("no server in this build: its log is not read")
        return
    server = subprocess.Popen([HUNCH, "serve", "--dir", os.path.join(folder, "state"), "--listen", "127.0.0.1:0"],
                              stderr=subprocess.PIPE, text=True)
    try:
        port = None
        for line in server.stderr:
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == "listening":
                port = event["port"]
                break
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        labels = ["left", "right", "none"]
        ask(connection, "PUT", "/v1/models/m", {"learner": "banditron:gamma=0.4", "labels": labels})
        right, answered = play(connection, "m", 300)
        ask(connection, "PUT", "/v1/models/sets", {"learner": "banditron:gamma=0.4", "labels": labels})
        ask(connection, "PATCH", "/v1/models/sets", {"control": {"share": 0.3, "label": "none"}})
        shown = []
        for i in range(200):
            asked = {"x": {"a": 1}, "eligible": ["left", "none"] if i % 2 else labels}
            given = ask(connection, "POST", "/v1/models/sets/predict", asked)
            good = given["label"] == "left"
            ask(connection, "POST", "/v1/models/sets/feedback", {"id": given["id"], "right": good})
            if "chosen_by" not in given:
                shown.append(good / given["probability"] / len(asked["eligible"]))
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    finally:
        if server.poll() is None:
            server.kill()
            server.communicate()
    sets, log = (os.path.join(folder, "state", "models", name, "log.db") for name in ("sets", "m"))
    out = replay(f"{sets} --policy uniform", folder)  # among the labels that could be shown, without the control
    assert out["rounds"] == len(shown) < 170, out
    assert abs(out["policies"][0]["estimates"]["ips"]["value"] - sum(shown) / len(shown)) < 1e-9, out
    for path in (log, os.path.dirname(log)):
        out = replay(f"{path} --policy logged -l banditron:gamma=0.4", folder)
        assert out["rounds"] == answered and out["unanswered"] == 30 and out["lessons"] == 1 and out["labels"] == 3, out
        assert abs(out["right"] - right / answered) < 1e-12
        assert 0 < out["lowest_probability"] < 0.2 and estimates(out["policies"][1])["snips"] > 0.6, out
    run(f"hunch replay {log} --save s.hunch > /dev/null; hunch inspect s.hunch | grep -q left", folder)


def main():
    with tempfile.TemporaryDirectory(prefix="hunch-replay-") as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(HUNCH, os.path.join(folder, "bin", "hunch"))
        for check in (check_eligible, check_page, check_formats, check_learning, check_unknown_probabilities, check_warnings, check_errors, check_server):
            check(folder)
            print(check.__name__, "good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
