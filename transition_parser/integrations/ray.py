"""Parsing on many cores, GPUs and machines by Ray Data (extra `[ray]`).

Inputs are divided into parts. An actor reads and parses a part and writes it as one file: `part-00000.conllu` and so
on, in the order of the inputs. Files are written whole or not at all, so that a part whose actor died is parsed again.
`manifest.json` beside the files says which sentences of which input each file has. All machines must see the inputs,
the model and the folder under the same names.
"""

from __future__ import annotations

import json
import logging
import math
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest import mock

from transition_parser.base.errors import InputError, input_error, missing_extra
from transition_parser.base.files import folder, replacing, unpacked_name
from transition_parser.base.process import keep_few_kernels, keep_freed_memory
from transition_parser.base.progress import progress
from transition_parser.parsing.sentences.inputs import documents
from transition_parser.parsing.sentences.parts import Part, divided
from transition_parser.parsing.sentences.rows import table_of

if TYPE_CHECKING:
    from transition_parser.parsing.bulk import Job

MANIFEST = "manifest.json"
MOST, LEAST = 4096, 32  # limits of the size of a part, in sentences or rows
_PARTS_EACH = 8  # parts for each actor; many small parts let all actors end at about the same time
# By default Ray sends usage statistics to its makers, prints internal messages, and runs actors with niceness 15, so
# that they would hardly run on a busy machine.
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_worker_niceness": "0"}


def parse_by_ray(
    job: Job,
    paths: Sequence[str],
    output: str,
    actors: int | None = None,
    resume: bool = False,
    prepare: Callable[[], object] | None = None,
) -> None:
    """Parse files into a folder.

    This function uses the Ray that is running in this process or that `RAY_ADDRESS` names; otherwise it starts Ray on
    this machine for the length of the call.

    actors: number of actors; by default one for each `job.parser.threads` cores, or one for each GPU if the job's
        device is a GPU
    resume: keep the files that an interrupted run of the same inputs and options has written
    prepare: function that each actor calls before it loads the job

    Raises `InputError` for bad input, and for an output folder with other contents.
    """
    before = _manifest_in(Path(output), resume)
    with folder(output) as dest, _running(job, actors) as actors:
        size = before["part_size"] if before else None
        parts, size = _divided(job, [os.path.abspath(path) for path in paths], actors, size)
        manifest = _manifest(job, paths, parts, size)
        if before and before | {"finished": False} != manifest:
            raise input_error("is from a run with other inputs or options: give another folder", dest / MANIFEST)
        _save(manifest, dest)
        missing = [
            {"part": pickle.dumps(part), "file": str(dest.resolve() / entry["file"])}
            for part, entry in zip(parts, manifest["parts"], strict=True)
            if not (dest / entry["file"]).exists()
        ]
        if missing:
            _run(job, missing, min(actors, len(missing)), prepare)
        for unfinished in dest.glob(".part-*"):  # left by actors that died
            unfinished.unlink()
        _save(manifest | {"finished": True}, dest)


