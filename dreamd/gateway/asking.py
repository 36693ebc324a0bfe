"""What a client asks for (pure): a request's head -> who is asked, and in which words; or a refusal."""

from msgspec import Struct
from msgspec.structs import replace

from dreamd.gate.lanes import key_name
from dreamd.gateway import access, message
from dreamd.gateway.message import RequestHead
from dreamd.gateway.settings import Settings, Upstream

_LENGTH = (b"\r\nContent-Length: ", b"\r\ncontent-length: ")  # as nearly all clients spell it
LONGEST = 4 << 10  # bytes of a head that is remembered: there may be thousands of connections
_DIGITS = 15  # of a length; longer ones are read the long way


class Ask(Struct, frozen=True):
    """All that follows from a request's head. `key` is a `key_name`."""

    head: RequestHead
    upstream: Upstream
    onward: bytes  # of the head that goes to the upstream all but the framing
    key: str
    waits: bool  # for a word before it sends its body

    def whole(self) -> bytes:
        """The head that goes to the upstream."""
        return b"%b%b\r\n" % (self.onward, self.head.framing)


def asked(head: RequestHead, settings: Settings) -> Ask:
    """Raises Refused."""
    access.admitted(head, settings)
    upstream, target = access.routed(head, settings)
    return Ask(
        head=head,
        upstream=upstream,
        onward=message.onward(head, target, upstream.authority),
        key=key_name(message.key_of(head)),
        waits=head.chunks and head.fields.get(b"expect", b"").lower() == b"100-continue",
    )


class Latest:
    """The latest request of a connection, for the next one is mostly the same but for the digits of its length.

    It was read strictly and found good, and with other digits there it would be so again: that is all it saves. It holds
    the client's key, and lives as long as the connection.
    """

    def __init__(self) -> None:
        self._ask: Ask | None = None
        self._settings: Settings | None = None
        self._before = self._digits = self._after = b""

    def again(self, raw: bytes, settings: Settings) -> Ask | None:
        """What `asked` would find, where `raw` is the latest head but for its length; else None."""
        if self._ask is None or settings is not self._settings:
            return None
        if not (raw.startswith(self._before) and raw.endswith(self._after)):
            return None
        digits = raw[len(self._before) : len(raw) - len(self._after)]
        if digits == self._digits:
            return self._ask
        if not digits.isdigit() or len(digits) > _DIGITS:
            return None
        return replace(self._ask, head=self._ask.head.resized(int(digits)))

    def keep(self, raw: bytes, ask: Ask, settings: Settings) -> None:
        """As the latest one."""
        if len(raw) > LONGEST:
            self._ask = None
            return
        self._ask, self._settings = ask, settings
        self._before, self._digits, self._after = raw, b"", b""
        for name in _LENGTH:
            before, found, rest = raw.partition(name)
            if found:
                self._before = before + found
                self._digits, end, after = rest.partition(b"\r\n")
                self._after = end + after
