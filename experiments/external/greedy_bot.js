// Plays as cribai's agent named greedy, from what the protocol tells and nothing else:
// it tosses for the most points kept, plus or minus what the tossed cards score by themselves, and
// lays the card that pegs most now, the highest of equals.
"use strict";

const readline = require("node:readline");

const RANKS = "A23456789TJQK";
const PROTOCOL = 1;

// What the bot knows of the variants of the rules: how they are left out.
const WITHOUT_VARIANTS = {
  num_decks: 1,
  lowball: false,
  num_starters: 1,
  draw_before_toss: false,
  draw_after_toss: false,
  chosen_starter: false,
  two_cribs: false,
  bid: false,
  wild_kings: false,
  muggins: false,
};

let rules = null;

// A joker, "J1" to "J4", counts nothing and stands below the ace.
function parseCard(text) {
  if (text[0] === "J" && "1234".includes(text[1])) {
    return { text, order: 0, value: 0, suit: null };
  }
  const order = RANKS.indexOf(text[0]) + 1;
  return { text, order, value: Math.min(order, 10), suit: text[1] };
}

function fifteens(cards) {
  const ways = new Array(rules.fifteen + 1).fill(0);
  ways[0] = 1;
  for (const { value } of cards) {
    for (let total = rules.fifteen; total >= value; total--) {
      ways[total] += ways[total - value];
    }
  }
  return 2 * ways[rules.fifteen];
}

function pairsAndRuns(cards) {
  // One place more than there are ranks, always empty, ends a run of kings.
  const counts = new Array(RANKS.length + 2).fill(0);
  for (const { order } of cards) counts[order]++;
  let points = 0;
  let length = 0;
  let ways = 1;
  for (const count of counts) {
    points += count * (count - 1);
    if (count > 0) {
      length++;
      ways *= count;
      continue;
    }
    if (length >= 3) points += length * ways;
    length = 0;
    ways = 1;
  }
  return points;
}

// What cards score without a starter, a flush apart.
function rankPoints(cards) {
  return fifteens(cards) + pairsAndRuns(cards);
}

function flushPoints(cards) {
  const { suit } = cards[0];
  const isFlush = cards.length >= 3 && suit !== null && cards.every((card) => card.suit === suit);
  return isFlush ? cards.length : 0;
}

function playPoints(series, count) {
  const points = count === rules.fifteen || count === rules.thirty_one ? 2 : 0;
  const latest = series.map((card) => card.order).reverse();
  let same = 1;
  while (latest[same] === latest[0]) same++;
  if (same > 1) return points + same * (same - 1);
  for (let length = latest.length; length >= 3; length--) {
    const orders = latest.slice(0, length);
    const isDistinct = new Set(orders).size === length;
    if (isDistinct && Math.max(...orders) - Math.min(...orders) === length - 1) {
      return points + length;
    }
  }
  return points;
}

function chooseToss(view) {
  const sign = view.role === "dealer" ? 1 : -1;
  let best = null;
  let most = -Infinity;
  for (const { action, toss } of view.legal_actions) {
    const kept = view.hand.filter((card) => !toss.includes(card)).map(parseCard);
    // A crib has a flush only with its starter, so the tossed cards score by their ranks.
    const points =
      rankPoints(kept) + flushPoints(kept) + sign * rankPoints(toss.map(parseCard));
    if (points > most) {
      most = points;
      best = action;
    }
  }
  return best;
}

function choosePlay(view) {
  const series = view.series.map(parseCard);
  let best = null;
  let most = -Infinity;
  for (const { play } of view.legal_actions) {
    const card = parseCard(play);
    const points = playPoints([...series, card], view.count + card.value);
    if (points >= most) {
      most = points;
      best = { play };
    }
  }
  return best;
}

// Takes the rules, or says which of them are unknown to the bot.
function learn(newRules) {
  rules = newRules;
  const names = Object.keys(WITHOUT_VARIANTS);
  const unknown = names.filter((name) => rules[name] !== WITHOUT_VARIANTS[name]);
  return unknown.length === 0 ? {} : { refuses: `I do not know ${unknown.join(", ")}` };
}

function answer(message) {
  switch (message.type) {
    case "hello": {
      const name = "greedy in JavaScript";
      return { type: "hello", protocol: PROTOCOL, name, batch: true, ...learn(message.rules) };
    }
    case "rules":
      return { type: "rules", ...learn(message.rules) };
    case "act": {
      const actions = message.views.map((view) =>
        view.phase === "toss" ? chooseToss(view) : choosePlay(view),
      );
      return { type: "actions", id: message.id, actions };
    }
    default:
      return null;
  }
}

const lines = readline.createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "quit") {
    lines.close();
    return;
  }
  const reply = answer(message);
  if (reply !== null) process.stdout.write(JSON.stringify(reply) + "\n");
});
