ALTER TABLE "service"."payment" ADD COLUMN "fee_payer" text;--> statement-breakpoint
CREATE INDEX "payment_landed" ON "service"."payment" USING btree ("account_id",coalesce(block_time, confirmed_at, created_at),"id") WHERE not draft and status in ('confirmed', 'finalized', 'failed');--> statement-breakpoint
-- Written by hand from here to the end: fees are tallied for the wallet that the chain took them from. Rows from before this column keep the former rule, so no tally changes.
-- As in src/service/payments/list/row-fees.ts: null where nobody knows, or where `settlement_fee` says it.
CREATE FUNCTION "service"."payment_fee_payer"("payment" text, "way" text, "token" text, "payer" text, "payee" text, "named" text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN "named" IS NULL THEN "service"."payment_fee_payer"("payment", "way", "token", "payer", "payee")
    WHEN "way" <> 'received' OR NOT EXISTS (SELECT FROM "service"."settlement_fee" WHERE "payment_id" = "payment") THEN "named"
  END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "taken_from",
    count(*), sum("amount"), coalesce(sum("fee") FILTER (WHERE "taken_from" IS NOT NULL), 0)
  FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient", "fee_payer") END AS "taken_from" FROM "after" WHERE NOT "draft") AS "added"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "taken_from",
    -count(*), -sum("amount"), -coalesce(sum("fee") FILTER (WHERE "taken_from" IS NOT NULL), 0)
  FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient", "fee_payer") END AS "taken_from" FROM "before" WHERE NOT "draft") AS "removed"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Of two payments one may come and one go: their number stays, and what they add up to, or when the first of them was made, does not.
CREATE OR REPLACE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "taken_from",
    sum("change"), sum("change" * "amount"), coalesce(sum("change" * "fee") FILTER (WHERE "taken_from" IS NOT NULL), 0)
  FROM (
    SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient", "fee_payer") END AS "taken_from"
    FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both" WHERE NOT "draft"
  ) AS "changed"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  HAVING sum("change") <> 0 OR sum("change" * "amount") <> 0 OR sum("change" * extract(epoch FROM "created_at")) <> 0
    OR coalesce(sum("change" * "fee") FILTER (WHERE "taken_from" IS NOT NULL), 0) <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- What a wallet of the service paid for a settlement. The fee in the payment's row no longer counts then: what was noted of it is noted back.
CREATE OR REPLACE FUNCTION "service"."note_settlement_fee"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "more" numeric := coalesce(NEW."paid", 0);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "more" := "more" - coalesce(OLD."paid", 0);
  ELSE
    INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "delta", "fee", "fee_payer")
    SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, -"fee", "taken_from"
    FROM (
      SELECT *, CASE WHEN "fee_payer" IS NOT NULL THEN "fee_payer"
        WHEN "asset" IN ('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', '11111111111111111111111111111111') THEN "sender"
        WHEN EXISTS (SELECT FROM "service"."settlement_order" WHERE "payment_id" = "id") THEN "recipient" END AS "taken_from"
      FROM "service"."payment" WHERE "id" = NEW."payment_id" AND "mode" = 'received' AND "fee" > 0 AND NOT "draft"
    ) AS "noted" WHERE "taken_from" IS NOT NULL;
  END IF;
  IF "more" <> 0 THEN
    INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "delta", "fee", "fee_payer")
    SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, "more", NEW."wallet"
    FROM "service"."payment" WHERE "id" = NEW."payment_id" AND "mode" = 'received' AND NOT "draft";
  END IF;
  RETURN NULL;
END $$;
