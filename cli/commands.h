/* SPDX-License-Identifier: BSD-3-Clause */
/* Every sub-command, one line each: dispatch, --help and completion are made from this. No include guard: it is
 * included with different meanings of COMMAND and NET_COMMAND. The latter are those that need the network: they are a
 * program of their own, hunch-net, whose libraries the others need not wait for. */
COMMAND(run, "simulate feedback from labelled data and report errors")
COMMAND(sweep, "try settings of learners and report the best of each")
COMMAND(cv, "cross-validate learners, with tuning and label noise")
COMMAND(reproduce, "run the papers' experiments and compare with the printed numbers")
COMMAND(replay, "learn from logged rounds and estimate the accuracy of policies")
COMMAND(predict, "label new data with a saved model")
COMMAND(learners, "list the learners, or one learner's settings")
COMMAND(inspect, "show what a model file contains")
NET_COMMAND(data, "list the experiments' data sets, or fetch and prepare one")
COMMAND(synth, "generate a data set")
COMMAND(convert, "convert data to the binary cache, or back to text")
NET_COMMAND(serve, "answer predictions and accept feedback over HTTP")
