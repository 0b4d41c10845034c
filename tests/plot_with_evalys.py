"""Reads the jobs.csv of a run with evalys, checks it against the run's own summary, and plots it.

Usage: python tests/plot_with_evalys.py RUN_FOLDER PICTURE.png
Needs evalys 4.0.7 from PyPI; `.ci/evalys` installs it into a folder below target/.
"""

import json
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from evalys.jobset import JobSet


def main(folder: pathlib.Path, picture: pathlib.Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    nodes = summary["nodes"]
    jobs = JobSet.from_csv(folder / "jobs.csv", resource_bounds=(0, nodes - 1))

    submitted = summary["jobs"]["submitted"]
    assert len(jobs.df) == submitted, f"{len(jobs.df)} rows for {submitted} jobs"
    wait = jobs.df.waiting_time.mean()
    assert math.isclose(wait, summary["wait"]["mean"], abs_tol=1e-3), f"evalys says {wait}"
    busiest = jobs.utilisation.load.max()
    assert busiest <= nodes, f"{busiest} of {nodes} nodes are busy at once"
    share = jobs.df.proc_alloc * jobs.df.execution_time
    used = share.sum() / (nodes * summary["makespan"])
    effective = summary["utilization"]["effective"]
    assert math.isclose(used, effective, rel_tol=1e-6), f"evalys says {used}"

    jobs.plot(with_details=True, title=f"{summary['workload']} under {summary['scheduler']}")
    plt.savefig(picture)
    assert picture.stat().st_size > 10_000, "the picture is empty"
    print(f"evalys agrees: {submitted} jobs, mean wait {wait:.3f} s, {100 * used:.3f} % used; plotted to {picture}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
