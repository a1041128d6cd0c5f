"""``tirscript show``"""

from __future__ import annotations

from argparse import Namespace

from tirscript import display

from .load import load


def execute(arguments: Namespace) -> int:
    for n, (_, program) in enumerate(load(arguments.program)):
        if n:
            print()
        display.show(
            program,
            dialect=arguments.dialect,
            sugar=not arguments.no_sugar,
            width=arguments.width,
            line_numbers=arguments.line_numbers,
        )
    return 0
