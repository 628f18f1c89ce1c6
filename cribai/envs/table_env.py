"""What the environments of one game share: seeding, observing, rendering, copying, words."""

import copy
import operator
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cribai.cards import RANK_NAMES, parse_cards
from cribai.engine.state import ANNOUNCE, BID, CLAIM, DISCARD, DRAW, GIVE, PLAY
from cribai.envs.encoding import ACTION_MASK, make_encoding
from cribai.envs.full_state import StateEncoding
from cribai.envs.rendering import Window, draw_table, render_text
from cribai.envs.tables import Tables
from cribai.errors import ConfigError, IllegalActionError
from cribai.game_batch import checked_seed
from cribai.views import View

ROW = np.zeros(1, np.int64)
ILLEGAL_ACTIONS = ("lose", "raise")
_MAX_ACTION = 2**63 - 1
_EXAMPLES = {
    DISCARD: ("toss", "5H JS"),
    PLAY: ("lay", "7D"),
    DRAW: ("throw away", "5H 9C"),
    GIVE: ("give", "9C"),
    BID: ("bid", "4"),
    ANNOUNCE: ("announce", "6"),
    CLAIM: ("claim", "2"),
}
"""What an action is called in each phase, with an example."""


class TableEnv(gymnasium.Env[Any, Any]):
    """One table at which a learner sits.

    Subclasses step. An observation is the learner's `View`, encoded (`cribai.envs.encoding`);
    `info` has the mask of legal actions as "action_mask".

    Args:
        tables: One game and the opponent in it.
        observation: Name of the encoding: `dict`, `flat` or `compact`.
        illegal_action: What an illegal action does: `lose` ends the episode as a loss, `raise`
            raises `IllegalActionError`.
        render_mode: `ansi` for text, `rgb_array` for pictures, `human` for a window, or None.

    Raises:
        ConfigError: A name is unknown.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 -- the base class declares it so
        "render_modes": ["ansi", "human", "rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        tables: Tables,
        *,
        observation: str,
        illegal_action: str,
        render_mode: str | None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ConfigError(
                f"Unknown render_mode {render_mode!r}; choose one of"
                f" {', '.join(self.metadata['render_modes'])}."
            )
        self.render_mode = render_mode
        self.tables = tables
        self.rules = tables.rules
        self.encoding = make_encoding(observation, self.rules)
        self.observation_space = self.encoding.space
        self.action_space = spaces.Discrete(self.rules.num_actions)
        self.raises = checked_illegal_action(illegal_action) == "raise"
        self._state_encoding = StateEncoding(self.rules)
        self.state_space = self._state_encoding.space
        self._window: Window | None = None
        self._views = tables.observe()
        self._actions = np.zeros(1, np.int64)
        self._seeded = False
        self._ended = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: Episodes from here on follow from it; None goes on with the next episode of the
                last seed, a random one at first.
            options: "scores", the learner's and the opponent's to begin with; "learner_deals",
                whether he deals first.

        Returns:
            The observation, and `info`.

        Raises:
            ConfigError: An option is unknown or out of range.
            RulesError: The seed is not an integer from 0 to 2**64 - 1.
        """
        wanted = checked_options(options, self.rules.target)
        super().reset(seed=None if seed is None else int(checked_seed(seed)))
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        if seed is not None:
            self.tables.seed(ROW, [seed])
        self._seeded = True
        self._begin(wanted)
        return self._observe()

    def _begin(self, options: dict[str, Any]) -> None:
        self.tables.reset(ROW, **options)

    def _checked_actions(self, action: Any) -> NDArray[np.int64]:
        """Returns the learner's action as `Tables` take it.

        Raises:
            IllegalActionError: The episode has ended, or the action is illegal and raises.
        """
        number = checked_action(action)
        if self._ended:
            raise IllegalActionError("The episode has ended; call reset() to begin another.")
        actions = self._actions
        # A number that no array holds is illegal like any other.
        actions[0] = number if -1 <= number <= _MAX_ACTION else -1
        if self.raises:
            self.tables.check(ROW, actions)
        return actions

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        """Returns the observation and the info, and shows the table in human mode."""
        self._views = self.tables.observe()
        self._ended = self.tables.num_ended == 1
        observation = self.encoding.encode_one(self._views)
        if isinstance(observation, dict):
            mask = observation[ACTION_MASK].copy()
        else:
            mask = self._views.action_masks()[0]
        if self.render_mode == "human":
            self._show()
        return observation, {ACTION_MASK: mask}

    def view(self) -> View:
        """Returns what the learner sees."""
        return self._views[0]

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, bool array (num_actions,), as sb3-contrib asks for them."""
        mask: NDArray[np.bool_] = self._views.action_masks()[0].astype(np.bool_)
        return mask

    def action_to_text(self, action: int) -> str:
        """Returns what an action means now, such as "toss 5H JS", "lay KD as five" or "bid 4".

        Raises:
            IllegalActionError: The action is illegal now.
        """
        view = self.view()
        if checked_action(action) not in view.legal_actions:
            raise IllegalActionError(
                f"Action {action} is illegal; the legal ones are {view.legal_actions}."
            )
        return view.action_text(int(action))

    def text_to_action(self, text: str) -> int:
        """Returns the action that a text means now; see `action_to_text`.

        Raises:
            CardError: The text names no cards.
            IllegalActionError: What it names is illegal now.
        """
        view = self.view()
        if not view.is_due:
            raise IllegalActionError(f"{text!r} is no action now; none is due.")
        word, rest = _EXAMPLES[int(view.record["phase"])]
        said, _, what = f"{' '.join(text.lower().split())} ".partition(f"{word} ")
        what = what.strip()
        is_number = rest.isdecimal()
        cards, _, name = what.partition(" as ")
        if said or (is_number and not what.isdecimal()) or (name and name not in RANK_NAMES):
            raise IllegalActionError(
                f"{text!r} is no action now; write '{word} {rest}' or the like."
            )
        if is_number:
            return view.action_of_number(int(what))
        rank = RANK_NAMES.index(name) if name else None
        chosen = parse_cards("" if cards == "nothing" else cards, self.rules.num_decks)
        return view.action_of(*chosen, rank=rank)

    def state(self) -> NDArray[np.int16]:
        """Returns all there is to know, hidden cards too, for critics; see `state_space`."""
        return self._state_encoding.encode(self.tables.states[0])

    def clone(self) -> Self:
        """Returns an independent copy that continues identically, random keys included."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}

    def render(self) -> Any:
        """Returns the table as the learner sees it, by `render_mode`: text, a picture, or None."""
        if self.render_mode == "ansi":
            return render_text(self.view())
        if self.render_mode == "rgb_array":
            return draw_table(self.view())
        if self.render_mode == "human":
            self._show()
        return None

    def _show(self) -> None:
        if self._window is None:
            self._window = Window()
        self._window.show(draw_table(self.view()))

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def checked_illegal_action(name: str) -> str:
    """Returns what an illegal action does.

    Raises:
        ConfigError: No such thing is known.
    """
    if name not in ILLEGAL_ACTIONS:
        raise ConfigError(
            f"Unknown illegal_action {name!r}; choose one of {', '.join(ILLEGAL_ACTIONS)}."
        )
    return name


