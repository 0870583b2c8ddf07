/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves in braille: a character holds 2 x 4 dots. Letters on the curves tell them apart without colours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

#define WIDTH 68 /* of the drawing, in characters; with the axis 78 */
#define HEIGHT 14
#define DOTS_X (2 * WIDTH)
#define DOTS_Y (4 * HEIGHT)
#define FIRST_ROUND 10 /* the error of the first few rounds carries no information */
#define DECADES 4      /* at most */

struct canvas {
    unsigned char dots[HEIGHT][WIDTH];
    unsigned char owner[HEIGHT][WIDTH]; /* series number + 1 of the last dot */
    char letter[HEIGHT][WIDTH];
    double x0, x1, y0, y1; /* of the axes; x is log10 of the rounds, unless it is linear */
    const struct plot_style *style;
};

static void dot_set(struct canvas *c, int x, int y, size_t series)
{
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || x >= DOTS_X || y < 0 || y >= DOTS_Y)
        return;
    c->dots[y / 4][x / 2] |= bits[y % 4][x % 2];
    c->owner[y / 4][x / 2] = (unsigned char)(series + 1);
}

static double along(const struct canvas *c, double round)
{
    return c->style->linear ? round : log10(round);
}

static double dot_x(const struct canvas *c, double round)
{
    return (along(c, round) - c->x0) / (c->x1 - c->x0) * (DOTS_X - 1);
}

static double dot_y(const struct canvas *c, double error)
{
    return (c->y1 - error) / (c->y1 - c->y0) * (DOTS_Y - 1);
}

/* The error at a column of dots, between the points on its sides; false: the curve is not there. */
static bool series_at(const struct canvas *c, const struct plot_series *s, int x, double *ret)
{
    for (size_t i = 1; i < s->n; i++) {
        double left = dot_x(c, s->x[i - 1]), right = dot_x(c, s->x[i]);
        if (left <= x + 1e-6 && x <= right + 1e-6) {
            double part = right > left ? (x - left) / (right - left) : 1;
            *ret = s->y[i - 1] + part * (s->y[i] - s->y[i - 1]);
            return true;
        }
    }
    return false;
}

static void series_draw(struct canvas *c, const struct plot_series *s, size_t number)
{
    int before = -1;
    for (int x = 0; x < DOTS_X; x++) {
        double error;
        if (!series_at(c, s, x, &error))
            continue;
        int y = (int)lround(dot_y(c, error));
        int from = before < 0 ? y : before < y ? before + 1 : before > y ? before - 1 : y;
        for (int step = from <= y ? 1 : -1; from != y + step; from += step)
            dot_set(c, x, from, number);
        before = y;
    }
}

/* Letters every so often, each curve's at columns of its own. */
static void letters_put(struct canvas *c, const struct plot_series *s, size_t number, size_t n)
{
    int apart = WIDTH / 4, shift = (int)(number * (size_t)apart / n);
    for (int column = apart / 2 + shift; column < WIDTH; column += apart) {
        double error;
        if (!series_at(c, s, 2 * column, &error))
            continue;
        int row = (int)lround(dot_y(c, error)) / 4;
        if (row < 0 || row >= HEIGHT || c->letter[row][column])
            continue;
        c->letter[row][column] = (char)('a' + number);
        c->owner[row][column] = (unsigned char)(number + 1);
    }
}

/* A round number for the distance of the marks on an axis. */
static double step_choose(double span)
{
    double unit = pow(10, floor(log10(span)));
    double steps = span / unit;
    return steps < 1.5 ? unit / 4 : steps < 3 ? unit / 2 : steps < 7 ? unit : 2 * unit;
}

static bool canvas_scale(struct canvas *c, const struct plot_series *series, size_t n)
{
    double last = 0, low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (series[i].n && series[i].x[series[i].n - 1] > last)
            last = series[i].x[series[i].n - 1];
    double first = c->style->linear ? last / WIDTH : fmax(FIRST_ROUND, last * pow(10, -DECADES));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++)
            if (series[i].x[j] >= first) {
                low = fmin(low, series[i].y[j]);
                high = fmax(high, series[i].y[j]);
            }
    if (last <= first || !isfinite(low))
        return false;
    double step = step_choose(fmax(high - low, 0.01));
    c->x0 = c->style->linear ? 0 : log10(first);
    c->x1 = along(c, last);
    c->y0 = floor(low / step) * step;
    c->y1 = ceil(high / step) * step;
    if (c->y1 <= c->y0)
        c->y1 = c->y0 + step;
    return true;
}

