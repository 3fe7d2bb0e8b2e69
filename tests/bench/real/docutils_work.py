"""Renders a long document of every common construct to HTML as often as told. usage: docutils_work.py ROUNDS"""
import sys

import docutils.core

SECTION = """
Section {n}
===========

A paragraph with *emphasis*, **strong words**, ``literals``, a link_{n}, a footnote [#n{n}]_ and |name|, long enough to be
broken over several lines of the source, as the paragraphs of real documents are.

* first item with ``code``
* second item

  1. nested and numbered
  2. again

term
    what the term means, with *emphasis*

===== ===== =====
a     b     a+b
===== ===== =====
{n}     1     more
2     3     5
===== ===== =====

.. note:: Something to remember, number {n}.

::

    for line in text:
        print(line)

.. _link_{n}: https://example.org/{n}
.. [#n{n}] A footnote of section {n}.
"""


def document(sections):
    head = "A long document\n###############\n\n.. |name| replace:: the replaced text\n\n.. contents::\n"
    return head + "".join(SECTION.format(n=n) for n in range(sections))


def render(text):
    return docutils.core.publish_string(text, writer_name="html5", settings_overrides={"report_level": 4})


def main(rounds):
    text = document(120)
    for _ in range(rounds):
        render(text)


if __name__ == "__main__":
    main(int(sys.argv[1]))
