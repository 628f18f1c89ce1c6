"""How high scores can get, for the bounds of spaces."""

from cribai.cards import NUM_SUITS
from cribai.engine.starters import HEELS_POINTS
from cribai.rules import Rules


def most_score(rules: Rules) -> int:
    """Returns a score that no side passes: the target, or more where deals are played to the end.

    In a deal a player has a hand, a crib, with muggins what the opponent misses of his, heels, and
    his lays. A lay makes a total, for two, pairs or a run, and perhaps the point for a go or the
    last card.
    """
    if not rules.two_cribs:
        return rules.target
    num_lays = rules.num_players * rules.cards_kept
    alike = NUM_SUITS * rules.num_decks * (2 if rules.wild_kings else 1)
    alike = min(num_lays, max(alike, rules.num_jokers))
    lay = 2 + max(alike * (alike - 1), num_lays) + 1
    heels = HEELS_POINTS * rules.num_starters
    num_counts = 4 if rules.muggins else 2
    return rules.target - 1 + num_counts * rules.most_shown + heels + rules.cards_kept * lay
