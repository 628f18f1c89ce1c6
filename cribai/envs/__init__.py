"""Environments for reinforcement learning; importing this registers them with Gymnasium.

- `cribai/Cribbage-v0`: whole games against an opponent; also as a vector environment.
- `cribai/Discard-v0`: one toss.
- `cribai/Pegging-v0`: the play of one deal.
- `cribai/Solitaire-v0`: dealt cards split into hands for the most points.

For two to four learners at one table see `cribai.envs.pettingzoo`.
"""

import gymnasium

gymnasium.register(
    "cribai/Cribbage-v0",
    entry_point="cribai.envs.cribbage:CribbageEnv",
    vector_entry_point="cribai.envs.vector:CribbageVectorEnv",
)
gymnasium.register("cribai/Discard-v0", entry_point="cribai.envs.single_deal:DiscardEnv")
gymnasium.register("cribai/Pegging-v0", entry_point="cribai.envs.single_deal:PeggingEnv")
gymnasium.register("cribai/Solitaire-v0", entry_point="cribai.envs.solitaire:SolitaireEnv")
