/* SPDX-License-Identifier: BSD-3-Clause */
#include "figure.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

/* Okabe and Ito's palette, darkest contrasts first. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
                                      "#56B4E9", "#000000", "#8C6D31", "#7F7F7F", "#5E3C99"};
static const int points[] = {7, 5, 9, 11, 13, 15, 2, 1, 3, 6}, hollow[] = {6, 4, 8, 10, 12, 14, 2, 1, 3, 6};
#define FONTS "DejaVu Sans,Helvetica,Arial,sans-serif"
#define FONTS_ATTRIBUTE (" font-family=\"" FONTS "\"")
enum { COLOURS = sizeof colours / sizeof *colours };

hunch_status figure_init(struct figure *f, const char *id, const char *title, const char *x, const char *y,
                         hunch_error *reterr)
{
    *f = (struct figure){.id = strdup(id), .title = strdup(title), .x_label = strdup(x), .y_label = strdup(y)};
    if (f->id && f->title && f->x_label && f->y_label)
        return HUNCH_OK;
    figure_free(f);
    return error_memory(reterr);
}

struct figure_series *figure_add(struct figure *f, const char *name, size_t n)
{
    if (!array_resize(&f->series, f->n + 1, sizeof *f->series))
        return NULL;
    struct figure_series *s = &f->series[f->n++];
    *s = (struct figure_series){.name = strdup(name),
                                .n = n,
                                .x = calloc(n + 1, sizeof(double)),
                                .y = calloc(n + 1, sizeof(double)),
                                .colour = f->n - 1};
    return s->name && s->x && s->y ? s : NULL;
}

void figure_free(struct figure *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->series[i].name);
        free(f->series[i].x);
        free(f->series[i].y);
        free(f->series[i].sd);
    }
    free(f->series);
    free(f->id);
    free(f->title);
    free(f->x_label);
    free(f->y_label);
    *f = (struct figure){0};
}

/* Text inside double quotes for gnuplot, whose enhanced mode is off. */
static void text_put(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static bool drawable(const struct figure *f, const struct figure_series *s, size_t i)
{
    return isfinite(s->x[i]) && isfinite(s->y[i]) && !(f->log_x && s->x[i] <= 0) && !(f->log_y && s->y[i] <= 0);
}

static void data_put(FILE *out, const struct figure *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct figure_series *s = &f->series[i];
        fprintf(out, "$d%zu << EOD\n", i);
        for (size_t j = 0; j < s->n; j++)
            if (drawable(f, s, j))
                fprintf(out, "%.6g %.5g %.3g\n", s->x[j], s->y[j], s->sd ? s->sd[j] : 0);
        fputs("EOD\n", out);
    }
}

/* The powers of two along the axis, every other one when there are many. */
static void powers_put(FILE *out, const struct figure *f)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < f->series[i].n; j++)
            if (drawable(f, &f->series[i], j)) {
                low = fmin(low, log2(f->series[i].x[j]));
                high = fmax(high, log2(f->series[i].x[j]));
            }
    if (!isfinite(low))
        return;
    int step = high - low > 9 ? 2 : 1;
    fputs("set xtics enhanced (", out);
    for (int e = (int)lround(low); e <= lround(high); e += step)
        fprintf(out, "%s'2^{%d}' %.17g", e == lround(low) ? "" : ", ", e, pow(2, e));
    fputs(")\n", out);
}

static void style_put(FILE *out, const struct figure *f)
{
    fputs("set encoding utf8\nset border 3 lc rgb '#666666'\nset tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
          "set grid back lc rgb '#cfcfcf' lw 0.7 dt 1\n",
          out);
    size_t longest = 0;
    for (size_t i = 0; i < f->n; i++)
        longest = strlen(f->series[i].name) > longest ? strlen(f->series[i].name) : longest;
    fprintf(out, "set key %s reverse Left samplen 2.2 spacing 1.15 noenhanced textcolor rgb '#222222'\n",
            longest > 28   ? "below left horizontal maxcols 2"
            : longest > 16 ? "below left horizontal maxcols 3"
                           : "outside right top");
    fputs("set title noenhanced ", out);
    text_put(out, f->title);
    fputs("\nset xlabel noenhanced ", out);
    text_put(out, f->x_label);
    fputs(longest > 16 ? " offset 0,0.5" : "", out); /* off the legend */
    fputs("\nset ylabel noenhanced ", out);
    text_put(out, f->y_label);
    fputc('\n', out);
    fputs("set autoscale xfix\n", out);
    if (f->log_x)
        fputs("set logscale x\nset format x '10^{%L}'\nset xtics enhanced\n", out);
    if (f->log_y)
        fputs("set logscale y\nset format y '%g'\n", out);
    else
        fputs("set yrange [0:*]\n", out);
    if (f->powers)
        powers_put(out, f);
}

