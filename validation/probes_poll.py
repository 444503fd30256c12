"""Prints when this namespace's count of tail-loss probes moved: ns, how many. Needs root."""

import os
import time

os.nice(-15)
seen = 0
while True:
    with open("/proc/self/net/netstat") as file:
        names, values = file.readline().split(), file.readline().split()
    count = int(values[names.index("TCPLossProbes")])
    if count != seen:
        print("probes", time.time_ns(), count - seen, flush=True)
        seen = count
    time.sleep(0.002)
