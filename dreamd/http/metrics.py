"""How things stand and what the face has counted in; the text that Prometheus reads out (version 0.0.4)."""

import os
import resource
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from dreamd import __version__
from dreamd.gate.passing import GatewayShown
from dreamd.http.counters import Counters
from dreamd.status import AgentStatus, Status

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Family(Struct, frozen=True):
    """A metric and its samples: labels and value."""

    name: str
    kind: str  # gauge, counter
    help: str
    samples: tuple[tuple[Mapping[str, str], float], ...]


def text(status: Status, counters: Counters, process: Mapping[str, float]) -> str:
    """Pure."""
    families = [
        *_dreamd(status),
        *_agents(status.agents),
        *_gateway(status.gateway),
        *_face(counters),
        *_process(process),
    ]
    return "".join(line for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"
    for labels, value in family.samples:
        told = ",".join(f'{name}="{_escaped(label)}"' for name, label in labels.items())
        yield f"{family.name}{{{told}}} {value:.15g}\n" if told else f"{family.name} {value:.15g}\n"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _one(name: str, kind: str, about: str, value: float) -> Family:
    return Family(name, kind, about, (({}, value),))


def _dreamd(status: Status) -> Iterator[Family]:
    yield Family("dreamd_info", "gauge", "The version.", (({"version": __version__}, 1),))
    yield _one("dreamd_night_running", "gauge", "Whether a night is under way.", status.night is not None)
    yield _one("dreamd_wrong", "gauge", "What is wrong, in sentences of `dreamd status`.", len(status.wrong))


def _agents(agents: Iterable[AgentStatus]) -> Iterator[Family]:
    agents = tuple(agents)

    def of_each(name: str, kind: str, about: str, values: Iterable[float]) -> Family:
        samples = zip(agents, values, strict=True)
        return Family(name, kind, about, tuple(({"agent": one.agent}, value) for one, value in samples))

    yield of_each("dreamd_logs", "gauge", "Logs that are read.", (one.logs for one in agents))
    yield of_each("dreamd_records_total", "counter", "Records read, ever.", (one.records for one in agents))
    yield of_each(
        "dreamd_last_read_timestamp_seconds", "gauge", "When something was read last.",
        (one.last_read.timestamp() if one.last_read else 0 for one in agents),
    )  # fmt: skip
    yield of_each(
        "dreamd_backlog_records", "gauge", "Records in no daily yet.", (one.backlog.records for one in agents)
    )
    yield of_each("dreamd_held", "gauge", "Rewrites that wait for a person.", (one.held for one in agents))
    yield of_each(
        "dreamd_dreaming",
        "gauge",
        "Whether the agent dreams now.",
        (one.dreaming is not None for one in agents),
    )
    insights = tuple(
        ({"agent": one.agent, "status": status}, count)
        for one in agents
        for status, count in (("candidate", one.candidates), ("long_term", one.long_term))
    )
    yield Family("dreamd_insights", "gauge", "Insights by how sure they are.", insights)
    yield from _nights(agents)


def _nights(agents: Iterable[AgentStatus]) -> Iterator[Family]:
    rows = [row for one in agents for row in one.last_night]
    labels = [{"agent": row.agent, "phase": row.phase} for row in rows]
    yield Family(
        "dreamd_phase_failed", "gauge", "Whether the newest run of the phase failed.",
        tuple((label, row.state == "failed") for label, row in zip(labels, rows, strict=True)),
    )  # fmt: skip
    yield Family(
        "dreamd_phase_finished_timestamp_seconds", "gauge", "When the newest run of the phase ended.",
        tuple(
            (label, row.finished_at.timestamp())
            for label, row in zip(labels, rows, strict=True)
            if row.finished_at
        ),
    )  # fmt: skip


def _gateway(shown: GatewayShown | None) -> Iterator[Family]:
    if shown is None:
        return
    seen = shown.passing
    yield _one("dreamd_gateway_connections", "gauge", "Clients' connections.", seen.connections)
    yield _one("dreamd_gateway_calls_in_flight", "gauge", "Calls under way.", seen.under_way)
    yield _one("dreamd_gateway_calls_total", "counter", "Calls, of agents and of dreamd.", seen.calls)
    yield _one("dreamd_gateway_foreground_total", "counter", "Calls of agents.", seen.foreground)
    ends = ("refused", "broken_off", "client_gone", "repeated")
    yield Family(
        "dreamd_gateway_amiss_total", "counter", "What went otherwise than it should.",
        tuple(({"what": what}, getattr(seen, what)) for what in ends),
    )  # fmt: skip
    yield Family(
        "dreamd_gateway_upstream_connections", "gauge", "Connections to the upstreams.",
        tuple(
            ({"upstream": one.name, "state": state}, count)
            for one in seen.upstreams
            for state, count in (("idle", one.idle), ("busy", one.open - one.idle))
        ),
    )  # fmt: skip
    yield Family(
        "dreamd_gateway_upstream_reachable", "gauge", "Whether the last connection tried came about.",
        tuple(({"upstream": one.name}, one.reachable) for one in seen.upstreams),
    )  # fmt: skip


def _face(counters: Counters) -> Iterator[Family]:
    yield Family(
        "dreamd_http_requests_total", "counter", "Requests answered.",
        tuple(
            ({"method": method, "route": route, "status": str(status)}, count)
            for (method, route, status), count in sorted(counters.requests.items())
        ),
    )  # fmt: skip
    yield Family(
        "dreamd_http_request_seconds_total", "counter", "Seconds spent on them.",
        tuple(({"route": route}, seconds) for route, seconds in sorted(counters.seconds.items())),
    )  # fmt: skip
    yield _one("dreamd_http_requests_in_flight", "gauge", "Requests being answered.", counters.in_flight)
    yield _one("dreamd_http_connections", "gauge", "Connections that are open.", counters.connections)
    yield _one(
        "dreamd_http_turned_away_total", "counter", "Connections beyond the limit.", counters.turned_away
    )


def _process(process: Mapping[str, float]) -> Iterator[Family]:
    for name, value in process.items():
        yield _one(
            f"process_{name}", "counter" if name.endswith("_total") else "gauge", "Of this process.", value
        )


def process() -> dict[str, float]:
    """What Prometheus' own clients tell of a process, as far as the system does. Blocking."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    told: dict[str, float] = {"cpu_seconds_total": used.ru_utime + used.ru_stime}
    own = Path("/proc/self")
    if own.is_dir():
        pages = int((own / "statm").read_text().split()[1])
        told["resident_memory_bytes"] = pages * resource.getpagesize()
        told["open_fds"] = len(os.listdir(own / "fd"))  # noqa: PTH208 - the iterator holds one itself
    return told
