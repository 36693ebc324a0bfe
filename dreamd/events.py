"""The closed list of log events: name and level here, values as keys where they happen, never log text.

A canonical line (`*.finished`) carries everything about one run. A state is told on change only.
"""

from typing import Literal, Protocol

from msgspec import Struct

Level = Literal["debug", "info", "warning", "error"]


class Event(Struct, frozen=True):
    name: str  # noun.past_verb
    level: Level = "info"


class Emit(Protocol):
    """Tell an event with its values. Values are ids, counts, dates, paths and durations; never log text or prompts."""

    def __call__(self, event: Event, /, **values: object) -> None: ...


def silent(_event: Event, /, **_values: object) -> None:
    """Tells nobody: for commands that print for themselves."""


DAEMON_STARTED = Event("daemon.started")
DAEMON_READY = Event("daemon.ready")
DAEMON_STOPPING = Event("daemon.stopping")
DAEMON_STOPPED = Event("daemon.stopped")
CONFIG_RELOADED = Event("config.reloaded")
CONFIG_REFUSED = Event("config.refused", "error")
AGENTS_MISSING = Event("agents.missing", "warning")  # none is configured: there is nothing to do
WORKSPACE_MISSING = Event("workspace.missing", "warning")

SYNC_FINISHED = Event("sync.finished")  # canonical: per pass over the logs that read anything
SOURCE_FOUND = Event("source.found", "debug")
SOURCE_MOVED = Event("source.moved", "debug")
SOURCE_REWRITTEN = Event("source.rewritten")
SOURCE_UNREADABLE = Event("source.unreadable", "warning")
SOURCE_READABLE = Event("source.readable")
SOURCE_NOT_UNDERSTOOD = Event("source.not_understood", "warning")  # it grew and nothing was understood
LINE_TRUNCATED = Event("line.truncated", "warning")
WATCH_DEGRADED = Event("watch.degraded", "warning")
WATCH_RESTORED = Event("watch.restored")

NIGHT_STARTED = Event("night.started")
NIGHT_FINISHED = Event("night.finished")  # canonical
NIGHT_MISSED = Event("night.missed", "warning")  # found late; it is being caught up
CLOCK_JUMPED = Event("clock.jumped", "warning")
PHASE_FINISHED = Event("phase.finished")  # canonical: one per agent, date and phase
PHASE_FAILED = Event("phase.failed", "error")
DREAM_FINISHED = Event("dream.finished")  # canonical: one per dream
DREAM_PARKED = Event(
    "dream.parked", "warning"
)  # a group of records waits for the next dream: reason, never text
LINE_REFUSED = Event(
    "memory_line.refused", "info"
)  # the audit turned a proposed line down: reason, never text
REWRITE_HELD = Event("rewrite.held", "warning")

EMBEDDINGS_UNAVAILABLE = Event("embeddings.unavailable", "warning")  # recall goes on by words
EMBEDDINGS_RETURNED = Event("embeddings.returned")
MEMORIES_FORGOTTEN = Event("memories.forgotten")  # a person wanted it: counts and files, never what it was
FORGETTING_DELAYED = Event("forgetting.delayed", "warning")  # a file is out of reach; it is tried again
RECORDS_ARCHIVED = Event("records.archived")

CALL_FINISHED = Event("call.finished", "debug")
CALL_RETRIED = Event("call.retried", "warning")
CALL_FAILED = Event("call.failed", "warning")
CALL_RESUMED = Event("call.resumed")  # answered from the journal

GATEWAY_OPENED = Event("gateway.opened")
GATEWAY_FAILED = Event("gateway.failed", "error")  # it cannot listen; it goes on trying
UPSTREAM_UNREACHABLE = Event("upstream.unreachable", "warning")
UPSTREAM_REACHED = Event("upstream.reached")

BUDGET_SPENT = Event("budget.spent", "warning")  # an agent's own: its dreams and nights wait; once a day
DREAM_WAITS = Event("dream_call.waits", "debug")  # for some seconds: for what, and what to do
DREAM_WAITS_LONG = Event("dream_call.waits_long", "warning")  # at the gate, and why
LANE_COOLING = Event("lane.cooling")  # an upstream refused; dream calls stay away
LIMIT_CHANGED = Event("limit.changed", "debug")  # of the calls an upstream takes at once
HTTP_OPENED = Event("http.opened")
HTTP_UNAVAILABLE = Event("http.unavailable", "warning")  # the face cannot listen; it is tried again
REQUEST_FINISHED = Event("request.finished", "debug")
REQUEST_FAILED = Event("request.failed", "error")  # a bug: its class and place
JOB_FAILED = Event("job.failed", "error")  # likewise

DISK_FULL = Event("disk.full", "error")
TASK_FAILED = Event("task.failed", "error")
