#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hunch data against an HTTP server on loopback: good and bad files, cut connections, full disks.

usage: data.py HUNCH SOURCE-FOLDER
"""
import bz2
import email.utils
import gzip
import hashlib
import http.server
import io
import json
import lzma
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

HUNCH, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CELLS = "low,red,3,yes\nhigh,blue,1,no\nlow,blue,5,no\n\n"
ROWS = "1 1:1 4:1 5:0.5\n0 2:1 3:1\n0 1:1 3:1 5:1\n"


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Site(http.server.BaseHTTPRequestHandler):
    """Files from memory, with the habits of several servers."""
    files, habits, dates, asked = {}, {}, {}, []
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        name = self.path.lstrip("/")
        habit = self.habits.get(name, "")
        self.asked.append((name, self.headers.get("Range"), self.headers.get("If-Range")))
        if habit.startswith("to "):
            self.send_response(302)
            self.send_header("Location", habit[3:])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if name not in self.files:
            self.send_error(404)
            return
        self.file_send(self.files[name], habit, email.utils.formatdate(self.dates.get(name, 1e9), usegmt=True))

    def file_send(self, data, habit, date):
        first = 0
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes=") and habit != "no ranges" and self.headers.get("If-Range", date) == date:
            first = int(asked[6:].split("-")[0])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - first))
        if habit != "no date":
            self.send_header("Last-Modified", date)
        self.end_headers()
        cut = habit in ("cut", "no date", "no ranges") and self.path not in self.cuts
        self.cuts.add(self.path)
        self.wfile.write(data[first:len(data) // 2 if cut else len(data)])
        if cut:
            self.close_connection = True

    cuts = set()


class Place:
    """A folder, a catalogue in it, and the tool."""

    def __init__(self, folder, port):
        self.folder, self.port, self.sets = folder, port, []

    def add(self, name, originals, prepare, files=None, **more):
        entry = {"name": name, "title": "t", "homepage": "h", "licence": "free", "rows": 3, "features": 5, "classes": 2,
                 "files": files or [{"name": step["to"], "sha256": None} for step in prepare],
                 "originals": [{"name": n, "url": f"http://127.0.0.1:{self.port}/{u}", "sha256": s}
                               for n, u, s in originals], "prepare": prepare, "notes": "n"}
        entry.update(more)
        self.sets.append(entry)

    def run(self, *arguments, expect=0, limit=None, env=None):
        path = os.path.join(self.folder, "catalogue.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"format": 1, "sets": self.sets}, out)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("HUNCH_", "http", "HTTP"))}
        environment.update(env or {}, LC_ALL="C.UTF-8")
        done = subprocess.run([HUNCH, "data", "--catalogue", path, *arguments], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                              preexec_fn=limit)
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == expect, f"{arguments}: exit {done.returncode}\n{out}{err}"
        return out + err

    def files(self, name, to="to"):
        folder = os.path.join(self.folder, to, name)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def read(self, name, file, to="to"):
        with open(os.path.join(self.folder, to, name, file), "rb") as data:
            return data.read()


def table(to="tiny.onehot", source="tiny.data", **more):
    step = {"to": to, "from": [source], "kind": "table", "labels": ["no", "yes"], "rows": 3, "features": 5,
            "classes": 2, "columns": [{"values": ["low", "high"]}, {"values": ["blue", "red"]}, {"range": [1, 5]}]}
    step.update(more)
    return step


def check_get(place):
    data = CELLS.encode()
    Site.files["tiny.data"] = data
    place.add("tiny", [("tiny.data", "tiny.data", sha(data))], [table()],
              files=[{"name": "tiny.onehot", "sha256": sha(ROWS.encode())}])
    place.add("plain", [("tiny.data", "tiny.data", None)], [table("plain.onehot")])
    out = place.run("get", "tiny", "--to", "to")
    assert place.files("tiny") == ["tiny.data", "tiny.onehot.svm"]
    assert place.read("tiny", "tiny.data") == data and place.read("tiny", "tiny.onehot.svm") == ROWS.encode()
    for text in ("fetched http", sha(data), "as expected", "3 columns became 5 features", "3 rows", "(as known)", "free"):
        assert text in out, (text, out)
    out = place.run("get", "plain", "--to", "to")
    assert "no checksum known" in out and sha(data) in out
    # again: nothing is fetched
    Site.asked.clear()
    out = place.run("get", "tiny", "--to", "to")
    assert "there already" in out and not Site.asked
    place.run("get", "tiny", "--to", "to", "--again")
    assert Site.asked
    # found by the others
    out = place.run(env={"HUNCH_DATA": os.path.join(place.folder, "to")})
    assert f"{place.folder}/to/tiny" in out
    out = place.run("--check", "tiny", env={"HUNCH_DATA": os.path.join(place.folder, "to")})
    assert ": good" in out
    assert "already" in place.run("get", "tiny", env={"HUNCH_DATA": os.path.join(place.folder, "to")})
    listed = json.loads(place.run("--json", "--check", env={"HUNCH_DATA": os.path.join(place.folder, "to")}))
    assert [s["found"] for s in listed] == [True, True] and listed[0]["files"][0]["check"] == "good"
    assert listed[1]["files"][0]["check"] == "unknown"


def check_refused(place):
    data = CELLS.encode()
    place.add("wrong", [("tiny.data", "tiny.data", "0" * 64)], [table()])
    out = place.run("get", "wrong", "--to", "to", expect=2)
    assert "not the file that was expected" in out and sha(data) in out and "0" * 64 in out
    place.add("missing", [("tiny.data", "not-there", None)], [table()])
    assert "404" in place.run("get", "missing", "--to", "to", expect=3)
    place.add("closed", [("tiny.data", "x", None)], [table()])
    place.sets[-1]["originals"][0]["url"] = "http://127.0.0.1:1/x"
    assert "127.0.0.1" in place.run("get", "closed", "--to", "to", expect=3)
    Site.habits["away"] = "to file:///etc/passwd"
    place.add("away", [("tiny.data", "away", None)], [table()])
    place.run("get", "away", "--to", "to", expect=3)
    Site.habits["moved"] = "to /tiny.data"
    place.add("moved", [("tiny.data", "moved", sha(data))], [table()])
    place.run("get", "moved", "--to", "to")
    place.add("changed", [("tiny.data", "tiny.data", None)], [table(rows=4)])
    assert "should give 4" in place.run("get", "changed", "--to", "to", expect=2)
    place.add("strange", [("tiny.data", "tiny.data", None)], [table(labels=["no", "maybe"])])
    assert "unknown label 'yes'" in place.run("get", "strange", "--to", "to", expect=2)
    place.add("cells", [("tiny.data", "tiny.data", None)], [table(columns=[{"values": ["low", "high"]}] * 3)])
    assert "tiny.data:1: unexpected value 'red'" in place.run("get", "cells", "--to", "to", expect=2)
    for name in ("wrong", "missing", "closed", "away"):
        assert not place.files(name), (name, place.files(name))
    for name in ("changed", "strange", "cells"):
        assert place.files(name) == ["tiny.data"], (name, place.files(name))
    assert "no data set 'other'" in place.run("get", "other", expect=2)
    place.add("byhand", [], [], files=[{"name": "byhand"}], notes="write to someone")
    assert "write to someone" in place.run("get", "byhand", expect=2)
    place.run("get", expect=1)
    place.run("--to", "to", expect=1)


def check_catalogues(place):
    for bad in ({"name": "../up"}, {"files": []}, {"files": [{"name": "a/b"}]}, {"files": [{"name": ".hidden"}]},
                {"originals": [{"name": "a", "url": "file:///etc/passwd"}]},
                {"originals": [{"name": "a", "url": "http://x/", "sha256": "12"}]},
                {"originals": [{"name": "../a", "url": "http://x/"}]},
                {"prepare": [{"to": "a", "from": ["nothing"], "kind": "table"}]}):
        other = Place(place.folder, place.port)
        other.add("fine", [("tiny.data", "tiny.data", None)], [table()])
        other.sets[0].update(bad)
        assert "set 1" in other.run(expect=2), bad


def big():
    """Rows enough that half of them are more than a buffer."""
    return ("low,red,3,yes\nhigh,blue,1,no\nlow,blue,5,no\n" * 40000).encode()


def check_cut(place):
    data = big()
    for habit in ("cut", "no ranges", "no date"):
        name = habit.replace(" ", "-")
        Site.files[name], Site.habits[name] = data, habit
        place.add(name, [("big.data", name, sha(data))], [table("big.onehot", "big.data", rows=120000)])
        out = place.run("get", name, "--to", "to", expect=3)
        assert ("goes on from there" in out) == (habit != "no date" or "big.data.part" in place.files(name)), out
        assert place.files(name) == ([] if habit == "no date" else ["big.data.part"]), place.files(name)
        Site.asked.clear()
        out = place.run("get", name, "--to", "to")
        assert ("from an earlier attempt" in out) == (habit == "cut"), out
        if habit == "cut":
            assert Site.asked[0][1].startswith("bytes=") and Site.asked[0][2], Site.asked
        assert place.files(name) == ["big.data", "big.onehot.svm"] and place.read(name, "big.data") == data
    # another file by now: what there was is not mixed with it
    Site.files["new"], Site.habits["new"], Site.dates["new"] = b"x" * len(data), "cut", 1e9
    place.add("new", [("big.data", "new", sha(data))], [table("big.onehot", "big.data", rows=120000)])
    place.run("get", "new", "--to", "to", expect=3)
    Site.files["new"], Site.dates["new"] = data, 1.1e9
    place.run("get", "new", "--to", "to")
    assert place.read("new", "big.data") == data


def check_limits(place):
    """A limit on file sizes, while fetching and while preparing."""
    data = big()
    Site.files["big.data"] = data
    place.add("limited", [("big.data", "big.data", None)], [table("big.onehot", "big.data", rows=120000)])

    def limit(size):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    out = place.run("get", "limited", "--to", "to", expect=3, limit=limit(100000))
    assert "File too large" in out and not place.files("limited"), (out, place.files("limited"))
    small = gzip.compress(data)
    Site.files["big.gz"] = small
    place.add("packed", [("big.data.gz", "big.gz", None)], [table("big.onehot", "big.data.gz", rows=120000)])
    out = place.run("get", "packed", "--to", "to", expect=3, limit=limit(1000000))
    assert "File too large" in out and place.files("packed") == ["big.data.gz"], (out, place.files("packed"))
    place.run("get", "packed", "--to", "to")
    assert place.files("packed") == ["big.data.gz", "big.onehot.svm"]


def check_full_disk(place):
    disk = os.path.join(place.folder, "disk")
    os.mkdir(disk)
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", disk], check=False,
                                      stderr=subprocess.DEVNULL).returncode:
        print("no small disk can be made here: only the limit on file sizes was tried")
        return
    try:
        out = place.run("get", "limited", "--to", "disk", expect=3)
        assert "No space left" in out and not place.files("limited", "disk"), out
        out = place.run("get", "packed", "--to", "disk", expect=3)
        assert "No space left" in out and place.files("packed", "disk") == ["big.data.gz"], out
    finally:
        subprocess.run(["umount", disk], check=True)


def check_kinds(place):
    svm = "2 1:0.5 3:-1\n1 2:0.1\n"
    Site.files["a.bz2"], Site.files["b.xz"] = bz2.compress(svm.encode()), lzma.compress(b"1 1:3 2:4\n")
    both = [("a.bz2", "a.bz2", None), ("b.xz", "b.xz", None)]

    def step(to, **more):
        return dict({"to": to, "from": ["a.bz2", "b.xz"], "kind": "svmlight"}, **more)

    place.add("vectors", both, [step("same"), step("ones", binary=True), step("long", normalise="l2"),
                                step("dense", multiply=0.5, add=0.5, width=3, labels=["1", "2"])])
    out = place.run("get", "vectors", "--to", "to")
    assert place.read("vectors", "same.svm") == (svm + "1 1:3 2:4\n").encode()
    assert place.read("vectors", "ones.svm") == b"2 1:1\n1 2:1\n1 1:1 2:1\n"
    assert place.read("vectors", "long.svm") == b"2 1:0.447214 3:-0.894427\n1 2:1\n1 1:0.6 2:0.8\n"
    assert place.read("vectors", "dense.svm") == b"1 1:0.75 2:0.5\n0 1:0.5 2:0.55 3:0.5\n0 1:2 2:2.5 3:0.5\n"
    assert "values above 0 became 1" in out and "length 1" in out

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in (("t/b/10", b"The cat"), ("t/b/9", b"a dog, a CAT's"), ("t/a/1", b""), ("t/readme", b"no")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    Site.files["texts.tar.gz"] = packed.getvalue()
    words = {"from": ["texts.tar.gz"], "kind": "words"}
    place.add("texts", [("texts.tar.gz", "texts.tar.gz", None)],
              [dict(words, to="counts"), dict(words, to="ones", binary=True, labels=["a", "b"])])
    place.run("get", "texts", "--to", "to")
    # words: a cat dog s the
    assert place.read("texts", "counts.svm") == b"a\nb 1:2 2:1 3:1 4:1\nb 2:1 5:1\n"
    assert place.read("texts", "ones.svm") == b"0\n1 1:1 2:1 3:1 4:1\n1 2:1 5:1\n"
    Site.files["stop.txt"] = b"the\na\n"
    place.add("some", [("texts.tar.gz", "texts.tar.gz", None), ("stop.txt", "stop.txt", None)],
              [dict(words, to="counts", stop=True, **{"from": ["texts.tar.gz", "stop.txt"]})])
    place.run("get", "some", "--to", "to")
    assert place.read("some", "counts.svm") == b"a\nb 1:1 2:1 3:1\nb 1:1\n"  # cat dog s
    place.add("mail", [("texts.tar.gz", "texts.tar.gz", None)],
              [dict(words, to="below", under="t/b/"), dict(words, to="largest", largest=1), dict(words, to="left", leave=["b"])])
    out = place.run("get", "mail", "--to", "to")
    assert place.read("mail", "below.svm") == b"b 1:2 2:1 3:1 4:1\nb 2:1 5:1\n" == place.read("mail", "largest.svm")
    assert place.read("mail", "left.svm") == b"a\n" and "2 texts became bags of counted words" in out
    check_topics(place)
    check_reviews(place)
    Site.files["torn.tar.gz"] = packed.getvalue()[:60]
    place.add("torn", [("texts.tar.gz", "torn.tar.gz", None)], [dict(words, to="counts")])
    place.run("get", "torn", "--to", "to", expect=2)
    assert place.files("torn") == ["texts.tar.gz"]


def check_own_catalogue(place):
    """The one that is installed and the program's copy of it are the same, and complete."""
    with open(os.path.join(SOURCE, "experiments", "data.json"), encoding="utf-8") as text:
        known = json.load(text)["sets"]
    environment = {"HUNCH_EXPERIMENTS": os.path.join(place.folder, "nowhere"), "PATH": os.environ["PATH"]}
    listed = json.loads(subprocess.run([HUNCH, "data", "--json"], cwd=place.folder, env=environment, check=True,
                                       stdout=subprocess.PIPE).stdout)
    assert [s["name"] for s in listed] == [s["name"] for s in known]
    for one, other in zip(listed, known):
        assert one["originals"] == other["originals"] and one["licence"] and one["rows"] and one["classes"], one
        assert one["can_get"] == bool(other["prepare"])
        made = {step["to"] for step in other["prepare"]}
        assert not made or made == {f["name"] for f in other["files"]}, one["name"]
    needed = set()
    for name in os.listdir(os.path.join(SOURCE, "experiments")):
        if name.endswith(".json") and name not in ("data.json", "quick.json"):
            with open(os.path.join(SOURCE, "experiments", name), encoding="utf-8") as text:
                for data in json.load(text).get("data", []):
                    needed.update(data.get("files", []))
    files = {f["name"] for s in known for f in s["files"] + s["originals"]}
    missing = {n for n in needed if n not in files and n.removesuffix(".xz").removesuffix(".svm") not in files}
    assert not missing, f"experiments need files that the catalogue does not know: {sorted(missing)}"


