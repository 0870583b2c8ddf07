# SPDX-License-Identifier: BSD-3-Clause
"""One job of Vowpal Wabbit, run by the Python that has it: vw_job.py ARGUMENTS. Prints its own time as JSON, from the
making of the learner to its end; Python's start is left out."""
import json
import resource
import sys
import time

import vowpalwabbit


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    before, began = cpu(), time.perf_counter()
    learner = vowpalwabbit.Workspace(sys.argv[1] + " --quiet")
    examples = learner.get_weighted_examples()
    loss = learner.get_sum_loss() / max(examples, 1)
    learner.finish()
    print(json.dumps({"cpu": cpu() - before, "wall": time.perf_counter() - began, "error": loss, "rows": examples,
                      "version": vowpalwabbit.__version__}))


main()
