// An extension module whose functions are known: `burn` computes, `through` calls back.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static volatile double sink;

static inline __attribute__((always_inline)) double step_inlined(double x, long n) {
  for (long i = 0; i < n; i++) x = x * 1.0000001 + 0.5;
  return x;
}

__attribute__((noinline)) static double inner_work(long n) {
  const double r = step_inlined(1.0, n);
  sink = r;
  return r;
}

__attribute__((noinline)) double outer_work(long n) {
  const double r = inner_work(n);
  sink = r + 1;
  return r;
}

static PyObject* burn(PyObject* self, PyObject* count) {
  const double r = outer_work(PyLong_AsLong(count));
  sink = r;
  return PyFloat_FromDouble(r);
}

__attribute__((noinline)) static PyObject* call_back(PyObject* function) {
  PyObject* r = PyObject_CallObject(function, NULL);
  sink = 1;
  return r;
}

static PyObject* through(PyObject* self, PyObject* function) {
  PyObject* r = call_back(function);
  sink = 2;
  return r;
}

static PyMethodDef methods[] = {
    {"burn", burn, METH_O, ""}, {"through", through, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods};
PyMODINIT_FUNC PyInit_extension(void) { return PyModule_Create(&module); }