def checked_action(action: Any) -> int:
    """Returns an action as an integer.

    Raises:
        IllegalActionError: It is none.
    """
    try:
        return operator.index(action)
    except TypeError:
        raise IllegalActionError(f"The action {action!r} is no integer.") from None


def checked_options(options: dict[str, Any] | None, target: int) -> dict[str, Any]:
    """Returns the options of a reset as `Tables.reset` takes them.

    Raises:
        ConfigError: An option is unknown or out of range.
    """
    found: dict[str, Any] = {}
    for name, value in (options or {}).items():
        if name == "scores":
            if not _are_scores(value, target):
                raise ConfigError(
                    f"The option scores is {value!r}; give the learner's and the opponent's, each"
                    f" from 0 to {target - 1}."
                )
            found[name] = (int(value[0]), int(value[1]))
        elif name == "learner_deals":
            if not isinstance(value, (bool, np.bool_)):
                raise ConfigError(f"The option learner_deals is {value!r}; give True or False.")
            found[name] = bool(value)
        else:
            raise ConfigError(
                f"Unknown option {name!r} of reset; the options are scores and learner_deals."
            )
    return found


def _are_scores(value: Any, target: int) -> bool:
    return np.shape(value) == (2,) and all(
        isinstance(score, (int, np.integer)) and 0 <= score < target for score in value
    )
