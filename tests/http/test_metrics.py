"""What Prometheus reads."""

import re
from datetime import UTC, datetime

from dreamd.gate.passing import GatewayShown, Passing, UpstreamShown
from dreamd.http.counters import Counters
from dreamd.http.metrics import CONTENT_TYPE, process, text
from dreamd.status import Status
from tests.http.conftest import memory

SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="(\\.|[^"\\\n])*"(,[a-z]+="(\\.|[^"\\\n])*")*\})? -?[0-9.e+-]+')


async def test_agents_insights_and_requests_are_counted(opened) -> None:
    async with opened() as door:
        door.house.says("anna", door.house.clock.now(), "Which tea?", "Green.")
        door.pools(memory("i" * 32, type="insight", status="candidate"))
        await door.client.get("/v1/memories/abcd")
        answer = await door.client.get("/metrics")
    told = answer.text
    assert answer.headers["content-type"] == CONTENT_TYPE
    assert 'dreamd_backlog_records{agent="anna"} 2\n' in told
    assert 'dreamd_insights{agent="anna",status="candidate"} 1\n' in told
    assert 'dreamd_http_requests_total{method="GET",route="/v1/memories/{id}",status="404"} 1\n' in told
    assert "dreamd_http_requests_in_flight 1\n" in told


async def test_every_line_is_as_prometheus_wants_it(opened) -> None:
    async with opened() as door:
        await door.client.get("/nothing")
        lines = (await door.client.get("/metrics")).text.splitlines()
    samples = [line for line in lines if not line.startswith("# ")]
    assert [line for line in samples if not SAMPLE.fullmatch(line)] == []
    families = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(families) == len(set(families))


def test_a_label_is_escaped() -> None:
    counters = Counters()
    counters.requests['G"\\\nT', "/", 200] = 3
    nothing = Status(daemon=None, night=None, state="", llm="none", agents=(), wrong=())
    assert r'{method="G\"\\\nT",route="/",status="200"} 3' in text(nothing, counters, {})


def test_the_gateway_is_counted_where_there_is_one() -> None:
    seen = Passing(calls=7, client_gone=2, upstreams=(UpstreamShown("up", 5, 2, reachable=False),))
    shown = GatewayShown("127.0.0.1:8377", 1, datetime(2026, 3, 2, tzinfo=UTC), seen)
    now = Status(daemon=None, night=None, state="", llm="none", agents=(), wrong=(), gateway=shown)
    told = text(now, Counters(), {})
    assert "dreamd_gateway_calls_total 7\n" in told
    assert 'dreamd_gateway_amiss_total{what="client_gone"} 2\n' in told
    assert 'dreamd_gateway_upstream_connections{upstream="up",state="busy"} 3\n' in told
    assert 'dreamd_gateway_upstream_reachable{upstream="up"} 0\n' in told


def test_a_process_knows_what_it_uses() -> None:
    assert process()["cpu_seconds_total"] > 0
    assert process().get("open_fds", 1) > 0
