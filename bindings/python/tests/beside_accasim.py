"""EASY on KTH-SP2: the mean wait as in Rust, and the time of a run beside the same in AccaSim.

Usage: beside_accasim.py KTH-SP2.swf.gz PYTHON-WITH-ACCASIM easy_accasim.py
"""

import json
import subprocess
import sys
import time

import gridweave

trace, python, script = sys.argv[1:]
seconds = []
for _ in range(5):
    began = time.perf_counter()
    result = gridweave.run(trace, "central-easy", nodes=100, estimates="kill", progress=False)
    result.jobs["waiting_time"].mean()
    seconds.append(time.perf_counter() - began)
jobs = len(result.jobs["job_id"])
print(f"mean wait {result.mean_wait:,.3f} s over {jobs:,} jobs")
assert f"{result.mean_wait:.3f}" == "6837.485", result.mean_wait
ours = min(seconds)
print(f"of 5 runs, in seconds: {' '.join(f'{one:.3f}' for one in seconds)}")
told = subprocess.run([python, script, trace, "100"], capture_output=True, text=True, check=True).stdout
peer = json.loads(told.strip().splitlines()[-1])
print("\n| EASY on KTH-SP2 in Python | seconds | jobs a second | times as long |\n|---|---|---|---|")
print(f"| `gridweave.run`, from the compressed file to the mean of a column, the best of five | {ours:.3f} | {jobs / ours:,.0f} | 1 |")
print(f"| AccaSim 1.1.3, processor time | {peer['cpu_s']:.1f} | {peer['per_cpu_second']:,.0f} | {peer['cpu_s'] / ours:,.0f} |")
print(f"note: mean wait {result.mean_wait:,.3f} s over {jobs:,} jobs, as in Rust")
assert peer["cpu_s"] > 20 * ours
