"""Whether the advice of an answer is right: the transfer runs again with what the answer says that helps.

The first sentence of `helps` has to make the transfer shorter by at least half of the seconds that the answer
gives to the cause. The first one of `does_not_help` has to change its length by less than a tenth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from situation.advice import advised, all_at_once
from situation.kinds import kind_of
from situation.score import PLACES, Scored, scored
from situation.trial import WORTH, WORTHLESS, lengths

#: The two lists of sentences that an answer has.
LISTS = ("helps", "does_not_help")
#: Answers that advise nothing about the transfer.
WITHOUT_ADVICE = ("nothing", "cannot-tell")
#: The share of the answers whose advice has to be right.
BAR = 0.90


@dataclass(frozen=True)
class Sentence:
    """of: the list that it stands in.  n: its place there."""

    text: str
    of: str
    n: int = 0


@dataclass(frozen=True)
class Advice:
    """A sentence, and how long the transfer is without and with what it advises."""

    sentence: Sentence
    #: What the answer gives to the cause.
    seconds: float
    before_s: float
    #: None if the sentence has no row in `ADVICE`.
    after_s: float | None
    #: The scenario has something that the sentence changes.
    is_change: bool

    @property
    def of(self) -> str:
        return self.sentence.of

    @property
    def is_right(self) -> bool:
        if self.after_s is None:
            return False
        saved = self.before_s - self.after_s
        if self.of == "helps":
            return saved >= WORTH * self.seconds
        return abs(saved) < WORTHLESS * self.before_s

    def __str__(self) -> str:
        said = f"{self.of}: {self.sentence.text}"
        if self.after_s is None:
            return f"{said}: not mapped"
        if not self.is_change:
            return f"{said}: the scenario has nothing of this kind"
        owned = f" (the cause has {self.seconds:.2f} s)" if self.of == "helps" else ""
        return f"{said}: {self.before_s:.2f} s become {self.after_s:.2f} s{owned}"


@dataclass
class Advised:
    """An answer, and what its sentences are worth."""

    answer: Scored
    advice: list[Advice] = field(default_factory=list)

    @property
    def cause(self) -> str:
        return self.answer.cause

    @property
    def has_advice(self) -> bool:
        return self.cause not in WITHOUT_ADVICE

    def is_right(self, of: str) -> bool:
        """Whether the first sentence of the list is. An answer without one is wrong."""
        return any(a.is_right for a in self.advice if a.of == of and a.sentence.n == 0)

    def failures(self) -> Iterator[str]:
        so = "" if self.answer.is_right else f"   (the cause is {self.answer.truth.cause})"
        for advice in self.advice:
            if not advice.is_right:
                yield f"{self.answer.kind} --seed {self.answer.seed}: {self.cause}: {advice}{so}"


def not_mapped(answers: list[Advised]) -> set[str]:
    return {a.sentence.text for one in answers for a in one.advice if a.after_s is None}


def named(name: str, seed: int, place: str = "sender", every: bool = False) -> Advised:
    """Asks about a transfer from one place, and tries what the answer advises.

    every: every sentence, not only the first ones.
    """
    answer = scored(name, seed)[PLACES.index(place)]
    found = Advised(answer)
    if answer.said and found.has_advice:
        share = next(c for c in answer.said["causes"] if c["cause"] == answer.cause)
        sentences = [Sentence(text, of, n) for of in LISTS for n, text in enumerate(share[of])]
        found.advice = tried(name, seed, share, [s for s in sentences if every or s.n == 0])
    return found


def tried(name: str, seed: int, share: dict[str, float | str], sentences: list[Sentence]) -> list[Advice]:
    """Runs a transfer again with what each sentence advises. share: `cause` and `seconds` of the answer."""
    kind = kind_of(name)
    drawn = kind.drawn(seed)
    [(_, delivered)] = lengths([drawn], kind, seed)
    # No transfer ends before its program has written the last message. Only a program that writes sooner
    # could change that, so all other advice is tried on a program that has all its data at once.
    before = drawn if share["cause"] == "sender-idle" else all_at_once(drawn, delivered)
    after = [advised(before, sentence.text, delivered) for sentence in sentences]
    (before_s, _), *rest = lengths([before, *(s for s in after if s)], kind, seed)
    lasts = iter(rest)
    return [
        Advice(sentence, float(share["seconds"]), before_s, next(lasts)[0] if s else None, s != before)
        for sentence, s in zip(sentences, after, strict=True)
    ]
