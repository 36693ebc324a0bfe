"""Who may call, and where a call goes (pure): a request's head -> an upstream and the target there, or a refusal."""

import hmac
from functools import lru_cache
from urllib.parse import urlsplit

from dreamd.gateway.message import TOKEN, RequestHead
from dreamd.gateway.refusals import Refused
from dreamd.gateway.settings import Settings, Upstream, is_loopback


def admitted(head: RequestHead, settings: Settings) -> None:
    """Raises Refused: without the token where one is asked for; else for what a web page in a browser may have sent.

    A page can make a browser call any address of this machine, by a name that it points there (then Host is that name)
    or across origins: then Origin is the page's, or "null" for one in a frame of its own, or missing where the page asks
    for an image and the like; then Sec-Fetch-Site tells.
    """
    if settings.token:
        if not hmac.compare_digest(head.fields.get(TOKEN, b""), settings.token):
            raise Refused(401, "dreamd's gateway wants its token in the header X-Dreamd-Token")
        return
    if settings.listen.path:
        return
    origin = head.fields.get(b"origin", b"")
    if not _is_here(b"//" + head.fields.get(b"host", b"localhost")):
        raise Refused(403, "dreamd's gateway answers to this machine's own names only")
    if _is_page(origin, head.fields.get(b"sec-fetch-site", b"")) and not _is_here(origin):
        raise Refused(403, "dreamd's gateway does not answer web pages")


def _is_page(origin: bytes, site: bytes) -> bool:
    """Of the web. Programs that are made of pages (`vscode-webview:`) are agents like others."""
    foreign = site in (b"cross-site", b"same-site")
    return origin.startswith((b"http:", b"https:")) or (foreign and origin in (b"", b"null"))


@lru_cache(64)  # the same few names each time
def _is_here(url: bytes) -> bool:
    try:
        return is_loopback(urlsplit(url.decode("latin-1")).hostname or "")
    except ValueError:
        return False


def routed(head: RequestHead, settings: Settings) -> tuple[Upstream, bytes]:
    """The upstream and the target there of `/<upstream>/...`. Raises Refused."""
    path, mark, query = head.target.partition(b"?")
    name, _, rest = path[1:].partition(b"/")
    found = settings.upstreams.get(name)
    if found is None:
        known = ", ".join(f"/{upstream.name}/" for upstream in settings.upstreams.values())
        raise Refused(404, f"no such upstream; dreamd's gateway has {known or 'none'}")
    return found, b"%b/%b%b%b" % (found.prefix, rest, mark, query)
