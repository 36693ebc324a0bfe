"""What an amendment makes of a raw memory: the same in every store."""

from msgspec.structs import replace

from dreamd.memories import Memory, Status
from dreamd.records import Amendment, trust_of


def amended(memory: Memory, amendment: Amendment, source_id: str = "") -> Memory:
    """The memory as the amendment leaves it; trust follows origin, `seq` and `filed` stay.

    `source_id` is where the amendment comes from. What a person had forgotten stays forgotten, whatever its log says.
    """
    foreign = memory.span is None or memory.span.source_id != source_id
    if memory.status == "forgotten" or (amendment.own_only and foreign):
        return memory
    origin = amendment.origin or memory.origin
    trust = trust_of(memory.role, amendment.origin) if memory.role and amendment.origin else memory.trust
    return replace(
        memory,
        ok=memory.ok if amendment.ok is None else amendment.ok,
        origin=origin,
        trust=trust,
        content=memory.content if amendment.text is None else amendment.text,
        trace=memory.trace if amendment.trace is None else amendment.trace,
        status=_status(memory.status, amendment.withdrawn),
    )


def _status(status: Status, withdrawn: bool | None) -> Status:
    if withdrawn:
        return "withdrawn"
    return "fresh" if withdrawn is False and status == "withdrawn" else status
