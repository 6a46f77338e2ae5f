"""Prometheus is told what the members count, each under its group and place, and how long ordering takes."""

from __future__ import annotations

import asyncio
import socket
from urllib.request import ProxyHandler, build_opener

from antiphon.impl.group import Group
from antiphon.impl.metrics import Metrics


def test_counters_and_histograms_are_those_of_the_group() -> None:
    async def scenario(metrics: Metrics) -> None:
        bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for each in bound:
            each.bind(("127.0.0.1", 0))
        a, b = (
            Group("pair", me=me, members=2, bind=bound[me], routes={1 - me: bound[1 - me].getsockname()},
                  metrics=metrics, key=None)
            for me in range(2)
        )  # fmt: skip
        async with asyncio.timeout(60), a, b:
            for k in range(20):
                await (a if k < 15 else b).broadcast(b"%d" % k)
            for group in (a, b):
                for _ in range(20):
                    await anext(group)
            sent = a.statistics.datagrams["data"]
        samples = {
            line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in metrics.text().splitlines()
            if line[0] != "#"
        }
        assert samples['antiphon_datagrams_sent_total{group="pair",kind="data",process="0"}'] == sent
        for name in ("order", "broadcast_wait"):
            of = f"antiphon_{name}_seconds"
            assert samples[f'{of}_count{{group="pair",process="0"}}'] == 15
            assert samples[f'{of}_count{{group="pair",process="1"}}'] == 5
            assert 0 < samples[f'{of}_sum{{group="pair",process="0"}}'] < 10
        assert samples['antiphon_events_to_take{group="pair",process="1"}'] == 0

    metrics = Metrics()
    asyncio.run(scenario(metrics))
    port = metrics.serve(0)
    with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        assert b'antiphon_order_seconds_bucket{group="pair",le="+Inf",process="0"} 15.0' in answer.read()
    metrics.close()
