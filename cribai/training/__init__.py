"""Training of the policy network by self-play on single deals.

In reading order: `features` (what the network sees), `deals` (where episodes begin), `selfplay`
(episodes in lockstep and what their decisions were worth), `network`, `learner`, `checkpoint`,
`evaluation`, `config` and `run`.
"""
