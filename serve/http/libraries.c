/* SPDX-License-Identifier: BSD-3-Clause */
#include <microhttpd.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "http/libraries.h"
#include "util/log.h"

#define VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))

struct library {
    const char *name, *(*version)(void), *fixed, *effect;
    bool (*is_fixed)(int version);
};

/* sqlite.org/wal.html, the WAL-reset bug. */
static bool sqlite_fixed(int v)
{
    return v >= VERSION(3, 51, 3) || (v >= VERSION(3, 50, 7) && v < VERSION(3, 51, 0)) ||
           (v >= VERSION(3, 44, 6) && v < VERSION(3, 45, 0));
}

/* Its ChangeLog, 1.0.3 to 1.0.10. */
static bool microhttpd_fixed(int v)
{
    return v >= VERSION(1, 0, 10);
}

static const struct library libraries[] = {
    {"sqlite", sqlite3_libversion, "3.51.3",
     "when other programs write log.db while others make checkpoints of it, committed events can be lost; hunch itself "
     "lets no checkpoint meet its commits",
     sqlite_fixed},
    {"libmicrohttpd", MHD_get_version, "1.0.10",
     "certain requests can crash it, or be read otherwise than a proxy in front reads them; hunch refuses repeated and "
     "ambiguous fields itself",
     microhttpd_fixed},
};

#define LIBRARIES (sizeof libraries / sizeof *libraries)

/* What a distribution has mended without changing the number is not known here. */
static bool has_defect(const struct library *l)
{
    int major = 0, minor = 0, patch = 0;
    sscanf(l->version(), "%d.%d.%d", &major, &minor, &patch);
    return !l->is_fixed(VERSION(major, minor, patch));
}

void libraries_log(void)
{
    for (const struct library *l = libraries; l < libraries + LIBRARIES; l++)
        if (has_defect(l))
            log_event("library_defect", "{s:s,s:s,s:s,s:s}", "library", l->name, "version", l->version(), "fixed",
                      l->fixed, "effect", l->effect);
}

void libraries_json(struct text *t)
{
    size_t n = 0;
    text_puts(t, "[");
    for (const struct library *l = libraries; l < libraries + LIBRARIES; l++)
        if (has_defect(l))
            text_printf(t, "%s{\"library\":\"%s\",\"version\":\"%s\",\"fixed\":\"%s\",\"effect\":\"%s\"}",
                        n++ ? "," : "", l->name, l->version(), l->fixed, l->effect);
    text_puts(t, "]");
}

void libraries_metrics(struct text *t)
{
    text_puts(t, "# HELP hunch_library_defect 1: this version of a library has a defect that its later versions have "
                 "not.\n# TYPE hunch_library_defect gauge\n");
    for (const struct library *l = libraries; l < libraries + LIBRARIES; l++)
        text_printf(t, "hunch_library_defect{library=\"%s\",version=\"%s\",fixed=\"%s\"} %d\n", l->name, l->version(),
                    l->fixed, has_defect(l));
}
