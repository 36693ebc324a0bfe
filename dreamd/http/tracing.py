"""Lines of a trace that came over HTTP in, appended to the agent's trace log, durably, before the answer goes out."""

import re
from pathlib import Path

import msgspec

from dreamd.formats.trace import VERSION
from dreamd.http.problems import Refused
from dreamd.http.shapes import Told, TraceLine, Traces
from dreamd.parts import Parts
from dreamd.trace import Log

_GLOB = re.compile(r"[*?\[]")


def append(parts: Parts, traces: Traces) -> Told:
    """Blocking. Raises Refused when the agent has no trace log or it cannot be written: then none of the lines is in it."""
    place = _place(parts, traces.agent)
    now = parts.clock.now()
    log = Log(place, traces.session)
    log.put(b"".join(_line(traces.session, line, now) for line in traces.lines))
    log.flush()
    if log.missing:
        raise Refused(
            507, f"cannot write the trace log in {place}", hint="send the lines again, with ids of their own"
        )
    return Told(len(traces.lines))


def _place(parts: Parts, agent_id: str) -> Path:
    agent = parts.config.agent(agent_id)
    if agent.format != "trace" or not agent.logs or _GLOB.search(agent.logs[0]):
        raise Refused(
            409,
            f"the agent {agent_id} has no trace log",
            hint=f'set agents.{agent_id}.format = "trace" and logs = ["/a/folder"]',
        )
    return Path(agent.logs[0]).expanduser()


def _line(session: str, line: TraceLine, now: object) -> bytes:
    given = {name: getattr(line, name) for name in line.__struct_fields__}
    fields = {name: value for name, value in given.items() if value is not None}
    whole = {"dreamd": VERSION, "kind": line.kind, "session": session, "at": line.at or now, **fields}
    return msgspec.json.encode(whole) + b"\n"
