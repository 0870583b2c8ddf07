/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays through NumPy's array interface ("C-struct access", version 3 of the protocol): neither NumPy's headers are
 * needed to build nor the buffer protocol, which only joined Python's stable ABI with 3.11.
 */
#include "core.h"

struct interface {
    int two; /* always 2 */
    int nd;
    char typekind;
    int itemsize, flags;
    intptr_t *shape, *strides;
    void *data;
    PyObject *descr;
};

enum { CONTIGUOUS = 0x1, ALIGNED = 0x100, NOTSWAPPED = 0x200, WRITEABLE = 0x400 };

static bool interface_fits(const struct interface *i, char kind, int size, enum array_use use)
{
    int wanted = CONTIGUOUS | ALIGNED | NOTSWAPPED | (use == ARRAY_WRITE ? WRITEABLE : 0);
    return i->two == 2 && i->typekind == kind && i->itemsize == size && (i->flags & wanted) == wanted;
}

bool array_open(struct array *ret, PyObject *object, char kind, int size, enum array_use use, const char *what)
{
    *ret = (struct array){0};
    if (object == Py_None)
        return true;
    PyObject *capsule = PyObject_GetAttrString(object, "__array_struct__");
    if (!capsule)
        return false;
    const struct interface *i = PyCapsule_GetPointer(capsule, NULL);
    if (!i || !interface_fits(i, kind, size, use)) {
        Py_DECREF(capsule);
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "%s must be a C-contiguous %s array of type %c%d", what,
                         use == ARRAY_WRITE ? "writable" : "NumPy", kind, size);
        return false;
    }
    size_t n = 1;
    for (int d = 0; d < i->nd; d++)
        n *= (size_t)i->shape[d];
    *ret = (struct array){capsule, i->data, n};
    return true;
}

void array_close(struct array *a)
{
    Py_XDECREF(a->capsule);
    *a = (struct array){0};
}
