from pathlib import Path

import pytest

from dreamd.errors import ConfigError
from dreamd.gateway.settings import Listen, listening, settled, upstream
from dreamd.sections import Gateway


@pytest.mark.parametrize(
    ("text", "listen", "here"),
    [
        ("127.0.0.1:8377", Listen("127.0.0.1", 8377), True),
        ("localhost:1", Listen("localhost", 1), True),
        ("[::1]:8377", Listen("::1", 8377), True),
        ("0.0.0.0:8377", Listen("0.0.0.0", 8377), False),
        ("unix:/run/g.sock", Listen(path="/run/g.sock"), True),
        ("unix:///run/g.sock", Listen(path="/run/g.sock"), True),
    ],
)
def test_an_address_is_tcp_or_a_socket_and_here_or_open_to_others(
    text: str, listen: Listen, here: bool
) -> None:
    assert listening(text) == listen
    assert listening(text).here is here


@pytest.mark.parametrize(
    "text", ["8377", ":8377", "127.0.0.1", "127.0.0.1:99999", "unix:g.sock", "127.0.0.1:x"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"gateway\.listen"):
        listening(text)


def test_a_door_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="token"):
        settled(Gateway(listen="0.0.0.0:8377"))
    (tmp_path / "token").write_text("s3cret\n")
    assert settled(Gateway(listen="0.0.0.0:8377", token_file=str(tmp_path / "token"))).token == b"s3cret"


def test_a_token_that_is_not_there_is_told_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKEN_OF_NONE", raising=False)
    with pytest.raises(ConfigError, match="token of the gateway is missing"):
        settled(Gateway(listen="127.0.0.1:1", token_env="TOKEN_OF_NONE"))


def test_an_upstream_knows_where_it_is_and_what_goes_before_every_path() -> None:
    found = upstream("deepseek", "https://api.deepseek.com:8443/v1/")
    assert (found.host, found.port, found.tls) == ("api.deepseek.com", 8443, True)
    assert (found.authority, found.prefix) == (b"api.deepseek.com:8443", b"/v1")
    assert upstream("local", "http://[::1]").authority == b"[::1]"
    assert upstream("local", "http://[::1]").port == 80


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("a/b", "http://a"),
        ("", "http://a"),
        ("a", "ftp://a"),
        ("a", "api.openai.com"),
        ("a", "http://"),
        ("a", "http://a:port"),
        ("a", "http://a/?q=1"),
        ("a", "http://a/b c"),
        ("a", "http://.a.b/"),
        ("a", f"http://{'a' * 70}.com/"),
    ],
)
def test_an_upstream_that_is_none_is_named(name: str, url: str) -> None:
    with pytest.raises(ConfigError, match=r"gateway\.upstreams"):
        upstream(name, url)


def test_a_password_in_an_upstream_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError) as refused:
        upstream("a", "https://me:hunter2@a")
    assert "hunter2" not in str(refused.value)
