"""``tirscript lower``"""

from __future__ import annotations

from argparse import Namespace

from tirscript import display

from . import UsageError
from .load import as_module, load_one


def execute(arguments: Namespace) -> int:
    from tirscript import driver

    if arguments.stop_after == "help":
        from tirscript.lowering import pass_names

        print("\n".join(pass_names()))
        return 0
    _, program = load_one(arguments.program)
    module = as_module(program)
    if arguments.format == "script":
        display.show(driver.lower(module, arguments.target, stop_after=arguments.stop_after))
        return 0
    if arguments.stop_after is not None:
        raise UsageError("--stop-after goes with --format script")
    if arguments.format == "python":
        print(module.to_python())
    else:
        print(driver.build(module, arguments.target).get_source(arguments.format))
    return 0
