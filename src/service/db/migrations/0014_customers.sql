CREATE TABLE "service"."customer" (
	"account_id" text NOT NULL,
	"wallet" text NOT NULL,
	"payments" bigint NOT NULL,
	"first_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "customer_account_id_wallet_pk" PRIMARY KEY("account_id","wallet")
);
--> statement-breakpoint
CREATE TABLE "service"."customer_total" (
	"account_id" text NOT NULL,
	"wallet" text NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"symbol" text NOT NULL,
	"decimals" integer NOT NULL,
	"payments" bigint NOT NULL,
	"received" numeric NOT NULL,
	"refunds" bigint NOT NULL,
	"refunded" numeric NOT NULL,
	CONSTRAINT "customer_total_account_id_wallet_network_asset_pk" PRIMARY KEY("account_id","wallet","network","asset")
);
--> statement-breakpoint
-- By hand: nobody writes a payment or a fee until all is counted again. The tallies are made from the payments, at the end.
LOCK TABLE "service"."settlement_fee", "service"."payment" IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
TRUNCATE "service"."payment_change", "service"."payment_tally";--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "symbol" text NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "decimals" integer NOT NULL;--> statement-breakpoint
CREATE INDEX "customer_payments" ON "service"."customer" USING btree ("account_id","payments","wallet");--> statement-breakpoint
CREATE INDEX "customer_first" ON "service"."customer" USING btree ("account_id","first_at","wallet");--> statement-breakpoint
CREATE INDEX "customer_last" ON "service"."customer" USING btree ("account_id","last_at","wallet");--> statement-breakpoint
CREATE INDEX "customer_start" ON "service"."customer" USING btree ("account_id",lower(wallet) text_pattern_ops);--> statement-breakpoint
CREATE INDEX "customer_total_empty" ON "service"."customer_total" USING btree ("account_id") WHERE payments = 0 and refunds = 0;--> statement-breakpoint
CREATE INDEX "payment_customer" ON "service"."payment" USING btree ("account_id","sender","created_at") WHERE direction = 'received' and refund_of is null and not draft and status in ('confirmed', 'finalized');
--> statement-breakpoint
-- From here on by hand: the changes also say in which symbol and decimals, which the totals of customers show.
CREATE OR REPLACE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
    count(*), sum("amount"), coalesce(sum("fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
  FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer" FROM "after" WHERE NOT "draft") AS "added"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
    -count(*), -sum("amount"), -coalesce(sum("fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
  FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer" FROM "before" WHERE NOT "draft") AS "removed"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Of two payments one may come and one go: their number stays, and what they add up to, or when the first of them was made, does not.
CREATE OR REPLACE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
    sum("change"), sum("change" * "amount"), coalesce(sum("change" * "fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
  FROM (
    SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer"
    FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both" WHERE NOT "draft"
  ) AS "changed"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  HAVING sum("change") <> 0 OR sum("change" * "amount") <> 0 OR sum("change" * extract(epoch FROM "created_at")) <> 0
    OR coalesce(sum("change" * "fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0) <> 0;
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
    SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, -"fee", "fee_payer"
    FROM (
      SELECT *, CASE WHEN "asset" IN ('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', '11111111111111111111111111111111') THEN "sender"
        WHEN EXISTS (SELECT FROM "service"."settlement_order" WHERE "payment_id" = "id") THEN "recipient" END AS "fee_payer"
      FROM "service"."payment" WHERE "id" = NEW."payment_id" AND "mode" = 'received' AND "fee" > 0 AND NOT "draft"
    ) AS "noted" WHERE "fee_payer" IS NOT NULL;
  END IF;
  IF "more" <> 0 THEN
    INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "delta", "fee", "fee_payer")
    SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, "more", NEW."wallet"
    FROM "service"."payment" WHERE "id" = NEW."payment_id" AND "mode" = 'received' AND NOT "draft";
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "fee_payer", "delta", "amount", "fee")
SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", floor(extract(epoch FROM "created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, "fee_payer",
  count(*), sum("amount"), coalesce(sum("fee") FILTER (WHERE "fee_payer" IS NOT NULL), 0)
FROM (SELECT *, CASE WHEN "fee" > 0 THEN "service"."payment_fee_payer"("id", "mode", "asset", "sender", "recipient") END AS "fee_payer" FROM "service"."payment" WHERE NOT "draft") AS "listed"
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "day", "status", "refund", "delta", "fee", "fee_payer")
SELECT "account_id", "sender", "recipient", "direction", "payment"."network", "asset", "symbol", "decimals", floor(extract(epoch FROM "payment"."created_at") / 86400)::int, "status", "refund_of" IS NOT NULL, 0, "paid", "wallet"
FROM "service"."settlement_fee" JOIN "service"."payment" ON "payment"."id" = "payment_id"
WHERE "paid" > 0 AND "mode" = 'received' AND NOT "draft";
