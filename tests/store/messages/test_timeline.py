"""What is stored about deliveries: read for many messages at once, the same as for each."""

from pabal.store.engine.base import Tx
from pabal.store.messages import history, messages
from pabal.store.messages.history import DeliveryRecord
from tests.fixtures.rows import message_id, request_id, sms, store_request
from tests.fixtures.virtual import NOON


def test_deliveries_of_many_messages_are_those_of_each(tx: Tx) -> None:
    store_request(tx, 1, sms(["01012345678", "01087654321"]))
    ids = [message_id(1, 1), message_id(1, 2)]
    messages.mark_submitted(tx, ids, NOON + 1)
    tx.execute("update messages set carrier = 'post', carrier_code = 'X', cost = 950 where id = ?", ids[:1])

    found = history.get_deliveries(tx, [*ids, message_id(2)])

    assert found == {
        ids[0]: DeliveryRecord(950, NOON + 1, "post", "X"),
        ids[1]: DeliveryRecord(None, NOON + 1, None, None),
    }
    assert history.get_deliveries(tx, []) == {}


def test_keys_of_many_requests_leave_out_those_without_one(tx: Tx) -> None:
    for number in (1, 2):
        store_request(tx, number)
    tx.execute("update requests set key_id = 7 where id = ?", (request_id(1),))

    found = history.get_key_ids(tx, [request_id(1), request_id(2), request_id(3)])

    assert found == {request_id(1): 7}
