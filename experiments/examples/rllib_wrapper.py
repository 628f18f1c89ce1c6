"""The environment as RLlib's example of action masking wants it, and PPO on it.

    python experiments/examples/rllib_wrapper.py --steps 1000
    python experiments/examples/rllib_wrapper.py --iterations 10

RLlib's `ActionMaskingTorchRLModule` takes observations that are a dict of "observations" and
"action_mask". The wrapper makes them. Without iterations, random legal actions are played under it
and the games counted. With them RLlib trains, and printed is the part of games won over mirrored
pairs of a seed that was not trained on, with the 95% interval, and the processor's time.

Training needs `pip install "ray[rllib]" torch`, which brings a Gymnasium of its own choice: give it
a virtual environment to itself.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

import cribai.envs  # noqa: F401 -- registers the environments
from cribai import STANDARD, Agent, ViewBatch, make_agent
from cribai.envs.encoding import make_encoding
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats

POINT = 0.1  # what a point is paid
UNSEEN = 1_000_000  # added to the seed to measure


class MaskBeside(gymnasium.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Observations as a dict of "observations", those of the environment, and "action_mask"."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.ObservationWrapper.__init__(self, env)
        assert isinstance(env.action_space, spaces.Discrete)
        mask = spaces.Box(0, 1, (int(env.action_space.n),), np.float32)
        self.observation_space = spaces.Dict(
            {"action_mask": mask, "observations": env.observation_space}
        )

    def observation(self, observation: Any) -> dict[str, Any]:
        mask = self.get_wrapper_attr("action_masks")()
        return {"action_mask": mask.astype(np.float32), "observations": observation}


class LearnedAgent(Agent):
    """RLlib's module as any agent: views in, the likeliest actions out."""

    name = "rllib ppo"

    def __init__(self, module: Any, observation: str) -> None:
        self.module = module
        self.encoding = make_encoding(observation, STANDARD)

    @torch.no_grad()
    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        masks = torch.from_numpy(views.action_masks().astype(np.float32))
        observations = torch.from_numpy(self.encoding.encode(views))
        batch = {"obs": {"action_mask": masks, "observations": observations}}
        logits = self.module.forward_inference(batch)["action_dist_inputs"]
        return logits.argmax(dim=1).numpy()


def make_env(config: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    env = gymnasium.make("cribai/Cribbage-v0", observation=config["observation"], reward="points")
    return MaskBeside(gymnasium.wrappers.TransformReward(env, lambda points: POINT * points))


def play_randomly(observation: str, steps: int, seed: int) -> int:
    """Returns how many games ended."""
    env = make_env({"observation": observation})
    env.action_space.seed(seed)
    found, _ = env.reset(seed=seed)
    games = 0
    for _ in range(steps):
        action = env.action_space.sample(found["action_mask"].astype(np.int8))
        found, _, terminated, _, _ = env.step(action)
        if terminated:
            games += 1
            found, _ = env.reset()
    return games


def train(observation: str, iterations: int, seed: int) -> Any:
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env

    register_env("cribbage", make_env)
    config = (
        PPOConfig()
        .environment("cribbage", env_config={"observation": observation})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [128, 128]}
            )
        )
        .training(
            lr=1e-3,
            gamma=0.9,
            lambda_=0.9,
            train_batch_size=8192,
            minibatch_size=1024,
            num_epochs=4,
            entropy_coeff=0.005,
        )
        .debugging(seed=seed)
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        algorithm.train()
    module = algorithm.get_module()
    algorithm.stop()
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--observation", default="compact", choices=("compact", "flat"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--iterations", type=int, default=0, help="of 8192 steps, with RLlib")
    parser.add_argument("--pairs", type=int, default=2000, help="mirrored pairs to measure")
    options = parser.parse_args()
    if not options.iterations:
        games = play_randomly(options.observation, options.steps, options.seed)
        print(f"{options.steps} random legal steps, {games} games ended")
        return
    torch.set_num_threads(1)
    start = time.process_time()
    module = train(options.observation, options.iterations, options.seed)
    seconds = time.process_time() - start
    agent = LearnedAgent(module, options.observation)
    results = play_pairs(
        agent, make_agent("random"), seed=UNSEEN + options.seed, num_pairs=options.pairs
    )
    stats = Stats.from_results(results)
    low, high = stats.win_rate_interval
    print(
        f"{options.observation} v random: {stats.win_rate:.2%} won ({low:.2%} to {high:.2%}),"
        f" {options.pairs} pairs; trained for {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