def check_reviews(place):
    """J. Blitzer's unprocessed archive, small: reviews as text and, in another file of the domain's folder, as counted words."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in (("p/books/all.review", b"<review>\n<rating>\n5.0\n</rating>\ntext:2\n</review>\n"),
                           ("p/books/processed.review", b"all:1 #label#:positive\n"), ("p/stopwords", b"the\n"),
                           ("p/books/processed.review.balanced",
                            b"good:2 good_book:1 #label#:positive\n\nold:1 a:b:3 #label#:positive\n"),
                           ("p/dvd/processed.review.balanced", b"good:1 bad:x :4 #label#:negative"), ("p/dvd/1", b"no"),
                           ("p/music/processed.review.balanced", b"song:1\n")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    Site.files["reviews.tar.gz"] = packed.getvalue()
    step = {"from": ["reviews.tar.gz"], "kind": "words", "reviews": "processed.review.balanced", "leave": ["music"]}
    place.add("reviews", [("reviews.tar.gz", "reviews.tar.gz", None)],
              [dict(step, to="counts"), dict(step, to="ones", binary=True, labels=["books", "dvd"]), dict(step, to="some", only=True, labels=["dvd"])])
    out = place.run("get", "reviews", "--to", "to")
    # words: a:b good good_book old
    assert place.read("reviews", "counts.svm") == b"books 2:2 3:1\nbooks 1:3 4:1\ndvd 2:1\n"
    assert place.read("reviews", "ones.svm") == b"0 2:1 3:1\n0 1:1 4:1\n1 2:1\n"
    assert place.read("reviews", "some.svm") == b"0 1:1\n"
    assert "3 texts became bags of counted words" in out


def check_topics(place):
    """RCV1-v2's files, small: two of the four topics, another topic, none; numbers that are none."""
    Site.files["topics.gz"] = gzip.compress(b"CCAT 2286 1\nC15 2286 1\nMCAT 2287 1\nECAT 2287 1\nGCAT 2288 1\nE11 2289 1\n")
    Site.files["one.gz"] = gzip.compress(b"2286  3:0.5 7:0.25\n2287  1:1\n2289  1:1\n")
    Site.files["two.gz"] = gzip.compress(b"2290  2:1\n2288  2:0.125\n")
    step = {"kind": "topics", "from": ["topics.gz", "one.gz", "two.gz"], "labels": ["CCAT", "ECAT", "GCAT", "MCAT"]}
    originals = [(name, name, None) for name in step["from"]]
    place.add("topics", originals, [dict(step, to="four")])
    out = place.run("get", "topics", "--to", "to")
    assert place.read("topics", "four.svm") == b"0 3:0.5 7:0.25\n2 2:0.125\n"
    assert "3 documents without exactly one of the topics are left out" in out
    Site.files["odd.gz"] = gzip.compress(b"CCAT x 1\n")
    place.add("odd", [("odd.gz", "odd.gz", None), originals[1]], [dict(step, to="four", **{"from": ["odd.gz", "one.gz"]})])
    assert "'x' is not a document's number" in place.run("get", "odd", "--to", "to", expect=2)


