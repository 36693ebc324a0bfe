"""Which turn of a Codex thread a record belongs to, and what each turn holds.

Turns give records their identity (thread, turn, digest of the text and how often it came before in the turn), so that
a rollback or a discovered copy of the parent's history can withdraw them later: a record costs eight bytes here.
"""

from msgspec import Struct, field

from dreamd.formats._values import digest
from dreamd.records import Amendment, Origin, Role, Span

MAX_TURNS = 1000
MAX_DIGESTS = 16_000
MAX_GUESSES = 2_000
MAX_CALLS = 100
MAX_WAITING = 20


class Turn(Struct):
    key: str
    id: str = ""
    context: int = -1  # how many records came before its turn_context; -1: none came
    digests: bytes = b""
    user: bool = False  # somebody asked for it: what a rollback counts
    origin: Origin = "human"  # of the turn-starter before it


class Guess(Struct, array_like=True):
    """A user message that no event has confirmed yet."""

    turn: str
    record: bytes
    text: bytes
    human: bool  # what it was emitted as
    before: Origin  # of the turn-starter before it


class Call(Struct, array_like=True):
    turn: str
    record: bytes
    arguments: str
    failed: bool | None = None
    finished: bool = False  # its result came; events may still say that it failed


class Event(Struct, array_like=True):
    """A message event that waits for its equal response item."""

    role: Role
    text: str
    plain: str
    timestamp: str
    span: Span


