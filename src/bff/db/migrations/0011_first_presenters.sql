CREATE TABLE "bff"."file_presenter" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"presenter" text NOT NULL,
	"presented_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD COLUMN "checked_at" timestamp (3) with time zone;