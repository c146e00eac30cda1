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