import pytest

from pabal.domain.sends.message import Outcome, Product, Status

PRODUCTS = [
    "sms",
    "lms",
    "mms",
    "email",
    "push",
    "alimTalk",
    "friendTalkText",
    "friendTalkImage",
    "friendTalkWideImage",
    "brandMessage",
]
OUTCOMES = [
    1000,
    2000,
    2003,
    3001,
    3003,
    3006,
    3012,
    3016,
    3018,
    3019,
    3020,
    3102,
    9001,
    9002,
    9003,
    9004,
    9005,
    9999,
]


def test_words_are_those_of_the_interface() -> None:
    assert [product.code for product in Product] == PRODUCTS
    assert [status.code for status in Status] == ["waiting", "sending", "completed", "fail", "cancel"]


def test_outcomes_are_those_of_the_specification() -> None:
    assert [outcome.number for outcome in Outcome] == OUTCOMES


def test_stored_numbers_never_change() -> None:
    assert [product.number for product in Product] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert [status.number for status in Status] == [0, 1, 2, 3, 4]


def test_every_value_has_a_unique_label_in_both_languages() -> None:
    for kinds in (Product, Status, Outcome):
        labels = [kind.label for kind in kinds]

        assert all(label.ko and label.en.isascii() for label in labels)
        assert len(set(labels)) == len(labels)


def test_only_sms_lms_and_mms_are_texts() -> None:
    assert [product for product in Product if product.is_text] == [Product.SMS, Product.LMS, Product.MMS]


@pytest.mark.parametrize("outcome", Outcome)
def test_message_is_completed_only_when_delivered(outcome: Outcome) -> None:
    expected = Status.COMPLETED if outcome.number == 1000 else Status.FAIL

    assert outcome.status is expected
