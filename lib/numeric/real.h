/* SPDX-License-Identifier: BSD-3-Clause */
/* The number type of weights and matrices: float, or double in builds with -Dreal=double. */
#ifndef REAL_H
#define REAL_H

#ifdef HUNCH_REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

/* The class dimension is padded to whole lanes of this many bytes, so that every ISA's vectors fit. */
#define LANE_BYTES 32

#endif
