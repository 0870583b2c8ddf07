#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Count how many numbers and figure panels of the five papers are made on the papers' own data: check that docs/explanation/papers.md,
README.md and experiments/results/FIGURES.md say so (the default), or write them.

Numbers are those of the experiments' "printed" tables, made when experiments/results/results.csv has them; panels are made when
experiments/results/figures has them. FIGURES.md shows them panel by panel. A figure that no page shows is an error.

Usage: papers_table.py [--write]
"""
import csv
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "experiments"
TABLES = {"cova-table-1": "C-OVA 2009, Table I", "boosting-table-2": "Bandit boosting 2014, Table 2",
          "confidit-table-3": "Confidit 2013, Table 3", "confidit-table-4": "Confidit 2013, Table 4",
          "confidit-table-5": "Confidit 2013, Table 5", "confidit-table-6": "Confidit 2013, Table 6"}
WHY = {"rcv1": "RCV1-v2", "reuters": "RCV1-v2", "reuters4": "RCV1-v2", "news20": "LIBSVM's news20", "amazon7": "Amazon7",
       "amazon3": "Amazon3", "enron-a": "Enron A", "enron-b": "Enron B", "nytd": "NYTD", "nyto": "NYTO", "nyts": "NYTS",
       "vowels": "Vocal Joystick vowels"}
NINE = ["20news", "amazon3", "nyts", "reuters", "amazon7", "enron-a", "enron-b", "nytd", "nyto"]
SIX = ["20news", "amazon3", "nyts", "reuters", "enron-a", "enron-b"]


def panels(experiments, kinds, data):
    return [(f"{experiment}-{kind}-{one}", one) for one in data for experiment in experiments for kind in kinds]


def confidit(tables, kinds, data):
    return panels([f"confidit-table-{t}" for t in tables], kinds, data)


FIGURES = {
    "C-OVA 2009, Figures 1 to 4": panels(["cova-table-1"], ["left", "middle", "right"], ["rcv1", "mnist", "news20", "usps"]),
    "Bandit boosting 2014, Figure 1": panels(["boosting-table-2"], ["figure-1"],
                                             ["car", "dna", "nursery", "connect-4", "reuters4"])
    + panels(["boosting-table-2"], ["curves"], ["reuters4"]),
    "SOBA 2017, Figure 1": [("soba-figure-1-losses", "losses")],
    "SOBA 2017, Figure 2": panels(["soba-figure-2"], ["gamma", "curves"], ["synsep", "synnonsep", "covtype", "reuters4"]),
    "Confidit 2013, Figure 2": panels(["confidit-figure-2"], ["figure-2"], ["confidit"]),
    "Confidit 2013, Figures 3 and 4": confidit([3], ["first-epoch", "all-epochs", "explored"], NINE),
    "Confidit 2013, Figure 5": confidit([4, 5, 6], ["first-epoch"], SIX),
    "Confidit 2013, Figure 6": confidit([3, 5, 6], ["all-epochs"], SIX),
    "Confidit 2013, Figure 7": confidit([4, 5, 6], ["explored"], SIX),
    "Confidit 2013, Figure 8": [("", "vowels")] * 4,
}
REMARKS = {"SOBA 2017, Figure 2": "the scaling of Covtype is not printed and was inferred from its Perceptron's number"}
INSTEAD = {"Confidit 2013, Figure 8": ("ours-size-growth", "the figure's axes on USPS (`hunch reproduce ours-size`)")}
LOSSES = {0: "#d62728", 0.4: "#2ca02c", 0.8: "#1f77b4", 1: "#c71fc7"}  # of SOBA's Figure 1: eta and colour


def table_numbers(name, measured):
    """(data set, made or not) of every number in the paper's table"""
    experiment = json.loads((EXPERIMENTS / f"{name}.json").read_text(encoding="utf-8"))
    other = {data["id"] for data in experiment["data"] if "differs" in data}
    repeated = {learner["id"] for learner in experiment["learners"] if learner.get("repeats")}
    return [(data, (name, data, learner) in measured) for data, learners in experiment["printed"].items() if data not in other
            for learner in learners if learner not in repeated]


