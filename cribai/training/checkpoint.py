"""Checkpoints: safetensors with a JSON header, written whole or not at all, checked when read."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

import cribai
from cribai.errors import CribaiError
from cribai.training.features import ENCODING_VERSION
from cribai.training.network import LayNetwork, Perceptron, TossNetwork

HEADER_KEY: Final = "cribai"
FORMAT: Final = 1
MAX_HEADER: Final = 1_000_000
MAX_BYTES: Final = 1_000_000_000
MAX_LAYERS: Final = 16
MAX_WIDTH: Final = 65_536
LAYS: Final = "lays"
TOSSES: Final = "tosses"
"""The parts of a file of weights, prefixes of their tensors' names."""

_LENGTH_BYTES: Final = 8


class CheckpointError(CribaiError):
    """A file of weights that cannot be used."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A network with what its file says of it.

    Attributes:
        lays: The network of the lays.
        tosses: The network of the tosses, if there is one.
        header: Encoding version, rules, configuration, figures and the hash of the sources.
    """

    lays: LayNetwork
    tosses: TossNetwork | None
    header: dict[str, Any]


def save_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: dict[str, Any]) -> str:
    """Writes tensors and a header to a file, whole or not at all; returns the file's SHA-256."""
    known = {"format": FORMAT, "encoding": ENCODING_VERSION, "sources": source_hash()}
    content = save(dict(tensors), {HEADER_KEY: json.dumps(known | header, sort_keys=True)})
    write_atomically(path, content)
    return hashlib.sha256(content).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that a reader, or a crash, meets the old one or the new one."""
    unfinished = path.with_name(path.name + ".tmp")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def load_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Returns the tensors and the header of a file.

    Raises:
        CheckpointError: It is no such file, is damaged or too large, is of another version of the
            encoding, or holds a number that is none.
        OSError: It cannot be read.
    """
    if path.stat().st_size > MAX_BYTES:
        raise CheckpointError(f"The file {str(path)!r} is too large for weights of cribai.")
    return read_tensors(path.read_bytes(), str(path))


def read_tensors(content: bytes, name: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Returns the tensors and the header of a file's content; see `load_tensors`.

    Args:
        content: The file's bytes.
        name: What errors call the file.
    """
    header = _read_header(content, name)
    try:
        tensors = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"The file {name!r} is damaged: {error}; fetch or train it anew."
        ) from None
    for label, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            raise CheckpointError(
                f"The file {name!r} holds {label!r} as {tensor.dtype}; only float32 is read."
            )
        if not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(
                f"The file {name!r} holds numbers in {label!r} that are none; train it anew."
            )
    return tensors, header


def _read_header(content: bytes, name: str) -> dict[str, Any]:
    no_weights = f"The file {name!r} is no safetensors file of cribai"
    if len(content) < _LENGTH_BYTES:
        raise CheckpointError(f"{no_weights}: it is cut short.")
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if length > min(MAX_HEADER, len(content) - _LENGTH_BYTES):
        raise CheckpointError(f"{no_weights}: its header is said to have {length} bytes.")
    try:
        outer = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
        header = json.loads(outer["__metadata__"][HEADER_KEY])
        version, encoding = header["format"], header["encoding"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError(f"{no_weights}: its header does not say so.") from None
    if version != FORMAT:
        raise CheckpointError(f"{no_weights} of format {FORMAT}, but of {version!r}.")
    if encoding != ENCODING_VERSION:
        raise CheckpointError(
            f"The file {name!r} is of version {encoding!r} of the encoding and this is version"
            f" {ENCODING_VERSION}; train it anew or use the cribai that it was made with."
        )
    return dict(header)


def network_tensors(network: Perceptron, part: str) -> dict[str, torch.Tensor]:
    """Returns a network's weights by name, each prefixed by the part; float32 on the CPU."""
    return {
        f"{part}.{name}": tensor.detach().to("cpu", torch.float32).contiguous()
        for name, tensor in network.state_dict().items()
    }


def weights_tensors(weights: Weights) -> dict[str, torch.Tensor]:
    """Returns the tensors of a file of weights."""
    tensors = network_tensors(weights.lays, LAYS)
    if weights.tosses is not None:
        tensors |= network_tensors(weights.tosses, TOSSES)
    return tensors


N = TypeVar("N", bound=Perceptron)


def build_network(
    kind: Callable[[tuple[int, ...]], N], tensors: Mapping[str, torch.Tensor], part: str, name: str
) -> N:
    """Returns the network of some weights.

    Args:
        kind: Its class.
        tensors: Weights by name, of other parts too.
        part: The prefix of this network's weights.
        name: What errors call the file.

    Raises:
        CheckpointError: They are not those of a network of this version.
    """
    given = {
        label.removeprefix(f"{part}."): tensor
        for label, tensor in tensors.items()
        if label.startswith(f"{part}.")
    }
    hidden: list[int] = []
    while len(hidden) < MAX_LAYERS and f"hidden.{len(hidden)}.bias" in given:
        hidden.append(given[f"hidden.{len(hidden)}.bias"].numel())
    if not hidden or min(hidden) < 1 or max(hidden) > MAX_WIDTH:
        raise CheckpointError(f"The file {name!r} does not fit the network: no {part!r} in it.")
    network = kind(tuple(hidden))
    expected = {label: tuple(tensor.shape) for label, tensor in network.state_dict().items()}
    found = {label: tuple(tensor.shape) for label, tensor in given.items()}
    for label in sorted(found | expected):
        if found.get(label) != expected.get(label):
            raise CheckpointError(
                f"The file {name!r} does not fit the network: {part}.{label} has the shape"
                f" {found.get(label)} and should have {expected.get(label)}."
            )
    network.load_state_dict(given)
    network.eval()
    return network


def load_weights(path: Path) -> Weights:
    """Returns the networks of a file of weights; see `load_tensors` for what is refused."""
    tensors, header = load_tensors(path)
    return _weights(tensors, header, str(path))


def read_weights(content: bytes, name: str) -> Weights:
    """Returns the networks of a file's content; see `load_weights`."""
    tensors, header = read_tensors(content, name)
    return _weights(tensors, header, name)


def _weights(tensors: Mapping[str, torch.Tensor], header: dict[str, Any], name: str) -> Weights:
    parts = {label.partition(".")[0] for label in tensors}
    if not parts <= {LAYS, TOSSES}:
        unknown = min(parts - {LAYS, TOSSES})
        raise CheckpointError(
            f"The file {name!r} does not fit the network: {unknown!r} is no part."
        )
    lays = build_network(LayNetwork, tensors, LAYS, name)
    tosses = build_network(TossNetwork, tensors, TOSSES, name) if TOSSES in parts else None
    return Weights(lays, tosses, header)


@lru_cache(maxsize=1)
def source_hash() -> str:
    """Returns the SHA-256 of cribai's Python sources, which the weights were made with."""
    root = Path(cribai.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
