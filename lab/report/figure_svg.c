/* SPDX-License-Identifier: BSD-3-Clause */
/* A figure as SVG: one style for all. Lines differ in colour and in dashes, so that they can be distinguished without
 * colours; up to six are labelled where they end, more in a legend beside or below; standard deviations are bands;
 * readers who prefer dark pages get dark figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "report/html.h"

#define WIDTH 520  /* so that 12 pixels of text are 9 on a phone of 390 */
#define HEIGHT 340 /* without a legend below */
#define LETTER 7.4 /* the width of an average letter of a bold label, in pixels */
#define LINE 16    /* between labels */
#define LABEL_MAX 170

/* Okabe and Ito's palette, strongest contrasts first; the second column is for dark pages. */
static const char *const colours[][2] = {{"#0072B2", "#56B0F0"}, {"#D55E00", "#FF8C42"}, {"#009E73", "#2CD3A0"},
                                         {"#CC79A7", "#E8A0C8"}, {"#B07800", "#F0B840"}, {"#3A9BD9", "#9AD4F7"},
                                         {"#000000", "#FFFFFF"}, {"#8C6D31", "#C9A869"}, {"#7F7F7F", "#B0B0B0"},
                                         {"#5E3C99", "#B39AE0"}};
static const char *const dashes[] = {"", "7 3", "2 3", "10 3 2 3", "14 4", "5 2 1 2 1 2", "", "7 3", "2 3", "10 3 2 3"};
enum { COLOURS = sizeof colours / sizeof *colours };

enum legend { LEGEND_ENDS, LEGEND_BESIDE, LEGEND_BELOW };

struct canvas {
    FILE *out;
    const struct figure *f;
    enum legend legend;
    double height, left, right, top, bottom; /* of the drawing */
    double x0, x1, y0, y1;                   /* of the axes; log10 where they are logarithmic */
};

static double scaled(double value, bool logarithmic)
{
    return logarithmic ? log10(value) : value;
}

static double pixel_x(const struct canvas *c, double x)
{
    return c->left + (scaled(x, c->f->log_x) - c->x0) / (c->x1 - c->x0) * (c->right - c->left);
}

static double pixel_y(const struct canvas *c, double y)
{
    double at = c->f->log_y && y <= 0 ? c->y0 : scaled(y, c->f->log_y);
    return c->bottom - (fmin(fmax(at, c->y0), c->y1) - c->y0) / (c->y1 - c->y0) * (c->bottom - c->top);
}

/* --- axes --- */

/* 1, 2 or 5 times a power of ten: about `most` of them in the span. */
static double step_choose(double span, int max)
{
    double unit = pow(10, floor(log10(span / max)));
    double steps = span / max / unit;
    return unit * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
}

static void axes_choose(struct canvas *c)
{
    const struct figure *f = c->f;
    c->x0 = c->y0 = INFINITY;
    c->x1 = c->y1 = -INFINITY;
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < f->series[i].n; j++)
            if (figure_drawable(f, &f->series[i], j)) {
                double x = scaled(f->series[i].x[j], f->log_x), y = scaled(f->series[i].y[j], f->log_y);
                c->x0 = fmin(c->x0, x);
                c->x1 = fmax(c->x1, x);
                c->y0 = fmin(c->y0, y);
                c->y1 = fmax(c->y1, y);
            }
    if (c->x1 <= c->x0) {
        c->x0 -= 0.5;
        c->x1 += 0.5;
    }
    if (f->log_y) {
        c->y0 = floor(c->y0 * 4) / 4;
        c->y1 = fmax(ceil(c->y1 * 4) / 4, c->y0 + 0.25);
        return;
    }
    c->y0 = fmin(c->y0, 0);
    double step = step_choose(fmax(c->y1 - c->y0, 1e-12), 6);
    c->y0 = floor(c->y0 / step) * step;
    c->y1 = ceil(fmax(c->y1, c->y0 + step) / step - 1e-9) * step;
}