class ParserActor:
    """A process of Ray, which parses one part at a time.

    job: bytes; the pickled `Job`
    prepare: see `parse_by_ray`
    """

    def __init__(self, job: bytes, prepare: Callable[[], object] | None) -> None:
        keep_freed_memory()
        keep_few_kernels()
        if prepare is not None:
            prepare()
        self.job: Job = pickle.loads(job)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Write the file of each part of a batch, and return an error message for each part, "" for a written part.

        Errors are returned because Ray would retry a part whose error is raised.
        """
        return {"error": [self._parse(*pair) for pair in zip(batch["part"], batch["file"], strict=True)]}

    def _parse(self, part: bytes, file: str) -> str:
        try:
            self.job.write([pickle.loads(part)], file)
        except (InputError, OSError) as error:
            return str(error)
        return ""


def _run(job: Job, work: Sequence[Mapping[str, Any]], actors: int, prepare: Callable[[], object] | None) -> None:
    import ray.data

    device = {"num_gpus": 1} if job.parser.device.type == "cuda" else {"num_cpus": job.parser.threads}
    parsed = ray.data.from_items([*work], override_num_blocks=len(work)).map_batches(
        ParserActor,
        fn_constructor_args=(pickle.dumps(job), prepare),
        compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=2),
        batch_size=1,
        **device,
    )
    for row in progress(parsed.iter_rows(), "parsing", len(work)):
        if row["error"]:
            raise InputError(row["error"])


@contextmanager
def _running(job: Job, actors: int | None) -> Iterator[int]:
    """Connect to Ray for the block, unless this process is connected already, and yield the number of actors."""
    ray = _ray()
    with ExitStack() as stack:
        if not ray.is_initialized():
            stack.enter_context(mock.patch.dict(os.environ, _ENVIRONMENT))
            logs = stack.enter_context(TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True))
            stack.callback(ray.shutdown)
            _start(ray, job, actors, logs)
        context = ray.data.DataContext.get_current()
        stack.enter_context(mock.patch.object(context, "enable_progress_bars", False))
        yield actors or _all(ray.cluster_resources(), job)


def _start(ray: Any, job: Job, actors: int | None, logs: str) -> None:
    """Connect to the cluster of `RAY_ADDRESS`, or start Ray on this machine, on its loopback address only.

    logs: folder for the files of a Ray that is started here
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    here: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "_temp_dir": logs}
    if actors is not None and job.parser.device.type == "cpu":
        here["num_cpus"] = actors * job.parser.threads
    options = {} if "RAY_ADDRESS" in os.environ else here
    with _without_standard_error():
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@contextmanager
def _without_standard_error() -> Iterator[None]:
    """Send standard error to nowhere while the block runs.

    Ray's C++ code writes a notice to standard error even if told to be silent. Ray's errors are raised as exceptions.
    """
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise missing_extra("ray", "actors of Ray", str(error)) from None
    return ray


def _all(resources: Mapping[str, float], job: Job) -> int:
    """Return the number of actors for which the resources of the Ray cluster suffice, at least 1."""
    if job.parser.device.type == "cuda":
        return max(int(resources.get("GPU", 0)), 1)
    return max(int(resources.get("CPU", 1)) // job.parser.threads, 1)


# --- parts ------------------------------------------------------------------------------


def _divided(job: Job, paths: Sequence[str], actors: int, size: int | None) -> tuple[list[Part], int]:
    """Divide all files into parts, and return the parts and their size in sentences or rows.

    size: size of a part; None: chosen so that each actor gets about `_PARTS_EACH` parts, between `LEAST` and `MOST`
    """
    kind = job.parser.formalism.sentence
    if size is None:
        # one pass counts and a second one divides; both keep only the borders of parts in memory
        counts = [part.count or 0 for path in paths for part in divided(path, kind, job.reading, MOST)]
        size = min(max(math.ceil(sum(counts) / (actors * _PARTS_EACH)), LEAST), MOST)
    named = zip(paths, documents(paths, kind, job.reading), strict=True)
    return [part for path, document in named for part in divided(path, kind, job.reading, size, document)], size


def _manifest(job: Job, paths: Sequence[str], parts: Sequence[Part], size: int) -> dict[str, Any]:
    given = {os.path.abspath(path): path for path in paths}
    reading = job.reading
    entries = []
    for number, part in enumerate(parts):
        table = table_of(part.path, reading)
        suffix = Path(unpacked_name(part.path)).suffix if table else job.suffix
        assert part.begin is not None and part.end is not None  # `divided` has set them
        entries.append(
            {
                "file": f"part-{number:05}{suffix}",
                "input": given[part.path],
                "rows" if table else "sentences": [part.begin.before, part.end.before],
            }
        )
    return {
        "finished": False,
        "job": job.described(),
        "inputs": [{"path": path, "bytes": os.path.getsize(path)} for path in paths],
        "part_size": size,
        "parts": entries,
    }


def _manifest_in(dest: Path, resume: bool) -> dict[str, Any] | None:
    """Return the manifest that an earlier run has left in the folder, or None for an empty or missing folder.

    Raises `InputError` for a folder with other contents, for an earlier run if `resume` is False, and for a
    damaged manifest.
    """
    if not dest.is_dir() or not any(dest.iterdir()):
        return None
    path = dest / MANIFEST
    if not path.is_file():
        raise input_error("is not empty, and has no output of Ray: give another folder", dest)
    if not resume:
        raise input_error("has the output of another run: give another folder, or --resume", dest)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found["part_size"], int):
            raise TypeError("part_size")
    except (ValueError, KeyError, TypeError) as error:
        raise input_error(f"is damaged ({error}): give another folder", path) from None
    return found


def _save(manifest: Mapping[str, Any], dest: Path) -> None:
    with replacing(dest / MANIFEST) as temporary:
        temporary.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
