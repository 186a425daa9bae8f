"""Traces for the tests of picture.py and of the stepper, as the CPU device would record them."""

ALL = "0xffffffff"
FILE = "common/tools/tests/sample_source.txt"


def event(op, name, line, lanes=ALL, **more):
    """One event of block 0, warp 0."""
    return {"block": 0, "warp": 0, "op": op, "name": name, "file": FILE, "line": line, "lanes": lanes, **more}


def launch(kernel, events, arrays, block=32, **more):
    """One launch of one block."""
    return {
        "kernel": kernel, "grid": [1, 1, 1], "block": [block, 1, 1], "test": "", "lanes_recorded": "", "complete": True,
        "findings": [], "arrays": arrays, "events": events, **more,
    }


def array(name, space="global", element="float", size=4, elements=1024, offset=0):
    """One entry of `arrays`."""
    return {
        "name": name, "full_name": name, "space": space, "type": element, "element_bytes": size, "elements": elements,
        "offset": offset,
    }


def access(op, line, places, lanes=ALL, size=4, **more):
    """A load or a store; `places` is [[array, element], ...]."""
    return event(op, op, line, lanes, places=places, bytes=size, **more)


RACE = """DATA RACE in kernel sum_racy on d_y[0]
  read   at common/tools/tests/sample_source.txt:4 by block 0 thread 4
  write  at common/tools/tests/sample_source.txt:4 by block 0 thread 0
  Reading d_y[0], changing the value and writing it back are separate steps: two threads can
  read the same old value, and one update is lost. Use an atomic function:
  atomicAdd(&d_y[0], ...)."""


def finding(text, *accesses):
    """One entry of `findings`; `accesses` are (line, block, thread)."""
    found = [{"kind": "read", "file": FILE, "line": line, "block": block, "thread": thread} for line, block, thread in accesses]
    return {"text": text, "kind": "data_race", "kernel": "k", "object": "d_y", "accesses": found}


def race():
    """The finding of sum_racy."""
    return finding(RACE, (4, "0", "4"), (4, "0", "0"))


def racy():
    """32 lanes load, add and store d_y[0] without an atomic; the launch ends in a finding."""
    events = [
        access("load", 4, [[0, k] for k in range(32)], values=[f"{k * 0.25:g}" for k in range(32)], sectors=4),
        access("load", 4, [[1, 0]] * 32, values=["0"] * 32, sectors=1),
        access("store", 4, [[1, 0]] * 32, values=[f"{k * 0.25:g}" for k in range(32)], sectors=1),
    ]
    return launch("sum_racy", events, [array("d_x"), array("d_y", elements=1)], findings=[race()], complete=False)


def atomic():
    """16 of 32 lanes load, and add to one address."""
    lanes = "0x0000ffff"
    events = [
        event("return", "return", 9, "0xffff0000"),
        access("load", 10, [[0, k] for k in range(16)], lanes, values=["1"] * 16, sectors=2),
        event("atomic", "atomicAdd", 10, lanes, places=[[1, 0]] * 16, bytes=4, values=["1"] * 16,
              old=[str(k) for k in range(16)], addresses=1),
        event("atomic", "atomicAdd", 11, lanes, places=[[1, k % 4] for k in range(16)], bytes=4, values=["1"] * 16,
              addresses=4),
        event("atomic", "atomicAdd", 12, lanes, places=[[1, k] for k in range(16)], bytes=4, values=["1"] * 16,
              addresses=16),
    ]
    return launch("sum_global_atomic", events, [array("d_x"), array("d_y", elements=32)])


def swap():
    """Four lanes swap on one address; the first finds what it expected. Then pairs of halves are loaded."""
    lanes = "0x0000000f"
    events = [
        event("atomic", "atomicCAS", 10, lanes, places=[[1, 0]] * 4, bytes=4, expected=["0"] * 4, values=["1", "2", "3", "4"],
              old=["0", "1", "1", "1"], stored=[True, False, False, False], addresses=1),
        access("load", 11, [[0, k] for k in range(4)], lanes, values=[f"({k}, {k}.5)" for k in range(4)], sectors=1),
        event("return", "return", 13),
    ]
    return launch("swap", events, [array("d_x", element="half2"), array("d_y")])


