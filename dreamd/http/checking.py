"""Whether the face can open as configured: the parts in, findings for `dreamd check` out. Binds nothing."""

from collections.abc import Iterator

from dreamd.address import too_long
from dreamd.check import Finding
from dreamd.errors import ConfigError
from dreamd.http.listening import address_of, token
from dreamd.locks import DAEMON, holder
from dreamd.parts import Parts

_TOKEN = "set http.token_env or http.token_file"  # noqa: S105 - where it stands, not what it is


def of_http(parts: Parts) -> Iterator[Finding]:
    """Blocking."""
    if not parts.config.http.listen:
        yield Finding("ok", "http", "switched off")
        return
    try:
        where, known = address_of(parts), token(parts.config)
    except ConfigError as error:
        yield Finding("error", "http", error.what, error.hint or _TOKEN)
        return
    if where.path and too_long(where.path):
        yield Finding(
            "error",
            "http",
            f"the path {where.path} is too long for a socket",
            'set http.listen = "unix:/shorter"',
        )
    elif not where.local and not known:
        yield Finding("error", "http", f"{where} can be reached by others and there is no token", _TOKEN)
    elif not where.path and not known:
        yield Finding(
            "warning", "http", f"{where}: there is no token, so nothing can be changed over it", _TOKEN
        )
    else:
        answers = "answers" if holder(parts.state / DAEMON) else "the daemon will answer"
        yield Finding("ok", "http", f"{answers} at {where}")
