/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's tables as dictionaries. */
#include "core.h"

static const char *kind_name(hunch_setting_kind kind)
{
    switch (kind) {
    case HUNCH_REAL:
        return "real";
    case HUNCH_INTEGER:
        return "integer";
    case HUNCH_CHOICE:
        return "choice";
    case HUNCH_TEXT:
        break;
    }
    return "text";
}

/* Appends item, which may be NULL after a failure, and lets go of it. */
static bool append(PyObject *list, PyObject *item)
{
    bool ok = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return ok;
}

static PyObject *words(const char *const *from)
{
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (size_t i = 0; ok && from && from[i]; i++)
        ok = append(list, PyUnicode_FromString(from[i]));
    if (ok)
        return list;
    Py_XDECREF(list);
    return NULL;
}

static PyObject *settings(const hunch_setting *from)
{
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (size_t i = 0; ok && from[i].name; i++) {
        const hunch_setting *s = &from[i];
        PyObject *choices = words(s->choices);
        ok = choices && append(list, Py_BuildValue("{s:s,s:s,s:s,s:d,s:d,s:O,s:s}", "name", s->name, "kind",
                                                   kind_name(s->kind), "default", s->fallback, "low", s->low, "high",
                                                   s->high, "choices", choices, "help", s->help));
        Py_XDECREF(choices);
    }
    if (ok)
        return list;
    Py_XDECREF(list);
    return NULL;
}

PyObject *table_common_settings(PyObject *module, PyObject *none)
{
    return settings(hunch_common_settings());
}

PyObject *table_algorithms(PyObject *module, PyObject *none)
{
    const hunch_algorithm *const *from;
    size_t n = hunch_algorithms(&from);
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        const hunch_algorithm *a = from[i];
        PyObject *own = settings(a->settings);
        ok = own &&
             append(list, Py_BuildValue("{s:s,s:s,s:s,s:O,s:O}", "name", a->name, "title", a->title, "paper", a->paper,
                                        "full_information", a->full_information ? Py_True : Py_False, "settings", own));
        Py_XDECREF(own);
    }
    if (ok)
        return list;
    Py_XDECREF(list);
    return NULL;
}
