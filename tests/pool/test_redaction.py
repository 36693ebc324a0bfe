"""Secrets go, text stays. The planted secrets are put together at run time so that no scanner mistakes this file."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.redaction import redact, redacted

KEY = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3 + "abc=\n"
BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"

SECRETS = {
    "openai": "sk-" + KEY,
    "openai project": "sk-proj-" + KEY,
    "anthropic": "sk-ant-api03-" + KEY,
    "openrouter": "sk-or-v1-" + KEY,
    "stripe": "sk_live_" + KEY,
    "github": "ghp_" + KEY,
    "github oauth": "gho_" + KEY,
    "github fine-grained": "github_pat_11AB_" + KEY,
    "gitlab": "glpat-" + KEY[:20],
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "slack bot": "xoxb-" + "123456789012-abcdefABCDEF",
    "slack user": "xoxp-" + "123456789012-abcdefABCDEF",
    "google": "AIza" + KEY + "abc",
    "webhook": "whsec_" + KEY,
    "supabase": "sbp_" + KEY,
    "telegram": "123456789:AA" + KEY,
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NSJ9." + KEY,
}

AROUND = [
    "{}",
    "the key is {}, keep it",
    "密钥是{}，请保管",
    '"{}"',
    "x={}\n",
    "https://h/{}?a=b",
    "('{}')",
    "> {} <",
]


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("around", AROUND)
def test_a_key_of_known_shape_is_taken_wherever_it_stands(secret: str, around: str) -> None:
    clean = redact(around.format(secret))
    assert KEY[:20] not in clean
    assert secret not in clean
    assert "[redacted:" in clean
    assert redact(clean) == clean


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=hunter", "hunter"),
        ("export API_KEY=abc123def", "abc123def"),
        ("SECRET_KEY_BASE='ab-c1'", "ab-c1"),
        ('{"password": "hunter2"}', "hunter2"),
        ('{\\"password\\": \\"hunter2\\"}', "hunter2"),
        ('"clientSecret": "q9w8e7r6"', "q9w8e7r6"),
        ("password: s3cr3t!x", "s3cr3t!x"),
        ("password: str = 'sw0rdfish'", "sw0rdfish"),
        ("MYSQL_PASS=letmein", "letmein"),
        ("passphrase = 'correct horse battery staple'", "correct horse battery staple"),
        ("mysql --password hunter22 -u root", "hunter22"),
        ("curl --token=abc123def456", "abc123def456"),
        ("postgres://lin:p4ssw0rd@db/x", "p4ssw0rd"),
        ("redis://:p4ssw0rd@cache:6379", "p4ssw0rd"),
        ("Authorization: Basic bGluOmh1bnRlcjI=", "bGluOmh1bnRlcjI="),
        ('-H "Authorization: Bearer abcdefgh12345678"', "abcdefgh12345678"),
        ('"authorization": "Token abcdefgh1234"', "abcdefgh1234"),
        ("bearer abcdefgh12345678ijkl", "abcdefgh12345678ijkl"),
        ("密码：Abc12345，别忘了", "Abc12345"),
        ("口令是 hunter22", "hunter22"),
        ("password：hunter22", "hunter22"),
    ],
)
def test_a_value_after_a_telling_name_is_taken(text: str, secret: str) -> None:
    clean = redact(text)
    assert secret not in clean
    assert "[redacted:" in clean
    assert redact(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        BEGIN + "\n" + BODY + END,
        BEGIN + "\n" + BODY,  # its end was cut off
        BEGIN + "\n" + BODY[:50],
        BODY + END,  # its beginning was
        (BEGIN + "\n" + BODY + END).replace("\n", "\\n"),
        (BEGIN + "\n" + BODY + END).replace("\n", "\r\n"),
    ],
)
def test_a_private_key_is_taken_whole_or_cut(text: str) -> None:
    clean = redact(f"before\n{text}\nafter these words")
    assert "MIIEvQ" not in clean
    assert "abc=" not in clean
    assert clean.startswith("before\n")
    assert clean.endswith("after these words")


@pytest.mark.parametrize(
    "text",
    [
        f"commit {hashlib.sha1(b'x').hexdigest()}",
        "b16b00b5-0000-4000-8000-00000000b16f",
        "sha256:" + hashlib.sha256(b"x").hexdigest(),
        "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ=",
        "token = get_token()",
        "token = await fetch_token()",
        "password = user.password",
        "password = getpass()",
        "const token: string | undefined = props.token;",
        "the password: it must be long",
        "Password: required",
        "max_tokens: 4096, total_tokens=1200",
        '"input_tokens":1200,"output_tokens":88',
        "if token == 'abcdef1': pass",
        "token_count=12345678 tokenizer='gpt2-large'",
        "api_key=os.environ['KEY']",
        "OPENAI_API_KEY=$KEY",
        "PASSWORD=${PASSWORD}",
        "task-management-system-with-a-long-name",
        "risk-assessment-and-mitigation-plan",
        "see https://example.org:8080/a@b and mail lin@example.org",
        "git@github.com:lin/kettle.git",
        "密码学是一门学科，令牌环网络也是",
        "请先输入密码，然后点确定",
        "secretary: Ann",
        "tests_pass: 12",
        "pwd: /home/lin/kettle1",
        "key: value1",
        "the bearer of this letter",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----",
        "A line such as " + BEGIN + " begins a key; these words are no key.",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text).replace("[redacted:private-key]", BEGIN) == text


@given(st.text(max_size=200))
def test_redaction_is_idempotent_on_any_text(text: str) -> None:
    clean = redact(text)
    assert redact(clean) == clean


bits = st.sampled_from(
    [*SECRETS.values(), "password", "token", "api_key", "=", ": ", '"', "'", "\\", "\n", " ", "[", "]", "://", "@", "u:",
     "Authorization", "Bearer ", BEGIN, END, BODY, "字", "密码", "：", "--", "x1y2z3", "[redacted:token]", "[redacted:", "(", "$"]
)  # fmt: skip


@given(st.lists(bits, max_size=14).map("".join))
def test_redaction_is_idempotent_on_what_looks_like_secrets(text: str) -> None:
    clean = redact(text)
    assert redact(clean) == clean


@given(
    st.integers(1, 2000),
    st.sampled_from(["password", "token=", "://", "://a:", "Bearer ", BEGIN, "a@", "key:"]),
)
def test_no_text_makes_it_slow(count: int, part: str) -> None:
    clean = redact(part * count)  # a pattern that backtracks would not come back
    assert redact(clean) == clean


def test_the_mark_of_a_secret_is_seen() -> None:
    assert redacted("key [REDACTED:api-key]")
    assert not redacted("a redacted report")
