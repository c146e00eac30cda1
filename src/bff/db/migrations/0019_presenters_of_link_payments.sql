ALTER TABLE "bff"."link_payment" ADD COLUMN "sender_verified" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "bff"."link_payment" ADD COLUMN "presenter" text;