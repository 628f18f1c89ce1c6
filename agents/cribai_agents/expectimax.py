"""The agent named `expectimax`: exact tosses, and plays by expectation over the opponent's hands.

It tosses for the exact average of hand and crib, the pegging that its kept hand brings, and what
those points are worth at the score. It plays by searching the rest of the deal against the hands
that the opponent may hold, each as likely as the belief makes it.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from cribai.agent import Agent, RankedAction
from cribai.analysis.knowledge import (
    ACC,
    DEALER,
    LIBRARY_SIZE,
    NUM_KEPT,
    PLAIN,
    PONE,
    QUADRUPLE,
    TARGET,
    WIN,
    covers,
    load_knowledge,
    read_knowledge,
)
from cribai.analysis.lays import LAYS, best_slot, value_lays
from cribai.analysis.pegging import CAUTIOUS, GREEDY, SEES_ALL
from cribai.analysis.policy import CRIB_MEAN, HAND, OTHER_PEGS, OWN_PEGS, VALUE
from cribai.analysis.positions import POINTS
from cribai.analysis.tosses import TOSSES, value_tosses
from cribai.analysis.tossing import NUM_TOSSES
from cribai.engine.jit import kernel
from cribai.engine.state import DISCARD, compiled_rules
from cribai.errors import AgentError
from cribai.rules import Rules
from cribai.views import View, ViewBatch

T = TypeVar("T")

LARGEST: Final = 1_000_000

STAKES: Final = {
    "points": POINTS,
    "win": WIN,
    "plain": PLAIN,
    "quadruple": QUADRUPLE,
    "acc": ACC,
}
REPLIES: Final = {"sees_all": SEES_ALL, "greedy": GREEDY, "cautious": CAUTIOUS}
PRESETS: Final = {
    "fast": {"samples": 3, "exact_cribs": False, "deals": 8, "horizon": 15},
    "standard": {"samples": 80, "exact_cribs": True, "deals": 64, "horizon": 45},
    "deep": {"samples": 400, "exact_cribs": True, "deals": 256, "horizon": 60},
}


class ExpectimaxAgent(Agent):
    """Exact tosses, and plays by expectation over the opponent's hands.

    Args:
        preset: Where on the curve of strength against speed: `fast`, `standard` or `deep`; the
            next four options change single settings of it.
        samples: Hands of the opponent that a lay is searched against; all of them if they are no
            more.
        exact_cribs: Whether the crib is averaged anew for each hand or read from a table.
        deals: Deals of the library over which a toss is played out when the end is near.
        horizon: The end is near when a side is this near the target.
        objective: What is played for: `points`, `win`, or the match points of a table (`plain`,
            `quadruple`, `acc`).
        replies: How the opponent is taken to reply: `cautious`, `greedy` or `sees_all`.
        doubt: Added to the chance that the opponent keeps any hand.
        greed: How much less likely, as a logarithm, each point passed up makes an opponent's lay.
        knowledge: Path of tables other than the shipped ones.

    Raises:
        AgentError: An option is out of range.
    """

    name = "expectimax"

    def __init__(
        self,
        preset: str = "standard",
        *,
        samples: int | None = None,
        exact_cribs: bool | None = None,
        deals: int | None = None,
        horizon: int | None = None,
        objective: str = "win",
        replies: str = "cautious",
        doubt: float = 0.02,
        greed: float = 1.5,
        knowledge: str | None = None,
    ) -> None:
        settings = dict(_choice("preset", preset, PRESETS))
        given = {
            "samples": samples,
            "exact_cribs": exact_cribs,
            "deals": deals,
            "horizon": horizon,
        }
        settings.update({name: value for name, value in given.items() if value is not None})
        for name, low, high in (
            ("samples", 1, NUM_KEPT),
            ("deals", 1, LIBRARY_SIZE),
            ("horizon", 0, TARGET),
        ):
            _check(name, settings[name], int, low, high)
        if not isinstance(settings["exact_cribs"], bool):
            raise AgentError(
                f"exact_cribs is {settings['exact_cribs']!r}; it must be true or false."
            )
        _check("doubt", doubt, float, 0, LARGEST)
        _check("greed", greed, float, 0, LARGEST)
        self._stake = _choice("objective", objective, STAKES)
        self._tosses = np.zeros(1, TOSSES)
        self._tosses["horizon"] = settings["horizon"]
        self._tosses["num_deals"] = settings["deals"]
        self._tosses["exact_cribs"] = settings["exact_cribs"]
        self._lays = np.zeros(1, LAYS)
        self._lays["horizon"] = settings["horizon"]
        self._lays["samples"] = settings["samples"]
        self._lays["replies"] = _choice("replies", replies, REPLIES)
        self._lays["doubt"] = doubt
        self._lays["greed"] = greed
        self._path = knowledge
        self._knowledge = _tables(knowledge)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_knowledge"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        # Tables read anew are read-only; copied ones would not be, and be compiled for once more.
        self.__dict__.update(kept)
        self._knowledge = _tables(self._path)

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view; see `Agent.act`.

        Raises:
            AgentError: The analysis does not hold for the rules.
        """
        self._take_rules(views.rules)
        actions = np.empty(len(views), np.int64)
        rules = compiled_rules(views.rules)
        _act(views.array, rules, self._knowledge, self._tosses, self._lays, actions)
        return actions

    def explain(self, view: View) -> list[RankedAction]:
        """Returns the legal actions with their values, best first; of equal ranks one card.

        The value of a toss is the chance to win, the match points won on average, or points, as the
        objective has it; its parts are those of its points. The value of a lay is what the search
        maximises: points pegged, weighted by what they are worth at the score, or near the end the
        worth of the game, from -1 to 1 when the win alone counts. A lone choice has the value 0.

        Raises:
            AgentError: The analysis does not hold for the rules.
        """
        self._take_rules(view.rules)
        array = np.array([view.record], view.record.dtype)
        _value(array, compiled_rules(view.rules), self._knowledge, self._tosses, self._lays)
        found = []
        if view.is_discard:
            for toss, row in enumerate(self._tosses[0]["parts"]):
                parts = {
                    "hand": float(row[HAND]),
                    "crib": float(row[CRIB_MEAN]),
                    "pegging": float(row[OWN_PEGS] - row[OTHER_PEGS]),
                    "points": float(row[VALUE]),
                }
                worth = float(self._tosses[0]["worths"][toss])
                found.append((worth, RankedAction(toss, self._shown_value(worth), parts)))
        else:
            for slot in np.flatnonzero(self._lays[0]["considered"]).tolist():
                now = {"points": float(view.play_points(view.kept[slot]))}
                worth = float(self._lays[0]["worths"][slot])
                found.append((worth, RankedAction(NUM_TOSSES + slot, worth, now)))
            # The sort is stable: of equal lays the highest card comes first, as it is laid.
            found.reverse()
        return [ranked for _, ranked in sorted(found, key=lambda pair: -pair[0])]

    def _shown_value(self, worth: float) -> float:
        if self._tosses[0]["stake"] != WIN:
            return worth
        return min(max((worth + 1) / 2, 0.0), 1.0)

    def check_rules(self, rules: Rules) -> None:
        """Refuses all but the six-card game for two players, and its variants but other targets.

        Its tables come from the standard game; see `covers` and `Agent.check_rules`.
        """
        if not covers(rules):
            raise AgentError(
                f"The agent {self.name!r} plays the six-card game for two players without variants,"
                f" for which its tables were made, not {rules.name!r};"
                " choose other rules or another agent."
            )

    def _take_rules(self, rules: Rules) -> None:
        self.check_rules(rules)
        # Board position is known for games to 121, and so for shorter ones; without it, points.
        known = rules.target <= TARGET
        self._lays["target"] = min(rules.target, TARGET)
        self._tosses["stake"] = self._lays["stake"] = self._stake if known else POINTS


