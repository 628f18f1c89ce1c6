"""The agent named `policy+search`: the networks of `policy`, and a search of every lay beside them.

A lay's value is the mean of what the network says and of what the search of the analysis says,
averaged over the hands that the opponent may hold. Their errors have little in common.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cribai.analysis.knowledge import NUM_KEPT, TARGET, load_knowledge
from cribai.analysis.lays import HORIZON, SAMPLES, new_lays, value_lays
from cribai.engine.jit import kernel
from cribai.engine.state import compiled_rules
from cribai.training.features import COLUMNS, KEPT, lay_features
from cribai.views import ViewBatch
from cribai_agents.policy import PolicyAgent, check_number


class SearchPolicyAgent(PolicyAgent):
    """The networks of `policy`, and a search of every lay beside them.

    Args:
        samples: Hands of the opponent that a lay is searched against.
        horizon: The end is near when a side is this near the target.
        share: Weight of the search in a lay's value, from 0 to 1.
        near_share: The same near the end.
        options: Those of `policy`.

    Raises:
        AgentError: An option is out of range, or the device is not there.
        CheckpointError: The weights cannot be used.
    """

    name = "policy+search"

    def __init__(
        self,
        checkpoint: str | None = None,
        *,
        samples: int = SAMPLES,
        horizon: int = HORIZON,
        share: float = 0.5,
        near_share: float = 0.5,
        **options: Any,
    ) -> None:
        super().__init__(checkpoint, **options)
        check_number("samples", samples, int, 1, NUM_KEPT)
        check_number("horizon", horizon, int, 0, TARGET)
        check_number("share", share, float, 0, 1)
        check_number("near_share", near_share, float, 0, 1)
        self.share = float(share)
        self.near_share = float(near_share)
        self._search = new_lays(horizon=horizon, samples=samples)

    def _value_lays(
        self, views: ViewBatch, places: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        values = super()._value_lays(views, places, ranks)
        self._search["target"] = views.rules.target
        searched = np.zeros((len(places), KEPT), np.float64)
        rules = compiled_rules(views.rules)
        _search_lays(views.array, rules, load_knowledge(), self._search, places, searched)
        units = lay_features(views, places)[:, COLUMNS["worths"].start + 1] / 10
        scores = views.array["scores"][places, :2]
        near = views.rules.target - scores.max(axis=1) <= self._search["horizon"][0]
        share = np.where(near, self.near_share, self.share)[:, np.newaxis]
        mixed: NDArray[np.float64] = (1 - share) * values + share * searched / units[:, np.newaxis]
        return mixed


@kernel
def _search_lays(
    views: Any, rules: Any, tables: Any, lays: Any, places: Any, searched: Any
) -> None:
    for i in range(places.shape[0]):
        value_lays(views[places[i]], rules[0], tables[0], lays[0])
        for slot in range(KEPT):
            searched[i, slot] = lays[0]["worths"][slot]
