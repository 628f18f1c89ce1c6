"""`cribai/Solitaire-v0`: dealt cards are split into hands for the most points, card by card."""

import copy
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.analysis.splits import HAND_SIZE, MAX_HANDS, best_split
from cribai.cards import DECK_SIZE, cards_text
from cribai.counting import count_show
from cribai.engine.state import compiled_rules
from cribai.envs.encoding import ACTION_MASK
from cribai.envs.table_env import checked_action, checked_illegal_action
from cribai.errors import ConfigError, IllegalActionError
from cribai.game_batch import checked_seed
from cribai.rules import Rules, get_rules


class SolitaireEnv(gymnasium.Env[Any, Any]):
    """One player places dealt cards, the lowest first, into hands of four with a common starter.

    All cards lie open, so that the best split is a matter of thought alone: nothing is left to
    chance after the deal. Each hand is scored as an ordinary one; there is no crib, and a jack as
    the starter is no heels (so hands are scored in Criboku).

    An action is the number of the hand that the card goes to; hands that are full are masked. The
    reward is what a hand scores when it is full, so that an episode's rewards add up to its points.
    An illegal action takes back all points. At the end `info` has "points", "optimum", the points
    of the best split (`cribai.analysis.splits.best_split`), and "illegal_action".

    An observation is a dict of int8 arrays, with h hands and d different cards (52 and the jokers):

    - `action_mask` (h,): 1 for each hand that is not full; all 0 at the end.
    - `card` (d,): the card to place.
    - `rest` (d,): the cards to be placed after it.
    - `hands` (h, d): the cards in each hand.
    - `starter` (d,): the starter.

    Cards are counts, at most the decks of the rules.

    Args:
        rules: Rules of the show and the deck, or a preset's name.
        num_hands: Hands to fill, 1 to 5.
        illegal_action: `lose` ends the episode, `raise` raises `IllegalActionError`.
        render_mode: `ansi` for text, or None.

    Raises:
        CribaiError: An argument is unknown or out of range.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 -- the base class declares it so
        "render_modes": ["ansi"],
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: str | Rules = "standard",
        num_hands: int = 3,
        *,
        illegal_action: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigError(f"Unknown render_mode {render_mode!r}; choose ansi or none.")
        if num_hands not in range(1, MAX_HANDS + 1):
            raise ConfigError(f"num_hands is {num_hands!r}; it must be 1 to {MAX_HANDS}.")
        self.render_mode = render_mode
        self.rules = get_rules(rules)
        self.num_hands = num_hands
        self.raises = checked_illegal_action(illegal_action) == "raise"
        self.action_space = spaces.Discrete(num_hands)
        num_decks, num_jokers = divmod(self.rules.deck_size, DECK_SIZE)
        self._num_kinds = DECK_SIZE + num_jokers
        self.observation_space = spaces.Dict(
            {
                ACTION_MASK: spaces.Box(0, 1, (num_hands,), np.int8),
                "card": spaces.Box(0, 1, (self._num_kinds,), np.int8),
                "rest": spaces.Box(0, num_decks, (self._num_kinds,), np.int8),
                "hands": spaces.Box(0, num_decks, (num_hands, self._num_kinds), np.int8),
                "starter": spaces.Box(0, 1, (self._num_kinds,), np.int8),
            }
        )
        self.hands: list[list[int]] = []
        self.rest: list[int] = []
        self.starter = 0
        self.points = 0
        self._cards: list[int] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.int8]], dict[str, Any]]:
        """Deals the cards.

        Args:
            seed: Deals from here on follow from it; None goes on with the last seed.
            options: There are none.

        Returns:
            The observation, and `info`.

        Raises:
            ConfigError: There are options.
            RulesError: The seed is not an integer from 0 to 2**64 - 1.
        """
        for name in options or {}:
            raise ConfigError(f"Unknown option {name!r} of reset; leave it out.")
        super().reset(seed=None if seed is None else int(checked_seed(seed)))
        deck = compiled_rules(self.rules)[0]["deck"][: self.rules.deck_size]
        dealt = self.np_random.permutation(deck)[: HAND_SIZE * self.num_hands + 1].tolist()
        self.starter = dealt.pop()
        self._cards = sorted(dealt)
        self.rest = list(self._cards)
        self.hands = [[] for _ in range(self.num_hands)]
        self.points = 0
        return self._observe()

    def step(
        self, action: Any
    ) -> tuple[dict[str, NDArray[np.int8]], float, bool, bool, dict[str, Any]]:
        """Places the card into a hand.

        Returns:
            Observation, reward, whether all cards are placed, False, and `info`.

        Raises:
            IllegalActionError: The episode has ended, or the action is illegal and that raises.
        """
        place = checked_action(action)
        if not self.rest:
            raise IllegalActionError("The episode has ended; call reset() to begin another.")
        illegal = not (0 <= place < self.num_hands and self.action_masks()[place])
        if illegal and self.raises:
            legal = np.flatnonzero(self.action_masks()).tolist()
            raise IllegalActionError(f"Action {place} is illegal; the legal ones are {legal}.")
        gained = 0
        if illegal:
            self.rest = []
            gained = -self.points
        else:
            hand = self.hands[place]
            hand.append(self.rest.pop(0))
            if len(hand) == HAND_SIZE:
                gained = self._score(hand)
        self.points += gained
        observation, info = self._observe()
        if not self.rest:
            info |= {
                "points": self.points,
                "optimum": best_split(self._cards, self.starter, self.rules).points,
                "illegal_action": illegal,
            }
        return observation, float(gained), not self.rest, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, bool array (num_hands,), as sb3-contrib asks for them."""
        return np.array([bool(self.rest) and len(hand) < HAND_SIZE for hand in self.hands])

    def clone(self) -> Self:
        """Returns an independent copy that continues identically, later deals included."""
        return copy.deepcopy(self)

    def render(self) -> Any:
        """Returns the hands, the starter and the cards to place as text, or None."""
        if self.render_mode is None:
            return None
        lines = [f"starter: {cards_text([self.starter])}"]
        for number, hand in enumerate(self.hands):
            points = f" for {self._score(hand)}" if len(hand) == HAND_SIZE else ""
            lines.append(f"hand {number}: {cards_text(hand)}{points}".rstrip())
        lines.append(f"to place: {cards_text(self.rest)}".rstrip())
        return "\n".join(lines)

    def _score(self, hand: list[int]) -> int:
        return count_show(hand, self.starter, rules=self.rules).points

    def _observe(self) -> tuple[dict[str, NDArray[np.int8]], dict[str, Any]]:
        mask = self.action_masks()
        observation = {
            ACTION_MASK: mask.astype(np.int8),
            "card": self._counts(self.rest[:1]),
            "rest": self._counts(self.rest[1:]),
            "hands": np.array([self._counts(hand) for hand in self.hands]),
            "starter": self._counts([self.starter]),
        }
        return observation, {ACTION_MASK: observation[ACTION_MASK].copy()}

    def _counts(self, cards: list[int]) -> NDArray[np.int8]:
        return np.bincount(cards, minlength=self._num_kinds).astype(np.int8)
