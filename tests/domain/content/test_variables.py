import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code
from pabal.domain.content import variables
from tests.fixtures.refusals import refused

variable_names = st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]), min_size=1)
literals = st.text(st.characters(exclude_characters="#", exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("no variables", ()),
        ("#{name}", ("name",)),
        ("#{name}님, #{order} 도착", ("name", "order")),
        ("#{b} #{a} #{b}", ("b", "a")),
        ("#{이름}#{주문 번호}", ("이름", "주문 번호")),
        ("#{ a }", (" a ",)),
        ("#{a.b-c_1}", ("a.b-c_1",)),
        ("##{a}", ("a",)),
        ("#{}", ()),
        ("#{a", ()),
        ("#{a #{b}", ("b",)),
        ("#{a}}", ("a",)),
        ("#{{a}}", ()),
        ("#{a#{b}}", ("b",)),
        ("#{a{b}c}", ()),
        ("# {a}", ()),
        ("${a}", ()),
        ("{a}", ()),
        ("\\#{a}", ("a",)),
    ],
)
def test_each_variable_is_found_once_in_order(text: str, found: tuple[str, ...]) -> None:
    assert variables.find_names(text) == found


def test_variables_of_several_texts_are_found_together() -> None:
    assert variables.find_names("#{a} #{b}", None, "", "#{c} #{a}") == ("a", "b", "c")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("", ""),
        ("nothing to fill", "nothing to fill"),
        ("#{a}", "1"),
        ("#{a}#{b}", "12"),
        ("#{a} and #{b} and #{a}", "1 and 2 and 1"),
        ("<#{empty}>", "<>"),
        ("50% #{a} %s \\1 \\g<0> {0}", "50% 1 %s \\1 \\g<0> {0}"),
    ],
)
def test_only_variables_of_a_text_are_replaced(text: str, filled: str) -> None:
    assert variables.fill(text, {"a": "1", "b": "2", "empty": "", "unused": "x"}) == filled


@pytest.mark.parametrize("value", ["#{b}", "#{a}", "#{", "}", "\\1", "\\g<1>", "%s", "{a}"])
def test_value_that_looks_like_a_variable_is_not_filled(value: str) -> None:
    assert variables.fill("<#{a}> #{b}", {"a": value, "b": "2"}) == f"<{value}> 2"


def test_values_that_join_into_a_variable_are_not_filled() -> None:
    assert variables.fill("#{a}#{b}", {"a": "#{", "b": "a}"}) == "#{a}"


@given(st.lists(st.tuples(literals, variable_names, st.text())), literals)
def test_filling_is_one_pass(pieces: list[tuple[str, str, str]], end: str) -> None:
    values = {name: value for _, name, value in pieces}
    text = "".join(f"{literal}#{{{name}}}" for literal, name, _ in pieces) + end

    filled = variables.fill(text, values)

    assert filled == "".join(literal + values[name] for literal, name, _ in pieces) + end
    assert set(variables.find_names(text)) == set(values)


@given(st.text())
def test_text_filled_with_its_own_variables_is_itself(text: str) -> None:
    assert variables.fill(text, {name: f"#{{{name}}}" for name in variables.find_names(text)}) == text


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("홍길동", "홍길동"),
        ("", ""),
        (" ", " "),
        ("#{b}", "#{b}"),
        ("null", "null"),
        (0, "0"),
        (-5, "-5"),
        (10_000, "10000"),
        (12345678901234567890, "12345678901234567890"),
        (True, "true"),
        (False, "false"),
        (variables.RawNumber("1.50"), "1.50"),
        (variables.RawNumber("1e3"), "1e3"),
        (variables.RawNumber("-0.0"), "-0.0"),
    ],
)
def test_value_is_rendered_as_in_json(value: object, taken: str) -> None:
    assert variables.collect_values(("a",), {"a": value}) == [taken]
    assert variables.collect_values(("a",), {"#{a}": value}) == [taken]


def test_values_are_in_the_order_of_names_and_others_are_ignored() -> None:
    data = {"x": [1], "b": "2", "a": 1, "y": None}

    assert variables.collect_values(("a", "b", "a"), data) == ["1", "2", "1"]


