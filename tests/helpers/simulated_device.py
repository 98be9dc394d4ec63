"""A simulated accelerator: tensors that say they are on a device of their own, and compute on the CPU.

The device is called `meta`, the one device type beside `cpu` whose guards every build of torch has. Within
`SimulatedDevice()` whatever is made there or moved there is an `OnDevice`, which holds a CPU tensor. As on a real
accelerator tensors of two devices do not meet, numpy can not read them, and the host has to wait for the device where
it needs a value, or a size that depends on values. `waits` counts these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache, partial
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import Tensor, nn
from torch._ops import OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

DEVICE = torch.device("meta")

aten = torch.ops.aten
_COPIES = (aten._to_copy, aten.copy_)
_INDEXED = (aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_)
# besides pointwise operators these take a number that is on the CPU
_TAKE_NUMBERS = (aten.masked_fill, aten.masked_fill_, aten.fill, aten.fill_, *_INDEXED)
_PARTS = torch._C.DispatchKey.CompositeImplicitAutograd
_MAKE_FROM_PYTHON = (torch.tensor, torch.as_tensor, torch.scalar_tensor)
_INDEXING = (Tensor.__getitem__, Tensor.__setitem__)
_SPECIAL = frozenset((Tensor.backward, Tensor.new_tensor, Tensor.tolist, *_MAKE_FROM_PYTHON, *_INDEXING))


class OnDevice(Tensor):
    """A tensor on the simulated device. inner: its numbers, on the CPU."""

    inner: Tensor
    # what operators return is wrapped where they are dispatched
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: Tensor) -> OnDevice:
        if isinstance(inner, OnDevice):
            raise TypeError("the tensor is on the device already")
        # also what is made in inference mode has a version counter: wrappers need one
        with torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext():
            made = Tensor._make_wrapper_subclass(
                cls,
                inner.size(),
                strides=inner.stride(),
                storage_offset=inner.storage_offset(),
                dtype=inner.dtype,
                layout=inner.layout,
                device=DEVICE,
            )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError(f"{func}: a tensor of the simulated device is used outside of `SimulatedDevice()`")

    def numpy(self, *_, **__):
        raise TypeError("can't convert a tensor of the simulated device to numpy: use .cpu() first")

    __array__ = numpy

    def data_ptr(self) -> int:
        raise RuntimeError("the host can't read memory of the simulated device")

    def __deepcopy__(self, memo: dict) -> Tensor:
        copied = OnDevice(self.inner.clone()).requires_grad_(self.requires_grad)
        copied = nn.Parameter(copied, self.requires_grad) if isinstance(self, nn.Parameter) else copied
        return memo.setdefault(id(self), copied)

    def __repr__(self, **_) -> str:
        return f"OnDevice({self.inner!r})"


class SimulatedDevice:
    """`with SimulatedDevice() as device:` makes the device there.

    waits: how often the host waited for the device from then on, for `item` (`.item()`, `int()`, `bool()` and the
    like), `tolist`, `cpu` (copies to the host), `upload` (copies from it, for which torch waits, too), and operators
    whose result has a size that depends on values, by their names
    """

    def __init__(self) -> None:
        self.waits: Counter[str] = Counter()
        self._operators = _Operators(self.waits)
        self._entered = ExitStack()

    def __enter__(self) -> SimulatedDevice:
        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(torch, "autocast", partial(self._autocast, torch.autocast)))
            enabled = partial(self._is_autocast_enabled, torch.is_autocast_enabled)
            stack.enter_context(mock.patch.object(torch, "is_autocast_enabled", enabled))
            # parameters that two modules share stay shared when modules are moved, as on real devices
            stack.callback(_swap_parameters, torch.__future__.get_swap_module_params_on_conversion())
            _swap_parameters(True)
            stack.enter_context(mock.patch.object(torch.nn.Module, "load_state_dict", _load_into_parameters))
            stack.enter_context(self._operators)
            stack.enter_context(_Functions(self.waits, self._operators))
            self._entered = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._entered.close()

    def _autocast(self, original: type, device_type: str, dtype: torch.dtype = torch.bfloat16, enabled: bool = True):
        """`torch.autocast`, on the device too."""
        if device_type != DEVICE.type:
            return original(device_type, dtype, enabled)
        return mock.patch.object(self._operators, "autocast", dtype if enabled else None)

    def _is_autocast_enabled(self, original: Callable, *device_type: str) -> bool:
        return self._operators.autocast is not None if device_type == (DEVICE.type,) else original(*device_type)


_swap_parameters = torch.__future__.set_swap_module_params_on_conversion
_load_state_dict = torch.nn.Module.load_state_dict


def _load_into_parameters(module: torch.nn.Module, *arguments: Any, **options: Any) -> Any:
    """`load_state_dict` as it is elsewhere: recurrent layers, which refer to their parameters, can't have them swapped
    but where they are moved."""
    _swap_parameters(False)
    try:
        return _load_state_dict(module, *arguments, **options)
    finally:
        _swap_parameters(True)


class _Functions(TorchFunctionMode):
    """What torch does with tensors and Python's own objects before any operator is dispatched."""

    def __init__(self, waits: Counter[str], operators: _Operators) -> None:
        self.waits, self.operators = waits, operators

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func not in _SPECIAL:
            return func(*args, **kwargs)
        if func is Tensor.backward:
            # Casts happen below autograd here, which on real devices records them: going back needs them too, also
            # where it begins after the block that autocasts.
            casts, self.operators.cast = self.operators.cast, None
            with mock.patch.object(self.operators, "autocast", casts):
                return func(*args, **kwargs)
        if func in _MAKE_FROM_PYTHON and _on_device(kwargs.get("device")):
            made = func(*args, **{**kwargs, "device": None})
            return made if isinstance(made, OnDevice) else made.to(DEVICE)
        if args and isinstance(args[0], OnDevice):
            if func is Tensor.new_tensor:
                kwargs = {"dtype": args[0].dtype, **kwargs, "device": None}
                return torch.tensor(*args[1:], **kwargs).to(DEVICE)
            if func is Tensor.tolist:
                self.waits["tolist"] += 1
                return args[0].inner.tolist()
            if func in _INDEXING:
                args = (args[0], _indices(args[1]), *map(_number, args[2:]))
        return func(*args, **kwargs)


