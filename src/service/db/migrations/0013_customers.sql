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
	"received" numeric(78,0) NOT NULL,
	"refunds" bigint NOT NULL,
	"refunded" numeric(78,0) NOT NULL,
	CONSTRAINT "customer_total_account_id_wallet_network_asset_pk" PRIMARY KEY("account_id","wallet","network","asset")
);
--> statement-breakpoint
-- By hand: counts are made again from the payments, at the end.
TRUNCATE "service"."payment_change", "service"."payment_tally";--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "symbol" text NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "decimals" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "refund" boolean NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "amount" numeric(78,0) NOT NULL;--> statement-breakpoint
CREATE INDEX "customer_payments" ON "service"."customer" USING btree ("account_id","payments","wallet");--> statement-breakpoint
CREATE INDEX "customer_first" ON "service"."customer" USING btree ("account_id","first_at","wallet");--> statement-breakpoint
CREATE INDEX "customer_last" ON "service"."customer" USING btree ("account_id","last_at","wallet");--> statement-breakpoint
CREATE INDEX "customer_start" ON "service"."customer" USING btree ("account_id",lower(wallet) text_pattern_ops);--> statement-breakpoint
CREATE INDEX "customer_total_empty" ON "service"."customer_total" USING btree ("account_id") WHERE payments = 0 and refunds = 0;--> statement-breakpoint
CREATE INDEX "payment_customer" ON "service"."payment" USING btree ("account_id","sender","created_at") WHERE direction = 'received' and refund_of is null and not draft and status in ('confirmed', 'finalized');
--> statement-breakpoint
-- From here on by hand.
CREATE OR REPLACE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund", "day", "status", "delta", "amount")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund_of" IS NOT NULL, floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*), sum("amount")
  FROM "after" WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund", "day", "status", "delta", "amount")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund_of" IS NOT NULL, floor(extract(epoch FROM "created_at") / 86400)::int, "status", -count(*), -sum("amount")
  FROM "before" WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Of two payments one may come and one go: their number stays, and what they add up to does not.
CREATE OR REPLACE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund", "day", "status", "delta", "amount")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund_of" IS NOT NULL, floor(extract(epoch FROM "created_at") / 86400)::int, "status", sum("change"), sum("change" * "amount")
  FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both"
  WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  HAVING sum("change") <> 0 OR sum("change" * "amount") <> 0 OR sum("change" * extract(epoch FROM "created_at")) <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund", "day", "status", "delta", "amount")
SELECT "account_id", "sender", "recipient", "direction", "network", "asset", "symbol", "decimals", "refund_of" IS NOT NULL, floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*), sum("amount")
FROM "service"."payment" WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;
