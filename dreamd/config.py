"""The configuration: TOML and environment into one frozen tree of the sections in `sections.py`.

Unknown keys are errors that name the nearest known one. Secrets are named by environment variable or file, never
written inline. `config.example.toml` shows every key; a test holds it to this file.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import time
from pathlib import Path
from typing import Any, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from msgspec import field

from dreamd.errors import ConfigError
from dreamd.places import own
from dreamd.sections import (
    Agent,
    Archive,
    Budget,
    Daily,
    Decay,
    DeepDream,
    Dream,
    Gate,
    Gateway,
    Http,
    Llm,
    Logs,
    Night,
    Promote,
    Recall,
    Section,
    State,
    Tail,
)


class Config(Section, frozen=True):
    state: State = field(default_factory=State)
    logs: Logs = field(default_factory=Logs)
    tail: Tail = field(default_factory=Tail)
    night: Night = field(default_factory=Night)
    daily: Daily = field(default_factory=Daily)
    deep_dream: DeepDream = field(default_factory=DeepDream)
    dream: Dream = field(default_factory=Dream)
    promote: Promote = field(default_factory=Promote)
    decay: Decay = field(default_factory=Decay)
    llm: Llm = field(default_factory=Llm)
    gate: Gate = field(default_factory=Gate)
    budget: Budget = field(default_factory=Budget)
    gateway: Gateway = field(default_factory=Gateway)
    http: Http = field(default_factory=Http)
    recall: Recall = field(default_factory=Recall)
    archive: Archive = field(default_factory=Archive)
    agents: Mapping[str, Agent] = {}

    @property
    def enabled(self) -> dict[str, Agent]:
        """The agents that dreamd works for."""
        return {agent_id: agent for agent_id, agent in self.agents.items() if agent.enabled}

    def agent(self, agent_id: str) -> Agent:
        if agent_id not in self.agents:
            raise ConfigError(
                f"no agent {agent_id!r} in the configuration", hint=nearest(agent_id, self.agents)
            )
        return self.agents[agent_id]


def nearest(word: str, known: Iterable[str]) -> str:
    """What to say of a word that is not known: the one that was probably meant, or all there are."""
    known = tuple(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}"


def zone_of(agent: Agent) -> ZoneInfo:
    """The agent's time zone, or this machine's. Raises ConfigError for an unknown name."""
    name = agent.zone or local_zone_name()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(
            f"unknown time zone {name!r}", hint='use an IANA name such as "Europe/Berlin"'
        ) from error


def local_zone_name() -> str:
    """The IANA zone of the machine: $TZ, /etc/timezone or where /etc/localtime points; UTC when none of them tells."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if named and "/" in named:
        return named
    link = Path("/etc/localtime")
    target = str(link.resolve()) if link.exists() else ""
    return target.split("zoneinfo/", 1)[1] if "zoneinfo/" in target else "UTC"


def night_time(config: Config) -> time:
    """`night.at` as a time of day. Raises ConfigError."""
    wrong = ConfigError(
        f"night.at is {config.night.at!r}", hint='write it as "23:55", local to each agent\'s zone'
    )
    try:
        at = time.fromisoformat(config.night.at)
    except ValueError as error:
        raise wrong from error
    if at.tzinfo is not None:
        raise wrong
    return at


def state_dir(config: Config) -> Path:
    """The folder of pool.db; not created here."""
    named = config.state.dir or os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(named).expanduser() if named else own("state")


def state_dir_told(path: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of pool.db as far as a configuration that cannot be used still tells of it.

    Of a file that is not even TOML nothing is known: then the environment and the platform say where it is.
    """
    tree: dict[str, Any] = {}
    with suppress(ConfigError):
        tree = _read(path) if path else {}
    state = tree.get("state")
    named = environ.get("DREAMD_STATE__DIR") or (state.get("dir") if isinstance(state, dict) else "")
    return state_dir(Config(state=State(dir=named if isinstance(named, str) else "")))


def find(given: str | None = None) -> Path | None:
    """The configuration file: --config, $DREAMD_CONFIG, the user's, the system's. None when there is none.

    Raises ConfigError when one was named and is not there.
    """
    named = given or os.environ.get("DREAMD_CONFIG")
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            hint = "name the file in it" if path.is_dir() else "run `dreamd init` to write one"
            raise ConfigError(f"no configuration at {path}", hint=hint)
        return path
    usual = (own("config") / "config.toml", Path("/etc/dreamd/config.toml"))
    return next((path for path in usual if path.is_file()), None)


def load(path: Path | None, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration of a file (None: all defaults) with DREAMD_SECTION__KEY laid over it, fully checked.

    Raises ConfigError naming the file, the key and what to do.
    """
    tree = _read(path) if path else {}
    config = _checked(tree, str(path))
    for name, value in sorted(environ.items()):  # one at a time, so that a wrong one is named
        if name.startswith("DREAMD_") and "__" in name:
            _lay(tree, name, value)
            config = _checked(tree, f"${name}")
    _keep_apart(config.enabled)
    return config


def _checked(tree: dict[str, Any], where: str) -> Config:
    config = _converted(tree, where)
    try:
        _check(config)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.what}", hint=error.hint) from error
    return config


def _converted(tree: dict[str, Any], where: str) -> Config:
    section = ""
    try:
        agents = tree.get("agents", {})
        for agent_id, settings in agents.items() if isinstance(agents, dict) else ():
            section = f"agents.{agent_id}"
            msgspec.convert(settings, Agent, strict=False)
        section = ""
        return msgspec.convert(tree, Config, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_explain(error, section)}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}", hint="let dreamd's user read it"
        ) from error


