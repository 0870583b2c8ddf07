#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The bill of materials of a build as SPDX 2.3 JSON: what was built, with checksums, and the libraries it was built with.

usage: sbom.py BUILD > hunch.spdx.json      BUILD: a folder of Meson in which ninja has run
"""
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys

# What Meson calls them, by whom they are, and under which licence (as the projects themselves say).
LICENCES = {"libxxhash": "BSD-2-Clause", "libarchive": "BSD-2-Clause", "libzstd": "BSD-3-Clause", "jansson": "MIT",
            "sqlite3": "blessing", "libmicrohttpd": "LGPL-2.1-or-later", "libcurl": "curl",
            "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later", "rdkafka": "BSD-2-Clause"}
BUILT = ["lib/libhunch.so", "lib/libhunch.a", "cli/hunch", "cli/hunch-net"]


def introspect(build, what):
    """What `meson introspect` knows, from the files in which Meson keeps it."""
    return json.loads((build / "meson-info" / f"intro-{what}.json").read_text())


def identifier(name):
    return "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in name)


def package(name, version, licence, **more):
    return {"name": name, "SPDXID": identifier(name), "versionInfo": version, "downloadLocation": "NOASSERTION",
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def dependencies(build):
    """(module, version) of the libraries that the programs link; what only tests use is left out."""
    found = {d["name"]: d["version"] for d in introspect(build, "dependencies") if d.get("version")}
    return sorted((name, found[name]) for name in LICENCES if found.get(name, "unknown") != "unknown")


def files(build):
    for name in BUILT:
        path = build / name
        if path.exists():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield {"fileName": "./" + name, "SPDXID": identifier(name), "licenseConcluded": "BSD-3-Clause",
                   "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}


def when(source):
    """The time of the commit, or SOURCE_DATE_EPOCH: the same sources give the same document."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "-C", source, "log", "-1", "--format=%ct"], stdout=subprocess.PIPE, text=True, check=False).stdout or 0
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    build = pathlib.Path(sys.argv[1])
    version = introspect(build, "projectinfo")["version"]
    source = json.loads((build / "meson-info" / "meson-info.json").read_text())["directories"]["source"]
    built, needed = list(files(build)), dependencies(build)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-hunch")]
    relations += [("SPDXRef-hunch", "CONTAINS", file["SPDXID"]) for file in built]
    relations += [("SPDXRef-hunch", "DEPENDS_ON", identifier(name)) for name, _ in needed]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"hunch-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/hunch-{version}-" +
                             hashlib.sha256(json.dumps(built).encode()).hexdigest()[:32],
        "creationInfo": {"created": when(source), "creators": ["Tool: hunch-sbom"]},
        "packages": [package("hunch", version, "BSD-3-Clause", filesAnalyzed=False)] +
                    [package(name, at, LICENCES[name], filesAnalyzed=False) for name, at in needed],
        "files": built,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
