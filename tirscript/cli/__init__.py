"""The command ``tirscript``: demo, show, lower, diff, run, bench, migrate, doctor.

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
_SCHEDULES = _PROGRAM + "A name may also be that of a Schedule.\n"
_DIFF = (
    _SCHEDULES
    + """
Two programs: what changes from the first to the second.  One schedule: what each of its steps changed.
Exit status: 0 for the same program (names apart) and for steps, 1 for different programs, 2 for wrong usage.
"""
)
_MIGRATE = """\
Nothing is run: the text is read, and names are followed through the file's own imports.  Comments, strings
and layout stay as they are.  A FILE.ipynb is a notebook: its code cells are one program, magics and outputs
are kept.  `-` reads the text of a Python file from standard input.

  tirscript     import tirscript, T.block, T.Buffer(...), tir.Schedule: what tirscript prints
  tvm-0.27      import tvm, T.sblock, prim_func(s_tir=True), s_tir.Schedule, get_sblock
  course-2022   import tvm, T.block, T.Buffer[...], tir.Schedule, nd.array

Exit status: 0, 1 where something could not be rewritten (each is said on standard error), 2 for wrong usage.
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

    diff = command(
        "diff",
        "tirscript.cli.diff_programs",
        "compare two programs, or show what the steps of a schedule changed",
        epilog=_DIFF,
    )
    diff.add_argument("program", metavar="FILE[:NAME]", nargs="+")
    diff.add_argument("--step", type=int, metavar="N", help="only this step; 0: from the start to the end")
    diff.add_argument("--side-by-side", action="store_true", help="in two columns")
    diff.add_argument("--width", type=int, help="of both columns together (default: the terminal's)")
    diff.add_argument("--context", type=int, default=3, help="lines around a change (default: 3)")
    diff.add_argument("--sugar", action="store_true", help="with T.grid and T.axis.remap")

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

    bench = command(
        "bench",
        "tirscript.cli.bench_programs",
        "time programs on targets, on the same seeded random data, against the first",
        epilog=_SCHEDULES,
    )
    bench.add_argument("program", metavar="FILE[:NAME]", nargs="+")
    bench.add_argument(
        "--target",
        action="append",
        help='as "llvm", "llvm -O=2", "python" (default: llvm); may be given again',
    )
    bench.add_argument(
        "--baseline",
        metavar="FILE[:NAME]",
        help="what the others are held against (default: the first)",
    )
    bench.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    bench.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a scalar parameter or symbolic size",
    )
    bench.add_argument("--number", type=int, default=10, help="runs of one measurement (default: 10)")
    bench.add_argument("--repeat", type=int, default=5, help="measurements (default: 5)")
    bench.add_argument(
        "--min-repeat-ms", type=float, default=20.0, help="least time of a measurement (default: 20 ms)"
    )
    bench.add_argument("--json", action="store_true", help="print the numbers as JSON")

    migrate = command(
        "migrate",
        "tirscript.cli.migrate_program",
        "rewrite imports and spellings of a file or notebook for tirscript, TVM 0.27 or the TVM of 2022",
        epilog=_MIGRATE,
    )
    migrate.add_argument("program", metavar="FILE|NOTEBOOK", nargs="+")
    migrate.add_argument("--to", choices=("tirscript", "tvm-0.27", "course-2022"), required=True)
    migrate.add_argument("--in-place", action="store_true", help="write the files; else a diff is printed")
    migrate.add_argument("-o", "--output", metavar="OUT", help="write the result here; - is standard output")

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
            _check_targets(arguments)
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


def _check_targets(arguments: argparse.Namespace) -> None:
    """A target that is none is wrong usage, whatever the program."""
    given = getattr(arguments, "target", None)
    if given is None:
        return
    from tirscript.diagnostics import TargetError
    from tirscript.target import Target

    for text in [given] if isinstance(given, str) else given:
        try:
            Target(text)
        except TargetError as error:
            raise UsageError(
                f"--target {text}: {error.message}" + (f"; {error.hint}" if error.hint else "")
            ) from None


def _show_warning(message: Warning | str, category: type[Warning], *rest: Any, **kwargs: Any) -> None:
    text = str(message)
    name = category.__name__
    # Our own begin with their code: AxisWarning[axis-missed]: ...
    print(f"{name}{'' if text.startswith('[') else ': '}{text}", file=sys.stderr)
