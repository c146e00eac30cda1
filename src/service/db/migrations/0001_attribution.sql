CREATE TABLE "service"."deployment" (
	"id" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."unmatched_transfer" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"network" text NOT NULL,
	"signature" text NOT NULL,
	"sender" text NOT NULL,
	"recipient" text NOT NULL,
	"asset" text NOT NULL,
	"symbol" text NOT NULL,
	"decimals" integer NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"nonce" bigint,
	"block_height" bigint NOT NULL,
	"block_hash" text,
	"block_time" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finalized_at" timestamp (3) with time zone,
	"matched_payment_id" text,
	"assigned_payment_id" text,
	"assigned_by" text,
	"assigned_at" timestamp (3) with time zone,
	"assigned_note" text
);
--> statement-breakpoint
CREATE TABLE "service"."wallet_challenge" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"address" text NOT NULL,
	"network" text,
	"message" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."wallet_owner" (
	"id" text PRIMARY KEY NOT NULL,
	"scope" text NOT NULL,
	"address" text NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"proof" text NOT NULL,
	"message" text,
	"signature" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"released_at" timestamp (3) with time zone
);
--> statement-breakpoint
DROP INDEX "service"."payment_signature";--> statement-breakpoint
DROP INDEX "service"."payment_account";--> statement-breakpoint
DROP INDEX "service"."payment_sender";--> statement-breakpoint
DROP INDEX "service"."payment_recipient";--> statement-breakpoint
DROP INDEX "service"."payment_status";--> statement-breakpoint
ALTER TABLE "service"."claim" DROP CONSTRAINT "claim_network_key_pk";--> statement-breakpoint
ALTER TABLE "service"."claim" ADD COLUMN "scope" text;--> statement-breakpoint
ALTER TABLE "service"."claim" ADD COLUMN "exclusive" boolean;--> statement-breakpoint
-- Transfers used up before wallets had owners are used up for everybody. An attempt that never ended binds nobody but its account: its lease ends, and no
-- other account could take the transfer over from an exclusive one.
UPDATE "service"."claim" SET "scope" = "account_id", "exclusive" = "consumed_at" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."claim" ALTER COLUMN "scope" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."claim" ALTER COLUMN "exclusive" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."claim" ADD CONSTRAINT "claim_scope_network_key_pk" PRIMARY KEY("scope","network","key");--> statement-breakpoint
DROP TRIGGER "payment_changed" ON "service"."payment";--> statement-breakpoint
DROP TRIGGER "payment_added" ON "service"."payment";--> statement-breakpoint
DROP TRIGGER "payment_removed" ON "service"."payment";--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "direction" text DEFAULT 'external' NOT NULL;--> statement-breakpoint
DELETE FROM "service"."payment_change";--> statement-breakpoint
DELETE FROM "service"."payment_tally";--> statement-breakpoint
ALTER TABLE "service"."payment_change" ADD COLUMN "direction" text NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "draft" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "sender_verified" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "fingerprint" text;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "payer_signature" text;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "payer_nonce" bigint;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "evidence" text;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "refund_of" text;--> statement-breakpoint
ALTER TABLE "service"."unmatched_transfer" ADD CONSTRAINT "unmatched_transfer_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."unmatched_transfer" ADD CONSTRAINT "unmatched_transfer_matched_payment_id_payment_id_fk" FOREIGN KEY ("matched_payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."unmatched_transfer" ADD CONSTRAINT "unmatched_transfer_assigned_payment_id_payment_id_fk" FOREIGN KEY ("assigned_payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."wallet_challenge" ADD CONSTRAINT "wallet_challenge_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."wallet_owner" ADD CONSTRAINT "wallet_owner_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "unmatched_transfer_signature" ON "service"."unmatched_transfer" USING btree ("account_id","network","signature");--> statement-breakpoint
CREATE INDEX "unmatched_transfer_open" ON "service"."unmatched_transfer" USING btree ("account_id","created_at","id") WHERE matched_payment_id is null;--> statement-breakpoint
CREATE INDEX "unmatched_transfer_unsettled" ON "service"."unmatched_transfer" USING btree ("network") WHERE finalized_at is null and matched_payment_id is null;--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_owner_wallet" ON "service"."wallet_owner" USING btree ("scope","address") WHERE released_at is null;--> statement-breakpoint
CREATE INDEX "wallet_owner_address" ON "service"."wallet_owner" USING btree ("address");--> statement-breakpoint
CREATE INDEX "wallet_owner_account" ON "service"."wallet_owner" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "claim_exclusive" ON "service"."claim" USING btree ("network","key") WHERE exclusive;--> statement-breakpoint
ALTER TABLE "service"."payment_change" DROP COLUMN "mode";--> statement-breakpoint
-- From here on by hand.
INSERT INTO "service"."deployment" ("id") VALUES (gen_random_uuid()::text);
--> statement-breakpoint
-- The wallets the service signs for are owned by their accounts. Payout wallets are registered by configuration, by the admin command or by a signature.
INSERT INTO "service"."wallet_owner" ("id", "scope", "address", "account_id", "kind", "proof", "created_at")
SELECT replace("id", 'wal_', 'own_'), "family", "address", "account_id", 'managed', 'managed', "created_at" FROM "service"."wallet";
--> statement-breakpoint
-- The one place that decides a direction. The lock makes a payment and a registration of its wallet follow each other; payments do not wait for payments.
CREATE FUNCTION "service"."payment_direction"("account" text, "chain" text, "payer" text, "payee" text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  "owns_payer" boolean;
  "owns_payee" boolean;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('payment_direction ' || "account", 0));
  SELECT coalesce(bool_or("address" = "payer"), false), coalesce(bool_or("address" = "payee"), false) INTO "owns_payer", "owns_payee"
  FROM "service"."wallet_owner"
  WHERE "address" IN ("payer", "payee") AND "account_id" = "account" AND "released_at" IS NULL
    AND "scope" IN ("chain", CASE WHEN "chain" LIKE 'eip155:%' THEN 'evm' ELSE 'solana' END);
  RETURN CASE WHEN "owns_payer" AND "owns_payee" THEN 'internal' WHEN "owns_payee" THEN 'received' WHEN "owns_payer" THEN 'sent' ELSE 'external' END;
END $$;
--> statement-breakpoint
CREATE FUNCTION "service"."set_payment_direction"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."direction" := "service"."payment_direction"(NEW."account_id", NEW."network", NEW."sender", NEW."recipient");
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER "payment_direction" BEFORE INSERT ON "service"."payment" FOR EACH ROW EXECUTE FUNCTION "service"."set_payment_direction"();
--> statement-breakpoint
-- One update of all payments, before their new indexes: half the time.
-- The direction is as `payment_direction` decides. That function takes a lock per account, and the server has room for some thousand.
-- The evidence is what tied a transfer to its order. An EVM order was found by parties and amount alone: `admin payment unproven` lists those for a person.
-- Those under way end by the rules they began with.
UPDATE "service"."payment" AS "paid" SET "direction" = "seen"."direction", "evidence" = "seen"."evidence"
FROM (
  SELECT "payment"."id",
    CASE WHEN "payer"."id" IS NOT NULL AND "payee"."id" IS NOT NULL THEN 'internal' WHEN "payee"."id" IS NOT NULL THEN 'received'
      WHEN "payer"."id" IS NOT NULL THEN 'sent' ELSE 'external' END AS "direction",
    CASE WHEN "mode" = 'received' OR "status" NOT IN ('pending', 'confirmed', 'finalized', 'rolled_back') THEN NULL
      WHEN "mode" = 'hosted' THEN 'hosted' WHEN "network" LIKE 'solana:%' THEN 'memo' ELSE 'unproven' END AS "evidence"
  FROM "service"."payment"
  LEFT JOIN "service"."wallet_owner" AS "payer" ON "payer"."account_id" = "payment"."account_id" AND "payer"."address" = "payment"."sender"
    AND "payer"."scope" = CASE WHEN "payment"."network" LIKE 'eip155:%' THEN 'evm' ELSE 'solana' END
  LEFT JOIN "service"."wallet_owner" AS "payee" ON "payee"."account_id" = "payment"."account_id" AND "payee"."address" = "payment"."recipient"
    AND "payee"."scope" = CASE WHEN "payment"."network" LIKE 'eip155:%' THEN 'evm' ELSE 'solana' END
) AS "seen"
WHERE "seen"."id" = "paid"."id" AND ("seen"."direction" <> 'external' OR "seen"."evidence" IS NOT NULL);
--> statement-breakpoint
-- What confirmed an order pays for nothing else. An account that owns the payee binds everybody by it, as it does from now on.
INSERT INTO "service"."claim" ("scope", "exclusive", "network", "key", "account_id", "fingerprint", "attempt", "lease_until", "payment_id", "checks", "consumed_at")
SELECT "account_id", "direction" IN ('received', 'internal'), "network", 'txid:' || "signature", "account_id", '', 'order', now(), "id", '[]',
  coalesce("confirmed_at", "updated_at")
FROM "service"."payment" AS "paid"
WHERE "mode" <> 'received' AND "network" LIKE 'eip155:%' AND "signature" IS NOT NULL AND "status" IN ('confirmed', 'finalized')
  AND NOT EXISTS (
    SELECT 1 FROM "service"."claim" AS "held"
    WHERE "held"."network" = "paid"."network" AND "held"."key" = 'txid:' || "paid"."signature" AND "held"."consumed_at" IS NOT NULL
  )
ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- Of the generated part, after the update.
CREATE UNIQUE INDEX "payment_fingerprint" ON "service"."payment" USING btree ("network","sender","recipient","asset","amount","fingerprint") WHERE fingerprint is not null;
--> statement-breakpoint
CREATE INDEX "payment_direction" ON "service"."payment" USING btree ("account_id","direction","created_at","id") WHERE not draft;
--> statement-breakpoint
CREATE INDEX "payment_draft" ON "service"."payment" USING btree ("account_id","created_at","id") WHERE draft;
--> statement-breakpoint
CREATE INDEX "payment_refund" ON "service"."payment" USING btree ("refund_of") WHERE refund_of is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX "payment_signature" ON "service"."payment" USING btree ("account_id","network","signature") WHERE signature is not null and mode <> 'received';
--> statement-breakpoint
CREATE INDEX "payment_account" ON "service"."payment" USING btree ("account_id","created_at","id") WHERE not draft;
--> statement-breakpoint
CREATE INDEX "payment_sender" ON "service"."payment" USING btree ("account_id","sender","created_at","id") WHERE not draft;
--> statement-breakpoint
CREATE INDEX "payment_recipient" ON "service"."payment" USING btree ("account_id","recipient","created_at","id") WHERE not draft;
--> statement-breakpoint
CREATE INDEX "payment_status" ON "service"."payment" USING btree ("account_id","status","created_at","id") WHERE not draft;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*)
  FROM "after" WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", -count(*)
  FROM "before" WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", sum("change")
  FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both"
  WHERE NOT "draft" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 HAVING sum("change") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "payment_added" AFTER INSERT ON "service"."payment" REFERENCING NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_added"();
