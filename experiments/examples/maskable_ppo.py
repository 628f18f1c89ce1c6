"""sb3-contrib's MaskablePPO learns to beat `random`, then plays mirrored pairs as an agent.

    python experiments/examples/maskable_ppo.py --observation flat --seed 1
    python experiments/examples/maskable_ppo.py --observation dict --seed 1

The environment has the method `action_masks` that MaskablePPO asks for, so nothing is between the
two but a scale: a tenth for each point scored, less the opponent's. Printed is the part of games
won over mirrored pairs of a seed that was not trained on, with the 95% interval, and the
processor's time.

Needs the extra `sb3`.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers import TransformReward
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import cribai.envs  # noqa: F401 -- registers the environments
from cribai import STANDARD, Agent, ViewBatch, make_agent
from cribai.envs.encoding import make_encoding
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats

POLICIES = {"flat": "MlpPolicy", "dict": "MultiInputPolicy", "compact": "MlpPolicy"}
NUM_ENVS, NUM_STEPS = 16, 512
POINT = 0.1  # what a point is paid
UNSEEN = 1_000_000  # added to the seed to measure


class LearnedAgent(Agent):
    """A trained model as any agent: views in, the likeliest legal actions out, by batches."""

    name = "maskable ppo"

    def __init__(self, model: MaskablePPO, observation: str) -> None:
        self.model = model
        self.encoding = make_encoding(observation, STANDARD)

    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        observations = self.encoding.encode(views)
        masks = views.action_masks() == 1
        actions, _ = self.model.predict(observations, deterministic=True, action_masks=masks)
        return actions


def make_env(observation: str, opponent: str) -> gymnasium.Env[Any, Any]:
    env = gymnasium.make(
        "cribai/Cribbage-v0",
        disable_env_checker=True,
        observation=observation,
        opponent=opponent,
        reward="points",
    )
    return TransformReward(env, lambda points: POINT * points)


def train(observation: str, opponent: str, timesteps: int, seed: int) -> MaskablePPO:
    envs = DummyVecEnv([lambda: make_env(observation, opponent)] * NUM_ENVS)
    envs.seed(seed)
    model = MaskablePPO(
        POLICIES[observation],
        envs,
        learning_rate=1e-3,
        n_steps=NUM_STEPS,
        batch_size=1024,
        n_epochs=4,
        gamma=0.9,
        gae_lambda=0.9,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [128, 128]},
        seed=seed,
        device="cpu",
    )
    return model.learn(timesteps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--observation", choices=tuple(POLICIES), default="flat")
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timesteps", type=int, default=300_000)
    parser.add_argument("--pairs", type=int, default=2000, help="mirrored pairs to measure")
    options = parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    model = train(options.observation, options.opponent, options.timesteps, options.seed)
    seconds = time.process_time() - start
    results = play_pairs(
        LearnedAgent(model, options.observation),
        make_agent(options.opponent),
        seed=UNSEEN + options.seed,
        num_pairs=options.pairs,
    )
    stats = Stats.from_results(results)
    low, high = stats.win_rate_interval
    print(
        f"{options.observation} v {options.opponent}: {stats.win_rate:.2%} won"
        f" ({low:.2%} to {high:.2%}), {options.pairs} pairs; trained for {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
