-- What was reserved of a budget for each message of a request, in order: the runs of equal amounts as `amount*messages`,
-- in hundredths of a won. Empty: nothing; null: the first carrier's price, by a version that did not store it.
alter table requests add column reserved text;

-- What is added to the budget, in hundredths of a won; null: by a version that left it to the correction.
alter table budget_corrections add column amount {big};
