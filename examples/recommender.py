# SPDX-License-Identifier: BSD-3-Clause
"""A recommender that learns from clicks.

Visitors come with a few known traits; the page shows one of five offers; a click, or none, arrives later: after other
visitors have been served, in any order, and now and then never. What is needed to learn from a click travels as JSON
with the page, so the web server need not remember anything.
"""

import heapq
import random

import hunch

OFFERS = ["garden", "games", "books", "travel", "tools"]
HOBBIES = {"teen": "games", "parent": "garden", "reader": "books", "student": "travel", "builder": "tools"}


def visitor(rng):
    """Traits as the site knows them, and what this visitor would click."""
    kind = rng.choice(list(HOBBIES))
    traits = {"kind": kind, "evening": rng.random() < 0.5, "age": rng.gauss(0, 1)}
    likes = HOBBIES[kind] if rng.random() < 0.9 else rng.choice(OFFERS)
    return traits, likes


def main(visitors=4000, seed=1):
    rng = random.Random(seed)
    learner = hunch.Learner("confidit", classes=OFFERS, eta=0.1, bias=1, seed=seed)
    on_their_way = []  # (when the answer arrives, a tie breaker, the page's token, clicked)
    clicks = 0
    for now in range(visitors):
        while on_their_way and on_their_way[0][0] <= now:
            _, _, token, clicked = heapq.heappop(on_their_way)
            learner.feedback(hunch.Choice.from_json(token), right=clicked)
        traits, likes = visitor(rng)
        choice = learner.predict(traits)
        clicked = choice.label == likes
        clicks += clicked
        if rng.random() < 0.95:  # some answers get lost
            heapq.heappush(on_their_way, (now + rng.randint(1, 200), now, choice.to_json(), clicked))
        if (now + 1) % 1000 == 0:
            print(f"visitors {now - 998:5} to {now + 1:5}: {clicks / 10:.1f} % clicked")
            clicks = 0
    for kind in HOBBIES:
        print(f"{kind:8} is shown {learner.greedy({'kind': kind, 'evening': True, 'age': 0.0})}")
    return learner


if __name__ == "__main__":
    main()