def _indices(index):
    """Lists as tensors on the device, where torch puts them."""
    if isinstance(index, tuple):
        return tuple(map(_indices, index))
    return torch.tensor(index).to(DEVICE) if isinstance(index, list) else index


def _number(value):
    """A number that is set stays on the CPU."""
    return value if isinstance(value, Tensor) else torch.tensor(value)


class _Operators(TorchDispatchMode):
    """Computes on the CPU what is dispatched."""

    def __init__(self, waits: Counter[str]) -> None:
        super().__init__()
        self.waits = waits
        self.autocast: torch.dtype | None = None
        self.cast: torch.dtype | None = None  # to what operators have been cast since gradients were last computed

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here: torch need not wrap what is called for each operator."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        operator, kwargs = _operator(func), kwargs or {}
        if operator.decomposes and torch.is_inference_mode_enabled():  # else it comes in its parts
            with self:
                return func._op_dk(_PARTS, *args, **kwargs)
        inside: list[OnDevice] = []
        outside: list[Tensor] = []
        _part((*args, *kwargs.values()) if kwargs else args, inside, outside)
        if outside:
            _check(operator, args, inside, outside)
        stays = bool(inside)
        if kwargs.get("device") is not None:
            stays = _on_device(kwargs["device"])
            kwargs = {**kwargs, "device": torch.device("cpu") if stays else kwargs["device"]}
        if inside or stays:
            self._count(operator, args, kwargs, stays)
        args_inside, kwargs_inside = args, kwargs
        if inside:
            args_inside = tuple([_inner(x) for x in args])
            kwargs_inside = {name: _inner(value) for name, value in kwargs.items()}
        with self._autocasting() if stays and self.autocast else nullcontext():
            found = func(*args_inside, **kwargs_inside)
        if operator.reshapes:
            with no_dispatch():  # of the wrapper, too
                func(*args, **kwargs)
        if operator.writes and any(x.shape != x.inner.shape or x.stride() != x.inner.stride() for x in inside):
            raise NotImplementedError(f"{operator.kind} changes the shape of a tensor in a way that is not simulated")
        if operator.kind is aten.copy_:
            return args[0]
        return _wrapped(found, inside) if stays else found

    @contextmanager
    def _autocasting(self) -> Iterator[None]:
        """Autocasts what the CPU computes: within a mode torch does not."""
        before = torch.get_autocast_dtype("cpu")
        self.cast = self.autocast
        torch.set_autocast_dtype("cpu", self.autocast)
        with torch._C._SetExcludeDispatchKeyGuard(torch._C.DispatchKey.AutocastCPU, False):
            yield
        torch.set_autocast_dtype("cpu", before)

    def _count(self, operator: _Operator, args: tuple, kwargs: dict, stays: bool) -> None:
        """What the operator, which takes or makes tensors on the device, makes the host wait for."""
        if operator.kind in _COPIES:
            source, target = (args[1], isinstance(args[0], OnDevice)) if operator.writes else (args[0], stays)
            if isinstance(source, OnDevice) != target:
                self.waits["upload" if target else "cpu"] += 1
        elif operator.kind in _INDEXED:
            for index in args[1]:
                if isinstance(index, Tensor) and not isinstance(index, OnDevice):
                    self.waits["upload"] += 1
                number = operator.kind is not aten.index and args[2].numel() == 1 and not isinstance(args[2], OnDevice)
                if isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8) and not number:
                    self.waits["mask"] += 1
        elif operator.waits and kwargs.get("output_size") is None:
            self.waits["item" if operator.kind is aten._local_scalar_dense else operator.kind.__name__] += 1


