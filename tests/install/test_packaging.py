#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The package files say the same as the build: version, libraries to build with, files that are installed; and the bill of
materials of this build is complete.

usage: test_packaging.py SOURCE BUILD
"""
import json
import pathlib
import re
import subprocess
import sys

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def text(name):
    return (SOURCE / name).read_text()


def check_versions(version):
    assert f"hunch ({version}-" in text("debian/changelog").splitlines()[0], "debian/changelog"
    assert re.search(rf"^Version: +{re.escape(version)}$", text("packaging/hunch.spec"), re.M), "packaging/hunch.spec"
    assert f'version = "{version}"' in text("packaging/conda/meta.yaml"), "packaging/conda/meta.yaml"


def check_libraries():
    """Every -dev package of the build is named wherever a package is built."""
    needed = re.search(r'^build="(.*?)"', text("tools/packages.sh"), re.M | re.S).group(1).split()
    for package in (name for name in needed if name.endswith("-dev") and name != "libc6-dev"):
        for name in ("debian/control", "packaging/Dockerfile"):
            assert package in text(name), f"{name} does not name {package}"


def check_files():
    """What is installed is in some package."""
    lists = "".join(path.read_text() for path in (SOURCE / "debian").glob("*.install"))
    patterns = [re.compile(re.escape(line.split()[0]).replace(r"\*", "[^/]*") + "(/.*)?$") for line in lists.splitlines()]
    prefix, libraries = pathlib.Path(option("prefix")), option("libdir")
    for path in json.loads((BUILD / "meson-info" / "intro-installed.json").read_text()).values():
        name = "usr/" + str(pathlib.Path(path).relative_to(prefix))
        # where Debian puts libraries and Python modules
        name = re.sub(rf"^usr/{re.escape(libraries)}/(?=libhunch|pkgconfig)", "usr/lib/TRIPLET/", name)
        name = re.sub(r"^usr/(local/)?lib/python3[^/]*/", "usr/lib/python3/", name)
        assert any(pattern.match(name) for pattern in patterns), f"{name} is in no debian/*.install"


def option(name):
    options = json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())
    return next(o["value"] for o in options if o["name"] == name)


def check_sbom(version):
    said = subprocess.run([sys.executable, SOURCE / "tools" / "sbom.py", BUILD], stdout=subprocess.PIPE, check=True).stdout
    document = json.loads(said)
    assert document["packages"][0]["versionInfo"] == version
    assert all(len(f["checksums"][0]["checksumValue"]) == 64 for f in document["files"]) and document["files"]
    named = {p["name"] for p in document["packages"]}
    linked = subprocess.run(["ldd", BUILD / "cli" / "hunch", BUILD / "cli" / "hunch-net"], stdout=subprocess.PIPE, text=True,
                            check=False).stdout
    for library, name in {"libjansson": "jansson", "libarchive": "libarchive", "libzstd": "libzstd", "libcurl": "libcurl",
                          "libsqlite3": "sqlite3", "libmicrohttpd": "libmicrohttpd", "libnettle": "nettle",
                          "librdkafka": "rdkafka"}.items():
        assert library not in linked or name in named, f"{library} is linked, and not in the bill"


def main():
    version = re.search(r"^ *version: '(.*)',$", text("meson.build"), re.M).group(1)
    check_versions(version)
    check_libraries()
    check_files()
    check_sbom(version)


main()
