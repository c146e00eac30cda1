ALTER TABLE "service"."payment" ADD COLUMN "fee_corrected_at" timestamp (3) with time zone;--> statement-breakpoint
-- By hand from here: a transaction has one network fee. Of the final payments of an account that say the same fee of the same transaction, and the same or no wallet that
-- paid it, one keeps it: that of the payer, or else the first, as `feeOnce` in src/service/db/payments.ts does since. The triggers take it out of the tallies.
UPDATE "service"."payment" AS "twice" SET "fee" = NULL, "fee_payer" = NULL, "fee_corrected_at" = now()
FROM (
  SELECT "id", row_number() OVER "of_transaction" AS "place",
    min("fee") OVER "all" = max("fee") OVER "all" AND min("taken_from") OVER "all" IS NOT DISTINCT FROM max("taken_from") OVER "all" AS "same"
  FROM (
    SELECT "payment".*, "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient", "fee_payer") AS "taken_from"
    FROM "service"."payment" JOIN (
      SELECT "account_id", "network", "signature" FROM "service"."payment"
      WHERE "signature" IS NOT NULL AND "fee" > 0 AND "status" IN ('finalized', 'failed') AND NOT "draft" GROUP BY 1, 2, 3 HAVING count(*) > 1
    ) AS "several" USING ("account_id", "network", "signature")
    WHERE "fee" > 0 AND "status" IN ('finalized', 'failed') AND NOT "draft"
      -- What a wallet of the service paid for a settlement is booked instead of this fee.
      AND NOT EXISTS (SELECT FROM "service"."settlement_fee" WHERE "payment_id" = "id" AND "mode" = 'received')
  ) AS "booked"
  WINDOW "all" AS (PARTITION BY "account_id", "network", "signature"),
    "of_transaction" AS (PARTITION BY "account_id", "network", "signature" ORDER BY "mode" = 'received', "taken_from" IS NULL, "created_at", "id")
) AS "found"
WHERE "found"."id" = "twice"."id" AND "place" > 1 AND "same" AND "mode" = 'received';
--> statement-breakpoint
-- When a payment that was inserted as confirmed was recorded: its event says it. Nothing moves to another day: without a block's time an entry has the day of its creation.
UPDATE "service"."payment" AS "paid" SET "confirmed_at" = "told"."at"
FROM (
  SELECT "id", "block_time", "created_at", (
    SELECT "at" FROM "service"."event" WHERE "payment_id" = "unsaid"."id" AND "kind" = 'payment' AND "status" = 'confirmed' ORDER BY "id" DESC LIMIT 1
  ) AS "at"
  FROM "service"."payment" AS "unsaid" WHERE "confirmed_at" IS NULL AND "status" IN ('confirmed', 'finalized')
) AS "told"
WHERE "told"."id" = "paid"."id" AND ("told"."at" = "told"."created_at" OR "told"."block_time" IS NOT NULL AND "told"."at" IS NOT NULL);
