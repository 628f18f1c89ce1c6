"""Complete games move by move with OpenSpiel's cribbage, an implementation that is not ours.

OpenSpiel departs from the rules in three known ways, and every difference has to be one of them:

- It pays a crib four for a flush that the starter does not match. From then on that side is ahead
  of ours, and its game may end before ours does.
- It counts all hands, by seat, and the crib before it looks whether anyone has won.
- It names the first seat past the target as the winner, whoever got there first.
"""

import random
from collections import Counter
from typing import Any

import numpy as np
import pyspiel
import pytest

import reference
from cribai import PRESETS, GameBatch
from cribai.engine import state as engine

pytestmark = pytest.mark.slow

PRESET_BY_PLAYERS = {2: "standard", 3: "three_player", 4: "four_player"}
PASS = 52 + 52 * 52


def their_card(card: int) -> int:
    """OpenSpiel numbers cards by suit first: clubs, diamonds, hearts, spades; then by rank."""
    return 13 * (card % 4) + card // 4


def scores_of(theirs: Any) -> list[int]:
    (line,) = (line for line in str(theirs).splitlines() if line.startswith("Scores:"))
    return [int(score) for score in line.split()[1:]]


class Twin:
    """One game in OpenSpiel, driven by the moves of ours.

    Args:
        theirs: OpenSpiel's initial state.
        state: Our STATE record, the first deal laid out.
        num_players: Players, and seats that OpenSpiel keeps scores of.
    """

    def __init__(self, theirs: Any, state: Any, num_players: int) -> None:
        self.theirs = theirs
        self.state = state
        self.rules = PRESETS[PRESET_BY_PLAYERS[num_players]]
        self.excess = [0] * num_players  # what crib flushes put OpenSpiel ahead by, by seat
        self.found: Counter[str] = Counter()
        self.deal()

    def deal(self) -> None:
        """Deals our cards there: the hands by seat, then the crib's."""
        rules = self.rules
        front = self.state["deck"].tolist()
        self.num_dealt = rules.num_players * rules.cards_dealt + rules.crib_from_deck
        for card in front[: self.num_dealt]:
            assert self.theirs.is_chance_node()
            self.theirs.apply_action(their_card(card))
        self.starter = front[self.num_dealt]
        self.crib = front[self.num_dealt - rules.crib_from_deck : self.num_dealt]
        self.tosses: dict[int, list[int]] = {}

    def check_choices(self, mask: Any) -> None:
        """The same player, unless it is a toss, and the same choices."""
        rules = self.rules
        actor = int(self.state["actor"])
        hand = [card for card in self.state["hands"][actor].tolist() if card >= 0]
        if self.state["phase"] == engine.DISCARD:
            # OpenSpiel's players toss by seat, so that here is only what the first seat may do.
            if actor == 0 and not self.tosses:
                assert len(self.theirs.legal_actions()) == rules.num_tosses == mask.sum()
            return
        assert self.theirs.current_player() == actor
        slots = np.flatnonzero(mask) - rules.num_tosses
        assert sorted(their_card(hand[slot]) for slot in slots) == self.theirs.legal_actions()

    def take(self, before: Any, action: int) -> None:
        """Takes there the action that our game, whose state was `before`, has just taken."""
        rules = self.rules
        actor = int(before["actor"])
        hand = [card for card in before["hands"][actor].tolist() if card >= 0]
        if before["phase"] == engine.DISCARD:
            slots = engine.compiled_rules(rules)["toss_slots"][0][action]
            self.tosses[actor] = [hand[slot] for slot in slots[: rules.cards_tossed]]
            if len(self.tosses) < rules.num_players:
                return
            for seat in range(rules.num_players):
                self.toss(seat)
            self.theirs.apply_action(their_card(self.starter))
        else:
            card = hand[action - rules.num_tosses]
            self.theirs.apply_action(their_card(card))
            if self.theirs.is_terminal() and self.ended_by_the_card(before, card):
                return
            while not self.theirs.is_terminal() and self.theirs.legal_actions() == [PASS]:
                self.theirs.apply_action(PASS)
        self.check_scores(before)
        if self.state["num_deals"] > before["num_deals"] and not self.theirs.is_terminal():
            self.deal()

    def ended_by_the_card(self, before: Any, card: int) -> bool:
        """Whether their game ended by what the card pegs, before a go or the show."""
        laid = int(before["num_plays"])
        series = before["play_cards"][laid - int(before["series_length"]) : laid].tolist()
        scores = before["scores"][: self.rules.num_sides].tolist()
        side = self.rules.side_of(int(before["actor"]))
        scores[side] += reference.play_points([*series, card])
        if scores_of(self.theirs) != self.theirs_for(scores):
            return False
        self.check_winner(scores)
        return True

    def theirs_for(self, scores: list[int]) -> list[int]:
        """OpenSpiel's scores, which are by seat, when these by side are right."""
        return [
            scores[self.rules.side_of(seat)] + excess for seat, excess in enumerate(self.excess)
        ]

    def toss(self, seat: int) -> None:
        """Finds the toss among OpenSpiel's choices, whichever way round it names two cards."""
        assert self.theirs.current_player() == seat
        cards = [their_card(card) for card in self.tosses[seat]]
        self.crib += self.tosses[seat]
        actions = cards
        if len(cards) == 2:
            actions = [52 + 52 * one + other for one, other in (cards, cards[::-1])]
        (action,) = set(actions) & set(self.theirs.legal_actions())
        self.theirs.apply_action(action)

    def check_scores(self, before: Any) -> None:
        """The scores are the same but for crib flushes and what is counted after a win."""
        rules = self.rules
        ours = self.state["scores"][: rules.num_sides].tolist()
        is_over = self.state["phase"] == engine.OVER
        all_laid = is_over and not self.state["num_left"][: rules.num_players].any()
        if all_laid or self.state["num_deals"] > before["num_deals"]:
            self.expect_crib_flush(int(before["dealer"]))
            if is_over:
                counted = self.scores_counted_to_the_end(before)
                capped = [min(score, rules.target) for score in counted]
                self.found["points counted after the win"] += capped != ours
                ours = counted
        elif is_over and before["phase"] == engine.DISCARD:  # by heels, where ours stops at 121
            winner = int(self.state["winner"])
            ours[winner] = int(before["scores"][winner]) + 2
        assert scores_of(self.theirs) == self.theirs_for(ours)
        assert self.theirs.is_terminal() == (max(self.theirs_for(ours)) >= rules.target)
        if self.theirs.is_terminal():
            self.check_winner(ours)

    def expect_crib_flush(self, dealer: int) -> None:
        suits = {card % 4 for card in self.crib}
        if len(suits) == 1 and self.starter % 4 not in suits:
            self.found["crib flush of four"] += 1
            side = self.rules.side_of(dealer)
            for seat in range(side, self.rules.num_players, self.rules.num_sides):
                self.excess[seat] += 4

    def scores_counted_to_the_end(self, before: Any) -> list[int]:
        """What all hands and the crib would have brought every side, by the oracle.

        Ours must have gone to the side that was first to get there: by pegging, or in the show as
        it goes from the dealer's left to the crib.
        """
        rules = self.rules
        dealer = int(before["dealer"])
        gained = self.state["pegged"] - before["pegged"]
        earned = [(player, int(gained[player])) for player in range(rules.num_players)]
        for place in range(1, rules.num_players + 1):
            player = (dealer + place) % rules.num_players
            hand = self.state["hands"][player, : rules.cards_kept].tolist()
            earned.append((player, reference.show_points(hand, [self.starter], False)))
        earned.append((dealer, reference.show_points(self.crib, [self.starter], True)))
        scores = [int(score) for score in before["scores"][: rules.num_sides]]
        first = None
        for player, points in earned:
            side = rules.side_of(player)
            scores[side] += points
            if first is None and scores[side] >= rules.target:
                first = side
        assert first == self.state["winner"]
        return scores

    def check_winner(self, ours: list[int]) -> None:
        """They name the first seat past the target; by the scores without excess we judge why."""
        rules = self.rules
        theirs = self.theirs_for(ours)
        named = int(np.subtract(self.theirs.returns(), theirs).argmax())
        assert named == next(seat for seat, score in enumerate(theirs) if score >= rules.target)
        if max(ours) < rules.target:
            assert any(self.excess)
            self.found["ended early by a crib flush"] += 1
            return
        winner = int(self.state["winner"])
        assert ours[winner] >= rules.target
        self.found["right winner" if rules.side_of(named) == winner else "wrong winner"] += 1


