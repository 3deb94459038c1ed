"""The parts of the OpenAPI document: schemas, examples, responses and webhooks."""
