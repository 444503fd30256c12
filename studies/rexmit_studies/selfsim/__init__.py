"""Self-similar traffic: the Hurst parameter by several estimators, with intervals, and exact noise.

    from rexmit_studies import selfsim
    x = selfsim.fgn(4096, 0.8, seed=1)
    selfsim.hurst(x).estimates
    selfsim.hurst_local_whittle(x)

Every estimator takes counts per bin and returns a `HurstEstimate`. Bias and error of each on exact noise:
docs/benchmarks.md.
"""

from rexmit_studies.selfsim.estimate import HurstEstimate
from rexmit_studies.selfsim.fgn import correlation, fgn, log_spectrum
from rexmit_studies.selfsim.frequency import hurst_local_whittle, hurst_whittle
from rexmit_studies.selfsim.report import Hurst, hurst
from rexmit_studies.selfsim.time_domain import hurst_kettani_gubner, hurst_rs, hurst_variance_time
from rexmit_studies.selfsim.wavelets import hurst_abry_veitch

__all__ = [
    "Hurst",
    "HurstEstimate",
    "correlation",
    "fgn",
    "hurst",
    "hurst_abry_veitch",
    "hurst_kettani_gubner",
    "hurst_local_whittle",
    "hurst_rs",
    "hurst_variance_time",
    "hurst_whittle",
    "log_spectrum",
]