def row(title, what, ours):
    missing = {}
    for data, made in ours:
        if not made:
            missing[WHY[data]] = missing.get(WHY[data], 0) + 1
    told = [f"needs data: {name} ({n})" for name, n in missing.items()] + [REMARKS[title] for _ in range(title in REMARKS)]
    return f"| {title} | {what} | {len(ours)} | {sum(made for _, made in ours)} | {'; '.join(told)} |"


WORDS = ("reproduced", "another spread", "better", "worse", "differs")


def agreement(lines):
    """A line for each experiment whose numbers are judged: how many have which verdict, and how many tests can fail."""
    judged = {}
    for line in lines:
        if line["verdict"] in WORDS:
            judged.setdefault(line["experiment"], []).append(line)
    table = [f"| experiment | judged | {' | '.join(WORDS)} | tests that can fail |", "|---|" + "---|" * (len(WORDS) + 2)]
    for name, ours in judged.items():
        counts = [sum(line["verdict"] == word for line in ours) for word in WORDS]
        sharp = sum(float(line["power"]) >= 0.8 for line in ours)
        table.append(f"| {name} | {len(ours)} | {' | '.join(map(str, counts))} | {sharp} |")
    return "\n".join(table) + "\n"


def missing(numbers, figures):
    """A line for each data set that is not at hand: how many numbers and panels need it"""
    count = {name: [0, 0] for name in WHY.values()}
    for place, group in enumerate((numbers, figures)):
        for ours in group:
            for data, made in ours:
                if not made:
                    count[WHY[data]][place] += 1
    total = [sum(pair[place] for pair in count.values()) for place in (0, 1)]
    lines = [f"| {name} | {cells} | {drawn} |" for name, (cells, drawn) in [*count.items(), ("all", total)]]
    return "\n".join(["| missing data | numbers | panels |", "|---|---|---|", *lines]) + "\n"


def loss(eta, x):
    """SOBA 2017, equation 2"""
    return max(0.0, 1 - 2 * x / (2 - eta) + eta * x * x / (2 - eta)) if x <= 1 else 0.0


def losses_figure():
    """SOBA's Figure 1, x from -2 to 2 and losses from 0 to 3.5, as SVG"""
    def line(points, colour):
        places = " ".join(f"{60 + 100 * (x + 2):g},{380 - 100 * y:g}" for x, y in points)
        return f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{places}"/>'

    xs = [i / 50 for i in range(-100, 101)]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 420" font-family="sans-serif" font-size="14">',
             '<rect width="480" height="420" fill="white"/><rect x="60" y="30" width="400" height="350" fill="none" stroke="black"/>']
    parts += [f'<text x="{60 + 100 * (x + 2)}" y="398" text-anchor="middle">{x}</text>' for x in range(-2, 3)]
    parts += [f'<text x="52" y="{385 - 100 * y}" text-anchor="end">{y}</text>' for y in range(4)]
    for i, (eta, colour) in enumerate(LOSSES.items()):
        parts += [line([(x, loss(eta, x)) for x in xs if loss(eta, x) <= 3.5], colour),
                  f'<text x="350" y="{60 + 20 * i}" fill="{colour}">eta = {eta:g}</text>']
    parts += [line([(-2, 1), (0, 1), (0, 0), (2, 0)], "black"), '<text x="350" y="140">0/1 loss</text></svg>']
    return "\n".join(parts) + "\n"


