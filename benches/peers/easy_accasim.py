"""EASY backfilling by AccaSim on an SWF trace: jobs per CPU-second, from the file to the last decision.

Usage: easy_accasim.py TRACE.swf[.gz] PROCESSORS
"""

import collections
import collections.abc
import gzip
import json
import pathlib
import sys
import tempfile
import time

# AccaSim 1.1.3 looks for these where Python had them before 3.10.
for name in ("Mapping", "MutableMapping", "Iterable", "Sequence", "Callable"):
    setattr(collections, name, getattr(collections.abc, name))

from accasim.base.allocator_class import FirstFit  # noqa: E402
from accasim.base.scheduler_class import EASYBackfilling  # noqa: E402
from accasim.base.simulator_class import Simulator  # noqa: E402


def main():
    trace, processors = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        plain = folder / "trace.swf"
        plain.write_bytes(gzip.decompress(trace.read_bytes()) if trace.suffix == ".gz" else trace.read_bytes())
        lines = plain.read_text(errors="replace").splitlines()
        jobs = sum(1 for line in lines if line.strip() and not line.lstrip().startswith(";"))
        system = {
            "groups": {"node": {"core": 1}},
            "resources": {"node": processors},
            "equivalence": {"processor": {"core": 1}},
            "start_time": 0,
        }
        (folder / "system.json").write_text(json.dumps(system))
        began = time.process_time()
        simulator = Simulator(
            str(plain),
            str(folder / "system.json"),
            EASYBackfilling(FirstFit()),
            RESULTS_FOLDER_PATH=str(folder),
            scheduling_output=False,
            statistics_output=False,
            show_statistics=False,
        )
        simulator.start_simulation()
        taken = time.process_time() - began
    print(json.dumps({"per_cpu_second": jobs / taken, "jobs": jobs, "cpu_s": taken}))


if __name__ == "__main__":
    main()