def tree():
    """Shuffles, votes, barriers, a conflict of 32 lanes in one bank, a loop to fold, a store with gaps."""
    values = [str(k) for k in range(32)]
    events = [access("load", 17, [[0, 32 * k] for k in range(32)], values=values, sectors=32)]
    for step in range(4):
        events.append(access("load", 19, [[0, 32 * step + k] for k in range(32)], values=values, sectors=4))
        events.append(access("store", 19, [[1, k] for k in range(32)], values=values, wavefronts=1))
    events.append(event("barrier", "__syncthreads", 21))
    events.append(access("load", 22, [[1, 32 * k] for k in range(32)], values=values, wavefronts=32))
    events.append(access("load", 22, [[1, 2 * k] for k in range(32)], values=values, wavefronts=2))
    for distance in (16, 8):
        sources = [k + distance if k + distance < 32 else k for k in range(32)]
        events.append(event("shuffle", "__shfl_down_sync", 24, mask=ALL, given=values, sources=sources,
                            values=[values[k] for k in sources]))
    events.append(event("shuffle", "__shfl_xor_sync", 26, mask=ALL, given=values, sources=[k ^ 1 for k in range(32)],
                        values=[values[k ^ 1] for k in range(32)]))
    events.append(event("shuffle", "__shfl_sync", 27, mask=ALL, given=values, sources=[0] * 32, values=["0"] * 32))
    events.append(event("vote", "__ballot_sync", 28, mask=ALL, given=[str(k % 2) for k in range(32)],
                        values=["0xaaaaaaaa"] * 32))
    events.append(event("match", "__match_any_sync", 29, mask=ALL, given=[str(k % 3) for k in range(32)],
                        values=[["0x49249249", "0x92492492", "0x24924924"][k % 3] for k in range(32)]))
    events.append(event("reduce", "__reduce_add_sync", 30, mask=ALL, given=values, values=["496"] * 32))
    events.append(event("activemask", "__activemask", 31, "0x55555555", values=["0x55555555"] * 16))
    events.append(event("syncwarp", "__syncwarp", 32, mask=ALL))
    events.append(access("store", 33, [[0, 4 * k] for k in range(32)], size=16, values=[None] * 32, sectors=16))
    events.append(access("store", 34, [[0, 100 + 2 * k] for k in range(32)], values=values, sectors=9))
    events.append(event("fence", "__threadfence", 35))
    return launch("tree<float>", events, [array("d_x"), array("s_x", "shared")], block=64)


def message():
    """Thread 0 of block 0 stores, fences and sets a flag; thread 33 of block 1 polls it, and loads."""
    reader = {"block": 1, "warp": 1}
    events = [
        access("store", 26, [[0, 0]], "0x1", values=["1000"]),
        {**event("atomic", "atomicAdd", 30, "0x2", places=[[1, 0]], bytes=4, values=["0"], old=["0"]), **reader},
        event("fence", "__threadfence", 27, "0x1"),
        event("atomic", "atomicExch", 28, "0x1", places=[[1, 0]], bytes=4, values=["1"], old=["0"]),
        {**access("load", 33, [[0, 0], [0, 5]], "0x6", values=["1000", "0"]), **reader},
        {**event("return", "return", 36), **reader},
    ]
    return launch("hand_over<2>", events, [array("d_message"), array("d_flag")], block=64, grid=[2, 1, 1])


def two_warps():
    """Two warps shuffle into lane 0, which stores to shared memory; after a barrier warp 0 loads both, and adds."""
    sources = [[k + d if k + d < 32 else k for k in range(32)] for d in (16, 8, 4, 2, 1)]
    events = []

    def both(*of_warps):
        events.extend({**one, "warp": warp} for warp, one in enumerate(of_warps))

    both(*(access("load", 22, [[0, 32 * warp + k] for k in range(32)], values=["1"] * 32) for warp in range(2)))
    for of_round in sources:
        both(*[event("shuffle", "__shfl_down_sync", 51, given=["1"] * 32, sources=of_round, values=["1"] * 32)] * 2)
    both(*(access("store", 23, [[1, warp]], "0x1", values=[f"{32 + warp}"]) for warp in range(2)))
    both(*[event("barrier", "__syncthreads", 24)] * 2)
    events.append({**event("return", "return", 25), "warp": 1})
    events.append(access("load", 27, [[1, 0], [1, 1]], "0x3", values=["32", "33"]))
    events.append(event("atomic", "atomicAdd", 28, "0x1", places=[[2, 0]], bytes=4, values=["65"], old=["7"]))
    events.append(event("return", "return", 29))
    arrays = [array("d_x"), array("s_warp", "shared"), array("d_y")]
    return launch("block_sum", events, arrays, block=64)