class State(Struct):
    thread: str = ""
    met: bool = False  # its own session_meta was read
    project: str = ""
    subagent: bool = False
    program: bool = False  # `codex exec`, where programs do not count as human
    parent: str = ""  # named, and not yet decided what was copied from it
    copied: bool = False  # a second session_meta came
    dropping: bool = False  # inside history that is the parent's
    turns: list[Turn] = field(default_factory=list)
    kept: int = 0  # digests in all turns, or a few more
    last_id: str = ""
    unnamed: int = 0  # turns without id since the last one with
    closed: bool = True
    answered: bool = False  # the current turn holds an assistant's or tool's record
    started: bool = False  # the current turn has its starter
    origin: Origin = "human"
    counts: dict[bytes, int] = field(default_factory=dict)  # texts of this turn's response items
    asked: list[bytes] = field(default_factory=list)  # texts of this turn's user_message events
    said: list[bytes] = field(default_factory=list)  # assistant records since the last starter of this turn
    flushed: dict[bytes, bytes] = field(default_factory=dict)  # events that became records in this turn
    evented: bool = False  # the file has user_message events
    guesses: list[Guess] = field(default_factory=list)
    waiting: list[Event] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)
    last_line: bytes = b""

    def identity(self, turn: str, record: bytes) -> str:
        return f"codex:{self.thread}:{turn}:{record.hex()}"

    def turn(self) -> Turn:
        """The turn under way, opened without a name if need be."""
        if self.closed or not self.turns:
            self.open("")
        return self.turns[-1]

    def is_another(self, turn_id: str) -> bool:
        """Whether the log names a turn other than the one under way."""
        if self.closed or not self.turns:
            return True
        current = self.turns[-1]
        if current.id:
            return current.id != turn_id
        return self.answered or (current.user and not turn_id)

    def name(self, turn_id: str) -> None:
        """The turn under way turns out to be this one. Its key stays: records were named after it."""
        if turn_id:
            self.turns[-1].id = self.last_id = turn_id
            self.unnamed = 0

    def open(self, turn_id: str) -> None:
        if turn_id:
            self.last_id, self.unnamed = turn_id, 0
        else:
            self.unnamed += 1
        key = turn_id or f"{self.last_id}#{self.unnamed}"
        if any(turn.key == key for turn in self.turns):
            key = f"{key}~{len(self.turns)}"
        self.turns.append(Turn(key, turn_id, origin=self.origin))
        self.closed = self.answered = self.started = False
        self.counts, self.asked, self.said, self.flushed = {}, [], [], {}
        self._forget_beyond_bounds()

    def _forget_beyond_bounds(self) -> None:
        """Let the oldest turns go: a rollback does not reach so far."""
        while len(self.turns) > MAX_TURNS or (self.kept > MAX_DIGESTS and len(self.turns) > 1):
            self.kept -= len(self.turns.pop(0).digests) // 8

    def start(self, origin: Origin) -> None:
        """What the assistant says from here on answers a user item of this origin (J6)."""
        self.origin, self.started, self.said = origin, True, []
        self.turn().user |= origin != "injected"

    def record(self, kind: str, text: str) -> bytes:
        """The digest of a new record of this turn; an equal text gets another one each time."""
        turn, plain = self.turn(), digest(kind, text)
        times = self.counts.get(plain, 0)
        self.counts[plain] = times + 1
        made = digest(plain, str(times))
        turn.digests = (turn.digests + made)[-MAX_DIGESTS * 8 :]
        self.kept += 1
        if len(self.counts) > MAX_DIGESTS:
            self.counts.pop(next(iter(self.counts)))
        return made

    def withdrawn(self, turn: Turn, first: int | None = None) -> list[Amendment]:
        """Retractions of a turn's records, or of its `first` ones, which are forgotten."""
        end = len(turn.digests) if first is None else first * 8
        gone, turn.digests = turn.digests[:end], turn.digests[end:]
        cut = (gone[at : at + 8] for at in range(0, len(gone), 8))
        return [Amendment(identity=self.identity(turn.key, record), withdrawn=True) for record in cut]

    def roll_back(self, count: int) -> list[Amendment]:
        """Take back the last `count` turns that somebody asked for, with all that came since."""
        asked = [at for at, turn in enumerate(self.turns) if turn.user]
        if not asked or count < 1:
            return []
        first = asked[max(len(asked) - count, 0)]
        gone, self.turns = self.turns[first:], self.turns[:first]
        self.origin, self.closed = gone[0].origin, True
        return [amendment for turn in gone for amendment in self.withdrawn(turn)]

    def cut_copied(self, theirs: set[str]) -> list[Amendment]:
        """Withdraw all before the first turn_context whose turn the parent lacks (J27); with none, all there is."""
        own = (at for at, turn in enumerate(self.turns) if turn.context >= 0 and turn.id not in theirs)
        first = next(own, len(self.turns))
        gone, self.turns = self.turns[:first], self.turns[first:]
        amended = [amendment for turn in gone for amendment in self.withdrawn(turn)]
        self.dropping = not self.turns
        if self.turns:
            self.parent = ""
            amended += self.withdrawn(self.turns[0], self.turns[0].context)
        else:
            self.closed, self.waiting = True, []
        return amended

    def asker(self) -> Origin:
        if self.subagent:
            return "subagent"
        return "scheduled" if self.program else "human"

    def confirm(self, text: bytes) -> list[Amendment]:
        """A user_message event came: the guesses of this turn that it proves human."""
        turn = self.turn().key
        proven = [guess for guess in self.guesses if (guess.turn, guess.text) == (turn, text)]
        self.guesses = [guess for guess in self.guesses if guess not in proven]
        wrong = [guess for guess in proven if not guess.human]
        if wrong:
            self.start(self.asker())
        return [self._amended(guess, self.asker()) for guess in wrong]

    def resolve(self, *, over: bool) -> list[Amendment]:
        """Guesses without an equal event in their turn were wrong, if the file has such events at all.

        `over`: no event can come any more; else the current turn's may still be proven.
        """
        current = self.turns[-1].key if self.turns else ""
        wrong = [guess for guess in self.guesses if guess.human] if self.evented else []
        amended = [amendment for guess in wrong for amendment in self._disproved(guess)]
        open_ = [] if over else [guess for guess in self.guesses if guess.turn == current]
        if self.evented:
            self.guesses = [Guess(g.turn, g.record, g.text, human=False, before=g.before) for g in open_]
        else:
            self.guesses = [g for g in self.guesses if g.human or g in open_][-MAX_GUESSES:]
        return amended

    def disprove_earlier(self) -> list[Amendment]:
        """The file's first event shows that it has such events: earlier turns' guesses lack theirs."""
        current = self.turns[-1].key
        earlier = [guess for guess in self.guesses if guess.turn != current]
        self.guesses = [guess for guess in self.guesses if guess.turn == current]
        return [self._amended(guess, "injected") for guess in earlier if guess.human]

    def _disproved(self, guess: Guess) -> list[Amendment]:
        amended = [self._amended(guess, "injected")]
        if self.turns and self.turns[-1].key == guess.turn and guess.before != self.origin:
            self.origin = guess.before
            said = (self.identity(guess.turn, record) for record in self.said)
            amended += [Amendment(identity=identity, origin=guess.before) for identity in said]
        return amended

    def _amended(self, guess: Guess, origin: Origin) -> Amendment:
        return Amendment(identity=self.identity(guess.turn, guess.record), origin=origin)

    def remember_call(self, call_id: str, call: Call) -> None:
        self.calls.pop(call_id, None)
        self.calls[call_id] = call
        while len(self.calls) > MAX_CALLS:
            self.calls.pop(next(iter(self.calls)))