def play(num_players: int, num_games: int, seed: int) -> Counter[str]:
    """Plays games with random moves in both to the end of OpenSpiel's; returns what was found."""
    game = pyspiel.load_game(f"cribbage(players={num_players})")
    name = PRESET_BY_PLAYERS[num_players]
    batch = GameBatch.start(num_games, name, seed=seed, first_dealer=0)
    twins = [Twin(game.new_initial_state(), state, num_players) for state in batch.states]
    chance = random.Random(seed)
    while True:
        due = np.array([index for index, twin in enumerate(twins) if not twin.theirs.is_terminal()])
        if len(due) == 0:
            break
        masks = batch.views(due).action_masks()
        before = batch.states[due]
        actions = [chance.choice(np.flatnonzero(mask).tolist()) for mask in masks]
        for index, mask in zip(due, masks, strict=True):
            twins[index].check_choices(mask)
        batch.step(actions, due)
        for index, state, action in zip(due, before, actions, strict=True):
            twins[index].take(state, action)
    return sum((twin.found for twin in twins), Counter())


def check(found: Counter[str], num_games: int) -> None:
    endings = ("right winner", "wrong winner", "ended early by a crib flush")
    assert sum(found[ending] for ending in endings) == num_games
    assert found["right winner"] > 0.8 * num_games
    for fault in ("crib flush of four", "points counted after the win", *endings[1:]):
        assert found[fault] > 0, f"no {fault}"


@pytest.mark.parametrize(("num_players", "num_games"), [(2, 300), (3, 150), (4, 150)])
def test_games_agree_with_openspiel(num_players: int, num_games: int) -> None:
    check(play(num_players, num_games, seed=1), num_games)


@pytest.mark.slow
@pytest.mark.parametrize(("num_players", "num_games"), [(2, 3000), (3, 1000), (4, 1000)])
def test_many_games_agree_with_openspiel(num_players: int, num_games: int) -> None:
    check(play(num_players, num_games, seed=2), num_games)


def test_card_numbers() -> None:
    state = pyspiel.load_game("cribbage(players=2)").new_initial_state()
    for card in range(52):
        name = f"{reference.RANKS[card // 4]}{reference.SUITS[card % 4]}"
        assert state.action_to_string(pyspiel.PlayerId.CHANCE, their_card(card)) == f"Deal {name}"
    assert state.action_to_string(0, PASS) == "Pass"
