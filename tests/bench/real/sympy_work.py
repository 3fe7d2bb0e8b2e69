"""Integrates, simplifies and solves the same few expressions as often as told. usage: sympy_work.py ROUNDS"""
import sys

import sympy
from sympy.core.cache import clear_cache

x, y = sympy.symbols("x y")


def integrals():
    sympy.integrate(x**2 * sympy.exp(x) * sympy.cos(x), x)
    sympy.integrate(1 / (x**4 + x**2 + 1), x)
    sympy.integrate(sympy.log(x)**2 * x**3, x)


def simplifications():
    sympy.simplify((x**3 + x**2 - x - 1) / (x**2 + 2 * x + 1) + sympy.sin(x)**2 + sympy.cos(x)**2)
    sympy.trigsimp(sympy.sin(x)**4 - 2 * sympy.cos(x)**2 * sympy.sin(x)**2 + sympy.cos(x)**4)
    sympy.factor(sympy.expand((x + y + 1)**8 - (x - y)**6))


def main(rounds):
    for _ in range(rounds):
        clear_cache()
        integrals()
        simplifications()


if __name__ == "__main__":
    main(int(sys.argv[1]))