def _tables(path: str | None) -> NDArray[Any]:
    return load_knowledge() if path is None else read_knowledge(path)


def _check(name: str, value: object, kind: type, low: int, high: int) -> None:
    kinds = (int,) if kind is int else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not low <= value <= high:
        raise AgentError(
            f"{name} is {value!r}; it must be a number of type {kind.__name__}"
            f" from {low} to {high}."
        )


def _choice(name: str, chosen: object, choices: Mapping[str, T]) -> T:
    if isinstance(chosen, str) and chosen in choices:
        return choices[chosen]
    raise AgentError(f"{name} is {chosen!r}; it must be one of {', '.join(choices)}.")


@kernel
def _act(views: Any, rules: Any, knowledge: Any, tosses: Any, lays: Any, actions: Any) -> None:
    for place in range(views.shape[0]):
        view = views[place]
        _value_one(view, rules[0], knowledge[0], tosses[0], lays[0])
        if view["phase"] == DISCARD:
            best = 0
            for toss in range(1, NUM_TOSSES):
                if tosses[0]["worths"][toss] > tosses[0]["worths"][best]:
                    best = toss
            actions[place] = best
        else:
            actions[place] = NUM_TOSSES + best_slot(lays[0])


@kernel
def _value(views: Any, rules: Any, knowledge: Any, tosses: Any, lays: Any) -> None:
    _value_one(views[0], rules[0], knowledge[0], tosses[0], lays[0])


@kernel
def _value_one(view: Any, rules: Any, tables: Any, tosses: Any, lays: Any) -> None:
    if view["phase"] != DISCARD:
        value_lays(view, rules, tables, lays)
        return
    for i in range(6):
        tosses["cards"][i] = view["hand"][i]
    shift = TARGET - lays["target"]
    tosses["role"] = DEALER if view["dealer"] == 0 else PONE
    tosses["own_score"] = view["scores"][0] + shift
    tosses["other_score"] = view["scores"][1] + shift
    value_tosses(tables, rules["table"], tosses)