static void cell_print(FILE *out, const struct canvas *c, int row, int column)
{
    unsigned char dots = c->dots[row][column], owner = c->owner[row][column];
    bool coloured = c->style->colours && owner;
    if (coloured)
        fputs(terminal_colour(owner - 1u), out);
    if (c->letter[row][column])
        fputc(c->letter[row][column], out);
    else if (dots)
        fprintf(out, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
    else
        fputc(' ', out);
    if (coloured)
        fputs(TERMINAL_PLAIN, out);
}

static int row_end(const struct canvas *c, int row)
{
    int end = WIDTH;
    while (end > 0 && !c->dots[row][end - 1] && !c->letter[row][end - 1])
        end--;
    return end;
}

/* The mark of the vertical axis that falls into this row of characters, if one does. */
static bool row_mark(const struct canvas *c, int row, double *ret)
{
    double step = step_choose(c->y1 - c->y0);
    for (double y = c->y0; y <= c->y1 + step / 2; y += step)
        if ((int)lround(dot_y(c, y)) / 4 == row) {
            *ret = y;
            return true;
        }
    return false;
}

static void canvas_print(FILE *out, const struct canvas *c)
{
    fprintf(out, "%s\n", c->style->title);
    for (int row = 0; row < HEIGHT; row++) {
        double mark;
        if (row_mark(c, row, &mark))
            fprintf(out, "%6.4g ┤", 100 * mark);
        else
            fputs("       │", out);
        for (int column = 0, end = row_end(c, row); column < end; column++)
            cell_print(out, c, row, column);
        fputc('\n', out);
    }
}

static void number_short(double number, char ret[16])
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    int unit = 0;
    while (number >= 999.5 && unit < 4) {
        number /= 1000;
        unit++;
    }
    snprintf(ret, 16, "%.3g%s", number, units[unit]);
}

/* Whole decades (or fifths or so, on a linear axis), and the last round at the right end. */
static void axis_print(FILE *out, const struct canvas *c)
{
    bool mark[WIDTH] = {0};
    char text[WIDTH + 16], number[16];
    memset(text, ' ', sizeof text);
    bool linear = c->style->linear;
    double step = linear ? step_choose(c->x1) : 1;
    number_short(linear ? c->x1 : pow(10, c->x1), number);
    size_t taken = WIDTH + 1 - strlen(number);
    memcpy(text + taken, number, strlen(number));
    mark[WIDTH - 1] = true;
    for (double at = linear ? 0 : ceil(c->x0 - 1e-9); at <= c->x1; at += step) {
        double round = linear ? at : pow(10, at);
        size_t column = (size_t)lround(dot_x(c, round)) / 2;
        number_short(round, number);
        if (column + strlen(number) + 1 > taken)
            continue;
        mark[column] = true;
        memcpy(text + column, number, strlen(number));
    }
    fputs("       └", out);
    for (int i = 0; i < WIDTH; i++)
        fputs(mark[i] ? "┴" : "─", out);
    fprintf(out, "\n        %.*s\n", WIDTH + 1, text);
    fprintf(out, "%*s\n", 8 + WIDTH / 2 + 3, "rounds");
}

void plot_draw(FILE *out, const struct plot_series *series, size_t n, const struct plot_style *style)
{
    size_t drawn = n < PLOT_SERIES ? n : PLOT_SERIES;
    struct canvas c = {.style = style};
    if (!drawn || !canvas_scale(&c, series, drawn))
        return;
    for (size_t i = drawn; i-- > 0;)
        series_draw(&c, &series[i], i);
    for (size_t i = 0; i < drawn; i++)
        letters_put(&c, &series[i], i, drawn);
    canvas_print(out, &c);
    axis_print(out, &c);
    for (size_t i = 0; i < drawn; i++)
        fprintf(out, "  %s%c%s %s\n", style->colours ? terminal_colour(i) : "", (char)('a' + i),
                style->colours ? TERMINAL_PLAIN : "", series[i].name);
    if (n > drawn)
        fprintf(out, "  (these are the first %zu of the table's %zu)\n", drawn, n);
}
