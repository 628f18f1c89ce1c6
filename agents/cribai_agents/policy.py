"""The agent named `policy`: networks trained by self-play for the lays and the tosses.

The network of the lays gives each rank that may be laid a value in points. Tosses are valued by the
exact analysis, which a second network corrects. How they are trained is in `cribai.training`.
"""

from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from cribai.agent import Agent, RankedAction
from cribai.analysis.knowledge import LIBRARY_SIZE, TARGET, covers
from cribai.analysis.policy import CRIB_MEAN, HAND, OTHER_PEGS, OWN_PEGS, VALUE
from cribai.analysis.tossing import NUM_TOSSES
from cribai.cards import NUM_RANKS
from cribai.engine.dealing import below, combine
from cribai.engine.jit import kernel
from cribai.engine.state import DISCARD
from cribai.errors import AgentError
from cribai.rules import Rules
from cribai.training.checkpoint import Weights, load_weights, read_weights
from cribai.training.deals import NUM_DEALS
from cribai.training.features import KEPT, NUM_INPUTS, lay_features
from cribai.training.network import WIN_OUTPUT
from cribai.training.toss_features import (
    BELOW_BEST,
    MAX_CANDIDATES,
    NUM_TOSS_INPUTS,
    analyzed,
    toss_candidates,
)
from cribai.training.toss_selfplay import toss_options
from cribai.views import View, ViewBatch

SHIPPED: Final = "policy.safetensors"

BLOCK: Final = 64
"""Rows in a pass of the network, filled up if there are fewer: the last bits of its outputs depend
on the number of rows."""

GRAIN: Final = 1024.0
"""Values are compared in steps of one over this many points, coarser than rounding errors are."""

_CHANCES: Final = 1 << 30
_LARGEST: Final = 1000.0


