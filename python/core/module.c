/* SPDX-License-Identifier: BSD-3-Clause */
#include "core.h"

PyObject *ModelError, *ModelFileError;

PyObject *raise_status(hunch_status status, const char *reason)
{
    PyObject *type = PyExc_RuntimeError;
    switch (status) {
    case HUNCH_OK:
        reason = "no error";
        break;
    case HUNCH_EINVAL:
    case HUNCH_ELIMIT:
        type = PyExc_ValueError;
        break;
    case HUNCH_ENOMEM:
        type = PyExc_MemoryError;
        break;
    case HUNCH_EIO:
        type = ModelFileError;
        break;
    case HUNCH_EMODEL:
        type = ModelError;
        break;
    case HUNCH_EUNSUPPORTED:
        type = PyExc_NotImplementedError;
        break;
    }
    PyErr_SetString(type, reason && *reason ? reason : hunch_status_text(status));
    return NULL;
}

static PyObject *version(PyObject *module, PyObject *none)
{
    return PyUnicode_FromString(hunch_version());
}

static PyObject *default_learner(PyObject *module, PyObject *none)
{
    return PyUnicode_FromString(hunch_default_learner());
}

static PyMethodDef functions[] = {
    {"arrow_columns", arrow_columns, METH_O, "arrow_columns(capsule) -> (rows, columns)"},
    {"algorithms", table_algorithms, METH_NOARGS, "The table of algorithms: a list of dictionaries."},
    {"common_settings", table_common_settings, METH_NOARGS, "The settings that every learner takes."},
    {"default_learner", default_learner, METH_NOARGS, "The name of the default learner."},
    {"version", version, METH_NOARGS, "The library's version."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "hunch._core", "libhunch's public API, by numbers.", -1, functions, NULL, NULL, NULL, NULL,
};

static bool add(PyObject *m, const char *name, PyObject *object)
{
    Py_XINCREF(object); /* PyModule_AddObject takes one, the static pointers keep one */
    if (object && PyModule_AddObject(m, name, object) == 0)
        return true;
    Py_XDECREF(object);
    return false;
}

static bool exceptions_make(void)
{
    ModelError = PyErr_NewExceptionWithDoc("hunch.ModelError", "Not a model, damaged, or written by a newer version.",
                                           PyExc_ValueError, NULL);
    PyObject *bases = ModelError ? PyTuple_Pack(2, ModelError, PyExc_OSError) : NULL;
    ModelFileError = bases ? PyErr_NewExceptionWithDoc("hunch.ModelFileError",
                                                       "A model file could not be read or written.", bases, NULL)
                           : NULL;
    Py_XDECREF(bases);
    return ModelFileError != NULL;
}

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *m = PyModule_Create(&module);
    if (!m)
        return NULL;
    PyObject *type = learner_type();
    if (type && exceptions_make() && add(m, "Learner", type) && add(m, "ModelError", ModelError) &&
        add(m, "ModelFileError", ModelFileError) &&
        PyModule_AddIntConstant(m, "MAX_FEATURES", (long)HUNCH_MAX_FEATURES) == 0 &&
        PyModule_AddIntConstant(m, "MAX_CLASSES", (long)HUNCH_MAX_CLASSES) == 0 &&
        PyModule_AddObject(m, "MAX_VALUE", PyFloat_FromDouble((double)HUNCH_MAX_VALUE)) == 0) {
        Py_DECREF(type);
        return m;
    }
    Py_XDECREF(type);
    Py_DECREF(m);
    return NULL;
}
