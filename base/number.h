/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as text, the same under every locale. Grammar: [+-] digits [. digits] [e [+-] digits], with a digit before
 * the exponent; no blanks, no nan, inf or hexadecimal. base/decimal.h reads many floats fast.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_TEXT 32 /* bytes that any number fits in, with its NUL */

/* The number at the beginning of text, correctly rounded (infinite when too large): returns where it ends, or NULL when
 * there is none, and *ret is untouched then. */
const char *number_read(const char *text, double *ret);
/* The whole text is a finite number. */
bool number_is(const char *text, double *ret);

/* The shortest text that reads back as the same number, NUL-terminated; returns its length. Not finite: nan, inf,
 * -inf. */
size_t number_print(double value, char ret[NUMBER_TEXT]);
/* For a float, which needs fewer digits; plain notation from 1e-5 to 1e7. */
size_t number_print_float(float value, char ret[NUMBER_TEXT]);
size_t number_print_whole(uint64_t value, char ret[NUMBER_TEXT]);
/* So many significant digits, as %.*g writes them. */
size_t number_print_digits(double value, int digits, char ret[NUMBER_TEXT]);

#endif
