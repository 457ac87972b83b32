"""Lists and maps that never change, however many of them share one Python list or dict."""

import pickle
import random

from firesteel.model.msvl.values import UNSET, List, Map, Record, lifted, plain, same


def test_every_version_of_a_list_stays_as_it_was():
    rng = random.Random(1)
    for _ in range(60):
        versions = [([], List())]
        for _ in range(25):
            items, value = rng.choice(versions[-3:] if rng.random() < 0.8 else versions)
            if items and rng.random() < 0.4:
                place = rng.randrange(len(items))
                versions.append(([*items[:place], -1, *items[place + 1 :]], value.put(place, -1)))
            else:
                number = rng.randrange(9)
                versions.append(([*items, number], value.append(number)))
            look, seen = rng.choice(versions)
            assert len(seen) == len(look)
            if look:
                place = rng.randrange(len(look))
                assert seen.at(place) == look[place]
        for items, value in versions:
            assert plain(value) == items and list(value) == items and len(value) == len(items)


def test_every_version_of_a_map_stays_as_it_was():
    rng = random.Random(2)
    for _ in range(60):
        versions = [({}, Map())]
        for _ in range(25):
            items, value = rng.choice(versions[-3:] if rng.random() < 0.8 else versions)
            key = rng.choice("abcd")
            if rng.random() < 0.2:
                rest = {name: each for name, each in items.items() if name != key}
                versions.append((rest, value.without(key)))
            else:
                versions.append(({**items, key: rng.randrange(9)}, value))
                versions[-1] = (versions[-1][0], value.put(key, versions[-1][0][key]))
        for items, value in versions:
            assert plain(value) == items
            assert all((key in value, value.get(key, None)) == (key in items, items.get(key)) for key in "abcd")


def test_appending_does_not_copy():
    first = List(range(1_000))
    second = first.append(1)
    third = second.append(2)
    assert third._content is second._content is first._content
    assert plain(first) == list(range(1_000)) and first._content is not third._content  # now it has its own
    assert plain(third)[-2:] == [1, 2]


def test_equality():
    assert List([1]) == List([]).append(1) != List([2])
    assert Map({"a": 1}) == Map().put("a", 1) != Map()
    assert Record("P", {"x": 1}) == Record("P", {"x": 0}).put("x", 1) != Record("Q", {"x": 1})
    assert same(1, 1.0) and not same(True, 1) and not same(0, False) and not same(UNSET, None)


def test_values_can_be_pickled():
    value = List([1, Map({"a": List([2])})])
    assert pickle.loads(pickle.dumps(value.append(3))) == value.append(3)


def test_plain_values_and_back():
    given = [1, "a", True, None, {"k": [1.5]}, [], (1, ("b",))]
    assert plain(lifted(given)) == given
