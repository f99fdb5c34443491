/* An empty Python module, so that the import system finds the library; ctypes calls what is in it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_machine", "Machine-code runner (C interface).", -1, 0};

PyMODINIT_FUNC PyInit__machine(void) { return PyModule_Create(&definition); }
