/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of algorithms, made from algo/list.h. */
#ifndef TABLE_H
#define TABLE_H

#include "state/algo.h"

const struct algo *table_find(const char *name); /* NULL: none of that name */

#endif
