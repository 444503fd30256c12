"""Listings in questions, notes of a repository and a blog."""

from __future__ import annotations

from reports.packets import Report

REPORTS = [
    # Seen at the guest. tshark prints the windows unscaled: the SYNs offer no scale.
    Report(
        "osx-loopback-ack",
        "https://github.com/jonseymour/osx-loopback",
        "2014-06-12",
        (("10.0.2.2", 54143), ("10.0.2.15", 19622)),
        (1000, 2000),
        (64, 64),
        """
        0.000000 > S 0 0 - 65535 mss=1460
        0.000061 < S 0 0 1 29200 mss=1460 df
        0.001301 > . 1 0 1 65535
        0.001369 > P 1 40 1 65535
        0.001384 < . 1 0 41 29200 df
        0.001666 < P 1 69 41 29200 df
        0.002209 > . 41 0 70 65535
        0.002295 > F 41 0 70 65535
        0.036247 < . 70 0 42 29200 df
        0.202948 < P 70 5 42 29200 df
        0.203543 > . 42 0 76 65535
        0.396759 < P 70 5 42 29200 df
        0.397202 > . 42 0 76 65535
        0.796376 < P 70 5 42 29200 df
        0.796925 > . 42 0 76 65535
        1.596386 < P 70 5 42 29200 df
        1.596853 > . 42 0 76 65535
        2.205112 < FP 75 5 42 29200 df
        2.205713 > R 42 0 - 0
        """,
    ),
    # The lines of TPKT print lengths only: the sequence numbers follow from the ACKs and the SACK block. The
    # window 64768 is 253 scaled by 256 (of a handshake that was seen earlier); the server's is that of its
    # next connection.
    Report(
        "hyperv-rdp-outage",
        "https://osqa-ask.wireshark.org/questions/40426/rdp-sessions-getting-intermittent-tcp-rstacks",
        "2015-03-10",
        (("10.0.0.110", 61059), ("10.0.0.25", 3389)),
        (1000, 2000),
        (128, 128),
        """
        2287.339664 < P 237498 101 76446 64000 df
        2287.540852 > . 76446 0 237599 253 df
        2288.339741 < P 237599 101 76446 64000 df
        2288.652196 < P 237599 101 76446 64000 df
        2289.261509 < P 237599 101 76446 64000 df
        2289.339681 < P 237700 101 76446 64000 df
        2290.339736 < P 237801 101 76446 64000 df
        2290.464660 < P 237599 303 76446 64000 df
        2291.339771 < P 237902 101 76446 64000 df
        2292.355402 < P 238003 101 76446 64000 df
        2292.870883 < P 237599 505 76446 64000 df
        2293.355672 < P 238104 101 76446 64000 df
        2294.355357 < P 238205 101 76446 64000 df
        2295.370990 < P 238306 101 76446 64000 df
        2295.371172 > . 76446 0 237599 253 block=238306-238407 df
        2295.465630 > R 76446 0 237599 0 df
        """,
    ),
    # A router's `tcpdump -i any`: each packet that it forwards stands there on both its legs.
    Report(
        "ibug-conntrack-reset",
        "https://ibug.io/blog/2024/08/first-touch-bpftrace",
        "2024-08-01",
        (("172.17.0.2", 49194), ("104.16.124.96", 443)),
        (1854398703, 1391350792),
        (64, 56),
        """
        02:03:47.403905 >lan S 0 0 - 65535 mss=1460 sack ts=1651776756/0 ws=10 df in
        02:03:47.403956 >wan S 0 0 - 65535 mss=1432 sack ts=1651776756/0 ws=10 df out
        02:03:47.447663 <wan S 0 0 1 65535 mss=1460 sack ts=141787839/1651776756 ws=13 df in
        02:03:47.447696 <lan S 0 0 1 65535 mss=1460 sack ts=141787839/1651776756 ws=13 df out
        02:03:47.447720 >lan . 1 0 1 64 ts=1651776800/141787839 df in
        02:03:47.452705 >lan P 1 517 1 64 ts=1651776804/141787839 df in
        02:03:47.452751 >wan P 1 517 1 64 ts=1651776804/141787839 df out
        02:03:47.496507 <wan . 1 0 518 9 ts=141787888/1651776804 df in
        02:03:47.496527 <lan . 1 0 518 9 ts=141787888/1651776804 df out
        02:03:47.498147 <wan P 1 2736 518 9 ts=141787890/1651776804 df in
        02:03:47.498165 <lan P 1 2736 518 9 ts=141787890/1651776804 df out
        02:03:47.498175 >lan . 518 0 2737 70 ts=1651776850/141787890 df in
        02:03:47.498195 <wan P 2737 1021 518 9 ts=141787890/1651776804 df in
        02:03:47.498228 >wan R 518 0 - 0 df out
        """,
        legs={
            "lan": (("172.17.0.2", 49194), ("104.16.124.96", 443)),
            "wan": (("10.250.193.4", 49194), ("104.16.124.96", 443)),
        },
    ),
]
