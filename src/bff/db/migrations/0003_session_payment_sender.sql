ALTER TABLE "bff"."session_payment" ADD COLUMN "sender" text;--> statement-breakpoint
ALTER TABLE "bff"."session_payment" ADD COLUMN "created_at" timestamp (3) with time zone;