def cluster():
    """Two blocks of four threads: each thread adds 5 to an element of s_x, half of them to one of the other block.

    Block 1 has come to the second barrier before block 0 loads; then both pass a barrier in two halves.
    """
    events = []

    def of(block, *of_block):
        events.extend({**one, "block": block} for one in of_block)

    def barrier(line, half="sync"):
        return event("cluster_barrier", f"cluster_group::{half}", line, "0xf")

    for block in (0, 1):
        of(block, access("store", 11, [[block, 0], [block, 1]], "0x3", values=["0", "0"], wavefronts=1), barrier(12))
    for block in (0, 1):
        of(block, event("atomic", "atomicAdd", 13, "0xf", places=[[0, 0], [1, 0], [0, 1], [1, 0]], bytes=4, values=["5"] * 4,
                        old=["0", "0", "0", "5"] if block == 0 else ["5", "10", "5", "15"], addresses=3))
    of(1, barrier(16))
    of(0, barrier(14), access("load", 15, [[1, 0]], "0x1", values=["20"], wavefronts=1), barrier(16))
    for block in (0, 1):
        of(block, access("store", 17, [[2, block]], "0x1", values=["20"], sectors=1), barrier(18, "barrier_arrive"),
           barrier(19, "barrier_wait"), event("return", "return", 20, "0xf"))
    arrays = [{**array("s_x", "shared", "int", elements=2), "block": block} for block in (0, 1)]
    return launch("share", events, [*arrays, array("d_y", element="int")], block=4, grid=[2, 1, 1], cluster=[2, 1, 1])


def levels():
    """64 threads scan two levels of s_sum[2][64]: each adds the element one, then two before its own. A warp a time."""
    def value(level, k):
        return str(k + 1) if level == 0 else str(2 * k + 1 if level == 1 else 4 * k - 2) if k >= level else "1"

    events = []
    for level in range(3):
        for warp in (0, 1):
            mine = range(32 * warp, 32 * warp + 32)
            lower = [k for k in mine if k >= level]
            of = [access("store", 10, [[0, k] for k in mine], values=[value(0, k) for k in mine])] if level == 0 else [
                access("load", 12, [[0, 64 * (level - 1) + k - level] for k in lower], hex(sum(1 << k % 32 for k in lower)),
                       values=[value(level - 1, k - level) for k in lower]),
                access("load", 13, [[0, 64 * (level - 1) + k] for k in mine], values=[value(level - 1, k) for k in mine]),
                access("store", 13, [[0, 64 * (level % 2) + k] for k in mine], values=[value(level, k) for k in mine])]
            events += [{**one, "warp": warp} for one in [*of, event("barrier", "__syncthreads", 14)]]
    return launch("scan", events, [array("s_sum", "shared", elements=128)], block=64)


def look_back():
    """Block 1 has tile 0 and block 0 tile 1, which looks twice before it finds a prefix. The words' stamp is 3; 2 is an older one."""
    def word(op, block, tile, stamp, is_prefix, bits):
        return {**access(op, 20, [[0, 1 + tile]], "0x1", 8, values=[str((stamp << 1 | is_prefix) << 32 | bits)]), "block": block}

    half, two = 0x3f000000, 0x40000000
    events = [{**event("atomic", "atomicInc", 18, "0x1", places=[[0, 0]], bytes=4, values=["1"], old=["0"]), "block": 1},
              word("store", 0, 1, 3, 0, half), word("load", 0, 0, 2, 1, two), word("load", 0, 0, 2, 1, two), word("store", 1, 0, 3, 1, two),
              word("load", 0, 0, 3, 1, two), word("store", 0, 1, 3, 1, 0x40200000)]
    return launch("scan_look_back<Way, ShapeT>", events, [array("d_words", element="unsigned long long", size=8)], grid=[2, 1, 1])


def trace(*launches):
    """A whole file."""
    return {"schema": "simt.trace", "version": 2, "program": "ladder", "launches": list(launches)}
