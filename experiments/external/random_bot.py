# random_bot.py
import json
import random
import sys


def answer(message):
    if message["type"] == "hello":
        return {"type": "hello", "protocol": 1, "name": "random bot", "batch": True}
    if message["type"] == "rules":
        return {"type": "rules"}
    if message["type"] == "act":
        actions = [choose(view) for view in message["views"]]
        return {"type": "actions", "id": message["id"], "actions": actions}
    return None


def choose(view):
    # The key belongs to this decision: whoever plays the game again sees the same choice.
    return random.Random(int(view["key"])).choice(view["legal_actions"])


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "quit":
            break
        reply = answer(message)
        if reply is not None:
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
