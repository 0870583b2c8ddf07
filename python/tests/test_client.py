# SPDX-License-Identifier: BSD-3-Clause
"""The client against a real server on this machine, and against one that misbehaves."""

import asyncio
import http.server
import json
import pathlib
import re
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import hunch


class Server:
    def __init__(self, tool, folder, *more):
        self.command = [tool, "serve", "--dir", str(folder), *more]
        self.port = 0
        self.start()

    def start(self):
        listen = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen([*self.command, "--listen", listen], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            event = json.loads(line)
            if event.get("event") == "listening":
                self.port = event["port"]
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)


@pytest.fixture
def server(tool, tmp_path):
    made = Server(tool, tmp_path / "state")
    yield made
    if made.process.poll() is None:
        made.stop()


def test_rows_of_a_table(server):
    schema = {
        "version": 1,
        "columns": [
            {"name": "subject", "role": "text"},
            {"name": "age", "role": "number"},
            {"name": "topic", "role": "label"},
        ],
    }
    with hunch.Client(server.url) as client:
        client.create("desk", ["billing", "login"], learner="confidit", schema=schema, seed=1)
        for _ in range(20):
            client.teach("desk", row={"subject": "Refund, my card!", "age": np.float64(41), "topic": "billing"})
            client.teach("desk", row={"subject": "password reset", "age": float("nan")}, label="login")
        scores = client.scores("desk", row={"subject": "the refund"})
        assert max(scores, key=scores.get) == "billing"
        decision = client.predict("desk", row={"subject": "reset my password", "age": None}, durable=True)
        assert decision.greedy == "login" and client.feedback("desk", decision, label="login")
        for bad in (lambda: client.predict("desk"), lambda: client.scores("desk", {"a": 1}, row={"subject": "x"})):
            with pytest.raises(ValueError):
                bad()


def test_rounds(server):
    with hunch.Client(server.url) as client:
        assert client.ready()
        client.create("drinks", ["tea", "coffee"], learner="banditron:gamma=0.2", seed=1)
        client.create("drinks", ["tea", "coffee"], learner="banditron:gamma=0.2", seed=1)
        with pytest.raises(hunch.ServerError) as caught:
            client.create("drinks", ["tea", "milk"])
        assert caught.value.status == 409
        for hour in [7, 16] * 150:
            decision = client.predict("drinks", {"morning": hour < 12, "hour": np.float32(hour / 24)})
            assert decision.label in ("tea", "coffee") and 0 < decision.probability <= 1
            right = decision.label == ("coffee" if hour < 12 else "tea")
            assert client.feedback("drinks", decision, right) is True
            assert client.feedback("drinks", decision.id, right) is False
        assert client.model("drinks")["name"] == "drinks" and [m["name"] for m in client.models()] == ["drinks"]
        scores = client.scores("drinks", {"morning": True})
        assert max(scores, key=scores.get) == "coffee"
        learner = client.learner("drinks")
        assert learner.labels == ["tea", "coffee"] and learner.greedy({"morning": 1.0}) == "coffee"
        client.teach("drinks", {"morning": 1}, "coffee")
        client.add_labels("drinks", ["milk"])
        assert set(client.predict("drinks", {"morning": 1}, scores=True, durable=True).scores) == {
            "tea",
            "coffee",
            "milk",
        }
        client.decisions("drinks", limit=3)
        client.delete("drinks")
        with pytest.raises(hunch.ServerError) as caught:
            client.predict("drinks", {"morning": 1})
        assert caught.value.status == 404
    for bad in (
        lambda: client.feedback("m", "id"),
        lambda: client.feedback("m", "id", True, label="x"),
        lambda: hunch.Client("ftp://x"),
    ):
        with pytest.raises(ValueError):
            bad()


