"""The command ``tirscript``: demo, show, lower, run, doctor.

Exit status: 0, 1 for an error in the program, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

_PROGRAM = """\
FILE[:NAME] is imported as Python, which runs it; NAME is a function or module in it, or Module.function.
`-` reads the text of a script from standard input and runs nothing.
"""


def _parser() -> argparse.ArgumentParser:
    import tirscript

    parser = argparse.ArgumentParser(
        prog="tirscript",
        description="A tensor-program compiler: look at programs, lower them, run them.",
        epilog="Exit status: 0, 1 for an error in the program, 2 for wrong usage.",
    )
    parser.add_argument("--version", action="version", version=f"tirscript {tirscript.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, where: str, text: str, **kwargs: Any) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name, help=text, description=text, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs
        )
        sub.set_defaults(where=where)
        sub.add_argument(
            "--color",
            choices=("auto", "always", "never"),
            default="auto",
            help="colours: auto is yes in a terminal unless NO_COLOR is set",
        )
        return sub

    def target(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--target", default="llvm", help='such as "llvm", "llvm -O=2", "python" (default: llvm)'
        )

    demo = command(
        "demo", "tirscript.cli.demo", "schedule a matrix product step by step, compile it and time it"
    )
    demo.add_argument("--brief", action="store_true", help="print the results, not the programs")

    show = command("show", "tirscript.cli.show_program", "print a program as a script", epilog=_PROGRAM)
    show.add_argument("program", metavar="FILE[:NAME]")
    show.add_argument("--dialect", choices=("tirscript", "tvm-0.27"), default="tirscript")
    show.add_argument(
        "--no-sugar", action="store_true", help="one loop and one axis a line: no T.grid, no remap"
    )
    show.add_argument("--width", type=int, help="wrap lines at this column")
    show.add_argument("--line-numbers", action="store_true")

    lower = command(
        "lower", "tirscript.cli.lower_program", "print a program as it is compiled", epilog=_PROGRAM
    )
    lower.add_argument("program", metavar="FILE[:NAME]")
    target(lower)
    lower.add_argument("--stop-after", metavar="PASS", help="stop after this pass; `help` lists the passes")
    lower.add_argument(
        "--format",
        choices=("script", "python", "ll", "asm"),
        default="script",
        help="lowered script, Python, LLVM IR or assembly",
    )

    run = command(
        "run",
        "tirscript.cli.run_program",
        "compile a function, call it on seeded random data, time it, and check it against plain Python",
        epilog=_PROGRAM,
    )
    run.add_argument("program", metavar="FILE[:NAME]")
    target(run)
    run.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a scalar parameter or symbolic size",
    )
    run.add_argument("--number", type=int, default=10, help="runs that are timed (default: 10)")
    run.add_argument(
        "--check",
        choices=("auto", "always", "never"),
        default="auto",
        help="against the python target; auto leaves out programs of more than 20 million steps",
    )

    command("doctor", "tirscript.cli.doctor", "what was found on this machine, and what to install")
    return parser


class UsageError(Exception):
    """What the user asked for does not exist."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit status."""
    arguments = _parser().parse_args(argv)
    if arguments.color != "auto":
        os.environ.pop("NO_COLOR", None)
        os.environ.pop("FORCE_COLOR", None)
        os.environ["FORCE_COLOR" if arguments.color == "always" else "NO_COLOR"] = "1"
    from tirscript.diagnostics import TirscriptError

    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            status: int = importlib.import_module(arguments.where).execute(arguments)
            sys.stdout.flush()
        except UsageError as error:
            print(f"tirscript: {error}", file=sys.stderr)
            return 2
        except TirscriptError as error:
            print(error, file=sys.stderr)
            return 1
        except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except KeyboardInterrupt:
            return 130
    return status


def _show_warning(message: Warning | str, category: type[Warning], *rest: Any, **kwargs: Any) -> None:
    text = str(message)
    name = category.__name__
    # Our own begin with their code: AxisWarning[axis-missed]: ...
    print(f"{name}{'' if text.startswith('[') else ': '}{text}", file=sys.stderr)