def figures_page(figures):
    """Every panel of the papers: made, and then how it looks, or what is missing"""
    lines = ["# The papers' figures, panel by panel", "",
             "Written by `tools/papers_table.py --write`. [RESULTS.md](RESULTS.md) has the numbers and describes each data set. The first words of a panel's",
             "name are the experiment that draws it (`hunch reproduce soba-figure-2`). Panels on other data than the papers' are not kept here.", ""]
    for title, panels_made in figures.items():
        lines += [f"## {title}", "", "| panel | status | ours |", "|---|---|---|"]
        for (name, data), made in panels_made:
            status = "made" if made else f"needs data: {WHY[data]}"
            shown = name if made else ""
            if title in INSTEAD:
                shown, remark = INSTEAD[title]
                status += f"; instead: {remark}"
            elif made and title in REMARKS and data == "covtype":
                status += ", scaling inferred from its Perceptron's number"
            picture = f'<img src="figures/{shown}.svg" width="200" alt="{shown}">' if shown else ""
            lines.append(f"| {name or data} | {status} | {picture} |")
            if title in INSTEAD:
                break
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def file_check(path, text, write):
    """False: the file has another text."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return True
    if write:
        path.write_text(text, encoding="utf-8")
        return True
    print(f"{path.relative_to(ROOT)} is not what the results say (tools/papers_table.py --write)")
    return False


def unshown():
    """Figures that neither RESULTS.md nor FIGURES.md shows"""
    pages = "".join((EXPERIMENTS / "results" / page).read_text(encoding="utf-8") for page in ("RESULTS.md", "FIGURES.md"))
    return [path.name for path in sorted((EXPERIMENTS / "results" / "figures").glob("*.svg")) if f"figures/{path.name}" not in pages]


def main(write):
    results = EXPERIMENTS / "results"
    stale = not file_check(results / "figures" / "soba-figure-1-losses.svg", losses_figure(), write)
    with open(results / "results.csv", encoding="utf-8") as f:
        measured_lines = list(csv.DictReader(f))
    measured = {(line["experiment"], line["data"], line["learner"]) for line in measured_lines if line["verdict"]}
    numbers = {title: table_numbers(name, measured) for name, title in TABLES.items()}
    figures = {title: [((name, data), (results / "figures" / f"{name}.svg").exists()) for name, data in all_panels]
               for title, all_panels in FIGURES.items()}
    stale |= not file_check(results / "FIGURES.md", figures_page(figures), write)
    for name in unshown():
        print(f"experiments/results/figures/{name}: no page shows it")
        stale = True
    lines = ["| table or figure | of | in the paper | made on its data | missing |", "|---|---|---|---|---|"]
    lines += [row(title, "numbers", ours) for title, ours in numbers.items()]
    panels_made = {title: [(data, made) for (_, data), made in ours] for title, ours in figures.items()}
    lines += [row(title, "panels", ours) for title, ours in panels_made.items()]
    counts = [(sum(made for ours in group.values() for _, made in ours), sum(len(ours) for ours in group.values()))
              for group in (numbers, figures)]
    (cells, all_cells), (drawn, all_panels) = counts
    count = f"{cells} of the {all_cells} numbers in their six tables of results and {drawn} of the {all_panels} panels of their figures"
    for page, name, text in (("docs/explanation/papers.md", "coverage", "\n".join(lines) + "\n"), ("docs/explanation/papers.md", "count", count),
                             ("docs/explanation/papers.md", "missing", missing(numbers.values(), panels_made.values())),
                             ("docs/explanation/papers.md", "agreement", agreement(measured_lines)),
                             ("README.md", "papers", count)):
        path = ROOT / page
        old = path.read_text(encoding="utf-8")
        part = re.compile(rf"(<!-- {name} -->\n?).*?(<!-- /{name} -->)", re.S)
        assert part.search(old), f"{page}: no markers for {name}"
        new = part.sub(lambda m: m.group(1) + text + m.group(2), old)
        if new != old and write:
            path.write_text(new, encoding="utf-8")
        elif new != old:
            print(f"{page}: its {name} is not what the results say (tools/papers_table.py --write)")
            stale = True
    return stale


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
