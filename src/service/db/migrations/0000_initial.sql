CREATE SCHEMA "service";
--> statement-breakpoint
CREATE TABLE "service"."account" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"scopes" text[],
	"facilitators" text[]
);
--> statement-breakpoint
CREATE TABLE "service"."api_key" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"plan" text NOT NULL,
	"requests_per_minute" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"replaced_by" text
);
--> statement-breakpoint
CREATE TABLE "service"."idempotency" (
	"account_id" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"status" integer,
	"body" text,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_account_id_key_pk" PRIMARY KEY("account_id","key")
);
--> statement-breakpoint
CREATE TABLE "service"."rate_limit" (
	"key" text PRIMARY KEY NOT NULL,
	"arrival_us" bigint NOT NULL,
	"allowed" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."socket" (
	"id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."usage" (
	"key_id" text NOT NULL,
	"period" text NOT NULL,
	"starts_at" timestamp (3) with time zone NOT NULL,
	"endpoint" text NOT NULL,
	"status_class" text NOT NULL,
	"requests" bigint NOT NULL,
	CONSTRAINT "usage_key_id_period_starts_at_endpoint_status_class_pk" PRIMARY KEY("key_id","period","starts_at","endpoint","status_class")
);
--> statement-breakpoint
CREATE TABLE "service"."attempt" (
	"payment_id" text NOT NULL,
	"number" integer NOT NULL,
	"network" text NOT NULL,
	"signature" text NOT NULL,
	"signed_transaction" text NOT NULL,
	"nonce" bigint,
	"last_valid_block_height" bigint,
	"max_fee" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"broadcast_at" timestamp (3) with time zone,
	"signer" text,
	"payment_proof" text,
	CONSTRAINT "attempt_payment_id_number_pk" PRIMARY KEY("payment_id","number")
);
--> statement-breakpoint
CREATE TABLE "service"."chain_cursor" (
	"network" text PRIMARY KEY NOT NULL,
	"height" bigint NOT NULL,
	"holder" text,
	"lease_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "service"."event" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"payment_id" text NOT NULL,
	"status" text NOT NULL,
	"source" text NOT NULL,
	"block_height" bigint,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"kind" text DEFAULT 'payment' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."payment" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"mode" text NOT NULL,
	"status" text NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"symbol" text NOT NULL,
	"decimals" integer NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"sender" text NOT NULL,
	"recipient" text NOT NULL,
	"resource" text,
	"metadata" text,
	"unsigned_transaction" text,
	"nonce" bigint,
	"built_height" bigint,
	"last_valid_block_height" bigint,
	"expires_at" timestamp (3) with time zone,
	"signature" text,
	"block_height" bigint,
	"block_hash" text,
	"fee" numeric(78,0),
	"failure" text,
	"payment_proof" text,
	"confirmed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"reported_signature" text,
	"idempotency_key" text,
	"idempotency_fingerprint" text,
	"priority_fee" numeric(78,0),
	"max_fee" numeric(78,0),
	CONSTRAINT "payment_amount_positive" CHECK (amount > 0)
);
--> statement-breakpoint
CREATE TABLE "service"."claim" (
	"network" text NOT NULL,
	"key" text NOT NULL,
	"account_id" text NOT NULL,
	"fingerprint" text NOT NULL,
	"attempt" text NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"payment_id" text,
	"checks" text,
	"transaction" text,
	"consumed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "claim_network_key_pk" PRIMARY KEY("network","key")
);
--> statement-breakpoint
CREATE TABLE "service"."settlement_order" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"network" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"signature" text,
	"memo" text,
	"last_valid_block_height" bigint,
	"checks" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."payment_change" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"sender" text NOT NULL,
	"recipient" text NOT NULL,
	"mode" text NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"day" integer NOT NULL,
	"status" text NOT NULL,
	"delta" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."payment_tally" (
	"account_id" text NOT NULL,
	"party" text NOT NULL,
	"direction" text NOT NULL,
	"day" integer NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"status" text NOT NULL,
	"payments" bigint NOT NULL,
	CONSTRAINT "payment_tally_account_id_party_direction_day_network_asset_status_pk" PRIMARY KEY("account_id","party","direction","day","network","asset","status")
);
--> statement-breakpoint
CREATE TABLE "service"."wallet" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"family" text NOT NULL,
	"address" text NOT NULL,
	"name" text NOT NULL,
	"vault_key_id" text NOT NULL,
	"wrapped_key" text NOT NULL,
	"sealed_secret" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."wallet_books" (
	"network" text NOT NULL,
	"address" text NOT NULL,
	"height" bigint,
	"balance" numeric(78,0),
	"nonce" bigint,
	"received" numeric(78,0) NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"stopped_at" timestamp (3) with time zone,
	"stop_reason" text,
	CONSTRAINT "wallet_books_network_address_pk" PRIMARY KEY("network","address")
);
--> statement-breakpoint
ALTER TABLE "service"."api_key" ADD CONSTRAINT "api_key_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."attempt" ADD CONSTRAINT "attempt_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."event" ADD CONSTRAINT "event_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD CONSTRAINT "payment_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."claim" ADD CONSTRAINT "claim_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."claim" ADD CONSTRAINT "claim_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."settlement_order" ADD CONSTRAINT "settlement_order_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."settlement_order" ADD CONSTRAINT "settlement_order_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."wallet" ADD CONSTRAINT "wallet_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_hash" ON "service"."api_key" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_key_account" ON "service"."api_key" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "idempotency_created" ON "service"."idempotency" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "socket_key" ON "service"."socket" USING btree ("key_id","lease_until");--> statement-breakpoint
CREATE INDEX "usage_age" ON "service"."usage" USING btree ("period","starts_at");--> statement-breakpoint
CREATE UNIQUE INDEX "attempt_signature" ON "service"."attempt" USING btree ("network","signature");--> statement-breakpoint
CREATE INDEX "attempt_signer" ON "service"."attempt" USING btree ("network","signer","nonce");--> statement-breakpoint
CREATE INDEX "event_payment" ON "service"."event" USING btree ("payment_id","id");--> statement-breakpoint
CREATE INDEX "event_account" ON "service"."event" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_signature" ON "service"."payment" USING btree ("network","signature") WHERE signature is not null and mode <> 'received';--> statement-breakpoint
CREATE INDEX "payment_account" ON "service"."payment" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_sender" ON "service"."payment" USING btree ("account_id","sender","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_recipient" ON "service"."payment" USING btree ("account_id","recipient","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_status" ON "service"."payment" USING btree ("account_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_pair" ON "service"."payment" USING btree ("account_id","sender","recipient");--> statement-breakpoint
CREATE INDEX "payment_any_signature" ON "service"."payment" USING btree ("account_id","signature") WHERE signature is not null;--> statement-breakpoint
CREATE INDEX "payment_resource" ON "service"."payment" USING btree ("account_id",left(regexp_replace(lower(resource), '^https?://', ''), 200) text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_reference" ON "service"."payment" USING btree ("account_id",left(substring(metadata from '"referenceId":("(?:[^"\\]|\\.)*")'), 200));--> statement-breakpoint
CREATE INDEX "payment_open" ON "service"."payment" USING btree ("network","status") WHERE status in ('created', 'pending', 'confirmed', 'rolled_back');--> statement-breakpoint
CREATE INDEX "payment_expired" ON "service"."payment" USING btree ("network","expires_at") WHERE status = 'expired';--> statement-breakpoint
CREATE UNIQUE INDEX "payment_nonce" ON "service"."payment" USING btree ("network","sender","nonce") WHERE mode = 'hosted' and nonce is not null;--> statement-breakpoint
CREATE INDEX "payment_lane" ON "service"."payment" USING btree ("network","sender","block_height") WHERE mode = 'hosted';--> statement-breakpoint
CREATE INDEX "payment_settled" ON "service"."payment" USING btree ("network","block_height") WHERE mode = 'received';--> statement-breakpoint
CREATE UNIQUE INDEX "payment_idempotency" ON "service"."payment" USING btree ("account_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE INDEX "claim_payment" ON "service"."claim" USING btree ("payment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_order_question" ON "service"."settlement_order" USING btree ("account_id","network","key","fingerprint");--> statement-breakpoint
CREATE INDEX "payment_tally_empty" ON "service"."payment_tally" USING btree ("account_id") WHERE payments = 0;--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_address" ON "service"."wallet" USING btree ("address");--> statement-breakpoint
CREATE INDEX "wallet_account" ON "service"."wallet" USING btree ("account_id","created_at");--> statement-breakpoint
-- Written by hand from here on: every change of a payment is noted, for the tallies.
CREATE FUNCTION "service"."note_payments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", count(*)
  FROM "after" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_payments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", -count(*)
  FROM "before" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "service"."note_payments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "service"."payment_change" ("account_id", "sender", "recipient", "mode", "network", "asset", "day", "status", "delta")
  SELECT "account_id", "sender", "recipient", "mode", "network", "asset", floor(extract(epoch FROM "created_at") / 86400)::int, "status", sum("change")
  FROM (SELECT *, -1 AS "change" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "both"
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 HAVING sum("change") <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "payment_added" AFTER INSERT ON "service"."payment" REFERENCING NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_added"();
--> statement-breakpoint
CREATE TRIGGER "payment_removed" AFTER DELETE ON "service"."payment" REFERENCING OLD TABLE AS "before" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_removed"();
--> statement-breakpoint
CREATE TRIGGER "payment_changed" AFTER UPDATE ON "service"."payment" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "service"."note_payments_changed"();
