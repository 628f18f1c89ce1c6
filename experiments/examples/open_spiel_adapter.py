"""One deal of cribbage as an OpenSpiel game, and OpenSpiel's IS-MCTS on it.

    python experiments/examples/open_spiel_adapter.py --seed 1 --deals 50

`pyspiel.load_game("cribai_deal")` begins at 0-0 and pays the points scored less the opponent's.
Chance picks one of `deals` deals; seat 0 deals. An information state is the hand dealt and what was
done in the open. `resample_from_infostate` draws what is hidden, as IS-MCTS asks for.

Printed are the points by which the search beats random actions, each deal played from both seats,
and twice their standard error. Needs `pip install open_spiel`.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from cribai import STANDARD, Deal, Game, cards_text

TYPE = pyspiel.GameType(
    short_name="cribai_deal",
    long_name="A deal of cribbage, by cribai",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={"seed": 1, "deals": 1000},
)


class DealGame(pyspiel.Game):
    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.params = TYPE.parameter_specification | (params or {})
        most = float(STANDARD.target)
        info = pyspiel.GameInfo(
            num_distinct_actions=STANDARD.num_actions,
            max_chance_outcomes=self.params["deals"],
            num_players=2,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=2 * (1 + STANDARD.cards_kept),
        )
        super().__init__(TYPE, info, self.params)

    def new_initial_state(self) -> "DealState":
        return DealState(self)

    def make_py_observer(self, kind: Any = None, params: Any = None) -> "Memory":  # noqa: ARG002
        return Memory()


class Memory:
    """What a player has seen, in words: his hand, what was done in the open, and at what counts."""

    tensor, dict = None, {}

    def set_from(self, state: "DealState", player: int) -> None:
        """Would fill the tensors."""

    def string_from(self, state: "DealState", player: int) -> str:
        if state.table is None:
            return "before the deal"
        deal = state.table.dealt[0]
        words = [f"player {player} dealt {cards_text(deal.hands[player])}"]
        for mover, cards, count in state.moves:
            hidden = mover != player and len(cards) == 2
            words.append("tossed" if hidden else f"{mover}: {cards_text(cards)} at {count}")
        words.append(f"count {state.table.count}")
        if len(state.moves) >= 2:
            words.append(f"starter {cards_text([deal.starter])}")
        return ", ".join(words)


class DealState(pyspiel.State):
    """A `cribai.Game`, once chance has dealt, and its moves: who, which cards, at what count."""

    def __init__(self, game: DealGame) -> None:
        super().__init__(game)
        self.params = game.params
        self.table: Game | None = None
        self.moves: list[tuple[int, tuple[int, ...], int]] = []

    def current_player(self) -> int:
        if self.table is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.table.actor

    def is_terminal(self) -> bool:
        return self.table is not None and (self.table.is_over or self.table.deal_number > 0)

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002
        return self.table.legal_actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        number = self.params["deals"]
        return [(pair, 1 / number) for pair in range(number)]

    def _apply_action(self, action: int) -> None:
        if self.table is None:
            self.table = Game(seed=self.params["seed"], pair=action, first_dealer=0)
        else:
            self.move(self.table.view().cards_of(action))

    def move(self, cards: tuple[int, ...]) -> None:
        self.moves.append((self.table.actor, cards, self.table.count))
        self.table.push_cards(*cards)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return cards_text(self.table.view().cards_of(action))

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0, 0.0]
        dealer, pone = self.table.scores
        return [float(dealer - pone), float(pone - dealer)]

    def resample_from_infostate(self, player: int, draw: Callable[[], float]) -> "DealState":
        """Returns a state that the player cannot tell from this one; `draw()` is from 0 to 1."""
        twin = None
        while twin is None:
            twin = self.sampled(player, np.random.default_rng(int(draw() * 2**53)))
        return twin

    def sampled(self, player: int, rng: np.random.Generator) -> "DealState | None":
        """Returns such a state, or None where the cards drawn do not fit what was done."""
        own, starter = self.table.dealt[0].hands[player], self.table.dealt[0].starter
        laid = [cards[0] for mover, cards, _ in self.moves if mover != player and len(cards) == 1]
        known = {*own, *laid, starter} if len(self.moves) >= 2 else set(own)
        unseen = rng.permutation([card for card in range(STANDARD.deck_size) if card not in known])
        *rest, drawn = unseen[: 7 - len(laid)].tolist()
        hands = [(*laid, *rest), own] if player == 1 else [own, (*laid, *rest)]
        deal = Deal(tuple(hands), starter if starter in known else drawn)
        twin = DealState(self.get_game())
        twin.table = Game(seed=self.params["seed"], first_dealer=0, deals=[deal])
        for mover, cards, count in self.moves:
            if (twin.table.actor, twin.table.count) != (mover, count):
                return None  # somebody would not have said go, or would have
            hidden = mover != player and len(cards) == 2
            twin.move(tuple(rest[:2]) if hidden else cards)
        same = (twin.table.actor, twin.table.count) == (player, self.table.count)
        return twin if same else None

    def __str__(self) -> str:
        return "before the deal" if self.table is None else str(self.table)


pyspiel.register_game(TYPE, DealGame)


def play(state: DealState, bot: ISMCTSBot, seat: int, rng: np.random.Generator) -> float:
    """Plays a deal to its end and returns the bot's gain; the other seat acts at random."""
    while not state.is_terminal():
        if state.current_player() == seat:
            state.apply_action(bot.step(state))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state.returns()[seat]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=50, help="each played from both seats")
    parser.add_argument("--simulations", type=int, default=50, help="a decision")
    options = parser.parse_args()
    game = pyspiel.load_game("cribai_deal", {"seed": options.seed, "deals": options.deals})
    # OpenSpiel's searches take NumPy's older generator.
    legacy = np.random.RandomState(options.seed)
    rng = np.random.default_rng(options.seed)
    bot = ISMCTSBot(
        game, RandomRolloutEvaluator(1, legacy), 10.0, options.simulations, random_state=legacy
    )
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random))
    gains = []
    start = time.process_time()
    for deal in range(options.deals):
        gain = 0.0
        for seat in (0, 1):
            state = game.new_initial_state()
            state.apply_action(deal)
            gain += play(state, bot, seat, rng)
        gains.append(gain / 2)
    seconds = time.process_time() - start
    error = np.std(gains, ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else np.inf
    print(
        f"IS-MCTS v random: {np.mean(gains):+.2f} points a deal, twice the standard error"
        f" {2 * error:.2f}, {2 * options.deals} deals; {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
