/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that grows: how replies are put together. Running out of memory sets failed and is asked about once, at the
 * end. */
#ifndef SERVE_TEXT_H
#define SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};

bool text_room(struct text *t, size_t more); /* for that many bytes; false: failed */
void text_add(struct text *t, const void *bytes, size_t n);
void text_puts(struct text *t, const char *s);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *t, const char *format, ...);
void text_quote(struct text *t, const char *s, size_t n); /* as a JSON string */
void text_number(struct text *t, double v);               /* shortest JSON number that reads back as v */
void text_free(struct text *t);

#endif