static void plot_put(FILE *out, const struct figure *f)
{
    fputs("plot ", out);
    for (size_t i = 0; i < f->n; i++) {
        const struct figure_series *s = &f->series[i];
        const char *rgb = colours[s->colour % COLOURS];
        int mark = (s->published ? hollow : points)[s->colour % COLOURS];
        if (i)
            fputs(", ", out);
        if (s->sd)
            fprintf(out, "$d%zu using 1:2:3 with yerrorbars notitle lc rgb '%s' lw 0.8 pt -1, ", i, rgb);
        if (s->published)
            fprintf(out, "$d%zu using 1:2 with linespoints lc rgb '%s' lw 1 dt 2 pt %d ps 0.9 title ", i, rgb, mark);
        else if (s->marks)
            fprintf(out, "$d%zu using 1:2 with linespoints lc rgb '%s' lw 1.8 pt %d ps 0.6 title ", i, rgb, mark);
        else /* few marks on the line: enough to tell the curves apart without colours */
            fprintf(out, "$d%zu using 1:2 with linespoints lc rgb '%s' lw 1.8 pt %d ps 0.6 pi %zu title ", i, rgb, mark,
                    s->n / 8 + 1);
        text_put(out, s->name);
    }
    fputc('\n', out);
}

static void script_put(FILE *out, const struct figure *f, const char *folder)
{
    data_put(out, f);
    style_put(out, f);
    fputs("set terminal svg size 640,400 dynamic enhanced font '" FONTS ",12' "
          "background '#ffffff'\nset output ",
          out);
    char *path;
    for (int png = 0; png < 2; png++) {
        if (asprintf(&path, "%s/%s.%s", folder, f->id, png ? "png" : "svg") < 0)
            return;
        if (png)
            fputs("set output\nset terminal pngcairo size 640,400 enhanced fontscale 0.82 "
                  "font 'DejaVu Sans,11' background '#ffffff'\nset output ",
                  out);
        text_put(out, path);
        fputc('\n', out);
        free(path);
        plot_put(out, f);
    }
    fputs("set output\n", out);
}

/* --- smaller SVG --- */

/* What gnuplot writes again and again and what is so anyway; the fonts are said once, at the root. */
static const char *const idle[] = {" stroke-linecap=\"butt\"", " stroke-linejoin=\"miter\"", " class=\"gridline\"",
                                   "\t", FONTS_ATTRIBUTE};

static size_t idle_length(const char *at)
{
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (!strncmp(at, idle[i], strlen(idle[i])))
            return strlen(idle[i]);
    return 0;
}

/* Whether a group that holds nothing begins here: "<g ...>" and its end; 0: no. */
static size_t empty_group(const char *at)
{
    if (strncmp(at, "<g ", 3))
        return 0;
    const char *end = at + strcspn(at, ">");
    if (!*end)
        return 0;
    end += 1 + strspn(end + 1, " \t\n");
    return strncmp(end, "</g>", 4) ? 0 : (size_t)(end - at) + 4 + strspn(end + 4, " \t\n");
}

static void svg_squeeze(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        size_t skip = idle_length(at);
        skip = skip ? skip : empty_group(at);
        if (skip)
            at += skip;
        else
            *to++ = *at++;
    }
    *to = '\0';
}

static void svg_shrink(const struct figure *f, const char *folder)
{
    char *path, *text = NULL;
    size_t room = 0;
    if (asprintf(&path, "%s/%s.svg", folder, f->id) < 0)
        return;
    FILE *file = fopen(path, "r+");
    if (file && getdelim(&text, &room, '\0', file) > 0) {
        svg_squeeze(text);
        const char *root = strstr(text, "<svg ");
        int head = root ? (int)(root - text) + 4 : 0;
        rewind(file);
        int length = fprintf(file, "%.*s%s%s", head, text, root ? FONTS_ATTRIBUTE : "", text + head);
        if (fflush(file) || ftruncate(fileno(file), length))
            perror(path);
    }
    if (file)
        fclose(file);
    free(text);
    free(path);
}

hunch_status figure_write(const struct figure *figure, const char *folder, hunch_error *reterr)
{
    size_t drawn = 0;
    for (size_t i = 0; i < figure->n; i++)
        for (size_t j = 0; j < figure->series[i].n; j++)
            drawn += drawable(figure, &figure->series[i], j);
    if (!drawn)
        return error_set(reterr, HUNCH_EINVAL, "%s: nothing to draw", figure->id);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before; /* a missing gnuplot must not end the program */
    sigaction(SIGPIPE, &ignore, &before);
    FILE *out = popen("gnuplot 2>/dev/null", "we");
    if (out)
        script_put(out, figure, folder);
    int code = out ? pclose(out) : -1;
    sigaction(SIGPIPE, &before, NULL);
    if (WIFEXITED(code) && WEXITSTATUS(code) == 127)
        return error_set(reterr, HUNCH_EUNSUPPORTED, "there is no gnuplot: no figures were drawn");
    if (code)
        return error_set(reterr, HUNCH_EIO, "gnuplot failed at figure %s", figure->id);
    svg_shrink(figure, folder);
    return HUNCH_OK;
}
