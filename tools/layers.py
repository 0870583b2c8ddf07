#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the folders: a file includes only headers of its own folder and of the layers before it, no headers form a
cycle, no folder has more than 40 source files, and base names are unique in the tree.

Usage: layers.py            (in the source folder; the table is tools/layers.txt)
"""
import collections
import pathlib
import re
import subprocess
import sys

FILES_MAX = 40
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def read_table(path):
    table = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            module, folders = line.split(":")
            table[module] = folders.split()
    return table


def place(table, path):
    """The module of a file and the number of its layer."""
    parts = path.split("/")
    if parts[0] not in table:
        return None, None
    folder = "." if len(parts) == 2 else parts[1]
    return parts[0], table[parts[0]].index(folder) if folder in table[parts[0]] else None


def resolve(headers, path, name):
    """The file that an include names: beside the including file, in its module, or in another one."""
    here = str(pathlib.PurePosixPath(path).parent / name)
    module = path.split("/")[0]
    for candidate in (here, f"{module}/{name}", name, *(f"{other}/{name}" for other in ("synth", "stream", "lab", "serve", "lib"))):
        if candidate in headers:
            return candidate
    return None


def cycles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(component) > 1:
                found.append(sorted(component))

    for node in list(graph):
        if node not in index:
            visit(node)
    return found


def main():
    table = read_table(pathlib.Path(__file__).with_name("layers.txt"))
    files = subprocess.run(["git", "ls-files", "*.c", "*.h"], capture_output=True, text=True, check=True).stdout.split()
    files = [file for file in files if file.split("/")[0] in table]
    headers = {file for file in files if file.endswith(".h")}
    complaints, graph = [], collections.defaultdict(set)
    for file in files:
        module, layer = place(table, file)
        if layer is None:
            complaints.append(f"{file}: its folder is not in tools/layers.txt")
            continue
        for name in INCLUDE.findall(pathlib.Path(file).read_text()):
            target = resolve(headers, file, name)
            if target is None:
                continue
            if file in headers:
                graph[file].add(target)
            other, height = place(table, target)
            if other == module and height is not None and height > layer:
                complaints.append(f"{file}: includes {target}, which is a layer above it")
    for component in cycles({header: graph[header] for header in sorted(headers)}):
        complaints.append("cycle: " + ", ".join(component))
    for folder, count in collections.Counter(str(pathlib.PurePosixPath(file).parent) for file in files).items():
        if count > FILES_MAX:
            complaints.append(f"{folder}: {count} source files, more than {FILES_MAX}")
    names = collections.defaultdict(set)
    for file in files:
        names[pathlib.PurePosixPath(file).name].add(file)
    complaints += [f"one name for {', '.join(sorted(same))}" for same in names.values() if len(same) > 1]
    for complaint in complaints:
        print("layers:", complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