/* 1, 10, 1k, 10k, 1M; powers of ten below one. */
static void count_put(FILE *out, double value)
{
    static const char *const units[] = {"", "k", "M", "G"};
    int unit = 0;
    for (; value >= 1000 && unit < 3; unit++)
        value /= 1000;
    fprintf(out, "%g%s", value, units[unit]);
}

static void power_put(FILE *out, int base, double exponent)
{
    fprintf(out, "%d<tspan dy=\"-5\" font-size=\"9\">%g</tspan>", base, exponent);
}

static void tick_begin(const struct canvas *c, bool x, double at)
{
    if (x)
        fprintf(
            c->out,
            "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/><text class=\"s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
            at, c->top, c->bottom, at, c->bottom + 18);
    else
        fprintf(c->out,
                "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/><text class=\"s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                c->left, at, c->right, c->left - 8, at + 4);
}

static void tick_put(const struct canvas *c, bool x, double value, bool exponent)
{
    tick_begin(c, x, x ? pixel_x(c, value) : pixel_y(c, value));
    if (exponent)
        power_put(c->out, 10, log10(value));
    else
        count_put(c->out, value);
    fputs("</text>\n", c->out);
}

/* Decades, and 2 and 5 between them when there are few. */
static void ticks_log(const struct canvas *c, bool x)
{
    double low = x ? c->x0 : c->y0, high = x ? c->x1 : c->y1;
    bool exponents = low < -2 || high > 9, dense = high - low < 2;
    int step = high - low > 9 ? 2 : 1;
    for (int decade = (int)floor(low); decade <= high + 1e-9; decade += step)
        for (int digit = 1; digit <= (dense ? 5 : 1); digit = digit == 1 ? 2 : digit == 2 ? 5 : 10) {
            double value = digit * pow(10, decade);
            if (log10(value) >= low - 1e-9 && log10(value) <= high + 1e-9)
                tick_put(c, x, value, exponents && digit == 1);
        }
}

static void ticks_powers(const struct canvas *c)
{
    double low = c->x0 / log10(2), high = c->x1 / log10(2);
    int step = high - low > 9 ? 2 : 1;
    for (int e = (int)lround(low); e <= lround(high); e += step) {
        tick_begin(c, true, pixel_x(c, pow(2, e)));
        power_put(c->out, 2, e);
        fputs("</text>\n", c->out);
    }
}

static void ticks_linear(const struct canvas *c, bool x)
{
    double low = x ? c->x0 : c->y0, high = x ? c->x1 : c->y1, step = step_choose(high - low, 6);
    for (double value = ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step)
        tick_put(c, x, fabs(value) < step * 1e-9 ? 0 : value, false);
}

static void axes_put(const struct canvas *c)
{
    const struct figure *f = c->f;
    if (f->powers)
        ticks_powers(c);
    else if (f->log_x)
        ticks_log(c, true);
    else
        ticks_linear(c, true);
    if (f->log_y)
        ticks_log(c, false);
    else
        ticks_linear(c, false);
    fprintf(c->out, "<path class=\"a\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n<text class=\"h\" x=\"16\" y=\"26\">", c->left,
            c->top, c->bottom, c->right);
    html_text(c->out, f->title);
    fputs("</text>\n<text class=\"s\" x=\"16\" y=\"48\">", c->out);
    html_text(c->out, f->y_label);
    fprintf(c->out, "</text>\n<text class=\"s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
            (c->left + c->right) / 2, c->bottom + 38);
    html_text(c->out, f->x_label);
    fputs(f->log_x && !f->powers ? " (logarithmic axis)</text>\n" : "</text>\n", c->out);
}

/* --- lines --- */

static void stroke_put(const struct canvas *c, const struct figure_series *s)
{
    const char *dash = s->published ? "3 3" : dashes[s->colour % COLOURS];
    fprintf(c->out, " class=\"k%zu\"", s->colour % COLOURS);
    if (s->published)
        fputs(" style=\"stroke-width:1.2\"", c->out);
    if (*dash)
        fprintf(c->out, " stroke-dasharray=\"%s\"", dash);
}

/* A path through the points, their y moved by that many standard deviations; signs: of the first point and of the others.
 * A point less than two pixels beside the one before it is left out unless it is the last. */
static void points_put(const struct canvas *c, const struct figure_series *s, double deviations, bool backwards,
                       const char signs[2])
{
    double before = -INFINITY;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < s->n; i++)
        if (figure_drawable(c->f, s, backwards ? s->n - 1 - i : i))
            last = i;
    for (size_t i = 0; i < s->n; i++) {
        size_t j = backwards ? s->n - 1 - i : i;
        if (!figure_drawable(c->f, s, j))
            continue;
        double x = pixel_x(c, s->x[j]), y = s->y[j] + (deviations != 0 ? deviations * s->sd[j] : 0);
        if (fabs(x - before) < 2 && i != last)
            continue;
        fprintf(c->out, "%c%.1f %.1f", signs[isfinite(before)], x, pixel_y(c, y));
        before = x;
    }
}

