"""Kinds with requests and answers in turn over a path that fails, or with stacks that misbehave."""

from __future__ import annotations

from situation.bulk import acks_lost
from situation.kind import Kind
from situation.setting import Draw, Setting, channel, droptail, outage, path, turns, window


def _few_turns(draw: Draw, delays: tuple[float, ...] = (5, 10, 20)) -> Setting:
    setting = path(draw, delays=delays)
    requests = max(5, round(draw.uniform(0.8, 1.5) * 1000 / setting.round_trip_ms))
    return turns(setting, min(requests, 150), draw.randint(100, 1000), draw.randint(100, 1300))


def lossy(draw: Draw) -> Setting:
    setting = turns(path(draw, delays=(2, 3, 5)), draw.randint(30, 60), 300, draw.randint(100, 1300))
    return channel(
        setting, "loss-random", "random", loss=draw.uniform(0.08, 0.12), direction="both", only="data"
    )


def lossy_in_bursts(draw: Draw) -> Setting:
    setting = turns(path(draw, delays=(2, 3, 5)), draw.randint(30, 60), 300, draw.randint(100, 1300))
    burst = f"{draw.choice([2, 3])} packets"
    return channel(
        setting,
        "loss-random",
        "gilbert-elliott",
        mean_loss=0.12,
        mean_burst=burst,
        direction="both",
        only="data",
    )


def one_outage(draw: Draw) -> Setting:
    return outage(_few_turns(draw), "outage", draw.uniform(0.2, 0.6), draw.uniform(3, 6))


def outage_of_answers(draw: Draw) -> Setting:
    setting = _few_turns(draw)
    return outage(setting, "outage", draw.uniform(0.2, 0.6), draw.uniform(3, 6), direction="back")


def path_died(draw: Draw) -> Setting:
    setting = outage(_few_turns(draw), "path-died", draw.uniform(0.2, 0.6), 600)
    # Too many requests to be answered before the path dies, even with the short delay of the removal test.
    setting.workload["requests"] *= 15
    setting.duration_s = draw.uniform(50, 60)
    return setting


def packets_held(draw: Draw) -> Setting:
    return outage(_few_turns(draw), "packets-held", draw.uniform(0.2, 0.6), draw.uniform(2, 5), hold=True)


def answers_too_large(draw: Draw) -> Setting:
    """Small packets pass; full segments of the answer do not, and nobody reports it."""
    setting = turns(path(draw), draw.randint(2, 6), 300, draw.randint(20, 60) * 1000)
    channel(setting, "mtu", "mtu", most=f"{draw.choice([1300, 1400, 1492])}B")
    setting.duration_s = draw.uniform(20, 40)
    return setting


def requests_too_large(draw: Draw) -> Setting:
    setting = turns(path(draw), draw.randint(2, 6), draw.randint(20, 60) * 1000, 300)
    channel(setting, "mtu", "mtu", most=f"{draw.choice([1300, 1400, 1492])}B")
    setting.duration_s = draw.uniform(20, 40)
    return setting


def answers_policed(draw: Draw) -> Setting:
    setting = path(draw, rates=(50,), delays=(5, 10, 20))
    rate = draw.choice([1, 2, 3])
    turns(setting, draw.randint(4, 8), 200, round(rate * 1e6 / 8 * draw.uniform(1, 2)))
    police = {"rate": f"{rate}Mbps", "burst": f"{draw.choice([10, 15, 20])}kB"}
    return channel(setting, "policer", "policer", at="ingress", **police)


def syn_lost(draw: Draw) -> Setting:
    setting = turns(path(draw, delays=(2, 5, 10)), draw.randint(3, 10), 300, draw.randint(100, 1300))
    lost = draw.choice([[0], [0], [0, 1]])
    return channel(setting, "handshake", "list", packets=lost, direction="forward")


def syn_ack_lost(draw: Draw) -> Setting:
    setting = turns(path(draw, delays=(2, 5, 10)), draw.randint(3, 10), 300, draw.randint(100, 1300))
    return channel(setting, "handshake", "list", packets=[0], direction="back")


def late_timer(draw: Draw) -> Setting:
    """Hosts whose timers wait for several seconds where RFC 6298 would wait for one."""
    setting = turns(path(draw, delays=(5, 10)), draw.randint(30, 50), 300, draw.randint(500, 1300))
    setting.based_on = "rfc-sack"
    for host in ("client", "server"):
        setting.section(host, "rto", min=f"{draw.uniform(6, 9):.2f}s", max="60s")
    lost = sorted(draw.sample(range(3, 28), draw.randint(2, 4)))
    return channel(setting, "loss-random", "list", packets=lost, only="data")


def stalled_answers(draw: Draw) -> Setting:
    """A server whose stack does not act on duplicate ACKs, and whose timer is late."""
    setting = turns(path(draw, delays=(5, 10, 20)), draw.randint(6, 12), 200, draw.randint(40, 80) * 1000)
    setting.based_on = draw.choice(["rfc-sack", "rfc-newreno"])
    setting.section("server", "detect", dupthresh=1000)
    setting.section("server", "rto", min=f"{draw.uniform(3, 6):.2f}s")
    setting.timer_makes = "sender-stalled"
    setting.queue = droptail(1000)
    window(setting, "client", 4_000_000)
    # In the middle of answers, so that duplicate ACKs report each loss.
    long = int(setting.workload["response"].removesuffix("B")) // 1448
    lost = [round((n + draw.uniform(0.2, 0.5)) * long) for n in range(4)]
    return channel(setting, "loss-random", "list", packets=lost, only="data")


def answers_into_shallow_queue(draw: Draw) -> Setting:
    """A burst of segments meets a queue that holds a few of them."""
    setting = path(draw, rates=(10, 20), delays=(10, 20))
    setting.based_on = "linux-6-reno"
    setting.queue = droptail(draw.randint(2, 4))
    return turns(setting, draw.randint(6, 10), 200, draw.randint(14, 30) * 1000)


def answers_lose_acks(draw: Draw) -> Setting:
    setting = path(draw, rates=(20, 50), delays=(20, 40))
    turns(setting, draw.randint(4, 6), 200, draw.randint(120, 160) * 1000)
    return acks_lost(draw, setting, draw.randint(2, 3))


KINDS = (
    Kind("turns-lossy", "loss-random", lossy, near="thinking-client-random"),
    Kind("turns-lossy-bursts", "loss-random", lossy_in_bursts, near="turns-outage"),
    Kind("turns-outage", "outage", one_outage, near="turns-packets-held"),
    Kind("turns-outage-of-answers", "outage", outage_of_answers, near="slow-server"),
    Kind("turns-path-died", "path-died", path_died, near="turns-outage"),
    Kind("turns-packets-held", "packets-held", packets_held, near="turns-outage"),
    Kind("answers-too-large", "mtu", answers_too_large, near="turns-path-died"),
    Kind("requests-too-large", "mtu", requests_too_large, near="turns-path-died"),
    Kind("answers-policed", "policer", answers_policed, near="answers-over-slow-link"),
    Kind("turns-syn-lost", "handshake", syn_lost, near="thinking-client"),
    Kind("turns-syn-ack-lost", "handshake", syn_ack_lost, near="slow-server"),
    Kind("turns-late-timer", "timer", late_timer, near="turns-lossy"),
    Kind("answers-stalled", "sender-stalled", stalled_answers, near="turns-late-timer"),
    Kind(
        "answers-into-shallow-queue", "loss-queue", answers_into_shallow_queue, near="answers-over-slow-link"
    ),
    Kind("answers-lose-acks", "ack-loss", answers_lose_acks, near="turns-lossy"),
)
