CREATE TABLE "bff"."hosted_intent" (
	"id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"signer" text NOT NULL,
	"network" text NOT NULL,
	"sender" text NOT NULL,
	"recipient" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"resource" text,
	"description" text,
	"reference" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"state" text NOT NULL,
	"signature_hash" text,
	"taken_at" timestamp (3) with time zone,
	"payment_id" text
);
--> statement-breakpoint
CREATE TABLE "bff"."link_key" (
	"id" text PRIMARY KEY NOT NULL,
	"secret" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."link_payment" (
	"id" text PRIMARY KEY NOT NULL,
	"link_id" text NOT NULL,
	"session_id" text,
	"request_key" text,
	"payment_id" text,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bff"."payment_link" (
	"id" text PRIMARY KEY NOT NULL,
	"link" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"max_payments" integer,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"withdrawn_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD CONSTRAINT "link_payment_link_id_payment_link_id_fk" FOREIGN KEY ("link_id") REFERENCES "bff"."payment_link"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "hosted_intent_spent" ON "bff"."hosted_intent" USING btree ("sender","network","asset","taken_at");--> statement-breakpoint
CREATE INDEX "hosted_intent_expires" ON "bff"."hosted_intent" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "link_payment_link" ON "bff"."link_payment" USING btree ("link_id","status");--> statement-breakpoint
CREATE UNIQUE INDEX "link_payment_payment" ON "bff"."link_payment" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "payment_link_created" ON "bff"."payment_link" USING btree ("created_at");