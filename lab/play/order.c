/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/order.h"

#include <stdlib.h>

#include "base/rng.h"

bool order_init(struct order *order, uint32_t rows, uint64_t seed)
{
    *order = (struct order){malloc(((size_t)rows + 1) * sizeof *order->row), rows, {0}};
    if (!order->row)
        return false;
    for (uint32_t i = 0; i < rows; i++)
        order->row[i] = i;
    order->state.state = rng_next(&(struct rng){seed});
    return true;
}

void order_shuffle(struct order *order)
{
    for (uint32_t i = order->rows; i-- > 1;) {
        uint32_t j = (uint32_t)rng_below(&order->state, (uint64_t)i + 1), row = order->row[i];
        order->row[i] = order->row[j];
        order->row[j] = row;
    }
}

void order_free(struct order *order)
{
    free(order->row);
    *order = (struct order){0};
}
