/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/html.h"

#include "report/figure.h"
#include "page_head.h"

void html_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

void html_begin(FILE *out, const char *title)
{
    fwrite(PAGE_HEAD, 1, sizeof PAGE_HEAD, out);
    fputs("<h1>", out);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void html_end(FILE *out)
{
    fputs("</body>\n</html>\n", out);
}

static void cells_print(FILE *out, const char *tag, const char *const *cells, size_t n)
{
    fputs("<tr>", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<%s>", tag);
        html_text(out, cells[i]);
        fprintf(out, "</%s>", tag);
    }
    fputs("</tr>\n", out);
}

void html_table(FILE *out, const char *const *heads, size_t n)
{
    fputs("<div class=\"wide\"><table><thead>", out);
    cells_print(out, "th", heads, n);
    fputs("</thead><tbody>\n", out);
}

void html_row(FILE *out, const char *const *cells, size_t n)
{
    cells_print(out, "td", cells, n);
}

void html_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

void html_figure(FILE *out, const struct figure *f)
{
    fputs("<div class=\"figures\"><figure>", out);
    figure_svg(f, out);
    fputs("</figure></div>\n", out);
}

void html_commands(FILE *out, const char *lines)
{
    fputs("<pre class=\"wide\"><code>", out);
    html_text(out, lines);
    fputs("</code></pre>\n", out);
}
