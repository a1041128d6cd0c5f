"""Programs from one era of spellings to another: text in, text and a report out; nothing is run.

>>> from tirscript.migrate import migrate_text
>>> text = '''import tvm
... from tvm.script import tir as T
...
... @T.prim_func
... def copy(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
...     for i in range(8):
...         with T.block("B"):
...             vi = T.axis.spatial(8, i)
...             B[vi] = A[vi]
...
... sch = tvm.tir.Schedule(copy)
... (i,) = sch.get_loops(sch.get_block("B"))
... '''
>>> print(migrate_text(text, "tvm-0.27").text)
import tvm
from tvm.script import tirx as T
<BLANKLINE>
@T.prim_func(s_tir=True)
def copy(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
<BLANKLINE>
sch = tvm.s_tir.Schedule(copy)
(i,) = sch.get_loops(sch.get_sblock("B"))
<BLANKLINE>
"""

from __future__ import annotations

from .eras import ERAS
from .notebook import migrate_notebook
from .python import Migrated, Remark, Unreadable, migrate_text

__all__ = ["ERAS", "Migrated", "Remark", "Unreadable", "migrate_notebook", "migrate_text"]
