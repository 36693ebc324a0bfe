"""A store as a good memory would leave it after a world, to be spoilt one thing at a time."""

from datetime import UTC, datetime

from msgspec.structs import replace

from dreamd.eval.pouring import pour
from dreamd.eval.truth import Plant, Sort, World
from dreamd.memories import Memory, Status, derived_id
from dreamd.records import Trust
from dreamd.stores.base import Changes, Contradiction, Store
from dreamd.stores.inmemory import InMemoryStore

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def insight(plant: Plant, status: Status = "long_term", text: str = "", **more: object) -> Memory:
    statement = text or plant.says[0]
    made = Memory(
        memory_id=derived_id("insight", plant.agent, statement, plant.memory_ids), type="insight", content=statement,
        agent=plant.agent, window=NOW.date(), received_at=NOW, ref_ids=plant.memory_ids, trust=Trust.HUMAN,
        status=status, kind="fact",
    )  # fmt: skip
    return replace(made, **more)


def first(world: World, sort: Sort) -> Plant:
    return next(plant for plant in world.plants if plant.sort == sort)


def kept_well(world: World) -> Store:
    """All that must be is long-term, both sides of what is opposed stand and are linked, what was corrected is history."""
    store = InMemoryStore()
    pour(store, world.lines, NOW)
    plants = {plant.name: plant for plant in world.plants}
    kept = [insight(plant) for plant in world.plants if plant.verdict == "must"]
    sides = {plant.name: insight(plant, "candidate") for plant in world.plants if plant.sort == "opposed"}
    old = [
        insight(plant, "superseded", valid_until=NOW) for plant in world.plants if plant.sort == "corrected"
    ]
    links = [
        Contradiction(
            agent=one.agent,
            left_id=one.memory_id,
            right_id=sides[plants[name].other].memory_id,
            reason="x",
            at=NOW,
        )
        for name, one in sides.items()
    ]
    store.write(Changes(memories=(*kept, *sides.values(), *old), contradictions=links))
    return store
