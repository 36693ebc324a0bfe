"""A model that concludes from each record what it says, and nothing else."""

import json
import re


def honest(purpose: str, user: str) -> str:
    """The reply to a dream's prompt, by its purpose."""
    if purpose == "score":
        return '{"keep": []}'
    if purpose == "merge":
        return _merged(user)
    records = re.findall(r"^(R\d{1,3}) \w+ [\d-]+: (.*)$", user, re.MULTILINE)
    if user.rstrip().endswith('{"notes": ['):
        return _json({"notes": [{"quotes": _quotes(label, said), "text": said} for label, said in records]})
    return _json(
        {"insights": [{"quotes": _quotes(label, said), **_conclusion(said)} for label, said in records]}
    )


def _merged(user: str) -> str:
    points = re.findall(r"^(P\d{1,3}) ([^|\n]*)", user, re.MULTILINE)
    if user.rstrip().endswith('{"notes": ['):
        return _json({"notes": [{"from": [label], "text": text} for label, text in points]})
    return _json({"insights": [{"from": [label], **_conclusion(text)} for label, text in points]})


def _quotes(label: str, said: str) -> list[dict[str, str]]:
    return [{"ref": label, "text": said}]


def _conclusion(said: str) -> dict[str, object]:
    return {"statement": said, "kind": "preference", "entities": [], "applies_when": "", "confidence": 0.9}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
