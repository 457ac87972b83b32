"""The body of a small function of Python as one expression of MSVL: variables become `let`, branches `? :`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from firesteel.model.msvl import terms as e
from firesteel.model.translate.known import NULL, Untranslatable
from firesteel.model.translate.syntax import Env, Expressions

MOST = 4_000
"""How many parts an expression may have: branches that go on after one another are written out."""


class Blocks:
    """Translates the statements of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.size = 0

    def body(self, statements: Sequence[ast.stmt], env: Env) -> e.Expression:
        """What the statements return; for a generator, the list of what it yields."""
        nodes = [node for each in statements for node in ast.walk(each)]
        if any(isinstance(node, ast.YieldFrom | ast.Await) for node in nodes):
            raise Untranslatable("yield from, or await")
        if any(isinstance(node, ast.Yield) for node in nodes):
            return self._yielded(list(statements), env)
        return self._returned(list(statements), env)

    def _count(self) -> None:
        self.size += 1
        if self.size > MOST:
            raise Untranslatable("more branches than an expression can hold")

    def _returned(self, statements: list[ast.stmt], env: Env) -> e.Expression:
        self._count()
        if not statements:
            return NULL
        first, rest = statements[0], statements[1:]
        match first:
            case ast.Return(value):
                return NULL if value is None else self.expressions.value(value, env)
            case ast.If(test, body, orelse):
                condition = self.expressions.test(test, env)
                return e.Conditional(
                    condition, self._returned([*body, *rest], env), self._returned([*orelse, *rest], env)
                )
        name, assigned, inner = self._assigned(first, env)
        after = self._returned(rest, inner)
        return after if assigned is None else e.Let(name, assigned, after)

    def _yielded(self, statements: list[ast.stmt], env: Env) -> e.Expression:
        self._count()
        if not statements:
            return e.ListOf(())
        first, rest = statements[0], statements[1:]
        match first:
            case ast.Return(None):
                return e.ListOf(())
            case ast.Expr(ast.Yield(value)):
                one = NULL if value is None else self.expressions.value(value, env)
                return _joined(e.ListOf((one,)), self._yielded(rest, env))
            case ast.If(test, body, orelse):
                condition = self.expressions.test(test, env)
                return e.Conditional(
                    condition, self._yielded([*body, *rest], env), self._yielded([*orelse, *rest], env)
                )
            case ast.For(target, source, body, []):
                return _joined(self._loop(target, source, body, env), self._yielded(rest, env))
        name, assigned, inner = self._assigned(first, env)
        after = self._yielded(rest, inner)
        return after if assigned is None else e.Let(name, assigned, after)

    def _loop(self, target: ast.expr, source: ast.expr, body: list[ast.stmt], env: Env) -> e.Expression:
        changed = {
            n.id for each in body for n in ast.walk(each) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if changed & set(env):
            raise Untranslatable(f"a loop that changes {min(changed & set(env))}")
        if any(isinstance(n, ast.Break | ast.Continue | ast.Return) for each in body for n in ast.walk(each)):
            raise Untranslatable("break, continue or return in a loop")
        records = self.expressions.value(source, env)
        inner = dict(env)
        name = self.expressions.target(target, inner)
        return e.Apply("flat", (e.Comprehension(self._yielded(body, inner), (e.Clause((name,), records),)),))

    def _assigned(self, statement: ast.stmt, env: Env) -> tuple[str, e.Expression | None, Env]:
        """A name, its value, and what is known afterwards; no value for a statement that says nothing."""
        inner = dict(env)
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()):
                return "", None, env
            case ast.Assign([target], node) | ast.AnnAssign(target, _, ast.expr() as node):
                value = self.expressions.value(node, env)
            case ast.AugAssign(ast.Name(name) as target, op, node):
                value = self.expressions.value(ast.BinOp(ast.Name(name, ast.Load()), op, node), env)
            case _:
                raise Untranslatable(f"the statement {ast.unparse(statement).splitlines()[0]!r}")
        return self.expressions.target(target, inner), value, inner


def _joined(left: e.Expression, right: e.Expression) -> e.Expression:
    if isinstance(right, e.ListOf) and not right.items:
        return left
    if isinstance(left, e.ListOf) and isinstance(right, e.ListOf):
        return e.ListOf(left.items + right.items)
    return e.Binary("+", left, right)
