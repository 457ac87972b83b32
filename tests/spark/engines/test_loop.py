"""The run loop by itself, on queries that only write down what they are told. No Spark."""

from firesteel.spark.engines.loop import outputs_of_batches


class Query:
    """Puts out the index of the batch that it has settled."""

    name = "output"

    def __init__(self):
        self.told = []

    def feed(self, index):
        self.told.append(f"feed {index}")

    def settle(self, index, recorded, *, last):
        self.settled = index
        self.told.append(f"settle {index}, the last" if last else f"settle {index}")

    def take(self):
        return self.settled

    def output(self, taken):
        self.told.append(f"read {taken}")
        return taken


class Interruptions:
    def __init__(self, told, replayed=None, stopped=None):
        self.told, self.replayed, self.stopped = told, replayed, stopped

    def replays(self, index):
        return index == self.replayed

    def stops_after(self, index):
        return index == self.stopped

    def start_again(self, queries, index, replayed=None):
        self.told.append(f"start again in {index}" if replayed is not None else f"start again after {index}")


def told(length, **interrupted):
    query = Query()
    found = list(outputs_of_batches([query], length, interruptions=Interruptions(query.told, **interrupted)))
    assert found == [{"output": index} for index in range(length)]
    return query.told


def test_the_next_batch_is_fed_before_the_last_one_is_read():
    expected = [
        "feed 0",
        "settle 0",
        "feed 1",
        "read 0",
        "settle 1",
        "feed 2",
        "read 1",
        "settle 2, the last",
        "read 2",
    ]
    assert told(3) == expected
    query = Query()
    assert len(list(outputs_of_batches([query], 3))) == 3 and query.told == expected, "without interruptions as well"


def test_a_run_that_is_stopped_is_at_most_one_batch_too_far():
    query = Query()
    next(outputs_of_batches([query], 5))
    assert query.told == ["feed 0", "settle 0", "feed 1", "read 0"]


def test_all_queries_are_fed_and_settle_before_any_is_read():
    first, second = Query(), Query()
    first.told = second.told
    second.name = "other"
    assert next(outputs_of_batches([first, second], 1)) == {"output": 0, "other": 0}
    assert first.told == ["feed 0", "feed 0", "settle 0, the last", "settle 0, the last", "read 0", "read 0"]


def test_queries_that_are_stopped_are_read_first_and_fed_afterwards():
    assert told(2, stopped=0) == [
        "feed 0",
        "settle 0",
        "read 0",
        "start again after 0",
        "feed 1",
        "settle 1, the last",
        "read 1",
    ]
    assert told(1, stopped=0) == ["feed 0", "settle 0, the last", "read 0"], "nothing is left to start for"


def test_a_batch_that_is_replayed_is_read_once():
    assert told(2, replayed=0) == [
        "feed 0",
        "settle 0",
        "start again in 0",
        "settle 0",
        "feed 1",
        "read 0",
        "settle 1, the last",
        "read 1",
    ]
