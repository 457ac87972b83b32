"""Operators: what a function promises, found out by testing it. Only those of `onspark` are run on Spark.

from firesteel import operators
fs.analyze(operators.reducer(lambda a, b: a - b))
"""

from firesteel.operators.kinds import Operator as Operator
from firesteel.operators.kinds import aggregate as aggregate
from firesteel.operators.kinds import arrow_udf as arrow_udf
from firesteel.operators.kinds import cogrouped_map as cogrouped_map
from firesteel.operators.kinds import combiner as combiner
from firesteel.operators.kinds import flat as flat
from firesteel.operators.kinds import function as function
from firesteel.operators.kinds import grouped_agg as grouped_agg
from firesteel.operators.kinds import grouped_map as grouped_map
from firesteel.operators.kinds import map_in_arrow as map_in_arrow
from firesteel.operators.kinds import map_in_pandas as map_in_pandas
from firesteel.operators.kinds import pandas_udf as pandas_udf
from firesteel.operators.kinds import partition_function as partition_function
from firesteel.operators.kinds import reducer as reducer
from firesteel.operators.onspark.inside import expression as expression
from firesteel.operators.onspark.inside import udtf as udtf
from firesteel.operators.onspark.operator import SparkOperator as SparkOperator
from firesteel.operators.onspark.operator import sink as sink
from firesteel.operators.onspark.operator import transformation as transformation
from firesteel.operators.onspark.stateful import processor as processor
from firesteel.operators.onspark.stateful import state_function as state_function