/* The mean plus and minus a standard deviation. */
static void band_put(const struct canvas *c, const struct figure_series *s)
{
    fprintf(c->out, "<path class=\"f%zu\" fill-opacity=\".16\" d=\"", s->colour % COLOURS);
    points_put(c, s, 1, false, "ML");
    points_put(c, s, -1, true, "LL");
    fputs("Z\"/>\n", c->out);
}

static void line_put(const struct canvas *c, const struct figure_series *s)
{
    fputs("<path", c->out);
    stroke_put(c, s);
    fputs(" d=\"", c->out);
    points_put(c, s, 0, false, "ML");
    fputs("\"/>\n", c->out);
    for (size_t j = 0; s->marks && j < s->n; j++)
        if (figure_drawable(c->f, s, j))
            fprintf(c->out, "<circle class=\"%c%zu%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", s->published ? 'k' : 'f',
                    s->colour % COLOURS, s->published ? " b" : "", pixel_x(c, s->x[j]), pixel_y(c, s->y[j]));
}

/* --- labels --- */

struct label {
    const struct figure_series *series;
    double x, end, y; /* where the line ends, where the label is */
    double value;     /* at the line's end */
};

static int label_compare(const void *a, const void *b)
{
    const struct label *left = a, *right = b;
    return left->end < right->end ? -1 : left->end > right->end;
}

static struct label label_make(const struct canvas *c, const struct figure_series *s)
{
    for (size_t j = s->n; j-- > 0;)
        if (figure_drawable(c->f, s, j))
            return (struct label){s, pixel_x(c, s->x[j]), pixel_y(c, s->y[j]), 0, s->y[j]};
    return (struct label){s, c->right, c->top, 0, NAN};
}

/* Each where its line ends, moved apart as far as need be. */
static size_t labels_place(const struct canvas *c, struct label *ret)
{
    size_t n = c->f->n;
    for (size_t i = 0; i < n; i++)
        ret[i] = label_make(c, &c->f->series[i]);
    qsort(ret, n, sizeof *ret, label_compare);
    for (size_t i = 0; i < n; i++)
        ret[i].y = fmax(ret[i].end, i ? ret[i - 1].y + LINE : c->top);
    double lowest = c->bottom;
    for (size_t i = n; i-- > 0;) {
        ret[i].y = fmin(ret[i].y, lowest);
        lowest = ret[i].y - LINE;
    }
    return n;
}

/* A line's name and where it ends. */
static void name_put(const struct canvas *c, const struct label *l)
{
    html_text(c->out, l->series->name);
    if (isfinite(l->value))
        fprintf(c->out, " %.3g", l->value);
    fputs("</text>\n", c->out);
}

static void ends_put(const struct canvas *c)
{
    struct label labels[FIGURE_LABELS];
    size_t n = labels_place(c, labels);
    for (size_t i = 0; i < n; i++) {
        const struct label *l = &labels[i];
        size_t colour = l->series->colour % COLOURS;
        fprintf(c->out,
                "<path class=\"k%zu\" style=\"stroke-width:1;stroke-opacity:.6\" d=\"M%.1f %.1fH%.1fL%.1f %.1f\"/>\n",
                colour, l->x + 4, l->end, fmax(c->right, l->x + 4), c->right + 12, l->y);
        fprintf(c->out, "<text class=\"f%zu w\" x=\"%.1f\" y=\"%.1f\">", colour, c->right + 16, l->y + 4);
        name_put(c, l);
    }
}