def test_key_may_have_variable_syntax_but_the_bare_name_wins() -> None:
    assert variables.collect_values(("이름",), {"#{이름}": "홍길동"}) == ["홍길동"]
    assert variables.collect_values(("a",), {"#{a}": "second", "a": "first"}) == ["first"]
    assert variables.collect_values(("a",), {"#{a}": "second", "a": None}) == ["second"]
    assert variables.collect_values(("a",), {"#{a}": "second", "a": ""}) == [""]


@pytest.mark.parametrize("key", ["이름", "#{이름}"])
def test_key_may_be_in_decomposed_unicode(key: str) -> None:
    data = {"a": 1, unicodedata.normalize("NFD", key): "홍길동"}

    assert variables.collect_values(("이름", "a"), data) == ["홍길동", "1"]


@pytest.mark.parametrize("data", [None, {}])
def test_no_data_is_needed_without_variables(data: dict[str, object] | None) -> None:
    assert variables.collect_values((), data) == []


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"이름": None},
        {"#{이름}": None},
        {"이름 ": "a"},
        {"name": "a"},
        {"#이름": "a"},
        {"{이름}": "a"},
    ],
)
def test_variable_without_a_value_is_refused_by_name(data: dict[str, object] | None) -> None:
    with refused(Code.MISSING_VARIABLE) as refusal:
        variables.collect_values(("이름",), data)

    assert "이름" in refusal.value.problems[0].message("en")


def test_every_variable_without_a_value_is_named() -> None:
    with refused(Code.MISSING_VARIABLE) as refusal:
        variables.collect_values(("a", "b", "c", "d"), {"b": "", "c": None})

    assert refusal.value.problems[0].message("en").endswith(": a, c, d.")


@pytest.mark.parametrize("value", [{}, {"a": 1}, [], ["a"], [None]])
def test_object_or_array_is_not_a_value(value: object) -> None:
    with refused(Code.INVALID_PARAMETER):
        variables.collect_values(("a",), {"a": value})


@pytest.mark.parametrize(
    ("template", "text", "known", "values"),
    [
        ("#{a}님, #{b} 도착", "홍길동님, 사과 도착", {}, {"a": "홍길동", "b": "사과"}),
        ("#{a}님, #{b}님", "가님, 나님, 다님", {}, {"a": "가", "b": "나님, 다"}),
        ("도착", "도착", {}, {}),
        ("도착", "출발", {}, None),
        ("#{a}", "", {}, {"a": ""}),
        ("#{a}#{b}!", "xy!", {}, {"a": "", "b": "xy"}),
        ("#{a}-#{b}-#{a}", "x-y-z-x", {}, {"a": "x", "b": "y-z"}),
        ("#{a}, #{b} #{a}", "x, y z x", {}, {"a": "x", "b": "y z"}),
        ("#{a} #{a}", "x y", {}, None),
        ("#{a} #{a}", "x x", {}, {"a": "x"}),
        ("#{a}#{a}", "xx", {}, None),
        ("#{a}나#{b}다", "다나다", {}, {"a": "다", "b": ""}),
        ("#{a} #{b}", "x y z", {"a": "x y"}, {"a": "x y", "b": "z"}),
        ("#{a} #{b}", "x y z", {"b": "y z"}, {"a": "x", "b": "y z"}),
        ("#{a}", "#{b}", {}, {"a": "#{b}"}),
        ("(#{a})", "(", {}, None),
        ("a#{a}a", "a", {}, None),
        ("b", "a#{x}", {}, None),
    ],
)
def test_values_are_found_in_a_finished_text(
    template: str, text: str, known: dict[str, str], values: dict[str, str] | None
) -> None:
    assert variables.solve(template, text, known) == values


@given(st.lists(st.tuples(literals, variable_names), min_size=1, max_size=4), st.data())
def test_solved_values_give_the_text_again(parts: list[tuple[str, str]], data: st.DataObject) -> None:
    template = "".join(f"{literal}#{{{name}}}" for literal, name in parts)
    values = {name: data.draw(literals) for name in variables.find_names(template)}
    text = variables.fill(template, values)

    found = variables.solve(template, text)
    assert found is None or variables.fill(template, found) == text
    assert variables.solve(template, text, values) == values
