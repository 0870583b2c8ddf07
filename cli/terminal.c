/* SPDX-License-Identifier: BSD-3-Clause */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_WIDTH 30
#define BETWEEN_DRAWINGS 0.1

bool terminal_has_colours(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

const char *terminal_colour(size_t i)
{
    /* Okabe and Ito's palette, which colour-blind people can tell apart, in the 256 colours of terminals. */
    static const char *const colours[] = {"\033[38;5;32m", "\033[38;5;208m", "\033[38;5;36m",  "\033[38;5;169m",
                                          "\033[38;5;74m", "\033[38;5;166m", "\033[38;5;178m", "\033[38;5;245m"};
    return colours[i % (sizeof colours / sizeof *colours)];
}

const char *terminal_count(double number, char ret[32])
{
    char plain[32];
    int n = snprintf(plain, sizeof plain, "%.0f", number), at = 0;
    if (n > 20)
        n = 20;
    for (int i = 0; i < n; i++) {
        ret[at++] = plain[i];
        if ((n - i) % 3 == 1 && i + 1 < n && plain[i] != '-')
            ret[at++] = ',';
    }
    ret[at] = '\0';
    return ret;
}

void meter_begin(struct meter *m, bool wanted)
{
    *m = (struct meter){.out = wanted && isatty(STDERR_FILENO) ? stderr : NULL};
    m->began = m->drawn = clock_seconds();
}

static void time_draw(FILE *out, double seconds)
{
    unsigned long long s = seconds < 1e9 ? (unsigned long long)(seconds + 0.5) : 0;
    if (s >= 3600)
        fprintf(out, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
    else
        fprintf(out, "%llu:%02llu", s / 60, s % 60);
}

void meter_draw(struct meter *m, const char *what, double fraction, uint64_t rows)
{
    char count[32];
    double at = clock_seconds();
    if (!m->out || at - m->drawn < BETWEEN_DRAWINGS)
        return;
    m->drawn = at;
    m->visible = true;
    fprintf(m->out, "\r\033[K%s%s", what, *what ? " " : "");
    if (fraction >= 0) {
        int full = (int)(fraction * BAR_WIDTH + 0.5);
        fprintf(m->out, "%3.0f %% ", 100 * fraction);
        for (int i = 0; i < BAR_WIDTH; i++)
            fputs(i < full ? "█" : "░", m->out);
        fputc(' ', m->out);
    }
    fprintf(m->out, " %s rows", terminal_count((double)rows, count));
    if (fraction > 0.01 && fraction <= 1) {
        fputs("  ", m->out);
        time_draw(m->out, (at - m->began) * (1 - fraction) / fraction);
        fputs(" left", m->out);
    }
    fflush(m->out);
}

void meter_end(struct meter *m)
{
    if (m->out && m->visible)
        fputs("\r\033[K", m->out);
    m->visible = false;
}
