/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of results: one file that opens from disk, for light and dark, wide and narrow screens. */
#ifndef HTML_H
#define HTML_H

#include <stddef.h>
#include <stdio.h>

struct figure;

void html_text(FILE *out, const char *text); /* with &, <, > and quotes escaped */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);
/* A table: its heads, then rows; the first cell of a row is text, the others are numbers or short words. */
void html_table(FILE *out, const char *const *heads, size_t n);
void html_row(FILE *out, const char *const *cells, size_t n);
void html_table_end(FILE *out);
void html_figure(FILE *out, const struct figure *f);
/* What to type, one command on each line. */
void html_commands(FILE *out, const char *lines);

#endif
