# cython: language_level=3
cdef double inner(long n):
    cdef double x = 1.0
    cdef long i
    for i in range(n):
        x = x * 1.0000001 + 0.5
    return x


def compute(long n):
    return inner(n)