def test_who_decides(server):
    with hunch.Client(server.url) as client:
        made = client.create("news", ["a", "b"], learner="banditron:gamma=0.2", seed=1, decides="baseline")
        assert made["decides"] == "baseline" and made["control"] is None
        for i in range(100):
            logged = client.log("news", {"f": i % 2}, "ab"[i // 2 % 2], 0.5, event=f"page {i}")
            assert (logged.label, logged.probability, logged.chosen_by) == ("ab"[i // 2 % 2], 0.5, "baseline")
            assert client.feedback("news", logged, logged.label == "ab"[i % 2])
        assert np.isnan(client.log("news", {"f": 1}, "a").probability)
        assert client.predict("news", {"f": 1}, baseline="b").chosen_by == "baseline"
        assert client.predict("news", {"f": 1}, baseline="b", baseline_probability=0.25).probability == 0.25
        told = client.comparison("news")
        assert told["baseline"]["answers"] == 100 and told["model_instead"]["right"] > told["baseline"]["right"]
        client.set_policy("news", decides="model", control={"share": 0.5, "by": "uniform"})
        deferred = [client.predict("news", {"f": 1}, defer=True) for _ in range(20)]
        assert {d.chosen_by for d in deferred} == {"model", "control"}
        with pytest.raises(hunch.ServerError) as caught:
            client.feedback("news", deferred[0], True)
        assert caught.value.code == "not_active"
        assert [client.activate("news", deferred[0]), client.activate("news", deferred[0].id)] == [True, False]
        assert client.feedback("news", deferred[0], True)
        assert client.set_policy("news", control=False)["control"] is None


def test_versions_and_probabilities(server):
    with hunch.Client(server.url) as client:
        labels = [{"name": "a", "examples": [{"x": {"f": 1}}]}, "b", "c"]
        assert client.create("news", labels, learner="banditron:gamma=0.3", seed=1)["lessons"] == 1
        decision = client.predict("news", {"f": 1}, among=["a", "b"], probabilities=True)
        assert decision.probabilities == pytest.approx({"a": 0.85, "b": 0.15, "c": 0})
        assert decision.probabilities[decision.label] == pytest.approx(decision.probability)
        assert client.predict("news", {"f": 1}).probabilities is None
        assert client.add_version("news", "confident", seed=2, promote="auto")["versions"][-1]["version"] == 2
        while client.versions("news")["versions"][-1]["status"] != "shadow":
            time.sleep(0.02)
        assert client.versions("news")["versions"][-1]["promote"] == "auto"
        client.promote("news", 2)
        assert client.versions("news")["active"] == 2


def test_explanations_and_acting(server):
    with hunch.Client(server.url) as client:
        assert client.create("news", ["a", "b"], learner="perceptron", seed=1, act_at=0.8)["act_at"] == 0.8
        client.teach("news", {"f": 1}, "a")
        told = client.explain("news", {"f": 2, "other": 1})
        assert told["label"] == "a" and told["explanation"][0]["feature"] == "f"
        decision = client.predict("news", {"f": 2}, exclude=["a"], durable=True)
        assert decision.act in (True, False) and client.explain("news", decision=decision)["label"] == "b"
        assert client.explain("news", {"f": 2}, label="b")["explanation"] == client.explain("news", decision=decision.id)["explanation"]
        assert client.feedback("news", decision, False)
        client.feedback("news", client.predict("news", {"f": 1}, act_at=0.5), True)
        assert [p["act_at"] for p in client.model("news")["promises"]] == [0.8, 0.5]
        client.create("plain", 2)
        assert client.predict("plain", {"f": 1}).act is None


def test_batches(server):
    with hunch.Client(server.url) as client:
        client.create("m", 3)
        decisions = client.predict_many("m", ({f"f{i % 50}": 1.0} for i in range(1234)))
        assert len({d.id for d in decisions}) == 1234
        answers = [(d, i % 3 == 0) for i, d in enumerate(decisions)]
        assert (
            client.feedback_many("m", answers) == [True] * 1234 and client.feedback_many("m", answers) == [False] * 1234
        )
        with pytest.raises(hunch.BatchError) as caught:
            client.feedback_many("m", [(decisions[0], True), ("0000000000000001-0000000000000000", True)])
        assert caught.value.results[0] is False and caught.value.results[1].status == 404


def test_a_restart_goes_unnoticed(server):
    """The server is killed while clients are at it: every acknowledged answer counted once, none twice."""
    client = hunch.Client(server.url, retries=30, pause=0.05)
    client.create("m", ["a", "b"], learner="banditron")
    told = []

    def play():
        for i in range(300):
            decision = client.predict("m", {f"f{i % 7}": 1.0}, durable=True)
            told.append(client.feedback("m", decision, i % 2 == 0))

    threads = [threading.Thread(target=play) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        while len(told) < 100:
            pass
        server.stop(signal.SIGKILL)
        server.start()
    for thread in threads:
        thread.join()
    assert len(told) == 900
    # An answer whose acknowledgement was lost is sent again and recognised: it is not learned twice.
    counts = client.model("m")
    assert counts["feedback"] == 900
    client.close()


def test_documentation(server):
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "how-to" / "python.md"
    (block,) = re.findall(r"```python\n# needs server\n(.*?)```", page.read_text(), re.S)
    space = {"hunch": hunch}
    exec(block.replace("http://127.0.0.1:8811", server.url), space)
    assert space["local"].labels == ["sports", "politics", "tech"] and space["client"] is not None


def test_tokens(tool, tmp_path):
    (tmp_path / "tokens").write_text("read rrrrrrrrrr\nadmin aaaaaaaaaa\n")
    server = Server(tool, tmp_path / "state", "--tokens", str(tmp_path / "tokens"))
    try:
        hunch.Client(server.url, "aaaaaaaaaa").create("m", 2)
        for token, status in ((None, 401), ("rrrrrrrrrr", 403), ("wrongwrong", 401)):
            with pytest.raises(hunch.ServerError) as caught:
                hunch.Client(server.url, token, retries=0).predict("m", {"a": 1})
            assert caught.value.status == status
    finally:
        server.stop()


def test_async(server):
    async def play():
        async with hunch.AsyncClient(server.url, connections=4) as client:
            await client.create("m", ["a", "b"])
            decisions = await asyncio.gather(*(client.predict("m", {"x": i % 5}) for i in range(100)))
            told = await asyncio.gather(*(client.feedback("m", d, True) for d in decisions))
            assert all(told) and await client.ready()
            more = await client.predict_many("m", [{"x": 1}] * 10)
            assert await client.feedback_many("m", [(d, False) for d in more]) == [True] * 10
            await client.teach("m", {"x": 1}, "a")
            assert set(await client.scores("m", {"x": 1})) == {"a", "b"}
            assert (await client.learner("m")).labels == ["a", "b"]
            assert len(await client.models()) == 1 and (await client.model("m"))["name"] == "m"
            await client.add_labels("m", ["c"])
            await client.decisions("m")
            await client.delete("m")

    asyncio.run(play())


class Moody(http.server.BaseHTTPRequestHandler):
    """Answers as its list says: a status, or None to hang up."""

    protocol_version = "HTTP/1.1"
    moods, seen = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.path, json.loads(body)))
        mood = self.moods.pop(0) if self.moods else (200, {"result": "learned"})
        if mood is None:
            self.close_connection = True
            return
        status, answer = mood
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def moody():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Moody)
    Moody.moods, Moody.seen = [], []
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()
    made.server_close()


def refusal(code):
    return (503, {"error": {"code": code, "message": "not now"}})


def test_what_is_safe_is_tried_again(moody):
    client = hunch.Client(moody, pause=0.001)
    Moody.moods[:] = [None, refusal("not_durable"), refusal("storage"), refusal("busy")]
    assert client.feedback("m", "1", True) is True
    assert len(Moody.seen) == 5 and len({json.dumps(body) for _, body in Moody.seen}) == 1
    Moody.moods[:] = [refusal("model_broken")]
    with pytest.raises(hunch.ServerError, match="not now"):
        client.feedback("m", "1", True)
    Moody.moods[:] = [refusal("busy")] * 9
    with pytest.raises(hunch.ServerError):
        hunch.Client(moody, pause=0.001, retries=2).feedback("m", "1", True)
    assert len(Moody.moods) == 6


def test_teaching_is_never_done_twice(moody):
    client = hunch.Client(moody, pause=0.001)
    for mood in (None, refusal("not_durable")):
        Moody.seen.clear()
        Moody.moods[:] = [mood]
        with pytest.raises((hunch.ServerError, ConnectionError)):
            client.teach("m", {"a": 1}, "x")
        assert len(Moody.seen) == 1
    Moody.moods[:] = [refusal("busy")]
    client.teach("m", {"a": 1}, "x")


def test_nobody_there():
    client = hunch.Client("http://127.0.0.1:1", retries=1, pause=0.001)
    assert not client.ready()
    with pytest.raises(ConnectionError):
        client.predict("m", {"a": 1})
