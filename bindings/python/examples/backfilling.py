"""Does backfilling help on a log? Mean waits by month, with and without it, and a 95 % interval of the difference.

Usage: backfilling.py LOG.swf.gz
"""

import sys

import gridweave

log = sys.argv[1]
days = int(gridweave.trace_info(log)["days"])
print(f"{'from day':>8} {'jobs':>6} {'fcfs':>10} {'easy':>10} {'difference':>11}")
differences = []
for first in range(0, days - 29, 30):
    part = {"from": f"{first}d", "until": f"{first + 30}d"}
    compared = gridweave.compare(["central-fcfs", "central-easy"], log, estimates="kill", workload=part)
    fcfs, easy = (compared["gangs"][name][0] for name in ("central-fcfs", "central-easy"))
    differences.append(easy.wait_difference(fcfs))
    jobs = easy.summary["jobs"]["submitted"]
    print(f"{first:>8} {jobs:>6} {fcfs.mean_wait:>10,.0f} {easy.mean_wait:>10,.0f} {differences[-1]:>+11,.0f}")
mean, half = gridweave.mean_interval(differences)
print(f"backfilling changes the mean wait by {mean:+,.0f} s, ± {half:,.0f} s (95 %, {len(differences)} months)")