--> statement-breakpoint
CREATE TRIGGER "payment_removed" AFTER DELETE ON "service"."payment" REFERENCING OLD TABLE AS "before" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_removed"();
--> statement-breakpoint
CREATE TRIGGER "payment_changed" AFTER UPDATE ON "service"."payment" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_changed"();
--> statement-breakpoint
INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "direction", "network", "asset", "day", "status", "delta")
SELECT "account_id", "sender", "recipient", "direction", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*)
FROM "service"."payment" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
--> statement-breakpoint
CREATE TABLE "service"."token_pool" (
	"name" text PRIMARY KEY NOT NULL,
	"slots" bigint[] NOT NULL,
	"tokens" integer[] NOT NULL,
	"empty_at" timestamp (3) with time zone NOT NULL
);--> statement-breakpoint
DROP TABLE "service"."rate_limit" CASCADE;--> statement-breakpoint
-- Written by hand from here on.
-- Leases tokens of one limit, and takes back those that a process did not spend. The arguments and the invariant: src/service/limits/lease-tokens.ts.
CREATE FUNCTION "service"."lease_tokens"(
  p_name text, p_capacity integer, p_needed integer, p_extra integer, p_back_slots bigint[], p_back_tokens integer[],
  p_slot_ms integer, p_kept_slots integer, p_at_ms bigint,
  OUT granted integer, OUT slot bigint, OUT available integer, OUT now_ms bigint, OUT free_at_ms bigint, OUT empty_at_ms bigint
) LANGUAGE plpgsql AS $$
DECLARE
  own_slots bigint[];
  own_tokens integer[];
  used bigint;
  free bigint;
