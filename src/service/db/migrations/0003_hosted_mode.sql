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
	CONSTRAINT "attempt_payment_id_number_pk" PRIMARY KEY("payment_id","number")
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
DROP INDEX "service"."payment_signature";--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "idempotency_fingerprint" text;--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "priority_fee" numeric(78,0);--> statement-breakpoint
ALTER TABLE "service"."payment" ADD COLUMN "max_fee" numeric(78,0);--> statement-breakpoint
ALTER TABLE "service"."attempt" ADD CONSTRAINT "attempt_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."claim" ADD CONSTRAINT "claim_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."claim" ADD CONSTRAINT "claim_payment_id_payment_id_fk" FOREIGN KEY ("payment_id") REFERENCES "service"."payment"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service"."wallet" ADD CONSTRAINT "wallet_account_id_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "service"."account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "attempt_signature" ON "service"."attempt" USING btree ("network","signature");--> statement-breakpoint
CREATE INDEX "claim_payment" ON "service"."claim" USING btree ("payment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_address" ON "service"."wallet" USING btree ("address");--> statement-breakpoint
CREATE INDEX "wallet_account" ON "service"."wallet" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_nonce" ON "service"."payment" USING btree ("network","sender","nonce") WHERE mode = 'hosted' and nonce is not null;--> statement-breakpoint
CREATE INDEX "payment_lane" ON "service"."payment" USING btree ("network","sender","block_height") WHERE mode = 'hosted';--> statement-breakpoint
CREATE UNIQUE INDEX "payment_idempotency" ON "service"."payment" USING btree ("account_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "payment_signature" ON "service"."payment" USING btree ("network","signature") WHERE signature is not null and mode <> 'received';