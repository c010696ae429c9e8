"""Runs a program that is laid out by hand for Hopper, without a GPU: its own text, with a `T` of threads and arrays.

One Python thread stands for each warp group. What is asynchronous comes as late as the program allows: a TMA copy when its barrier is
waited for, a wgmma as well. An operand that changes in between is Torn, and a wait that nothing ends is a Deadlock.
"""

import contextlib
import math
import threading
import types
from dataclasses import dataclass, field

import numpy as np

PATIENCE_S = 20.0


class Deadlock(Exception):
    """A warp group waits for what no other will do."""


class Torn(Exception):
    """A product read a tile that was not there yet, or that was filled anew too early."""


@dataclass
class Barrier:
    """An mbarrier: its phase ends when all have arrived and the copies tied to it are there, here only once somebody asks."""

    count: int
    arrived: int = 0
    phases: int = 0
    copies: list = field(default_factory=list)

    def __getitem__(self, index: int) -> "Barrier":
        return self

    def complete(self) -> None:
        if self.arrived < self.count:
            return
        for copy in self.copies:
            copy()
        self.copies.clear()
        self.arrived, self.phases = 0, self.phases + 1


@dataclass
class Block:
    """What the warp groups of one block share."""

    number: int
    threads: int = 0
    lock: threading.Condition = field(default_factory=threading.Condition)
    made: dict = field(default_factory=dict)
    named: dict = field(default_factory=dict)


class Group(threading.local):
    block: Block
    thread = 0
    allocations = 0
    products: list
    stores: list


