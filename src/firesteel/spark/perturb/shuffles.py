"""The order in which the outputs of map tasks arrive, forced.

On a cluster they come as the network brings them; Spark on one machine always reads them in the order of the map tasks.
So the local session's shuffle manager gets a reader that takes the outputs one by one, in another order: every order is
one that a cluster could show, and each output's own rows stay in theirs. This is below everything that shuffles:
DataFrames, RDDs, DStreams, operators with state. A local property of the job switches it on; jobs without the property
shuffle as before. The class is compiled while Spark runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.perturb import Order
from firesteel.spark.failures import SubjectFailure, root_cause
from firesteel.spark.jvm import class_named, compiled, field_in, field_of, new

if TYPE_CHECKING:
    from pyspark import SparkContext

_PROPERTY = "firesteel.shuffle.order"
_CLASS = "firesteel.ReorderingShuffleManager"
_SOURCE = f"""
package firesteel;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.Random;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;

public class ReorderingShuffleManager extends SortShuffleManager {{
    private final SortShuffleManager below;
    private final MapOutputTrackerMaster tracker;

    public ReorderingShuffleManager(SparkConf conf, SortShuffleManager below, MapOutputTrackerMaster tracker) {{
        super(conf);
        this.below = below;
        this.tracker = tracker;
    }}

    public ShuffleHandle registerShuffle(int shuffle, ShuffleDependency dependency) {{
        return below.registerShuffle(shuffle, dependency);
    }}

    public ShuffleWriter getWriter(
            ShuffleHandle handle, long map, TaskContext context, ShuffleWriteMetricsReporter metrics) {{
        return below.getWriter(handle, map, context, metrics);
    }}

    public boolean unregisterShuffle(int shuffle) {{ return below.unregisterShuffle(shuffle); }}

    public IndexShuffleBlockResolver shuffleBlockResolver() {{
        // Asked for by the constructor of the class above as well, before there is one.
        return below == null ? super.shuffleBlockResolver() : below.shuffleBlockResolver();
    }}

    public void stop() {{ below.stop(); }}

    public ShuffleReader getReader(
            ShuffleHandle handle, int startMap, int endMap, int start, int end, TaskContext context,
            ShuffleReadMetricsReporter metrics) {{
        String order = context == null ? null : context.getLocalProperty("{_PROPERTY}");
        if (order != null && handle instanceof BaseShuffleHandle) {{
            ShuffleDependency dependency = ((BaseShuffleHandle) handle).dependency();
            int last = Math.min(endMap, outputs(handle.shuffleId()));
            // One that combines or sorts has to see all of its input at once.
            if (last - startMap > 1 && dependency.aggregator().isEmpty() && dependency.keyOrdering().isEmpty()) {{
                return new Reordered(below, handle, order(order, startMap, last, start), start, end, context, metrics);
            }}
        }}
        return below.getReader(handle, startMap, endMap, start, end, context, metrics);
    }}

    private int outputs(int shuffle) {{
        scala.Option found = tracker.shuffleStatuses().get(Integer.valueOf(shuffle));
        return found.isEmpty() ? 0 : ((ShuffleStatus) found.get()).mapStatuses().length;
    }}

    private static ArrayList order(String order, int from, int until, int reader) {{
        ArrayList maps = new ArrayList();
        for (int map = from; map < until; map++) maps.add(Integer.valueOf(map));
        if (order.equals("reversed")) Collections.reverse(maps);
        else Collections.shuffle(maps, new Random(Long.parseLong(order) * 1000003L + reader));
        return maps;
    }}

    public static class Reordered implements ShuffleReader {{
        private final SortShuffleManager below;
        private final ShuffleHandle handle;
        private final ArrayList maps;
        private final int start;
        private final int end;
        private final TaskContext context;
        private final ShuffleReadMetricsReporter metrics;

        public Reordered(
                SortShuffleManager below, ShuffleHandle handle, ArrayList maps, int start, int end,
                TaskContext context, ShuffleReadMetricsReporter metrics) {{
            this.below = below;
            this.handle = handle;
            this.maps = maps;
            this.start = start;
            this.end = end;
            this.context = context;
            this.metrics = metrics;
        }}

        public scala.collection.Iterator read() {{ return new Records(this); }}

        scala.collection.Iterator read(int map) {{
            return below.getReader(handle, map, map + 1, start, end, context, metrics).read();
        }}
    }}

    public static class Records extends scala.collection.AbstractIterator {{
        private final Reordered reader;
        private final Iterator maps;
        private scala.collection.Iterator now = null;

        public Records(Reordered reader) {{
            this.reader = reader;
            this.maps = reader.maps.iterator();
        }}

        public boolean hasNext() {{
            while (now == null || !now.hasNext()) {{
                if (!maps.hasNext()) return false;
                now = reader.read(((Integer) maps.next()).intValue());
            }}
            return true;
        }}

        public Object next() {{
            if (!hasNext()) throw new java.util.NoSuchElementException();
            return now.next();
        }}
    }}
}}
"""

_installing = Lock()


@contextmanager
def arriving(context: SparkContext, order: Order | None) -> Iterator[None]:
    """Jobs that this thread starts, and queries, read the outputs of map tasks in this order; None: as Spark does."""
    if order is None:
        yield
        return
    with _installing:
        _install(context)
    before = context.getLocalProperty(_PROPERTY)
    context.setLocalProperty(_PROPERTY, str(order))
    try:
        yield
    finally:
        context.setLocalProperty(_PROPERTY, before)  # type: ignore[arg-type]


def _install(context: SparkContext) -> None:
    """Put the reader in front of the session's own, once."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    if not str(context.master).startswith("local[") and context.master != "local":
        raise InvalidArgument(
            f"shuffle_order() is not possible on {context.master}: it needs a local session, where one process reads "
            "all shuffles. A cluster shows other orders by itself"
        )
    jvm: Any = context._jvm
    java: Any = context._jsc
    try:
        environment, place = java.sc().env(), _manager_field(jvm)
        manager = place.get(environment)
        name = manager.getClass().getName()
        if name == _CLASS:
            return
        if name != "org.apache.spark.shuffle.sort.SortShuffleManager":
            raise InvalidArgument(
                f"shuffle_order() is not possible: it needs Spark's own shuffle manager, and this session's is {name}"
            )
        scheduler = java.sc().dagScheduler()
        tracker = field_of(scheduler, "mapOutputTracker").get(scheduler)
        kind = compiled(jvm, _SOURCE, _CLASS, manager.getClass().getClassLoader())
        place.set(environment, new(context._gateway, kind, java.sc().conf(), manager, tracker))
    except (Py4JError, LookupError) as error:
        raise SubjectFailure(
            f"shuffle_order() is not possible with this version of Spark: {root_cause(error)}"
        ) from error


def _manager_field(jvm: Any) -> Any:
    """Where Spark's environment keeps its shuffle manager, by the names that it has had.

    Neither reflection nor Janino can list the methods of the environment: some need classes that are not there.
    """
    from py4j.protocol import Py4JError

    environment = class_named(jvm, "org.apache.spark.SparkEnv")
    try:
        return field_in(environment, "_blockingShuffleManager")  # 4.3
    except Py4JError:
        return field_in(environment, "_shuffleManager")
