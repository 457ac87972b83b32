"""What programs mean, by brute force: all words of states over a small domain are tried. Shares no code with the
interpreter; it reads the classes of the tree by their names only.

A word gives every variable a value in every state, or none (`None`). A statement holds on an interval of a timeline, as
its defining formula says, and then makes certain assignments and frames certain variables: a derivation. A word is a
model if there is a derivation that explains every value in it. What is assigned has the value assigned; what is not
assigned, but framed, has the value that it had in the state before on the frame's timeline; what is neither has none.
That is the minimal model of each choice of `or`.

Within one state an assignment may depend on values of that state. These have to be there for a reason other than the
assignment itself: no assignment may be its own reason.
"""

from itertools import product


class Undefined(Exception):
    """An expression reads what has no value."""


class Derivation:
    """What a statement did: assignments (position, variable, what was read for it), frames (position, variable,
    position before), and what was read (position, variable) on the way."""

    __slots__ = ("assigned", "framed", "read")

    def __init__(self, assigned=frozenset(), framed=frozenset(), read=frozenset()):
        self.assigned, self.framed, self.read = assigned, framed, read

    def __eq__(self, other):
        return (self.assigned, self.framed, self.read) == (other.assigned, other.framed, other.read)

    def __hash__(self):
        return hash((self.assigned, self.framed, self.read))

    def __or__(self, other):
        return Derivation(self.assigned | other.assigned, self.framed | other.framed, self.read | other.read)

    def because_of(self, read, position):
        """The same, where its assignments in this state also depend on what was read."""
        inner = frozenset(
            (at, name, reasons | read) if at == position else (at, name, reasons) for at, name, reasons in self.assigned
        )
        return Derivation(inner, self.framed, self.read | {(position, name) for name in read})


NOTHING = Derivation()


def models(body, functions, names, domain, longest):
    """All models of at most this many states, as sets of words: tuples of states, each a tuple of values."""
    found = set()
    states = list(product([None, *domain], repeat=len(names)))
    for length in range(1, longest + 1):
        for values in product(states, repeat=length):
            word = [dict(zip(names, state, strict=True)) for state in values]
            if is_model(body, functions, word):
                found.add(values)
    return found


def is_model(body, functions, word):
    meaning = Meaning(word, functions)
    timeline = tuple(range(len(word)))
    names = list(word[0])
    return any(explains(d, word, names, timeline) for d in meaning.of(body, timeline, 0, len(word) - 1))


def explains(derivation, word, names, positions):
    """Does the derivation explain every value of these variables?"""
    assigned = {(at, name) for at, name, _ in derivation.assigned}
    for at in positions:
        for name in names:
            if (at, name) in assigned:
                continue
            sources = [before for position, framed, before in derivation.framed if (position, framed) == (at, name)]
            if sources:
                if any(word[at][name] != word[before][name] for before in sources):
                    return False
            elif word[at][name] is not None:
                return False
    return grounded(derivation, word, assigned)


def grounded(derivation, word, assigned):
    """Has every assignment a reason other than itself?"""
    known = set()
    while True:
        more = set()
        for at, name, reasons in derivation.assigned:
            if (at, name) not in known and all(
                (at, each) not in assigned or (at, each) in known or kept(derivation, word, at, each)
                for each in reasons
            ):
                more.add((at, name))
        if not more:
            return known >= assigned
        known |= more


def kept(derivation, word, at, name):
    """Would the variable have the same value if it were not assigned?"""
    sources = [before for position, framed, before in derivation.framed if (position, framed) == (at, name)]
    return bool(sources) and all(word[at][name] == word[before][name] for before in sources)


