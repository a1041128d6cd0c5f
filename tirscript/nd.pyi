# Written by `python -m tirscript.testing.stubs`: do not edit.
"""TVM's ``nd``: arrays on devices."""
from tirscript.runtime.devices import cpu as cpu
from tirscript.runtime.devices import cuda as cuda
from tirscript.runtime.devices import device as device
from tirscript.runtime.ndarray import NDArray as NDArray
from tirscript.runtime.ndarray import NDArray as Tensor
from tirscript.runtime.ndarray import empty as empty
from tirscript.runtime.ndarray import from_dlpack as from_dlpack
from tirscript.runtime.ndarray import tensor as array
from tirscript.runtime.ndarray import tensor as tensor

