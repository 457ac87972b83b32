"""The search for a value that fails: draw, judge, aim, shrink. It knows neither Spark nor streams nor formulas."""