class PolicyAgent(Agent):
    """Networks for the lays and the tosses, the latter on top of the exact analysis.

    Args:
        checkpoint: Path of the weights; the shipped ones by default.
        device: Where the networks run: `cpu`, `cuda` and so on.
        temperature: Points by which a lay is worse for it to be a factor e less likely; at 0 the
            best is laid.
        tosses: `network` to correct the analysis by the network, if the weights have one;
            `analysis` to toss by the analysis alone.
        deals: Deals of the library over which a toss is played out when the end is near.
        weights: Networks to play by in place of a checkpoint, for training; no spec can name them.

    Raises:
        AgentError: An option is out of range, or the device is not there.
        CheckpointError: The weights cannot be used.
    """

    name = "policy"

    def __init__(
        self,
        checkpoint: str | None = None,
        *,
        device: str = "cpu",
        temperature: float = 0.0,
        tosses: str = "network",
        deals: int = NUM_DEALS,
        weights: Weights | None = None,
    ) -> None:
        check_number("temperature", temperature, float, 0, _LARGEST)
        check_number("deals", deals, int, 1, LIBRARY_SIZE)
        if tosses not in ("network", "analysis"):
            raise AgentError(f"tosses is {tosses!r}; it must be network or analysis.")
        self.temperature = float(temperature)
        self.device = _device(device)
        if weights is None:
            weights = _shipped() if checkpoint is None else load_weights(Path(str(checkpoint)))
        self.lays = weights.lays.to(self.device).eval()
        self.tosses = None
        if weights.tosses is not None and tosses == "network":
            self.tosses = weights.tosses.to(self.device).eval()
        self._options = toss_options(deals=deals)
        self._block = np.zeros((BLOCK, NUM_INPUTS), np.float32)

    def check_rules(self, rules: Rules) -> None:
        """Refuses all but the six-card game for two players to 121 or fewer, without variants."""
        if not covers(rules) or rules.target > TARGET:
            raise AgentError(
                f"The agent {self.name!r} plays the six-card game for two players to {TARGET} or"
                f" fewer without variants, for which its networks were trained, not {rules.name!r};"
                " choose other rules or another agent."
            )

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        """Returns an action for each view; see `Agent.act`.

        Raises:
            AgentError: The agent does not play by the rules.
        """
        self.check_rules(views.rules)
        actions = np.empty(len(views), np.int64)
        is_toss = views.array["phase"] == DISCARD
        tosses = np.flatnonzero(is_toss)
        if tosses.size:
            candidates, values = self._value_tosses(views, tosses)
            best = np.rint(GRAIN * values).argmax(axis=1)
            actions[tosses] = candidates[np.arange(len(tosses)), best]
        lays = np.flatnonzero(~is_toss)
        if lays.size:
            actions[lays] = NUM_TOSSES + self._choose_slots(views, lays)
        return actions

    def _value_tosses(
        self, views: ViewBatch, places: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Returns the candidates of some tosses, and their values in points, arrays (n, k)."""
        candidates, rows = toss_candidates(views, places, self._options)
        values = rows[:, BELOW_BEST].astype(np.float64)
        if self.tosses is not None:
            several = np.flatnonzero(np.repeat(candidates[:, 1] >= 0, MAX_CANDIDATES))
            block = np.zeros((BLOCK, NUM_TOSS_INPUTS), np.float32)
            with torch.inference_mode():
                for start in range(0, len(several), BLOCK):
                    chosen = several[start : start + BLOCK]
                    block[: len(chosen)] = rows[chosen]
                    outputs = self.tosses(torch.from_numpy(block).to(self.device))
                    values[chosen] += outputs[: len(chosen), 0].cpu().numpy()
        values = values.reshape(candidates.shape)
        values[candidates < 0] = -np.inf
        return candidates, values

    def _choose_slots(self, views: ViewBatch, places: NDArray[np.int64]) -> NDArray[np.int64]:
        ranks, playable = _choices(views.array[places])
        slots = playable.argmax(axis=1)
        open_ = np.flatnonzero(playable.sum(axis=1) > 1)
        if open_.size:
            worths = self._value_lays(views, places[open_], ranks[open_])
            worths[~playable[open_]] = -np.inf
            if self.temperature > 0:
                keys = views.array["key"][places[open_]]
                slots[open_] = _draw_slots(_chances(worths, self.temperature), keys)
            else:
                slots[open_] = np.rint(GRAIN * worths).argmax(axis=1)
        return slots

    def _value_lays(
        self, views: ViewBatch, places: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Returns the values of laying kept cards, in points.

        Args:
            views: The views.
            places: int64 array (n,), in which of them.
            ranks: int64 array (n, 4), the kept cards' ranks.

        Returns:
            float64 array (n, 4); those of cards that are no choice mean nothing.
        """
        values: NDArray[np.float64] = np.take_along_axis(
            self._outputs(views, places)[:, :NUM_RANKS], ranks, axis=1
        )
        return values

    def _outputs(self, views: ViewBatch, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the network's outputs of some lays, float64 array (n, NUM_OUTPUTS)."""
        found = []
        with torch.inference_mode():
            for start in range(0, len(places), BLOCK):
                chosen = places[start : start + BLOCK]
                lay_features(views, chosen, self._block)
                rows = torch.from_numpy(self._block).to(self.device)
                found.append(self.lays(rows)[: len(chosen)].cpu().numpy().astype(np.float64))
        return np.concatenate(found)

    def explain(self, view: View) -> list[RankedAction]:
        """Returns the legal actions with their values, best first; of equal ranks one card.

        The value of a toss is in points, relative to the best by the analysis; its parts are those
        of its points and the chance to win, all by the analysis. Only tosses that come into
        question are given.
        The value of a lay is in points, relative to the mean of the lays; its parts are the chance
        that it is chosen (at temperature 1 if the agent's is 0), what it pegs now, and the chance
        to win that the network sees, the same for all.

        Raises:
            AgentError: The agent does not play by the rules.
        """
        self.check_rules(view.rules)
        views = ViewBatch(np.array([view.record], view.record.dtype), view.rules)
        found = (
            self._explain_tosses(view, views)
            if view.is_discard
            else self._explain_lays(view, views)
        )
        return sorted(found, key=lambda ranked: -ranked.value)

    def _explain_tosses(self, view: View, views: ViewBatch) -> list[RankedAction]:
        candidates, values = self._value_tosses(views, np.zeros(1, np.int64))
        record = analyzed(view, self._options)
        found = []
        for toss, value in zip(candidates[0].tolist(), values[0].tolist()):
            if toss >= 0:
                row = record["parts"][toss]
                parts = {
                    "hand": float(row[HAND]),
                    "crib": float(row[CRIB_MEAN]),
                    "pegging": float(row[OWN_PEGS] - row[OTHER_PEGS]),
                    "points": float(row[VALUE]),
                    "win": float(min(max((record["worths"][toss] + 1) / 2, 0.0), 1.0)),
                }
                found.append(RankedAction(toss, value, parts))
        return found

    def _explain_lays(self, view: View, views: ViewBatch) -> list[RankedAction]:
        ranks, playable = _choices(views.array)
        slots = np.flatnonzero(playable[0]).tolist()
        first = np.zeros(1, np.int64)
        outputs = self._outputs(views, first)[0]
        worths = self._value_lays(views, first, ranks)[0, slots]
        chances = _chances(worths[np.newaxis], self.temperature or 1.0)[0]
        win = float(1 / (1 + np.exp(-outputs[WIN_OUTPUT])))
        return [
            RankedAction(
                NUM_TOSSES + slot,
                float(worth - worths.mean()),
                {
                    "probability": float(chance),
                    "points": float(view.play_points(view.kept[slot])),
                    "win": win,
                },
            )
            for slot, worth, chance in zip(slots, worths, chances)
        ]


def _choices(array: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns the kept cards' ranks and which are choices, both arrays (n, 4).

    Of cards of one rank that may be laid, the first is the choice.
    """
    ranks = array["hand"][:, :KEPT].astype(np.int64) >> 2
    playable = (array["playable"][:, np.newaxis] >> np.arange(KEPT)) & 1 == 1
    choices = playable.copy()
    for slot in range(1, KEPT):
        same = playable[:, :slot] & (ranks[:, :slot] == ranks[:, slot : slot + 1])
        choices[:, slot] &= ~same.any(axis=1)
    return ranks, choices


def _chances(worths: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Returns how likely each of the values in a row is chosen."""
    rounded = np.rint(GRAIN * worths) / GRAIN
    weights = np.exp((rounded - rounded.max(axis=1, keepdims=True)) / temperature)
    chances: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return chances


def _draw_slots(chances: NDArray[np.float64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns a place of each row, drawn by the row's key."""
    words = np.empty(len(keys), np.float64)
    _draw_words(np.ascontiguousarray(keys), words)
    slots: NDArray[np.int64] = (chances.cumsum(axis=1) <= words[:, np.newaxis]).sum(axis=1)
    # Rounding may leave the sum a little below one: then the last that is possible is drawn.
    last = KEPT - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
    return np.minimum(slots, last)


@kernel
def _draw_words(keys: Any, words: Any) -> None:
    """Writes a number from 0 to 1 for each key."""
    for i in range(keys.shape[0]):
        words[i] = below(combine(keys[i], 0), _CHANCES) / _CHANCES


@lru_cache(maxsize=1)
def _shipped() -> Weights:
    return read_weights((files("cribai_agents") / SHIPPED).read_bytes(), SHIPPED)


def _device(name: object) -> torch.device:
    try:
        device = torch.device(str(name))
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError):
        raise AgentError(
            f"device is {name!r}; it must be one that PyTorch finds here, such as cpu."
        ) from None
    return device


def check_number(name: str, value: object, kind: type, low: float, high: float) -> None:
    """Refuses an option that is no number of a kind, int or float, or out of bounds."""
    kinds = (int,) if kind is int else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not low <= value <= high:
        raise AgentError(
            f"{name} is {value!r}; it must be a number of type {kind.__name__}"
            f" from {low} to {high}."
        )