def _lay(tree: dict[str, Any], name: str, value: str) -> None:
    """Lay a variable over the tree."""
    *sections, key = name.removeprefix("DREAMD_").lower().split("__")
    place = tree
    for section in sections:
        place = place.setdefault(_spelt(section, place), {})
        if not isinstance(place, dict):
            raise ConfigError(f"${name}: {section!r} is not a section", hint="write DREAMD_SECTION__KEY")
    place[key] = value.split(os.pathsep) if key in ("logs", "protected") else value


def _spelt(section: str, place: Mapping[str, object]) -> str:
    """The key of `place` that an environment name means: it cannot show capitals, dots or dashes."""
    return next((key for key in place if re.sub(r"[^a-z0-9]", "_", key.lower()) == section), section)


_AT = re.compile(r"(?P<says>.*?)(?: - at `(?:key in )?\$\.?(?P<path>[^`]*)`)?")
_UNKNOWN = re.compile(r"unknown field `(?P<key>[^`]+)`")
_KINDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "text", "array": "a list",
    "object": "a section", "null": "nothing",
}  # fmt: skip


def _explain(error: msgspec.ValidationError, section: str) -> str:
    """The library's words as a person's: what, at which key, and the nearest one."""
    found = _AT.fullmatch(str(error))
    says, path = (found["says"], found["path"] or "") if found else (str(error), "")
    place = ".".join(part for part in (section, path) if part)
    if unknown := _UNKNOWN.search(says):
        key = unknown["key"]
        return f"unknown key {key!r} in {f'[{place}]' if place else 'the top level'}; {nearest(key, _keys(place))}"
    if says.startswith("Invalid enum value"):
        says = f"{says.removeprefix('Invalid enum value').strip()} is not known; known: {_allowed(place)}"
    words = re.sub(r"`(\w+)`", lambda kind: _KINDS.get(kind[1], kind[0]), says)
    return f"{place}: {words[:1].lower()}{words[1:]}"


def _allowed(place: str) -> str:
    """The words that a key may have."""
    section, _, key = place.rpartition(".")
    kind = get_type_hints(_section(section)).get(key)
    return ", ".join(map(str, get_args(kind)))


def _keys(section: str) -> tuple[str, ...]:
    return _section(section).__struct_fields__


def _section(name: str) -> type[Section]:
    if name.startswith("agents"):
        return Agent
    kinds: dict[str, type[Section]] = {
        "": Config, "state": State, "logs": Logs, "tail": Tail, "night": Night, "daily": Daily,
        "deep_dream": DeepDream, "dream": Dream, "promote": Promote, "decay": Decay, "llm": Llm,
        "gate": Gate, "budget": Budget, "gateway": Gateway, "http": Http, "recall": Recall, "archive": Archive,
    }  # fmt: skip
    return kinds.get(name, Config)


_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _check(config: Config) -> None:
    night_time(config)
    for agent_id, agent in config.agents.items():
        if not _AGENT_ID.fullmatch(agent_id):
            raise ConfigError(
                f"agent id {agent_id!r}", hint="use letters, digits, dot, dash and underscore, at most 64"
            )
        try:
            zone_of(agent)
        except ConfigError as error:
            raise ConfigError(f"[agents.{agent_id}] {error.what}", hint=error.hint) from error
    for pattern in config.deep_dream.protected:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(
                f"deep_dream.protected: {pattern!r} is no regular expression: {error}"
            ) from error


def _keep_apart(agents: Mapping[str, Agent]) -> None:
    """Raises ConfigError when two agents, or two keys of one, write the same files: they would overwrite each other."""
    owners: dict[str, str] = {}
    for agent_id, agent in agents.items():
        if not agent.workspace:
            continue
        for key in ("memory_file", "daily_dir", "diary_dir"):
            place, path = f"agents.{agent_id}.{key}", _real(agent.workspace, getattr(agent, key))
            owner = owners.setdefault(path, place)
            if owner != place:
                raise ConfigError(
                    f"{owner} and {place} are both {path}",
                    hint=f"set another {key} or workspace for one of them",
                )


def _real(workspace: str, name: str) -> str:
    try:
        return os.path.realpath(os.path.join(os.path.expanduser(workspace), name))  # noqa: PTH111, PTH118 - never raises
    except ValueError as error:  # a NUL
        raise ConfigError(f"{workspace!r} is no path") from error


def api_key(llm: Llm, environ: Mapping[str, str] = os.environ) -> str:
    """The key that `llm` names by environment variable or file; "" when it names none. Raises as `secret`."""
    return secret(llm.api_key_env, llm.api_key_file, "LLM key", environ)


def secret(env: str, file: str, what: str, environ: Mapping[str, str] = os.environ) -> str:
    """What an environment variable or else a file holds; "" when neither is named.

    Reads the file each time, so that a renewed key counts at once. Raises ConfigError when what is named is missing,
    empty or no key; the error never shows it.
    """
    if env:
        return _key(environ.get(env, ""), what, f"${env}")
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        return _key(path.read_text(encoding="utf-8"), what, str(path))
    except OSError as error:
        raise ConfigError(f"cannot read the {what} in {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} holds no {what}", hint=_ALONE) from None


_ALONE = "it must hold the key alone"


def _key(text: str, what: str, where: str) -> str:
    key = text.strip()
    if not key:
        raise ConfigError(f"the {what} is missing: {where} is not set or empty")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{where} holds no {what}", hint=_ALONE)
    return key
