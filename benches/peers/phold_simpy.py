"""PHOLD on SimPy: as many processes as nodes, each of which sleeps and changes a word of a node. Events per CPU-second.

Usage: phold_simpy.py NODES EVENTS
"""

import json
import random
import sys
import time

import simpy


def main():
    nodes, events = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(1)
    state = [0] * nodes
    left = events

    def process(env):
        nonlocal left
        while left > 0:
            yield env.timeout(draw.expovariate(1.0))
            state[draw.randrange(nodes)] += 1
            left -= 1

    env = simpy.Environment()
    for _ in range(nodes):
        env.process(process(env))
    began = time.process_time()
    while left > 0:
        env.step()
    taken = time.process_time() - began
    print(json.dumps({"per_cpu_second": events / taken}))


if __name__ == "__main__":
    main()
