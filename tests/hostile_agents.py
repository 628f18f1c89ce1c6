"""Agents that fail in every way that an agent can, each on a certain pair."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cribai import Agent, ViewBatch, make_agent


class Uniform(Agent):
    """Plays at random; derived agents misbehave when they see a view of their pair."""

    def __init__(self, pair: int = -1) -> None:
        self.pair = pair
        self.player = make_agent("random")

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        if (views.array["game"] // 2 == self.pair).any():
            self.misbehave()
        return self.player.act(views)

    def misbehave(self) -> None:
        pass


class Killed(Uniform):
    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class KilledOnce(Uniform):
    """Kills its process the first time, of which a file tells."""

    def __init__(self, pair: int, mark: str) -> None:
        super().__init__(pair)
        self.mark = Path(mark)

    def misbehave(self) -> None:
        if not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Vanishing(Uniform):
    """Ends its process as if all were well."""

    def misbehave(self) -> None:
        os._exit(0)


class Quitting(Uniform):
    def misbehave(self) -> None:
        sys.exit(0)


class Raising(Uniform):
    def misbehave(self) -> None:
        raise ZeroDivisionError("it does\nnot divide")


class RaisingOnce(Uniform):
    """Raises the first time that one of its kind is asked in this process, and remembers games."""

    raised = False

    def __init__(self, pair: int) -> None:
        super().__init__(pair)
        self.memory = Remembering()

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        self.memory.act(views)
        return super().act(views)

    def games_ended(self, games: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        self.memory.games_ended(games, scores)

    def misbehave(self) -> None:
        if not RaisingOnce.raised:
            RaisingOnce.raised = True
            raise ZeroDivisionError


class Cheating(Uniform):
    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        return np.where(views.array["game"] // 2 == self.pair, 99, super().act(views))


class Remembering(Uniform):
    """Complains when it meets a game after its end, or another one in its place."""

    complaints: ClassVar[list[str]] = []

    def __init__(self) -> None:
        super().__init__()
        self.ended: set[int] = set()
        self.decisions: dict[int, int] = {}

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        for view in views:
            if view.game in self.ended:
                self.complain(f"game {view.game} has ended")
            if view.decision <= self.decisions.get(view.game, -1):
                self.complain(f"game {view.game} begins again")
            self.decisions[view.game] = view.decision
        return super().act(views)

    def games_ended(self, games: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        assert len(games) == len(scores)
        for game in games.tolist():
            if game in self.ended:
                self.complain(f"game {game} ends again")
            self.ended.add(game)

    def complain(self, what: str) -> None:
        self.complaints.append(
            what
        )  # A chunk that fails is played again, so raising is too little.
        raise LookupError(what)


class Slow(Uniform):
    """Takes its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        time.sleep(self.seconds)
        return super().act(views)
