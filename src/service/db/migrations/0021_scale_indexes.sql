-- By hand: a delivery that waits for an earlier one of its payment is due with the first of them, so that no look for what is due reads it.
UPDATE "service"."webhook_delivery" AS "waiting" SET "next_attempt_at" = "first"."next_attempt_at"
FROM (
  SELECT DISTINCT ON ("endpoint_id", "payment_id") "endpoint_id", "payment_id", "number", "next_attempt_at"
  FROM "service"."webhook_delivery" WHERE "state" = 'pending' ORDER BY "endpoint_id", "payment_id", "number"
) AS "first"
WHERE "waiting"."endpoint_id" = "first"."endpoint_id" AND "waiting"."payment_id" = "first"."payment_id" AND "waiting"."state" = 'pending'
  AND "waiting"."number" > "first"."number" AND "waiting"."next_attempt_at" < "first"."next_attempt_at";
--> statement-breakpoint
DROP INDEX "service"."claim_ungranted";--> statement-breakpoint
DROP INDEX "service"."webhook_delivery_age";--> statement-breakpoint
DROP INDEX "service"."webhook_delivery_due";--> statement-breakpoint
CREATE INDEX "request_log_key_error" ON "service"."request_log" USING btree ("account_id","key_id","at","id") WHERE code is not null;--> statement-breakpoint
CREATE INDEX "unmatched_transfer_sender" ON "service"."unmatched_transfer" USING btree ("account_id","sender") WHERE matched_payment_id is null;--> statement-breakpoint
CREATE INDEX "claim_ungranted" ON "service"."claim" USING btree ("account_id","payment_id") WHERE attempt not in ('order', 'assigned', 'granted', 'delivered') and consumed_at is not null;--> statement-breakpoint
CREATE INDEX "webhook_delivery_age" ON "service"."webhook_delivery" USING btree ("created_at") WHERE state <> 'pending';--> statement-breakpoint
CREATE INDEX "webhook_delivery_due" ON "service"."webhook_delivery" USING btree ("endpoint_id","next_attempt_at","number") WHERE state = 'pending';