def raw_find(name):
    for top in os.environ.get("HUNCH_DATA", "").split(":"):
        for at, _, files in os.walk(top or "/nonexistent"):
            if name in files:
                return os.path.join(at, name)
    return None


def check_real(place):
    """The catalogue's own preparations, where the originals are at hand: the files that are known come out."""
    with open(os.path.join(SOURCE, "experiments", "data.json"), encoding="utf-8") as text:
        known = {s["name"]: s for s in json.load(text)["sets"]}
    for name, raw, original in (("car", "car.data.xz", "car.data"), ("nursery", "nursery.data.xz", "nursery.data"),
                                ("connect-4", "connect-4.data.xz", "connect-4.data.Z"),
                                ("20news-18828", "20news-18828.tar.xz", "20news-18828.tar.gz")):
        path = raw_find(raw)
        if not path:
            print(f"{raw} is not in HUNCH_DATA: its preparation is not compared")
            continue
        with lzma.open(path) as data:
            Site.files[original] = data.read()
        entry = json.loads(json.dumps(known[name]))
        entry["originals"] = [dict(entry["originals"][0], url=f"http://127.0.0.1:{place.port}/{original}")]
        entry["prepare"] = [p for p in entry["prepare"] if p["from"] == [entry["originals"][0]["name"]]]
        entry["files"] = [f for f in entry["files"] if f["name"] in [p["to"] for p in entry["prepare"]]]
        place.sets = [entry]
        out = place.run("get", name, "--to", "real")
        assert out.count("as known") == len(entry["files"]), out
        shutil.rmtree(os.path.join(place.folder, "real"))


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # clients that go away in the middle are part of the test


def main():
    server = Server(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="hunch-data-") as folder:
        place = Place(folder, server.server_address[1])
        for check in (check_get, check_refused, check_catalogues, check_cut, check_limits, check_full_disk, check_kinds,
                      check_own_catalogue, check_real):
            check(place)
            print(check.__name__, "good")
    server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
