"""The docstring of a primitive lists what it requires, by the codes of its errors."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

from tirscript.schedule import primitives
from tirscript.schedule.errors import Refusal

MODULES = [m.name for m in pkgutil.iter_modules(primitives.__path__) if m.name != "look"]


@pytest.mark.parametrize("name", MODULES)
def test_every_code_is_listed(name: str) -> None:
    module = importlib.import_module(f"{primitives.__name__}.{name}")
    text = module.__doc__ or ""
    listed = set(re.findall(r"``([a-z0-9]+(?:-[a-z0-9]+)+)``", text))
    own = {
        c.code
        for c in vars(module).values()
        if inspect.isclass(c) and issubclass(c, Refusal) and c.__module__ == module.__name__
    }
    assert own <= listed
    known = {c.code for c in subclasses(Refusal)}
    assert listed <= known
    assert "Requirements:" in text and ">>>" in text and "Source: TVM's" in text


def subclasses(cls: type[Refusal]) -> list[type[Refusal]]:
    out = [cls]
    for c in cls.__subclasses__():
        out += subclasses(c)
    return out
