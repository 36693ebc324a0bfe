import pytest

from dreamd.gateway import message
from dreamd.gateway.access import admitted, routed
from dreamd.gateway.refusals import Refused
from dreamd.gateway.settings import Listen, Settings, upstream

UPSTREAMS = {
    b"openai": upstream("openai", "https://api.openai.com"),
    b"deep": upstream("deep", "http://d:1/api"),
}
HERE = Settings(listen=Listen("127.0.0.1", 8377), upstreams=UPSTREAMS)


def asked(*lines: str, target: str = "/openai/v1/models") -> message.RequestHead:
    return message.request("\r\n".join([f"GET {target} HTTP/1.1", *lines, "", ""]).encode())


@pytest.mark.parametrize(
    ("target", "name", "there"),
    [
        ("/openai/v1/models?limit=2", "openai", b"/v1/models?limit=2"),
        ("/deep/v1/models", "deep", b"/api/v1/models"),
        ("/deep/", "deep", b"/api/"),
        ("/deep", "deep", b"/api/"),
        ("/deep?q=/a", "deep", b"/api/?q=/a"),
        ("/deep//a/../b%2F", "deep", b"/api//a/../b%2F"),
    ],
)
def test_the_first_part_of_the_path_names_the_upstream_and_the_rest_is_its_own(
    target: str, name: str, there: bytes
) -> None:
    found, onward = routed(asked("Host: localhost", target=target), HERE)
    assert (found.name, onward) == (name, there)


@pytest.mark.parametrize("target", ["/", "/other/v1", "/Openai/v1", "//openai/v1", "/openai%2Fv1"])
def test_an_upstream_that_is_not_there_is_refused_with_those_that_are(target: str) -> None:
    with pytest.raises(Refused, match="/openai/, /deep/") as refused:
        routed(asked("Host: localhost", target=target), HERE)
    assert refused.value.status == 404


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8377", "[::1]:8377", "LOCALHOST:8377"])
def test_this_machine_calls_it_by_its_own_names(host: str) -> None:
    assert admitted(asked(f"Host: {host}"), HERE) is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "[", ""])
def test_a_name_that_somebody_pointed_here_is_refused(host: str) -> None:
    with pytest.raises(Refused) as refused:
        admitted(asked(f"Host: {host}"), HERE)
    assert refused.value.status == 403


@pytest.mark.parametrize(
    ("origin", "fine"),
    [
        ("https://evil.example", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://localhost:3000", True),
        ("vscode-file://vscode-app", True),
        ("null", True),
    ],
)
def test_a_page_from_elsewhere_is_refused_but_no_program_of_this_machine(origin: str, fine: bool) -> None:
    try:
        admitted(asked("Host: localhost", f"Origin: {origin}"), HERE)
    except Refused:
        assert not fine
    else:
        assert fine


@pytest.mark.parametrize(
    ("lines", "fine"),
    [
        (("Origin: null", "Sec-Fetch-Site: cross-site"), False),  # a frame without an origin of its own
        (("Sec-Fetch-Site: cross-site",), False),  # <img src=...>
        (("Sec-Fetch-Site: same-site",), False),
        (("Sec-Fetch-Site: none",), True),  # typed by a person
        (("Origin: vscode-webview://x", "Sec-Fetch-Site: cross-site"), True),
        (("Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"), True),
    ],
)
def test_nor_may_a_page_that_hides_where_it_is_from(lines: tuple[str, ...], fine: bool) -> None:
    try:
        admitted(asked("Host: localhost", *lines), HERE)
    except Refused:
        assert not fine
    else:
        assert fine


def test_with_a_token_the_token_alone_counts() -> None:
    settings = Settings(listen=Listen("0.0.0.0", 8377), upstreams=UPSTREAMS, token=b"s3cret")
    assert admitted(asked("Host: dreamd.lan", "X-Dreamd-Token: s3cret"), settings) is None
    for lines in (
        ["Host: localhost"],
        ["Host: localhost", "X-Dreamd-Token: s3cre"],
        ["Host: a", "X-Dreamd-Token: \xe9"],
    ):
        with pytest.raises(Refused) as refused:
            admitted(asked(*lines), settings)
        assert refused.value.status == 401


def test_a_socket_is_guarded_by_its_mode() -> None:
    assert admitted(asked("Host: any.thing"), Settings(listen=Listen(path="/s"), upstreams=UPSTREAMS)) is None