class HandLanguage:
    """As much of `tilelang.language` as the programs by hand use."""

    float32 = float
    serial = staticmethod(range)
    unroll = staticmethod(range)
    min = staticmethod(min)
    max = staticmethod(max)

    def __init__(self) -> None:
        self.group = Group()
        self.blocks = 0

    @staticmethod
    def prim_func(function):
        return function

    macro = prim_func

    @staticmethod
    def Tensor(shape, dtype):
        return None

    @contextlib.contextmanager
    def Kernel(self, blocks, threads):
        self.blocks = blocks
        self.group.block.threads = threads
        yield self.group.block.number

    # memory

    def _shared(self, make):
        """The same object for every warp group, told by the order of allocation."""
        self.group.allocations += 1
        with self.group.block.lock:
            return self.group.block.made.setdefault(self.group.allocations, None) or self._keep(make())

    def _keep(self, made):
        self.group.block.made[self.group.allocations] = made
        return made

    def alloc_shared(self, shape, dtype):
        return self._shared(lambda: Tile(np.full(shape, np.nan, dtype)))

    def alloc_fragment(self, shape, dtype):
        return Tile(np.full(shape, np.nan, dtype))

    def alloc_barrier(self, counts):
        return self._shared(lambda: Barrier(counts) if isinstance(counts, int) else [Barrier(count) for count in counts])

    @staticmethod
    def alloc_var(dtype, init):
        return init

    # threads

    def get_thread_binding(self):
        return self.group.thread

    @staticmethod
    def Parallel(rows, columns=None):
        return [i if columns is None else (i, j) for i in range(rows) for j in range(columns or 1)]

    @staticmethod
    def shuffle_elect(threads):
        return True

    @staticmethod
    def any_sync(value):
        return value

    def set_max_nreg(self, count, more):
        assert count % 8 == 0 and 24 <= count <= 240
        if more:
            launched = 65536 // self.group.block.threads // 8 * 8 * self.group.block.threads
            assert count * (self.group.block.threads - 128) + 24 * 128 <= launched, "the block waits for registers that it never had"

    @staticmethod
    def warpgroup_fence_operand(tile, num_regs):
        assert num_regs > 0

    @staticmethod
    def assume(what):
        assert what

    # barriers

    def _until(self, ended):
        if not self.group.block.lock.wait_for(ended, PATIENCE_S):
            raise Deadlock(f"the group of thread {self.group.thread} of block {self.group.block.number} waits without end")

    def barrier_wait(self, barrier, parity):
        def passed():
            barrier.complete()
            return barrier.phases % 2 != parity

        with self.group.block.lock:
            self._until(passed)

    def barrier_arrive(self, barrier):
        """32 threads of the loading warp; one of each of the four warps of a consumer group."""
        with self.group.block.lock:
            barrier.complete()
            barrier.arrived += 32 if self.group.thread == 0 else 4
            assert barrier.arrived <= barrier.count
            self.group.block.lock.notify_all()

    def named_barrier_arrive(self, number, count):
        with self.group.block.lock:
            self._arrive_named(number, count)

    def sync_threads(self, number, count):
        with self.group.block.lock:
            phase = self.group.block.named.get(number, (0, 0))[1]
            self._arrive_named(number, count)
            self._until(lambda: self.group.block.named[number][1] > phase)

    def _arrive_named(self, number, count):
        arrived, phases = self.group.block.named.get(number, (0, 0))
        full = arrived + 128 == count
        self.group.block.named[number] = (0, phases + 1) if full else (arrived + 128, phases)
        self.group.block.lock.notify_all()

    # tiles

    def tma_copy(self, source, destination, barrier=None):
        """A load is tied to its barrier; a store reads shared memory as late as the group's next wait for stores."""
        if barrier is not None:
            barrier.copies.append(lambda: _place(source, destination))
            return
        seen = source.array.copy()

        def store():
            if not np.array_equal(seen, source.array, equal_nan=True):
                raise Torn("shared memory changed while a store read it")
            destination.array[...] = seen[: len(destination.array)]

        self.group.stores.append(store)

    def tma_store_wait(self, left):
        assert left == 0
        while self.group.stores:
            self.group.stores.pop(0)()

    def wgmma_gemm(self, A, B, C, transpose_B=False, clear_accum=False):
        seen = A.array.copy(), B.array.copy()

        def product():
            if not all(np.array_equal(*pair, equal_nan=True) for pair in zip(seen, (A.array, B.array), strict=True)):
                raise Torn(f"an operand of {len(A.array)} rows changed while a product read it")
            added = A.array.astype(np.float32) @ (B.array.T if transpose_B else B.array).astype(np.float32)
            C.array[...] = added if clear_accum else C.array + added

        self.group.products.append(product)

    def wait_wgmma(self, left):
        while len(self.group.products) > left:
            self.group.products.pop(0)()

    @staticmethod
    def fill(tile, value):
        tile.array[...] = value

    @staticmethod
    def copy(source, destination):
        destination.array[...] = source.array[: len(destination.array)]

    @staticmethod
    def reduce_max(source, destination, dim, clear=True):
        highest = np.fmax.reduce(source.array, axis=dim)
        destination.array[...] = highest if clear else np.fmax(destination.array, highest)

    @staticmethod
    def reduce_sum(source, destination, dim):
        destination.array[...] = source.array.sum(axis=dim)

    # arithmetic

    @staticmethod
    def ceildiv(a, b):
        return -(-a // b)

    @staticmethod
    def infinity(dtype):
        return math.inf

    @staticmethod
    def if_then_else(condition, yes, no):
        return yes if condition else no

    @staticmethod
    def exp2(x):
        return np.exp2(np.float32(x))

    @staticmethod
    def Cast(dtype, value):
        return int(value)

    @staticmethod
    def And(a, b):
        return a and b


class Tile:
    """An array, or a part of one, as a program indexes it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __getitem__(self, index):
        found = self.array[index]
        return Tile(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value) -> None:
        self.array[index] = value


def _place(source: Tile, destination: Tile) -> None:
    """A copy by TMA: rows past the end of the tensor come as zeros."""
    destination.array[...] = 0
    destination.array[: len(source.array)] = source.array


def run(program, problem: dict, knobs: dict, Q, K, V) -> np.ndarray:
    """The output of every block, one after the other. Raises Deadlock, Torn, or what else a warp group raised."""
    language = HandLanguage()
    flash_attention = _with_language(program, language)(**problem, **knobs)
    O = Tile(np.full(Q.shape, np.nan, np.float32))
    tensors = [Tile(Q), Tile(K), Tile(V), O]
    number, blocks, groups = 0, 1, knobs["threads"] // 128
    while number < blocks:
        block, raised = Block(number), []
        roles = [0, *(128 + 128 * g for g in range(groups))]
        threads = [threading.Thread(target=_one, args=(language, block, role, flash_attention, tensors, raised)) for role in roles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if raised:
            raise raised[0]
        number, blocks = number + 1, language.blocks
    return O.array


def _one(language: HandLanguage, block: Block, role: int, flash_attention, tensors: list[Tile], raised: list) -> None:
    group = language.group
    group.block, group.thread, group.products, group.stores = block, role, [], []
    try:
        with np.errstate(all="ignore"):
            flash_attention(*tensors)
    except (Deadlock, Torn, AssertionError, IndexError, ValueError, TypeError) as error:
        raised.append(error)


def _with_language(program, language: HandLanguage):
    names = dict(program.__globals__)
    written = {name: f for name, f in names.items() if isinstance(f, types.FunctionType) and f.__globals__.get("T") is names["T"]}
    names["T"] = language
    for name, f in written.items():
        own = names if f.__globals__ is program.__globals__ else {**f.__globals__, "T": language}
        names[name] = types.FunctionType(f.__code__, own, name, f.__defaults__, f.__closure__)
    return types.FunctionType(program.__code__, names, program.__name__, program.__defaults__, program.__closure__)