static void legend_put(const struct canvas *c)
{
    for (size_t i = 0; i < c->f->n; i++) {
        const struct figure_series *s = &c->f->series[i];
        double x = c->legend == LEGEND_BELOW ? c->left : c->right + 16;
        double y = (c->legend == LEGEND_BELOW ? c->bottom + 60 : c->top) + (double)i * LINE;
        fputs("<path", c->out);
        stroke_put(c, s);
        fprintf(c->out, " d=\"M%.1f %.1fh30\"/>\n<text class=\"t\" x=\"%.1f\" y=\"%.1f\">", x, y, x + 38, y + 4);
        struct label l = label_make(c, s);
        name_put(c, &l);
    }
}

/* --- the whole --- */

static void layout_choose(struct canvas *c)
{
    size_t longest = 0, n = c->f->n;
    for (size_t i = 0; i < n; i++)
        longest = strlen(c->f->series[i].name) > longest ? strlen(c->f->series[i].name) : longest;
    double room = (double)(longest + 5) * LETTER; /* with the value at the end */
    c->legend = room > LABEL_MAX || n * LINE > HEIGHT - 110 ? LEGEND_BELOW
                : n <= FIGURE_LABELS                        ? LEGEND_ENDS
                                                            : LEGEND_BESIDE;
    c->height = HEIGHT + (c->legend == LEGEND_BELOW ? (double)n * LINE + 6 : 0);
    c->left = 56;
    c->top = 62;
    c->bottom = HEIGHT - 48;
    c->right = WIDTH - (c->legend == LEGEND_ENDS ? room + 26 : c->legend == LEGEND_BESIDE ? room + 60 : 24);
}

static void style_put(const struct figure *f, FILE *out)
{
    size_t used = 0; /* colours */
    for (size_t i = 0; i < f->n; i++)
        used = f->series[i].colour % COLOURS >= used ? f->series[i].colour % COLOURS + 1 : used;
    fputs("<style>\n.b{fill:#fff}.t{fill:#222}.h{fill:#111;font-size:15px;font-weight:600}.s{fill:#555}.w{font-weight:"
          "600}"
          ".g{stroke:#e3e6e9;fill:none}.a{stroke:#8a9199;fill:none}\n",
          out);
    for (int dark = 0; dark < 2; dark++) {
        if (dark)
            fputs("@media(prefers-color-scheme:dark){.b{fill:#14181c}.t{fill:#dde2e6}.h{fill:#f2f4f6}.s{fill:#a6b0b8}"
                  ".g{stroke:#2b333a}.a{stroke:#6f7a83}\n",
                  out);
        for (size_t i = 0; i < used; i++)
            fprintf(out, ".k%zu{stroke:%s%s}.f%zu{fill:%s}", i, colours[i][dark],
                    dark ? "" : ";stroke-width:2;fill:none", i, colours[i][dark]);
        fputs(dark ? "}\n</style>\n" : "\n", out);
    }
}

void figure_svg(const struct figure *f, FILE *out)
{
    struct canvas c = {.out = out, .f = f};
    layout_choose(&c);
    axes_choose(&c);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\" "
        "font-family=\"system-ui,'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif\" "
        "font-size=\"12\">\n<title>",
        WIDTH, c.height, WIDTH, c.height);
    html_text(out, f->title);
    fputs("</title>\n", out);
    style_put(f, out);
    fprintf(out, "<rect class=\"b\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, c.height);
    axes_put(&c);
    for (size_t i = 0; i < f->n; i++)
        if (f->series[i].sd && f->n <= FIGURE_LABELS) /* many bands hide each other */
            band_put(&c, &f->series[i]);
    for (size_t i = f->n; i-- > 0;) /* the first lies on top */
        line_put(&c, &f->series[i]);
    if (c.legend == LEGEND_ENDS)
        ends_put(&c);
    else
        legend_put(&c);
    fputs("</svg>\n", out);
}
