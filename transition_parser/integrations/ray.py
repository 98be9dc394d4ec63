"""Parsing on many cores, GPUs and machines by Ray Data (extra `[ray]`).

Inputs are divided into parts. An actor reads and parses a part of `news.txt` and writes it as one file:
`news-00000.conllu` and so on. Files are written whole or not at all, so that a part whose actor died is parsed again.
All machines must see the inputs, the model and the folder under the same names.
"""

from __future__ import annotations

import glob
import logging
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest import mock

from transition_parser.base.errors import InputError, input_error, needs_extra
from transition_parser.base.files import folder, unpacked_name
from transition_parser.base.process import keep_few_kernels, keep_freed_memory, progress, redirected
from transition_parser.parsing.bulk import names_in
from transition_parser.parsing.sentences.parts import Part, divided

if TYPE_CHECKING:
    from transition_parser.parsing.bulk import Job

PART = 1024  # sentences or rows of a part; many small parts let all actors end at about the same time
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
    resume: keep the files that the folder has already
    prepare: function that each actor calls before it loads the job

    Raises `InputError` for bad input, and for an output folder that is not empty unless `resume` is True.
    """
    if not resume and os.path.isdir(output) and os.listdir(output):
        raise input_error("is not empty: give another folder, or --resume to keep its files", output)
    with folder(output) as dest, _running(job, actors) as actors:
        work: list[tuple[Part, str]] = []
        for path, name in zip(paths, names_in(str(dest.resolve()), paths, job.suffix, job.reading), strict=True):
            stem, suffix = os.path.splitext(unpacked_name(name))
            parts = divided(os.path.abspath(path), job.parser.formalism.sentence, job.reading, PART)
            work += [(part, f"{stem}-{number:05}{suffix}") for number, part in enumerate(parts)]
        missing = [(part, file) for part, file in work if not os.path.exists(file)]
        if missing:
            rows = [{"part": pickle.dumps(part), "file": file} for part, file in missing]
            _run(job, rows, min(actors, len(rows)), prepare)
        for _part, file in missing:
            for unfinished in dest.glob(f".{glob.escape(Path(file).stem)}-*"):  # left by actors that died
                unfinished.unlink()


class ParserActor:
    """A process of Ray, which parses one part at a time."""

    def __init__(self, job: bytes, prepare: Callable[[], object] | None) -> None:
        keep_freed_memory()
        keep_few_kernels()
        if prepare is not None:
            prepare()
        self.job: Job = pickle.loads(job)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Write the file of each part, and return the error of each, which Ray would retry if it were raised."""
        errors = []
        for part, file in zip(batch["part"], batch["file"], strict=True):
            try:
                self.job.write([pickle.loads(part)], file)
                errors.append("")
            except (InputError, OSError) as error:
                errors.append(str(error))
        return {"error": errors}


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
    with needs_extra("ray", "actors of Ray"):
        import ray
        import ray.data
    with ExitStack() as stack:
        if not ray.is_initialized():
            stack.enter_context(mock.patch.dict(os.environ, _ENVIRONMENT))
            logs = stack.enter_context(TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True))
            stack.callback(ray.shutdown)
            _start(ray, job, actors, logs)
        context = ray.data.DataContext.get_current()
        stack.enter_context(mock.patch.object(context, "enable_progress_bars", False))
        name, size = ("GPU", 1) if job.parser.device.type == "cuda" else ("CPU", job.parser.threads)
        yield actors or max(int(ray.cluster_resources().get(name, 0)) // size, 1)


def _start(ray: Any, job: Job, actors: int | None, logs: str) -> None:
    """Connect to the cluster of `RAY_ADDRESS`, or start Ray on this machine, on its loopback address only."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    here: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "_temp_dir": logs}
    if actors is not None and job.parser.device.type == "cpu":
        here["num_cpus"] = actors * job.parser.threads
    options = {} if "RAY_ADDRESS" in os.environ else here
    # Ray's C++ code writes notices to standard error in any case
    with open(os.devnull, "wb") as nowhere, redirected(2, nowhere.fileno()):
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    for number, handler in handlers.items():
        signal.signal(number, handler)
