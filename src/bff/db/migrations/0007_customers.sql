CREATE TABLE "bff"."customer_profile" (
	"wallet" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text,
	"labels" text[] NOT NULL,
	"note" text NOT NULL,
	"words" text NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "bff"."hosted_intent" ADD COLUMN "priority_fee" text;--> statement-breakpoint
ALTER TABLE "bff"."payment_contact" ADD COLUMN "sender" text;--> statement-breakpoint
CREATE INDEX "customer_profile_words" ON "bff"."customer_profile" USING gin (to_tsvector('simple', "words"));--> statement-breakpoint
CREATE INDEX "customer_profile_email" ON "bff"."customer_profile" USING btree (lower("email") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_contact_sender" ON "bff"."payment_contact" USING btree ("sender");--> statement-breakpoint
-- By hand: the wallet that a payer named is known where the session of the payment is.
UPDATE "bff"."payment_contact" SET "sender" = "made"."sender" FROM "bff"."session_payment" AS "made" WHERE "made"."payment_id" = "payment_contact"."payment_id" AND "made"."sender" IS NOT NULL;