class Meaning:
    def __init__(self, word, functions):
        self.word, self.functions, self.known = word, functions, {}

    def of(self, statement, timeline, i, j):
        """The derivations of a statement on the states i to j of a timeline."""
        key = (id(statement), timeline, i, j)
        if key not in self.known:
            try:
                self.known[key] = frozenset(self._of(statement, timeline, i, j))
            except Undefined:
                self.known[key] = frozenset()
        return self.known[key]

    def all(self, pieces):
        """All ways to have several statements hold, each on an interval of its own."""
        found = {NOTHING}
        for statement, timeline, i, j in pieces:
            inner = self.of(statement, timeline, i, j)
            found = {one | two for one in found for two in inner}
            if not found:
                break
        return found

    def _of(self, statement, timeline, i, j):
        here = timeline[i]
        match type(statement).__name__:
            case "Empty":
                return {NOTHING} if i == j else ()
            case "Skip":
                return {NOTHING} if j == i + 1 else ()
            case "Len":
                number, read = self.value(statement.number, timeline, i)
                return {NOTHING.because_of(read, here)} if j - i == number else ()
            case "Assign":
                return self._assigned(statement.to.name, statement.value, timeline, i)
            case "Declare":
                found = {NOTHING}
                for each in statement.names:
                    inner = self._assigned(each.name, each.value, timeline, i)
                    found = {one | two for one in found for two in inner}
                return found
            case "AssignNext":
                if j != i + 1:
                    return ()
                value, read = self.value(statement.value, timeline, i)
                later = frozenset(name for name in self.read_next)
                name, there = statement.to.name, timeline[j]
                made = Derivation(frozenset([(there, name, later)]), read=frozenset((there, each) for each in later))
                return {made | NOTHING.because_of(read, here)} if self.word[there][name] == value else ()
            case "StateFrame":
                names = [each.name for each in statement.locations]
                return {Derivation(framed=frozenset((here, name, timeline[i - 1]) for name in names if i > 0))}
            case "Frame":
                names = [each.name for each in statement.locations]
                return {self._framed(names, timeline, i, j)}
            case "Next":
                return self.of(statement.body, timeline, i + 1, j) if j > i else ()
            case "Always":
                return self.all([(statement.body, timeline, k, j) for k in range(i, j + 1)])
            case "If":
                holds, read = self.value(statement.test, timeline, i)
                inner = self.of(statement.then if holds else statement.otherwise, timeline, i, j)
                return {each.because_of(read, here) for each in inner}
            case "And":
                return self.all([(part, timeline, i, j) for part in statement.parts])
            case "Or":
                return {each for part in statement.parts for each in self.of(part, timeline, i, j)}
            case "Par":
                found = set()
                for ends in product(range(i, j + 1), repeat=len(statement.parts)):
                    if j in ends:
                        found |= self.all([(p, timeline, i, k) for p, k in zip(statement.parts, ends, strict=True)])
                return found
            case "Chop":
                return self._sequence(statement.parts, timeline, i, j)
            case "While":
                return self._while(statement, timeline, i, j)
            case "Await":
                return self._await(statement, timeline, i, j)
            case "Exist":
                return self._exist(statement, timeline, i, j)
            case "Prj":
                return self._projected(statement, timeline, i, j)
            case "Call":
                return self.of(self.functions[statement.function], timeline, i, j)
        raise AssertionError(type(statement).__name__)

    def _assigned(self, name, expression, timeline, i):
        value, read = self.value(expression, timeline, i)
        here = timeline[i]
        if self.word[here].get(name) != value:
            return ()
        return {Derivation(frozenset([(here, name, read)]), read=frozenset((here, each) for each in read))}

    def _framed(self, names, timeline, i, j):
        return Derivation(
            framed=frozenset((timeline[k], name, timeline[k - 1]) for k in range(i + 1, j + 1) for name in names)
        )

    def _sequence(self, parts, timeline, i, j):
        if len(parts) == 1:
            return self.of(parts[0], timeline, i, j)
        found = set()
        for cut in range(i, j + 1):
            for one in self.of(parts[0], timeline, i, cut):
                read = frozenset(name for at, name in one.read if at == timeline[cut])
                for two in self._sequence(parts[1:], timeline, cut, j):
                    found.add(one | two.because_of(read, timeline[cut]))
        return found

    def _while(self, statement, timeline, i, j):
        """Rounds of at least one step: one of a single state adds nothing to the interval."""
        holds, read = self.value(statement.test, timeline, i)
        if not holds:
            return {NOTHING.because_of(read, timeline[i])} if i == j else ()
        found = set()
        for cut in range(i + 1, j + 1):
            for one in self.of(statement.body, timeline, i, cut):
                last = frozenset(name for at, name in one.read if at == timeline[cut])
                for two in self.of(statement, timeline, cut, j):
                    found.add(one.because_of(read, timeline[i]) | two.because_of(last, timeline[cut]))
        return found

    def _await(self, statement, timeline, i, j):
        made = self._framed(sorted(variables(statement.test)), timeline, i, j)
        for k in range(i, j + 1):
            holds, read = self.value(statement.test, timeline, k)
            if holds != (k == j):
                return ()
            made = made | NOTHING.because_of(read, timeline[k])
        return {made}

    def _exist(self, statement, timeline, i, j):
        """Some values of the variables explain themselves."""
        found = set()
        positions = timeline[i : j + 1]
        domain = sorted({value for state in self.word for value in state.values() if value is not None} | {0, 1})
        names = statement.names
        for column in product([None, *domain], repeat=len(positions) * len(names)):
            word = [dict(state) for state in self.word]
            for state in word:
                state.update(dict.fromkeys(names))
            for number, value in enumerate(column):
                word[positions[number // len(names)]][names[number % len(names)]] = value
            for each in Meaning(word, self.functions).of(statement.body, timeline, i, j):
                if explains(only(each, names), word, names, positions):
                    found.add(without(each, names))
        return found

    def _projected(self, statement, timeline, i, j):
        """There are points i = r0 <= r1 <= ... <= rm with the parts between them, and the whole on the points."""
        found = set()
        for points in product(range(i, j + 1), repeat=len(statement.parts)):
            if list(points) != sorted(points):
                continue
            ends = (i, *points)
            pieces = [(part, timeline, a, b) for part, a, b in zip(statement.parts, ends[:-1], ends[1:], strict=True)]
            if ends[-1] < j:
                chosen = [sorted({*ends, *range(ends[-1], j + 1)})]
            else:
                chosen = [sorted(set(ends[: h + 1])) for h in range(len(ends))]
            for places in chosen:
                inner = tuple(timeline[k] for k in places)
                for whole in self.of(statement.whole, inner, 0, len(inner) - 1):
                    found |= self._met(pieces, whole)
        return found

    def _met(self, pieces, whole):
        """The parts one after another, and the whole with them: what comes where parts meet depends on their end."""
        found = {(NOTHING, whole)}
        for part, timeline, a, b in pieces:
            longer = set()
            for before, whole_so_far in found:
                read = frozenset(name for at, name in before.read if at == timeline[a])
                for one in self.of(part, timeline, a, b):
                    ended = frozenset(name for at, name in one.read if at == timeline[b])
                    later = whole_so_far.because_of(ended, timeline[b]) if b > a else whole_so_far
                    longer.add((before | one.because_of(read, timeline[a]), later))
            found = longer
        return {parts | whole_so_far for parts, whole_so_far in found}

    # --- expressions ---

    def value(self, expression, timeline, i):
        """The value in state i, and the variables of that state that were read for it."""
        read = set()
        self.read_next = set()
        return self._value(expression, timeline, i, i, read), frozenset(read)

    def _value(self, expression, timeline, i, now, read):
        def sub(part):
            return self._value(part, timeline, i, now, read)

        match type(expression).__name__:
            case "Constant":
                return expression.value
            case "Variable":
                if i == now:
                    read.add(expression.name)
                elif i > now:
                    self.read_next.add(expression.name)
                value = self.word[timeline[i]].get(expression.name)
                if value is None:
                    raise Undefined
                return value
            case "Previous":
                if i == 0:
                    raise Undefined
                return self._value(expression.body, timeline, i - 1, now, read)
            case "Following":
                return self._value(expression.body, timeline, i + 1, now, read)
            case "Unary":
                return not sub(expression.body) if expression.sign == "!" else -sub(expression.body)
            case "Binary":
                left = sub(expression.left)
                match expression.sign:
                    case "AND":
                        return left and sub(expression.right)
                    case "OR":
                        return left or sub(expression.right)
                    case "=":
                        return left == sub(expression.right)
                    case "!=":
                        return left != sub(expression.right)
                    case "<":
                        return left < sub(expression.right)
                    case "+":
                        return left + sub(expression.right)
                    case "-":
                        return left - sub(expression.right)
                    case "%":
                        return left % sub(expression.right)
        raise AssertionError(expression)


def only(derivation, names):
    """What concerns these variables. Reasons that lead through others are looked at from outside."""
    return Derivation(
        frozenset((at, name, reasons & set(names)) for at, name, reasons in derivation.assigned if name in names),
        frozenset(each for each in derivation.framed if each[1] in names),
        derivation.read,
    )


def without(derivation, names):
    """What is seen from outside of the variables' scope. Reasons that lead through them are drawn out."""
    hidden = {}
    for at, name, reasons in derivation.assigned:
        if name in names:
            hidden.setdefault((at, name), set()).update(reasons)
    assigned = set()
    for at, name, reasons in derivation.assigned:
        if name not in names:
            todo, seen = list(reasons), set()
            while todo:
                each = todo.pop()
                if each in seen:
                    continue
                seen.add(each)
                todo += hidden.get((at, each), ()) if each in names else ()
            assigned.add((at, name, frozenset(seen - set(names))))
    return Derivation(
        frozenset(assigned),
        frozenset(each for each in derivation.framed if each[1] not in names),
        frozenset(each for each in derivation.read if each[1] not in names),
    )


def variables(expression):
    """The variables whose present value an expression reads."""
    if type(expression).__name__ in ("Previous", "Following"):
        return set()
    if type(expression).__name__ == "Variable":
        return {expression.name}
    found = set()
    for part in ("body", "left", "right"):
        if hasattr(expression, part):
            found |= variables(getattr(expression, part))
    return found
