"""Run by a Python that has flloat: reads formulas of LTLf and traces from stdin, writes what flloat says of them.

Each line is a JSON list of a formula in flloat's notation and a trace, a list of lists of names; the answer is a line
with true or false.
"""

import json
import sys


def main():
    from flloat.parser.ltlf import LTLfParser

    parse = LTLfParser()
    for line in sys.stdin:
        text, names, trace = json.loads(line)
        states = [{name: name in state for name in names} for state in trace]
        print(json.dumps(bool(parse(text).truth(states, 0))))


if __name__ == "__main__":
    main()
