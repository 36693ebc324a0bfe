"""The sections of the configuration: every key, its default, unit and bound."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

Language = Literal["auto", "en", "zh"]
Seconds = Annotated[float, Meta(ge=0, le=7 * 86400)]
Count = Annotated[int, Meta(ge=1)]
Bytes = Annotated[int, Meta(ge=1024)]
Share = Annotated[float, Meta(gt=0, le=1)]


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class State(Section, frozen=True):
    dir: str = ""  # "": $STATE_DIRECTORY, else the platform's state folder


class Logs(Section, frozen=True):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = "auto"  # auto: console on a terminal


class Tail(Section, frozen=True):
    max_line_bytes: Bytes = 8 << 20  # longer lines keep their metadata and a cut text
    max_text_bytes: Bytes = 64 << 10  # of one record's text
    rescan_s: Annotated[float, Meta(ge=1, le=3600)] = (
        60.0  # full scan of all places, whatever the watcher says
    )
    watch: bool = True  # false: only the rescan (network file systems)


class Night(Section, frozen=True):
    at: str = "23:55"  # local time of each agent's zone
    jitter_s: Annotated[float, Meta(ge=0, le=6 * 3600)] = 300.0  # the window that ends at `at`
    catch_up_days: Annotated[int, Meta(ge=0, le=366)] = 7
    max_attempts: Count = 5  # of one phase of one night, before it waits for a person


class Daily(Section, frozen=True):
    enabled: bool = True
    max_output_tokens: Annotated[int, Meta(ge=64, le=8192)] = 500
    max_input_tokens: Annotated[int, Meta(ge=512)] = 6000  # longer days are summarised in several calls


class DeepDream(Section, frozen=True):
    enabled: bool = True
    candidates: Annotated[int, Meta(ge=0, le=1000)] = 1  # agents a night
    lookback_days: Annotated[int, Meta(ge=1, le=366)] = 1
    max_retired: Share = 0.25  # of the entries of MEMORY.md, per run, before the rewrite is held
    min_retired: Annotated[int, Meta(ge=0)] = 3  # retirements always allowed
    max_entries: Count = 50
    max_input_tokens: Annotated[int, Meta(ge=1024)] = 24000
    protected: tuple[str, ...] = ()  # regular expressions of lines that stay verbatim


class Dream(Section, frozen=True):
    enabled: bool = True  # by themselves and in the night; `dreamd dream` works by hand all the same
    checkpoint_steps: Count = 50  # records of a task under way before it is dreamt of
    pool_threshold: Count = 2000  # fresh memories
    idle_s: Seconds = 900.0  # without a new record
    debounce_s: Seconds = 60.0  # quiet after a trigger before the dream begins
    turn_timeout_s: Seconds = 3600.0  # a turn without a record for so long has died
    keep_threshold: Share = 0.35  # of a memory's score; what falls below stays in the pool, marked
    subgroup_records: Annotated[int, Meta(ge=2, le=100)] = 4  # ten records make two to three subgroups
    max_input_tokens: Annotated[int, Meta(ge=512)] = 6000  # of one call
    max_output_tokens: Annotated[int, Meta(ge=128, le=16384)] = 1500  # of one call
    attempts: Count = 3  # of a group, halved each time, before it is parked until the next dream
    max_new: Count = 30  # insights a dream
    max_changed: Count = 20  # candidates a dream
    max_contradictions: Count = 30  # linked a dream; both sides are flagged at once
    max_superseded: Count = 10  # insights a dream
    max_superseded_share: Share = 0.05  # of the agent's insights; one always
    similarity: Share = 0.5  # overlap from which two statements are about the same


class Promote(Section, frozen=True):
    min_windows: Count = 2  # distinct local days
    min_tasks: Count = 2  # distinct tasks
    min_records: Count = 2  # independent records: a copy, fork, replay or quotation is none


class Decay(Section, frozen=True):
    candidate_days: Annotated[float, Meta(gt=0)] = 30.0  # half-life of a candidate's confidence
    long_term_days: Annotated[float, Meta(gt=0)] = 90.0  # half-life of a long-term insight's
    archive_below: Annotated[float, Meta(ge=0, lt=1)] = 0.1  # confidence


class Llm(Section, frozen=True):
    provider: str = "none"  # none, openai, anthropic, scripted
    base_url: str = ""  # "": the provider's own
    model: str = ""
    api_key_env: str = ""  # name of an environment variable
    api_key_file: str = ""  # path of a file that holds the key alone
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    json_schema: bool = True  # ask for JSON by schema where the API can
    concurrency: Annotated[int, Meta(ge=1, le=256)] = 2  # dream calls in flight
    connect_timeout_s: Seconds = 10.0
    read_timeout_s: Seconds = 120.0  # between two bytes
    deadline_s: Seconds = 600.0  # of one call, retries included
    attempts: Annotated[int, Meta(ge=1, le=20)] = 4
    input_price: Annotated[float, Meta(ge=0)] = (
        0.0  # of a million tokens, in any currency; for what dreams say they cost
    )
    output_price: Annotated[float, Meta(ge=0)] = 0.0
    script: str = ""  # provider "scripted": a JSON file of replies


class Gate(Section, frozen=True):
    floor: Annotated[int, Meta(ge=1, le=256)] = 1  # the limit of calls in flight never falls below
    ceiling: Annotated[int, Meta(ge=1, le=1024)] = 32  # nor grows above
    headroom: Annotated[int, Meta(ge=0, le=256)] = 0  # at least so many slots stay free for the foreground
    reserve: Annotated[float, Meta(ge=0, le=1)] = 0.25  # of the provider's quota, left to the foreground
    patience_s: Seconds = 900.0  # then turns are waited for no longer, if slots are free or logs silent
    long_wait_s: Seconds = 3600.0  # a dream that waits longer is told
    lease_s: Annotated[float, Meta(ge=5, le=3600)] = 30.0  # a slot of a process that died is free after


class Budget(Section, frozen=True):
    """Of dreamd's own calls alone. 0: without end. Exhausted means waiting; an agent's own, being tried again."""

    tokens_per_day: Annotated[int, Meta(ge=0)] = 0  # local day of this machine, of all agents
    calls_per_hour: Annotated[int, Meta(ge=0)] = 0
    agent_tokens_per_day: Annotated[int, Meta(ge=0)] = 0
    agent_calls_per_hour: Annotated[int, Meta(ge=0)] = 0


class Gateway(Section, frozen=True):
    listen: str = ""  # "": off; "127.0.0.1:8377" or "unix:/path"
    token_env: str = ""  # name of an environment variable; needed where it listens beyond this machine
    token_file: str = ""
    upstreams: Mapping[str, str] = {}  # name -> base URL; calls to /<name>/... go there
    connect_timeout_s: Seconds = 10.0
    stop_s: Seconds = 8.0  # streams under way may finish for so long when dreamd stops
    max_connections: Count = 2000


class Http(Section, frozen=True):
    listen: str = "unix"  # "unix": dreamd.sock in the state folder; "unix:/path"; "127.0.0.1:8378"; "": off
    token_env: str = ""  # name of an environment variable; needed for changes, but for the socket's owner
    token_file: str = ""
    max_body_bytes: Bytes = 1 << 20
    requests_per_minute: Annotated[int, Meta(ge=0)] = 600  # of one client; 0: without end


class Recall(Section, frozen=True):
    budget: Annotated[int, Meta(ge=50, le=32000)] = 800  # tokens of an answer
    standing_share: Annotated[float, Meta(ge=0, le=1)] = 0.25  # of it, for preferences no question finds
    embeddings_url: str = ""  # "": recall works without; else the base URL of a /v1/embeddings server
    embeddings_model: str = ""
    embeddings_key_env: str = ""
    embeddings_key_file: str = ""


class Archive(Section, frozen=True):
    after_days: Annotated[int, Meta(ge=0, le=36500)] = 0  # raw records older move to archive files; 0: never


class Agent(Section, frozen=True):
    format: str = ""  # "": guessed for each log
    logs: tuple[str, ...] = ()  # files, folders or globs; (): the format's usual place
    workspace: str = ""  # where MEMORY.md and memory/ are; "" : read only, nothing is written
    zone: str = ""  # IANA time zone; "": this machine's
    language: Language = "auto"  # auto: that of the agent's records
    memory_file: str = "MEMORY.md"  # relative to the workspace
    daily_dir: str = "memory"
    diary_dir: str = "memory/dreams"
    upstream: str = ""  # the base URL its calls go to; "": may be that of dreamd's own
    programs_are_human: bool = True  # prompts that programs sent (SDK, `codex exec`) count as the human's
    enabled: bool = True

    @property
    def root(self) -> Path | None:
        """The workspace as a path, if there is one."""
        return Path(self.workspace).expanduser() if self.workspace else None
