CREATE TABLE "bff"."payment_contact" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "payment_contact_created" ON "bff"."payment_contact" USING btree ("created_at");