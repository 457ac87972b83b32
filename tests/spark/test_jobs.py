"""Tags of jobs: each comes off the thread again, whatever happens meanwhile. No Spark is needed."""

import pytest

from firesteel.spark.jobs import left_behind, tagged


class Context:
    """Keeps tags as a SparkContext does; `interrupted` while it adds one."""

    def __init__(self, interrupted=False):
        self.tags, self.interrupted, self.stopped = {"of-a-user"}, interrupted, False

    def addJobTag(self, tag):
        self.tags.add(tag)
        if self.interrupted:
            raise KeyboardInterrupt

    def removeJobTag(self, tag):
        if self.stopped:
            raise RuntimeError("the SparkContext is stopped")
        self.tags.discard(tag)

    def getJobTags(self):
        return self.tags


def test_a_tag_is_there_meanwhile_and_comes_off_again():
    context = Context()
    with tagged(context) as tag:
        assert context.tags == {"of-a-user", tag} and left_behind(context) == {tag}
    assert context.tags == {"of-a-user"} and not left_behind(context)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_tag_comes_off_where_something_fails(error):
    context = Context()
    with pytest.raises(error), tagged(context):
        raise error
    assert context.tags == {"of-a-user"}


def test_a_tag_comes_off_where_an_interrupt_comes_while_it_is_added():
    context = Context(interrupted=True)
    with pytest.raises(KeyboardInterrupt), tagged(context):
        pass
    assert context.tags == {"of-a-user"}


def test_what_failed_is_shown_also_where_spark_is_gone():
    context = Context()
    with pytest.raises(ValueError, match="first"), tagged(context):
        context.stopped = True
        raise ValueError("first")
