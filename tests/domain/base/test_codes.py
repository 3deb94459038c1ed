import pytest

from pabal.domain.base.codes import LANGUAGES, MAX_PROBLEMS, Code, Problem, Refused, Text

# The table of result codes in the specification.
HTTP_STATUS = {
    200: "SUCCESS",
    400: """INVALID_JSON MISSING_PARAMETER INVALID_PARAMETER INVALID_PHONE_NUMBER INVALID_DATE
        CONTENT_TOO_LONG UNSUPPORTED_CHARACTER MISSING_VARIABLE INVALID_IMAGE INVALID_BUTTON
        TOO_MANY_RECEIVERS""",
    401: "UNAUTHORIZED KEY_EXPIRED",
    403: "FORBIDDEN LIMIT_EXCEEDED",
    404: """NOT_FOUND SENDER_NOT_FOUND TEMPLATE_NOT_FOUND CATEGORY_NOT_FOUND REQUEST_NOT_FOUND
        MESSAGE_NOT_FOUND WEBHOOK_NOT_FOUND""",
    405: "METHOD_NOT_ALLOWED",
    409: "DUPLICATE INVALID_STATE",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    422: """SENDER_NUMBER_NOT_REGISTERED SENDER_NOT_APPROVED TEMPLATE_NOT_APPROVED NIGHT_AD_RESTRICTED
        PRODUCT_NOT_AVAILABLE TOKEN_INVALID TOKEN_EXPIRED TOKEN_LOCKED""",
    429: "RATE_LIMITED",
    500: "INTERNAL_ERROR",
    503: "SERVICE_UNAVAILABLE",
}
DECIDED = {name: status for status, names in HTTP_STATUS.items() for name in names.split()}


def test_codes_are_those_of_the_specification() -> None:
    # Members with equal values are aliases of one code, so aliases are compared too.
    assert set(Code.__members__) == set(DECIDED)
    assert len(Code) == len(DECIDED)


@pytest.mark.parametrize(("name", "status"), DECIDED.items())
def test_codes_have_the_specified_http_status(name: str, status: int) -> None:
    assert Code[name].http_status == status


@pytest.mark.parametrize("code", Code)
@pytest.mark.parametrize("locale", LANGUAGES)
def test_codes_have_a_sentence_and_a_remedy_in_both_languages(code: Code, locale: str) -> None:
    sentence, remedy = code.text.in_language(locale), code.remedy.in_language(locale)

    assert sentence.endswith(".")
    assert remedy.endswith(".") or code is Code.SUCCESS


@pytest.mark.parametrize("code", Code)
def test_only_korean_texts_of_a_code_contain_hangul(code: Code) -> None:
    assert not code.text.ko.isascii()
    assert code.text.en.isascii()
    assert code.remedy.en.isascii()


@pytest.mark.parametrize(("locale", "said"), [("ko", "가"), ("en", "a"), ("", "가"), ("fr", "가")])
def test_texts_are_korean_unless_english_is_requested(locale: str, said: str) -> None:
    assert Text("가", "a").in_language(locale) == said


def test_message_of_a_problem_has_its_code_and_detail() -> None:
    bare = Problem(Code.INVALID_DATE)
    detailed = Problem(Code.INVALID_DATE, "sendDate", Text("지난 시각입니다.", "It is in the past."))

    assert bare.message("en") == "A date has the wrong format or is not allowed."
    assert detailed.message("en") == "A date has the wrong format or is not allowed. It is in the past."
    assert detailed.message("ko").endswith(" 지난 시각입니다.")


def test_refusal_has_its_code_field_detail_and_retry_delay() -> None:
    detail = Text("가", "a")

    refusal = Refused(Code.RATE_LIMITED, "channelId", detail, retry_after_s=2.5)

    assert refusal.code is Code.RATE_LIMITED
    assert refusal.problems == (Problem(Code.RATE_LIMITED, "channelId", detail),)
    assert refusal.retry_after_s == 2.5
    assert str(refusal) == "RATE_LIMITED"


def test_refusal_with_several_problems_has_the_first_code() -> None:
    problems = [Problem(Code.INVALID_PHONE_NUMBER, "a"), Problem(Code.MISSING_VARIABLE, "b")]

    refusal = Refused.from_problems(problems)

    assert refusal.code is Code.INVALID_PHONE_NUMBER
    assert str(refusal) == "INVALID_PHONE_NUMBER"
    assert list(refusal.problems) == problems
    assert refusal.retry_after_s is None


@pytest.mark.parametrize(("found", "listed"), [(99, 99), (100, 100), (101, 100), (1000, 100)])
def test_refusal_lists_the_first_100_problems(found: int, listed: int) -> None:
    problems = [Problem(Code.INVALID_PHONE_NUMBER, f"receivers[{i}].phoneNumber") for i in range(found)]

    refusal = Refused.from_problems(problems)

    assert MAX_PROBLEMS == 100
    assert list(refusal.problems) == problems[:listed]
