"""Checkpoints: safetensors with a JSON header, written whole or not at all, checked when read."""

import hashlib
import itertools
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

import cribai
from cribai.errors import CribaiError
from cribai.training.features import ENCODING_VERSION, NUM_INPUTS
from cribai.training.network import NUM_OUTPUTS, LayNetwork

HEADER_KEY: Final = "cribai"
FORMAT: Final = 1
MAX_HEADER: Final = 1_000_000
MAX_BYTES: Final = 1_000_000_000
MAX_LAYERS: Final = 16
_LENGTH_BYTES: Final = 8


class CheckpointError(CribaiError):
    """A file of weights that cannot be used."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A network with what its file says of it.

    Attributes:
        network: The network.
        header: Encoding version, rules, configuration, figures and the hash of the sources.
    """

    network: LayNetwork
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


def network_tensors(network: LayNetwork) -> dict[str, torch.Tensor]:
    """Returns a network's weights by name, float32 on the CPU."""
    return {
        name: tensor.detach().to("cpu", torch.float32).contiguous()
        for name, tensor in network.state_dict().items()
    }


def build_network(tensors: Mapping[str, torch.Tensor], name: str) -> LayNetwork:
    """Returns the network of some weights.

    Args:
        tensors: Its weights by name.
        name: What errors call the file.

    Raises:
        CheckpointError: They are not those of a network of this version.
    """
    hidden = []
    for layer in range(MAX_LAYERS):
        bias = tensors.get(f"hidden.{layer}.bias")
        if bias is None:
            break
        hidden.append(bias.numel())
    sizes = [NUM_INPUTS, *hidden]
    expected: dict[str, tuple[int, ...]] = {}
    for layer, (size, following) in enumerate(itertools.pairwise(sizes)):
        expected[f"hidden.{layer}.weight"] = (following, size)
        expected[f"hidden.{layer}.bias"] = (following,)
    expected["head.weight"] = (NUM_OUTPUTS, sizes[-1])
    expected["head.bias"] = (NUM_OUTPUTS,)
    found = {label: tuple(tensor.shape) for label, tensor in tensors.items()}
    if not hidden or found != expected:
        wrong = sorted(
            label for label in found | expected if found.get(label) != expected.get(label)
        )
        what = wrong[0] if wrong else "its hidden layers"
        raise CheckpointError(
            f"The file {name!r} does not fit the network: {what} has the shape"
            f" {found.get(what)} and should have {expected.get(what)}."
        )
    network = LayNetwork(tuple(hidden))
    network.load_state_dict(dict(tensors))
    return network.eval()


def load_weights(path: Path) -> Weights:
    """Returns the network of a file of weights; see `load_tensors` for what is refused."""
    tensors, header = load_tensors(path)
    return Weights(build_network(tensors, str(path)), header)


def read_weights(content: bytes, name: str) -> Weights:
    """Returns the network of a file's content; see `load_weights`."""
    tensors, header = read_tensors(content, name)
    return Weights(build_network(tensors, name), header)


@lru_cache(maxsize=1)
def source_hash() -> str:
    """Returns the SHA-256 of cribai's Python sources, which the weights were made with."""
    root = Path(cribai.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def tensor_sizes(network: LayNetwork) -> int:
    """Returns how many weights a network has."""
    return sum(math.prod(weight.shape) for weight in network.parameters())
