/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm, one line each: the C table and Meson's source list are both made from this. No include guard: it
 * is included with different meanings of ALGO. */
ALGO(perceptron)
ALGO(perceptron2)
ALGO(arow)
ALGO(banditron)
ALGO(confidit)
ALGO(soba)
ALGO(newtron)
ALGO(cova)
ALGO(confident)
