"""An agent of somebody else's: it keeps its highest cards, or its lowest, as long as it can."""

from collections.abc import Sequence

from cribai import SimpleAgent, View


class HoarderAgent(SimpleAgent):
    """Parts with its lowest cards first, or with its highest ones."""

    def __init__(self, highest_first: bool = False) -> None:
        self.highest_first = highest_first

    def choose_discard(self, view: View) -> Sequence[int]:
        num_tossed = view.rules.cards_tossed
        return view.hand[-num_tossed:] if self.highest_first else view.hand[:num_tossed]

    def choose_play(self, view: View) -> int:
        return view.legal_cards[-1 if self.highest_first else 0]
