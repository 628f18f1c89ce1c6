"""Configuration files: TOML into checked, frozen models; an unknown key is an error.

A command's model derives from `Config`. Overrides by dotted key, from `--set` or from options, go
over the file's values.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError

from cribai.errors import ConfigError
from cribai.rules import PRESETS, Rules, get_rules

NONE = "none"
"""What TOML, which has no null, says for the skunk line of rules without one."""


class Config(BaseModel):
    """Base of all configurations: frozen, and strict about keys and types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


C = TypeVar("C", bound=Config)


def _read_rules(value: object) -> object:
    if isinstance(value, str):
        return get_rules(value)
    if isinstance(value, dict):
        return Rules.from_dict({key: None if v == NONE else v for key, v in value.items()})
    return value


def _write_rules(rules: Rules) -> str | dict[str, Any]:
    if PRESETS.get(rules.name) == rules:
        return rules.name
    return {key: NONE if value is None else value for key, value in rules.to_dict().items()}


RulesSetting = Annotated[Rules, BeforeValidator(_read_rules), PlainSerializer(_write_rules)]
"""Rules in a configuration: a preset's name, or a table of the fields that differ from standard."""


def load_config(
    model: type[C], path: Path | None = None, overrides: Mapping[str, Any] | None = None
) -> C:
    """Returns the configuration of a file with overrides.

    Args:
        model: The class of the configuration.
        path: A TOML file; None for the defaults.
        overrides: Values by dotted key, such as `{"rules.target": 61}`, later ones over earlier.

    Raises:
        ConfigError: The file is no TOML, or a key or value does not fit the model.
        OSError: The file cannot be read.
    """
    overrides = overrides or {}
    values = {} if path is None else read_toml(path)
    for key, value in overrides.items():
        _set(values, key, value)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_sentence(error, model, path, overrides)) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Returns the values of a TOML file.

    Raises:
        ConfigError: The file is no TOML.
        OSError: It cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The file {str(path)!r} is no TOML: {error}; mend it there.") from None


def parse_overrides(texts: Iterable[str]) -> dict[str, Any]:
    """Returns the overrides written as `a.b=value`, by dotted key.

    A value is read as TOML where it is TOML, and as plain text otherwise.

    Raises:
        ConfigError: A text is not of that form.
    """
    overrides = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not all(part.strip() for part in key.split(".")):
            raise ConfigError(f"The override {text!r} is not key=value; write it like pairs=1000.")
        overrides[key.strip()] = _parse_value(value.strip())
    return overrides


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    *path, last = (part.strip() for part in key.split("."))
    table: Any = values
    for part in path:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"The override {key!r} does not fit: {part!r} is no table here.")
    table[last] = value


def _sentence(
    error: ValidationError,
    model: type[Config],
    path: Path | None,
    overrides: Mapping[str, Any],
) -> str:
    """Returns one sentence about the first thing that is wrong: the key, where it is, the mend."""
    # A misspelt key is what is wrong, not the absence of the right one.
    details = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    location = details["loc"]
    key = ".".join(str(part) for part in location)
    prefixes = {".".join(str(part) for part in location[:n]) for n in range(1, len(location) + 1)}
    overridden = any(name in prefixes or name.startswith(f"{key}.") for name in overrides)
    where = "the options" if overridden or path is None else repr(str(path))
    if details["type"] == "extra_forbidden":
        known = ", ".join(sorted(_model_at(model, location[:-1]).model_fields))
        return f"Unknown key {key!r} in {where}; the keys are {known}."
    if details["type"] == "value_error":
        return f"{key} in {where}: {details['ctx']['error']}"
    if details["type"] == "missing":
        return f"The key {key!r} is missing in {where}; give it a value."
    what = details["msg"][:1].lower() + details["msg"][1:]
    return f"{key} is {details['input']!r} in {where}; {what.replace('input', 'it', 1)}."


def _model_at(model: type[BaseModel], location: tuple[int | str, ...]) -> type[BaseModel]:
    """Returns the model of the table at a location, through lists and optional fields."""
    for part in location:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        candidates = [] if field is None else [field.annotation, *get_args(field.annotation)]
        for candidate in candidates:
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                model = candidate
    return model


def dump_toml(values: Mapping[str, Any]) -> str:
    """Returns values as TOML: text, numbers, booleans, lists of them, and tables.

    Raises:
        ConfigError: A value is of another type.
    """
    return "\n".join(_toml_lines(values, ())) + "\n"


def _toml_lines(values: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = []
    tables = []
    for key, value in values.items():
        name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)
        if isinstance(value, Mapping):
            inner = (*path, name)
            tables += ["", f"[{'.'.join(inner)}]", *_toml_lines(value, inner)]
        else:
            lines.append(f"{name} = {_toml_value(value)}")
    return lines + tables


def _toml_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, (str, bool, int)):
        # JSON's text, numbers and truth values are TOML's, but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    raise ConfigError(f"{value!r} cannot be written as TOML; use text, numbers, lists and tables.")
