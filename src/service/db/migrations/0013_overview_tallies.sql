DROP INDEX "service"."payment_tally_empty";--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "amount" numeric DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "refund" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "fee" numeric DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "fee_payer" text;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ADD COLUMN "amount" numeric DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ADD COLUMN "refunds" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ADD COLUMN "refunded" numeric DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_tally" ADD COLUMN "fees" numeric DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_tally_empty" ON "service"."payment_tally" USING btree ("account_id") WHERE payments = 0 and fees = 0;--> statement-breakpoint
-- Written by hand from here on: the changes also say what the payments sum up to, and which wallet paid which network fee.
-- Whom the fee in a payment's row was taken from, as in src/service/payments/list/row-fees.ts: null where nobody knows, or where `settlement_fee` says it.
CREATE FUNCTION "service"."payment_fee_payer"("payment" text, "way" text, "token" text, "payer" text, "payee" text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN "way" <> 'received' THEN "payer"
    WHEN EXISTS (SELECT FROM "service"."settlement_fee" WHERE "payment_id" = "payment") THEN NULL
    WHEN "token" IN ('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', '11111111111111111111111111111111') THEN "payer"
    WHEN EXISTS (SELECT FROM "service"."settlement_order" WHERE "payment_id" = "payment") THEN "payee"
  END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
    count(*), sum("amount"), coalesce(sum("fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
  FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer" FROM "after" WHERE NOT "draft") AS "added"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
    -count(*), -sum("amount"), -coalesce(sum("fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
  FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer" FROM "before" WHERE NOT "draft") AS "removed"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
    sum("change"), sum("change" * "amount"), coalesce(sum("change" * "fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
  FROM (
    SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer"
    FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both" WHERE NOT "draft"
  ) AS "changed"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  HAVING sum("change") <> 0 OR coalesce(sum("change" * "fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0) <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- What a wallet of the service paid for a settlement. The fee in the payment's row no longer counts then: what was noted of it is noted back.
CREATE FUNCTION "service"."note_settlement_fee"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "more" numeric := coalesce(NEW."paid", 0);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "more" := "more" - coalesce(OLD."paid", 0);
  ELSE
    INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "delta", "fee", "fee_payer")
    SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, -"fee", "fee_payer"
    FROM (
      SELECT *, CASE WHEN "asset" IN ('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', '11111111111111111111111111111111') THEN "sender"
        WHEN EXISTS (SELECT FROM "service"."settlement_order" WHERE "payment_id" = "id") THEN "recipient" END AS "fee_payer"
      FROM "service"."payment" WHERE "id" = NEW."payment_id" AND "mode" = 'received' AND "fee" > 0 AND NOT "draft"
    ) AS "noted" WHERE "fee_payer" IS NOT NULL;
  END IF;
  IF "more" <> 0 THEN
    INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "delta", "fee", "fee_payer")
    SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, "more", NEW."wallet"
    FROM "service"."payment" WHERE "id" = NEW."payment_id" AND "mode" = 'received' AND NOT "draft";
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "settlement_fee_noted" AFTER INSERT OR UPDATE OF "paid" ON "service"."settlement_fee" FOR EACH ROW EXECUTE FUNCTION "service"."note_settlement_fee"();
--> statement-breakpoint
-- The tallies are made once more, with sums.
DELETE FROM "service"."payment_change";--> statement-breakpoint
DELETE FROM "service"."payment_tally";--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
  count(*), sum("amount"), coalesce(sum("fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer" FROM "service"."payment" WHERE NOT "draft") AS "listed"
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "refund", "delta", "fee", "fee_payer")
SELECT "account_id", "sender", "recipient", "direction", "payment"."network", "asset", floor(extract(epoch FROM "payment"."created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, "paid", "wallet"
FROM "service"."settlement_fee" JOIN "service"."payment" ON "payment"."id" = "payment_id"
WHERE "paid" > 0 AND "mode" = 'received' AND NOT "draft";
