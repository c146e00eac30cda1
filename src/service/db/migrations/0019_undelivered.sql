CREATE INDEX "claim_ungranted" ON "service"."claim" USING btree ("payment_id") WHERE attempt not in ('order', 'assigned', 'granted', 'delivered') and consumed_at is not null;--> statement-breakpoint
-- Written by hand. What was settled before grants were recorded was told as success then, or is known from the chain since: it is never granted again.
UPDATE "service"."claim" SET "attempt" = 'granted'
FROM "service"."payment"
WHERE "payment"."id" = "claim"."payment_id" AND "payment"."status" <> 'pending' AND "claim"."consumed_at" IS NOT NULL
  AND "claim"."attempt" NOT IN ('order', 'assigned', 'granted');