BEGIN
  -- A limit waits for no disk. A crash of the server may forget the leases of its last moments.
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Locks the row until this statement ends.
  INSERT INTO "service"."token_pool" AS pool ("name", "slots", "tokens", "empty_at") VALUES (p_name, '{}', '{}', now())
    ON CONFLICT ("name") DO UPDATE SET "name" = excluded."name" RETURNING pool."slots", pool."tokens" INTO own_slots, own_tokens;
  -- The time under the lock, so that the leases of one limit are in order.
  now_ms := coalesce(p_at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  slot := now_ms / p_slot_ms;
  -- A charge from the future was made before the clock was set back: it counts from now. Tokens that come back into no charge are none.
  SELECT coalesce(array_agg(live.at_slot ORDER BY live.at_slot), '{}'), coalesce(array_agg(live.charged ORDER BY live.at_slot), '{}'), coalesce(sum(live.charged), 0)
    INTO own_slots, own_tokens, used
    FROM (
      SELECT least(change.at_slot, lease_tokens.slot) AS at_slot, sum(change.charged)::integer AS charged
      FROM (
        SELECT a.at_slot, a.charged FROM unnest(own_slots, own_tokens) AS a(at_slot, charged)
        UNION ALL SELECT b.at_slot, -b.charged FROM unnest(p_back_slots, p_back_tokens) AS b(at_slot, charged)
      ) AS change
      GROUP BY 1 HAVING sum(change.charged) > 0
    ) AS live
    WHERE live.at_slot >= lease_tokens.slot - p_kept_slots;

  free := greatest(0, p_capacity - used);
  granted := least(p_needed, free);
  -- What is leased ahead stays small where little is left, so that another process finds some.
  granted := granted + least(p_extra, (free - granted) / 4);
  IF granted > 0 AND own_slots[cardinality(own_slots)] = slot THEN
    own_tokens[cardinality(own_slots)] := own_tokens[cardinality(own_slots)] + granted;
  ELSIF granted > 0 THEN
    own_slots := own_slots || slot;
    own_tokens := own_tokens || granted;
  END IF;
  used := used + granted;
  available := greatest(0, p_capacity - used);
  SELECT coalesce((min(freed.at_slot) + p_kept_slots + 1) * p_slot_ms, now_ms), coalesce((max(freed.at_slot) + p_kept_slots + 1) * p_slot_ms, now_ms)
    INTO free_at_ms, empty_at_ms
    FROM (
      SELECT a.at_slot, sum(a.charged) OVER (ORDER BY a.at_slot) AS returned FROM unnest(own_slots, own_tokens) AS a(at_slot, charged)
    ) AS freed
    WHERE used - freed.returned < p_capacity;
  IF available > 0 THEN
    free_at_ms := now_ms;
  END IF;
  UPDATE "service"."token_pool" SET "slots" = own_slots, "tokens" = own_tokens, "empty_at" = to_timestamp(empty_at_ms / 1000.0) WHERE "name" = p_name;
END $$;
--> statement-breakpoint
CREATE TABLE "service"."payment_identifier" (
	"network" text NOT NULL,
	"payee" text NOT NULL,
	"payer" text NOT NULL,
	"identifier" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"key" text NOT NULL,
	"built_height" bigint NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payment_identifier_payee_payer_identifier_pk" PRIMARY KEY("payee","payer","identifier")
);
--> statement-breakpoint
CREATE TABLE "service"."reservation" (
	"network" text NOT NULL,
	"payer" text NOT NULL,
	"asset" text NOT NULL,
	"key" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "reservation_network_payer_asset_key_pk" PRIMARY KEY("network","payer","asset","key")
);
--> statement-breakpoint
CREATE INDEX "payment_identifier_created" ON "service"."payment_identifier" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "reservation_expires" ON "service"."reservation" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "claim_transfer" ON "service"."claim" USING btree ("network","key");
