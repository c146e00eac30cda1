CREATE SCHEMA "service";
--> statement-breakpoint
CREATE TABLE "service"."account" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
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
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "service"."chain_cursor" (
	"network" text PRIMARY KEY NOT NULL,
	"height" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service"."event" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"payment_id" text NOT NULL,
	"status" text NOT NULL,
	"source" text NOT NULL,
	"block_height" bigint,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
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
	CONSTRAINT "payment_amount_positive" CHECK (amount > 0)
);
--> statement-breakpoint
CREATE TABLE "service"."rate_limit" (
	"key" text PRIMARY KEY NOT NULL,
	"arrival_us" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "service"."api_key" ADD CONSTRAINT "api_key_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."event" ADD CONSTRAINT "event_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD CONSTRAINT "payment_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_hash" ON "service"."api_key" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_key_account" ON "service"."api_key" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "event_payment" ON "service"."event" USING btree ("payment_id","id");--> statement-breakpoint
CREATE INDEX "event_account" ON "service"."event" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "idempotency_created" ON "service"."idempotency" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_signature" ON "service"."payment" USING btree ("network","signature") WHERE signature is not null;--> statement-breakpoint
CREATE INDEX "payment_account" ON "service"."payment" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_sender" ON "service"."payment" USING btree ("account_id","sender","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_recipient" ON "service"."payment" USING btree ("account_id","recipient","created_at","id");--> statement-breakpoint
CREATE INDEX "payment_open" ON "service"."payment" USING btree ("network","status") WHERE status in ('created', 'pending', 'confirmed', 'rolled_back');