class _Operator(NamedTuple):
    """What torch says of an operator."""

    kind: OpOverloadPacket
    decomposes: bool  # made of others
    waits: bool  # its result, or the size of its result, depends on values
    takes_numbers: bool  # also such that are on the CPU
    writes: bool  # into what it is given
    reshapes: bool  # what it is given


@cache
def _operator(func: OpOverload) -> _Operator:
    kind, tags = func.overloadpacket, func.tags
    return _Operator(
        kind,
        func._can_decompose(),
        torch.Tag.data_dependent_output in tags or torch.Tag.dynamic_output_shape in tags,
        torch.Tag.pointwise in tags or kind in _TAKE_NUMBERS or kind.__name__.startswith("_foreach_"),
        func._schema.is_mutable,
        torch.Tag.inplace_view in tags,
    )


def _check(operator: _Operator, args: tuple, inside: list[Tensor], outside: list[Tensor]) -> None:
    """Raises where tensors of two devices meet."""
    if any(x.is_meta for x in outside):
        raise RuntimeError(f"{operator.kind}: a tensor without numbers, made on the device by what is not simulated")
    if not inside or not outside or operator.kind in _COPIES:
        return
    if operator.kind in _INDEXED and isinstance(args[0], OnDevice):  # the indices may be on the CPU
        outside = [x for x in outside if not any(x is index for index in args[1])]
    if not all(x.dim() == 0 and operator.takes_numbers for x in outside):
        shapes = [tuple(x.shape) for x in outside]
        raise RuntimeError(f"{operator.kind}: tensors on the simulated device and, of shapes {shapes}, on the CPU")


def _wrapped(found, given: list[OnDevice]):
    """Wraps tensors, also in lists and tuples; what was given, and is changed in place, keeps its wrapper."""
    if isinstance(found, Tensor):
        for x in given:
            if x.inner is found:
                return x
        return OnDevice(found)
    return type(found)([_wrapped(x, given) for x in found]) if type(found) in (list, tuple) else found


def _part(values, inside: list[OnDevice], outside: list[Tensor]) -> None:
    """Collects the tensors on the device, and the others, also from lists and tuples."""
    for x in values:
        if isinstance(x, OnDevice):
            inside.append(x)
        elif isinstance(x, Tensor):
            outside.append(x)
        elif type(x) in (list, tuple):
            _part(x, inside, outside)


def _on_device(device) -> bool:
    return device is not None and torch.device(device).type == DEVICE.type


def _inner(x):
    """What is on the CPU of a tensor, also in lists and tuples."""
    if isinstance(x, OnDevice):
        return x.inner
    return type(x)([_inner(each) for each in x]) if type(x) in (list, tuple) else x
