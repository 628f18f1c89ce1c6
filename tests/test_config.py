"""Configuration files: what is read, what goes over it, and the sentence when it does not fit."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from cribai import PRESETS, ConfigError, Rules
from cribai.config import Config, RulesSetting, dump_toml, load_config, parse_overrides
from cribai.tournament.config import TournamentConfig

ROOT = Path(__file__).parents[1]


class Learner(Config):
    rate: float = 0.1
    layers: list[int] = Field(default_factory=list)


class Training(Config):
    name: str
    learner: Learner = Learner()
    rules: RulesSetting = PRESETS["standard"]


def write(folder: Path, text: str) -> Path:
    path = folder / "some.toml"
    path.write_text(text)
    return path


def test_file_and_overrides(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "x"\n[learner]\nrate = 0.5\nlayers = [1, 2]\n')
    config = load_config(Training, path)
    assert config == Training(name="x", learner=Learner(rate=0.5, layers=[1, 2]))
    config = load_config(Training, path, {"learner.rate": 1, "name": "y"})
    assert config == Training(name="y", learner=Learner(rate=1.0, layers=[1, 2]))
    assert load_config(Training, None, {"name": "z"}) == Training(name="z")


def test_rules(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "x"\nrules = "short"\n')
    assert load_config(Training, path).rules == PRESETS["short"]
    lines = 'name = "x"\n[rules]\ntarget = 31\nskunk_line = "none"\ndouble_skunk_line = "none"\n'
    rules = load_config(Training, write(tmp_path, lines)).rules
    assert rules == Rules(target=31, skunk_line=None, double_skunk_line=None)
    settings = load_config(Training, None, {"name": "x", "rules": rules}).model_dump()
    assert load_config(Training, write(tmp_path, dump_toml(settings))).rules == rules


def test_overrides_are_toml_or_text() -> None:
    texts = ["a=1", "b.c = 2.5", "d=[1, 2]", "e=word", 'f="1"', "g=true", "h=x=y", "i=", "j=a\nb=1"]
    assert parse_overrides(texts) == {
        "a": 1, "b.c": 2.5, "d": [1, 2], "e": "word", "f": "1", "g": True,
        "h": "x=y", "i": "", "j": "a\nb=1",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a", "=1", "a.=1", ".a=1", ""])
def test_bad_overrides(text: str) -> None:
    with pytest.raises(ConfigError, match="is not key=value"):
        parse_overrides([text])


@pytest.mark.parametrize(
    ("lines", "overrides", "sentence"),
    [
        ("nam = 1", {}, "Unknown key 'nam' in FILE; the keys are learner, name, rules."),
        (
            "name = 'x'\nlearner.rat = 1",
            {},
            "Unknown key 'learner.rat' in FILE; the keys are layers, rate.",
        ),
        (
            "name = 'x'",
            {"learner.rat": 1},
            "Unknown key 'learner.rat' in the options; the keys are layers, rate.",
        ),
        ("", {}, "The key 'name' is missing in FILE; give it a value."),
        ("name = 3", {}, "name is 3 in FILE; it should be a valid string."),
        (
            "name = 'x'",
            {"learner.rate": "x"},
            "learner.rate is 'x' in the options; it should be a valid number.",
        ),
        (
            "name = 'x'\nlearner.layers = [1, 'a']",
            {},
            "learner.layers.1 is 'a' in FILE; it should be a valid integer.",
        ),
        ("name = 'x'\nrules = 'odd'", {}, "rules in FILE: Unknown rules 'odd'; the presets are"),
        ("name = 'x'\nrules.odd = 1", {}, "rules in FILE: Unknown rule 'odd'; the rules are"),
        ("name = 'x'", {"rules.target": 0}, "rules in the options: target is 0; it must be"),
        (
            "name = 'x'",
            {"name.first": 1},
            "The override 'name.first' does not fit: 'name' is no table here.",
        ),
        ("name =", {}, "The file FILE is no TOML: "),
        ("name = '\xe9'", {}, "The file FILE is no TOML: "),
    ],
)
def test_sentences(tmp_path: Path, lines: str, overrides: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "some.toml"
    path.write_bytes(lines.encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        load_config(Training, path, overrides)
    assert str(caught.value).startswith(sentence.replace("FILE", repr(str(path))))
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_config(Training, tmp_path / "none.toml")


def test_dump_reads_back() -> None:
    values = {
        "text": 'a "b"\n\\ \x7f é \U0001f0a1',
        "yes": True,
        "number": -3,
        "big": 2**64 - 1,
        "real": 1e-20,
        "huge": 1e300,
        "list": [1, 2],
        "texts": ["a", "b"],
        "odd key.": 1,
        "empty": {},
        "table": {"x": 1, "inner": {"y": [0.5]}},
        "last": {"z": False},
    }
    assert tomllib.loads(dump_toml(values)) == values


def test_dump_refuses_what_toml_lacks() -> None:
    with pytest.raises(ConfigError, match="None cannot be written as TOML"):
        dump_toml({"a": None})


def test_shipped_tournament() -> None:
    config = load_config(TournamentConfig, ROOT / "configs" / "tournament.toml")
    assert len(config.agents) >= 2


def test_tournament_types() -> None:
    for key, value in (
        ("pairs", True),
        ("pairs", "3"),
        ("pairs", 1.5),
        ("agents", "ab"),
        ("seed", -1),
    ):
        with pytest.raises(ConfigError, match=f"{key} is {value!r} in the options"):
            load_config(TournamentConfig, None, {key: value})
    with pytest.raises(ConfigError, match="the tables are plain"):
        load_config(TournamentConfig, None, {"match_points": "odd"})


def test_run_names() -> None:
    config = TournamentConfig(agents=("m:A:x=1/2", "random"), seed=7)
    name = config.run_name()
    assert name.startswith("m-A-x-1-2-v-random_standard_seed7_")
    assert config.model_copy(update={"batch_size": 7, "out": Path("x")}).run_name() == name
    assert config.model_copy(update={"pairs": 7}).run_name() != name
    assert len(TournamentConfig(agents=("x" * 300, "../" * 9)).run_name()) < 120
